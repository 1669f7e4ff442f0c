//! When device work has become final in host memory: over a runtime that really defers.

#![allow(
    clippy::undocumented_unsafe_blocks,
    clippy::missing_safety_doc,
    missing_docs,
    non_snake_case,
    unreachable_pub,
    unsafe_op_in_unsafe_fn,
    reason = "the fake runtime and its calls are this file's own"
)]

#[macro_use]
mod support;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;

use hrr_core::archive::event::{
    AbsentReason, Body, Event, FIELD_CALLBACK_STORE, FIELD_CHECK, FIELD_HOST_SEEN,
    FIELD_HOST_WRITE, Field,
};
use hrr_core::archive::reader::Process;
use hrr_core::arg::Payload;
use hrr_core::desc::{
    ApiDesc, Class, Effect, Extent, HandleDesc, Len, OperandPlace, Place, Role, Side, Space,
    SpaceOf,
};
use hrr_core::{capture, loader};

const U64: Role = Role::Scalar(<u64 as Payload>::PAYLOAD);
static HANDLE: HandleDesc = HandleDesc { name: "handle", reserved: &[1, 2] };
const IN: Role = Role::InHandle { handle: &HANDLE, destroys: false };
const OUT: Role = Role::OutHandle { handle: &HANDLE, count: None };

declare!(API_COPY, fakeCopy(
    dst: *mut u8 = Role::Operand { side: Side::Destination, place: OperandPlace::Fixed(Place::Host), extent: Extent::Bytes(Len::Param(1)) },
    bytes: u64 = U64, value: u64 = U64, stream: u64 = IN) -> i32, effects = &[Effect::Enqueues { stream: 3 }]);
declare!(API_COPY_SYNC, fakeCopySync(
    dst: *mut u8 = Role::Operand { side: Side::Destination, place: OperandPlace::Fixed(Place::Tracked), extent: Extent::Rows { pitch: Len::Param(1), width: Len::Param(2), height: Len::Param(3) } },
    pitch: u64 = U64, width: u64 = U64, height: u64 = U64) -> i32, effects = &[Effect::CompletesNullStream]);
declare!(API_SEND, fakeSend(
    src: *const u8 = Role::Operand { side: Side::Source, place: OperandPlace::Fixed(Place::Tracked), extent: Extent::Bytes(Len::Param(1)) },
    bytes: u64 = U64, stream: u64 = IN) -> i32, effects = &[Effect::Enqueues { stream: 2 }]);
declare!(API_SYNC, fakeSync(stream: u64 = IN) -> i32, effects = &[Effect::CompletesStream { stream: 0 }]);
declare!(API_QUERY, fakeQuery(stream: u64 = IN, answer: u64 = U64) -> i32, effects = &[Effect::CompletesStream { stream: 0 }]);
declare!(API_ASK, fakeAsk(stream: u64 = IN, answer: u64 = U64) -> i32, class = Class::Query { wait: None },
    effects = &[Effect::CompletesStream { stream: 0 }]);
declare!(API_DEVICE, fakeDevice() -> i32, effects = &[Effect::CompletesDevice]);
declare!(API_RECORD, fakeRecord(event: u64 = IN, stream: u64 = IN) -> i32, effects = &[Effect::RecordsEvent { event: 0, stream: Some(1) }]);
declare!(API_WAIT, fakeWait(stream: u64 = IN, event: u64 = IN) -> i32, effects = &[Effect::WaitsEvent { stream: 0, event: 1 }]);
declare!(API_EVENT, fakeEvent(event: u64 = IN) -> i32, effects = &[Effect::CompletesEvent { event: 0 }]);
declare!(API_BEGIN, fakeBegin(stream: u64 = IN) -> i32, effects = &[Effect::BeginsCapture { stream: 0 }]);
declare!(API_END, fakeEnd(stream: u64 = IN, graph: *mut u64 = OUT) -> i32, effects = &[Effect::EndsCapture { stream: 0, graph: 1 }]);
declare!(API_INSTANTIATE, fakeInstantiate(exec: *mut u64 = OUT, graph: u64 = IN) -> i32, effects = &[Effect::Instantiates { exec: 0, graph: 1 }]);
declare!(API_LAUNCH_GRAPH, fakeLaunchGraph(exec: u64 = IN, stream: u64 = IN) -> i32, effects = &[Effect::LaunchesGraph { exec: 0, stream: 1 }]);
declare!(API_PINNED, fakePinned(
    out: *mut *mut u8 = Role::OutDevicePointer { bytes: Some(Len::Param(1)), allocates: Some(SpaceOf::Fixed(Space::Pinned)) },
    bytes: u64 = U64) -> i32);
declare!(API_FREE, fakeFree(at: *mut u8 = Role::DevicePointer { frees: true }, answer: u64 = U64) -> i32);
declare!(API_KERNEL, fakeKernel(at: *mut u8 = Role::DevicePointer { frees: false }, index: u64 = U64, value: u64 = U64, stream: u64 = IN) -> i32,
    effects = &[Effect::Launches, Effect::Enqueues { stream: 3 }]);

declare!(API_CALL, fakeCall(stream: u64 = IN, function: *mut core::ffi::c_void = Role::Callback, data: *mut core::ffi::c_void = Role::UserData) -> i32,
    class = Class::Ordering, effects = &[Effect::Enqueues { stream: 0 }], callback = function, data);
declare!(API_SOURCE, fakeSource(
    src: *const u8 = Role::Operand { side: Side::Source, place: OperandPlace::Fixed(Place::Host), extent: Extent::Bytes(Len::Param(1)) },
    bytes: u64 = U64, stream: u64 = IN) -> i32, effects = &[Effect::Enqueues { stream: 2 }]);

/// A callback with its data, and on which stream.
type Called = (u64, usize, usize);
static CALLED: Mutex<Vec<Called>> = Mutex::new(Vec::new());

/// One piece of deferred work: where, how many bytes, of what value.
type Work = (u64, u64, u8);

#[derive(Default)]
struct Runtime {
    streams: HashMap<u64, Vec<Work>>,
    capturing: Option<u64>,
    graph: Vec<Work>,
}

static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);

fn with<R>(each: impl FnOnce(&mut Runtime) -> R) -> R {
    each(RUNTIME.lock().unwrap().get_or_insert_default())
}

fn run(work: Vec<Work>) {
    for (at, bytes, value) in work {
        unsafe { core::ptr::write_bytes(at as *mut u8, value, bytes as usize) };
    }
}

fn enqueue(stream: u64, work: Work) {
    with(|runtime| match runtime.capturing {
        Some(capturing) if capturing == stream => runtime.graph.push(work),
        _ => runtime.streams.entry(stream).or_default().push(work),
    });
}

unsafe extern "C-unwind" fn real_copy(dst: *mut u8, bytes: u64, value: u64, stream: u64) -> i32 {
    enqueue(stream, (dst as u64, bytes, value as u8));
    0
}
unsafe extern "C-unwind" fn real_copy_sync(
    dst: *mut u8,
    pitch: u64,
    width: u64,
    height: u64,
) -> i32 {
    unsafe { real_sync(0) };
    for row in 0..height {
        run(vec![(dst as u64 + row * pitch, width, row as u8 + 1)]);
    }
    0
}
unsafe extern "C-unwind" fn real_send(_src: *const u8, _bytes: u64, _stream: u64) -> i32 {
    0
}
unsafe extern "C-unwind" fn real_sync(stream: u64) -> i32 {
    run(with(|runtime| runtime.streams.remove(&stream)).unwrap_or_default());
    let called: Vec<Called> = CALLED.lock().unwrap().extract_if(.., |c| c.0 == stream).collect();
    for (_, function, data) in called {
        let function: extern "C" fn(usize) = unsafe { core::mem::transmute(function) };
        function(data);
    }
    0
}
unsafe extern "C-unwind" fn real_call(
    stream: u64,
    function: *mut core::ffi::c_void,
    data: *mut core::ffi::c_void,
) -> i32 {
    CALLED.lock().unwrap().push((stream, function as usize, data as usize));
    0
}
unsafe extern "C-unwind" fn real_query(stream: u64, answer: u64) -> i32 {
    if answer == 0 {
        unsafe { real_sync(stream) };
    }
    answer as i32
}
unsafe extern "C-unwind" fn real_device() -> i32 {
    let all = with(|runtime| core::mem::take(&mut runtime.streams));
    all.into_values().for_each(run);
    0
}
unsafe extern "C-unwind" fn real_two(_a: u64, _b: u64) -> i32 {
    0
}
unsafe extern "C-unwind" fn real_event(_event: u64) -> i32 {
    unsafe { real_device() }
}
unsafe extern "C-unwind" fn real_begin(stream: u64) -> i32 {
    with(|runtime| runtime.capturing = Some(stream));
    0
}
unsafe extern "C-unwind" fn real_end(_stream: u64, graph: *mut u64) -> i32 {
    with(|runtime| runtime.capturing = None);
    unsafe { *graph = 0x6000 };
    0
}
unsafe extern "C-unwind" fn real_instantiate(exec: *mut u64, _graph: u64) -> i32 {
    unsafe { *exec = 0x7000 };
    0
}
unsafe extern "C-unwind" fn real_launch_graph(_exec: u64, stream: u64) -> i32 {
    let graph = with(|runtime| runtime.graph.clone());
    graph.into_iter().for_each(|work| enqueue(stream, work));
    0
}
unsafe extern "C-unwind" fn real_pinned(out: *mut *mut u8, bytes: u64) -> i32 {
    unsafe { *out = vec![0u8; bytes as usize].leak().as_mut_ptr() };
    0
}
unsafe extern "C-unwind" fn real_free(_at: *mut u8, answer: u64) -> i32 {
    answer as i32
}
unsafe extern "C-unwind" fn real_kernel(at: *mut u8, index: u64, value: u64, stream: u64) -> i32 {
    enqueue(stream, (at as u64 + index, 1, value as u8));
    0
}

fn resolve(api: &'static ApiDesc) -> *const () {
    match api.name.to_str().unwrap() {
        "fakeCopy" => real_copy as *const (),
        "fakeCopySync" => real_copy_sync as *const (),
        "fakeSend" | "fakeSource" => real_send as *const (),
        "fakeCall" => real_call as *const (),
        "fakeSync" => real_sync as *const (),
        "fakeQuery" | "fakeAsk" => real_query as *const (),
        "fakeDevice" => real_device as *const (),
        "fakeRecord" | "fakeWait" => real_two as *const (),
        "fakeEvent" => real_event as *const (),
        "fakeBegin" => real_begin as *const (),
        "fakeEnd" => real_end as *const (),
        "fakeInstantiate" => real_instantiate as *const (),
        "fakeLaunchGraph" => real_launch_graph as *const (),
        "fakePinned" => real_pinned as *const (),
        "fakeFree" => real_free as *const (),
        "fakeKernel" => real_kernel as *const (),
        _ => core::ptr::null(),
    }
}

/// What one event says became final, or was taken before it.
struct Seen<'a> {
    process: &'a Process,
    events: Vec<Event>,
}

impl Seen<'_> {
    /// The fields with an id, of the n-th call.
    fn fields(&self, call: usize, id: u16) -> Vec<&Field> {
        self.events[call].fields.iter().filter(|field| field.id == id).collect()
    }

    fn content(&self, field: &Field) -> Vec<u8> {
        self.process.content(&field.body).unwrap().expect("a content").to_vec()
    }

    /// (owner's index, content) of every check of the n-th call.
    fn checks(&self, call: usize) -> Vec<(u64, Vec<u8>)> {
        let content = |field: &&Field| (field.owner.unwrap().0.index, self.content(field));
        self.fields(call, FIELD_CHECK).iter().map(content).collect()
    }

    /// (owner's index, reason) of every lost check of the n-th call.
    fn lost(&self, call: usize) -> Vec<(u64, AbsentReason)> {
        let reason = |field: &&Field| match field.body {
            Body::Absent(reason) => Some((field.owner?.0.index, reason)),
            _ => None,
        };
        self.fields(call, FIELD_CHECK).iter().filter_map(reason).collect()
    }

    /// The contents of host memory that were taken before the n-th call: (address, bytes).
    fn writes(&self, call: usize) -> Vec<(u64, Vec<u8>)> {
        let content = |field: &&Field| (field.address, self.content(field));
        self.fields(call, FIELD_HOST_WRITE).iter().map(content).collect()
    }
}

fn in_process(test: &str, inner: unsafe fn(), check: fn(&Seen<'_>)) {
    loader::set_resolver(resolve);
    if let Some(dir) = support::inside() {
        let _recording = capture::start(&dir).unwrap();
        return unsafe { inner() };
    }
    let dir = tempfile::tempdir().unwrap();
    let status = support::again(test, dir.path()).status().unwrap();
    assert!(status.success(), "{status}");
    check_archive(dir.path(), check);
}

fn check_archive(dir: &Path, check: fn(&Seen<'_>)) {
    let archive = support::open(dir);
    let process = &archive.processes()[0];
    assert_eq!(process.verify(), []);
    check(&Seen { process, events: support::events(process) });
}

#[test]
fn a_copy_is_taken_by_the_call_that_waits_for_it() {
    unsafe fn inner() {
        let mut buffers = [[0u8; 8]; 3];
        let [a, b, c] = buffers.each_mut().map(|buffer| buffer.as_mut_ptr());
        fakeCopy(a, 8, 1, 10); // 0
        fakeCopy(b, 8, 2, 11); // 1
        fakeQuery(10, 600); // 2: not ready
        fakeSync(10); // 3
        fakeCopy(c, 8, 3, 10); // 4
        fakeQuery(10, 0); // 5: ready
        fakeDevice(); // 6
        fakeDevice(); // 7
    }
    in_process("a_copy_is_taken_by_the_call_that_waits_for_it", inner, |seen| {
        let field = &seen.events[0].fields[0];
        assert_eq!(field.body, Body::Absent(AbsentReason::Deferred));
        assert_eq!((field.original, field.recorded), (8, 0));
        let none: Vec<(u64, Vec<u8>)> = Vec::new();
        assert_eq!(seen.checks(2), none);
        assert_eq!(seen.checks(3), [(0, vec![1; 8])]);
        assert_eq!(seen.checks(5), [(4, vec![3; 8])]);
        assert_eq!(seen.checks(6), [(1, vec![2; 8])]);
        assert_eq!(seen.checks(7), none);
    });
}

#[test]
fn only_the_last_writer_is_checked() {
    unsafe fn inner() {
        let mut buffer = [0u8; 16];
        let at = buffer.as_mut_ptr();
        fakeCopy(at, 8, 1, 10); // 0
        fakeCopy(at, 8, 2, 10); // 1: covers it
        fakeSync(10); // 2
        fakeCopy(at, 8, 3, 10); // 3
        fakeCopy(at.add(4), 8, 4, 10); // 4: covers a part
        fakeSync(10); // 5
        fakeCopy(at, 8, 5, 10); // 6
        fakeCopy(at, 8, 6, 11); // 7: another stream
        fakeDevice(); // 8
    }
    in_process("only_the_last_writer_is_checked", inner, |seen| {
        assert_eq!(seen.checks(2), [(1, vec![2; 8])]);
        assert_eq!(seen.lost(4), [(3, AbsentReason::Overwritten)]);
        assert_eq!(seen.checks(5), [(4, vec![4; 8])]);
        assert_eq!(seen.lost(7), [(6, AbsentReason::Overwritten)]);
        assert_eq!(seen.checks(8).len(), 1);
        assert_eq!(seen.checks(8)[0].0, 7);
    });
}

#[test]
fn a_copy_that_waits_completes_the_null_stream() {
    unsafe fn inner() {
        let (mut buffer, mut other) = ([0u8; 16], [0u8; 16]);
        let (at, other) = (buffer.as_mut_ptr(), other.as_mut_ptr());
        fakeCopy(at, 8, 1, 0); // 0
        fakeCopySync(other, 8, 8, 1); // 1
        at.write_bytes(77, 16);
        fakeDevice(); // 2
        fakeCopy(at, 8, 2, 0); // 3
        fakeCopySync(at, 8, 8, 2); // 4: writes the same place
        fakeDevice(); // 5
    }
    in_process("a_copy_that_waits_completes_the_null_stream", inner, |seen| {
        assert_eq!(seen.checks(1), [(0, vec![1; 8])]);
        for event in [2, 4, 5] {
            assert!(seen.checks(event).is_empty(), "{event}");
            assert!(seen.lost(event).is_empty(), "{event}");
        }
    });
}

#[test]
fn events_carry_what_they_follow() {
    unsafe fn inner() {
        let mut buffers = [[0u8; 4]; 3];
        let [a, b, c] = buffers.each_mut().map(|buffer| buffer.as_mut_ptr());
        fakeCopy(a, 4, 1, 10); // 0
        fakeRecord(50, 10); // 1
        fakeCopy(b, 4, 2, 10); // 2: after the event
        fakeWait(11, 50); // 3
        fakeSync(11); // 4: follows the event
        fakeCopy(c, 4, 3, 11); // 5
        fakeRecord(51, 11); // 6
        fakeEvent(51); // 7
        fakeSync(10); // 8
    }
    in_process("events_carry_what_they_follow", inner, |seen| {
        assert_eq!(seen.checks(4).iter().map(|check| check.0).collect::<Vec<_>>(), [0]);
        assert_eq!(seen.checks(7), [(5, vec![3; 4])]);
        assert_eq!(seen.checks(8), [(2, vec![2; 4])]);
    });
}

#[test]
fn a_graph_is_checked_at_each_wait_and_fed_at_each_launch() {
    unsafe fn inner() {
        let mut buffer = [0u8; 4];
        let mut source = [9u8; 4];
        let (at, from) = (buffer.as_mut_ptr(), source.as_mut_ptr());
        let (mut graph, mut exec) = (0, 0);
        fakeBegin(10); // 0
        fakeSend(from, 4, 10); // 1
        fakeCopy(at, 4, 1, 10); // 2
        fakeEnd(10, &mut graph); // 3
        fakeInstantiate(&mut exec, graph); // 4
        fakeDevice(); // 5: nothing has run
        from.write_volatile(7);
        fakeLaunchGraph(exec, 10); // 6
        fakeLaunchGraph(exec, 10); // 7
        fakeSync(10); // 8
        at.write_volatile(0);
        fakeLaunchGraph(exec, 10); // 9
        fakeSync(10); // 10
    }
    in_process("a_graph_is_checked_at_each_wait_and_fed_at_each_launch", inner, |seen| {
        let none: Vec<(u64, Vec<u8>)> = Vec::new();
        assert_eq!(seen.checks(5), none);
        let fed = seen.fields(6, FIELD_HOST_WRITE);
        assert_eq!(fed.len(), 1);
        assert_eq!(fed[0].owner.map(|(id, param)| (id.index, param)), Some((1, 0)));
        assert_eq!(seen.writes(6)[0].1, [7, 9, 9, 9]);
        assert_eq!(seen.writes(7), none, "it has not changed");
        assert_eq!(seen.checks(8), [(2, vec![1; 4])], "two launches, one check");
        assert_eq!(seen.checks(10), [(2, vec![1; 4])]);
    });
}

#[test]
fn reachable_memory_is_taken_when_it_changed() {
    const BYTES: usize = 200_000;
    unsafe fn inner() {
        let mut at = core::ptr::null_mut();
        fakePinned(&mut at, BYTES as u64); // 0
        for i in 0..BYTES {
            at.add(i).write_volatile(i as u8);
        }
        fakeKernel(at.add(5), 100_000, 200, 10); // 1: the pointer is inside the range
        fakeSync(10); // 2
        fakeKernel(at, 3, 201, 10); // 3: nothing changed since
        fakeSync(10); // 4
        at.add(70_000).write_volatile(99);
        fakeKernel(at, 3, 202, 10); // 5
        fakeKernel(core::ptr::null_mut(), 0, 0, 11); // 6: reaches nothing
        fakeFree(at, 1); // 7: fails, so the range stays
        at.add(0).write_volatile(98);
        fakeSync(10); // 8
        fakeFree(at, 0); // 9
    }
    in_process("reachable_memory_is_taken_when_it_changed", inner, |seen| {
        let block = 256;
        let before = seen.writes(1);
        assert_eq!(before.len(), 1);
        let start = before[0].0;
        assert_eq!(before[0].1.len(), BYTES);
        assert!((0..BYTES).all(|i| before[0].1[i] == i as u8));
        let checks = seen.checks(2);
        assert_eq!((checks.len(), checks[0].0, checks[0].1.len()), (1, 1, block));
        assert_eq!(checks[0].1[100_005 % block], 200);
        let check_at = seen.fields(2, FIELD_CHECK)[0].address;
        assert_eq!(check_at, start + (100_005 / block * block) as u64);
        assert_eq!(seen.writes(3).len(), 0);
        assert_eq!(seen.checks(4)[0].1[3], 201);
        let changed = seen.writes(5);
        assert_eq!((changed.len(), changed[0].0), (1, start + (70_000 / block * block) as u64));
        assert_eq!(changed[0].1[70_000 % block], 99);
        assert_eq!(seen.writes(6).len(), 0);
        assert_eq!(seen.checks(8)[0].1[3], 202);
    });
}

#[test]
fn a_call_that_waits_takes_what_the_program_stored_while_work_runs() {
    unsafe fn inner() {
        let mut at = core::ptr::null_mut();
        fakePinned(&mut at, 1024); // 0
        core::ptr::write_bytes(at, 0, 1024);
        fakeKernel(at, 300, 200, 10); // 1
        at.add(5).write_volatile(7);
        fakeSync(11); // 2: waits for something else
        fakeSync(11); // 3: nothing changed since
        at.add(600).write_volatile(8);
        fakeAsk(10, 600); // 4: the program goes on to ask
        at.add(5).write_volatile(0);
        fakeSync(10); // 5: what was taken back is seen as well
        at.add(5).write_volatile(9);
        fakeSync(10); // 6: no work runs
        fakeKernel(at, 300, 201, 10); // 7
        for _ in 0..2000 {
            let count = at.add(900).read_volatile();
            at.add(900).write_volatile(count.wrapping_add(1));
            fakeAsk(10, 600);
        }
        fakeAsk(10, 0);
    }
    let name = "a_call_that_waits_takes_what_the_program_stored_while_work_runs";
    in_process(name, inner, |seen| {
        let looks = |event: usize| {
            let fields = seen.fields(event, FIELD_HOST_SEEN);
            let look = |field: &&Field| (field.address, seen.content(field));
            fields.iter().map(look).collect::<Vec<_>>()
        };
        let base = seen.writes(1)[0].0;
        assert_eq!(looks(1), []);
        let at_wait = looks(2);
        assert_eq!((at_wait.len(), at_wait[0].0, at_wait[0].1.len()), (1, base, 256));
        assert_eq!(at_wait[0].1[5], 7);
        assert_eq!(looks(3), []);
        assert_eq!(looks(4)[0].1[600 % 256], 8);
        assert_eq!((looks(4).len(), looks(5).len(), looks(6).len()), (1, 1, 0));
        assert_eq!(looks(5)[0].1[5], 0);
        // The check still holds all that changed since the launch.
        let check = seen.checks(5);
        assert_eq!(check.iter().map(|check| check.1.len()).sum::<usize>(), 512);
        assert!(check.iter().any(|check| check.1.contains(&200)));
        let asked = (8..2008).filter(|event| !looks(*event).is_empty()).count();
        assert!((1..1000).contains(&asked), "{asked} looks in 2000 questions");
    });
}

#[test]
fn while_work_runs_what_changed_is_seen_and_checked_when_the_last_is_done() {
    unsafe fn inner() {
        let mut at = core::ptr::null_mut();
        fakePinned(&mut at, 1024); // 0
        core::ptr::write_bytes(at, 0, 1024);
        fakeKernel(at, 0, 1, 10); // 1
        at.add(300).write_volatile(7);
        fakeKernel(at, 600, 2, 11); // 2: may be the work's or the program's
        fakeSource(at.add(256), 16, 12); // 3: as well
        fakeSync(10); // 4: other work still runs
        fakeSync(11); // 5
        fakeSource(at, 16, 12); // 6: no work runs
        fakeCopy(at.add(100), 50, 9, 10); // 7
        fakeSource(at.add(110), 20, 10); // 8: what the copy writes
        fakeSource(at.add(140), 20, 10); // 9: a part of it
    }
    let name = "while_work_runs_what_changed_is_seen_and_checked_when_the_last_is_done";
    in_process(name, inner, |seen| {
        let source = |call: usize| seen.events[call].fields.iter().find(|f| f.id == 0).unwrap();
        assert_eq!((seen.writes(1).len(), seen.writes(2).len()), (1, 0));
        let look = seen.fields(2, FIELD_HOST_SEEN);
        assert_eq!((look.len(), seen.content(look[0])[300 - 256]), (1, 7));
        assert_eq!(source(3).body, Body::Absent(AbsentReason::EarlierWork));
        assert_eq!(seen.fields(3, FIELD_HOST_SEEN), Vec::<&Field>::new(), "it was seen before");
        assert_eq!(seen.checks(4), []);
        let bytes: Vec<u8> = seen.checks(5).into_iter().flat_map(|check| check.1).collect();
        assert_eq!(bytes.len(), 768);
        assert_eq!((bytes[0], bytes[300], bytes[600]), (1, 7, 2));
        assert_eq!(seen.content(source(6))[0], 1);
        assert_eq!(source(8).body, Body::Absent(AbsentReason::EarlierWork));
        assert_eq!(seen.content(source(9)).len(), 20);
    });
}

#[test]
fn what_a_callback_stores_is_written_with_the_next_call() {
    extern "C" fn store(at: usize) {
        let at = at as *mut u8;
        // SAFETY: the pinned memory of this test.
        unsafe {
            at.add(10).write_volatile(1);
            at.add(20).write_volatile(2);
            at.add(500).write_volatile(at.add(500).read_volatile() + 3);
        }
    }
    unsafe fn inner() {
        let mut at = core::ptr::null_mut();
        fakePinned(&mut at, 1024); // 0
        core::ptr::write_bytes(at, 0, 1024);
        fakeCall(10, store as *mut _, at.cast()); // 1
        fakeCall(10, store as *mut _, at.cast()); // 2
        fakeSync(10); // 3
        let mut large = core::ptr::null_mut();
        fakePinned(&mut large, 32 << 20); // 4
        fakeCall(10, store as *mut _, at.cast()); // 5: the stream does not use it
        fakeSync(10); // 6
        fakeKernel(large, 0, 1, 10); // 7
        fakeCall(10, store as *mut _, at.cast()); // 8
        fakeSync(10); // 9
    }
    let name = "what_a_callback_stores_is_written_with_the_next_call";
    in_process(name, inner, |seen| {
        let stores = seen.fields(3, FIELD_CALLBACK_STORE);
        let base = stores[0].address - 10;
        let store = |field: &&Field| {
            let owner = field.owner.unwrap().0.index;
            (owner, field.element, field.address - base, seen.content(field))
        };
        let mut first = vec![0; 11];
        (first[0], first[10]) = (1, 2);
        let expected = [(1, 0, 10, first), (1, 0, 500, vec![3]), (2, 0, 500, vec![6])];
        assert_eq!(stores.iter().map(store).collect::<Vec<_>>(), expected);
        assert_eq!(seen.fields(6, FIELD_CALLBACK_STORE).len(), 1);
        let unseen = seen.fields(9, FIELD_CALLBACK_STORE);
        assert_eq!(unseen.len(), 1);
        assert_eq!(unseen[0].body, Body::Absent(AbsentReason::RecorderLimit));
    });
}

#[test]
fn what_was_freed_has_no_expectation() {
    unsafe fn inner() {
        let mut at = core::ptr::null_mut();
        fakePinned(&mut at, 64); // 0
        fakeCopy(at, 64, 1, 10); // 1
        fakeFree(at, 0); // 2
        fakeSync(10); // 3
    }
    in_process("what_was_freed_has_no_expectation", inner, |seen| {
        assert_eq!(seen.lost(2), [(1, AbsentReason::Freed)]);
        assert_eq!(seen.fields(3, FIELD_CHECK).len(), 0);
    });
}

#[test]
fn only_the_rows_of_a_rectangle_are_taken() {
    unsafe fn inner() {
        let mut buffer = [0xeeu8; 40];
        fakeCopySync(buffer.as_mut_ptr(), 16, 3, 2); // 0
        fakeCopySync(core::ptr::null_mut(), 16, 0, 2); // 1
    }
    in_process("only_the_rows_of_a_rectangle_are_taken", inner, |seen| {
        let content = |call: usize| {
            seen.process.content(&seen.events[call].fields[0].body).unwrap().unwrap().to_vec()
        };
        assert_eq!(content(0), [1, 1, 1, 2, 2, 2]);
        assert_eq!(content(1), []);
    });
}

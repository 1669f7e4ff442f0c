//! Records calls in a process of its own and reads them back.

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

use core::ffi::c_void;

use hrr_core::archive::event::{Body, Phase};
use hrr_core::arg::Payload;
use hrr_core::desc::{ApiDesc, Compare, Direction, HandleDesc, Len, Role};
use hrr_core::{capture, loader};

const U64: Role = Role::Scalar(<u64 as Payload>::PAYLOAD);
static STREAM: HandleDesc = HandleDesc { name: "stream", reserved: &[1, 2] };

declare!(API_PLAIN, fakePlain(a: u64 = U64, b: u64 = U64, n: u64 = U64, m: u64 = U64, kind: u32 = Role::Scalar(<u32 as Payload>::PAYLOAD)) -> i32);
declare!(API_MAKE, fakeMake(out: *mut u64 = Role::OutHandle { handle: &STREAM, count: None }, name: *const i8 = Role::String) -> i32);
declare!(API_FILL, fakeFill(
    out: *mut u8 = Role::HostOut { bytes: Len::Param(1), compare: Compare::Exact },
    bytes: u64 = U64,
    from: *const u64 = Role::Array { direction: Direction::In, payload: <u64 as Payload>::PAYLOAD, count: Len::Param(3), compare: Compare::Exact },
    count: u64 = U64) -> i32);
declare!(API_OUTER, fakeOuter(times: u64 = U64) -> i32);
declare!(API_CALLBACK, fakeCallback(stream: u64 = U64, function: *mut c_void = Role::Callback, data: *mut c_void = Role::UserData) -> i32,
    callback = function, data);
declare!(API_MIXED, fakeMixed(
    x: f64 = Role::Scalar(<f64 as Payload>::PAYLOAD),
    name: *const i8 = Role::String,
    a: u64 = U64,
    b: u64 = U64,
    y: f32 = Role::Scalar(<f32 as Payload>::PAYLOAD),
    c: u64 = U64,
    d: u64 = U64,
    e: u64 = U64,
    on_stack: u64 = U64,
) -> i32);
declare!(API_THROW, fakeThrow(depth: u64 = U64) -> i32);

unsafe extern "C-unwind" fn real_plain(a: u64, b: u64, n: u64, m: u64, kind: u32) -> i32 {
    (a + b + n + m) as i32 + kind as i32
}
unsafe extern "C-unwind" fn real_make(out: *mut u64, _name: *const i8) -> i32 {
    if out.is_null() {
        return 1;
    }
    unsafe { *out = 0x5555 };
    0
}
unsafe extern "C-unwind" fn real_fill(
    out: *mut u8,
    bytes: u64,
    from: *const u64,
    count: u64,
) -> i32 {
    if from.is_null() || from as usize == 0x10 {
        return 1;
    }
    let sum = (0..count as usize).map(|i| unsafe { *from.add(i) }).sum::<u64>();
    for i in 0..bytes as usize {
        unsafe { *out.add(i) = (sum as u8).wrapping_add(i as u8) };
    }
    0
}
unsafe extern "C-unwind" fn real_outer(times: u64) -> i32 {
    // A runtime that calls its own export.
    (0..times).map(|i| unsafe { fakePlain(i, 0, 0, 0, 0) }).sum()
}
unsafe extern "C-unwind" fn real_callback(stream: u64, f: *mut c_void, data: *mut c_void) -> i32 {
    let f: unsafe extern "C" fn(u64, i32, *mut c_void) = unsafe { core::mem::transmute(f) };
    unsafe { f(stream, 0, data) };
    0
}
#[allow(clippy::too_many_arguments, reason = "one of each register, and the stack")]
unsafe extern "C-unwind" fn real_mixed(
    x: f64,
    name: *const i8,
    a: u64,
    b: u64,
    y: f32,
    c: u64,
    d: u64,
    e: u64,
    on_stack: u64,
) -> i32 {
    let name = unsafe { core::ffi::CStr::from_ptr(name) };
    let right = x == 1.5 && y == -2.25 && name == c"a name" && [a, b, c, d, e] == [1, 2, 3, 4, 5];
    i32::from(!right || on_stack != 6)
}

unsafe extern "C-unwind" fn real_throw(_depth: u64) -> i32 {
    std::panic::resume_unwind(Box::new("thrown"))
}

fn resolve(api: &'static ApiDesc) -> *const () {
    match api.name.to_str() {
        Ok("fakePlain") => real_plain as *const (),
        Ok("fakeMake") => real_make as *const (),
        Ok("fakeFill") => real_fill as *const (),
        Ok("fakeOuter") => real_outer as *const (),
        Ok("fakeCallback") => real_callback as *const (),
        Ok("fakeMixed") => real_mixed as *const (),
        Ok("fakeThrow") => real_throw as *const (),
        _ => core::ptr::null(),
    }
}

/// Runs `inner` in a process of its own with a folder, then gives the folder to `check`.
fn in_process(test: &str, inner: fn(&std::path::Path), check: fn(&std::path::Path)) {
    loader::set_resolver(resolve);
    if let Some(dir) = support::inside() {
        return inner(&dir);
    }
    let dir = tempfile::tempdir().unwrap();
    let status = support::again(test, dir.path()).status().unwrap();
    assert!(status.success(), "{status}");
    check(dir.path());
}

#[test]
fn plain_calls_come_back() {
    in_process(
        "plain_calls_come_back",
        |dir| {
            assert_eq!(unsafe { fakePlain(1, 1, 1, 1, 1) }, 5, "not recorded");
            let recording = capture::start(dir).unwrap();
            for i in 0..100_000u64 {
                assert_eq!(unsafe { fakePlain(i, 2, 3, 4, 5) }, i as i32 + 14);
            }
            recording.stop().unwrap();
            assert_eq!(unsafe { fakePlain(1, 1, 1, 1, 1) }, 5, "not recorded");
        },
        |dir| {
            let archive = support::open(dir);
            let process = &archive.processes()[0];
            assert!(process.complete(), "{:?}", process.findings());
            assert_eq!(process.verify(), []);
            let events = support::events(process);
            assert_eq!(events.len(), 100_000);
            let mut last = 0;
            for (i, event) in events.iter().enumerate() {
                assert_eq!(support::name(process, event), "fakePlain");
                assert_eq!(event.id.index, i as u64);
                assert_eq!(event.args[..8], (i as u64).to_le_bytes());
                assert_eq!(event.args[32..36], 5u32.to_le_bytes());
                assert_eq!(event.ret, i as u64 + 14);
                assert!(event.enter > last && event.leave.unwrap() > event.enter);
                last = event.enter;
            }
            assert_eq!(support::folders(&support::folders(dir)[0]).len(), 2, "no ring is left");
        },
    );
}

/// The slow paths (the first call of a thread, content behind a pointer) leave every argument as
/// the program passed it, in whatever register it travels.
#[test]
fn slow_paths_leave_the_arguments() {
    in_process(
        "slow_paths_leave_the_arguments",
        |dir| unsafe {
            let recording = capture::start(dir).unwrap();
            for _ in 0..3 {
                assert_eq!(fakeMixed(1.5, c"a name".as_ptr(), 1, 2, -2.25, 3, 4, 5, 6), 0);
            }
            recording.stop().unwrap();
        },
        |dir| {
            let archive = support::open(dir);
            let process = &archive.processes()[0];
            assert_eq!(support::events(process).len(), 3);
        },
    );
}

#[test]
fn contents_come_back() {
    in_process(
        "contents_come_back",
        |dir| unsafe {
            let _recording = capture::start(dir).unwrap();
            let mut handle = 0;
            assert_eq!(fakeMake(&mut handle, c"a name".as_ptr()), 0);
            assert_eq!(fakeMake(core::ptr::null_mut(), core::ptr::null()), 1);
            let from: Vec<u64> = (0..1000).collect();
            let mut out = vec![0u8; 70_000];
            assert_eq!(fakeFill(out.as_mut_ptr(), 70_000, from.as_ptr(), 1000), 0);
            assert_eq!(fakeFill(out.as_mut_ptr(), 5, 0x10 as *const u64, 3), 1, "a bad pointer");
        },
        |dir| {
            let archive = support::open(dir);
            let process = &archive.processes()[0];
            let events = support::events(process);
            let content = |event: usize, field: usize| {
                process.content(&events[event].fields[field].body).unwrap().unwrap()
            };
            assert_eq!(&*content(0, 0), b"a name");
            assert_eq!(*content(0, 1), 0x5555u64.to_le_bytes());
            assert_eq!(events[0].fields[1].phase, Phase::After);
            assert_eq!(events[1].fields.len(), 1, "a failed call has no outputs");
            assert_eq!(events[1].fields[0].body, Body::Null);
            assert_eq!(content(2, 0).len(), 8000);
            assert_eq!(events[2].fields[0].original, 1000);
            assert_eq!(content(2, 1).len(), 70_000);
            assert!(matches!(events[3].fields[0].body, Body::Absent(_)));
            assert_eq!(process.verify(), []);
        },
    );
}

#[test]
fn only_the_programs_own_calls_are_recorded() {
    unsafe extern "C" fn called(_stream: u64, _status: i32, data: *mut c_void) {
        assert_eq!(data as usize, 77);
        unsafe { fakePlain(9, 0, 0, 0, 0) };
    }
    in_process(
        "only_the_programs_own_calls_are_recorded",
        |dir| unsafe {
            let _recording = capture::start(dir).unwrap();
            fakeOuter(5);
            fakeCallback(3, called as *mut c_void, 77 as *mut c_void);
            let caught = std::panic::catch_unwind(|| fakeThrow(1));
            assert!(caught.is_err());
            fakePlain(10, 0, 0, 0, 0);
        },
        |dir| {
            let archive = support::open(dir);
            let process = &archive.processes()[0];
            let events = support::events(process);
            let names: Vec<&str> = events.iter().map(|e| support::name(process, e)).collect();
            assert_eq!(names, ["fakeOuter", "fakeCallback", "fakePlain", "fakeThrow", "fakePlain"]);
            assert_eq!(events[2].parent, Some(events[1].id));
            assert_eq!(events[3].leave, None, "it never returned");
            assert!(events[4].leave.is_some());
            assert_eq!(process.annotations().unwrap().len(), 2);
            assert!(process.complete());
        },
    );
}

#[test]
fn a_missing_function_answers() {
    loader::set_resolver(resolve);
    declare!(API_NONE, fakeNone(a: u64 = U64) -> i32);
    assert_eq!(unsafe { fakeNone(1) }, 0);
    assert_eq!(API_NONE.name, c"fakeNone");
}

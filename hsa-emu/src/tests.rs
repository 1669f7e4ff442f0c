//! The API from inside: what HIP programs cannot be made to do at a wish.
//!
//! Goal: signals, handlers, queues and memory behave as the HSA specification says, at their
//! edges too. Method: the bodies of the C functions are called as C calls them.

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::{AtomicI64, AtomicU16, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::abi::{
    AgentHandle, Answer, Dim3, ExecutableHandle, HsaQueue, IpcMemory, PitchedPtr, PointerInfo,
    PoolHandle, ProfilingTime, ReaderHandle, SignalHandle, Status, SvmPair, SymbolHandle,
};
use crate::agent::{Agent, Pool};
use crate::runtime::{self, Runtime, now_ns, runtime};
use crate::signal::{Condition, Signal};
use crate::{code, copy, ipc, memory, pool, queue, signal, svm, system};

const LESS: u32 = 2;
const NOW: Duration = Duration::from_millis(30);

fn start() -> &'static Runtime {
    runtime::init().unwrap();
    runtime().unwrap()
}

fn agent(agent: Agent) -> AgentHandle {
    start().names.agent_handle(agent).unwrap()
}

fn pool_of(wanted: Pool) -> PoolHandle {
    let names = &start().names;
    let mut all = names.pools_of(wanted.owner());
    all.find(|handle| names.pool(*handle) == Ok(wanted)).unwrap()
}

fn new_signal(value: i64) -> &'static Signal {
    start().signals.create(value).unwrap()
}

fn allocate(pool: Pool, bytes: usize) -> Answer<*mut c_void> {
    let mut out = ptr::null_mut();
    // SAFETY: the out parameter is a local.
    unsafe { pool::allocate(pool_of(pool), bytes, 0, &raw mut out) }.map(|()| out)
}

fn fill(memory: *mut c_void, bytes: &[u8]) {
    start().memory.space().write(memory.addr() as u64, bytes).unwrap();
}

fn content(memory: *mut c_void, bytes: usize) -> Vec<u8> {
    let mut into = vec![0; bytes];
    start().memory.space().read(memory.addr() as u64, &mut into).unwrap();
    into
}

#[test]
fn a_wait_ends_with_the_change_or_with_its_time() {
    let signal = new_signal(5);
    let begin = now_ns();
    assert_eq!(signal.wait(Condition::Less, 1, 20_000_000), 5);
    assert!(now_ns() - begin >= 20_000_000);
    let waiter = thread::spawn(move || signal.wait(Condition::Equal, -7, u64::MAX));
    thread::sleep(NOW);
    signal.store(3);
    signal.add(-10);
    assert_eq!(waiter.join().unwrap(), -7);
    // A kernel changes the value without a word.
    let waiter = thread::spawn(move || signal.wait(Condition::GreaterOrEqual, 9, u64::MAX));
    thread::sleep(NOW);
    signal.store_silently(9);
    assert_eq!(waiter.join().unwrap(), 9);
    signal::destroy(signal.handle()).unwrap();
    assert_eq!(signal::destroy(signal.handle()), Err(Status::ERROR_INVALID_SIGNAL));
}

#[test]
fn a_handler_sees_a_value_that_is_gone_at_once() {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    static SUM: AtomicI64 = AtomicI64::new(0);
    unsafe extern "C" fn handler(value: i64, argument: *mut c_void) -> bool {
        SUM.fetch_add(value, Ordering::SeqCst);
        // The argument says how often it runs again.
        RUNS.fetch_add(1, Ordering::SeqCst) + 1 < argument.addr()
    }
    let signal = new_signal(1);
    for round in 0..200 {
        let before = RUNS.load(Ordering::SeqCst);
        // SAFETY: the handler takes any argument.
        let added = unsafe {
            signal::async_handler(signal.handle(), LESS, 1, Some(handler), ptr::null_mut())
        };
        added.unwrap();
        signal.store(-round);
        signal.store(1);
        while RUNS.load(Ordering::SeqCst) == before {
            thread::yield_now();
        }
        assert_eq!(RUNS.load(Ordering::SeqCst), before + 1);
    }
    assert_eq!(SUM.load(Ordering::SeqCst), -(0..200).sum::<i64>());
    // While the condition holds, a handler that wants to runs again.
    signal.store(0);
    let again = ptr::without_provenance_mut(205);
    // SAFETY: the handler takes any argument.
    unsafe { signal::async_handler(signal.handle(), LESS, 1, Some(handler), again) }.unwrap();
    while RUNS.load(Ordering::SeqCst) < 205 {
        thread::yield_now();
    }
    // A destroyed signal's handlers are gone.
    signal.store(1);
    // SAFETY: the handler takes any argument.
    unsafe { signal::async_handler(signal.handle(), LESS, 1, Some(handler), again) }.unwrap();
    signal::destroy(signal.handle()).unwrap();
    thread::sleep(NOW);
    assert_eq!(RUNS.load(Ordering::SeqCst), 205);
}

/// A queue whose callback stores what it is told.
struct TestQueue {
    queue: *mut HsaQueue,
    told: Box<AtomicUsize>,
}

impl TestQueue {
    fn new(size: u32) -> Self {
        unsafe extern "C" fn callback(status: Status, _: *mut HsaQueue, told: *mut c_void) {
            // SAFETY: the pointer is the queue's own counter, which outlives it.
            unsafe { &*told.cast::<AtomicUsize>() }.store(status.0 as usize, Ordering::SeqCst);
        }
        let told = Box::new(AtomicUsize::new(0));
        let data = ptr::from_ref(&*told).cast_mut().cast();
        let mut queue = ptr::null_mut();
        let gpu = agent(Agent::Gpu(0));
        // SAFETY: the callback and its counter live as long as the queue.
        unsafe { queue::create(gpu, size, 0, Some(callback), data, &raw mut queue) }.unwrap();
        Self { queue, told }
    }

    fn reserve(&self) -> u64 {
        // SAFETY: the queue is live.
        unsafe { queue::add_write_index(self.queue, 1) }
    }

    fn read_index(&self) -> u64 {
        // SAFETY: the queue is live.
        unsafe { queue::read_index(self.queue) }
    }

    /// Fills a reserved slot and rings the doorbell, as the specification has it.
    fn submit(&self, number: u64, header: u32, words: &[(usize, u64)]) {
        // SAFETY: the queue is live; its slots are 64 bytes each, and this one is ours.
        unsafe {
            let size = u64::from((*self.queue).size);
            while number >= self.read_index() + size {
                thread::yield_now();
            }
            let slot = (*self.queue).base_address.cast::<u8>().add(((number % size) * 64) as usize);
            slot.add(8).write_bytes(0, 56);
            slot.add(2).cast::<u16>().write((header >> 16) as u16);
            slot.add(4).cast::<u32>().write(0);
            for (at, word) in words {
                slot.add(*at).cast::<u64>().write(*word);
            }
            AtomicU16::from_ptr(slot.cast()).store(header as u16, Ordering::Release);
            let doorbell = (*self.queue).doorbell_signal;
            start().signals.get(doorbell).unwrap().store(number.cast_signed());
        }
    }

    fn push(&self, header: u32, words: &[(usize, u64)]) {
        self.submit(self.reserve(), header, words);
    }

    fn told(&self) -> Status {
        let begin = now_ns();
        loop {
            match self.told.load(Ordering::SeqCst) {
                0 => assert!(now_ns() - begin < 20_000_000_000, "nothing was told"),
                told => return Status(told as u32),
            }
            thread::yield_now();
        }
    }
}

impl Drop for TestQueue {
    fn drop(&mut self) {
        queue::destroy(self.queue).unwrap();
        assert_eq!(queue::destroy(self.queue), Err(Status::ERROR_INVALID_QUEUE));
    }
}

const BARRIER_AND: u32 = 3;
const BARRIER_OR: u32 = 5;
const BARRIER_VALUE: u32 = 2 << 16;
const DISPATCH: u32 = 2 | 1 << 16;

fn handle(signal: &Signal) -> u64 {
    signal.handle().0
}

fn finished(signal: &Signal) {
    assert!(signal.wait(Condition::Less, 1, 20_000_000_000) < 1);
}

#[test]
fn barriers_wait_for_what_they_say() {
    let queue = TestQueue::new(64);
    let [first, second, third] = [1, 1, 1].map(new_signal);
    let done = [1, 1, 1].map(new_signal);
    queue.push(BARRIER_AND, &[(8, handle(first)), (40, handle(second)), (56, handle(done[0]))]);
    queue.push(BARRIER_OR, &[(8, handle(third)), (24, handle(second)), (56, handle(done[1]))]);
    let value = [(8, handle(third)), (16, 0x20), (24, 0xf0), (32, 0), (56, handle(done[2]))];
    queue.push(BARRIER_VALUE, &value);
    first.store(0);
    thread::sleep(NOW);
    assert_eq!(done[0].load(), 1);
    second.store(-1);
    finished(done[0]);
    finished(done[1]);
    thread::sleep(NOW);
    assert_eq!(done[2].load(), 1);
    third.store(0x123);
    finished(done[2]);
    let (begin, end) = done[2].times();
    assert!(begin > 0 && end >= begin);
    assert_eq!(queue.read_index(), 3);
}

#[test]
fn a_ring_that_wraps_loses_nothing_in_whatever_order_slots_are_filled() {
    let queue = TestQueue::new(8);
    let done = new_signal(2000);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..250 {
                    // The second slot is filled first.
                    let (one, two) = (queue.reserve(), queue.reserve());
                    if two == one + 1 {
                        queue.submit(two, BARRIER_AND, &[(56, handle(done))]);
                        queue.submit(one, BARRIER_AND, &[(56, handle(done))]);
                    } else {
                        queue.submit(one, BARRIER_AND, &[(56, handle(done))]);
                        queue.submit(two, BARRIER_AND, &[(56, handle(done))]);
                    }
                }
            });
        }
    });
    finished(done);
    assert_eq!((done.load(), queue.read_index()), (0, 2000));
}

// SAFETY: the packets and the counter are only touched through atomics and by the protocol.
unsafe impl Sync for TestQueue {}

#[test]
fn a_packet_that_cannot_be_done_stops_the_queue_and_is_told() {
    for (header, words, expected) in [
        (4, [(8, 0), (12, 0)], Status::ERROR_INVALID_PACKET_FORMAT),
        (1 << 16, [(8, 0), (12, 0)], Status::ERROR_INVALID_PACKET_FORMAT),
        (BARRIER_AND, [(8, 0x1000), (12, 0)], Status::ERROR_INVALID_SIGNAL),
        (DISPATCH, [(4, 64), (12, 64)], Status::ERROR_INVALID_CODE_OBJECT),
    ] {
        let queue = TestQueue::new(64);
        let done = new_signal(1);
        queue.push(header, &words);
        assert_eq!(queue.told(), expected);
        queue.push(BARRIER_AND, &[(56, handle(done))]);
        thread::sleep(NOW);
        assert_eq!(done.load(), 1);
    }
}

#[test]
fn a_queue_that_waits_can_be_destroyed() {
    let queue = TestQueue::new(64);
    let never = new_signal(1);
    queue.push(BARRIER_AND, &[(8, handle(never))]);
    thread::sleep(NOW);
    drop(queue);
}

fn point_at(address: *mut c_void) -> PointerInfo {
    let mut info = PointerInfo {
        size: size_of::<PointerInfo>() as u32,
        kind: 99,
        agent_base_address: ptr::null_mut(),
        host_base_address: ptr::null_mut(),
        size_in_bytes: 0,
        user_data: ptr::null_mut(),
        agent_owner: AgentHandle(0),
        global_flags: 0,
    };
    let (count, list) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the structure is a local.
    unsafe { pool::pointer_info(address, &raw mut info, None, count, list) }.unwrap();
    info
}

#[test]
fn memory_of_each_kind_is_known_by_its_address() {
    let device = allocate(Pool::Vram(0), 5000).unwrap();
    let host = allocate(Pool::SystemFine, 5000).unwrap();
    let inside = point_at(device.wrapping_byte_add(4999));
    assert_eq!((inside.kind, inside.agent_base_address, inside.size_in_bytes), (1, device, 5000));
    assert_eq!((inside.agent_owner, inside.global_flags), (agent(Agent::Gpu(0)), 4));
    assert!(inside.host_base_address.is_null());
    let inside = point_at(host);
    assert_eq!((inside.kind, inside.host_base_address, inside.global_flags), (1, host, 2));
    assert_eq!(point_at(device.wrapping_byte_add(5000)).kind, 0);

    let mut bytes = vec![7u8; 10_000];
    let start_of_host = bytes.as_mut_ptr().wrapping_add(100).cast::<c_void>();
    let lock = |bytes: usize| {
        let mut out = ptr::null_mut();
        let gpu = agent(Agent::Gpu(0));
        let pool = pool_of(Pool::SystemFine);
        // SAFETY: the memory lives until it is unlocked below.
        unsafe {
            memory::lock_to_pool(start_of_host, bytes, &raw const gpu, 1, pool, 0, &raw mut out)
        }
        .unwrap();
        out
    };
    let (first, second) = (lock(3000), lock(9000));
    assert!(first != start_of_host && second != first);
    assert_eq!(first.addr() % 4096, start_of_host.addr() % 4096);
    assert_eq!(point_at(second).kind, 2);
    assert_eq!(point_at(start_of_host).host_base_address, start_of_host);
    fill(first, &[1, 2, 3]);
    assert_eq!(content(second, 4), [1, 2, 3, 7]);
    assert_eq!(bytes[100..104], [1, 2, 3, 7]);
    let memory = &start().memory;
    memory.unlock(start_of_host.addr() as u64).unwrap();
    assert!(memory.space().find(second.addr() as u64).is_none());
    assert!(memory.space().find(first.addr() as u64).is_some());
    memory.unlock(start_of_host.addr() as u64).unwrap();
    let again = memory.unlock(start_of_host.addr() as u64);
    assert_eq!(again, Err(Status::ERROR_INVALID_ARGUMENT));

    for memory in [device, host] {
        pool::free(memory).unwrap();
        assert_eq!(pool::free(memory), Err(Status::ERROR_INVALID_ARGUMENT));
        assert_eq!(point_at(memory).kind, 0);
    }
    assert_eq!(allocate(Pool::Lds(0), 64), Err(Status::ERROR_INVALID_ALLOCATION));
    assert_eq!(allocate(Pool::Vram(0), 0), Err(Status::ERROR_INVALID_ARGUMENT));
    let too_much = allocate(Pool::Vram(0), memory::VRAM_BYTES as usize + 1);
    assert_eq!(too_much, Err(Status::ERROR_OUT_OF_RESOURCES));
}

#[test]
fn copies_wait_and_keep_to_their_box() {
    let device = allocate(Pool::Vram(0), 4096).unwrap();
    let host = allocate(Pool::SystemCoarse, 4096).unwrap();
    let bytes: Vec<u8> = (0..4096u32).map(|index| (index % 251) as u8).collect();
    fill(host, &bytes);
    let (gpu, cpu) = (agent(Agent::Gpu(0)), agent(Agent::Cpu));
    let (before, done) = (new_signal(1), new_signal(1));
    let after = [before.handle()];
    let end = done.handle();
    // SAFETY: the memory lives until the copy is done.
    unsafe { copy::copy(device, gpu, host, cpu, 4096, 1, after.as_ptr(), end) }.unwrap();
    thread::sleep(NOW);
    assert_eq!((done.load(), content(device, 2)), (1, vec![0, 0]));
    before.store(0);
    finished(done);
    assert_eq!(content(device, 4096), bytes);
    let mut times = ProfilingTime { start: 0, end: 0 };
    // SAFETY: the out parameter is a local.
    unsafe { signal::profiling_time(done.handle(), &raw mut times) }.unwrap();
    assert!(times.start > 0 && times.end >= times.start);

    fill(host, &[0; 4096]);
    let to = PitchedPtr { base: host, pitch: 64, slice: 512 };
    let from = PitchedPtr { base: device, pitch: 100, slice: 1000 };
    let to_offset = Dim3 { x: 3, y: 1, z: 0 };
    let from_offset = Dim3 { x: 5, y: 2, z: 1 };
    let range = Dim3 { x: 20, y: 4, z: 2 };
    done.store(1);
    // SAFETY: the structures are locals, and the memory lives until the copy is done.
    let asked = unsafe {
        copy::copy_rect(
            &raw const to,
            &raw const to_offset,
            &raw const from,
            &raw const from_offset,
            &raw const range,
            gpu,
            2,
            0,
            ptr::null(),
            done.handle(),
        )
    };
    asked.unwrap();
    finished(done);
    let seen = content(host, 4096);
    for (at, byte) in seen.iter().enumerate() {
        let (x, y, z) = (at % 64, at / 64 % 8, at / 512);
        let inside = (3..23).contains(&x) && (1..5).contains(&y) && z < 2;
        let source = (z + 1) * 1000 + (y + 1) * 100 + x + 2;
        assert_eq!(*byte, if inside { bytes[source] } else { 0 }, "at {at}");
    }
    pool::free(device).unwrap();
    pool::free(host).unwrap();
}

#[test]
fn managed_memory_remembers_what_it_was_told_until_its_addresses_are_used_again() {
    const GLOBAL_FLAG: u64 = 0;
    const READ_MOSTLY: u64 = 6;
    const IN_PLACE: u64 = 0x201;
    const NO_ACCESS: u64 = 0x202;
    const QUERY: u64 = 0x203;
    let pages = memory::map_host(8192).unwrap();
    let gpu = agent(Agent::Gpu(0)).0;
    let set = |pairs: &[(u64, u64)]| {
        let pairs: Vec<SvmPair> =
            pairs.iter().map(|&(attribute, value)| SvmPair { attribute, value }).collect();
        // SAFETY: the memory stays mapped to the end of the test.
        unsafe { svm::set(pages.cast(), 8192, pairs.as_ptr(), pairs.len()) }
    };
    let get = |attribute: u64, value: u64| {
        let mut pair = SvmPair { attribute, value };
        // SAFETY: the pair is a local.
        let got = unsafe { svm::get(pages.cast(), 4096, &raw mut pair, 1) };
        got.map(|()| (pair.attribute, pair.value))
    };
    assert_eq!(get(READ_MOSTLY, 0), Err(Status::ERROR_INVALID_ARGUMENT));
    // SAFETY: no pair is asked for.
    unsafe { svm::get(pages.cast(), 4096, ptr::null_mut(), 0) }.unwrap();
    set(&[(READ_MOSTLY, 1)]).unwrap();
    assert_eq!(get(GLOBAL_FLAG, 7), Ok((GLOBAL_FLAG, 0)), "fine-grained");
    let space = start().memory.space();
    assert!(space.find(pages.addr() as u64).is_none());
    assert_eq!(get(QUERY, gpu).unwrap().0, NO_ACCESS);
    set(&[(IN_PLACE, gpu)]).unwrap();
    assert!(space.find(pages.addr() as u64).is_some());
    assert_eq!((get(READ_MOSTLY, 0), get(QUERY, gpu).unwrap().0), (Ok((6, 1)), IN_PLACE));
    // One page of the two.
    let mut mostly = SvmPair { attribute: READ_MOSTLY, value: 0 };
    // SAFETY: the memory stays mapped to the end of the test; the pair is a local.
    unsafe { svm::set(pages.wrapping_add(4100).cast(), 1, &raw const mostly, 1) }.unwrap();
    for (offset, bytes, value) in [(0, 4096, 1), (4096, 4096, 0), (8191, 1, 0), (0, 8192, 0)] {
        mostly.value = 7;
        // SAFETY: as above.
        unsafe { svm::get(pages.wrapping_add(offset).cast(), bytes, &raw mut mostly, 1) }.unwrap();
        assert_eq!(mostly.value, value, "{bytes} bytes at {offset}");
    }
    assert_eq!(set(&[(0x999, 1)]), Err(Status::ERROR_INVALID_ARGUMENT));
    assert_eq!(set(&[(IN_PLACE, 12345)]), Err(Status::ERROR_INVALID_AGENT));
    set(&[(NO_ACCESS, gpu)]).unwrap();
    assert!(space.find(pages.addr() as u64).is_none());
    set(&[(IN_PLACE, gpu)]).unwrap();
    // SAFETY: the memory stays mapped to the end of the test.
    unsafe { memory::register(pages.cast(), 4096) }.unwrap();
    assert_eq!(get(READ_MOSTLY, 0), Err(Status::ERROR_INVALID_ARGUMENT));
    memory::deregister(pages.cast()).unwrap();
    memory::unmap_host(pages, 8192);
}

#[test]
fn shared_memory_is_one_memory_and_ends_with_its_allocation() {
    let device = allocate(Pool::Vram(0), 6000).unwrap();
    fill(device, b"before");
    let mut exported = IpcMemory { handle: [0; 8] };
    // SAFETY: the handle is a local.
    unsafe { ipc::create(device, 6000, &raw mut exported) }.unwrap();
    let mut attached = ptr::null_mut();
    let gpu = agent(Agent::Gpu(0));
    let out = &raw mut attached;
    // SAFETY: the parameters are locals.
    unsafe { ipc::attach(&raw const exported, 6000, 1, &raw const gpu, out) }.unwrap();
    assert_eq!((content(attached, 6), point_at(attached).kind), (b"before".to_vec(), 4));
    fill(attached, b"behind");
    assert_eq!(content(device, 6), b"behind");
    pool::free(device).unwrap();
    let next = allocate(Pool::Vram(0), 6000).unwrap();
    assert_eq!(content(next, 6), [0; 6]);
    fill(next, b"foster");
    assert_eq!(content(attached, 6), b"behind");
    ipc::detach(attached).unwrap();
    assert_eq!(ipc::detach(attached), Err(Status::ERROR_INVALID_ARGUMENT));
    assert_eq!(ipc::detach(next), Err(Status::ERROR_INVALID_ARGUMENT));
    exported.handle[2] = 1;
    // SAFETY: the parameters are locals.
    let wrong = unsafe { ipc::attach(&raw const exported, 6000, 1, &raw const gpu, out) };
    assert_eq!(wrong, Err(Status::ERROR_INVALID_ARGUMENT));
    pool::free(next).unwrap();
}

const CODE: &[u8] = include_bytes!("../../hip-code/tests/data/fs.gfx90a.c15.co");

fn reader(bytes: &[u8]) -> ReaderHandle {
    start();
    let mut reader = ReaderHandle(0);
    // SAFETY: the bytes are a slice, the out parameter a local.
    unsafe { code::create_reader(bytes.as_ptr().cast(), bytes.len(), &raw mut reader) }.unwrap();
    reader
}

fn executable() -> ExecutableHandle {
    start();
    let mut executable = ExecutableHandle(0);
    // SAFETY: the out parameter is a local.
    unsafe { code::create_executable(0, 0, &raw mut executable) }.unwrap();
    executable
}

fn load(executable: ExecutableHandle, reader: ReaderHandle) -> Answer {
    // SAFETY: nothing is given back.
    unsafe { code::load(executable, agent(Agent::Gpu(0)), reader, ptr::null_mut()) }
}

fn find(executable: ExecutableHandle, name: &CStr) -> Answer<SymbolHandle> {
    let gpu = agent(Agent::Gpu(0));
    let mut symbol = SymbolHandle(0);
    // SAFETY: the parameters are locals.
    unsafe { code::symbol_by_name(executable, name.as_ptr(), &raw const gpu, &raw mut symbol) }
        .map(|()| symbol)
}

fn word(symbol: SymbolHandle, attribute: u32) -> Answer<u64> {
    let mut value = 0u64;
    // SAFETY: no attribute asked for below is larger than the local.
    unsafe { code::symbol_info(symbol, attribute, (&raw mut value).cast()) }.map(|()| value)
}

#[test]
fn code_is_found_by_name_and_by_address_until_it_is_destroyed() {
    let (target, source) = (executable(), reader(CODE));
    load(target, source).unwrap();
    code::freeze(target).unwrap();
    assert_eq!(code::freeze(target), Err(Status::ERROR_FROZEN_EXECUTABLE));
    assert_eq!(load(target, source), Err(Status::ERROR_FROZEN_EXECUTABLE));
    code::destroy_reader(source).unwrap();
    assert_eq!(code::destroy_reader(source), Err(Status::ERROR_INVALID_CODE_OBJECT_READER));

    let kernel = find(target, c"saxpy.kd").unwrap();
    assert_eq!(find(target, c"saxpy.kd"), Ok(kernel));
    assert_eq!((word(kernel, 0), word(kernel, 11)), (Ok(1), Ok(24)));
    let object = word(kernel, 22).unwrap();
    assert_eq!(start().code.kernel(object).unwrap().kernel.kernel.name(), "saxpy");
    let variable = find(target, c"cTab").unwrap();
    assert_eq!((word(variable, 0), word(variable, 9)), (Ok(0), Ok(256)));
    assert_eq!(word(variable, 99), Err(Status::ERROR_INVALID_ARGUMENT));
    assert_eq!(find(target, c"saxpy"), Err(Status::ERROR_INVALID_SYMBOL_NAME));

    let (mut host, mut owner) = (ptr::null(), ExecutableHandle(0));
    let address = ptr::without_provenance(object as usize);
    // SAFETY: the out parameters are locals.
    let got = unsafe { code::query_host_address(address, &raw mut host) };
    assert_eq!(got, Status::SUCCESS);
    // SAFETY: the pointer is to the descriptor in the loaded file, which lives.
    let descriptor = unsafe { std::slice::from_raw_parts(host.cast::<u8>(), 64) };
    assert_eq!(descriptor, content(address.cast_mut(), 64));
    // SAFETY: the out parameter is a local.
    let got = unsafe { code::query_executable(address, &raw mut owner) };
    assert_eq!((got, owner), (Status::SUCCESS, target));

    code::destroy_executable(target).unwrap();
    assert_eq!(code::destroy_executable(target), Err(Status::ERROR_INVALID_EXECUTABLE));
    assert_eq!(word(kernel, 0), Err(Status::ERROR_INVALID_EXECUTABLE_SYMBOL));
    assert!(start().code.kernel(object).is_none());
}

#[test]
fn code_that_does_not_fit_is_refused() {
    let mut other = CODE.to_vec();
    // EF_AMDGPU_MACH of gfx906.
    other[0x30] = 0x2f;
    assert_eq!(load(executable(), reader(&other)), Err(Status::ERROR_INCOMPATIBLE_ARGUMENTS));
    assert_eq!(load(executable(), reader(b"junk")), Err(Status::ERROR_INVALID_CODE_OBJECT));
    let unknown = load(executable(), ReaderHandle(8));
    assert_eq!(unknown, Err(Status::ERROR_INVALID_CODE_OBJECT_READER));
}

#[test]
fn every_status_has_a_text_that_starts_with_its_name() {
    for (status, name) in [
        (Status::SUCCESS, "HSA_STATUS_SUCCESS: "),
        (Status::ERROR_ILLEGAL_INSTRUCTION, "HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION: "),
    ] {
        let mut text = ptr::null();
        // SAFETY: the out parameter is a local.
        unsafe { system::status_string(status, &raw mut text) }.unwrap();
        // SAFETY: a status text is a constant C string.
        let text = unsafe { CStr::from_ptr(text) }.to_str().unwrap();
        assert!(text.starts_with(name), "{text}");
    }
    let mut text = ptr::null();
    // SAFETY: the out parameter is a local.
    let unknown = unsafe { system::status_string(Status(0x7777), &raw mut text) };
    assert_eq!(unknown, Err(Status::ERROR_INVALID_ARGUMENT));
}

#[test]
fn handles_that_name_nothing_are_refused() {
    let names = &start().names;
    assert_eq!(names.agent(AgentHandle(0)), Err(Status::ERROR_INVALID_AGENT));
    assert_eq!(names.gpu(agent(Agent::Cpu)), Err(Status::ERROR_INVALID_AGENT));
    assert_eq!(names.pool(PoolHandle(1)), Err(Status::ERROR_INVALID_MEMORY_POOL));
    for handle in [0, 64, u64::MAX, new_signal(0).handle().0 + 8] {
        let found = start().signals.get(SignalHandle(handle));
        assert_eq!(found.map(drop), Err(Status::ERROR_INVALID_SIGNAL));
    }
}

/// Dispatches the kernel "saxpy" of a code object, which may touch nothing but its arguments.
fn dispatch_saxpy(code: &[u8], elements: u32) -> (TestQueue, &'static Signal, [*mut c_void; 3]) {
    let (target, source) = (executable(), reader(code));
    load(target, source).unwrap();
    let object = word(find(target, c"saxpy.kd").unwrap(), 22).unwrap();
    let x = allocate(Pool::Vram(0), 4096).unwrap();
    let y = allocate(Pool::Vram(0), 4096).unwrap();
    let arguments = allocate(Pool::SystemKernarg, 64).unwrap();
    let floats: Vec<u8> = (0..1024u16).flat_map(|n| f32::from(n).to_le_bytes()).collect();
    fill(x, &floats);
    fill(y, &floats);
    let mut block = elements.to_le_bytes().to_vec();
    block.extend(3f32.to_le_bytes());
    block.extend((x.addr() as u64).to_le_bytes());
    block.extend((y.addr() as u64).to_le_bytes());
    fill(arguments, &block);
    let (queue, done) = (TestQueue::new(64), new_signal(1));
    let packet = [
        (4, 64 | 1 << 16 | 1 << 32),
        (12, 1024 | 1 << 32),
        (20, 1),
        (32, object),
        (40, arguments.addr() as u64),
        (56, handle(done)),
    ];
    queue.push(DISPATCH, &packet);
    (queue, done, [x, y, arguments])
}

#[test]
fn a_dispatch_runs_the_kernel_and_completes_its_signal() {
    let (queue, done, [_, y, _]) = dispatch_saxpy(CODE, 1000);
    finished(done);
    let result = content(y, 4096);
    for (index, bytes) in result.chunks_exact(4).enumerate() {
        let value = f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let expected = if index < 1000 { 4.0 } else { 1.0 } * index as f32;
        assert_eq!(value, expected, "at {index}");
    }
    assert_eq!(queue.told.load(Ordering::SeqCst), 0);
}

#[test]
fn a_kernel_that_faults_is_told_with_the_status_of_its_fault() {
    let object = gfx_emu::loader::code::CodeObject::parse(CODE).unwrap();
    let text = object.symbol_bytes(object.symbol("saxpy").unwrap()).unwrap();
    let entry = text.as_ptr().addr() - CODE.as_ptr().addr();
    // An encoding that no GFX9 instruction has, and s_trap 2.
    for (instruction, expected) in [
        (0xffff_ffffu32, Status::ERROR_ILLEGAL_INSTRUCTION),
        (0xbf92_0002, Status::ERROR_EXCEPTION),
    ] {
        let mut code = CODE.to_vec();
        code[entry..entry + 4].copy_from_slice(&instruction.to_le_bytes());
        let (queue, done, _) = dispatch_saxpy(&code, 1000);
        assert_eq!((queue.told(), done.load()), (expected, 1));
    }
    let (queue, done, [_, y, arguments]) = dispatch_saxpy(CODE, 0);
    finished(done);
    pool::free(y).unwrap();
    fill(arguments, &1000u32.to_le_bytes());
    let again = [
        (4, 64 | 1 << 16 | 1 << 32),
        (12, 1024 | 1 << 32),
        (20, 1),
        (32, first_dispatched(&queue)),
        (40, arguments.addr() as u64),
    ];
    queue.push(DISPATCH, &again);
    assert_eq!(queue.told(), Status::ERROR_MEMORY_FAULT);
}

/// The kernel of the first packet.
fn first_dispatched(queue: &TestQueue) -> u64 {
    // SAFETY: the queue is live, its first packet was written and is done.
    unsafe { (*queue.queue).base_address.cast::<u64>().add(4).read() }
}

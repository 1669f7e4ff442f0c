//! The runtime behind the declarations. Its handles and addresses have nothing to do with the
//! recorded ones, so that an engine that translates nothing fails.

use core::ffi::{CStr, c_char, c_int, c_void};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hrr_core::desc::ApiDesc;

use crate::api::*;

/// A copy.
type Run = Arc<dyn Fn() + Send + Sync>;

/// A copy that has not run yet.
struct Pending {
    stream: usize,
    run: Run,
}

/// What the fake remembers.
#[derive(Default)]
pub struct State {
    /// Each call, as the fake saw it.
    pub log: Vec<String>,
    /// What the next call of a function returns instead of doing anything.
    pub answers: HashMap<&'static str, Vec<c_int>>,
    /// How long calls of a function take.
    pub delays: HashMap<&'static str, Duration>,
    /// What functions that write a number write.
    pub number: u32,
    /// How many bytes of it `tGetNumber` writes.
    pub number_bytes: usize,
    /// Bytes that `tGetLuid` writes.
    pub luid_bytes: usize,
    /// What each value of an argument of a launch was, in order.
    pub launched: Vec<Vec<u64>>,
    /// The arguments of the next launches, by size.
    pub arg_bytes: Vec<usize>,
    /// Adds this to every byte that a copy to the host brings.
    pub corrupt: u8,
    /// Handles in the order in which they were made.
    pub made: Vec<usize>,
    pending: Vec<Pending>,
    /// Whether copies are captured, and those that were: every launch of a graph runs them.
    capturing: bool,
    captured: Vec<Run>,
    next: usize,
    /// The buffer of the linker's log.
    pub log_buffer: usize,
    pub last_callback: Option<usize>,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);
static TURN: Mutex<()> = Mutex::new(());

/// The fake of one test; tests take turns.
pub struct Fake {
    _turn: MutexGuard<'static, ()>,
}

/// Changes or reads what the fake remembers.
pub fn with<T>(f: impl FnOnce(&mut State) -> T) -> T {
    f(STATE.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(State::default))
}

/// Binds every fake and starts afresh.
pub fn start() -> Fake {
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    *STATE.lock().unwrap_or_else(PoisonError::into_inner) = None;
    with(|state| {
        state.luid_bytes = 8;
        state.number_bytes = 4;
        state.next = 0x5a5a_0000;
    });
    for (api, fake) in fakes() {
        api.real.store(fake.cast_mut(), std::sync::atomic::Ordering::Release);
    }
    Fake { _turn: turn }
}

/// Logs a call, waits its delay, and answers what was asked for it.
fn enter(name: &'static str, args: &[u64]) -> Option<Status> {
    let delay = with(|state| {
        let args: Vec<String> = args.iter().map(|arg| format!("{arg:x}")).collect();
        state.log.push(format!("{name}({})", args.join(", ")));
        state.delays.get(name).copied()
    });
    if let Some(delay) = delay {
        std::thread::sleep(delay);
    }
    with(|state| {
        let answers = state.answers.get_mut(name)?;
        (!answers.is_empty()).then(|| Status(answers.remove(0)))
    })
}

fn make() -> *mut c_void {
    with(|state| {
        state.next += 0x10;
        state.made.push(state.next);
        state.next as *mut c_void
    })
}

fn memory(bytes: usize) -> *mut c_void {
    Box::leak(vec![0u64; bytes.div_ceil(8) + 1].into_boxed_slice()).as_mut_ptr().cast()
}

/// Runs the copies of a stream, or of all.
pub fn drain(stream: Option<usize>) {
    let ready: Vec<Pending> = with(|state| {
        let (ready, rest) = std::mem::take(&mut state.pending)
            .into_iter()
            .partition(|pending| stream.is_none_or(|stream| pending.stream == stream));
        state.pending = rest;
        ready
    });
    for pending in ready {
        (pending.run)();
    }
}

macro_rules! fakes {
    ($($api:ident => $fake:ident),* $(,)?) => {
        fn fakes() -> Vec<(&'static ApiDesc, *const ())> {
            vec![$((&$api, $fake as *const ())),*]
        }
    };
}

fakes! {
    API_tStreamCreate => stream_create, API_tStreamDestroy => stream_destroy,
    API_tStreamUse => stream_use, API_tStreamChecked => stream_checked,
    API_tStreamQuery => stream_query, API_tPoll => poll,
    API_tStreamSynchronize => stream_synchronize, API_tSynchronize => synchronize,
    API_tGetLastError => get_last_error, API_tMalloc => malloc, API_tMallocPitch => malloc_pitch,
    API_tFree => free, API_tHostAlloc => host_alloc, API_tHostGetDevicePointer => host_device,
    API_tHostRegister => host_register, API_tHostUnregister => host_unregister,
    API_tExport => export, API_tReset => reset, API_tMemset => memset, API_tMemcpy => memcpy, API_tMemcpy2D => memcpy_2d,
    API_tMemcpyAsync => memcpy_async, API_tMemcpyParams => memcpy_params,
    API_tMemcpyEither => memcpy_either,
    API_tConfigure => configure, API_tConfigureAll => configure_all, API_tName => name,
    API_tAddresses => addresses, API_tGetLuid => get_luid, API_tGetName => get_name,
    API_tGetNumber => get_number, API_tGetFree => get_free, API_tGetInfo => get_info,
    API_tGetStreams => get_streams, API_tGetAttribute => get_attribute,
    API_tSetAttribute => set_attribute, API_tLink => link, API_tSetDevice => set_device,
    API_tAddCallback => add_callback, API_tGetProc => get_proc,
    API_tModuleLoadData => module_load_data, API_tRegisterBinary => register_binary,
    API_tRegisterFunction => register_function, API_tModuleGetFunction => get_function,
    API_tLaunch => launch, API_tModuleLaunch => module_launch, API_tBeginCapture => begin_capture,
    API_tEndCapture => end_capture, API_tGraphCreate => graph_create,
    API_tGraphAddNode => graph_add_node, API_tGraphAddEdge => graph_add_edge,
    API_tInstantiate => instantiate, API_tExecSet => exec_set, API_tGraphLaunch => graph_launch,
    API_tCompile => must_not_run, API_tImport => must_not_run, API_tModuleLoad => must_not_run,
    API_tModuleLoadPath => must_not_run,
}

extern "C" fn must_not_run() -> Status {
    with(|state| state.log.push("MUST NOT RUN".to_owned()));
    OK
}

macro_rules! fake {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) $body:block)*) => { $(
        extern "C" fn $name($($arg: $ty),*) -> Status {
            if let Some(status) = enter(stringify!($name), &[$($arg as u64),*]) {
                return status;
            }
            // Not every fake has something unsafe to do.
            #[allow(unused_unsafe, reason = "one shape for all fakes")]
            // SAFETY: the engine's arguments, which is what these tests are about.
            unsafe { $body }
        }
    )* };
}

/// Writes a new handle where `at` says.
unsafe fn put(at: *mut *mut c_void) -> Status {
    // SAFETY: the caller's.
    unsafe { at.write(make()) };
    OK
}

unsafe fn words<T: Copy>(at: *const T, count: usize) -> Vec<T> {
    // SAFETY: the caller's.
    (0..count).map(|i| unsafe { at.add(i).read_unaligned() }).collect()
}

unsafe fn copy(dst: *mut u8, src: *const u8, bytes: usize, kind: c_int) {
    // SAFETY: the caller's.
    unsafe {
        std::ptr::copy(src, dst, bytes);
        if kind == D2H.0 {
            let corrupt = with(|state| state.corrupt);
            for i in 0..bytes {
                *dst.add(i) = (*dst.add(i)).wrapping_add(corrupt);
            }
        }
    }
}

fake! {
    fn stream_create(stream: *mut *mut c_void) { put(stream) }
    fn stream_destroy(_stream: *mut c_void) { OK }
    fn stream_use(_stream: *mut c_void) { OK }
    fn stream_checked(stream: *mut c_void) {
        let known = stream.is_null() || with(|state| state.made.contains(&(stream as usize)));
        if known { OK } else { BAD_HANDLE }
    }
    fn stream_query(_stream: *mut c_void) { OK }
    fn poll(_stream: *mut c_void) { OK }
    fn stream_synchronize(stream: *mut c_void) { drain(Some(stream as usize)); OK }
    fn synchronize() { drain(None); OK }
    fn get_last_error() { OK }
    fn malloc(ptr: *mut *mut c_void, bytes: usize) { ptr.write(memory(bytes)); OK }
    fn malloc_pitch(ptr: *mut *mut c_void, pitch: *mut usize, width: usize, height: usize) {
        pitch.write(width.next_multiple_of(512));
        ptr.write(memory(width.next_multiple_of(512) * height));
        OK
    }
    fn free(_ptr: *mut c_void) { OK }
    fn host_alloc(ptr: *mut *mut c_void, bytes: usize) { ptr.write(memory(bytes)); OK }
    fn host_device(device: *mut *mut c_void, host: *mut c_void) { device.write(host); OK }
    fn host_register(_ptr: *mut c_void, _bytes: usize) { OK }
    fn host_unregister(_ptr: *mut c_void) { OK }
    fn reset() { OK }
    fn export(handle: *mut u64, ptr: *mut c_void) {
        handle.write(ptr as u64);
        OK
    }
    fn memset(ptr: *mut c_void, value: c_int, bytes: usize) {
        ptr.cast::<u8>().write_bytes(value as u8, bytes);
        OK
    }
    fn memcpy(dst: *mut u8, src: *const u8, bytes: usize, kind: c_int) {
        copy(dst, src, bytes, kind);
        OK
    }
    fn memcpy_2d(dst: *mut u8, dpitch: usize, src: *const u8, spitch: usize, width: usize, height: usize, kind: c_int) {
        for row in 0..height {
            copy(dst.add(row * dpitch), src.add(row * spitch), width, kind);
        }
        OK
    }
    fn memcpy_async(dst: *mut u8, src: *const u8, bytes: usize, kind: c_int, stream: *mut c_void) {
        let (dst, src) = (dst as usize, src as usize);
        // SAFETY: runs while the engine keeps both sides.
        let run: Run = Arc::new(move || unsafe { copy(dst as *mut u8, src as *const u8, bytes, kind) });
        with(|state| match state.capturing {
            true => state.captured.push(run),
            false => state.pending.push(Pending { stream: stream as usize, run }),
        });
        OK
    }
    fn memcpy_params(params: *const CopyParams) {
        let p = params.read();
        for row in 0..p.height {
            copy(p.dst.cast::<u8>().add(row * p.width), p.src.cast::<u8>().add(row * p.pitch), p.width, 1);
        }
        OK
    }
    fn memcpy_either(copy: *const Either) {
        let copy = copy.read();
        with(|state| {
            state.launched.push(vec![copy.host as u64, copy.device as u64]);
            Status(state.number as c_int)
        })
    }
    fn configure(config: *const Config) {
        configure_one(config.read());
        OK
    }
    fn configure_all(configs: *const Config, count: u32) {
        for config in words(configs, count as usize) {
            configure_one(config);
        }
        OK
    }
    fn name(name: *const c_char, data: *const u8, bytes: usize) {
        let text = if name.is_null() { "null".into() } else { CStr::from_ptr(name).to_string_lossy() };
        let data = if data.is_null() { Vec::new() } else { words(data, bytes) };
        with(|state| state.log.push(format!("{text} {data:?}")));
        OK
    }
    fn addresses(addresses: *const u64, count: usize) {
        let all = if addresses.is_null() { Vec::new() } else { words(addresses, count) };
        with(|state| state.launched.push(all));
        OK
    }
    fn get_luid(luid: *mut u8) {
        luid.write_bytes(7, with(|state| state.luid_bytes));
        OK
    }
    fn get_name(name: *mut u8, bytes: c_int) {
        std::ptr::copy_nonoverlapping(c"live name".as_ptr().cast(), name, 10.min(bytes as usize));
        OK
    }
    fn get_number(number: *mut u8) {
        let (value, bytes) = with(|state| (state.number.to_le_bytes(), state.number_bytes));
        std::ptr::copy_nonoverlapping(value.as_ptr(), number, bytes);
        OK
    }
    fn get_free(free: *mut usize) { free.write(12345); OK }
    fn get_info(info: *mut Info) {
        let stream = Stream(with(|state| state.made[0]) as *mut c_void);
        info.write(Info { small: 3, number: with(|state| state.number), stream });
        OK
    }
    fn get_streams(streams: *mut usize, count: *mut usize) {
        let made = with(|state| state.made.clone());
        if !streams.is_null() {
            for (i, stream) in made.iter().rev().take(count.read()).enumerate() {
                streams.add(i).write(*stream);
            }
        }
        count.write(made.len());
        OK
    }
    fn get_attribute(value: *mut c_void, attribute: c_int) {
        match attribute {
            2 => value.cast::<usize>().write(with(|state| state.made[0])),
            _ => value.cast::<u32>().write(with(|state| state.number)),
        }
        OK
    }
    fn set_attribute(attribute: c_int, value: *const c_void) {
        let value = if attribute == 2 { value.cast::<u64>().read() } else { value.cast::<u32>().read().into() };
        with(|state| state.launched.push(vec![value]));
        OK
    }
    fn link(count: u32, options: *const c_int, values: *const u64) {
        let (options, values) = (words(options, count as usize), words(values, count as usize));
        for (option, value) in options.iter().zip(&values) {
            if *option == 3 {
                with(|state| state.log_buffer = *value as usize);
            }
        }
        with(|state| state.launched.push(values));
        OK
    }
    fn set_device(_device: c_int) { OK }
    fn add_callback(_stream: *mut c_void, callback: *const c_void, data: *mut c_void) {
        with(|state| state.last_callback = Some(callback as usize));
        if !callback.is_null() {
            let callback: extern "C" fn(*mut c_void) = std::mem::transmute(callback);
            callback(data);
        }
        OK
    }
    fn get_proc(_name: *const c_char, f: *mut *mut c_void) { put(f) }
    fn module_load_data(module: *mut *mut c_void, image: *const u8) {
        let first = words(image, 4);
        with(|state| state.log.push(format!("image {first:?}")));
        if first == b"JUNK" {
            // As runtimes do, it looks for a table far behind.
            let table = words(image.add(4 << 20), 64);
            with(|state| state.log.push(format!("table {}", table.iter().any(|byte| *byte != 0))));
            return Status(200);
        }
        put(module)
    }
    fn get_function(function: *mut *mut c_void, _module: *mut c_void, _name: *const c_char) {
        put(function)
    }
    fn launch(_stub: *const c_void, args: *const u64, _stream: *mut c_void) {
        launch_pointers(args);
        OK
    }
    fn module_launch(_function: *mut c_void, _stream: *mut c_void, args: *const u64, extra: *const u64) {
        if extra.is_null() {
            launch_pointers(args);
        } else {
            let list = words(extra, 5);
            assert_eq!((list[0], list[2], list[4]), (1, 2, 3));
            let bytes = (list[3] as *const u64).read() as usize;
            let packed = words(list[1] as *const u64, bytes / 8);
            with(|state| state.launched.push(packed));
        }
        OK
    }
    fn begin_capture(_stream: *mut c_void) { with(|state| state.capturing = true); OK }
    fn end_capture(_stream: *mut c_void, graph: *mut *mut c_void) {
        with(|state| state.capturing = false);
        put(graph)
    }
    fn graph_create(graph: *mut *mut c_void) { put(graph) }
    fn graph_add_node(node: *mut *mut c_void, _graph: *mut c_void, dependencies: *const u64, count: usize, _value: *const u32) {
        let all = if dependencies.is_null() { Vec::new() } else { words(dependencies, count) };
        with(|state| state.launched.push(all));
        put(node)
    }
    fn graph_add_edge(_graph: *mut c_void, _from: *mut c_void, _to: *mut c_void) { OK }
    fn instantiate(exec: *mut *mut c_void, _graph: *mut c_void) { put(exec) }
    fn exec_set(_exec: *mut c_void, _node: *mut c_void, _value: *const u32) { OK }
    fn graph_launch(_exec: *mut c_void, _stream: *mut c_void) {
        for run in with(|state| state.captured.clone()) {
            run();
        }
        OK
    }
}

unsafe fn launch_pointers(args: *const u64) {
    let sizes = with(|state| std::mem::take(&mut state.arg_bytes));
    let mut all = Vec::new();
    for (i, bytes) in sizes.into_iter().enumerate() {
        // SAFETY: the engine's list has one pointer for each argument.
        let at = unsafe { args.add(i).read() } as *const u8;
        // SAFETY: each leads to the argument.
        let value = unsafe { words(at, bytes) };
        let mut value = value;
        value.resize(bytes.next_multiple_of(8), 0);
        all.extend(value.chunks(8).map(|chunk| u64::from_le_bytes(chunk.try_into().unwrap())));
    }
    with(|state| state.launched.push(all));
}

unsafe fn configure_one(config: Config) {
    // SAFETY: the engine's array, as long as the struct says.
    let values = unsafe { words(config.values, config.count as usize) };
    with(|state| {
        state.log.push(format!(
            "{} {:x} {:x} {values:?}",
            config.small, config.stream.0 as usize, config.address as usize
        ));
    });
}

extern "C" fn register_binary(wrapper: *const u64) -> Module {
    enter("register_binary", &[]);
    // SAFETY: the engine's wrapper.
    let words = unsafe { words(wrapper, 3) };
    if words[0] != 0x1_4849_5046 {
        with(|state| state.log.push(format!("no wrapper {words:x?}")));
        return Module(std::ptr::null_mut());
    }
    // SAFETY: the image behind it.
    let image = unsafe { self::words(words[1] as *const u8, 4) };
    with(|state| state.log.push(format!("wrapper {:x} {image:?}", words[0])));
    Module(make())
}

extern "C" fn register_function(_module: *mut c_void, stub: *const c_void, _name: *const c_char) {
    enter("register_function", &[stub as u64]);
}

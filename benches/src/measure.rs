//! The process that is measured: it runs under the preloaded recorder and times calls.

use core::ffi::{CStr, c_char, c_int, c_void};
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// Calls in one timed batch: a small part of a chunk of a thread's ring, so that few batches hand a
/// chunk over and none waits for the helper thread.
pub(crate) const BATCH: u64 = 1_000;

/// Nanoseconds of one call in one round.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Round {
    /// Through a plain function pointer to the function library.
    pub(crate) plain: f64,
    /// Through the exported name of the preloaded library.
    pub(crate) exported: f64,
    /// Through `bench_jump` of the function library, one jump: the least that anything in between can cost.
    pub(crate) jump: f64,
    /// One event of LTTng-UST, where there is a provider.
    pub(crate) event: Option<f64>,
}

type Call = unsafe extern "C" fn(*mut c_void, usize, c_int, usize, usize) -> c_int;
type Event = unsafe extern "C" fn(u64, u64, u64, u32, u16) -> c_int;

fn open(path: &Path) -> *mut c_void {
    let name = std::ffi::CString::new(path.to_string_lossy().as_bytes()).unwrap_or_default();
    // SAFETY: a string; loading the benchmark's own library runs no code of others.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
    assert!(!handle.is_null(), "{}: {}", path.display(), dl_error());
    handle
}

fn dl_error() -> String {
    // SAFETY: answers a string of the thread, or null.
    unsafe {
        let text: *const c_char = libc::dlerror();
        if text.is_null() { String::new() } else { CStr::from_ptr(text).to_string_lossy().into() }
    }
}

fn symbol(handle: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: a handle that was opened above, and a string.
    let found = unsafe { libc::dlsym(handle, name.as_ptr()) };
    assert!(!found.is_null(), "{}: {}", name.to_string_lossy(), dl_error());
    found
}

/// The arguments of every call: loaded each time, as a program's are.
struct Arguments {
    dst: *mut c_void,
    pitch: usize,
    value: c_int,
    width: usize,
    height: usize,
}

#[inline(always)]
fn time(each: impl Fn(&Arguments)) -> f64 {
    let arguments =
        Arguments { dst: core::ptr::null_mut(), pitch: 256, value: 7, width: 64, height: 16 };
    let start = Instant::now();
    for _ in 0..BATCH {
        each(std::hint::black_box(&arguments));
    }
    start.elapsed().as_nanos() as f64 / BATCH as f64
}

/// One batch of calls. There is one such loop in the program, for every function: where a loop lies
/// changes its time by more than a jump costs.
///
/// # Safety
/// The function follows no pointer.
#[inline(never)]
unsafe fn time_calls(function: Call) -> f64 {
    // SAFETY: the caller's.
    time(|a| unsafe {
        function(a.dst, a.pitch, a.value, a.width, a.height);
    })
}

/// What two time stamps cost, in nanoseconds: the fastest of some batches.
pub(crate) fn time_stamps() -> f64 {
    let batch = || {
        let start = Instant::now();
        for _ in 0..BATCH {
            for _ in 0..2 {
                // SAFETY: every x86-64 processor has the instruction.
                std::hint::black_box(unsafe { core::arch::x86_64::_rdtsc() });
            }
        }
        start.elapsed().as_nanos() as f64 / BATCH as f64
    };
    (0..100).map(|_| batch()).fold(f64::INFINITY, f64::min)
}

/// Answers one line of JSON for each line that is read, until there are no more.
pub(crate) fn serve(runtime: &Path, provider: Option<&Path>) {
    let runtime = open(runtime);
    // SAFETY: the function has this signature: see `runtime.rs`.
    let arrived = unsafe {
        let arrived = symbol(runtime, c"bench_arrived");
        std::mem::transmute::<*mut c_void, extern "C" fn() -> u64>(arrived)
    };
    // SAFETY: the functions have these signatures: see `runtime.rs` and `lttng.rs`.
    let (plain, exported, jump, event) = unsafe {
        let plain = std::mem::transmute::<*mut c_void, Call>(symbol(runtime, c"bench_plain"));
        let jump = std::mem::transmute::<*mut c_void, Call>(symbol(runtime, c"bench_jump"));
        let exported = std::mem::transmute::<*mut c_void, Call>(symbol(runtime, c"hipMemset2D"));
        let event = provider.map(|provider| {
            let provider = open(provider);
            let enabled = symbol(provider, c"bench_event_enabled");
            let enabled =
                std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(enabled);
            let start = Instant::now();
            while enabled() == 0 {
                assert!(
                    start.elapsed() < Duration::from_secs(10),
                    "LTTng did not enable the event"
                );
                std::thread::sleep(Duration::from_millis(10));
            }
            std::mem::transmute::<*mut c_void, Event>(symbol(provider, c"bench_event"))
        });
        (plain, exported, jump, event)
    };
    let mut stdout = std::io::stdout();
    let functions = [plain, exported, jump];
    for (number, line) in std::io::stdin().lock().lines().enumerate() {
        if line.is_err() {
            return;
        }
        let before = arrived();
        let mut times = [0.0; 3];
        // Another one is the first in each round: what ran before a batch changes its time.
        for at in (0..3).map(|turn| (number + turn) % 3) {
            // SAFETY: the functions follow no pointer.
            times[at] = unsafe { time_calls(functions[at]) };
        }
        let [plain, exported, jump] = times;
        // SAFETY: the event follows no pointer.
        let round = unsafe {
            Round {
                plain,
                exported,
                jump,
                event: event.map(|event| {
                    time(|a| {
                        event(a.dst as u64, a.pitch as u64, a.width as u64, a.value as u32, 16);
                    })
                }),
            }
        };
        assert_eq!(arrived() - before, 3 * BATCH, "calls that did not reach the function library");
        let text = serde_json::to_string(&round).unwrap_or_default();
        if writeln!(stdout, "{text}").and_then(|()| stdout.flush()).is_err() {
            return;
        }
    }
}

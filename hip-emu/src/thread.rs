//! What HIP keeps for each thread.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use hrr_ffi::types::*;

use crate::abi::by_version;
use crate::launches::CallConfiguration;
use crate::runtime;
use crate::streams::Stream;

struct Thread {
    /// The last failure that nobody has read.
    last_error: Cell<hipError_t>,
    /// What the last call came to.
    last_command: Cell<hipError_t>,
    device: Cell<usize>,
    capture_mode: Cell<hipStreamCaptureMode>,
    /// What `<<<>>>` pushed.
    calls: RefCell<Vec<CallConfiguration>>,
    /// `hipStreamPerThread`, for each device that the thread used it on.
    streams: RefCell<HashMap<usize, Arc<Stream>>>,
    /// The devices of the contexts that were pushed.
    contexts: RefCell<Vec<usize>>,
}

thread_local! {
    static THREAD: Thread = Thread {
        last_error: Cell::new(hipSuccess),
        last_command: Cell::new(hipSuccess),
        device: const { Cell::new(0) },
        capture_mode: const { Cell::new(hipStreamCaptureModeGlobal) },
        calls: RefCell::default(),
        streams: RefCell::default(),
        contexts: RefCell::default(),
    };
}

/// Threads that end may call HIP from their destructors; they find the initial state.
fn with<T>(body: impl FnOnce(&Thread) -> T, gone: T) -> T {
    let mut gone = Some(gone);
    let result = THREAD.try_with(|thread| {
        gone = None;
        body(thread)
    });
    match (result, gone) {
        (Ok(value), _) => value,
        (Err(_), Some(value)) => value,
        (Err(_), None) => unreachable!("an access error means that the body did not run"),
    }
}

/// HIP 7's rule: a failure stays the last error until it is read; success and "not ready", which
/// is no failure, leave it alone. Up to HIP 5 every call replaces it.
pub(crate) fn set_last_error(answer: hipError_t) {
    with(
        |thread| {
            thread.last_command.set(answer);
            let is_failure = answer != hipSuccess && answer != hipErrorNotReady;
            if by_version(true, is_failure) {
                thread.last_error.set(answer);
            }
        },
        (),
    );
}

pub(crate) fn last_error() -> hipError_t {
    with(|thread| thread.last_error.get(), hipSuccess)
}

pub(crate) fn take_last_error() -> hipError_t {
    with(|thread| thread.last_error.replace(hipSuccess), hipSuccess)
}

pub(crate) fn take_last_command() -> hipError_t {
    with(|thread| thread.last_command.replace(hipSuccess), hipSuccess)
}

pub(crate) fn device() -> usize {
    with(|thread| thread.device.get(), 0)
}

pub(crate) fn set_device(device: usize) {
    with(|thread| thread.device.set(device), ());
}

pub(crate) fn capture_mode() -> hipStreamCaptureMode {
    with(|thread| thread.capture_mode.get(), hipStreamCaptureModeGlobal)
}

pub(crate) fn exchange_capture_mode(mode: hipStreamCaptureMode) -> hipStreamCaptureMode {
    with(|thread| thread.capture_mode.replace(mode), hipStreamCaptureModeGlobal)
}

pub(crate) fn push_call(call: CallConfiguration) {
    with(|thread| thread.calls.borrow_mut().push(call), ());
}

pub(crate) fn pop_call() -> Option<CallConfiguration> {
    with(|thread| thread.calls.borrow_mut().pop(), None)
}

/// Changes what was pushed last.
pub(crate) fn with_top_call<T>(change: impl FnOnce(&mut CallConfiguration) -> T) -> Option<T> {
    with(|thread| thread.calls.borrow_mut().last_mut().map(change), None)
}

pub(crate) fn push_context(device: usize) {
    with(|thread| thread.contexts.borrow_mut().push(device), ());
}

pub(crate) fn pop_context() -> Option<usize> {
    with(|thread| thread.contexts.borrow_mut().pop(), None)
}

pub(crate) fn top_context() -> Option<usize> {
    with(|thread| thread.contexts.borrow().last().copied(), None)
}

pub(crate) fn stream(device: usize) -> Option<Arc<Stream>> {
    with(|thread| thread.streams.borrow().get(&device).cloned(), None)
}

pub(crate) fn set_stream(device: usize, stream: Arc<Stream>) {
    with(|thread| drop(thread.streams.borrow_mut().insert(device, stream)), ());
}

pub(crate) fn log_call(name: &str, answer: hipError_t) {
    if runtime::log_level() >= 2 {
        eprintln!("hip-emu: {name} -> {answer:?}");
    }
}

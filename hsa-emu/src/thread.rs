//! Threads of this library inside somebody else's process.

use std::ptr;

/// Starts a thread that the program's signals never interrupt.
///
/// A signal handler of the program must run on a thread of the program, so every signal but
/// those of a thread's own faults is blocked while the thread is born, and it keeps that mask.
pub(crate) fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    // SAFETY: an all-zero sigset_t is a valid value, which sigfillset overwrites.
    let mut all: libc::sigset_t = unsafe { std::mem::zeroed() };
    let mut before = all;
    // SAFETY: points at a sigset_t of this frame.
    unsafe { libc::sigfillset(&raw mut all) };
    for fault in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP] {
        // SAFETY: the set is initialised and the number is a signal's.
        unsafe { libc::sigdelset(&raw mut all, fault) };
    }
    // SAFETY: as above; the call changes the calling thread's mask, restored below.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before) };
    let started = std::thread::Builder::new().name(name.to_owned()).spawn(body);
    // SAFETY: `before` was written by the call above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut()) };
    started.map(drop)
}

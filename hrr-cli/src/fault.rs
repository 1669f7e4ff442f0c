//! What ends the process under a replay: a runtime that calls `abort`, or that crashes.
//!
//! The thread that it happens on is held, so that the others can still report what was reached; if
//! they cannot, the process ends as it would have.

use std::io::{Error, Result};
use std::sync::atomic::AtomicI32;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// The signal that came; 0: none.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
/// The thread that reports.
static REPORTER: AtomicI32 = AtomicI32::new(0);

const SIGNALS: [(i32, &str); 5] = [
    (libc::SIGABRT, "SIGABRT"),
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGFPE, "SIGFPE"),
];
/// So long the others have to report.
const HELD_SECONDS: libc::time_t = 30;

/// From here on such a signal holds its thread, unless it is the calling one.
pub(crate) fn hold() -> Result<()> {
    // SAFETY: has no preconditions.
    REPORTER.store(unsafe { libc::gettid() }, Relaxed);
    for (signal, _) in SIGNALS {
        set(signal, on_signal as *const () as libc::sighandler_t)?;
    }
    Ok(())
}

/// From here on such a signal ends the process.
pub(crate) fn let_go() -> Result<()> {
    SIGNALS.iter().try_for_each(|(signal, _)| set(*signal, libc::SIG_DFL))
}

/// The name of the signal that holds a thread now.
pub(crate) fn held() -> Option<&'static str> {
    let signal = SIGNAL.load(SeqCst);
    SIGNALS.iter().find(|(other, _)| *other == signal).map(|(_, name)| *name)
}

fn set(signal: i32, handler: libc::sighandler_t) -> Result<()> {
    // SAFETY: all zeroes is a valid action; the mask is initialised.
    let set = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        // Where a thread ran out of stack there is another one for the handler.
        action.sa_flags = libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(signal, &raw const action, std::ptr::null_mut())
    };
    if set == 0 { Ok(()) } else { Err(Error::last_os_error()) }
}

/// Calls nothing that a signal handler may not.
extern "C" fn on_signal(signal: i32) {
    // SAFETY: these functions may be called in a signal handler, and take what they are given here.
    unsafe {
        if libc::gettid() != REPORTER.load(Relaxed) {
            // The first counts: others may follow from it.
            let _ = SIGNAL.compare_exchange(0, signal, SeqCst, SeqCst);
            let mut left = libc::timespec { tv_sec: HELD_SECONDS, tv_nsec: 0 };
            while libc::nanosleep(&raw const left, &raw mut left) != 0 {}
        }
        let _ = set(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

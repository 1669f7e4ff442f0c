//! A lock that a forked child never inherits.
//!
//! A standard mutex that another thread holds at the moment of a fork stays held in the child for
//! ever. This one remembers the process that holds it: a holder that is another process is no
//! holder. It guards short sections on slow paths only.

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// The lock.
pub(crate) struct ForkLock(AtomicU32);

/// Holds the lock while it lives.
pub(crate) struct ForkGuard<'a>(&'a ForkLock);

impl ForkLock {
    pub(crate) const fn new() -> ForkLock {
        ForkLock(AtomicU32::new(0))
    }

    /// Waits for the lock.
    pub(crate) fn lock(&self) -> ForkGuard<'_> {
        let me = std::process::id();
        loop {
            let holder = self.0.load(Relaxed);
            let free = holder == 0 || holder != me;
            if free && self.0.compare_exchange_weak(holder, me, Acquire, Relaxed).is_ok() {
                return ForkGuard(self);
            }
            std::thread::yield_now();
        }
    }
}

impl Drop for ForkGuard<'_> {
    fn drop(&mut self) {
        self.0.0.store(0, Release);
    }
}

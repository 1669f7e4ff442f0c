//! A thing that happens once.

use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Completes once; anybody may wait for that. Clones are the same signal.
#[derive(Clone, Debug, Default)]
pub struct Signal {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    at: OnceLock<Instant>,
    lock: Mutex<()>,
    completed: Condvar,
}

impl Signal {
    /// A signal that is not complete.
    pub fn new() -> Self {
        Self::default()
    }

    /// A signal that is complete from the start.
    pub fn completed() -> Self {
        let signal = Self::new();
        signal.complete();
        signal
    }

    /// Completes the signal; further calls change nothing.
    pub fn complete(&self) {
        let _guard = self.inner.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.inner.at.get_or_init(Instant::now);
        self.inner.completed.notify_all();
    }

    /// Whether it is complete.
    pub fn is_complete(&self) -> bool {
        self.inner.at.get().is_some()
    }

    /// When it became complete.
    pub fn completed_at(&self) -> Option<Instant> {
        self.inner.at.get().copied()
    }

    /// Returns once it is complete.
    pub fn wait(&self) {
        if self.is_complete() {
            return;
        }
        let mut guard = self.inner.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while !self.is_complete() {
            guard = self.inner.completed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits no longer than `timeout`; whether it is complete then.
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        let guard = self.inner.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let result =
            self.inner.completed.wait_timeout_while(guard, timeout, |()| !self.is_complete());
        drop(result);
        self.is_complete()
    }
}

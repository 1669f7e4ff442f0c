//! Handles: words that stand for objects, with values that no two processes share.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// Handles lie in an address range where nothing is mapped: using one as a pointer crashes.
const LOWEST: u64 = 0x6800_0000_0000;
const BITS: u32 = 36;

/// Gives each object of the process a value of its own.
#[derive(Debug)]
pub(crate) struct HandleSource {
    seed: u64,
    next: AtomicU64,
}

impl HandleSource {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, next: AtomicU64::new(0) }
    }

    /// A value that was not given before: an odd multiplier permutes the numbers of 36 bits.
    pub(crate) fn next(&self) -> usize {
        let mask = (1 << BITS) - 1;
        let factor = (self.seed >> 8 | 1) & mask;
        let index = self.next.fetch_add(1, Ordering::Relaxed).wrapping_add(self.seed >> 20);
        let mixed = index.wrapping_mul(factor) & mask;
        (LOWEST + (mixed << 4)) as usize
    }
}

/// The live objects of one kind of handle.
pub(crate) struct Handles<T> {
    live: RwLock<HashMap<usize, Arc<T>>>,
}

impl<T> Default for Handles<T> {
    fn default() -> Self {
        Self { live: RwLock::default() }
    }
}

impl<T> Handles<T> {
    pub(crate) fn insert(&self, handle: usize, object: Arc<T>) {
        self.live.write().unwrap_or_else(PoisonError::into_inner).insert(handle, object);
    }

    pub(crate) fn get(&self, handle: *mut c_void) -> Option<Arc<T>> {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        live.get(&handle.addr()).cloned()
    }

    pub(crate) fn remove(&self, handle: *mut c_void) -> Option<Arc<T>> {
        self.live.write().unwrap_or_else(PoisonError::into_inner).remove(&handle.addr())
    }

    pub(crate) fn all(&self) -> Vec<Arc<T>> {
        self.live.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}

/// The pointer-sized word of a handle value.
pub(crate) fn word(handle: usize) -> *mut c_void {
    std::ptr::without_provenance_mut(handle)
}

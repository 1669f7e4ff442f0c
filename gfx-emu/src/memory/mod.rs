//! The address space that kernels see: which addresses are backed, and by which host memory.

use std::sync::RwLock;

/// One live range of device-visible memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// First address of the range.
    pub base: u64,
    /// One past the last address.
    pub end: u64,
    /// The host memory behind `base`.
    pub host: *mut u8,
}

// SAFETY: a range is an address book entry; who dereferences `host` answers for the access.
unsafe impl Send for Range {}
// SAFETY: as above.
unsafe impl Sync for Range {}

/// The live allocations, by address.
#[derive(Default)]
pub struct AddressSpace {
    ranges: RwLock<Vec<Range>>,
}

impl AddressSpace {
    /// An empty address space.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes host memory reachable at an address.
    pub fn insert(&self, range: Range) {
        self.ranges.write().unwrap_or_else(|e| e.into_inner()).push(range);
    }

    /// The live range that contains `addr`.
    pub fn find(&self, addr: u64) -> Option<Range> {
        let ranges = self.ranges.read().unwrap_or_else(|e| e.into_inner());
        ranges.iter().find(|r| r.base <= addr && addr < r.end).copied()
    }
}

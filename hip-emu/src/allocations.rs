//! The program's allocations: what kind each is, and whose.
//!
//! `gfx_emu` knows which bytes are live; this table knows what HIP tells about them.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

/// Where memory came from, which decides who may free it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `hipMalloc` and its relatives.
    Device,
    /// A stream-ordered allocation, of the pool with that handle.
    Pool(usize),
    /// `hipHostMalloc` and its relatives.
    Pinned,
    /// `hipHostRegister`.
    Registered,
    /// `hipMallocManaged` and managed variables.
    Managed,
    /// A mapping of `hipMemMap`.
    Mapped,
    /// A variable of loaded code.
    Variable,
    /// Memory of another process.
    Imported,
}

/// One allocation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocation {
    pub(crate) base: u64,
    /// What was asked for.
    pub(crate) bytes: u64,
    pub(crate) kind: Kind,
    pub(crate) device: usize,
    pub(crate) flags: u32,
}

impl Allocation {
    /// Whether the program may use the address itself.
    pub(crate) fn is_host_memory(&self) -> bool {
        match self.kind {
            Kind::Pinned | Kind::Registered | Kind::Managed => true,
            Kind::Device | Kind::Pool(_) | Kind::Mapped | Kind::Variable | Kind::Imported => false,
        }
    }

    /// Whether all of `bytes` at `address` are inside.
    pub(crate) fn contains(&self, address: u64, bytes: u64) -> bool {
        address >= self.base
            && address.checked_add(bytes).is_some_and(|end| end <= self.base + self.bytes)
    }
}

/// All allocations by their start.
#[derive(Default)]
pub(crate) struct Allocations {
    live: RwLock<BTreeMap<u64, Allocation>>,
}

impl Allocations {
    pub(crate) fn insert(&self, allocation: Allocation) {
        let mut live = self.live.write().unwrap_or_else(PoisonError::into_inner);
        live.insert(allocation.base, allocation);
    }

    pub(crate) fn remove(&self, base: u64) -> Option<Allocation> {
        self.live.write().unwrap_or_else(PoisonError::into_inner).remove(&base)
    }

    /// The allocation that starts at `base`.
    pub(crate) fn at(&self, base: u64) -> Option<Allocation> {
        self.live.read().unwrap_or_else(PoisonError::into_inner).get(&base).copied()
    }

    /// The allocation that `address` lies in.
    pub(crate) fn find(&self, address: u64) -> Option<Allocation> {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        let (_, allocation) = live.range(..=address).next_back()?;
        // An empty range has no address; one byte is the least that can be pointed at.
        allocation.contains(address, 1).then_some(*allocation)
    }

    /// All allocations of a device.
    pub(crate) fn of_device(&self, device: usize) -> Vec<Allocation> {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        live.values().filter(|allocation| allocation.device == device).copied().collect()
    }
}

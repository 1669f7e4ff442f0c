//! The program's allocations: what kind each is, and whose.
//!
//! `gfx_emu` knows which bytes are live; this table knows what HIP tells about them.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{PoisonError, RwLock};

use crate::advice::{Advice, Wishes};

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
    Registered {
        /// Where devices have it, which is not where the program has it.
        alias: u64,
    },
    /// `hipMallocManaged` and managed variables.
    Managed,
    /// A mapping of `hipMemMap`.
    Mapped,
    /// A variable of loaded code.
    Variable,
    /// Memory of device `malloc`.
    Heap,
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
            Kind::Pinned | Kind::Registered { .. } | Kind::Managed => true,
            Kind::Device
            | Kind::Pool(_)
            | Kind::Mapped
            | Kind::Variable
            | Kind::Heap
            | Kind::Imported => false,
        }
    }

    /// Where devices have the first byte.
    fn device_base(&self) -> u64 {
        match self.kind {
            Kind::Registered { alias } => alias,
            Kind::Device
            | Kind::Pool(_)
            | Kind::Pinned
            | Kind::Managed
            | Kind::Mapped
            | Kind::Variable
            | Kind::Heap
            | Kind::Imported => self.base,
        }
    }

    /// How far inside an address is, as the program or as devices have it.
    fn offset(&self, address: u64) -> Option<u64> {
        [self.base, self.device_base()]
            .into_iter()
            .filter_map(|base| address.checked_sub(base))
            .find(|&offset| offset < self.bytes)
    }

    /// The address by which devices have the byte at an address that is inside.
    pub(crate) fn device_address(&self, address: u64) -> u64 {
        self.offset(address).map_or(address, |offset| self.device_base() + offset)
    }

    /// The address by which the program has the byte at an address that is inside.
    pub(crate) fn program_address(&self, address: u64) -> u64 {
        self.offset(address).map_or(address, |offset| self.base + offset)
    }

    /// The bytes at an address that is inside, counted from the start.
    pub(crate) fn range(&self, address: u64, bytes: u64) -> Range<u64> {
        let offset = self.offset(address).unwrap_or(0);
        offset..offset + bytes
    }

    /// Whether all of `bytes` at `address` are inside.
    pub(crate) fn contains(&self, address: u64, bytes: u64) -> bool {
        let rest = self.offset(address).map(|offset| self.bytes - offset);
        rest.is_some_and(|rest| bytes <= rest)
    }
}

/// All allocations.
#[derive(Default)]
pub(crate) struct Allocations {
    live: RwLock<Live>,
}

#[derive(Default)]
struct Live {
    /// By their start.
    starts: BTreeMap<u64, Allocation>,
    /// The start of each that devices have elsewhere, by where they have it.
    aliases: BTreeMap<u64, u64>,
    /// What was said of allocations, by their start.
    advice: HashMap<u64, Advice>,
}

impl Live {
    fn find(&self, address: u64) -> Option<Allocation> {
        let inside = |found: &Allocation| found.offset(address).is_some();
        let own = self.starts.range(..=address).next_back().map(|(_, found)| *found);
        own.filter(inside).or_else(|| {
            let (_, start) = self.aliases.range(..=address).next_back()?;
            self.starts.get(start).copied().filter(inside)
        })
    }

    fn insert(&mut self, allocation: Allocation) {
        if let Kind::Registered { alias } = allocation.kind {
            self.aliases.insert(alias, allocation.base);
        }
        self.starts.insert(allocation.base, allocation);
    }
}

impl Allocations {
    pub(crate) fn insert(&self, allocation: Allocation) {
        self.live.write().unwrap_or_else(PoisonError::into_inner).insert(allocation);
    }

    /// Enters memory of the program, unless a part of it is entered already.
    pub(crate) fn insert_new(&self, allocation: Allocation) -> bool {
        let mut live = self.live.write().unwrap_or_else(PoisonError::into_inner);
        let end = allocation.base.saturating_add(allocation.bytes);
        let below = live.starts.range(..end).next_back();
        if below.is_some_and(|(base, found)| base + found.bytes > allocation.base) {
            return false;
        }
        live.insert(allocation);
        true
    }

    pub(crate) fn remove(&self, base: u64) -> Option<Allocation> {
        let mut live = self.live.write().unwrap_or_else(PoisonError::into_inner);
        let removed = live.starts.remove(&base)?;
        live.advice.remove(&base);
        if let Kind::Registered { alias } = removed.kind {
            live.aliases.remove(&alias);
        }
        Some(removed)
    }

    /// The allocation that starts at `base`.
    pub(crate) fn at(&self, base: u64) -> Option<Allocation> {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        live.starts.get(&base).copied()
    }

    /// The allocation that `address` lies in, as the program or as devices have it.
    pub(crate) fn find(&self, address: u64) -> Option<Allocation> {
        // An empty range has no address; one byte is the least that can be pointed at.
        self.live.read().unwrap_or_else(PoisonError::into_inner).find(address)
    }

    /// The address by which devices have the byte at an address of the program.
    pub(crate) fn device_address(&self, address: u64) -> u64 {
        self.find(address).map_or(address, |found| found.device_address(address))
    }

    /// Changes what is said of a range of a live allocation.
    pub(crate) fn advise(
        &self,
        allocation: &Allocation,
        range: Range<u64>,
        change: impl Fn(&mut Wishes),
    ) {
        let mut live = self.live.write().unwrap_or_else(PoisonError::into_inner);
        if live.starts.contains_key(&allocation.base) {
            live.advice.entry(allocation.base).or_default().change(range, change);
        }
    }

    /// What was said of a range of an allocation.
    pub(crate) fn wishes(&self, allocation: &Allocation, range: Range<u64>) -> Wishes {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        let advice = live.advice.get(&allocation.base);
        advice
            .map_or_else(|| Advice::default().of(range.clone()), |advice| advice.of(range.clone()))
    }

    /// All allocations of a device.
    pub(crate) fn of_device(&self, device: usize) -> Vec<Allocation> {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        live.starts.values().filter(|allocation| allocation.device == device).copied().collect()
    }
}

//! The table of live memory, and checked access to it.

use std::collections::BTreeMap;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use super::MemoryError;
use super::gaps::Gaps;
use super::sharing::Shared;
use super::virtual_memory::Reservations;
use super::window::{ForkMark, Window};

/// The unit that allocations are aligned to and that mappings are made of.
pub const PAGE_BYTES: u64 = 4096;

/// Compilers widen a load up to its alignment (three dwords become four), so what a kernel may
/// touch ends at a multiple of the widest load.
const WIDEST_LOAD_BYTES: u64 = 16;

/// Smallest arena worth having; below it the operating system's refusal is reported.
const ARENA_MIN_BYTES: u64 = 1 << 30;
/// Arenas start somewhere in the 4 TiB from here: user space addresses that neither the
/// program break nor the loader uses.
const ARENA_LOWEST: u64 = 0x7800_0000_0000;
const ARENA_STEPS: u64 = 1 << 12;
const ARENA_STEP_BYTES: u64 = 1 << 30;
const ARENA_TRIES: u64 = 16;

/// What a kernel or a copy may do with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Mapped, but not to be touched.
    None,
    /// Read only.
    Read,
    /// Read and write.
    ReadWrite,
}

/// Live memory: device addresses `base..end`, whose bytes start at `host`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// First address.
    pub base: u64,
    /// First address behind it that must not be touched.
    pub end: u64,
    /// Where the byte at `base` is in this process.
    pub host: *mut u8,
}

/// A range and what may be done with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) range: Range,
    pub(super) access: Access,
}

// SAFETY: the pointer is an address; whoever dereferences it answers for the access.
unsafe impl Send for Range {}
// SAFETY: as above.
unsafe impl Sync for Range {}

impl Range {
    /// Whether all of `bytes` at `address` are inside.
    pub fn contains(&self, address: u64, bytes: u64) -> bool {
        address >= self.base && address.checked_add(bytes).is_some_and(|end| end <= self.end)
    }

    /// Where the byte at `address`, which is inside, is in this process.
    pub fn host_of(&self, address: u64) -> *mut u8 {
        self.host.wrapping_add(address.wrapping_sub(self.base) as usize)
    }
}

/// How an address space is laid out.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Decides where the arena lies.
    pub seed: u64,
    /// Size of the arena; a smaller one is taken if the operating system refuses.
    pub arena_bytes: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self { seed: 0, arena_bytes: 64 << 30 }
    }
}

/// All memory that kernels can reach.
///
/// Look-ups take a reader's lock. A caller that makes many, such as a running kernel, keeps the
/// ranges it was given and uses them while [`AddressSpace::generation`] stays the same.
#[derive(Debug, Default)]
pub struct AddressSpace {
    mark: ForkMark,
    arena: Option<Window>,
    generation: AtomicU64,
    pub(super) ranges: RwLock<BTreeMap<u64, Entry>>,
    book: Mutex<Book>,
}

/// Who holds which addresses.
#[derive(Debug, Default)]
pub(super) struct Book {
    gaps: Gaps,
    /// Windows made for addresses outside the arena.
    islands: BTreeMap<u64, Window>,
    /// Start of each allocation to the addresses that it takes up.
    allocations: BTreeMap<u64, u64>,
    pub(super) reservations: Reservations,
    pub(super) shared: Shared,
}

impl AddressSpace {
    /// An address space that holds only what is inserted, registered or placed by address.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reserves the arena that allocations are taken from. Costs no memory until it is written.
    pub fn with_arena(config: Config) -> Result<Self, MemoryError> {
        let arena = map_arena(config)?;
        let mut space = Self { mark: ForkMark::new()?, ..Self::default() };
        space.book.get_mut().unwrap_or_else(PoisonError::into_inner).gaps =
            Gaps::new(arena.base(), arena.bytes());
        space.arena = Some(arena);
        Ok(space)
    }

    /// Whether this process owns the memory; a child of `fork` does not.
    pub fn is_ours(&self) -> bool {
        self.mark.is_ours()
    }

    /// First address and size of the arena; zeros without one.
    pub fn arena(&self) -> (u64, u64) {
        self.arena.as_ref().map_or((0, 0), |arena| (arena.base(), arena.bytes()))
    }

    /// Changes whenever a range is added, removed or changes its access.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Allocates `bytes` (not zero) that read as zero, at a multiple of `align` and of 4 KiB.
    pub fn alloc(&self, bytes: u64, align: u64) -> Result<u64, MemoryError> {
        self.check_ours()?;
        if bytes == 0 || !align.is_power_of_two() {
            return Err(MemoryError::InvalidRange { address: 0, bytes });
        }
        let pages = whole_pages(bytes)?;
        // A page that nobody owns behind each allocation, so that running over the end of one is
        // a fault and not a change of its neighbour.
        let taken = pages.checked_add(PAGE_BYTES).ok_or(MemoryError::OutOfMemory { bytes })?;
        let mut book = self.book();
        let (address, host) = self.take_anywhere(&mut book, taken, align.max(PAGE_BYTES))?;
        book.allocations.insert(address, taken);
        self.insert_device_range(address, bytes, host);
        Ok(address)
    }

    /// Allocates `bytes` at exactly `address`, a multiple of 4 KiB, if nothing else is there.
    pub fn alloc_at(&self, address: u64, bytes: u64) -> Result<u64, MemoryError> {
        self.check_ours()?;
        if bytes == 0 || !address.is_multiple_of(PAGE_BYTES) || address == 0 {
            return Err(MemoryError::InvalidRange { address, bytes });
        }
        let pages = whole_pages(bytes)?;
        let mut book = self.book();
        let host = self.take_at(&mut book, address, pages)?;
        book.allocations.insert(address, pages);
        self.insert_device_range(address, bytes, host);
        Ok(address)
    }

    /// Ends the allocation, or the alias of ordinary memory, that starts at `address`. The bytes of
    /// an allocation do not reappear.
    pub fn free(&self, address: u64) -> Result<(), MemoryError> {
        self.check_ours()?;
        let mut book = self.book();
        let taken = book
            .allocations
            .remove(&address)
            .ok_or(MemoryError::NotAStart { address, expected: "an allocation" })?;
        self.change_ranges(|ranges| ranges.remove(&address));
        // An alias starts where its memory does within a page.
        self.give_back(&mut book, address - address % PAGE_BYTES, taken)
    }

    /// The live, readable memory that `address` lies in.
    pub fn find(&self, address: u64) -> Option<Range> {
        if !self.is_ours() {
            return None;
        }
        let ranges = self.ranges.read().unwrap_or_else(PoisonError::into_inner);
        let (_, entry) = ranges.range(..=address).next_back()?;
        (address < entry.range.end && entry.access >= Access::Read).then_some(entry.range)
    }

    /// Where the bytes at `address` are in this process, if all of them allow `needed`.
    ///
    /// The pointer is good for `bytes` until the memory is freed, unmapped or unregistered.
    pub fn resolve(
        &self,
        address: u64,
        bytes: u64,
        needed: Access,
    ) -> Result<*mut u8, MemoryError> {
        self.check_ours()?;
        let unmapped = MemoryError::Unmapped { address, bytes };
        let Some(end) = address.checked_add(bytes) else { return Err(unmapped) };
        let ranges = self.ranges.read().unwrap_or_else(PoisonError::into_inner);
        let Some((&first, entry)) = ranges.range(..=address).next_back() else {
            return Err(unmapped);
        };
        let host = entry.range.host_of(address);
        let mut reached = address;
        // Neighbouring mappings count as one as long as their bytes are neighbours too.
        for (_, Entry { range, access }) in ranges.range(first..) {
            if reached < range.base || reached >= range.end {
                return Err(unmapped);
            }
            if range.host_of(reached) != host.wrapping_add((reached - address) as usize) {
                return Err(unmapped);
            }
            if *access < needed {
                return Err(MemoryError::Denied { address: reached, needed });
            }
            reached = range.end;
            if reached >= end {
                return Ok(host);
            }
        }
        Err(unmapped)
    }

    /// Reads device memory.
    pub fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryError> {
        if into.is_empty() {
            return self.check_ours();
        }
        let host = self.resolve(address, into.len() as u64, Access::Read)?;
        // SAFETY: `resolve` found that many readable bytes, and whoever frees memory waits for
        // its users first (module documentation); `into` is a distinct, exclusive slice.
        unsafe { ptr::copy(host, into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    /// Writes device memory.
    pub fn write(&self, address: u64, from: &[u8]) -> Result<(), MemoryError> {
        if from.is_empty() {
            return self.check_ours();
        }
        let host = self.resolve(address, from.len() as u64, Access::ReadWrite)?;
        // SAFETY: as in `read`, with the directions exchanged.
        unsafe { ptr::copy(from.as_ptr(), host, from.len()) };
        Ok(())
    }

    /// Copies device memory; the ranges may overlap.
    pub fn copy(&self, to: u64, from: u64, bytes: u64) -> Result<(), MemoryError> {
        if bytes == 0 {
            return self.check_ours();
        }
        let source = self.resolve(from, bytes, Access::Read)?;
        let target = self.resolve(to, bytes, Access::ReadWrite)?;
        // SAFETY: both ranges were found live, with the access that each needs; `copy` allows
        // them to overlap.
        unsafe { ptr::copy(source, target, bytes as usize) };
        Ok(())
    }

    /// Writes `pattern` `count` times, one after the other.
    pub fn fill(&self, address: u64, pattern: &[u8], count: u64) -> Result<(), MemoryError> {
        let unit = pattern.len() as u64;
        let bytes = unit
            .checked_mul(count)
            .ok_or(MemoryError::InvalidRange { address, bytes: u64::MAX })?;
        if bytes == 0 {
            return self.check_ours();
        }
        let host = self.resolve(address, bytes, Access::ReadWrite)?;
        if let [value] = pattern {
            // SAFETY: `resolve` found that many writable bytes.
            unsafe { ptr::write_bytes(host, *value, bytes as usize) };
            return Ok(());
        }
        for index in 0..count {
            let target = host.wrapping_add((index * unit) as usize);
            // SAFETY: the unit lies inside the range that `resolve` found; `pattern` is memory
            // of the caller and does not overlap it.
            unsafe { ptr::copy_nonoverlapping(pattern.as_ptr(), target, pattern.len()) };
        }
        Ok(())
    }

    /// Makes ordinary memory reachable from kernels, at its own address.
    ///
    /// # Safety
    ///
    /// `bytes` at `host` stay readable and writable until [`AddressSpace::unregister_host`].
    pub unsafe fn register_host(&self, host: *mut u8, bytes: u64) -> Result<(), MemoryError> {
        self.check_ours()?;
        let base = host.expose_provenance() as u64;
        let end = base
            .checked_add(bytes)
            .filter(|_| bytes != 0 && base != 0)
            .ok_or(MemoryError::InvalidRange { address: base, bytes })?;
        let _book = self.book();
        if self.overlaps(base, end) {
            return Err(MemoryError::Occupied { address: base, bytes });
        }
        self.insert_range(Range { base, end, host });
        Ok(())
    }

    /// Makes ordinary memory reachable from kernels at an address of the device's own, which it
    /// returns: this process can touch nothing there. [`AddressSpace::free`] ends it.
    ///
    /// # Safety
    ///
    /// `bytes` at `host` stay readable and writable until then.
    pub unsafe fn alias_host(&self, host: *mut u8, bytes: u64) -> Result<u64, MemoryError> {
        self.check_ours()?;
        let start = host.expose_provenance() as u64;
        let skip = start % PAGE_BYTES;
        let pages = bytes
            .checked_add(skip)
            .and_then(|bytes| whole_pages(bytes).ok())
            .filter(|&pages| bytes != 0 && start != 0 && start.checked_add(pages).is_some())
            .ok_or(MemoryError::InvalidRange { address: start, bytes })?;
        // And a page that nobody owns, as behind an allocation.
        let taken = pages + PAGE_BYTES;
        let mut book = self.book();
        let (base, _nothing_there) = self.take_anywhere(&mut book, taken, PAGE_BYTES)?;
        let base = base + skip;
        book.allocations.insert(base, taken);
        self.insert_range(Range { base, end: base + bytes, host });
        Ok(base)
    }

    /// Makes memory of this process reachable at an address of the caller's choice.
    ///
    /// # Safety
    ///
    /// The addresses are not in use, and the bytes behind `range.host` stay readable and
    /// writable as long as the address space is used.
    pub unsafe fn insert(&self, range: Range) {
        self.insert_range(range);
    }

    /// Takes back what [`AddressSpace::insert`] added at `base`.
    pub fn remove(&self, base: u64) -> Result<(), MemoryError> {
        self.check_ours()?;
        let book = self.book();
        let missing = MemoryError::NotAStart { address: base, expected: "an inserted range" };
        if book.allocations.contains_key(&base) || self.window(&book, base).is_some() {
            return Err(missing);
        }
        self.change_ranges(|ranges| ranges.remove(&base)).map(drop).ok_or(missing)
    }

    /// Ends what [`AddressSpace::register_host`] began at the same address.
    pub fn unregister_host(&self, host: *mut u8) -> Result<(), MemoryError> {
        self.check_ours()?;
        let base = host.addr() as u64;
        let _book = self.book();
        let missing = MemoryError::NotAStart { address: base, expected: "registered host memory" };
        self.change_ranges(|ranges| match ranges.get(&base) {
            Some(entry) if entry.range.host.addr() as u64 == base => {
                ranges.remove(&base);
                Ok(())
            }
            Some(_) | None => Err(missing),
        })
    }

    pub(super) fn check_ours(&self) -> Result<(), MemoryError> {
        if self.is_ours() { Ok(()) } else { Err(MemoryError::Forked) }
    }

    pub(super) fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes free addresses of the arena.
    pub(super) fn take_anywhere(
        &self,
        book: &mut Book,
        bytes: u64,
        align: u64,
    ) -> Result<(u64, *mut u8), MemoryError> {
        let out_of_memory = MemoryError::OutOfMemory { bytes };
        let Some(arena) = &self.arena else { return Err(out_of_memory) };
        let address = book.gaps.take(bytes, align).ok_or(out_of_memory)?;
        Ok((address, arena.host(address)))
    }

    /// Takes exactly these pages, in the arena or, outside it, in a window made for them.
    pub(super) fn take_at(
        &self,
        book: &mut Book,
        address: u64,
        bytes: u64,
    ) -> Result<*mut u8, MemoryError> {
        let occupied = MemoryError::Occupied { address, bytes };
        if let Some(arena) = &self.arena
            && arena.contains(address, bytes)
        {
            let taken = book.gaps.take_at(address, bytes);
            return if taken { Ok(arena.host(address)) } else { Err(occupied) };
        }
        let island = Window::map_at(address, bytes).map_err(|_| occupied)?;
        let host = island.host(address);
        book.islands.insert(address, island);
        Ok(host)
    }

    /// Undoes `take_anywhere` and `take_at`; the bytes are gone.
    pub(super) fn give_back(
        &self,
        book: &mut Book,
        address: u64,
        bytes: u64,
    ) -> Result<(), MemoryError> {
        if book.islands.remove(&address).is_some() {
            book.shared.remove(address);
            return Ok(());
        }
        if let Some(arena) = &self.arena {
            if book.shared.remove(address) {
                // The bytes stay with those who share them.
                arena.unback(address, bytes)?;
            } else {
                arena.clear(address, bytes)?;
            }
            book.gaps.give_back(address, bytes);
        }
        Ok(())
    }

    /// The window that taken addresses lie in.
    pub(super) fn window<'a>(&'a self, book: &'a Book, address: u64) -> Option<&'a Window> {
        if let Some(arena) = &self.arena
            && arena.contains(address, 1)
        {
            return Some(arena);
        }
        let (_, island) = book.islands.range(..=address).next_back()?;
        island.contains(address, 1).then_some(island)
    }

    pub(super) fn change_ranges<T>(
        &self,
        change: impl FnOnce(&mut BTreeMap<u64, Entry>) -> T,
    ) -> T {
        let mut ranges = self.ranges.write().unwrap_or_else(PoisonError::into_inner);
        let result = change(&mut ranges);
        self.generation.fetch_add(1, Ordering::Release);
        result
    }

    fn insert_device_range(&self, base: u64, bytes: u64, host: *mut u8) {
        let end = base + bytes.next_multiple_of(WIDEST_LOAD_BYTES);
        self.insert_range(Range { base, end, host });
    }

    fn insert_range(&self, range: Range) {
        let entry = Entry { range, access: Access::ReadWrite };
        self.change_ranges(|ranges| ranges.insert(range.base, entry));
    }

    fn overlaps(&self, base: u64, end: u64) -> bool {
        let ranges = self.ranges.read().unwrap_or_else(PoisonError::into_inner);
        ranges.range(..end).next_back().is_some_and(|(_, entry)| entry.range.end > base)
    }
}

fn whole_pages(bytes: u64) -> Result<u64, MemoryError> {
    bytes.checked_next_multiple_of(PAGE_BYTES).ok_or(MemoryError::OutOfMemory { bytes })
}

fn map_arena(config: Config) -> Result<Window, MemoryError> {
    let mut bytes = config.arena_bytes.max(ARENA_MIN_BYTES);
    loop {
        let mut refusal = None;
        for attempt in 0..ARENA_TRIES {
            let step = scramble(config.seed.wrapping_add(attempt)) % ARENA_STEPS;
            match Window::map_at(ARENA_LOWEST + step * ARENA_STEP_BYTES, bytes) {
                Ok(window) => return Ok(window),
                Err(error) => refusal = Some(error),
            }
        }
        match refusal {
            Some(error) if bytes / 2 < ARENA_MIN_BYTES => return Err(error.into()),
            Some(_) | None => bytes /= 2,
        }
    }
}

/// The finaliser of splitmix64: spreads seeds that are close to each other.
fn scramble(seed: u64) -> u64 {
    let mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

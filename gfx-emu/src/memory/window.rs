//! The mappings behind device addresses. The only module that maps memory.

use std::ffi::c_void;
use std::io;
use std::os::fd::AsFd;
use std::ptr;
use std::sync::atomic::{AtomicU8, Ordering};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};

use super::PAGE_BYTES;

/// Huge pages make the first fill of large allocations four times faster; a window starts on
/// such a boundary so that they can be used.
const HUGE_PAGE_BYTES: u64 = 2 << 20;

/// A range of device addresses nobody can touch, and the alias that holds its bytes.
#[derive(Debug)]
pub(super) struct Window {
    base: u64,
    bytes: u64,
    alias: *mut u8,
    mapping: *mut u8,
    mapping_bytes: usize,
}

// SAFETY: the pointers are the addresses of mappings that this value owns; the methods that use
// them are system calls, which any thread may make.
unsafe impl Send for Window {}
// SAFETY: as above; no method gives access to the bytes themselves.
unsafe impl Sync for Window {}

impl Window {
    /// Maps `bytes` at exactly `base`, if the operating system has nothing there.
    pub(super) fn map_at(base: u64, bytes: u64) -> io::Result<Self> {
        let length = usize::try_from(bytes).map_err(io::Error::other)?;
        let reservation_flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED_NOREPLACE;
        let wanted = ptr::without_provenance_mut::<c_void>(base as usize);
        // SAFETY: an anonymous mapping; NOREPLACE keeps it from replacing another one.
        let reserved =
            unsafe { mmap_anonymous(wanted, length, ProtFlags::empty(), reservation_flags) }?;
        if reserved != wanted {
            // A kernel older than 4.17 takes the address as a mere hint.
            // SAFETY: the mapping was made above and nobody knows of it.
            unsafe { munmap(reserved, length) }?;
            return Err(io::ErrorKind::AddrInUse.into());
        }
        let mapping_bytes = length + HUGE_PAGE_BYTES as usize;
        // SAFETY: an anonymous mapping at an address that the kernel chooses.
        let mapping = match unsafe {
            mmap_anonymous(
                ptr::null_mut(),
                mapping_bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )
        } {
            Ok(mapping) => mapping.cast::<u8>(),
            Err(error) => {
                // SAFETY: the reservation was made above and nobody knows of it.
                unsafe { munmap(reserved, length) }?;
                return Err(error.into());
            }
        };
        // The alias is congruent to the device address, so that both have the same page offsets.
        let skip = (base.wrapping_sub(mapping.addr() as u64)) % HUGE_PAGE_BYTES;
        let alias = mapping.wrapping_add(skip as usize);
        let window = Self { base, bytes, alias, mapping, mapping_bytes };
        window.advise(mapping, mapping_bytes)?;
        Ok(window)
    }

    pub(super) fn base(&self) -> u64 {
        self.base
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn contains(&self, address: u64, bytes: u64) -> bool {
        address >= self.base
            && address.checked_add(bytes).is_some_and(|end| end <= self.base + self.bytes)
    }

    /// Where the byte at `address`, which is inside the window, really is.
    pub(super) fn host(&self, address: u64) -> *mut u8 {
        debug_assert!(self.contains(address, 0));
        self.alias.wrapping_add((address - self.base) as usize)
    }

    /// Forgets the bytes of whole pages: they read zero afterwards.
    pub(super) fn clear(&self, address: u64, bytes: u64) -> io::Result<()> {
        debug_assert!(self.contains(address, bytes) && address.is_multiple_of(PAGE_BYTES));
        // SAFETY: the pages belong to this window's alias; whoever clears them has taken their
        // range out of the table, so nobody is promised their content.
        unsafe { madvise(self.host(address).cast(), bytes as usize, Advice::LinuxDontNeed) }?;
        Ok(())
    }

    /// Puts pages of a file behind the range, shared with other mappings of the same pages.
    pub(super) fn back(
        &self,
        address: u64,
        bytes: u64,
        file: impl AsFd,
        offset: u64,
    ) -> io::Result<()> {
        debug_assert!(self.contains(address, bytes) && address.is_multiple_of(PAGE_BYTES));
        let host = self.host(address);
        // SAFETY: the fixed mapping replaces pages of this window's alias only, which the caller
        // has reserved and which nobody uses before the range is entered in the table.
        unsafe {
            mmap(
                host.cast(),
                bytes as usize,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED | MapFlags::FIXED,
                file,
                offset,
            )
        }?;
        // SAFETY: the range was mapped just above; the advice does not change its content.
        unsafe { madvise(host.cast(), bytes as usize, Advice::LinuxDontFork) }?;
        Ok(())
    }

    /// Puts fresh anonymous pages behind the range again.
    pub(super) fn unback(&self, address: u64, bytes: u64) -> io::Result<()> {
        let host = self.host(address);
        // SAFETY: as in `back`; the caller has taken the range out of the table.
        unsafe {
            mmap_anonymous(
                host.cast(),
                bytes as usize,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED,
            )
        }?;
        self.advise(host, bytes as usize)
    }

    fn advise(&self, start: *mut u8, bytes: usize) -> io::Result<()> {
        // SAFETY: the range is part of this window's alias; the advice does not change content.
        match unsafe { madvise(start.cast(), bytes, Advice::LinuxHugepage) } {
            // A kernel without transparent huge pages says EINVAL; they only save time.
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            Err(error) => return Err(error.into()),
        }
        // SAFETY: as above; a child of fork loses the pages, which is what we want: copying them
        // would cost it 20 ms for each GiB, and no device exists there.
        unsafe { madvise(start.cast(), bytes, Advice::LinuxDontFork) }?;
        Ok(())
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let reservation = ptr::without_provenance_mut::<c_void>(self.base as usize);
        // SAFETY: the mapping is owned by this value, and whoever drops it has no range in it.
        let reserved = unsafe { munmap(reservation, self.bytes as usize) };
        // SAFETY: as above.
        let aliased = unsafe { munmap(self.mapping.cast(), self.mapping_bytes) };
        debug_assert!(reserved.is_ok() && aliased.is_ok(), "munmap of an owned mapping");
    }
}

/// A page that a fork wipes: tells a child that it has no device memory. Without the page
/// (nothing was reserved, so nothing was lost) every process is the owner.
#[derive(Debug, Default)]
pub(super) struct ForkMark(Option<&'static AtomicU8>);

impl ForkMark {
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: an anonymous mapping at an address that the kernel chooses.
        let page = unsafe {
            mmap_anonymous(
                ptr::null_mut(),
                PAGE_BYTES as usize,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )
        }?;
        // SAFETY: the page was mapped above; the advice does not change its content here.
        unsafe { madvise(page, PAGE_BYTES as usize, Advice::LinuxWipeOnFork) }?;
        // SAFETY: the page is mapped, aligned, zeroed, never unmapped, and nobody else has it.
        let mark = unsafe { AtomicU8::from_ptr(page.cast()) };
        mark.store(1, Ordering::Relaxed);
        Ok(Self(Some(mark)))
    }

    /// Whether this is the process that made the mark.
    pub(super) fn is_ours(&self) -> bool {
        self.0.is_none_or(|mark| mark.load(Ordering::Relaxed) == 1)
    }
}

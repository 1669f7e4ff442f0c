//! The memory that this process has from the API: who allocated, locked or registered what.
//!
//! Device memory is gfx-emu's: its addresses cannot be touched by the program. Pinned memory is
//! ordinary memory at its own address. Locked host memory gets device addresses of its own, as
//! AMD's runtime expects (it aborts in `hipHostUnregister` if both addresses are the same); they
//! lie in a reservation that nobody can touch, so confusing the two faults as on hardware.

use std::collections::{BTreeMap, HashMap};
use std::ffi::c_void;
use std::os::fd::OwnedFd;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gfx_emu::memory::{AddressSpace, MemoryError, PAGE_BYTES, Range};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use crate::abi::{Answer, Status};
use crate::agent::{Agent, Pool};
use crate::log;
use crate::svm::SvmRange;

/// Memory of one device, as HIP reports it.
pub(crate) const VRAM_BYTES: u64 = 16 << 30;
/// Large allocations start at a multiple of this, as ROCr's do.
const LARGE_BYTES: u64 = 2 << 20;
/// Compilers widen loads up to their alignment: a range ends at a multiple of the widest load.
const WIDEST_LOAD_BYTES: u64 = 16;

/// All memory that the API gave out or was told of.
pub(crate) struct Memory {
    space: AddressSpace,
    book: Mutex<Book>,
}

#[derive(Default)]
pub(crate) struct Book {
    /// By first address.
    pub(crate) allocations: BTreeMap<u64, Allocation>,
    /// Locked host memory by host address; each lock of the same address is undone by one unlock.
    locks: HashMap<u64, Vec<Lock>>,
    pub(crate) svm: BTreeMap<u64, SvmRange>,
    /// Bytes of each device's memory in use.
    used: Vec<u64>,
}

/// Memory from a pool, or of another process.
pub(crate) struct Allocation {
    pub(crate) bytes: u64,
    pub(crate) pool: Pool,
    pub(crate) source: Source,
}

/// Where an allocation's bytes come from.
pub(crate) enum Source {
    /// The arena of gfx-emu, with the file behind it once it was exported.
    Device { exported: Option<OwnedFd> },
    /// Ordinary memory that this library mapped.
    Host,
    /// Memory that another process exported, mapped at `host`.
    Imported { host: usize },
}

struct Lock {
    bytes: u64,
    /// Device address; the host address if the memory was from a pool anyway.
    address: u64,
}

/// What an address points into.
pub(crate) struct Found {
    pub(crate) agent_base: u64,
    pub(crate) host_base: u64,
    pub(crate) bytes: u64,
    pub(crate) owner: Agent,
    pub(crate) kind: FoundKind,
    pub(crate) coarse: bool,
}

/// `hsa_amd_pointer_type_t`, without the unknown one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoundKind {
    Pool = 1,
    Locked = 2,
    Imported = 4,
}

pub(crate) fn status_of(error: &MemoryError) -> Status {
    match error {
        MemoryError::OutOfMemory { .. } | MemoryError::Os(_) => Status::ERROR_OUT_OF_RESOURCES,
        MemoryError::Forked => Status::ERROR_NOT_INITIALIZED,
        MemoryError::InvalidRange { .. }
        | MemoryError::Occupied { .. }
        | MemoryError::Unmapped { .. }
        | MemoryError::Denied { .. }
        | MemoryError::NotAStart { .. }
        | MemoryError::StillMapped { .. }
        | MemoryError::NoSuchPhysical { .. } => Status::ERROR_INVALID_ARGUMENT,
    }
}

pub(crate) fn whole_pages(bytes: u64) -> Answer<u64> {
    bytes.checked_next_multiple_of(PAGE_BYTES).ok_or(Status::ERROR_OUT_OF_RESOURCES)
}

impl Memory {
    pub(crate) fn new(space: AddressSpace, gpus: usize) -> Self {
        let book = Book { used: vec![0; gpus], ..Book::default() };
        Self { space, book: Mutex::new(book) }
    }

    /// Whether this process owns the memory; a child of `fork` does not.
    pub(crate) fn is_ours(&self) -> bool {
        self.space.is_ours()
    }

    /// What kernels and copies see.
    pub(crate) fn space(&self) -> &AddressSpace {
        &self.space
    }

    pub(crate) fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes memory of this process reachable from kernels at its own address.
    ///
    /// # Safety
    ///
    /// `bytes` at `host` stay readable and writable until [`Memory::unregister`].
    pub(crate) unsafe fn register(&self, host: *mut u8, bytes: u64) -> Result<(), MemoryError> {
        let base = host.addr() as u64;
        self.evict_svm(&mut self.book(), base, base.saturating_add(bytes));
        // SAFETY: the caller's promise is the same.
        unsafe { self.space.register_host(host, bytes) }
    }

    /// Ends what [`Memory::register`] began.
    pub(crate) fn unregister(&self, host: *mut u8) -> Result<(), MemoryError> {
        self.space.unregister_host(host)
    }

    /// Forgets managed memory whose addresses now belong to something else. HIP unmaps managed
    /// memory without a word, so a later mapping at the same place is how its end is learnt.
    pub(crate) fn evict_svm(&self, book: &mut Book, base: u64, end: u64) {
        let stale: Vec<u64> = book
            .svm
            .range(..end)
            .filter(|(start, range)| **start + range.bytes > base)
            .map(|(start, _)| *start)
            .collect();
        for start in stale {
            let Some(range) = book.svm.remove(&start) else { continue };
            if range.accessible
                && let Err(error) =
                    self.space.unregister_host(ptr::without_provenance_mut(start as usize))
            {
                log::warn(format_args!("managed memory at {start:#x}: {error}"));
            }
        }
    }

    /// `hsa_amd_memory_pool_allocate`.
    pub(crate) fn allocate(&self, pool: Pool, bytes: u64) -> Answer<u64> {
        match pool {
            Pool::Lds(_) => Err(Status::ERROR_INVALID_ALLOCATION),
            Pool::Vram(gpu) | Pool::VramFine(gpu) => self.allocate_device(pool, gpu, bytes),
            Pool::SystemFine | Pool::SystemKernarg | Pool::SystemCoarse => {
                self.allocate_host(pool, bytes)
            }
        }
    }

    fn allocate_device(&self, pool: Pool, gpu: usize, bytes: u64) -> Answer<u64> {
        let pages = whole_pages(bytes)?;
        let mut book = self.book();
        let used = book.used.get_mut(gpu).ok_or(Status::ERROR_INVALID_MEMORY_POOL)?;
        if pages > VRAM_BYTES - *used {
            return Err(Status::ERROR_OUT_OF_RESOURCES);
        }
        let align = if pages >= LARGE_BYTES { LARGE_BYTES } else { PAGE_BYTES };
        let address = self.space.alloc(bytes, align).map_err(|error| status_of(&error))?;
        *used += pages;
        let source = Source::Device { exported: None };
        let allocation = Allocation { bytes, pool, source };
        book.allocations.insert(address, allocation);
        Ok(address)
    }

    fn allocate_host(&self, pool: Pool, bytes: u64) -> Answer<u64> {
        let pages = whole_pages(bytes)?;
        let host = map_host(pages)?;
        // SAFETY: mapped just above, and unmapped only after `unregister`.
        if let Err(error) = unsafe { self.register(host, bytes) } {
            unmap_host(host, pages);
            return Err(status_of(&error));
        }
        let address = host.expose_provenance() as u64;
        let allocation = Allocation { bytes, pool, source: Source::Host };
        self.book().allocations.insert(address, allocation);
        Ok(address)
    }

    /// `hsa_amd_memory_pool_free` and `hsa_amd_ipc_memory_detach`.
    pub(crate) fn free(&self, address: u64) -> Answer {
        let mut book = self.book();
        let allocation = book.allocations.remove(&address).ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        let pages = whole_pages(allocation.bytes)?;
        if let Some(gpu) = allocation.pool.device()
            && let Some(used) = book.used.get_mut(gpu)
        {
            *used = used.saturating_sub(pages);
        }
        let ended = match allocation.source {
            Source::Device { exported } => {
                if exported.is_some() {
                    self.end_export(address, pages);
                }
                self.space.free(address)
            }
            Source::Host => {
                let host = ptr::with_exposed_provenance_mut::<u8>(address as usize);
                let ended = self.space.unregister_host(host);
                unmap_host(host, pages);
                ended
            }
            Source::Imported { host } => {
                let ended = self.space.remove(address);
                unmap_host(ptr::with_exposed_provenance_mut(address as usize), pages);
                unmap_host(ptr::with_exposed_provenance_mut(host), pages);
                ended
            }
        };
        ended.map_err(|error| status_of(&error))
    }

    /// Enters memory that another process exported.
    ///
    /// # Safety
    ///
    /// `pages` bytes at `host` are mapped, and the mapping is given up to this call.
    pub(crate) unsafe fn import(&self, host: *mut u8, bytes: u64, gpu: usize) -> Answer<u64> {
        let pages = whole_pages(bytes)?;
        let base = reserve_addresses(pages)?;
        // SAFETY: the addresses were reserved just above for this range alone; the bytes stay
        // mapped until `free` has removed the range.
        unsafe { self.space.insert(Range { base, end: base + pages, host }) };
        let mut book = self.book();
        if let Some(used) = book.used.get_mut(gpu) {
            *used += pages;
        }
        let source = Source::Imported { host: host.expose_provenance() };
        let allocation = Allocation { bytes, pool: Pool::Vram(gpu), source };
        book.allocations.insert(base, allocation);
        Ok(base)
    }

    /// `hsa_amd_memory_lock_to_pool`: gives the address that devices use for host memory.
    ///
    /// # Safety
    ///
    /// `bytes` at `host` stay readable and writable until [`Memory::unlock`].
    pub(crate) unsafe fn lock(&self, host: *mut u8, bytes: u64) -> Answer<u64> {
        let start = host.expose_provenance() as u64;
        let end = start.checked_add(bytes).ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        if start == 0 || bytes == 0 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        let mut book = self.book();
        let address = if book.pool_allocation(start).is_some() {
            start
        } else {
            let skip = start % PAGE_BYTES;
            let base = reserve_addresses(whole_pages(bytes + skip)?)? + skip;
            let end = base + (end - start);
            let range = Range { base, end: end.next_multiple_of(WIDEST_LOAD_BYTES), host };
            // SAFETY: the addresses were reserved just above for this range alone; the caller
            // promises that the bytes stay until the range is removed by `unlock`.
            unsafe { self.space.insert(range) };
            base
        };
        book.locks.entry(start).or_default().push(Lock { bytes, address });
        Ok(address)
    }

    /// `hsa_amd_memory_unlock`.
    pub(crate) fn unlock(&self, host: u64) -> Answer {
        let mut book = self.book();
        let locks = book.locks.get_mut(&host).ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        let lock = locks.pop().ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        if locks.is_empty() {
            book.locks.remove(&host);
        }
        if lock.address == host {
            return Ok(());
        }
        self.space.remove(lock.address).map_err(|error| status_of(&error))?;
        let skip = lock.address % PAGE_BYTES;
        let reserved = ptr::without_provenance_mut((lock.address - skip) as usize);
        unmap_host(reserved, whole_pages(lock.bytes + skip)?);
        Ok(())
    }

    /// What `address`, as host or as device sees it, points into.
    pub(crate) fn find(&self, address: u64) -> Option<Found> {
        let book = self.book();
        if let Some((base, allocation)) = book.pool_allocation(address) {
            let (kind, host_base) = match allocation.source {
                Source::Device { .. } => (FoundKind::Pool, 0),
                Source::Host => (FoundKind::Pool, base),
                Source::Imported { .. } => (FoundKind::Imported, 0),
            };
            return Some(Found {
                agent_base: base,
                host_base,
                bytes: allocation.bytes,
                owner: allocation.pool.owner(),
                kind,
                coarse: allocation.pool.is_coarse(),
            });
        }
        let covers = |base: u64, bytes: u64| address >= base && address - base < bytes;
        book.locks.iter().find_map(|(host, locks)| {
            let lock = locks
                .iter()
                .find(|lock| covers(*host, lock.bytes) || covers(lock.address, lock.bytes))?;
            Some(Found {
                agent_base: lock.address,
                host_base: *host,
                bytes: lock.bytes,
                owner: Agent::Cpu,
                kind: FoundKind::Locked,
                coarse: false,
            })
        })
    }

    /// Copies memory of any kind; host addresses that no device knows are used as they are.
    ///
    /// # Safety
    ///
    /// A side that is not memory of the API is host memory of at least that many bytes.
    pub(crate) unsafe fn copy_any(&self, to: u64, from: u64, bytes: u64) -> Answer {
        use gfx_emu::memory::Access;
        let host_of = |address: u64, access| match self.space.resolve(address, bytes, access) {
            Ok(host) => Ok(host),
            Err(_) if self.space.find(address).is_none() => {
                Ok(ptr::with_exposed_provenance_mut(address as usize))
            }
            Err(error) => Err(status_of(&error)),
        };
        let source = host_of(from, Access::Read)?;
        let target = host_of(to, Access::ReadWrite)?;
        // SAFETY: each side was resolved to that many bytes, or is host memory of the caller.
        unsafe { ptr::copy(source, target, bytes as usize) };
        Ok(())
    }
}

impl Book {
    /// The allocation that `address` lies in, and its first address.
    pub(crate) fn pool_allocation(&self, address: u64) -> Option<(u64, &Allocation)> {
        let (base, allocation) = self.allocations.range(..=address).next_back()?;
        (address - base < allocation.bytes).then_some((*base, allocation))
    }
}

/// Ordinary memory, as large allocations of ROCr aligned.
pub(crate) fn map_host(pages: u64) -> Answer<*mut u8> {
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
    let access = ProtFlags::READ | ProtFlags::WRITE;
    let length = usize::try_from(pages).map_err(|_| Status::ERROR_OUT_OF_RESOURCES)?;
    // SAFETY: an anonymous mapping at an address that the kernel chooses.
    unsafe { mmap_anonymous(ptr::null_mut(), length, access, flags) }
        .map(<*mut c_void>::cast)
        .map_err(|_| Status::ERROR_OUT_OF_RESOURCES)
}

/// Addresses that nobody can touch.
fn reserve_addresses(pages: u64) -> Answer<u64> {
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
    let length = usize::try_from(pages).map_err(|_| Status::ERROR_OUT_OF_RESOURCES)?;
    // SAFETY: an anonymous mapping at an address that the kernel chooses.
    unsafe { mmap_anonymous(ptr::null_mut(), length, ProtFlags::empty(), flags) }
        .map(|address| address.expose_provenance() as u64)
        .map_err(|_| Status::ERROR_OUT_OF_RESOURCES)
}

/// Undoes [`map_host`] and [`reserve_addresses`].
pub(crate) fn unmap_host(host: *mut u8, pages: u64) {
    // SAFETY: callers pass a mapping of this library whose range no longer is in the table of
    // the address space, so that nobody is promised its bytes.
    if let Err(error) = unsafe { munmap(host.cast(), pages as usize) } {
        log::warn(format_args!("munmap of {pages} bytes at {host:p}: {error}"));
    }
}

/// `hsa_amd_memory_lock_to_pool`.
///
/// # Safety
///
/// `bytes` at `host` stay readable and writable until the memory is unlocked; `agents` holds
/// `count` handles; `out` is null or has room for a pointer.
pub(crate) unsafe fn lock_to_pool(
    host: *mut c_void,
    bytes: usize,
    agents: *const crate::abi::AgentHandle,
    count: i32,
    pool: crate::abi::PoolHandle,
    flags: u32,
    out: *mut *mut c_void,
) -> Answer {
    let runtime = crate::runtime::runtime()?;
    if out.is_null() || flags != 0 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let count = usize::try_from(count).map_err(|_| Status::ERROR_INVALID_ARGUMENT)?;
    // SAFETY: the caller's promise.
    for agent in unsafe { crate::abi::list(agents, count) }? {
        runtime.names.agent(*agent)?;
    }
    match runtime.names.pool(pool)? {
        Pool::SystemFine | Pool::SystemKernarg | Pool::SystemCoarse => {}
        Pool::Vram(_) | Pool::VramFine(_) | Pool::Lds(_) => {
            return Err(Status::ERROR_INVALID_MEMORY_POOL);
        }
    }
    // SAFETY: the caller's promise.
    let address = unsafe { runtime.memory.lock(host.cast(), bytes as u64) }?;
    // SAFETY: the caller's promise.
    unsafe { crate::abi::put(out, ptr::without_provenance_mut(address as usize)) }
}

/// `hsa_memory_register`: full-profile agents reach the memory afterwards.
///
/// # Safety
///
/// `bytes` at `host` stay readable and writable until they are deregistered.
pub(crate) unsafe fn register(host: *mut c_void, bytes: usize) -> Answer {
    if host.is_null() || bytes == 0 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let memory = &crate::runtime::runtime()?.memory;
    // SAFETY: the caller's promise.
    unsafe { memory.register(host.cast(), bytes as u64) }.map_err(|error| status_of(&error))
}

/// `hsa_memory_deregister`.
pub(crate) fn deregister(host: *mut c_void) -> Answer {
    let memory = &crate::runtime::runtime()?.memory;
    memory.unregister(host.cast()).map_err(|error| status_of(&error))
}

/// `hsa_memory_copy`.
///
/// # Safety
///
/// A side that is not memory of the API is host memory of at least that many bytes.
pub(crate) unsafe fn copy(to: *mut c_void, from: *const c_void, bytes: usize) -> Answer {
    if to.is_null() || from.is_null() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let memory = &crate::runtime::runtime()?.memory;
    // SAFETY: the caller's promise.
    unsafe { memory.copy_any(to.addr() as u64, from.addr() as u64, bytes as u64) }
}

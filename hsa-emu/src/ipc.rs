//! Device memory that two processes share.
//!
//! An exported allocation's bytes move into a file without a name; another process of the same
//! user opens it through `/proc` and maps it. The exporter moves the bytes in place, so a kernel
//! that writes to the allocation during the first export may lose what it writes.

use std::ffi::c_void;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::ptr;

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous};

use crate::abi::{AgentHandle, Answer, IpcMemory, Status, put};
use crate::log;
use crate::memory::{Memory, Source, whole_pages};
use crate::runtime::runtime;

/// Word that marks our handles.
const MARK: u32 = 0x4853_4145;

impl Memory {
    /// The number of the file behind an allocation, which must start at `base`.
    fn export(&self, base: u64, bytes: u64) -> Answer<(i32, u64, usize)> {
        let mut book = self.book();
        let allocation = book.allocations.get_mut(&base).ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        let (Some(gpu), Source::Device { exported }) =
            (allocation.pool.device(), &mut allocation.source)
        else {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        };
        let pages = whole_pages(allocation.bytes)?;
        if bytes > pages {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        if exported.is_none() {
            let range = self.space().find(base).ok_or(Status::ERROR_INVALID_ARGUMENT)?;
            *exported = Some(into_file(range.host, allocation.bytes, pages).map_err(|error| {
                log::warn(format_args!("cannot share device memory: {error}"));
                Status::ERROR_OUT_OF_RESOURCES
            })?);
        }
        let number = exported.as_ref().map_or(-1, AsRawFd::as_raw_fd);
        Ok((number, allocation.bytes, gpu))
    }

    /// Puts fresh anonymous pages where an exported allocation was, before it is freed.
    pub(crate) fn end_export(&self, base: u64, pages: u64) {
        let Some(range) = self.space().find(base) else { return };
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: replaces pages of this allocation's alias only; the allocation is being freed,
        // so nobody uses its bytes.
        let fresh = unsafe { mmap_anonymous(range.host.cast(), pages as usize, access, flags) };
        match fresh {
            Ok(_) => advise(range.host, pages),
            Err(error) => log::warn(format_args!("end of shared device memory: {error}")),
        }
    }
}

/// Moves `bytes` at `host` into a file that is mapped there instead.
fn into_file(host: *mut u8, bytes: u64, pages: u64) -> std::io::Result<OwnedFd> {
    let mut file = File::from(memfd_create("hsa-emu shared memory", MemfdFlags::CLOEXEC)?);
    ftruncate(&file, pages)?;
    // SAFETY: the bytes are a live allocation's, and its owner keeps it until the call returns.
    let content = unsafe { std::slice::from_raw_parts(host, bytes as usize) };
    file.write_all(content)?;
    let flags = MapFlags::SHARED | MapFlags::FIXED;
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: replaces pages of this allocation's alias by a file with the same bytes.
    unsafe { mmap(host.cast(), pages as usize, access, flags, file.as_fd(), 0) }?;
    advise(host, pages);
    Ok(file.into())
}

/// A child of `fork` has no device memory.
fn advise(host: *mut u8, pages: u64) {
    // SAFETY: the range was mapped just before; the advice does not change its content here.
    let advised = unsafe { madvise(host.cast(), pages as usize, Advice::LinuxDontFork) };
    if let Err(error) = advised {
        log::warn(format_args!("device memory stays visible after fork: {error}"));
    }
}

/// `hsa_amd_ipc_memory_create`.
///
/// # Safety
///
/// `out` is null or has room for a handle.
pub(crate) unsafe fn create(base: *mut c_void, bytes: usize, out: *mut IpcMemory) -> Answer {
    let runtime = runtime()?;
    if out.is_null() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let (file, bytes, gpu) = runtime.memory.export(base.addr() as u64, bytes as u64)?;
    let words = [
        MARK,
        std::process::id(),
        file.cast_unsigned(),
        bytes as u32,
        (bytes >> 32) as u32,
        gpu as u32,
        0,
        0,
    ];
    // SAFETY: the caller's promise.
    unsafe { put(out, IpcMemory { handle: words }) }
}

/// `hsa_amd_ipc_memory_attach`.
///
/// # Safety
///
/// `handle` is null or points at a handle, `agents` holds `count` handles, `out` is null or has
/// room for a pointer.
pub(crate) unsafe fn attach(
    handle: *const IpcMemory,
    bytes: usize,
    count: u32,
    agents: *const AgentHandle,
    out: *mut *mut c_void,
) -> Answer {
    let runtime = runtime()?;
    if handle.is_null() || out.is_null() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    // SAFETY: the caller's promise.
    for agent in unsafe { crate::abi::list(agents, count as usize) }? {
        runtime.names.agent(*agent)?;
    }
    // SAFETY: the caller's promise.
    let [mark, process, file, low, high, gpu, ..] = unsafe { handle.read_unaligned() }.handle;
    let exported = u64::from(low) | u64::from(high) << 32;
    let gpu = gpu as usize;
    if mark != MARK || bytes as u64 > whole_pages(exported)? || gpu >= runtime.settings.gpus {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let path = format!("/proc/{process}/fd/{file}");
    let host = open_and_map(&path, exported).map_err(|error| {
        log::warn(format_args!("cannot open memory of process {process}: {path}: {error}"));
        Status::ERROR_INVALID_ARGUMENT
    })?;
    // SAFETY: the mapping was made just above and is given up here.
    let address = unsafe { runtime.memory.import(host, exported, gpu) }?;
    // SAFETY: the caller's promise.
    unsafe { put(out, ptr::without_provenance_mut(address as usize)) }
}

fn open_and_map(path: &str, bytes: u64) -> std::io::Result<*mut u8> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    let pages = bytes.next_multiple_of(gfx_emu::memory::PAGE_BYTES);
    if file.metadata()?.len() != pages {
        return Err(std::io::Error::other("not the file of that allocation"));
    }
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new shared mapping at an address that the kernel chooses.
    let host =
        unsafe { mmap(ptr::null_mut(), pages as usize, access, MapFlags::SHARED, &file, 0) }?;
    Ok(host.cast())
}

/// `hsa_amd_ipc_memory_detach`.
pub(crate) fn detach(address: *mut c_void) -> Answer {
    let runtime = runtime()?;
    let address = address.addr() as u64;
    let imported = runtime
        .memory
        .book()
        .allocations
        .get(&address)
        .is_some_and(|allocation| matches!(allocation.source, Source::Imported { .. }));
    if imported { runtime.memory.free(address) } else { Err(Status::ERROR_INVALID_ARGUMENT) }
}

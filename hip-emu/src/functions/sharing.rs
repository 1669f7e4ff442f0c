//! Memory of one process in another.
//!
//! A handle names the process and the file that the memory is moved into. Events cannot be
//! shared: their functions are not supported.

use std::ffi::{c_char, c_uint, c_void};
use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd as _;

use hrr_ffi::types::*;

use super::memory::address;
use crate::allocations::{Allocation, Kind};
use crate::api::{Answer, Out};
use crate::runtime::{current, memory_error};

hip_api! { TABLE;
    fn hipIpcGetMemHandle(handle: Out<hipIpcMemHandle_t>, pointer: *mut c_void) {
        let (runtime, device) = current()?;
        let found = runtime.allocations.find(pointer.addr() as u64);
        let found = found.filter(|found| found.kind == Kind::Device).ok_or(hipErrorInvalidValue)?;
        if handle.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // The bytes move, so nothing may be using them.
        device.drain();
        let file = runtime.space.share(found.base).map_err(|error| memory_error(&error))?;
        let named = Named {
            process: u64::from(std::process::id()),
            file: file.as_raw_fd() as u64,
            bytes: found.bytes,
            offset: pointer.addr() as u64 - found.base,
        };
        handle.set(named.to_handle())
    }

    fn hipIpcOpenMemHandle(
        pointer: Out<*mut c_void>,
        handle: hipIpcMemHandle_t,
        flags: c_uint,
    ) {
        let (runtime, device) = current()?;
        if pointer.is_null() || flags & !hipIpcMemLazyEnablePeerAccess != 0 {
            return Err(hipErrorInvalidValue);
        }
        let named = Named::from_handle(&handle);
        if named.process == u64::from(std::process::id()) {
            return Err(hipErrorInvalidContext);
        }
        if named.offset >= named.bytes {
            return Err(hipErrorInvalidValue);
        }
        let attached = runtime.space.attach(named.open()?, named.bytes);
        let base = attached.map_err(|error| memory_error(&error))?;
        let (bytes, device) = (named.bytes, device.id());
        let kind = Kind::Imported;
        runtime.allocations.insert(Allocation { base, bytes, kind, device, flags: 0 });
        pointer.set(address(base + named.offset))
    }

    fn hipIpcCloseMemHandle(pointer: *mut c_void) {
        let (runtime, device) = current()?;
        let found = runtime.allocations.find(pointer.addr() as u64);
        let found = found.filter(|found| found.kind == Kind::Imported);
        let found = found.ok_or(hipErrorInvalidValue)?;
        device.drain();
        runtime.allocations.remove(found.base);
        runtime.space.free(found.base).map_err(|error| memory_error(&error))
    }
}

/// What a handle says, as four little-endian words.
struct Named {
    process: u64,
    file: u64,
    bytes: u64,
    offset: u64,
}

impl Named {
    fn to_handle(&self) -> hipIpcMemHandle_t {
        let words = [self.process, self.file, self.bytes, self.offset];
        let mut reserved: [c_char; 64] = [0; 64];
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        for (slot, byte) in reserved.iter_mut().zip(bytes) {
            *slot = byte.cast_signed();
        }
        hipIpcMemHandle_t { reserved }
    }

    fn from_handle(handle: &hipIpcMemHandle_t) -> Self {
        let word = |index: usize| {
            let bytes = handle.reserved[8 * index..8 * index + 8].iter().rev();
            bytes.fold(0, |word, byte| word << 8 | u64::from(byte.cast_unsigned()))
        };
        Self { process: word(0), file: word(1), bytes: word(2), offset: word(3) }
    }

    /// The file, if it is one of ours: a handle is the program's, and may be anything.
    fn open(&self) -> Answer<File> {
        let path = format!("/proc/{}/fd/{}", self.process, self.file);
        let target = std::fs::read_link(&path).map_err(|_| hipErrorInvalidHandle)?;
        if !target.to_string_lossy().starts_with("/memfd:gfx-emu shared memory") {
            return Err(hipErrorInvalidHandle);
        }
        let opened = OpenOptions::new().read(true).write(true).open(path);
        opened.map_err(|_| hipErrorInvalidHandle)
    }
}

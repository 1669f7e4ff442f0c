//! Memory and events of one process in another.
//!
//! A handle names the process and the file: the one that memory is moved into, or the one that
//! holds what is known of an event.

use std::ffi::{c_char, c_uint, c_void};
use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd as _;
use std::sync::Arc;

use hrr_ffi::types::*;

use super::memory::address;
use crate::abi;
use crate::allocations::{Allocation, Kind};
use crate::api::Out;
use crate::events::Event;
use crate::runtime::{current, memory_error, runtime};
use crate::shared_events::{self, SharedEvent};

hip_api! { TABLE;
    fn hipIpcGetMemHandle(handle: Out<hipIpcMemHandle_t>, pointer: *mut c_void) {
        let (runtime, device) = current()?;
        if handle.is_null() || pointer.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let found = runtime.allocations.find(pointer.addr() as u64);
        let found = found.filter(|found| found.kind == Kind::Device);
        let found = found.ok_or(hipErrorInvalidDevicePointer)?;
        // The bytes move, so nothing may be using them.
        device.drain();
        let file = runtime.space.share(found.base).map_err(|error| memory_error(&error))?;
        let named = Named {
            process: u64::from(std::process::id()),
            file: file.as_raw_fd() as u64,
            bytes: found.bytes,
            offset: pointer.addr() as u64 - found.base,
        };
        handle.set(hipIpcMemHandle_t { reserved: named.to_bytes() })
    }

    fn hipIpcOpenMemHandle(
        pointer: Out<*mut c_void>,
        handle: hipIpcMemHandle_t,
        flags: c_uint,
    ) {
        let (runtime, device) = current()?;
        let named = Named::from_bytes(&handle.reserved);
        if pointer.is_null() || flags & !abi::lazy_peer_access() != 0 || named.bytes == 0 {
            return Err(hipErrorInvalidValue);
        }
        // HIP 5 opened what the process has anyhow.
        if named.process == u64::from(std::process::id()) && abi::major() >= 6 {
            return Err(hipErrorInvalidContext);
        }
        if named.offset >= named.bytes {
            return Err(hipErrorInvalidDevicePointer);
        }
        let file = named.open("gfx-emu shared memory").ok_or(hipErrorInvalidDevicePointer)?;
        let attached = runtime.space.attach(file, named.bytes);
        let base = attached.map_err(|error| memory_error(&error))?;
        let (bytes, device) = (named.bytes, device.id());
        let kind = Kind::Imported;
        runtime.allocations.insert(Allocation { base, bytes, kind, device, flags: 0 });
        pointer.set(address(base + named.offset))
    }

    fn hipIpcGetEventHandle(handle: Out<hipIpcEventHandle_t>, event: hipEvent_t) {
        if handle.is_null() || event.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let event = runtime()?.event(event)?;
        let shared = event.shared.as_ref().ok_or(hipErrorInvalidConfiguration)?;
        let named = Named { process: shared.process, file: shared.file, bytes: 0, offset: 0 };
        handle.set(hipIpcEventHandle_t { reserved: named.to_bytes() })
    }

    fn hipIpcOpenEventHandle(event: Out<hipEvent_t>, handle: hipIpcEventHandle_t) {
        let (runtime, device) = current()?;
        if event.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let named = Named::from_bytes(&handle.reserved);
        if named.process == u64::from(std::process::id()) {
            return Err(hipErrorInvalidContext);
        }
        let file = named.open(shared_events::NAME).ok_or(hipErrorInvalidValue)?;
        let shared = SharedEvent::open(&file, named.process, named.file);
        let shared = Some(Arc::new(shared.map_err(|_| hipErrorInvalidValue)?));
        let flags = hipEventDisableTiming | hipEventInterprocess;
        event.set(Event::add(runtime, device.id(), flags, shared))
    }

    fn hipIpcCloseMemHandle(pointer: *mut c_void) {
        let (runtime, device) = current()?;
        if pointer.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let found = runtime.allocations.find(pointer.addr() as u64);
        if pointer.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let found = found.filter(|found| found.kind == Kind::Imported);
        let found = found.ok_or(hipErrorInvalidHandle)?;
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
    fn to_bytes(&self) -> [c_char; 64] {
        let words = [self.process, self.file, self.bytes, self.offset];
        let mut reserved: [c_char; 64] = [0; 64];
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        for (slot, byte) in reserved.iter_mut().zip(bytes) {
            *slot = byte.cast_signed();
        }
        reserved
    }

    fn from_bytes(reserved: &[c_char; 64]) -> Self {
        let word = |index: usize| {
            let bytes = reserved[8 * index..8 * index + 8].iter().rev();
            bytes.fold(0, |word, byte| word << 8 | u64::from(byte.cast_unsigned()))
        };
        Self { process: word(0), file: word(1), bytes: word(2), offset: word(3) }
    }

    /// The file, if it is the one of ours that goes by that name: a handle is the program's, and
    /// may be anything.
    fn open(&self, name: &str) -> Option<File> {
        let path = format!("/proc/{}/fd/{}", self.process, self.file);
        let target = std::fs::read_link(&path).ok()?;
        let ours = target.to_string_lossy().starts_with(&format!("/memfd:{name}"));
        ours.then(|| OpenOptions::new().read(true).write(true).open(path).ok())?
    }
}

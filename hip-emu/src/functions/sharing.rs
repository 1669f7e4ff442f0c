//! Memory for other processes. A handle can be had; no other process can use it, and opening
//! one in its own process is an error, as with AMD's runtime.

use std::ffi::{c_char, c_uint, c_void};

use hrr_ffi::types::*;

use crate::allocations::Kind;
use crate::api::Out;
use crate::runtime::current;

hip_api! { TABLE;
    fn hipIpcGetMemHandle(handle: Out<hipIpcMemHandle_t>, pointer: *mut c_void) {
        let (runtime, _) = current()?;
        let found = runtime.allocations.find(pointer.addr() as u64);
        let found = found.filter(|found| found.kind == Kind::Device).ok_or(hipErrorInvalidValue)?;
        let words = [
            u64::from(std::process::id()),
            found.base,
            found.bytes,
            pointer.addr() as u64 - found.base,
        ];
        let mut reserved: [c_char; 64] = [0; 64];
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        for (slot, byte) in reserved.iter_mut().zip(bytes) {
            *slot = byte.cast_signed();
        }
        handle.set(hipIpcMemHandle_t { reserved })
    }

    fn hipIpcOpenMemHandle(
        pointer: Out<*mut c_void>,
        handle: hipIpcMemHandle_t,
        flags: c_uint,
    ) {
        current()?;
        if pointer.is_null() || flags != hipIpcMemLazyEnablePeerAccess {
            return Err(hipErrorInvalidValue);
        }
        let id = handle.reserved[..4].iter().map(|byte| byte.cast_unsigned());
        if id.eq(std::process::id().to_le_bytes()) {
            return Err(hipErrorInvalidContext);
        }
        Err(hipErrorNotSupported)
    }

    fn hipIpcCloseMemHandle(pointer: *mut c_void) {
        current()?;
        let _never_opened = pointer;
        Err(hipErrorInvalidValue)
    }
}

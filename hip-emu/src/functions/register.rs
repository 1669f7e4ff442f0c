//! What compilers put into programs: registration of fat binaries, kernels and variables.
//!
//! These run in static constructors and destructors. They keep what they are told and start
//! nothing.

use std::ffi::{c_char, c_int, c_uint, c_void};

use gfx_emu::loader::code::image;
use hrr_ffi::types::*;

use crate::api::{In, Out, Text};
use crate::handles::word;
use crate::launches::CallConfiguration;
use crate::modules::HostVariable;
use crate::runtime::registry;
use crate::thread;

hip_api_unchecked! { TABLE;
    /// Null for what is no wrapper.
    fn __hipRegisterFatBinary(wrapper: *const c_void) -> hipFatBinaryHandle {
        // SAFETY: HIP's contract: nobody writes to the wrapper.
        if unsafe { image::fat_binary_image(wrapper.cast()) }.is_none() {
            return hipFatBinaryHandle(std::ptr::null_mut());
        }
        hipFatBinaryHandle(word(registry().add_binary(wrapper.cast())))
    }

    fn __hipUnregisterFatBinary(binary: hipFatBinaryHandle) -> () {
        registry().remove_binary(binary.0.addr());
    }

    fn __hipRegisterFunction(
        binary: hipFatBinaryHandle,
        stub: *const c_void,
        _device_function: *mut c_char,
        name: Text,
        _thread_limit: c_uint,
        _thread: *mut c_void,
        _block: *mut c_void,
        _block_dim: *mut c_void,
        _grid_dim: *mut c_void,
        _wave: *mut c_int
    ) -> () {
        if let Ok(name) = name.get() {
            registry().add_function(binary.0.addr(), stub.addr(), name);
        }
    }

    fn __hipRegisterVar(
        binary: hipFatBinaryHandle,
        shadow: *mut c_void,
        _host_name: *mut c_char,
        name: Text,
        _external: c_int,
        bytes: usize,
        _constant: c_int,
        _global: c_int
    ) -> () {
        if let Ok(name) = name.get() {
            registry().add_variable(binary.0.addr(), shadow.addr(), HostVariable { name, bytes });
        }
    }

    fn __hipRegisterManagedVar(
        binary: hipFatBinaryHandle,
        pointer: *mut *mut c_void,
        initial: *mut c_void,
        name: Text,
        bytes: usize,
        _align: c_uint
    ) -> () {
        if let Ok(name) = name.get() {
            let (pointer, initial) = (pointer.expose_provenance(), initial.expose_provenance());
            let variable = HostVariable { name, bytes };
            registry().add_managed(binary.0.addr(), pointer, initial, variable);
        }
    }

    /// Textures are not emulated; a program that only contains one can run.
    fn __hipRegisterTexture(
        _binary: hipFatBinaryHandle,
        _shadow: *mut c_void,
        _host_name: *mut c_char,
        _name: *mut c_char,
        _kind: c_int,
        _normalized: c_int,
        _external: c_int
    ) -> () {}

    /// As for textures.
    fn __hipRegisterSurface(
        _binary: hipFatBinaryHandle,
        _shadow: *mut c_void,
        _host_name: *mut c_char,
        _name: *mut c_char,
        _kind: c_int,
        _external: c_int
    ) -> () {}
}

hip_api! { CALLS;
    fn __hipPushCallConfiguration(
        grid: dim3,
        block: dim3,
        shared_bytes: usize,
        stream: hipStream_t,
    ) {
        let arguments = Vec::new();
        thread::push_call(CallConfiguration { grid, block, shared_bytes, stream, arguments });
        Ok(())
    }

    fn __hipPopCallConfiguration(
        grid: Out<dim3>,
        block: Out<dim3>,
        shared_bytes: Out<usize>,
        stream: Out<hipStream_t>,
    ) {
        let call = thread::pop_call().ok_or(hipErrorMissingConfiguration)?;
        grid.set(call.grid)?;
        block.set(call.block)?;
        shared_bytes.set(call.shared_bytes)?;
        stream.set(call.stream)
    }

    fn hipConfigureCall(grid: dim3, block: dim3, shared_bytes: usize, stream: hipStream_t) {
        let arguments = Vec::new();
        thread::push_call(CallConfiguration { grid, block, shared_bytes, stream, arguments });
        Ok(())
    }

    fn hipSetupArgument(argument: In<u8>, bytes: usize, offset: usize) {
        let content = argument.slice(bytes)?;
        let end = offset.checked_add(bytes).filter(|&end| end <= ARGUMENTS_MAX_BYTES);
        let end = end.ok_or(hipErrorInvalidValue)?;
        thread::with_top_call(|call| {
            if call.arguments.len() < end {
                call.arguments.resize(end, 0);
            }
            call.arguments[offset..end].copy_from_slice(&content);
        })
        .ok_or(hipErrorMissingConfiguration)
    }
}

/// Argument blocks are a few kilobytes at most.
const ARGUMENTS_MAX_BYTES: usize = 1 << 20;

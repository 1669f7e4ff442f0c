//! What the compiler's startup code calls: it tells the runtime which images a program holds and
//! which host addresses stand for kernels and variables. Signatures: the compiler's dispatch table
//! in `hip_api_trace.hpp` of HIP 7.1, with the `void**` of a fat binary as the handle it is.

use core::ffi::{c_char, c_int, c_uint, c_void};

use hrr_macros::api;

use crate::types::{dim3, hipFatBinaryHandle, hipUUID, uint3};

#[api(group = "register")]
unsafe extern "C" {
    /// Answers the handle of a program's fat binary. (HIP 7.1)
    pub fn __hipRegisterFatBinary(#[code_image(wrapper)] data: *const c_void)
    -> hipFatBinaryHandle;

    /// Ends a fat binary. (HIP 7.1)
    pub fn __hipUnregisterFatBinary(#[destroys] modules: hipFatBinaryHandle);

    /// Says which kernel a host address stands for. (HIP 7.1)
    pub fn __hipRegisterFunction(
        modules: hipFatBinaryHandle,
        #[defines_host_symbol(image = modules, name = deviceName)] hostFunction: *const c_void,
        #[string] deviceFunction: *const c_char,
        #[string] deviceName: *const c_char,
        threadLimit: c_uint,
        #[opaque(reason = "the compiler passes null")] tid: *mut uint3,
        #[opaque(reason = "the compiler passes null")] bid: *mut uint3,
        #[opaque(reason = "the compiler passes null")] blockDim: *mut dim3,
        #[opaque(reason = "the compiler passes null")] gridDim: *mut dim3,
        #[opaque(reason = "the compiler passes null")] wSize: *mut c_int,
    );

    /// Says which variable a host address stands for. (HIP 7.1)
    pub fn __hipRegisterVar(
        modules: hipFatBinaryHandle,
        #[defines_host_symbol(image = modules, name = deviceVar)] var: *const c_void,
        #[string] hostVar: *const c_char,
        #[string] deviceVar: *const c_char,
        ext: c_int,
        size: usize,
        constant: c_int,
        global: c_int,
    );

    /// Writes the address of a managed variable, filled with `init_value`, into the program's
    /// pointer. (HIP 7.1)
    pub fn __hipRegisterManagedVar(
        hipModule: hipFatBinaryHandle,
        #[out_device_ptr(bytes = size)] pointer: *mut *mut c_void,
        #[host_in(bytes = size)] init_value: *const c_void,
        #[string] name: *const c_char,
        size: usize,
        align: c_uint,
    );

    /// Says which texture reference a host address stands for. (HIP 7.1)
    pub fn __hipRegisterTexture(
        modules: hipFatBinaryHandle,
        #[defines_host_symbol(image = modules, name = deviceVar)] var: *const c_void,
        #[string] hostVar: *const c_char,
        #[string] deviceVar: *const c_char,
        r#type: c_int,
        norm: c_int,
        ext: c_int,
    );

    /// Says which surface reference a host address stands for. (HIP 7.1)
    pub fn __hipRegisterSurface(
        modules: hipFatBinaryHandle,
        #[defines_host_symbol(image = modules, name = deviceVar)] var: *const c_void,
        #[string] hostVar: *const c_char,
        #[string] deviceVar: *const c_char,
        r#type: c_int,
        ext: c_int,
    );

    /// Tells tools which devices a process sees. (HIP 7.1)
    pub fn __hipReportDevices(
        numDevices: usize,
        #[deref(count = numDevices)] uuids: *const hipUUID,
    );

    /// Writes the address of the runtime's precompiled header and its bytes. (HIP 7.14)
    pub fn __hipGetPCH(
        #[out_buffer(bytes = 8, machine)] pch: *mut *const c_char,
        #[out(machine)] size: *mut c_uint,
    );
}

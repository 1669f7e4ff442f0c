//! Modules and libraries of kernels. An image is recorded when it is loaded.

use core::ffi::{c_char, c_int, c_uint, c_void};

use hrr_macros::api;

use crate::types::{
    hipDevice_t, hipDeviceptr_t, hipError_t, hipFuncAttribute, hipFuncAttributes, hipFuncCache_t,
    hipFunction_attribute, hipFunction_t, hipJitOption, hipKernel_t, hipLibrary_t,
    hipLibraryOption, hipModule_t, hipSharedMemConfig, hipStream_t,
};

#[api(group = "module")]
unsafe extern "C" {
    /// Writes a module from a file. The file's content is recorded; replay loads that, and opens no
    /// file. (HIP 7.1)
    #[replay(with = crate::families::module::load)]
    pub fn hipModuleLoad(
        #[out_handle] module: *mut hipModule_t,
        #[code_image(file)] fname: *const c_char,
    ) -> hipError_t;

    /// Writes a module from an image in memory. (HIP 7.1)
    pub fn hipModuleLoadData(
        #[out_handle] module: *mut hipModule_t,
        #[code_image] image: *const c_void,
    ) -> hipError_t;

    /// Writes a module from an image in memory; the compiler's options are for other platforms'
    /// images. (HIP 7.1)
    pub fn hipModuleLoadDataEx(
        #[out_handle] module: *mut hipModule_t,
        #[code_image] image: *const c_void,
        numOptions: c_uint,
        #[deref(count = numOptions)] options: *mut hipJitOption,
        #[jit_options(keys = options, count = numOptions)] optionValues: *mut *mut c_void,
    ) -> hipError_t;

    /// Writes a module from a fat binary in memory. (HIP 7.1)
    pub fn hipModuleLoadFatBinary(
        #[out_handle] module: *mut hipModule_t,
        #[code_image] fatbin: *const c_void,
    ) -> hipError_t;

    /// Ends a module, its kernels and its variables. (HIP 7.1)
    #[validated]
    pub fn hipModuleUnload(#[destroys] module: hipModule_t) -> hipError_t;

    /// Writes the handle of a kernel of a module. (HIP 7.1)
    #[effect(defines_kernel = (function, module, kname))]
    #[validated]
    pub fn hipModuleGetFunction(
        #[out_handle] function: *mut hipFunction_t,
        module: hipModule_t,
        #[string] kname: *const c_char,
    ) -> hipError_t;

    /// Writes the number of a module's kernels. (HIP 7.1)
    pub fn hipModuleGetFunctionCount(#[out] count: *mut c_uint, r#mod: hipModule_t) -> hipError_t;

    /// Writes the address and the bytes of a variable of a module; either pointer may be null.
    /// (HIP 7.1)
    #[capture(with = crate::families::memory::capture_module_global)]
    #[replay(with = crate::families::memory::replay_symbol_address)]
    pub fn hipModuleGetGlobal(
        #[out_device_ptr] dptr: *mut hipDeviceptr_t,
        #[out] bytes: *mut usize,
        hmod: hipModule_t,
        #[string] name: *const c_char,
    ) -> hipError_t;

    /// Writes what is known of a kernel. (HIP 7.1)
    #[validated]
    pub fn hipFuncGetAttributes(
        #[out(machine)] attr: *mut hipFuncAttributes,
        #[host_symbol] func: *const c_void,
    ) -> hipError_t;

    /// Writes one number about a kernel. (HIP 7.1)
    pub fn hipFuncGetAttribute(
        #[out(machine)] value: *mut c_int,
        attrib: hipFunction_attribute,
        hfunc: hipFunction_t,
    ) -> hipError_t;

    /// Sets an attribute of a kernel. (HIP 7.1)
    pub fn hipFuncSetAttribute(
        #[host_symbol] func: *const c_void,
        attr: hipFuncAttribute,
        value: c_int,
    ) -> hipError_t;

    /// Sets how a kernel divides cache and shared memory. (HIP 7.1)
    pub fn hipFuncSetCacheConfig(
        #[host_symbol] func: *const c_void,
        config: hipFuncCache_t,
    ) -> hipError_t;

    /// Sets the width of the banks of shared memory for a kernel. (HIP 7.1)
    pub fn hipFuncSetSharedMemConfig(
        #[host_symbol] func: *const c_void,
        config: hipSharedMemConfig,
    ) -> hipError_t;

    /// Writes the handle of the kernel that a host address stands for. (HIP 7.1)
    pub fn hipGetFuncBySymbol(
        #[out_handle] functionPtr: *mut hipFunction_t,
        #[host_symbol] symbolPtr: *const c_void,
    ) -> hipError_t;

    /// Answers the name of a kernel, which the runtime owns. (HIP 7.1)
    #[machine]
    pub fn hipKernelNameRef(f: hipFunction_t) -> *const c_char;

    /// Answers the name of the kernel that a host address stands for. (HIP 7.1)
    #[machine]
    pub fn hipKernelNameRefByPtr(
        #[host_symbol] hostFunction: *const c_void,
        stream: hipStream_t,
    ) -> *const c_char;

    /// Writes a library from an image in memory. (HIP 7.1)
    pub fn hipLibraryLoadData(
        #[out_handle] library: *mut hipLibrary_t,
        #[code_image] code: *const c_void,
        #[deref(count = numJitOptions)] jitOptions: *mut hipJitOption,
        #[jit_options(keys = jitOptions, count = numJitOptions)] jitOptionsValues: *mut *mut c_void,
        numJitOptions: c_uint,
        #[deref(count = numLibraryOptions)] libraryOptions: *mut hipLibraryOption,
        #[jit_options(keys = libraryOptions, count = numLibraryOptions)]
        libraryOptionValues: *mut *mut c_void,
        numLibraryOptions: c_uint,
    ) -> hipError_t;

    /// Writes a library from a file. The file's content is recorded; replay loads that, and opens
    /// no file. (HIP 7.1)
    #[replay(with = crate::families::module::load_library)]
    pub fn hipLibraryLoadFromFile(
        #[out_handle] library: *mut hipLibrary_t,
        #[code_image(file)] fileName: *const c_char,
        #[deref(count = numJitOptions)] jitOptions: *mut hipJitOption,
        #[jit_options(keys = jitOptions, count = numJitOptions)] jitOptionsValues: *mut *mut c_void,
        numJitOptions: c_uint,
        #[deref(count = numLibraryOptions)] libraryOptions: *mut hipLibraryOption,
        #[jit_options(keys = libraryOptions, count = numLibraryOptions)]
        libraryOptionValues: *mut *mut c_void,
        numLibraryOptions: c_uint,
    ) -> hipError_t;

    /// Ends a library. (HIP 7.1)
    pub fn hipLibraryUnload(#[destroys] library: hipLibrary_t) -> hipError_t;

    /// Writes the handle of a kernel of a library. (HIP 7.1)
    #[effect(defines_kernel = (pKernel, library, name))]
    pub fn hipLibraryGetKernel(
        #[out_handle] pKernel: *mut hipKernel_t,
        library: hipLibrary_t,
        #[string] name: *const c_char,
    ) -> hipError_t;

    /// Writes the number of a library's kernels. (HIP 7.1)
    pub fn hipLibraryGetKernelCount(#[out] count: *mut c_uint, library: hipLibrary_t)
    -> hipError_t;

    /// Writes the handles of up to `numKernels` kernels. (HIP 7.1)
    pub fn hipLibraryEnumerateKernels(
        #[out_handle(count = numKernels)] kernels: *mut hipKernel_t,
        numKernels: c_uint,
        library: hipLibrary_t,
    ) -> hipError_t;

    /// Writes the address and the bytes of a variable of a library; either pointer may be null.
    /// (HIP 7.14)
    pub fn hipLibraryGetGlobal(
        #[out_device_ptr(bytes = after(bytes))] dptr: *mut *mut c_void,
        #[out] bytes: *mut usize,
        library: hipLibrary_t,
        #[string] name: *const c_char,
    ) -> hipError_t;

    /// Writes the address and the bytes of a managed variable of a library; either pointer may be
    /// null. (HIP 7.14)
    pub fn hipLibraryGetManaged(
        #[out_device_ptr(bytes = after(bytes))] dptr: *mut *mut c_void,
        #[out] bytes: *mut usize,
        library: hipLibrary_t,
        #[string] name: *const c_char,
    ) -> hipError_t;

    /// Writes the function handle of a library's kernel. (HIP 7.1)
    pub fn hipKernelGetFunction(
        #[out_handle] pFunc: *mut hipFunction_t,
        kernel: hipKernel_t,
    ) -> hipError_t;

    /// Writes the library of a kernel. (HIP 7.1)
    pub fn hipKernelGetLibrary(
        #[out_handle] library: *mut hipLibrary_t,
        kernel: hipKernel_t,
    ) -> hipError_t;

    /// Writes a pointer to the name of a kernel, which the runtime owns. (HIP 7.1)
    pub fn hipKernelGetName(
        #[out_buffer(bytes = 8, machine)] name: *mut *const c_char,
        kernel: hipKernel_t,
    ) -> hipError_t;

    /// Writes the offset and the size of one parameter of a kernel; `paramSize` may be null.
    /// (HIP 7.1)
    pub fn hipKernelGetParamInfo(
        kernel: hipKernel_t,
        paramIndex: usize,
        #[out] paramOffset: *mut usize,
        #[out] paramSize: *mut usize,
    ) -> hipError_t;

    /// Writes one number about a kernel. (HIP 7.1)
    pub fn hipKernelGetAttribute(
        #[out(machine)] pi: *mut c_int,
        attrib: hipFunction_attribute,
        kernel: hipKernel_t,
        #[device] dev: hipDevice_t,
    ) -> hipError_t;

    /// Sets an attribute of a kernel. (HIP 7.1)
    pub fn hipKernelSetAttribute(
        attrib: hipFunction_attribute,
        value: c_int,
        kernel: hipKernel_t,
        #[device] dev: hipDevice_t,
    ) -> hipError_t;
}

//! Modules: loading code and finding what is in it. Libraries are modules under another name.

use std::ffi::{c_uint, c_void};
use std::sync::Arc;

use gfx_emu::loader::code::image;
use hrr_ffi::types::*;

use crate::abi::{self, by_version};
use crate::api::{Answer, In, Out, Text};
use crate::handles::word;
use crate::modules::{Function, Loaded, Module};
use crate::runtime::{Runtime, current, runtime};

hip_api! { TABLE;
    fn hipModuleLoad(module: Out<hipModule_t>, path: Text) {
        let (runtime, device) = current()?;
        let path = path.get()?;
        if path.is_empty() {
            return Err(hipErrorInvalidValue);
        }
        let bytes = std::fs::read(path).map_err(|_| hipErrorFileNotFound)?;
        load(runtime, device.id(), module, &bytes)
    }

    fn hipModuleLoadData(module: Out<hipModule_t>, image: In<u8>) {
        load_image(module, image)
    }

    /// Options are for a compiler, and a code object has been through it.
    fn hipModuleLoadDataEx(
        module: Out<hipModule_t>,
        image: In<u8>,
        count: c_uint,
        options: In<hipJitOption>,
        values: In<*mut c_void>,
    ) {
        options.slice(count as usize)?;
        values.slice(count as usize)?;
        load_image(module, image)
    }

    fn hipModuleLoadFatBinary(module: Out<hipModule_t>, image: In<u8>) {
        load_image(module, image)
    }

    fn hipModuleUnload(module: hipModule_t) {
        let (runtime, device) = current()?;
        let found = runtime.modules.remove(module.0).ok_or(no_module())?;
        device.drain();
        for function in runtime.functions.all() {
            if function.module == Some(found.handle) {
                runtime.functions.remove(word(function.handle));
            }
        }
        Ok(())
    }

    fn hipModuleGetFunction(function: Out<hipFunction_t>, module: hipModule_t, name: Text) {
        let (runtime, _) = current()?;
        let module = runtime.modules.get(module.0).ok_or(no_module())?;
        let kernel = module.code.kernel(&name.get()?)?;
        if function.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let handle = function_handle(runtime, Some(module.handle), &module.code, kernel);
        function.set(hipFunction_t(word(handle)))
    }

    fn hipModuleGetFunctionCount(count: Out<c_uint>, module: hipModule_t) {
        let (runtime, _) = current()?;
        let module = runtime.modules.get(module.0).ok_or(no_module())?;
        count.set(module.code.object.kernels().count() as c_uint)
    }

    fn hipModuleGetGlobal(
        pointer: Out<hipDeviceptr_t>,
        bytes: Out<usize>,
        module: hipModule_t,
        name: Text,
    ) {
        let (runtime, _) = current()?;
        let module = runtime.modules.get(module.0).ok_or(no_module())?;
        if pointer.is_null() && bytes.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let variable = module.code.object.variable(&name.get()?).ok_or(hipErrorNotFound)?;
        pointer.set_if_wanted(super::memory::address(variable.address));
        bytes.set_if_wanted(variable.bytes as usize);
        Ok(())
    }

    fn hipLibraryLoadData(
        library: Out<hipLibrary_t>,
        image: In<u8>,
        options: In<hipJitOption>,
        values: In<*mut c_void>,
        count: c_uint,
        library_options: In<hipLibraryOption>,
        library_values: In<*mut c_void>,
        library_count: c_uint,
    ) {
        options.slice(count as usize)?;
        values.slice(count as usize)?;
        library_options.slice(library_count as usize)?;
        if library_count != 0 && library_values.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let mut module = hipModule_t::NULL;
        load_image(Out::to(&mut module), image)?;
        library.set(hipLibrary_t(module.0))
    }

    fn hipLibraryUnload(library: hipLibrary_t) {
        let (runtime, device) = current()?;
        runtime.modules.remove(library.0).ok_or(hipErrorInvalidHandle)?;
        device.drain();
        Ok(())
    }

    fn hipLibraryGetKernel(kernel: Out<hipKernel_t>, library: hipLibrary_t, name: Text) {
        let (runtime, _) = current()?;
        let module = runtime.modules.get(library.0).ok_or(hipErrorInvalidHandle)?;
        let found = module.code.kernel(&name.get()?)?;
        if kernel.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let handle = function_handle(runtime, Some(module.handle), &module.code, found);
        kernel.set(hipKernel_t(word(handle)))
    }

    fn hipLibraryGetKernelCount(count: Out<c_uint>, library: hipLibrary_t) {
        let (runtime, _) = current()?;
        let module = runtime.modules.get(library.0).ok_or(hipErrorInvalidHandle)?;
        count.set(module.code.object.kernels().count() as c_uint)
    }

    fn hipKernelGetFunction(function: Out<hipFunction_t>, kernel: hipKernel_t) {
        let (runtime, _) = current()?;
        runtime.functions.get(kernel.0).ok_or(hipErrorInvalidHandle)?;
        function.set(hipFunction_t(kernel.0))
    }

    /// There is no linker for device code here.
    fn hipLinkCreate(
        count: c_uint,
        options: In<hipJitOption>,
        values: In<*mut c_void>,
        state: Out<hipLinkState_t>,
    ) {
        runtime()?;
        options.slice(count as usize)?;
        values.slice(count as usize)?;
        let _never_written = state;
        Err(hipErrorNotSupported)
    }
}

/// What a module that does not exist is.
fn no_module() -> hipError_t {
    by_version(hipErrorNotFound, hipErrorInvalidHandle)
}

fn load_image(module: Out<hipModule_t>, image: In<u8>) -> Answer {
    let (runtime, device) = current()?;
    if module.is_null() || image.is_null() {
        return Err(hipErrorInvalidValue);
    }
    // A wrapper, as compilers make it, leads to the image.
    // SAFETY: HIP's contract: nobody writes to the image during the call.
    let wrapped = unsafe { image::fat_binary_image(image.pointer()) };
    // SAFETY: as above.
    let bytes = unsafe { image::copy_image(wrapped.unwrap_or(image.pointer())) };
    load(runtime, device.id(), module, &bytes.ok_or_else(abi::no_image)?)
}

fn load(
    runtime: &'static Runtime,
    device: usize,
    module: Out<hipModule_t>,
    bytes: &[u8],
) -> Answer {
    runtime.check_no_capture()?;
    if module.is_null() {
        return Err(hipErrorInvalidValue);
    }
    let code = Loaded::from_image(runtime, device, bytes)?;
    let handle = runtime.handles.next();
    runtime.modules.insert(handle, Arc::new(Module { handle, code }));
    module.set(hipModule_t(word(handle)))
}

/// The handle of a kernel; equal questions give equal handles.
pub(crate) fn function_handle(
    runtime: &Runtime,
    module: Option<usize>,
    code: &Arc<Loaded>,
    kernel: Arc<gfx_emu::loader::LoadedKernel>,
) -> usize {
    let known = runtime.functions.all();
    if let Some(function) = known.iter().find(|known| Arc::ptr_eq(&known.kernel, &kernel)) {
        return function.handle;
    }
    let handle = runtime.handles.next();
    let function = Function { handle, module, code: Arc::clone(code), kernel };
    runtime.functions.insert(handle, Arc::new(function));
    handle
}

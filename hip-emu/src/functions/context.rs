//! Contexts, which since HIP's beginnings are devices under another name.

use std::ffi::{c_int, c_uint};
use std::sync::{Arc, Mutex};

use hrr_ffi::types::*;

use crate::api::{Answer, Out};
use crate::handles::word;
use crate::runtime::{Runtime, current, runtime};
use crate::streams::lock;
use crate::thread;

/// A context: in AMD's runtime there is one for each device, whoever asks for it.
pub(crate) struct Context {
    pub(crate) handle: usize,
    device: usize,
}

hip_api! { TABLE;
    fn hipCtxCreate(context: Out<hipCtx_t>, flags: c_uint, device: hipDevice_t) {
        let runtime = runtime()?;
        let device = runtime.device_of(device).map_err(|_| hipErrorInvalidValue)?.id();
        let _scheduling = flags;
        context.set(handle(runtime, device))?;
        thread::set_device(device);
        thread::push_context(device);
        Ok(())
    }

    fn hipCtxDestroy(context: hipCtx_t) {
        if context.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let device = find(runtime()?, context)?.device;
        // The device, and with it the context, stays.
        if thread::top_context() == Some(device) {
            thread::pop_context();
        }
        Ok(())
    }

    fn hipCtxGetCurrent(context: Out<hipCtx_t>) {
        let runtime = runtime()?;
        let device = runtime.device(thread::device())?.id();
        context.set(handle(runtime, device))
    }

    fn hipCtxSetCurrent(context: hipCtx_t) {
        let runtime = runtime()?;
        let device = match context.is_null() {
            true => None,
            false => Some(find(runtime, context)?.device),
        };
        thread::pop_context();
        if let Some(device) = device {
            thread::set_device(device);
            thread::push_context(device);
        }
        Ok(())
    }

    fn hipCtxPushCurrent(context: hipCtx_t) {
        let device = find(runtime()?, context)?.device;
        thread::set_device(device);
        thread::push_context(device);
        Ok(())
    }

    /// Takes what was pushed last; like AMD's runtime, leaves the thread's device as it is.
    fn hipCtxPopCurrent(context: Out<hipCtx_t>) {
        let runtime = runtime()?;
        let device = thread::pop_context().ok_or(hipErrorInvalidContext)?;
        context.set_if_wanted(handle(runtime, device));
        Ok(())
    }

    /// Contexts of other devices are reached as their devices are.
    fn hipCtxEnablePeerAccess(_peer: hipCtx_t, _flags: c_uint) {
        runtime().map(drop)
    }

    fn hipCtxDisablePeerAccess(_peer: hipCtx_t) {
        runtime().map(drop)
    }

    /// Banks are four bytes wide, and cannot be set.
    fn hipCtxGetSharedMemConfig(config: Out<hipSharedMemConfig>) {
        current()?;
        config.set(hipSharedMemBankSizeFourByte)
    }

    fn hipCtxGetDevice(device: Out<hipDevice_t>) {
        let runtime = runtime()?;
        let id = runtime.device(thread::device())?.id();
        device.set(id as c_int)
    }

    /// AMD has never implemented it.
    fn hipCtxSynchronize() {
        current()?;
        Err(hipErrorNotSupported)
    }

    /// As for [`hipCtxSynchronize`].
    fn hipCtxGetFlags(flags: Out<c_uint>) {
        current()?;
        let _never_written = flags;
        Err(hipErrorNotSupported)
    }

    fn hipDevicePrimaryCtxRetain(context: Out<hipCtx_t>, device: hipDevice_t) {
        let runtime = runtime()?;
        let device = runtime.device_of(device)?.id();
        context.set(handle(runtime, device))
    }

    /// What a program left on the device stays, as in AMD's runtime.
    fn hipDevicePrimaryCtxReset(device: hipDevice_t) {
        runtime()?.device_of(device).map(drop)
    }

    /// Contexts are always in use.
    fn hipDevicePrimaryCtxSetFlags(device: hipDevice_t, _flags: c_uint) {
        runtime()?.device_of(device)?;
        Err(hipErrorContextAlreadyInUse)
    }

    fn hipDevicePrimaryCtxRelease(device: hipDevice_t) {
        runtime()?.device_of(device).map(drop)
    }

    fn hipDevicePrimaryCtxGetState(device: hipDevice_t, flags: Out<c_uint>, active: Out<c_int>) {
        let runtime = runtime()?;
        let device = runtime.device_of(device)?;
        flags.set_if_wanted(lock(&device.settings).flags);
        active.set_if_wanted(c_int::from(device.existing_null_stream().is_some()));
        Ok(())
    }
}

fn handle(runtime: &Runtime, device: usize) -> hipCtx_t {
    static MAKING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = lock(&MAKING);
    let existing = runtime.contexts.all();
    let existing = existing.into_iter().find(|found| found.device == device);
    let context = existing.unwrap_or_else(|| {
        let context = Arc::new(Context { handle: runtime.handles.next(), device });
        runtime.contexts.insert(context.handle, Arc::clone(&context));
        context
    });
    hipCtx_t(word(context.handle))
}

fn find(runtime: &Runtime, context: hipCtx_t) -> Answer<Arc<Context>> {
    runtime.contexts.get(context.0).ok_or(hipErrorInvalidContext)
}

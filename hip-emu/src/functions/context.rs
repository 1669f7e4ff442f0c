//! Contexts, which since HIP's beginnings are devices under another name.

use std::ffi::{c_int, c_uint};
use std::sync::{Arc, Mutex};

use hrr_ffi::types::*;

use crate::api::{Answer, Out};
use crate::handles::word;
use crate::runtime::{Runtime, current, runtime};
use crate::streams::lock;
use crate::thread;

/// A context.
pub(crate) struct Context {
    pub(crate) handle: usize,
    device: usize,
    primary: bool,
}

hip_api! { TABLE;
    fn hipCtxCreate(context: Out<hipCtx_t>, flags: c_uint, device: hipDevice_t) {
        let runtime = runtime()?;
        let device = runtime.device_of(device)?.id();
        let _scheduling = flags;
        if context.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let made = Context::create(runtime, device, false);
        thread::set_device(device);
        context.set(hipCtx_t(word(made.handle)))
    }

    fn hipCtxDestroy(context: hipCtx_t) {
        let runtime = runtime()?;
        if find(runtime, context)?.primary {
            return Err(hipErrorInvalidValue);
        }
        runtime.contexts.remove(context.0).map(drop).ok_or(hipErrorInvalidValue)
    }

    fn hipCtxGetCurrent(context: Out<hipCtx_t>) {
        let runtime = runtime()?;
        let device = runtime.device(thread::device())?.id();
        context.set(hipCtx_t(word(primary(runtime, device).handle)))
    }

    fn hipCtxSetCurrent(context: hipCtx_t) {
        let runtime = runtime()?;
        if !context.is_null() {
            thread::set_device(find(runtime, context)?.device);
        }
        Ok(())
    }

    fn hipCtxGetDevice(device: Out<hipDevice_t>) {
        let runtime = runtime()?;
        let id = runtime.device(thread::device())?.id();
        device.set(id as c_int)
    }

    fn hipCtxSynchronize() {
        let (runtime, device) = current()?;
        runtime.check_no_capture()?;
        device.synchronize()
    }

    fn hipCtxGetFlags(flags: Out<c_uint>) {
        let (_, device) = current()?;
        flags.set(lock(&device.settings).flags)
    }

    fn hipDevicePrimaryCtxRetain(context: Out<hipCtx_t>, device: hipDevice_t) {
        let runtime = runtime()?;
        let device = runtime.device_of(device)?.id();
        context.set(hipCtx_t(word(primary(runtime, device).handle)))
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

impl Context {
    fn create(runtime: &Runtime, device: usize, primary: bool) -> Arc<Self> {
        let context = Arc::new(Self { handle: runtime.handles.next(), device, primary });
        runtime.contexts.insert(context.handle, Arc::clone(&context));
        context
    }
}

fn primary(runtime: &Runtime, device: usize) -> Arc<Context> {
    static MAKING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = lock(&MAKING);
    let existing = runtime.contexts.all();
    let existing = existing.into_iter().find(|found| found.primary && found.device == device);
    existing.unwrap_or_else(|| Context::create(runtime, device, true))
}

fn find(runtime: &Runtime, context: hipCtx_t) -> Answer<Arc<Context>> {
    runtime.contexts.get(context.0).ok_or(hipErrorInvalidContext)
}

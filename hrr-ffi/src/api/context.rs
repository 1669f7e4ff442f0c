//! Contexts, which HIP keeps for programs written for the driver interface.

use core::ffi::{c_int, c_uint};

use hrr_macros::api;

use crate::types::{hipCtx_t, hipDevice_t, hipError_t, hipFuncCache_t, hipSharedMemConfig};

#[api(group = "context")]
unsafe extern "C" {
    /// Writes a new context and makes it current. (HIP 7.1)
    pub fn hipCtxCreate(
        #[out_handle] ctx: *mut hipCtx_t,
        flags: c_uint,
        #[device] device: hipDevice_t,
    ) -> hipError_t;

    /// Ends a context. (HIP 7.1)
    pub fn hipCtxDestroy(#[destroys] ctx: hipCtx_t) -> hipError_t;

    /// Writes the current context, possibly null, and leaves it. (HIP 7.1)
    pub fn hipCtxPopCurrent(#[out_handle] ctx: *mut hipCtx_t) -> hipError_t;

    /// Makes a context current. (HIP 7.1)
    pub fn hipCtxPushCurrent(ctx: hipCtx_t) -> hipError_t;

    /// Makes a context current in place of the current one. (HIP 7.1)
    pub fn hipCtxSetCurrent(ctx: hipCtx_t) -> hipError_t;

    /// Writes the current context, possibly null. (HIP 7.1)
    pub fn hipCtxGetCurrent(#[out_handle] ctx: *mut hipCtx_t) -> hipError_t;

    /// Writes the device of the current context. (HIP 7.1)
    pub fn hipCtxGetDevice(#[out] device: *mut hipDevice_t) -> hipError_t;

    /// Writes the version a context was made for. (HIP 7.1)
    pub fn hipCtxGetApiVersion(
        ctx: hipCtx_t,
        #[out(machine)] apiVersion: *mut c_uint,
    ) -> hipError_t;

    /// Writes the division of cache and shared memory. (HIP 7.1)
    pub fn hipCtxGetCacheConfig(#[out(machine)] cacheConfig: *mut hipFuncCache_t) -> hipError_t;

    /// Sets the division of cache and shared memory. (HIP 7.1)
    pub fn hipCtxSetCacheConfig(cacheConfig: hipFuncCache_t) -> hipError_t;

    /// Sets the width of the banks of shared memory. (HIP 7.1)
    pub fn hipCtxSetSharedMemConfig(config: hipSharedMemConfig) -> hipError_t;

    /// Writes the width of the banks of shared memory. (HIP 7.1)
    pub fn hipCtxGetSharedMemConfig(#[out(machine)] pConfig: *mut hipSharedMemConfig)
    -> hipError_t;

    /// Waits until all work of the current context is done. (HIP 7.1)
    #[effect(completes_device)]
    pub fn hipCtxSynchronize() -> hipError_t;

    /// Writes the flags of the current context. (HIP 7.1)
    pub fn hipCtxGetFlags(#[out] flags: *mut c_uint) -> hipError_t;

    /// Lets the current context reach the memory of another. (HIP 7.1)
    pub fn hipCtxEnablePeerAccess(peerCtx: hipCtx_t, flags: c_uint) -> hipError_t;

    /// Ends what `hipCtxEnablePeerAccess` began. (HIP 7.1)
    pub fn hipCtxDisablePeerAccess(peerCtx: hipCtx_t) -> hipError_t;

    /// Writes the flags of the primary context and whether it is active. (HIP 7.1)
    pub fn hipDevicePrimaryCtxGetState(
        #[device] dev: hipDevice_t,
        #[out] flags: *mut c_uint,
        #[out] active: *mut c_int,
    ) -> hipError_t;

    /// Gives a reference to the primary context back. (HIP 7.1)
    pub fn hipDevicePrimaryCtxRelease(#[device] dev: hipDevice_t) -> hipError_t;

    /// Writes the primary context of a device. (HIP 7.1)
    pub fn hipDevicePrimaryCtxRetain(
        #[out_handle] pctx: *mut hipCtx_t,
        #[device] dev: hipDevice_t,
    ) -> hipError_t;

    /// Resets the primary context of a device. (HIP 7.1)
    pub fn hipDevicePrimaryCtxReset(#[device] dev: hipDevice_t) -> hipError_t;

    /// Sets the flags of the primary context of a device. (HIP 7.1)
    pub fn hipDevicePrimaryCtxSetFlags(#[device] dev: hipDevice_t, flags: c_uint) -> hipError_t;
}

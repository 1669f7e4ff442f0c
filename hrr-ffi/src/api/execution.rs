//! Parts of devices as execution contexts, new with HIP 7.14.

use core::ffi::{c_int, c_uint, c_ulonglong};

use hrr_macros::api;

use crate::types::{
    hipDevResource, hipDevResourceDesc_t, hipDevResourceType, hipDevSmResourceGroupParams,
    hipDevice_t, hipError_t, hipEvent_t, hipExecutionCtx_t, hipStream_t,
};

#[api(group = "execution")]
unsafe extern "C" {
    /// Writes the context that is all of a device. (HIP 7.14)
    pub fn hipDeviceGetExecutionCtx(
        #[out_handle] ctx: *mut hipExecutionCtx_t,
        #[device] device: c_int,
    ) -> hipError_t;

    /// Writes a resource of a device. (HIP 7.14)
    pub fn hipDeviceGetDevResource(
        #[device] device: hipDevice_t,
        #[out(machine)] resource: *mut hipDevResource,
        r#type: hipDevResourceType,
    ) -> hipError_t;

    /// Writes the description of a set of resources. (HIP 7.14)
    pub fn hipDevResourceGenerateDesc(
        #[out_handle] phDesc: *mut hipDevResourceDesc_t,
        #[deref(count = nbResources)] resources: *mut hipDevResource,
        nbResources: c_uint,
    ) -> hipError_t;

    /// Writes the groups that compute units are split into, and what is left; the groups'
    /// parameters tell how many units each got. (HIP 7.14)
    pub fn hipDevSmResourceSplit(
        #[out(count = nbGroups, machine)] result: *mut hipDevResource,
        nbGroups: c_uint,
        #[deref] input: *const hipDevResource,
        #[out(machine)] remainder: *mut hipDevResource,
        flags: c_uint,
        #[inout(count = nbGroups)] groupParams: *mut hipDevSmResourceGroupParams,
    ) -> hipError_t;

    /// Writes groups of equal size, their number, and what is left. (HIP 7.14)
    pub fn hipDevSmResourceSplitByCount(
        #[out(count = after(nbGroups), machine)] result: *mut hipDevResource,
        #[inout] nbGroups: *mut c_uint,
        #[deref] input: *const hipDevResource,
        #[out(machine)] remainder: *mut hipDevResource,
        flags: c_uint,
        minCount: c_uint,
    ) -> hipError_t;

    /// Writes a context of a part of a device. (HIP 7.14)
    pub fn hipGreenCtxCreate(
        #[out_handle] ctx: *mut hipExecutionCtx_t,
        desc: hipDevResourceDesc_t,
        #[device] device: c_int,
        flags: c_uint,
    ) -> hipError_t;

    /// Ends a context. (HIP 7.14)
    pub fn hipExecutionCtxDestroy(#[destroys] ctx: hipExecutionCtx_t) -> hipError_t;

    /// Writes a resource of a context. (HIP 7.14)
    pub fn hipExecutionCtxGetDevResource(
        ctx: hipExecutionCtx_t,
        #[out(machine)] resource: *mut hipDevResource,
        r#type: hipDevResourceType,
    ) -> hipError_t;

    /// Writes the device of a context. (HIP 7.14)
    pub fn hipExecutionCtxGetDevice(
        #[out] device: *mut c_int,
        ctx: hipExecutionCtx_t,
    ) -> hipError_t;

    /// Writes the number of a context. (HIP 7.14)
    pub fn hipExecutionCtxGetId(
        ctx: hipExecutionCtx_t,
        #[out(machine)] ctxId: *mut c_ulonglong,
    ) -> hipError_t;

    /// Makes the event stand for the context's work so far. (HIP 7.14)
    pub fn hipExecutionCtxRecordEvent(ctx: hipExecutionCtx_t, event: hipEvent_t) -> hipError_t;

    /// Writes a new stream of a context. (HIP 7.14)
    pub fn hipExecutionCtxStreamCreate(
        #[out_handle] stream: *mut hipStream_t,
        greenctx: hipExecutionCtx_t,
        flags: c_uint,
        priority: c_int,
    ) -> hipError_t;

    /// Waits until all work of a context is done. (HIP 7.14)
    pub fn hipExecutionCtxSynchronize(ctx: hipExecutionCtx_t) -> hipError_t;

    /// Lets later work of the context wait for an event. (HIP 7.14)
    pub fn hipExecutionCtxWaitEvent(ctx: hipExecutionCtx_t, event: hipEvent_t) -> hipError_t;

    /// Writes a resource of a stream. (HIP 7.14)
    pub fn hipStreamGetDevResource(
        hStream: hipStream_t,
        #[out(machine)] resource: *mut hipDevResource,
        r#type: hipDevResourceType,
    ) -> hipError_t;
}

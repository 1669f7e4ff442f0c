//! Access between devices.

use core::ffi::{c_int, c_uint, c_void};

use hrr_macros::api;

use crate::types::{hipError_t, hipMemcpy3DPeerParms, hipStream_t};

#[api(group = "peer")]
unsafe extern "C" {
    /// Writes whether one device can reach the memory of another. (HIP 7.1)
    pub fn hipDeviceCanAccessPeer(
        #[out(machine)] canAccessPeer: *mut c_int,
        #[device] deviceId: c_int,
        #[device] peerDeviceId: c_int,
    ) -> hipError_t;

    /// Lets the current device reach the memory of another. (HIP 7.1)
    pub fn hipDeviceEnablePeerAccess(#[device] peerDeviceId: c_int, flags: c_uint) -> hipError_t;

    /// Ends what `hipDeviceEnablePeerAccess` began. (HIP 7.1)
    pub fn hipDeviceDisablePeerAccess(#[device] peerDeviceId: c_int) -> hipError_t;

    /// Copies from the memory of one device to that of another. (HIP 7.1)
    pub fn hipMemcpyPeer(
        #[device_ptr] dst: *mut c_void,
        #[device] dstDeviceId: c_int,
        #[device_ptr] src: *const c_void,
        #[device] srcDeviceId: c_int,
        sizeBytes: usize,
    ) -> hipError_t;

    /// Copies from the memory of one device to that of another, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemcpyPeerAsync(
        #[device_ptr] dst: *mut c_void,
        #[device] dstDeviceId: c_int,
        #[device_ptr] src: *const c_void,
        #[device] srcDevice: c_int,
        sizeBytes: usize,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Copies a box from the memory of one device to that of another. (HIP 7.1)
    pub fn hipMemcpy3DPeer(#[deref] p: *mut hipMemcpy3DPeerParms) -> hipError_t;

    /// Copies a box from the memory of one device to that of another, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemcpy3DPeerAsync(
        #[deref] p: *mut hipMemcpy3DPeerParms,
        stream: hipStream_t,
    ) -> hipError_t;
}

//! Devices: choice, properties, attributes, limits.
//!
//! What a device answers about itself is a fact of the machine: it is shown, never judged.

use core::ffi::{c_char, c_int, c_uint};

use hrr_macros::api;

use crate::types::{
    hipChannelFormatDesc, hipDevice_t, hipDeviceAttribute_t, hipDeviceP2PAttr,
    hipDeviceProp_tR0000, hipDeviceProp_tR0600, hipError_t, hipFuncCache_t, hipLimit_t,
    hipSharedMemConfig, hipUUID,
};

#[api(group = "device")]
unsafe extern "C" {
    /// Initialises the runtime; the flags must be 0. (HIP 7.1)
    pub fn hipInit(flags: c_uint) -> hipError_t;

    /// Writes the version of the driver. (HIP 7.1)
    pub fn hipDriverGetVersion(#[out(machine)] driverVersion: *mut c_int) -> hipError_t;

    /// Writes the version of the runtime. (HIP 7.1)
    pub fn hipRuntimeGetVersion(#[out(machine)] runtimeVersion: *mut c_int) -> hipError_t;

    /// Writes the handle of the device, which is its ordinal. (HIP 7.1)
    pub fn hipDeviceGet(#[out] device: *mut hipDevice_t, #[device] ordinal: c_int) -> hipError_t;

    /// Writes the two numbers of the capability. (HIP 7.1)
    pub fn hipDeviceComputeCapability(
        #[out(machine)] major: *mut c_int,
        #[out(machine)] minor: *mut c_int,
        #[device] device: hipDevice_t,
    ) -> hipError_t;

    /// Writes the name, cut to `len` bytes with its NUL. (HIP 7.1)
    pub fn hipDeviceGetName(
        #[out_str(bytes = len, machine)] name: *mut c_char,
        len: c_int,
        #[device] device: hipDevice_t,
    ) -> hipError_t;

    /// Writes the 16 bytes of the identifier. (HIP 7.1)
    pub fn hipDeviceGetUuid(
        #[out(machine)] uuid: *mut hipUUID,
        #[device] device: hipDevice_t,
    ) -> hipError_t;

    /// Writes the 8 bytes of the locally unique identifier and the node mask. Only the Windows
    /// runtime writes. (CUDA: cuDeviceGetLuid)
    pub fn hipDeviceGetLuid(
        #[out_buffer(bytes = 8, machine)] luid: *mut [c_char; 8],
        #[out(machine)] deviceNodeMask: *mut c_uint,
        #[device] device: hipDevice_t,
    ) -> hipError_t;

    /// Writes one property of the link from one device to the other. (HIP 7.1)
    pub fn hipDeviceGetP2PAttribute(
        #[out(machine)] value: *mut c_int,
        attr: hipDeviceP2PAttr,
        srcDevice: c_int,
        dstDevice: c_int,
    ) -> hipError_t;

    /// Writes the PCI address as text, cut to `len` bytes with its NUL. (HIP 7.1)
    pub fn hipDeviceGetPCIBusId(
        #[out_str(bytes = len, machine)] pciBusId: *mut c_char,
        len: c_int,
        #[device] device: c_int,
    ) -> hipError_t;

    /// Writes the ordinal of the device at a PCI address. (HIP 7.1)
    pub fn hipDeviceGetByPCIBusId(
        #[out(machine)] device: *mut c_int,
        #[string] pciBusId: *const c_char,
    ) -> hipError_t;

    /// Writes the bytes of memory of the device. (HIP 7.1)
    pub fn hipDeviceTotalMem(
        #[out(machine)] bytes: *mut usize,
        #[device] device: hipDevice_t,
    ) -> hipError_t;

    /// Waits until all work of the current device is done. (HIP 7.1)
    #[effect(completes_device)]
    pub fn hipDeviceSynchronize() -> hipError_t;

    /// Ends every allocation, stream and event of the current device. (HIP 7.1)
    #[effect(completes_device, resets_device)]
    pub fn hipDeviceReset() -> hipError_t;

    /// Makes a device current for the calling thread. (HIP 7.1)
    pub fn hipSetDevice(#[device] deviceId: c_int) -> hipError_t;

    /// Gives the order in which devices are tried. (HIP 7.1)
    pub fn hipSetValidDevices(
        #[deref(count = len)] device_arr: *mut c_int,
        len: c_int,
    ) -> hipError_t;

    /// Writes the ordinal of the calling thread's current device. (HIP 7.1)
    pub fn hipGetDevice(#[out] deviceId: *mut c_int) -> hipError_t;

    /// Writes the number of devices; the call fails where there are none. (HIP 7.1)
    pub fn hipGetDeviceCount(#[out(machine)] count: *mut c_int) -> hipError_t;

    /// Writes one number that describes the device. (HIP 7.1)
    pub fn hipDeviceGetAttribute(
        #[out(machine)] pi: *mut c_int,
        attr: hipDeviceAttribute_t,
        #[device] deviceId: c_int,
    ) -> hipError_t;

    /// Writes the 1472-byte properties that programs since HIP 6.0 know. (HIP 7.1)
    pub fn hipGetDevicePropertiesR0600(
        #[out(machine)] prop: *mut hipDeviceProp_tR0600,
        #[device] deviceId: c_int,
    ) -> hipError_t;

    /// Writes the 792-byte properties that programs before HIP 6.0 know; the symbol without a
    /// suffix, which newer headers rename away. (HIP 7.14)
    pub fn hipGetDeviceProperties(
        #[out(machine)] prop: *mut hipDeviceProp_tR0000,
        #[device] device: c_int,
    ) -> hipError_t;

    /// Writes the 792-byte properties that programs before HIP 6.0 know. (HIP 7.1)
    pub fn hipGetDevicePropertiesR0000(
        #[out(machine)] prop: *mut hipDeviceProp_tR0000,
        #[device] device: c_int,
    ) -> hipError_t;

    /// Writes the ordinal of the device that fits the wished properties best. (HIP 7.14)
    pub fn hipChooseDeviceR0600(
        #[out(machine)] device: *mut c_int,
        #[deref] prop: *const hipDeviceProp_tR0600,
    ) -> hipError_t;

    /// As `hipChooseDeviceR0600`, for programs before HIP 6.0: the symbol without a suffix takes
    /// the 792-byte properties. (HIP 7.1)
    pub fn hipChooseDevice(
        #[out(machine)] device: *mut c_int,
        #[deref] properties: *const hipDeviceProp_tR0000,
    ) -> hipError_t;

    /// As `hipChooseDeviceR0600`, for the 792-byte properties. (HIP 7.1)
    pub fn hipChooseDeviceR0000(
        #[out(machine)] device: *mut c_int,
        #[deref] properties: *const hipDeviceProp_tR0000,
    ) -> hipError_t;

    /// Sets how the device divides cache and shared memory. (HIP 7.1)
    pub fn hipDeviceSetCacheConfig(cacheConfig: hipFuncCache_t) -> hipError_t;

    /// Writes how the device divides cache and shared memory. (HIP 7.1)
    pub fn hipDeviceGetCacheConfig(#[out(machine)] cacheConfig: *mut hipFuncCache_t) -> hipError_t;

    /// Writes a limit of the device. (HIP 7.1)
    pub fn hipDeviceGetLimit(#[out(machine)] pValue: *mut usize, limit: hipLimit_t) -> hipError_t;

    /// Sets a limit of the device. (HIP 7.1)
    pub fn hipDeviceSetLimit(limit: hipLimit_t, value: usize) -> hipError_t;

    /// Writes the width of the banks of shared memory. (HIP 7.1)
    pub fn hipDeviceGetSharedMemConfig(
        #[out(machine)] pConfig: *mut hipSharedMemConfig,
    ) -> hipError_t;

    /// Sets the width of the banks of shared memory. (HIP 7.1)
    pub fn hipDeviceSetSharedMemConfig(config: hipSharedMemConfig) -> hipError_t;

    /// Writes the flags of the current device. (HIP 7.1)
    pub fn hipGetDeviceFlags(#[out] flags: *mut c_uint) -> hipError_t;

    /// Sets how threads wait for the current device. (HIP 7.1)
    pub fn hipSetDeviceFlags(flags: c_uint) -> hipError_t;

    /// Writes how two devices are linked. (HIP 7.1)
    pub fn hipExtGetLinkTypeAndHopCount(
        #[device] device1: c_int,
        #[device] device2: c_int,
        #[out(machine)] linktype: *mut u32,
        #[out(machine)] hopcount: *mut u32,
    ) -> hipError_t;

    /// Writes the lowest and the highest priority of streams; both pointers may be null. (HIP 7.1)
    pub fn hipDeviceGetStreamPriorityRange(
        #[out(machine)] leastPriority: *mut c_int,
        #[out(machine)] greatestPriority: *mut c_int,
    ) -> hipError_t;

    /// Writes the largest width, in texels, of a texture over linear memory. (HIP 7.1)
    pub fn hipDeviceGetTexture1DLinearMaxWidth(
        #[out(machine)] max_width: *mut usize,
        #[deref] desc: *const hipChannelFormatDesc,
        #[device] device: c_int,
    ) -> hipError_t;

    /// Initialises a device ahead of its first use. (CUDA: cudaInitDevice)
    pub fn hipInitDevice(#[device] device: c_int, deviceFlags: c_uint, flags: c_uint)
    -> hipError_t;

    /// Resumes profiling; deprecated. (HIP 7.1)
    pub fn hipProfilerStart() -> hipError_t;

    /// Pauses profiling; deprecated. (HIP 7.1)
    pub fn hipProfilerStop() -> hipError_t;

    /// Answers the name of a function by its number in the profiler's list. (HIP 7.1)
    pub fn hipApiName(id: u32) -> *const c_char;

    /// Turns the runtime's log on. (HIP 7.1)
    pub fn hipExtEnableLogging() -> hipError_t;

    /// Turns the runtime's log off. (HIP 7.1)
    pub fn hipExtDisableLogging() -> hipError_t;

    /// Sets what the runtime logs. (HIP 7.1)
    pub fn hipExtSetLoggingParams(log_level: usize, log_size: usize, log_mask: usize)
    -> hipError_t;
}

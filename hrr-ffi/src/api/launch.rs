//! Launches. Each visible argument of a kernel is recorded as the metadata of its code object
//! describes it.

use core::ffi::{c_int, c_uint, c_void};

use hrr_macros::api;

use crate::types::{
    HIP_LAUNCH_CONFIG, dim3, hipError_t, hipEvent_t, hipFunction_t, hipFunctionLaunchParams,
    hipLaunchConfig_t, hipLaunchParams, hipStream_t,
};

#[api(group = "launch")]
unsafe extern "C" {
    /// Starts a kernel. (HIP 7.1)
    #[effect(enqueues = stream, launches)]
    pub fn hipLaunchKernel(
        #[host_symbol] function_address: *const c_void,
        numBlocks: dim3,
        dimBlocks: dim3,
        #[kernel_args(of = function_address)] args: *mut *mut c_void,
        sharedMemBytes: usize,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Starts a kernel. (HIP 7.1)
    #[effect(enqueues = stream, launches)]
    pub fn hipLaunchKernel_spt(
        #[host_symbol] function_address: *const c_void,
        numBlocks: dim3,
        dimBlocks: dim3,
        #[kernel_args(of = function_address)] args: *mut *mut c_void,
        sharedMemBytes: usize,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Starts a kernel between two events, either of which may be null. (HIP 7.1)
    #[effect(enqueues = stream, launches, records_event = (startEvent, stream))]
    #[effect(records_event = (stopEvent, stream))]
    pub fn hipExtLaunchKernel(
        #[host_symbol] function_address: *const c_void,
        numBlocks: dim3,
        dimBlocks: dim3,
        #[kernel_args(of = function_address)] args: *mut *mut c_void,
        sharedMemBytes: usize,
        stream: hipStream_t,
        startEvent: hipEvent_t,
        stopEvent: hipEvent_t,
        flags: c_int,
    ) -> hipError_t;

    /// Starts a kernel whose blocks may wait for each other. (HIP 7.1)
    #[effect(enqueues = stream, launches)]
    pub fn hipLaunchCooperativeKernel(
        #[host_symbol] f: *const c_void,
        gridDim: dim3,
        blockDimX: dim3,
        #[kernel_args(of = f)] kernelParams: *mut *mut c_void,
        sharedMemBytes: c_uint,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Starts a kernel whose blocks may wait for each other. (HIP 7.1)
    #[effect(enqueues = hStream, launches)]
    pub fn hipLaunchCooperativeKernel_spt(
        #[host_symbol] f: *const c_void,
        gridDim: dim3,
        blockDim: dim3,
        #[kernel_args(of = f)] kernelParams: *mut *mut c_void,
        sharedMemBytes: u32,
        hStream: hipStream_t,
    ) -> hipError_t;

    /// Starts a kernel on several devices at once. (HIP 7.1)
    #[unreplayable(
        reason = "one launch on several devices names its kernels by address for each of them"
    )]
    pub fn hipLaunchCooperativeKernelMultiDevice(
        #[deref(count = numDevices)] launchParamsList: *mut hipLaunchParams,
        numDevices: c_int,
        flags: c_uint,
    ) -> hipError_t;

    /// Starts a kernel on each of several devices. (HIP 7.1)
    #[unreplayable(
        reason = "one launch on several devices names its kernels by address for each of them"
    )]
    pub fn hipExtLaunchMultiKernelMultiDevice(
        #[deref(count = numDevices)] launchParamsList: *mut hipLaunchParams,
        numDevices: c_int,
        flags: c_uint,
    ) -> hipError_t;

    /// Starts a kernel with launch attributes, on the stream in `config`. (HIP 7.1)
    #[effect(launches)]
    pub fn hipLaunchKernelExC(
        #[deref] config: *const hipLaunchConfig_t,
        #[host_symbol] fPtr: *const c_void,
        #[kernel_args(of = fPtr)] args: *mut *mut c_void,
    ) -> hipError_t;

    /// Starts a kernel of a module with launch attributes, on the stream in `config`. (HIP 7.1)
    #[effect(launches)]
    pub fn hipDrvLaunchKernelEx(
        #[deref] config: *const HIP_LAUNCH_CONFIG,
        f: hipFunction_t,
        #[kernel_args(of = f)] params: *mut *mut c_void,
        #[kernel_args(of = f, form = extra)] extra: *mut *mut c_void,
    ) -> hipError_t;

    /// Starts a kernel of a module. (HIP 7.1)
    #[effect(enqueues = stream, launches)]
    pub fn hipModuleLaunchKernel(
        f: hipFunction_t,
        gridDimX: c_uint,
        gridDimY: c_uint,
        gridDimZ: c_uint,
        blockDimX: c_uint,
        blockDimY: c_uint,
        blockDimZ: c_uint,
        sharedMemBytes: c_uint,
        stream: hipStream_t,
        #[kernel_args(of = f)] kernelParams: *mut *mut c_void,
        #[kernel_args(of = f, form = extra)] extra: *mut *mut c_void,
    ) -> hipError_t;

    /// Starts a kernel of a module, its grid counted in threads, between two events. Runtimes of
    /// HIP 5 export only the C++ name. (HIP 7.1)
    #[alias(
        "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j"
    )]
    #[effect(enqueues = hStream, launches, records_event = (startEvent, hStream))]
    #[effect(records_event = (stopEvent, hStream))]
    pub fn hipExtModuleLaunchKernel(
        f: hipFunction_t,
        globalWorkSizeX: u32,
        globalWorkSizeY: u32,
        globalWorkSizeZ: u32,
        localWorkSizeX: u32,
        localWorkSizeY: u32,
        localWorkSizeZ: u32,
        sharedMemBytes: usize,
        hStream: hipStream_t,
        #[kernel_args(of = f)] kernelParams: *mut *mut c_void,
        #[kernel_args(of = f, form = extra)] extra: *mut *mut c_void,
        startEvent: hipEvent_t,
        stopEvent: hipEvent_t,
        flags: u32,
    ) -> hipError_t;

    /// As `hipExtModuleLaunchKernel`, without flags. Runtimes of HIP 5 export only the C++ name.
    /// (HIP 7.1)
    #[alias(
        "_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_"
    )]
    #[effect(enqueues = hStream, launches, records_event = (startEvent, hStream))]
    #[effect(records_event = (stopEvent, hStream))]
    pub fn hipHccModuleLaunchKernel(
        f: hipFunction_t,
        globalWorkSizeX: u32,
        globalWorkSizeY: u32,
        globalWorkSizeZ: u32,
        localWorkSizeX: u32,
        localWorkSizeY: u32,
        localWorkSizeZ: u32,
        sharedMemBytes: usize,
        hStream: hipStream_t,
        #[kernel_args(of = f)] kernelParams: *mut *mut c_void,
        #[kernel_args(of = f, form = extra)] extra: *mut *mut c_void,
        startEvent: hipEvent_t,
        stopEvent: hipEvent_t,
    ) -> hipError_t;

    /// Starts a kernel of a module whose blocks may wait for each other. (HIP 7.1)
    #[effect(enqueues = stream, launches)]
    pub fn hipModuleLaunchCooperativeKernel(
        f: hipFunction_t,
        gridDimX: c_uint,
        gridDimY: c_uint,
        gridDimZ: c_uint,
        blockDimX: c_uint,
        blockDimY: c_uint,
        blockDimZ: c_uint,
        sharedMemBytes: c_uint,
        stream: hipStream_t,
        #[kernel_args(of = f)] kernelParams: *mut *mut c_void,
    ) -> hipError_t;

    /// Starts a kernel of a module on several devices at once. (HIP 7.1)
    #[effect(launches)]
    pub fn hipModuleLaunchCooperativeKernelMultiDevice(
        #[deref(count = numDevices)] launchParamsList: *mut hipFunctionLaunchParams,
        numDevices: c_uint,
        flags: c_uint,
    ) -> hipError_t;

    /// Pushes the sizes of the next launch by `hipLaunchByPtr`. (HIP 7.1)
    pub fn hipConfigureCall(
        gridDim: dim3,
        blockDim: dim3,
        sharedMem: usize,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Puts bytes into the arguments of the next launch by `hipLaunchByPtr`. (HIP 7.1)
    pub fn hipSetupArgument(
        #[host_in(bytes = size)] arg: *const c_void,
        size: usize,
        offset: usize,
    ) -> hipError_t;

    /// Starts a kernel with what was pushed. (HIP 7.1)
    #[effect(launches)]
    pub fn hipLaunchByPtr(#[host_symbol] func: *const c_void) -> hipError_t;

    /// Pushes the sizes of the launch that the compiler's stub makes next. (HIP 7.1)
    pub fn __hipPushCallConfiguration(
        gridDim: dim3,
        blockDim: dim3,
        sharedMem: usize,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Writes what was pushed last, and takes it off. (HIP 7.1)
    pub fn __hipPopCallConfiguration(
        #[out] gridDim: *mut dim3,
        #[out] blockDim: *mut dim3,
        #[out] sharedMem: *mut usize,
        #[out_handle] stream: *mut hipStream_t,
    ) -> hipError_t;
}

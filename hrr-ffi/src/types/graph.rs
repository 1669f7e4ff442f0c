//! Graphs: parameters of nodes, edges, instantiation.

use core::ffi::{c_int, c_longlong, c_uchar, c_uint, c_ulonglong, c_void};

use hrr_macros::Payload;

use super::{
    dim3, hipEvent_t, hipExternalSemaphore_t, hipExternalSemaphoreSignalParams,
    hipExternalSemaphoreWaitParams, hipGraph_t, hipGraphNode_t, hipHostFn_t, hipMemAccessDesc,
    hipMemPoolProps, hipMemcpy3DParms, hipStream_t,
};

hrr_core::c_enum! {
    /// The kind of a graph node.
    pub enum hipGraphNodeType: u32 {
        hipGraphNodeTypeKernel = 0,
        hipGraphNodeTypeMemcpy = 1,
        hipGraphNodeTypeMemset = 2,
        hipGraphNodeTypeHost = 3,
        hipGraphNodeTypeGraph = 4,
        hipGraphNodeTypeEmpty = 5,
        hipGraphNodeTypeWaitEvent = 6,
        hipGraphNodeTypeEventRecord = 7,
        hipGraphNodeTypeExtSemaphoreSignal = 8,
        hipGraphNodeTypeExtSemaphoreWait = 9,
        hipGraphNodeTypeMemAlloc = 10,
        hipGraphNodeTypeMemFree = 11,
        hipGraphNodeTypeMemcpyFromSymbol = 12,
        hipGraphNodeTypeMemcpyToSymbol = 13,
        hipGraphNodeTypeBatchMemOp = 14,
        hipGraphNodeTypeCount = 15,
    }

    /// What an update of an executable graph came to.
    pub enum hipGraphExecUpdateResult: u32 {
        hipGraphExecUpdateSuccess = 0,
        hipGraphExecUpdateError = 1,
        hipGraphExecUpdateErrorTopologyChanged = 2,
        hipGraphExecUpdateErrorNodeTypeChanged = 3,
        hipGraphExecUpdateErrorFunctionChanged = 4,
        hipGraphExecUpdateErrorParametersChanged = 5,
        hipGraphExecUpdateErrorNotSupported = 6,
        hipGraphExecUpdateErrorUnsupportedFunctionChange = 7,
    }

    /// A number about the memory that graphs hold.
    pub enum hipGraphMemAttributeType: u32 {
        hipGraphMemAttrUsedMemCurrent = 0,
        hipGraphMemAttrUsedMemHigh = 1,
        hipGraphMemAttrReservedMemCurrent = 2,
        hipGraphMemAttrReservedMemHigh = 3,
    }

    /// How a user object is destroyed.
    pub enum hipUserObjectFlags: u32 {
        hipUserObjectNoDestructorSync = 1,
    }

    /// How a graph takes a user object.
    pub enum hipUserObjectRetainFlags: u32 {
        hipGraphUserObjectMove = 1,
    }

    /// How a graph is instantiated.
    pub enum hipGraphInstantiateFlags: u32 {
        hipGraphInstantiateFlagAutoFreeOnLaunch = 1,
        hipGraphInstantiateFlagUpload = 2,
        hipGraphInstantiateFlagDeviceLaunch = 4,
        hipGraphInstantiateFlagUseNodePriority = 8,
    }

    /// What the dot file of a graph shows.
    pub enum hipGraphDebugDotFlags: u32 {
        hipGraphDebugDotFlagsVerbose = 1,
        hipGraphDebugDotFlagsKernelNodeParams = 4,
        hipGraphDebugDotFlagsMemcpyNodeParams = 8,
        hipGraphDebugDotFlagsMemsetNodeParams = 16,
        hipGraphDebugDotFlagsHostNodeParams = 32,
        hipGraphDebugDotFlagsEventNodeParams = 64,
        hipGraphDebugDotFlagsExtSemasSignalNodeParams = 128,
        hipGraphDebugDotFlagsExtSemasWaitNodeParams = 256,
        hipGraphDebugDotFlagsKernelNodeAttributes = 512,
        hipGraphDebugDotFlagsHandles = 1024,
    }

    /// What an instantiation came to.
    pub enum hipGraphInstantiateResult: u32 {
        hipGraphInstantiateSuccess = 0,
        hipGraphInstantiateError = 1,
        hipGraphInstantiateInvalidStructure = 2,
        hipGraphInstantiateNodeOperationNotSupported = 3,
        hipGraphInstantiateMultipleDevicesNotSupported = 4,
    }

    /// The kind of an edge.
    pub enum hipGraphDependencyType: u32 {
        hipGraphDependencyTypeDefault = 0,
        hipGraphDependencyTypeProgrammatic = 1,
    }
}

/// A kernel of the program as a node.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipKernelNodeParams {
    pub blockDim: dim3,
    #[kernel_args(of = func, form = extra)]
    pub extra: *mut *mut c_void,
    #[host_symbol]
    pub func: *mut c_void,
    pub gridDim: dim3,
    #[kernel_args(of = func)]
    pub kernelParams: *mut *mut c_void,
    pub sharedMemBytes: c_uint,
}

/// A fill of device memory as a node.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipMemsetParams {
    #[device_ptr]
    pub dst: *mut c_void,
    pub elementSize: c_uint,
    pub height: usize,
    pub pitch: usize,
    pub value: c_uint,
    pub width: usize,
}

/// A function of the program as a node.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipHostNodeParams {
    #[callback]
    pub r#fn: hipHostFn_t,
    #[user_data]
    pub userData: *mut c_void,
}

/// An allocation as a node.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipMemAllocNodeParams {
    pub poolProps: hipMemPoolProps,
    #[deref(count = accessDescCount)]
    pub accessDescs: *const hipMemAccessDesc,
    pub accessDescCount: usize,
    pub bytesize: usize,
    /// Written by the call: the address that the allocation has whenever the graph runs.
    #[device_ptr]
    pub dptr: *mut c_void,
}

/// How a graph is instantiated, and what came of it.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipGraphInstantiateParams {
    pub errNode_out: hipGraphNode_t,
    pub flags: c_ulonglong,
    pub result_out: hipGraphInstantiateResult,
    pub uploadStream: hipStream_t,
}

/// What an edge of a graph means.
#[repr(C)]
#[derive(Clone, Copy, Default, Payload)]
pub struct hipGraphEdgeData {
    pub from_port: c_uchar,
    pub reserved: [c_uchar; 5],
    pub to_port: c_uchar,
    pub r#type: c_uchar,
}

/// A copy as a node of any kind.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipMemcpyNodeParams {
    pub flags: c_int,
    pub reserved: [c_int; 3],
    pub copyParams: hipMemcpy3DParms,
}

/// A child graph as a node of any kind.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipChildGraphNodeParams {
    pub graph: hipGraph_t,
}

/// A wait for an event as a node of any kind.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipEventWaitNodeParams {
    pub event: hipEvent_t,
}

/// The recording of an event as a node of any kind.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipEventRecordNodeParams {
    pub event: hipEvent_t,
}

/// The end of an allocation as a node of any kind.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipMemFreeNodeParams {
    #[device_ptr]
    pub dptr: *mut c_void,
}

/// Signals of semaphores as a node.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipExternalSemaphoreSignalNodeParams {
    #[deref(count = numExtSems)]
    pub extSemArray: *mut hipExternalSemaphore_t,
    #[deref(count = numExtSems)]
    pub paramsArray: *const hipExternalSemaphoreSignalParams,
    pub numExtSems: c_uint,
}

/// Waits for semaphores as a node.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipExternalSemaphoreWaitNodeParams {
    #[deref(count = numExtSems)]
    pub extSemArray: *mut hipExternalSemaphore_t,
    #[deref(count = numExtSems)]
    pub paramsArray: *const hipExternalSemaphoreWaitParams,
    pub numExtSems: c_uint,
}

/// A node of any kind.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipGraphNodeParams {
    pub r#type: hipGraphNodeType,
    pub reserved0: [c_int; 3],
    #[tagged(by = r#type, table = crate::families::tags::GRAPH_NODES)]
    pub params: hipGraphNodeParamsBody,
    pub reserved2: c_longlong,
}

/// The parameters inside a [`hipGraphNodeParams`].
#[repr(C)]
#[derive(Clone, Copy)]
pub union hipGraphNodeParamsBody {
    pub reserved1: [c_longlong; 29],
    pub kernel: hipKernelNodeParams,
    pub memcpy: hipMemcpyNodeParams,
    pub memset: hipMemsetParams,
    pub host: hipHostNodeParams,
    pub graph: hipChildGraphNodeParams,
    pub eventWait: hipEventWaitNodeParams,
    pub eventRecord: hipEventRecordNodeParams,
    pub extSemSignal: hipExternalSemaphoreSignalNodeParams,
    pub extSemWait: hipExternalSemaphoreWaitNodeParams,
    pub alloc: hipMemAllocNodeParams,
    pub free: hipMemFreeNodeParams,
}

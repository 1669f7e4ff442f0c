//! Streams whose work becomes a graph.

use core::ffi::{c_uint, c_ulonglong};

use hrr_macros::api;

use crate::types::{
    hipError_t, hipGraph_t, hipGraphEdgeData, hipGraphNode_t, hipStream_t, hipStreamCaptureMode,
    hipStreamCaptureStatus,
};

#[api(group = "capture")]
unsafe extern "C" {
    /// From here on the stream's work is captured. (HIP 7.1)
    #[effect(begins_capture = stream)]
    pub fn hipStreamBeginCapture(stream: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t;

    /// From here on the stream's work is captured. (HIP 7.1)
    #[effect(begins_capture = stream)]
    pub fn hipStreamBeginCapture_spt(stream: hipStream_t, mode: hipStreamCaptureMode)
    -> hipError_t;

    /// From here on the stream's work is captured into a graph that exists. (HIP 7.1)
    #[effect(begins_capture = stream)]
    pub fn hipStreamBeginCaptureToGraph(
        stream: hipStream_t,
        graph: hipGraph_t,
        #[deref(count = numDependencies)] dependencies: *const hipGraphNode_t,
        #[deref(count = numDependencies)] dependencyData: *const hipGraphEdgeData,
        numDependencies: usize,
        mode: hipStreamCaptureMode,
    ) -> hipError_t;

    /// Writes the graph of what was captured; null where the capture failed. (HIP 7.1)
    #[effect(ends_capture = (stream, pGraph))]
    pub fn hipStreamEndCapture(
        stream: hipStream_t,
        #[out_handle] pGraph: *mut hipGraph_t,
    ) -> hipError_t;

    /// Writes the graph of what was captured; null where the capture failed. (HIP 7.1)
    #[effect(ends_capture = (stream, pGraph))]
    pub fn hipStreamEndCapture_spt(
        stream: hipStream_t,
        #[out_handle] pGraph: *mut hipGraph_t,
    ) -> hipError_t;

    /// Writes whether the stream captures. (HIP 7.1)
    pub fn hipStreamIsCapturing(
        stream: hipStream_t,
        #[out] pCaptureStatus: *mut hipStreamCaptureStatus,
    ) -> hipError_t;

    /// Writes whether the stream captures. (HIP 7.1)
    pub fn hipStreamIsCapturing_spt(
        stream: hipStream_t,
        #[out] pCaptureStatus: *mut hipStreamCaptureStatus,
    ) -> hipError_t;

    /// Writes whether the stream captures and the capture's number; `pId` may be null. (HIP 7.1)
    pub fn hipStreamGetCaptureInfo(
        stream: hipStream_t,
        #[out] pCaptureStatus: *mut hipStreamCaptureStatus,
        #[out(machine)] pId: *mut c_ulonglong,
    ) -> hipError_t;

    /// Writes whether the stream captures and the capture's number; `pId` may be null. (HIP 7.1)
    pub fn hipStreamGetCaptureInfo_spt(
        stream: hipStream_t,
        #[out] pCaptureStatus: *mut hipStreamCaptureStatus,
        #[out(machine)] pId: *mut c_ulonglong,
    ) -> hipError_t;

    /// Writes whether the stream captures, the capture's number, its graph, and where the runtime
    /// keeps the nodes that come next; all but the first may be null. (HIP 7.1)
    pub fn hipStreamGetCaptureInfo_v2(
        stream: hipStream_t,
        #[out] captureStatus_out: *mut hipStreamCaptureStatus,
        #[out(machine)] id_out: *mut c_ulonglong,
        #[out_handle] graph_out: *mut hipGraph_t,
        #[out_buffer(bytes = 8, machine)] dependencies_out: *mut *const hipGraphNode_t,
        #[out] numDependencies_out: *mut usize,
    ) -> hipError_t;

    /// Writes whether the stream captures, the capture's number, its graph, and where the runtime
    /// keeps the nodes that come next; all but the first may be null. (HIP 7.1)
    pub fn hipStreamGetCaptureInfo_v2_spt(
        stream: hipStream_t,
        #[out] captureStatus_out: *mut hipStreamCaptureStatus,
        #[out(machine)] id_out: *mut c_ulonglong,
        #[out_handle] graph_out: *mut hipGraph_t,
        #[out_buffer(bytes = 8, machine)] dependencies_out: *mut *const hipGraphNode_t,
        #[out] numDependencies_out: *mut usize,
    ) -> hipError_t;

    /// Sets or adds to the nodes that the next captured work comes after. (HIP 7.1)
    pub fn hipStreamUpdateCaptureDependencies(
        stream: hipStream_t,
        #[deref(count = numDependencies)] dependencies: *mut hipGraphNode_t,
        numDependencies: usize,
        flags: c_uint,
    ) -> hipError_t;

    /// Swaps the calling thread's capture mode with the one behind the pointer. (HIP 7.1)
    pub fn hipThreadExchangeStreamCaptureMode(
        #[inout] mode: *mut hipStreamCaptureMode,
    ) -> hipError_t;
}

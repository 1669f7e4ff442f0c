//! Graphs: making, wiring, instantiating, launching and asking.

use core::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

use hrr_macros::api;

use crate::types::{
    hipError_t, hipGraph_t, hipGraphExec_t, hipGraphExecUpdateResult, hipGraphInstantiateParams,
    hipGraphMemAttributeType, hipGraphNode_t, hipGraphNodeType, hipHostFn_t, hipStream_t,
    hipUserObject_t,
};

#[api(group = "graph")]
unsafe extern "C" {
    /// Writes a new, empty graph. (HIP 7.1)
    pub fn hipGraphCreate(#[out_handle] pGraph: *mut hipGraph_t, flags: c_uint) -> hipError_t;

    /// Ends a graph and its nodes. (HIP 7.1)
    pub fn hipGraphDestroy(#[destroys] graph: hipGraph_t) -> hipError_t;

    /// Writes a copy of a graph. (HIP 7.1)
    #[effect(clones_graph = (pGraphClone, originalGraph))]
    pub fn hipGraphClone(
        #[out_handle] pGraphClone: *mut hipGraph_t,
        originalGraph: hipGraph_t,
    ) -> hipError_t;

    /// Adds edges between pairs of nodes. (HIP 7.1)
    pub fn hipGraphAddDependencies(
        graph: hipGraph_t,
        #[deref(count = numDependencies)] from: *const hipGraphNode_t,
        #[deref(count = numDependencies)] to: *const hipGraphNode_t,
        numDependencies: usize,
    ) -> hipError_t;

    /// Removes edges between pairs of nodes. (HIP 7.1)
    pub fn hipGraphRemoveDependencies(
        graph: hipGraph_t,
        #[deref(count = numDependencies)] from: *const hipGraphNode_t,
        #[deref(count = numDependencies)] to: *const hipGraphNode_t,
        numDependencies: usize,
    ) -> hipError_t;

    /// Writes up to `*numEdges` edges and their number; with null arrays the number alone.
    /// (HIP 7.1)
    pub fn hipGraphGetEdges(
        graph: hipGraph_t,
        #[out_handle(count = after(numEdges))] from: *mut hipGraphNode_t,
        #[out_handle(count = after(numEdges))] to: *mut hipGraphNode_t,
        #[inout] numEdges: *mut usize,
    ) -> hipError_t;

    /// Writes up to `*numNodes` nodes and their number; with a null array the number alone.
    /// (HIP 7.1)
    pub fn hipGraphGetNodes(
        graph: hipGraph_t,
        #[out_handle(count = after(numNodes))] nodes: *mut hipGraphNode_t,
        #[inout] numNodes: *mut usize,
    ) -> hipError_t;

    /// Writes up to `*pNumRootNodes` nodes without dependencies and their number; with a null array
    /// the number alone. (HIP 7.1)
    pub fn hipGraphGetRootNodes(
        graph: hipGraph_t,
        #[out_handle(count = after(pNumRootNodes))] pRootNodes: *mut hipGraphNode_t,
        #[inout] pNumRootNodes: *mut usize,
    ) -> hipError_t;

    /// Writes up to `*pNumDependencies` nodes that come before and their number; with a null array
    /// the number alone. (HIP 7.1)
    pub fn hipGraphNodeGetDependencies(
        node: hipGraphNode_t,
        #[out_handle(count = after(pNumDependencies))] pDependencies: *mut hipGraphNode_t,
        #[inout] pNumDependencies: *mut usize,
    ) -> hipError_t;

    /// Writes up to `*pNumDependentNodes` nodes that come after and their number; with a null array
    /// the number alone. (HIP 7.1)
    pub fn hipGraphNodeGetDependentNodes(
        node: hipGraphNode_t,
        #[out_handle(count = after(pNumDependentNodes))] pDependentNodes: *mut hipGraphNode_t,
        #[inout] pNumDependentNodes: *mut usize,
    ) -> hipError_t;

    /// Writes the kind of a node. (HIP 7.1)
    pub fn hipGraphNodeGetType(
        node: hipGraphNode_t,
        #[out] pType: *mut hipGraphNodeType,
    ) -> hipError_t;

    /// Takes a node out of its graph and ends it. (HIP 7.1)
    pub fn hipGraphDestroyNode(#[destroys] node: hipGraphNode_t) -> hipError_t;

    /// Writes the node of a cloned graph that copies a node of the original. (HIP 7.1)
    pub fn hipGraphNodeFindInClone(
        #[out_handle] pNode: *mut hipGraphNode_t,
        originalNode: hipGraphNode_t,
        clonedGraph: hipGraph_t,
    ) -> hipError_t;

    /// Writes an executable graph; the node that failed and a text only where something failed.
    /// Both of the latter may be null. (HIP 7.1)
    #[effect(instantiates = (pGraphExec, graph))]
    pub fn hipGraphInstantiate(
        #[out_handle] pGraphExec: *mut hipGraphExec_t,
        graph: hipGraph_t,
        #[out_handle] pErrorNode: *mut hipGraphNode_t,
        #[out_str(bytes = bufferSize, machine)] pLogBuffer: *mut c_char,
        bufferSize: usize,
    ) -> hipError_t;

    /// Writes an executable graph. (HIP 7.1)
    #[effect(instantiates = (pGraphExec, graph))]
    pub fn hipGraphInstantiateWithFlags(
        #[out_handle] pGraphExec: *mut hipGraphExec_t,
        graph: hipGraph_t,
        flags: c_ulonglong,
    ) -> hipError_t;

    /// Writes an executable graph, and into the parameters what came of it. (HIP 7.1)
    #[effect(instantiates = (pGraphExec, graph))]
    pub fn hipGraphInstantiateWithParams(
        #[out_handle] pGraphExec: *mut hipGraphExec_t,
        graph: hipGraph_t,
        #[inout] instantiateParams: *mut hipGraphInstantiateParams,
    ) -> hipError_t;

    /// Runs an executable graph on a stream. (HIP 7.1)
    #[effect(launches_graph = (graphExec, stream))]
    pub fn hipGraphLaunch(graphExec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;

    /// Runs an executable graph on a stream. (HIP 7.1)
    #[effect(launches_graph = (graphExec, stream))]
    pub fn hipGraphLaunch_spt(graphExec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;

    /// Prepares an executable graph for its launch. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipGraphUpload(graphExec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;

    /// Ends an executable graph. (HIP 7.1)
    pub fn hipGraphExecDestroy(#[destroys] graphExec: hipGraphExec_t) -> hipError_t;

    /// Writes the flags an executable graph was made with. (HIP 7.1)
    pub fn hipGraphExecGetFlags(
        graphExec: hipGraphExec_t,
        #[out] flags: *mut c_ulonglong,
    ) -> hipError_t;

    /// Gives an executable graph the parameters of a graph of the same shape; writes the node that
    /// did not fit and how it went. (HIP 7.1)
    #[effect(updates_exec = (hGraphExec, hGraph))]
    pub fn hipGraphExecUpdate(
        hGraphExec: hipGraphExec_t,
        hGraph: hipGraph_t,
        #[out_handle] hErrorNode_out: *mut hipGraphNode_t,
        #[out] updateResult_out: *mut hipGraphExecUpdateResult,
    ) -> hipError_t;

    /// Turns a node of an executable graph on or off. (HIP 7.1)
    #[effect(enables_node = (hGraphExec, hNode, isEnabled))]
    pub fn hipGraphNodeSetEnabled(
        hGraphExec: hipGraphExec_t,
        hNode: hipGraphNode_t,
        isEnabled: c_uint,
    ) -> hipError_t;

    /// Writes whether a node of an executable graph is on. (HIP 7.1)
    pub fn hipGraphNodeGetEnabled(
        hGraphExec: hipGraphExec_t,
        hNode: hipGraphNode_t,
        #[out] isEnabled: *mut c_uint,
    ) -> hipError_t;

    /// Writes a graph as a dot file. (HIP 7.1)
    #[host(reason = "writes a file for people, and replay opens no path that an archive names")]
    pub fn hipGraphDebugDotPrint(
        graph: hipGraph_t,
        #[string] path: *const c_char,
        flags: c_uint,
    ) -> hipError_t;

    /// Writes a 64-bit number about the memory that graphs hold. (HIP 7.1)
    pub fn hipDeviceGetGraphMemAttribute(
        #[device] device: c_int,
        attr: hipGraphMemAttributeType,
        #[tagged(by = attr, table = crate::families::tags::GRAPH_MEMORY_ATTRIBUTES, out)]
        value: *mut c_void,
    ) -> hipError_t;

    /// Sets a 64-bit number about the memory that graphs hold. (HIP 7.1)
    pub fn hipDeviceSetGraphMemAttribute(
        #[device] device: c_int,
        attr: hipGraphMemAttributeType,
        #[tagged(by = attr, table = crate::families::tags::GRAPH_MEMORY_ATTRIBUTES)]
        value: *mut c_void,
    ) -> hipError_t;

    /// Gives memory that graphs do not use back. (HIP 7.1)
    pub fn hipDeviceGraphMemTrim(#[device] device: c_int) -> hipError_t;

    /// Writes a new object of the program, with the function that ends it. (HIP 7.1)
    #[ordering]
    pub fn hipUserObjectCreate(
        #[out_handle] object_out: *mut hipUserObject_t,
        #[user_data] ptr: *mut c_void,
        #[callback] destroy: hipHostFn_t,
        initialRefcount: c_uint,
        flags: c_uint,
    ) -> hipError_t;

    /// Gives references to a user object back. (HIP 7.1)
    pub fn hipUserObjectRelease(object: hipUserObject_t, count: c_uint) -> hipError_t;

    /// Takes references to a user object. (HIP 7.1)
    pub fn hipUserObjectRetain(object: hipUserObject_t, count: c_uint) -> hipError_t;

    /// Lets a graph hold a user object. (HIP 7.1)
    pub fn hipGraphRetainUserObject(
        graph: hipGraph_t,
        object: hipUserObject_t,
        count: c_uint,
        flags: c_uint,
    ) -> hipError_t;

    /// Lets a graph give a user object back. (HIP 7.1)
    pub fn hipGraphReleaseUserObject(
        graph: hipGraph_t,
        object: hipUserObject_t,
        count: c_uint,
    ) -> hipError_t;
}

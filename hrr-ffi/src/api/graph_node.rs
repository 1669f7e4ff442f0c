//! Nodes of graphs, one kind after the other: adding, and the parameters in the graph and in the
//! executable graph. What a copy node copies is read and written when the graph runs; a call that
//! sets it adds to the node or executable graph that it is given.

use core::ffi::c_void;

use hrr_macros::api;

use crate::types::{
    HIP_MEMCPY3D, hipBatchMemOpNodeParams, hipCtx_t, hipDeviceptr_t, hipError_t, hipEvent_t,
    hipExternalSemaphoreSignalNodeParams, hipExternalSemaphoreWaitNodeParams, hipGraph_t,
    hipGraphExec_t, hipGraphNode_t, hipGraphNodeParams, hipHostNodeParams, hipKernelNodeParams,
    hipLaunchAttributeID, hipLaunchAttributeValue, hipMemAllocNodeParams, hipMemcpy3DParms,
    hipMemcpyKind, hipMemsetParams,
};

#[api(group = "graph_node")]
unsafe extern "C" {
    /// Writes a new node that does nothing. (HIP 7.1)
    #[effect(adds_to_graph = graph)]
    pub fn hipGraphAddEmptyNode(
        #[out_handle] pGraphNode: *mut hipGraphNode_t,
        graph: hipGraph_t,
        #[deref(count = numDependencies)] pDependencies: *const hipGraphNode_t,
        numDependencies: usize,
    ) -> hipError_t;

    /// Writes a new node that starts a kernel. (HIP 7.1)
    #[effect(adds_to_graph = graph)]
    pub fn hipGraphAddKernelNode(
        #[out_handle] pGraphNode: *mut hipGraphNode_t,
        graph: hipGraph_t,
        #[deref(count = numDependencies)] pDependencies: *const hipGraphNode_t,
        numDependencies: usize,
        #[deref] pNodeParams: *const hipKernelNodeParams,
    ) -> hipError_t;

    /// Writes a kernel node's parameters, whose pointers lead into the runtime. (HIP 7.1)
    pub fn hipGraphKernelNodeGetParams(
        node: hipGraphNode_t,
        #[out_buffer(bytes = 64, machine)] pNodeParams: *mut hipKernelNodeParams,
    ) -> hipError_t;

    /// Sets a kernel node's parameters. (HIP 7.1)
    pub fn hipGraphKernelNodeSetParams(
        node: hipGraphNode_t,
        #[deref] pNodeParams: *const hipKernelNodeParams,
    ) -> hipError_t;

    /// Sets a kernel node's parameters in an executable graph. (HIP 7.1)
    pub fn hipGraphExecKernelNodeSetParams(
        hGraphExec: hipGraphExec_t,
        node: hipGraphNode_t,
        #[deref] pNodeParams: *const hipKernelNodeParams,
    ) -> hipError_t;

    /// Sets an attribute of a kernel node. (HIP 7.1)
    pub fn hipGraphKernelNodeSetAttribute(
        hNode: hipGraphNode_t,
        attr: hipLaunchAttributeID,
        #[tagged(by = attr, table = crate::families::tags::LAUNCH_ATTRIBUTES)]
        value: *const hipLaunchAttributeValue,
    ) -> hipError_t;

    /// Writes an attribute of a kernel node: as many bytes as its type has. (HIP 7.1)
    pub fn hipGraphKernelNodeGetAttribute(
        hNode: hipGraphNode_t,
        attr: hipLaunchAttributeID,
        #[tagged(by = attr, table = crate::families::tags::LAUNCH_ATTRIBUTES, out)]
        value: *mut hipLaunchAttributeValue,
    ) -> hipError_t;

    /// Gives one kernel node the attributes of another. (HIP 7.1)
    pub fn hipGraphKernelNodeCopyAttributes(
        hSrc: hipGraphNode_t,
        hDst: hipGraphNode_t,
    ) -> hipError_t;

    /// Writes a new node that copies a box. (HIP 7.1)
    #[effect(adds_to_graph = graph)]
    pub fn hipGraphAddMemcpyNode(
        #[out_handle] pGraphNode: *mut hipGraphNode_t,
        graph: hipGraph_t,
        #[deref(count = numDependencies)] pDependencies: *const hipGraphNode_t,
        numDependencies: usize,
        #[deref] pCopyParams: *const hipMemcpy3DParms,
    ) -> hipError_t;

    /// Writes a copy node's parameters. (HIP 7.1)
    pub fn hipGraphMemcpyNodeGetParams(
        node: hipGraphNode_t,
        #[out_buffer(bytes = 160, machine)] pNodeParams: *mut hipMemcpy3DParms,
    ) -> hipError_t;

    /// Sets a copy node's parameters. (HIP 7.1)
    #[effect(sets_node = node)]
    pub fn hipGraphMemcpyNodeSetParams(
        node: hipGraphNode_t,
        #[deref] pNodeParams: *const hipMemcpy3DParms,
    ) -> hipError_t;

    /// Sets a copy node's parameters in an executable graph. (HIP 7.1)
    #[effect(sets_node = (node, hGraphExec))]
    pub fn hipGraphExecMemcpyNodeSetParams(
        hGraphExec: hipGraphExec_t,
        node: hipGraphNode_t,
        #[deref] pNodeParams: *mut hipMemcpy3DParms,
    ) -> hipError_t;

    /// Writes a new node that copies bytes. (HIP 7.1)
    #[effect(adds_to_graph = graph)]
    pub fn hipGraphAddMemcpyNode1D(
        #[out_handle] pGraphNode: *mut hipGraphNode_t,
        graph: hipGraph_t,
        #[deref(count = numDependencies)] pDependencies: *const hipGraphNode_t,
        numDependencies: usize,
        #[operand(kind = kind, bytes = count)] dst: *mut c_void,
        #[operand(kind = kind, bytes = count)] src: *const c_void,
        count: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;

    /// Sets what a copy node copies. (HIP 7.1)
    #[effect(sets_node = node)]
    pub fn hipGraphMemcpyNodeSetParams1D(
        node: hipGraphNode_t,
        #[operand(kind = kind, bytes = count)] dst: *mut c_void,
        #[operand(kind = kind, bytes = count)] src: *const c_void,
        count: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;

    /// Sets what a copy node copies in an executable graph. (HIP 7.1)
    #[effect(sets_node = (node, hGraphExec))]
    pub fn hipGraphExecMemcpyNodeSetParams1D(
        hGraphExec: hipGraphExec_t,
        node: hipGraphNode_t,
        #[operand(kind = kind, bytes = count)] dst: *mut c_void,
        #[operand(kind = kind, bytes = count)] src: *const c_void,
        count: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;

    /// Writes a new node that copies bytes out of a variable. (HIP 7.1)
    #[effect(adds_to_graph = graph)]
    pub fn hipGraphAddMemcpyNodeFromSymbol(
        #[out_handle] pGraphNode: *mut hipGraphNode_t,
        graph: hipGraph_t,
        #[deref(count = numDependencies)] pDependencies: *const hipGraphNode_t,
        numDependencies: usize,
        #[operand(kind = kind, bytes = count)] dst: *mut c_void,
        #[host_symbol] symbol: *const c_void,
        count: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;

    /// Sets what a copy node copies. (HIP 7.1)
    #[effect(sets_node = node)]
    pub fn hipGraphMemcpyNodeSetParamsFromSymbol(
        node: hipGraphNode_t,
        #[operand(kind = kind, bytes = count)] dst: *mut c_void,
        #[host_symbol] symbol: *const c_void,
        count: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;

    /// Sets what a copy node copies in an executable graph. (HIP 7.1)
    #[effect(sets_node = (node, hGraphExec))]
    pub fn hipGraphExecMemcpyNodeSetParamsFromSymbol(
        hGraphExec: hipGraphExec_t,
        node: hipGraphNode_t,
        #[operand(kind = kind, bytes = count)] dst: *mut c_void,
        #[host_symbol] symbol: *const c_void,
        count: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;

    /// Writes a new node that copies bytes into a variable. (HIP 7.1)
    #[effect(adds_to_graph = graph)]
    pub fn hipGraphAddMemcpyNodeToSymbol(
        #[out_handle] pGraphNode: *mut hipGraphNode_t,
        graph: hipGraph_t,
        #[deref(count = numDependencies)] pDependencies: *const hipGraphNode_t,
        numDependencies: usize,
        #[host_symbol] symbol: *const c_void,
        #[operand(kind = kind, bytes = count)] src: *const c_void,
        count: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;

    /// Sets what a copy node copies. (HIP 7.1)
    #[effect(sets_node = node)]
    pub fn hipGraphMemcpyNodeSetParamsToSymbol(
        node: hipGraphNode_t,
        #[host_symbol] symbol: *const c_void,
        #[operand(kind = kind, bytes = count)] src: *const c_void,
        count: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;

    /// Sets what a copy node copies in an executable graph. (HIP 7.1)
    #[effect(sets_node = (node, hGraphExec))]
    pub fn hipGraphExecMemcpyNodeSetParamsToSymbol(
        hGraphExec: hipGraphExec_t,
        node: hipGraphNode_t,
        #[host_symbol] symbol: *const c_void,
        #[operand(kind = kind, bytes = count)] src: *const c_void,
        count: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;

    /// Writes a new node that copies a box. (HIP 7.1)
    #[effect(adds_to_graph = hGraph)]
    pub fn hipDrvGraphAddMemcpyNode(
        #[out_handle] phGraphNode: *mut hipGraphNode_t,
        hGraph: hipGraph_t,
        #[deref(count = numDependencies)] dependencies: *const hipGraphNode_t,
        numDependencies: usize,
        #[deref] copyParams: *const HIP_MEMCPY3D,
        ctx: hipCtx_t,
    ) -> hipError_t;

    /// Writes a copy node's parameters. (HIP 7.1)
    pub fn hipDrvGraphMemcpyNodeGetParams(
        hNode: hipGraphNode_t,
        #[out_buffer(bytes = 184, machine)] nodeParams: *mut HIP_MEMCPY3D,
    ) -> hipError_t;

    /// Sets a copy node's parameters. (HIP 7.1)
    #[effect(sets_node = hNode)]
    pub fn hipDrvGraphMemcpyNodeSetParams(
        hNode: hipGraphNode_t,
        #[deref] nodeParams: *const HIP_MEMCPY3D,
    ) -> hipError_t;

    /// Sets a copy node's parameters in an executable graph. (HIP 7.1)
    #[effect(sets_node = (hNode, hGraphExec))]
    pub fn hipDrvGraphExecMemcpyNodeSetParams(
        hGraphExec: hipGraphExec_t,
        hNode: hipGraphNode_t,
        #[deref] copyParams: *const HIP_MEMCPY3D,
        ctx: hipCtx_t,
    ) -> hipError_t;

    /// Writes a new node that fills memory. (HIP 7.1)
    #[effect(adds_to_graph = graph)]
    pub fn hipGraphAddMemsetNode(
        #[out_handle] pGraphNode: *mut hipGraphNode_t,
        graph: hipGraph_t,
        #[deref(count = numDependencies)] pDependencies: *const hipGraphNode_t,
        numDependencies: usize,
        #[deref] pMemsetParams: *const hipMemsetParams,
    ) -> hipError_t;

    /// Writes a fill node's parameters. (HIP 7.1)
    pub fn hipGraphMemsetNodeGetParams(
        node: hipGraphNode_t,
        #[out] pNodeParams: *mut hipMemsetParams,
    ) -> hipError_t;

    /// Sets a fill node's parameters. (HIP 7.1)
    pub fn hipGraphMemsetNodeSetParams(
        node: hipGraphNode_t,
        #[deref] pNodeParams: *const hipMemsetParams,
    ) -> hipError_t;

    /// Sets a fill node's parameters in an executable graph. (HIP 7.1)
    pub fn hipGraphExecMemsetNodeSetParams(
        hGraphExec: hipGraphExec_t,
        node: hipGraphNode_t,
        #[deref] pNodeParams: *const hipMemsetParams,
    ) -> hipError_t;

    /// Writes a new node that fills memory. (HIP 7.1)
    #[effect(adds_to_graph = hGraph)]
    pub fn hipDrvGraphAddMemsetNode(
        #[out_handle] phGraphNode: *mut hipGraphNode_t,
        hGraph: hipGraph_t,
        #[deref(count = numDependencies)] dependencies: *const hipGraphNode_t,
        numDependencies: usize,
        #[deref] memsetParams: *const hipMemsetParams,
        ctx: hipCtx_t,
    ) -> hipError_t;

    /// Sets a fill node's parameters in an executable graph. (HIP 7.1)
    pub fn hipDrvGraphExecMemsetNodeSetParams(
        hGraphExec: hipGraphExec_t,
        hNode: hipGraphNode_t,
        #[deref] memsetParams: *const hipMemsetParams,
        ctx: hipCtx_t,
    ) -> hipError_t;

    /// Writes a new node that runs a function of the program. (HIP 7.1)
    #[ordering]
    #[effect(adds_to_graph = graph)]
    pub fn hipGraphAddHostNode(
        #[out_handle] pGraphNode: *mut hipGraphNode_t,
        graph: hipGraph_t,
        #[deref(count = numDependencies)] pDependencies: *const hipGraphNode_t,
        numDependencies: usize,
        #[deref] pNodeParams: *const hipHostNodeParams,
    ) -> hipError_t;

    /// Writes a host node's parameters: addresses of the program. (HIP 7.1)
    pub fn hipGraphHostNodeGetParams(
        node: hipGraphNode_t,
        #[out_buffer(bytes = 16, machine)] pNodeParams: *mut hipHostNodeParams,
    ) -> hipError_t;

    /// Sets a host node's parameters. (HIP 7.1)
    #[ordering]
    pub fn hipGraphHostNodeSetParams(
        node: hipGraphNode_t,
        #[deref] pNodeParams: *const hipHostNodeParams,
    ) -> hipError_t;

    /// Sets a host node's parameters in an executable graph. (HIP 7.1)
    #[ordering]
    pub fn hipGraphExecHostNodeSetParams(
        hGraphExec: hipGraphExec_t,
        node: hipGraphNode_t,
        #[deref] pNodeParams: *const hipHostNodeParams,
    ) -> hipError_t;

    /// Writes a new node that runs another graph. (HIP 7.1)
    #[effect(adds_to_graph = graph)]
    pub fn hipGraphAddChildGraphNode(
        #[out_handle] pGraphNode: *mut hipGraphNode_t,
        graph: hipGraph_t,
        #[deref(count = numDependencies)] pDependencies: *const hipGraphNode_t,
        numDependencies: usize,
        childGraph: hipGraph_t,
    ) -> hipError_t;

    /// Writes the graph that a node runs. (HIP 7.1)
    pub fn hipGraphChildGraphNodeGetGraph(
        node: hipGraphNode_t,
        #[out_handle] pGraph: *mut hipGraph_t,
    ) -> hipError_t;

    /// Gives a node of an executable graph the parameters of a graph. (HIP 7.1)
    #[effect(sets_node = (node, hGraphExec))]
    pub fn hipGraphExecChildGraphNodeSetParams(
        hGraphExec: hipGraphExec_t,
        node: hipGraphNode_t,
        childGraph: hipGraph_t,
    ) -> hipError_t;

    /// Writes a new node that records an event. (HIP 7.1)
    #[effect(adds_to_graph = graph)]
    pub fn hipGraphAddEventRecordNode(
        #[out_handle] pGraphNode: *mut hipGraphNode_t,
        graph: hipGraph_t,
        #[deref(count = numDependencies)] pDependencies: *const hipGraphNode_t,
        numDependencies: usize,
        event: hipEvent_t,
    ) -> hipError_t;

    /// Writes the event that a node records. (HIP 7.1)
    pub fn hipGraphEventRecordNodeGetEvent(
        node: hipGraphNode_t,
        #[out_handle] event_out: *mut hipEvent_t,
    ) -> hipError_t;

    /// Sets the event that a node records. (HIP 7.1)
    pub fn hipGraphEventRecordNodeSetEvent(node: hipGraphNode_t, event: hipEvent_t) -> hipError_t;

    /// Sets the event that a node of an executable graph records. (HIP 7.1)
    pub fn hipGraphExecEventRecordNodeSetEvent(
        hGraphExec: hipGraphExec_t,
        hNode: hipGraphNode_t,
        event: hipEvent_t,
    ) -> hipError_t;

    /// Writes a new node that waits for an event. (HIP 7.1)
    #[effect(adds_to_graph = graph)]
    pub fn hipGraphAddEventWaitNode(
        #[out_handle] pGraphNode: *mut hipGraphNode_t,
        graph: hipGraph_t,
        #[deref(count = numDependencies)] pDependencies: *const hipGraphNode_t,
        numDependencies: usize,
        event: hipEvent_t,
    ) -> hipError_t;

    /// Writes the event that a node waits for. (HIP 7.1)
    pub fn hipGraphEventWaitNodeGetEvent(
        node: hipGraphNode_t,
        #[out_handle] event_out: *mut hipEvent_t,
    ) -> hipError_t;

    /// Sets the event that a node waits for. (HIP 7.1)
    pub fn hipGraphEventWaitNodeSetEvent(node: hipGraphNode_t, event: hipEvent_t) -> hipError_t;

    /// Sets the event that a node of an executable graph waits for. (HIP 7.1)
    pub fn hipGraphExecEventWaitNodeSetEvent(
        hGraphExec: hipGraphExec_t,
        hNode: hipGraphNode_t,
        event: hipEvent_t,
    ) -> hipError_t;

    /// Writes a new node that allocates memory, and the address into the parameters. (HIP 7.1)
    #[effect(adds_to_graph = graph)]
    #[capture(with = crate::families::memory::capture_alloc_node)]
    #[replay(with = crate::families::memory::replay_alloc_node)]
    pub fn hipGraphAddMemAllocNode(
        #[out_handle] pGraphNode: *mut hipGraphNode_t,
        graph: hipGraph_t,
        #[deref(count = numDependencies)] pDependencies: *const hipGraphNode_t,
        numDependencies: usize,
        #[inout] pNodeParams: *mut hipMemAllocNodeParams,
    ) -> hipError_t;

    /// Writes an allocation node's parameters. (HIP 7.1)
    pub fn hipGraphMemAllocNodeGetParams(
        node: hipGraphNode_t,
        #[out_buffer(bytes = 120, machine)] pNodeParams: *mut hipMemAllocNodeParams,
    ) -> hipError_t;

    /// Writes a new node that ends an allocation of a graph. (HIP 7.1)
    #[effect(adds_to_graph = graph)]
    pub fn hipGraphAddMemFreeNode(
        #[out_handle] pGraphNode: *mut hipGraphNode_t,
        graph: hipGraph_t,
        #[deref(count = numDependencies)] pDependencies: *const hipGraphNode_t,
        numDependencies: usize,
        #[device_ptr] dev_ptr: *mut c_void,
    ) -> hipError_t;

    /// Writes the address that a node frees. (HIP 7.1)
    pub fn hipGraphMemFreeNodeGetParams(
        node: hipGraphNode_t,
        #[out_device_ptr] dev_ptr: *mut *mut c_void,
    ) -> hipError_t;

    /// Writes a new node that ends an allocation of a graph. (HIP 7.1)
    #[effect(adds_to_graph = hGraph)]
    pub fn hipDrvGraphAddMemFreeNode(
        #[out_handle] phGraphNode: *mut hipGraphNode_t,
        hGraph: hipGraph_t,
        #[deref(count = numDependencies)] dependencies: *const hipGraphNode_t,
        numDependencies: usize,
        #[device_ptr] dptr: hipDeviceptr_t,
    ) -> hipError_t;

    /// Writes a new node that waits for and writes words of memory. (HIP 7.1)
    #[effect(adds_to_graph = hGraph)]
    pub fn hipGraphAddBatchMemOpNode(
        #[out_handle] phGraphNode: *mut hipGraphNode_t,
        hGraph: hipGraph_t,
        #[deref(count = numDependencies)] dependencies: *const hipGraphNode_t,
        numDependencies: usize,
        #[deref] nodeParams: *const hipBatchMemOpNodeParams,
    ) -> hipError_t;

    /// Writes a batch node's parameters, whose array the runtime owns. (HIP 7.1)
    pub fn hipGraphBatchMemOpNodeGetParams(
        hNode: hipGraphNode_t,
        #[out_buffer(bytes = 32, machine)] nodeParams_out: *mut hipBatchMemOpNodeParams,
    ) -> hipError_t;

    /// Sets a batch node's parameters. (HIP 7.1)
    pub fn hipGraphBatchMemOpNodeSetParams(
        hNode: hipGraphNode_t,
        #[deref] nodeParams: *mut hipBatchMemOpNodeParams,
    ) -> hipError_t;

    /// Sets a batch node's parameters in an executable graph. (HIP 7.1)
    pub fn hipGraphExecBatchMemOpNodeSetParams(
        hGraphExec: hipGraphExec_t,
        hNode: hipGraphNode_t,
        #[deref] nodeParams: *const hipBatchMemOpNodeParams,
    ) -> hipError_t;

    /// Writes a new node that signals semaphores. (HIP 7.1)
    #[effect(adds_to_graph = graph)]
    pub fn hipGraphAddExternalSemaphoresSignalNode(
        #[out_handle] pGraphNode: *mut hipGraphNode_t,
        graph: hipGraph_t,
        #[deref(count = numDependencies)] pDependencies: *const hipGraphNode_t,
        numDependencies: usize,
        #[deref] nodeParams: *const hipExternalSemaphoreSignalNodeParams,
    ) -> hipError_t;

    /// Writes a semaphore node's parameters, whose arrays the runtime owns. (HIP 7.1)
    pub fn hipGraphExternalSemaphoresSignalNodeGetParams(
        hNode: hipGraphNode_t,
        #[out_buffer(bytes = 24, machine)] params_out: *mut hipExternalSemaphoreSignalNodeParams,
    ) -> hipError_t;

    /// Sets a semaphore node's parameters. (HIP 7.1)
    pub fn hipGraphExternalSemaphoresSignalNodeSetParams(
        hNode: hipGraphNode_t,
        #[deref] nodeParams: *const hipExternalSemaphoreSignalNodeParams,
    ) -> hipError_t;

    /// Sets a semaphore node's parameters in an executable graph. (HIP 7.1)
    pub fn hipGraphExecExternalSemaphoresSignalNodeSetParams(
        hGraphExec: hipGraphExec_t,
        hNode: hipGraphNode_t,
        #[deref] nodeParams: *const hipExternalSemaphoreSignalNodeParams,
    ) -> hipError_t;

    /// Writes a new node that waits for semaphores. (HIP 7.1)
    #[effect(adds_to_graph = graph)]
    pub fn hipGraphAddExternalSemaphoresWaitNode(
        #[out_handle] pGraphNode: *mut hipGraphNode_t,
        graph: hipGraph_t,
        #[deref(count = numDependencies)] pDependencies: *const hipGraphNode_t,
        numDependencies: usize,
        #[deref] nodeParams: *const hipExternalSemaphoreWaitNodeParams,
    ) -> hipError_t;

    /// Writes a semaphore node's parameters, whose arrays the runtime owns. (HIP 7.1)
    pub fn hipGraphExternalSemaphoresWaitNodeGetParams(
        hNode: hipGraphNode_t,
        #[out_buffer(bytes = 24, machine)] params_out: *mut hipExternalSemaphoreWaitNodeParams,
    ) -> hipError_t;

    /// Sets a semaphore node's parameters. (HIP 7.1)
    pub fn hipGraphExternalSemaphoresWaitNodeSetParams(
        hNode: hipGraphNode_t,
        #[deref] nodeParams: *const hipExternalSemaphoreWaitNodeParams,
    ) -> hipError_t;

    /// Sets a semaphore node's parameters in an executable graph. (HIP 7.1)
    pub fn hipGraphExecExternalSemaphoresWaitNodeSetParams(
        hGraphExec: hipGraphExec_t,
        hNode: hipGraphNode_t,
        #[deref] nodeParams: *const hipExternalSemaphoreWaitNodeParams,
    ) -> hipError_t;

    /// Writes a new node of any kind, and into the parameters of an allocation its address.
    /// (HIP 7.1)
    #[effect(adds_to_graph = graph)]
    pub fn hipGraphAddNode(
        #[out_handle] pGraphNode: *mut hipGraphNode_t,
        graph: hipGraph_t,
        #[deref(count = numDependencies)] pDependencies: *const hipGraphNode_t,
        numDependencies: usize,
        #[inout] nodeParams: *mut hipGraphNodeParams,
    ) -> hipError_t;

    /// Sets the parameters of a node of any kind. (HIP 7.1)
    #[effect(sets_node = node)]
    pub fn hipGraphNodeSetParams(
        node: hipGraphNode_t,
        #[deref] nodeParams: *mut hipGraphNodeParams,
    ) -> hipError_t;

    /// Sets the parameters of a node of any kind in an executable graph. (HIP 7.1)
    #[effect(sets_node = (node, graphExec))]
    pub fn hipGraphExecNodeSetParams(
        graphExec: hipGraphExec_t,
        node: hipGraphNode_t,
        #[deref] nodeParams: *mut hipGraphNodeParams,
    ) -> hipError_t;
}

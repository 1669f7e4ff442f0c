//! Nodes: adding them, reading and changing what they do.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use hrr_ffi::types::*;

use super::copy::{driver_3d, param_3d, row};
use super::graph::find as find_graph;
use super::launch::{kernel_of, node_shape};
use super::memory::{address, fill_2d};
use super::stream::{batch, check_memory_op};
use super::symbol::{from_symbol, to_symbol};
use crate::abi::by_version;
use crate::allocations::Kind;
use crate::api::{Answer, In, Out};
use crate::copies::{Copy, Fill, Side};
use crate::events::Event;
use crate::graphs::{Graph, Node, NodeKind};
use crate::handles::word;
use crate::launches::{Arguments, Launch};
use crate::ops::{HostCall, Op};
use crate::runtime::{Runtime, current};
use crate::streams::lock;

hip_api! { TABLE;
    fn hipGraphAddEmptyNode(
        node: Out<hipGraphNode_t>,
        graph: hipGraph_t,
        dependencies: In<hipGraphNode_t>,
        count: usize,
    ) {
        add(node, graph, dependencies, count, |_| Ok(NodeKind::Empty))
    }

    fn hipGraphAddKernelNode(
        node: Out<hipGraphNode_t>,
        graph: hipGraph_t,
        dependencies: In<hipGraphNode_t>,
        count: usize,
        params: In<hipKernelNodeParams>,
    ) {
        add(node, graph, dependencies, count, |runtime| kernel(runtime, &params.get()?))
    }

    fn hipGraphKernelNodeGetParams(node: hipGraphNode_t, params: Out<hipKernelNodeParams>) {
        let (runtime, _) = current()?;
        match find(runtime, node)?.1.kind {
            NodeKind::Work(Op::Kernel(launch)) => params.set(kernel_params(&launch)),
            _other => Err(hipErrorInvalidValue),
        }
    }

    fn hipGraphKernelNodeSetParams(node: hipGraphNode_t, params: In<hipKernelNodeParams>) {
        change(node, hipGraphNodeTypeKernel, |runtime| kernel(runtime, &params.get()?))
    }

    fn hipGraphAddMemcpyNode(
        node: Out<hipGraphNode_t>,
        graph: hipGraph_t,
        dependencies: In<hipGraphNode_t>,
        count: usize,
        params: In<hipMemcpy3DParms>,
    ) {
        add(node, graph, dependencies, count, |runtime| memcpy(runtime, param_3d(&params.get()?)?))
    }

    fn hipGraphMemcpyNodeGetParams(node: hipGraphNode_t, params: Out<hipMemcpy3DParms>) {
        let (runtime, _) = current()?;
        match find(runtime, node)?.1.kind {
            NodeKind::Work(Op::Copy(copy)) => params.set(memcpy_params(&copy)),
            _other => Err(hipErrorInvalidValue),
        }
    }

    fn hipGraphMemcpyNodeSetParams(node: hipGraphNode_t, params: In<hipMemcpy3DParms>) {
        change(node, hipGraphNodeTypeMemcpy, |runtime| memcpy(runtime, param_3d(&params.get()?)?))
    }

    fn hipDrvGraphAddMemcpyNode(
        node: Out<hipGraphNode_t>,
        graph: hipGraph_t,
        dependencies: In<hipGraphNode_t>,
        count: usize,
        params: In<HIP_MEMCPY3D>,
        context: hipCtx_t,
    ) {
        let _the_only_one = context;
        add(node, graph, dependencies, count, |runtime| memcpy(runtime, driver_3d(&params.get()?)?))
    }

    fn hipGraphAddMemcpyNode1D(
        node: Out<hipGraphNode_t>,
        graph: hipGraph_t,
        dependencies: In<hipGraphNode_t>,
        count: usize,
        to: *mut c_void,
        from: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
    ) {
        add(node, graph, dependencies, count, |runtime| {
            memcpy(runtime, row(runtime, to, from, bytes, kind))
        })
    }

    fn hipGraphMemcpyNodeSetParams1D(
        node: hipGraphNode_t,
        to: *mut c_void,
        from: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
    ) {
        change(node, hipGraphNodeTypeMemcpy, |runtime| {
            memcpy(runtime, row(runtime, to, from, bytes, kind))
        })
    }

    fn hipGraphAddMemcpyNodeToSymbol(
        node: Out<hipGraphNode_t>,
        graph: hipGraph_t,
        dependencies: In<hipGraphNode_t>,
        count: usize,
        symbol: *const c_void,
        from: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) {
        add(node, graph, dependencies, count, |runtime| {
            memcpy(runtime, to_symbol(symbol, from, bytes, offset, kind)?)
        })
    }

    fn hipGraphMemcpyNodeSetParamsToSymbol(
        node: hipGraphNode_t,
        symbol: *const c_void,
        from: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) {
        change(node, hipGraphNodeTypeMemcpy, |runtime| {
            memcpy(runtime, to_symbol(symbol, from, bytes, offset, kind)?)
        })
    }

    fn hipGraphAddMemcpyNodeFromSymbol(
        node: Out<hipGraphNode_t>,
        graph: hipGraph_t,
        dependencies: In<hipGraphNode_t>,
        count: usize,
        to: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) {
        add(node, graph, dependencies, count, |runtime| {
            memcpy(runtime, from_symbol(to, symbol, bytes, offset, kind)?)
        })
    }

    fn hipGraphMemcpyNodeSetParamsFromSymbol(
        node: hipGraphNode_t,
        to: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) {
        change(node, hipGraphNodeTypeMemcpy, |runtime| {
            memcpy(runtime, from_symbol(to, symbol, bytes, offset, kind)?)
        })
    }

    fn hipGraphAddMemsetNode(
        node: Out<hipGraphNode_t>,
        graph: hipGraph_t,
        dependencies: In<hipGraphNode_t>,
        count: usize,
        params: In<hipMemsetParams>,
    ) {
        add(node, graph, dependencies, count, |runtime| memset(runtime, &params.get()?))
    }

    fn hipDrvGraphAddMemsetNode(
        node: Out<hipGraphNode_t>,
        graph: hipGraph_t,
        dependencies: In<hipGraphNode_t>,
        count: usize,
        params: In<hipMemsetParams>,
        context: hipCtx_t,
    ) {
        let _the_only_one = context;
        add(node, graph, dependencies, count, |runtime| memset(runtime, &params.get()?))
    }

    fn hipGraphMemsetNodeGetParams(node: hipGraphNode_t, params: Out<hipMemsetParams>) {
        let (runtime, _) = current()?;
        match find(runtime, node)?.1.kind {
            NodeKind::Work(Op::Fill(fill)) => params.set(memset_params(&fill)),
            _other => Err(hipErrorInvalidValue),
        }
    }

    fn hipGraphMemsetNodeSetParams(node: hipGraphNode_t, params: In<hipMemsetParams>) {
        change(node, hipGraphNodeTypeMemset, |runtime| memset(runtime, &params.get()?))
    }

    fn hipGraphAddHostNode(
        node: Out<hipGraphNode_t>,
        graph: hipGraph_t,
        dependencies: In<hipGraphNode_t>,
        count: usize,
        params: In<hipHostNodeParams>,
    ) {
        add(node, graph, dependencies, count, |_| host(&params.get()?))
    }

    fn hipGraphHostNodeGetParams(node: hipGraphNode_t, params: Out<hipHostNodeParams>) {
        let (runtime, _) = current()?;
        match find(runtime, node)?.1.kind {
            NodeKind::Work(Op::Host(call)) => {
                params.set(hipHostNodeParams { r#fn: Some(call.function), userData: call.data })
            }
            _other => Err(hipErrorInvalidValue),
        }
    }

    fn hipGraphHostNodeSetParams(node: hipGraphNode_t, params: In<hipHostNodeParams>) {
        change(node, hipGraphNodeTypeHost, |_| host(&params.get()?))
    }

    fn hipGraphAddChildGraphNode(
        node: Out<hipGraphNode_t>,
        graph: hipGraph_t,
        dependencies: In<hipGraphNode_t>,
        count: usize,
        child: hipGraph_t,
    ) {
        add(node, graph, dependencies, count, |runtime| self::child(runtime, graph, child))
    }

    fn hipGraphChildGraphNodeGetGraph(node: hipGraphNode_t, child: Out<hipGraph_t>) {
        let (runtime, _) = current()?;
        match find(runtime, node)?.1.kind {
            NodeKind::Child(graph) => child.set(hipGraph_t(word(graph.handle))),
            _other => Err(hipErrorInvalidValue),
        }
    }

    fn hipGraphAddEventRecordNode(
        node: Out<hipGraphNode_t>,
        graph: hipGraph_t,
        dependencies: In<hipGraphNode_t>,
        count: usize,
        event: hipEvent_t,
    ) {
        add(node, graph, dependencies, count, |runtime| {
            Ok(NodeKind::EventRecord(event_of(runtime, event)?))
        })
    }

    fn hipGraphEventRecordNodeGetEvent(node: hipGraphNode_t, event: Out<hipEvent_t>) {
        let (runtime, _) = current()?;
        match find(runtime, node)?.1.kind {
            NodeKind::EventRecord(found) => event.set(hipEvent_t(word(found.handle))),
            _other => Err(hipErrorInvalidValue),
        }
    }

    fn hipGraphEventRecordNodeSetEvent(node: hipGraphNode_t, event: hipEvent_t) {
        change(node, hipGraphNodeTypeEventRecord, |runtime| {
            Ok(NodeKind::EventRecord(event_of(runtime, event)?))
        })
    }

    fn hipGraphAddEventWaitNode(
        node: Out<hipGraphNode_t>,
        graph: hipGraph_t,
        dependencies: In<hipGraphNode_t>,
        count: usize,
        event: hipEvent_t,
    ) {
        add(node, graph, dependencies, count, |runtime| {
            Ok(NodeKind::EventWait(event_of(runtime, event)?))
        })
    }

    fn hipGraphEventWaitNodeGetEvent(node: hipGraphNode_t, event: Out<hipEvent_t>) {
        let (runtime, _) = current()?;
        match find(runtime, node)?.1.kind {
            NodeKind::EventWait(found) => event.set(hipEvent_t(word(found.handle))),
            _other => Err(hipErrorInvalidValue),
        }
    }

    fn hipGraphEventWaitNodeSetEvent(node: hipGraphNode_t, event: hipEvent_t) {
        change(node, hipGraphNodeTypeWaitEvent, |runtime| {
            Ok(NodeKind::EventWait(event_of(runtime, event)?))
        })
    }

    fn hipGraphAddBatchMemOpNode(
        node: Out<hipGraphNode_t>,
        graph: hipGraph_t,
        dependencies: In<hipGraphNode_t>,
        count: usize,
        params: In<hipBatchMemOpNodeParams>,
    ) {
        add(node, graph, dependencies, count, |runtime| memory_ops(runtime, &params.get()?))
    }

    fn hipGraphBatchMemOpNodeSetParams(
        node: hipGraphNode_t,
        params: In<hipBatchMemOpNodeParams>,
    ) {
        change(node, hipGraphNodeTypeBatchMemOp, |runtime| memory_ops(runtime, &params.get()?))
    }

    /// The memory is there from now on and lives as long as the graph.
    fn hipGraphAddMemAllocNode(
        node: Out<hipGraphNode_t>,
        graph: hipGraph_t,
        dependencies: In<hipGraphNode_t>,
        count: usize,
        params: Out<hipMemAllocNodeParams>,
    ) {
        let mut wanted = params.get()?;
        add(node, graph, dependencies, count, |runtime| {
            let device = runtime.device_of(wanted.poolProps.location.id)?;
            if wanted.bytesize == 0 {
                return Err(hipErrorInvalidValue);
            }
            let bytes = wanted.bytesize as u64;
            let base = runtime.allocate(device, bytes, Kind::Device)?;
            wanted.dptr = address(base);
            Ok(NodeKind::Alloc { base, bytes, device: device.id() })
        })?;
        params.set(wanted)
    }

    fn hipGraphMemAllocNodeGetParams(node: hipGraphNode_t, params: Out<hipMemAllocNodeParams>) {
        let (runtime, _) = current()?;
        match find(runtime, node)?.1.kind {
            NodeKind::Alloc { base, bytes, device } => {
                params.set(alloc_params(base, bytes, device))
            }
            _other => Err(hipErrorInvalidValue),
        }
    }

    fn hipGraphAddMemFreeNode(
        node: Out<hipGraphNode_t>,
        graph: hipGraph_t,
        dependencies: In<hipGraphNode_t>,
        count: usize,
        pointer: *mut c_void,
    ) {
        add(node, graph, dependencies, count, |runtime| {
            let base = pointer.addr() as u64;
            runtime.allocations.at(base).ok_or(hipErrorInvalidValue)?;
            Ok(NodeKind::Free(base))
        })
    }

    fn hipGraphMemFreeNodeGetParams(node: hipGraphNode_t, pointer: Out<*mut c_void>) {
        let (runtime, _) = current()?;
        match find(runtime, node)?.1.kind {
            NodeKind::Free(base) => pointer.set(address(base)),
            _other => Err(hipErrorInvalidValue),
        }
    }
}

/// The graph and the content of a node.
pub(crate) fn find(runtime: &Runtime, node: hipGraphNode_t) -> Answer<(Arc<Graph>, Node)> {
    let graph = runtime.nodes.get(node.0).ok_or(hipErrorInvalidValue)?;
    let node = graph.node(node.0.addr())?;
    Ok((graph, node))
}

/// Handles of nodes that a program gave, which must be in the graph, each once.
pub(crate) fn dependencies(
    graph: &Graph,
    given: In<hipGraphNode_t>,
    count: usize,
) -> Answer<Vec<usize>> {
    let nodes = lock(&graph.nodes);
    // More than there are nodes cannot all be different ones; nothing is read for them.
    if count > nodes.len() {
        return Err(hipErrorInvalidValue);
    }
    let handles: Vec<usize> = given.slice(count)?.iter().map(|node| node.0.addr()).collect();
    let known: std::collections::HashSet<usize> = nodes.iter().map(|node| node.handle).collect();
    let distinct: std::collections::HashSet<&usize> = handles.iter().collect();
    if distinct.len() != handles.len() || handles.iter().any(|handle| !known.contains(handle)) {
        return Err(hipErrorInvalidValue);
    }
    Ok(handles)
}

fn add(
    node: Out<hipGraphNode_t>,
    graph: hipGraph_t,
    given: In<hipGraphNode_t>,
    count: usize,
    kind: impl FnOnce(&'static Runtime) -> Answer<NodeKind>,
) -> Answer {
    let (runtime, _) = current()?;
    let graph = find_graph(runtime, graph)?;
    if node.is_null() {
        return Err(hipErrorInvalidValue);
    }
    let dependencies = dependencies(&graph, given, count)?;
    let kind = kind(runtime)?;
    node.set(hipGraphNode_t(word(graph.add(runtime, kind, dependencies))))
}

fn change(
    node: hipGraphNode_t,
    expected: hipGraphNodeType,
    kind: impl FnOnce(&'static Runtime) -> Answer<NodeKind>,
) -> Answer {
    let (runtime, _) = current()?;
    let (graph, found) = find(runtime, node)?;
    if found.kind.node_type() != expected {
        return Err(hipErrorInvalidValue);
    }
    let kind = kind(runtime)?;
    graph.change(found.handle, |_| Ok(kind))
}

fn event_of(runtime: &Runtime, event: hipEvent_t) -> Answer<Arc<Event>> {
    runtime.event(event).map_err(|error| by_version(hipErrorInvalidValue, error))
}

pub(crate) fn kernel(runtime: &'static Runtime, params: &hipKernelNodeParams) -> Answer<NodeKind> {
    let named = params.func.addr();
    let bad = |error| by_version(hipErrorInvalidValue, error);
    let (code, kernel) = kernel_of(runtime, named).map_err(bad)?;
    // SAFETY: HIP's contract: the arrays have what the kernel's arguments need.
    let arguments = unsafe { Arguments::new(params.kernelParams, params.extra) };
    let launch = Launch::new(code, kernel, named, node_shape(params), arguments)?;
    Ok(NodeKind::Work(Op::Kernel(Arc::new(launch))))
}

fn kernel_params(launch: &Launch) -> hipKernelNodeParams {
    let [x, y, z] = launch.shape.grid;
    let [block_x, block_y, block_z] = launch.shape.block;
    hipKernelNodeParams {
        blockDim: dim3 { x: block_x, y: block_y, z: block_z },
        extra: std::ptr::null_mut(),
        func: std::ptr::with_exposed_provenance_mut(launch.named),
        gridDim: dim3 { x, y, z },
        kernelParams: launch.argument_pointers(),
        sharedMemBytes: launch.shape.shared_bytes as c_uint,
    }
}

pub(crate) fn memcpy(runtime: &Runtime, copy: Copy) -> Answer<NodeKind> {
    copy.check(runtime)?;
    Ok(NodeKind::Work(Op::Copy(copy)))
}

/// The copy as parameters, with its start as the start of the pitched memory.
fn memcpy_params(copy: &Copy) -> hipMemcpy3DParms {
    let [width, height, depth] = copy.extent.map(|axis| axis as usize);
    let pitched = |side: &Side| hipPitchedPtr {
        ptr: address(side.place.address()),
        pitch: if side.pitch == 0 { width } else { side.pitch as usize },
        xsize: width,
        ysize: side.slice.checked_div(side.pitch).map_or(height, |rows| rows as usize),
    };
    hipMemcpy3DParms {
        srcArray: hipArray_t::NULL,
        srcPos: hipPos::default(),
        srcPtr: pitched(&copy.from),
        dstArray: hipArray_t::NULL,
        dstPos: hipPos::default(),
        dstPtr: pitched(&copy.to),
        extent: hipExtent { width, height, depth },
        kind: copy.kind,
    }
}

pub(crate) fn memset(runtime: &Runtime, params: &hipMemsetParams) -> Answer<NodeKind> {
    let (width, height) = (params.width, params.height);
    if width == 0 || height == 0 {
        return Err(hipErrorInvalidValue);
    }
    let element = params.elementSize;
    let fill = fill_2d(params.dst, params.pitch, params.value, element, width, height)?;
    fill.check(runtime)?;
    Ok(NodeKind::Work(Op::Fill(fill)))
}

fn memset_params(fill: &Fill) -> hipMemsetParams {
    let [width, height, _] = fill.extent.map(|axis| axis as usize);
    hipMemsetParams {
        dst: address(fill.to.place.address()),
        elementSize: fill.element_bytes,
        height,
        pitch: fill.to.pitch as usize,
        value: fill.value,
        width,
    }
}

pub(crate) fn host(params: &hipHostNodeParams) -> Answer<NodeKind> {
    let function = params.r#fn.ok_or(hipErrorInvalidValue)?;
    Ok(NodeKind::Work(Op::Host(HostCall { function, data: params.userData })))
}

/// A node that holds a copy of a graph, which may not be its own.
pub(crate) fn child(
    runtime: &'static Runtime,
    parent: hipGraph_t,
    child: hipGraph_t,
) -> Answer<NodeKind> {
    if parent == child {
        return Err(hipErrorInvalidValue);
    }
    Ok(NodeKind::Child(find_graph(runtime, child)?.copy(runtime)))
}

pub(crate) fn memory_ops(runtime: &Runtime, params: &hipBatchMemOpNodeParams) -> Answer<NodeKind> {
    if params.count == 0 || params.flags != 0 {
        return Err(hipErrorInvalidValue);
    }
    // SAFETY: HIP's contract: the array has as many elements as the count says.
    let operations = batch(unsafe { In::new(params.paramArray.cast_const()) }, params.count)?;
    operations.iter().try_for_each(|operation| check_memory_op(runtime, operation))?;
    Ok(NodeKind::Work(Op::Memory(operations.into())))
}

fn alloc_params(base: u64, bytes: u64, device: usize) -> hipMemAllocNodeParams {
    let location = hipMemLocation { r#type: hipMemLocationTypeDevice, id: device as c_int };
    hipMemAllocNodeParams {
        poolProps: hipMemPoolProps {
            allocType: hipMemAllocationTypePinned,
            handleTypes: hipMemHandleTypeNone,
            location,
            win32SecurityAttributes: std::ptr::null_mut(),
            maxSize: 0,
            reserved: [0; 56],
        },
        accessDescs: std::ptr::null(),
        accessDescCount: 0,
        bytesize: bytes as usize,
        dptr: address(base),
    }
}

/// Frees the memory of a graph's allocation nodes, once the work that may use it has ended.
pub(crate) fn release_memory(runtime: &Runtime, graph: &Graph) -> Answer {
    let nodes = lock(&graph.nodes).clone();
    for node in nodes {
        if let NodeKind::Alloc { base, device, .. } = node.kind {
            runtime.device(device)?.drain();
            if let Some(allocation) = runtime.allocations.at(base) {
                runtime.release(&allocation)?;
            }
        }
    }
    Ok(())
}

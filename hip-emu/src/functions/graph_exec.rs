//! Executable graphs: making, launching, changing.

use std::ffi::{c_char, c_uint, c_ulonglong, c_void};
use std::sync::Arc;

use hrr_ffi::types::*;

use super::copy::{driver_3d, param_3d, row};
use super::graph::find as find_graph;
use super::graph_node::{child, host, kernel, memcpy, memory_ops, memset};
use super::memory::per_thread;
use super::symbol::{from_symbol, to_symbol};
use crate::api::{Answer, In, Out};
use crate::graphs::{GraphExec, NodeKind};
use crate::handles::word;
use crate::ops::Op;
use crate::runtime::{Runtime, current};
use crate::streams::lock;

hip_api! { TABLE;
    fn hipGraphInstantiate(
        exec: Out<hipGraphExec_t>,
        graph: hipGraph_t,
        error_node: Out<hipGraphNode_t>,
        log: Out<c_char>,
        log_bytes: usize,
    ) {
        error_node.set_if_wanted(hipGraphNode_t::NULL);
        if !log.is_null() && log_bytes != 0 {
            log.set_text("", log_bytes)?;
        }
        instantiate(exec, graph, 0)
    }

    fn hipGraphInstantiateWithFlags(
        exec: Out<hipGraphExec_t>,
        graph: hipGraph_t,
        flags: c_ulonglong,
    ) {
        instantiate(exec, graph, flags)
    }

    fn hipGraphInstantiateWithParams(
        exec: Out<hipGraphExec_t>,
        graph: hipGraph_t,
        params: Out<hipGraphInstantiateParams>,
    ) {
        let mut wanted = params.get()?;
        let answer = instantiate(exec, graph, wanted.flags);
        wanted.errNode_out = hipGraphNode_t::NULL;
        wanted.result_out = match answer {
            Ok(()) => hipGraphInstantiateSuccess,
            Err(_) => hipGraphInstantiateInvalidStructure,
        };
        params.set(wanted)?;
        answer
    }

    fn hipGraphExecDestroy(exec: hipGraphExec_t) {
        let (runtime, _) = current()?;
        let found = runtime.execs.remove(exec.0).ok_or(hipErrorInvalidValue)?;
        // A launch that is under way has its own copy of the work.
        found.graph.destroy(runtime);
        Ok(())
    }

    fn hipGraphExecGetFlags(exec: hipGraphExec_t, flags: Out<c_ulonglong>) {
        let (runtime, _) = current()?;
        flags.set(find(runtime, exec)?.flags)
    }

    fn hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t) {
        launch(exec, stream)
    }

    fn hipGraphLaunch_spt(exec: hipGraphExec_t, stream: hipStream_t) {
        launch(exec, per_thread(stream))
    }

    /// There is nothing to upload.
    fn hipGraphUpload(exec: hipGraphExec_t, stream: hipStream_t) {
        let (runtime, _) = current()?;
        runtime.stream(stream)?;
        find(runtime, exec).map(drop)
    }

    fn hipGraphExecUpdate(
        exec: hipGraphExec_t,
        graph: hipGraph_t,
        error_node: Out<hipGraphNode_t>,
        result: Out<hipGraphExecUpdateResult>,
    ) {
        let (runtime, _) = current()?;
        let exec = find(runtime, exec)?;
        let graph = find_graph(runtime, graph)?;
        if result.is_null() {
            return Err(hipErrorInvalidValue);
        }
        match exec.update(runtime, &graph) {
            // The node is written where one did not fit.
            Ok(()) => result.set(hipGraphExecUpdateSuccess),
            Err((why, node)) => {
                error_node.set_if_wanted(hipGraphNode_t(word(node)));
                result.set(why)?;
                Err(hipErrorGraphExecUpdateFailure)
            }
        }
    }

    fn hipGraphNodeSetEnabled(exec: hipGraphExec_t, node: hipGraphNode_t, enabled: c_uint) {
        let (runtime, _) = current()?;
        let exec = find(runtime, exec)?;
        let mut nodes = lock(&exec.graph.nodes);
        let node = nodes.iter_mut().find(|found| found.origin == node.0.addr());
        let node = node.ok_or(hipErrorInvalidValue)?;
        match node.kind.node_type() {
            hipGraphNodeTypeKernel | hipGraphNodeTypeMemcpy | hipGraphNodeTypeMemset => {
                node.enabled = enabled != 0;
                Ok(())
            }
            _other => Err(hipErrorInvalidValue),
        }
    }

    fn hipGraphNodeGetEnabled(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        enabled: Out<c_uint>,
    ) {
        let (runtime, _) = current()?;
        let exec = find(runtime, exec)?;
        let nodes = lock(&exec.graph.nodes);
        let node = nodes.iter().find(|found| found.origin == node.0.addr());
        enabled.set(c_uint::from(node.ok_or(hipErrorInvalidValue)?.enabled))
    }

    fn hipGraphExecKernelNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: In<hipKernelNodeParams>,
    ) {
        change(exec, node, |runtime| kernel(runtime, &params.get()?))
    }

    fn hipGraphExecMemcpyNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: In<hipMemcpy3DParms>,
    ) {
        change(exec, node, |runtime| memcpy(runtime, param_3d(&params.get()?)?))
    }

    fn hipDrvGraphExecMemcpyNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: In<HIP_MEMCPY3D>,
        context: hipCtx_t,
    ) {
        let _the_only_one = context;
        change(exec, node, |runtime| memcpy(runtime, driver_3d(&params.get()?)?))
    }

    fn hipGraphExecMemcpyNodeSetParams1D(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        to: *mut c_void,
        from: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
    ) {
        change(exec, node, |runtime| memcpy(runtime, row(runtime, to, from, bytes, kind)))
    }

    fn hipGraphExecMemcpyNodeSetParamsToSymbol(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        symbol: *const c_void,
        from: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) {
        change(exec, node, |runtime| {
            memcpy(runtime, to_symbol(symbol, from, bytes, offset, kind)?)
        })
    }

    fn hipGraphExecMemcpyNodeSetParamsFromSymbol(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        to: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) {
        change(exec, node, |runtime| {
            memcpy(runtime, from_symbol(to, symbol, bytes, offset, kind)?)
        })
    }

    fn hipGraphExecMemsetNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: In<hipMemsetParams>,
    ) {
        change(exec, node, |runtime| memset(runtime, &params.get()?))
    }

    fn hipDrvGraphExecMemsetNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: In<hipMemsetParams>,
        context: hipCtx_t,
    ) {
        let _the_only_one = context;
        change(exec, node, |runtime| memset(runtime, &params.get()?))
    }

    fn hipGraphExecHostNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: In<hipHostNodeParams>,
    ) {
        change(exec, node, |_| host(&params.get()?))
    }

    fn hipGraphExecChildGraphNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        graph: hipGraph_t,
    ) {
        change(exec, node, |runtime| child(runtime, hipGraph_t::NULL, graph))
    }

    fn hipGraphExecEventRecordNodeSetEvent(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        event: hipEvent_t,
    ) {
        change(exec, node, |runtime| Ok(NodeKind::EventRecord(runtime.event(event)?)))
    }

    fn hipGraphExecEventWaitNodeSetEvent(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        event: hipEvent_t,
    ) {
        change(exec, node, |runtime| Ok(NodeKind::EventWait(runtime.event(event)?)))
    }

    fn hipGraphExecBatchMemOpNodeSetParams(
        exec: hipGraphExec_t,
        node: hipGraphNode_t,
        params: In<hipBatchMemOpNodeParams>,
    ) {
        change(exec, node, |runtime| memory_ops(runtime, &params.get()?))
    }
}

/// Instantiation flags that ask for what happens anyway, or for how fast.
const KNOWN_FLAGS: c_ulonglong = 1 | 2 | 8;

fn find(runtime: &Runtime, exec: hipGraphExec_t) -> Answer<Arc<GraphExec>> {
    runtime.execs.get(exec.0).ok_or(hipErrorInvalidValue)
}

fn instantiate(exec: Out<hipGraphExec_t>, graph: hipGraph_t, flags: c_ulonglong) -> Answer {
    let (runtime, _) = current()?;
    let graph = find_graph(runtime, graph)?;
    if exec.is_null() || flags & !KNOWN_FLAGS != 0 {
        return Err(hipErrorInvalidValue);
    }
    exec.set(hipGraphExec_t(word(GraphExec::new(runtime, &graph, flags)?.handle)))
}

fn launch(exec: hipGraphExec_t, stream: hipStream_t) -> Answer {
    let (runtime, _) = current()?;
    let exec = find(runtime, exec)?;
    let stream = runtime.stream(stream)?;
    // Inside a capture the launch is a node.
    if stream.add_to_capture(runtime, || NodeKind::Child(exec.graph.copy(runtime)))? {
        return Ok(());
    }
    stream.enqueue(runtime, Op::Graph(exec.launch()?)).map(drop)
}

fn change(
    exec: hipGraphExec_t,
    node: hipGraphNode_t,
    kind: impl FnOnce(&'static Runtime) -> Answer<NodeKind>,
) -> Answer {
    let (runtime, _) = current()?;
    let exec = find(runtime, exec)?;
    let kind = kind(runtime)?;
    exec.change(node.0.addr(), |_| Ok(kind))
}

//! Graphs as a whole: life, edges, enumeration, clones.

use std::ffi::c_uint;
use std::sync::Arc;

use hrr_ffi::types::*;

use super::graph_node::find as find_node;
use crate::abi;
use crate::api::{Answer, In, Out};
use crate::graphs::Graph;
use crate::handles::word;
use crate::runtime::{Runtime, current};
use crate::streams::lock;

hip_api! { TABLE;
    fn hipGraphCreate(graph: Out<hipGraph_t>, flags: c_uint) {
        let (runtime, _) = current()?;
        if graph.is_null() || flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        graph.set(hipGraph_t(word(Graph::new(runtime).handle)))
    }

    fn hipGraphDestroy(graph: hipGraph_t) {
        let (runtime, _) = current()?;
        let graph = find(runtime, graph)?;
        super::graph_node::release_memory(runtime, &graph)?;
        graph.destroy(runtime);
        Ok(())
    }

    fn hipGraphClone(clone: Out<hipGraph_t>, original: hipGraph_t) {
        let (runtime, _) = current()?;
        let original = find(runtime, original)?;
        if clone.is_null() {
            return Err(hipErrorInvalidValue);
        }
        clone.set(hipGraph_t(word(original.copy(runtime).handle)))
    }

    fn hipGraphNodeFindInClone(
        node: Out<hipGraphNode_t>,
        original: hipGraphNode_t,
        clone: hipGraph_t,
    ) {
        let (runtime, _) = current()?;
        let clone = find(runtime, clone)?;
        let nodes = lock(&clone.nodes);
        let found = nodes.iter().find(|node| node.origin == original.0.addr());
        node.set(hipGraphNode_t(word(found.ok_or(hipErrorInvalidValue)?.handle)))
    }

    fn hipGraphAddDependencies(
        graph: hipGraph_t,
        from: In<hipGraphNode_t>,
        to: In<hipGraphNode_t>,
        count: usize,
    ) {
        let (runtime, _) = current()?;
        let graph = find(runtime, graph)?;
        change_edges(&graph, from, to, count, |dependencies, on| {
            if dependencies.contains(&on) {
                return Err(hipErrorInvalidValue);
            }
            dependencies.push(on);
            Ok(())
        })
    }

    fn hipGraphRemoveDependencies(
        graph: hipGraph_t,
        from: In<hipGraphNode_t>,
        to: In<hipGraphNode_t>,
        count: usize,
    ) {
        let (runtime, _) = current()?;
        let graph = find(runtime, graph)?;
        change_edges(&graph, from, to, count, |dependencies, on| {
            let at = dependencies.iter().position(|&found| found == on);
            dependencies.remove(at.ok_or(hipErrorInvalidValue)?);
            Ok(())
        })
    }

    fn hipGraphGetNodes(graph: hipGraph_t, nodes: Out<hipGraphNode_t>, count: Out<usize>) {
        let (runtime, _) = current()?;
        let graph = find(runtime, graph)?;
        let all: Vec<usize> = lock(&graph.nodes).iter().map(|node| node.handle).collect();
        enumerate(&all, nodes, count)
    }

    fn hipGraphGetRootNodes(graph: hipGraph_t, nodes: Out<hipGraphNode_t>, count: Out<usize>) {
        let (runtime, _) = current()?;
        let graph = find(runtime, graph)?;
        let all = lock(&graph.nodes);
        let roots = all.iter().filter(|node| node.dependencies.is_empty());
        enumerate(&roots.map(|node| node.handle).collect::<Vec<_>>(), nodes, count)
    }

    fn hipGraphGetEdges(
        graph: hipGraph_t,
        from: Out<hipGraphNode_t>,
        to: Out<hipGraphNode_t>,
        count: Out<usize>,
    ) {
        let (runtime, _) = current()?;
        let graph = find(runtime, graph)?;
        if from.is_null() != to.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let nodes = lock(&graph.nodes);
        let edges = nodes.iter().flat_map(|node| {
            node.dependencies.iter().map(|&dependency| (dependency, node.handle))
        });
        let (starts, ends): (Vec<usize>, Vec<usize>) = edges.unzip();
        let mut room = if from.is_null() { 0 } else { count.get()? };
        enumerate(&starts, from, count)?;
        if to.is_null() { Ok(()) } else { enumerate(&ends, to, Out::to(&mut room)) }
    }

    fn hipGraphNodeGetDependencies(
        node: hipGraphNode_t,
        dependencies: Out<hipGraphNode_t>,
        count: Out<usize>,
    ) {
        let (runtime, _) = current()?;
        enumerate(&find_node(runtime, node)?.1.dependencies, dependencies, count)
    }

    fn hipGraphNodeGetDependentNodes(
        node: hipGraphNode_t,
        dependents: Out<hipGraphNode_t>,
        count: Out<usize>,
    ) {
        let (runtime, _) = current()?;
        let (graph, node) = find_node(runtime, node)?;
        let nodes = lock(&graph.nodes);
        let all = nodes.iter().filter(|other| other.dependencies.contains(&node.handle));
        enumerate(&all.map(|node| node.handle).collect::<Vec<_>>(), dependents, count)
    }

    fn hipGraphNodeGetType(node: hipGraphNode_t, kind: Out<hipGraphNodeType>) {
        let (runtime, _) = current()?;
        let found = find_node(runtime, node)?.1.kind.node_type();
        kind.set(abi::node_type_out(found))
    }

    fn hipGraphDestroyNode(node: hipGraphNode_t) {
        let (runtime, _) = current()?;
        let (graph, node) = find_node(runtime, node)?;
        let mut nodes = lock(&graph.nodes);
        nodes.retain(|other| other.handle != node.handle);
        for other in &mut *nodes {
            other.dependencies.retain(|&dependency| dependency != node.handle);
        }
        runtime.nodes.remove(word(node.handle));
        Ok(())
    }
}

pub(crate) fn find(runtime: &Runtime, graph: hipGraph_t) -> Answer<Arc<Graph>> {
    runtime.graphs.get(graph.0).ok_or(hipErrorInvalidValue)
}

/// Changes edges, all or none.
fn change_edges(
    graph: &Graph,
    from: In<hipGraphNode_t>,
    to: In<hipGraphNode_t>,
    count: usize,
    change: impl Fn(&mut Vec<usize>, usize) -> Answer,
) -> Answer {
    let edges = from.slice(count)?.into_iter().zip(to.slice(count)?);
    let mut nodes = lock(&graph.nodes);
    let mut changed = nodes.clone();
    for (from, to) in edges {
        let (from, to) = (from.0.addr(), to.0.addr());
        if from == to || !changed.iter().any(|node| node.handle == from) {
            return Err(hipErrorInvalidValue);
        }
        let node = changed.iter_mut().find(|node| node.handle == to);
        change(&mut node.ok_or(hipErrorInvalidValue)?.dependencies, from)?;
    }
    *nodes = changed;
    Ok(())
}

/// Count, then fill: without a place for handles the count alone; else as many as there is room
/// for, null where there are fewer.
fn enumerate(all: &[usize], places: Out<hipGraphNode_t>, count: Out<usize>) -> Answer {
    if places.is_null() {
        return count.set(all.len());
    }
    let room = count.get()?;
    let given = all.iter().map(|&handle| hipGraphNode_t(word(handle)));
    let padded: Vec<hipGraphNode_t> =
        given.chain(std::iter::repeat(hipGraphNode_t::NULL)).take(room).collect();
    places.fill(&padded)?;
    count.set(room.min(all.len()))
}

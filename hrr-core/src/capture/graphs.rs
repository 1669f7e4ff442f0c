//! What a recording knows of the copies that graphs make.
//!
//! A copy belongs to a node. The handle of a node that the program added is known; those of captured
//! work, of a cloned graph and of the nodes in a child graph are the runtime's own. When the program
//! sets a node that is not known, any copy of an unknown node may have been replaced: from then on
//! none of them is checked, and each launch says so.

use std::collections::{BTreeSet, HashMap};

use super::track::Copy;
use crate::archive::event::{BlobHash, EventId};

/// A copy of a graph.
#[derive(Clone, Debug)]
pub(super) struct GraphCopy {
    /// The call that described it last.
    pub(super) owner: EventId,
    pub(super) copy: Copy,
    node: Node,
}

/// Whose a copy is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Node {
    Known(u64),
    /// A node inside the child graph of this one.
    Inside(u64),
    Unknown,
}

impl GraphCopy {
    pub(super) fn new(owner: EventId, copy: Copy) -> GraphCopy {
        GraphCopy { owner, copy, node: Node::Unknown }
    }

    fn of(self, node: Node) -> GraphCopy {
        GraphCopy { node, ..self }
    }
}

#[derive(Clone, Default, Debug)]
struct Graph {
    copies: Vec<GraphCopy>,
    /// Nodes that do not run, of an executable graph.
    off: BTreeSet<u64>,
    executable: bool,
    /// A node was set that is not known.
    vague: bool,
}

impl Graph {
    fn set(&mut self, node: u64, known: bool, copies: Vec<GraphCopy>) {
        let of_node =
            |copy: &GraphCopy| [Node::Known(node), Node::Inside(node)].contains(&copy.node);
        if !known && !self.copies.iter().any(of_node) {
            self.vague |= self.copies.iter().any(|copy| !matches!(copy.node, Node::Known(_)));
        }
        self.copies.retain(|copy| !of_node(copy));
        self.copies.extend(copies);
    }

    fn runs(&self, copy: &GraphCopy) -> bool {
        match copy.node {
            Node::Known(node) | Node::Inside(node) => !self.off.contains(&node),
            Node::Unknown => true,
        }
    }
}

/// A copy that a launch makes, and whether the graph still makes it for certain.
pub(super) struct Launched {
    pub(super) copy: GraphCopy,
    pub(super) certain: bool,
}

/// Every graph and executable graph, by its handle.
#[derive(Default)]
pub(super) struct Graphs {
    graphs: HashMap<u64, Graph>,
    /// The graphs of the nodes that the program added.
    nodes: HashMap<u64, u64>,
    /// What the sources held when they were last taken: by the call, the parameter or field, and the
    /// element that describe the copy.
    sources: HashMap<(EventId, u16, u32), BlobHash>,
    /// What streams capture, by a number of our own.
    captures: HashMap<u64, Graph>,
}

impl Graphs {
    /// Whether the handle is one.
    pub(super) fn contains(&self, handle: u64) -> bool {
        self.graphs.contains_key(&handle)
    }

    /// Copies are captured.
    pub(super) fn capture(&mut self, capture: u64, copies: impl Iterator<Item = GraphCopy>) {
        self.captures.entry(capture).or_default().copies.extend(copies);
    }

    /// A launch is captured: the executable graph becomes a child of the graph that comes of it.
    pub(super) fn capture_launch(&mut self, capture: u64, exec: u64) {
        let vague = self.graphs.get(&exec).is_some_and(|exec| exec.vague);
        let copies =
            self.launched(exec).into_iter().map(|launched| launched.copy.of(Node::Unknown));
        let captured = self.captures.entry(capture).or_default();
        captured.copies.extend(copies);
        captured.vague |= vague;
    }

    /// What was captured becomes part of a graph, which may be new; `None`: it is lost.
    pub(super) fn end_capture(&mut self, capture: u64, graph: Option<u64>) {
        let Some(captured) = self.captures.remove(&capture) else { return };
        if let Some(graph) = graph {
            let graph = self.graphs.entry(graph).or_default();
            graph.copies.extend(captured.copies);
            graph.vague |= captured.vague;
        }
    }

    /// A node was added: it makes these copies, and those of the child graph.
    pub(super) fn add(
        &mut self,
        graph: u64,
        node: Option<u64>,
        copies: impl Iterator<Item = GraphCopy>,
        child: Option<u64>,
    ) {
        let copies = self.copies_of(node, copies, child);
        let vague =
            child.and_then(|child| self.graphs.get(&child)).is_some_and(|child| child.vague);
        if let Some(node) = node {
            self.nodes.insert(node, graph);
        }
        let graph = self.graphs.entry(graph).or_default();
        graph.copies.extend(copies);
        graph.vague |= vague;
    }

    fn copies_of(
        &self,
        node: Option<u64>,
        copies: impl Iterator<Item = GraphCopy>,
        child: Option<u64>,
    ) -> Vec<GraphCopy> {
        let own = copies.map(|copy| copy.of(node.map_or(Node::Unknown, Node::Known)));
        let child = child.and_then(|child| self.graphs.get(&child));
        let inner = child.into_iter().flat_map(|child| child.copies.iter().cloned());
        own.chain(inner.map(|copy| copy.of(node.map_or(Node::Unknown, Node::Inside)))).collect()
    }

    /// A node of a graph, or of an executable graph, makes these copies and those of the child graph
    /// instead of what it made. Answers the copies whose graph is not known.
    pub(super) fn set(
        &mut self,
        exec: Option<u64>,
        node: u64,
        copies: impl Iterator<Item = GraphCopy>,
        child: Option<u64>,
    ) -> Vec<GraphCopy> {
        let copies = self.copies_of(Some(node), copies, child);
        let known = self.nodes.get(&node).copied();
        if let Some(graph) = exec.or(known) {
            self.graphs.entry(graph).or_default().set(node, known.is_some(), copies);
            return Vec::new();
        }
        let mut candidates: Vec<&mut Graph> = self
            .graphs
            .values_mut()
            .filter(|graph| !graph.executable)
            .filter(|graph| graph.copies.iter().any(|copy| !matches!(copy.node, Node::Known(_))))
            .collect();
        if let [only] = candidates.as_mut_slice() {
            only.set(node, false, copies);
            return Vec::new();
        }
        for graph in candidates {
            graph.set(node, false, Vec::new());
        }
        copies
    }

    /// A node of an executable graph runs at its launches, or does not.
    pub(super) fn enable(&mut self, exec: u64, node: u64, enabled: bool) {
        let known = self.nodes.contains_key(&node);
        let graph = self.graphs.entry(exec).or_default();
        match enabled {
            true => graph.off.remove(&node),
            false => graph.off.insert(node),
        };
        graph.vague |= !known && graph.copies.iter().any(|copy| copy.node == Node::Unknown);
    }

    /// A graph with nodes of its own holds what `graph` holds now.
    pub(super) fn clone_graph(&mut self, clone: u64, graph: u64) {
        let original = self.graphs.get(&graph).cloned().unwrap_or_default();
        let copies = original.copies.into_iter().map(|copy| copy.of(Node::Unknown)).collect();
        self.graphs.insert(clone, Graph { copies, vague: original.vague, ..Graph::default() });
    }

    /// An executable graph runs what `graph` holds now.
    pub(super) fn instantiate(&mut self, exec: u64, graph: u64) {
        let graph = self.graphs.get(&graph).cloned().unwrap_or_default();
        self.graphs.insert(exec, Graph { executable: true, ..graph });
    }

    /// An executable graph runs what `graph`, whose nodes it does not know, holds now.
    pub(super) fn update(&mut self, exec: u64, graph: u64) {
        let from = self.graphs.get(&graph).cloned().unwrap_or_default();
        let exec = self.graphs.entry(exec).or_default();
        exec.copies = from.copies.into_iter().map(|copy| copy.of(Node::Unknown)).collect();
        exec.vague = from.vague || !exec.off.is_empty();
    }

    /// What a launch makes.
    pub(super) fn launched(&self, exec: u64) -> Vec<Launched> {
        let Some(graph) = self.graphs.get(&exec) else { return Vec::new() };
        let running = graph.copies.iter().filter(|copy| graph.runs(copy));
        let launched = |copy: &GraphCopy| {
            let certain = !graph.vague || matches!(copy.node, Node::Known(_));
            Launched { copy: copy.clone(), certain }
        };
        running.map(launched).collect()
    }

    /// Remembers what a copy's source holds, for every graph that makes the copy: `true` if it is not
    /// what it held when it was last taken.
    pub(super) fn taken(&mut self, of: &GraphCopy, hash: BlobHash) -> bool {
        self.sources.insert((of.owner, of.copy.id, of.copy.element), hash) != Some(hash)
    }

    /// Forgets a graph or a node.
    pub(super) fn destroy(&mut self, handle: u64) {
        if self.graphs.remove(&handle).is_some() {
            self.nodes.retain(|_, graph| *graph != handle);
        }
        let graph = self.nodes.remove(&handle);
        if let Some(graph) = graph.and_then(|graph| self.graphs.get_mut(&graph)) {
            graph.set(handle, true, Vec::new());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desc::{Rect, Side};

    const GRAPH: u64 = 1;
    const EXEC: u64 = 2;
    const OTHER: u64 = 3;

    fn copy(address: u64) -> impl Iterator<Item = GraphCopy> {
        let rect = Rect { width: 8, height: 1, depth: 1, pitch: 8, slice: 8, offset: 0 };
        let copy = Copy { id: 0, element: 0, address, rect, side: Side::Destination };
        std::iter::once(GraphCopy::new(EventId { thread: 0, index: address }, copy))
    }

    /// Where a launch writes for certain, and where perhaps.
    fn launched(graphs: &Graphs, exec: u64) -> (Vec<u64>, Vec<u64>) {
        let (certain, vague): (Vec<Launched>, Vec<Launched>) =
            graphs.launched(exec).into_iter().partition(|launched| launched.certain);
        let addresses = |all: Vec<Launched>| {
            all.into_iter().map(|launched| launched.copy.copy.address).collect::<Vec<u64>>()
        };
        (addresses(certain), addresses(vague))
    }

    #[test]
    fn a_node_that_is_set_copies_elsewhere() {
        let mut graphs = Graphs::default();
        graphs.add(GRAPH, Some(0x10), copy(100), None);
        graphs.add(GRAPH, Some(0x11), copy(200), None);
        graphs.instantiate(EXEC, GRAPH);
        assert!(graphs.set(Some(EXEC), 0x10, copy(300), None).is_empty());
        assert_eq!(launched(&graphs, EXEC), (vec![200, 300], vec![]));
        graphs.instantiate(OTHER, GRAPH);
        assert_eq!(launched(&graphs, OTHER), (vec![100, 200], vec![]), "the graph keeps its own");
        assert!(graphs.set(None, 0x11, std::iter::empty(), None).is_empty());
        graphs.instantiate(OTHER, GRAPH);
        assert_eq!(launched(&graphs, OTHER), (vec![100], vec![]), "a copy within the device");
        graphs.destroy(0x10);
        graphs.instantiate(OTHER, GRAPH);
        assert_eq!(launched(&graphs, OTHER), (vec![], vec![]));
        assert_eq!(launched(&graphs, EXEC), (vec![200, 300], vec![]), "and so does the instance");
    }

    #[test]
    fn a_node_that_the_runtime_made_leaves_no_copy_of_such_nodes_certain() {
        let mut graphs = Graphs::default();
        graphs.capture(1, copy(100).chain(copy(200)));
        graphs.end_capture(1, Some(GRAPH));
        graphs.add(GRAPH, Some(0x10), copy(300), None);
        graphs.instantiate(EXEC, GRAPH);
        graphs.set(Some(EXEC), 0x10, copy(400), None);
        assert_eq!(launched(&graphs, EXEC), (vec![100, 200, 400], vec![]), "a known node");
        graphs.set(Some(EXEC), 0x99, copy(500), None);
        assert_eq!(launched(&graphs, EXEC), (vec![400, 500], vec![100, 200]));
        graphs.set(Some(EXEC), 0x99, copy(600), None);
        assert_eq!(launched(&graphs, EXEC), (vec![400, 600], vec![100, 200]));
        graphs.instantiate(EXEC, GRAPH);
        assert_eq!(launched(&graphs, EXEC), (vec![100, 200, 300], vec![]), "made anew");
    }

    #[test]
    fn a_node_of_one_of_several_graphs_leaves_all_of_them_vague_and_answers_its_copies() {
        let mut graphs = Graphs::default();
        graphs.add(GRAPH, Some(0x10), copy(100), None);
        graphs.clone_graph(OTHER, GRAPH);
        assert!(
            graphs.set(None, 0x99, copy(200), None).is_empty(),
            "only the clone has such nodes"
        );
        graphs.instantiate(EXEC, OTHER);
        assert_eq!(launched(&graphs, EXEC), (vec![200], vec![100]));
        graphs.clone_graph(4, GRAPH);
        assert_eq!(graphs.set(None, 0x98, copy(300), None).len(), 1);
        for graph in [4, OTHER] {
            graphs.instantiate(EXEC, graph);
            assert!(launched(&graphs, EXEC).1.contains(&100));
        }
        graphs.instantiate(EXEC, GRAPH);
        assert_eq!(launched(&graphs, EXEC), (vec![100], vec![]));
    }

    #[test]
    fn another_graph_is_copied_into_child_nodes_clones_and_instances() {
        let mut graphs = Graphs::default();
        graphs.add(GRAPH, Some(0x10), copy(100), None);
        graphs.add(OTHER, Some(0x20), std::iter::empty(), Some(GRAPH));
        graphs.set(None, 0x10, copy(200), None);
        graphs.instantiate(EXEC, OTHER);
        assert_eq!(launched(&graphs, EXEC), (vec![100], vec![]), "as it was when it was added");
        graphs.set(Some(EXEC), 0x20, std::iter::empty(), Some(GRAPH));
        assert_eq!(launched(&graphs, EXEC), (vec![200], vec![]));
        graphs.set(Some(EXEC), 0x99, copy(300), None);
        assert_eq!(launched(&graphs, EXEC), (vec![300], vec![200]), "perhaps one of the child's");
        graphs.update(EXEC, GRAPH);
        assert_eq!(launched(&graphs, EXEC), (vec![200], vec![]));
    }

    #[test]
    fn a_graph_that_is_launched_into_a_capture_is_a_child_whose_nodes_nobody_knows() {
        let mut graphs = Graphs::default();
        graphs.add(GRAPH, Some(0x10), copy(100), None);
        graphs.instantiate(EXEC, GRAPH);
        graphs.capture_launch(1, EXEC);
        graphs.end_capture(1, Some(OTHER));
        graphs.set(Some(EXEC), 0x10, copy(200), None);
        graphs.instantiate(EXEC, OTHER);
        assert_eq!(launched(&graphs, EXEC), (vec![100], vec![]), "as it was when it was captured");
        graphs.set(Some(EXEC), 0x99, copy(300), None);
        assert_eq!(launched(&graphs, EXEC), (vec![300], vec![100]));
        graphs.capture_launch(2, EXEC);
        graphs.end_capture(2, Some(4));
        graphs.instantiate(OTHER, 4);
        assert_eq!(launched(&graphs, OTHER), (vec![], vec![100, 300]));
    }

    #[test]
    fn a_node_that_is_off_copies_nothing() {
        let mut graphs = Graphs::default();
        graphs.add(GRAPH, Some(0x10), copy(100), None);
        graphs.capture(1, copy(200));
        graphs.end_capture(1, Some(GRAPH));
        graphs.instantiate(EXEC, GRAPH);
        graphs.enable(EXEC, 0x10, false);
        assert_eq!(launched(&graphs, EXEC), (vec![200], vec![]));
        graphs.enable(EXEC, 0x10, true);
        assert_eq!(launched(&graphs, EXEC), (vec![100, 200], vec![]));
        graphs.enable(EXEC, 0x99, false);
        assert_eq!(launched(&graphs, EXEC), (vec![100], vec![200]));
    }
}

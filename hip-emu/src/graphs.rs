//! Graphs: work that is described once and launched many times, and captures, which describe it
//! by doing.
//!
//! An executable graph is a clone of the graph it was made of: later changes to either leave the
//! other alone. A launch runs the nodes in one order that the dependencies allow, always the
//! same, as one piece of work of its stream.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use hrr_ffi::types::*;

use crate::api::Answer;
use crate::events::{Event, Point};
use crate::ops::{Op, Worker};
use crate::runtime::Runtime;
use crate::streams::lock;

/// What a node does.
#[derive(Clone)]
pub(crate) enum NodeKind {
    Work(Op),
    Empty,
    EventRecord(Arc<Event>),
    EventWait(Arc<Event>),
    Child(Arc<Graph>),
    /// Memory that exists as long as the graph does.
    Alloc {
        base: u64,
        bytes: u64,
        device: usize,
    },
    /// The end of such memory, until the next launch.
    Free(u64),
}

/// A node.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) handle: usize,
    /// The node that this one is a clone of; itself if it is none.
    pub(crate) origin: usize,
    pub(crate) kind: NodeKind,
    /// Handles of nodes of the same graph.
    pub(crate) dependencies: Vec<usize>,
    pub(crate) enabled: bool,
}

/// A graph.
pub(crate) struct Graph {
    pub(crate) handle: usize,
    pub(crate) nodes: Mutex<Vec<Node>>,
}

/// A graph that can be launched.
pub(crate) struct GraphExec {
    pub(crate) handle: usize,
    pub(crate) graph: Arc<Graph>,
    pub(crate) flags: u64,
}

/// One launch of a graph.
pub(crate) struct Launched {
    steps: Vec<Step>,
}

enum Step {
    Work(Op),
    Record(Point),
    Wait(Point),
}

impl Graph {
    /// An empty graph that its handle leads to.
    pub(crate) fn new(runtime: &Runtime) -> Arc<Self> {
        let graph = Arc::new(Self { handle: runtime.handles.next(), nodes: Mutex::default() });
        runtime.graphs.insert(graph.handle, Arc::clone(&graph));
        graph
    }

    /// Adds a node; the result is its handle.
    pub(crate) fn add(
        self: &Arc<Self>,
        runtime: &Runtime,
        kind: NodeKind,
        dependencies: Vec<usize>,
    ) -> usize {
        let handle = runtime.handles.next();
        let node = Node { handle, origin: handle, kind, dependencies, enabled: true };
        lock(&self.nodes).push(node);
        runtime.nodes.insert(handle, Arc::clone(self));
        handle
    }

    /// A copy with nodes of its own.
    pub(crate) fn copy(self: &Arc<Self>, runtime: &Runtime) -> Arc<Self> {
        let copy = Self::new(runtime);
        let mut nodes = lock(&self.nodes).clone();
        let handles: HashMap<usize, usize> =
            nodes.iter().map(|node| (node.handle, runtime.handles.next())).collect();
        for node in &mut nodes {
            node.origin = node.handle;
            node.handle = handles[&node.handle];
            for dependency in &mut node.dependencies {
                *dependency = handles[&*dependency];
            }
            if let NodeKind::Child(child) = &node.kind {
                node.kind = NodeKind::Child(child.copy(runtime));
            }
            runtime.nodes.insert(node.handle, Arc::clone(&copy));
        }
        *lock(&copy.nodes) = nodes;
        copy
    }

    /// Ends the graph: its handle and those of its nodes lead nowhere afterwards.
    pub(crate) fn destroy(&self, runtime: &Runtime) {
        runtime.graphs.remove(crate::handles::word(self.handle));
        let nodes = std::mem::take(&mut *lock(&self.nodes));
        for node in nodes {
            runtime.nodes.remove(crate::handles::word(node.handle));
            match node.kind {
                NodeKind::Child(child) => child.destroy(runtime),
                NodeKind::Work(_)
                | NodeKind::Empty
                | NodeKind::EventRecord(_)
                | NodeKind::EventWait(_)
                | NodeKind::Alloc { .. }
                | NodeKind::Free(_) => {}
            }
        }
    }

    /// Reads a node.
    pub(crate) fn node(&self, handle: usize) -> Answer<Node> {
        let nodes = lock(&self.nodes);
        nodes.iter().find(|node| node.handle == handle).cloned().ok_or(hipErrorInvalidValue)
    }

    /// Changes what a node does, if the change is allowed.
    pub(crate) fn change(
        &self,
        handle: usize,
        change: impl FnOnce(&NodeKind) -> Answer<NodeKind>,
    ) -> Answer {
        let mut nodes = lock(&self.nodes);
        let node =
            nodes.iter_mut().find(|node| node.handle == handle).ok_or(hipErrorInvalidValue)?;
        node.kind = change(&node.kind)?;
        Ok(())
    }

    /// Indices of the nodes in an order that the dependencies allow: among several that are
    /// ready, the one that was added first. A circle is an invalid value.
    fn order(nodes: &[Node]) -> Answer<Vec<usize>> {
        let index: HashMap<usize, usize> =
            nodes.iter().enumerate().map(|(index, node)| (node.handle, index)).collect();
        let mut missing: Vec<usize> = nodes.iter().map(|node| node.dependencies.len()).collect();
        let mut dependents = vec![Vec::new(); nodes.len()];
        for (at, node) in nodes.iter().enumerate() {
            for dependency in &node.dependencies {
                let on = *index.get(dependency).ok_or(hipErrorInvalidValue)?;
                dependents[on].push(at);
            }
        }
        let mut ready: std::collections::BTreeSet<usize> =
            (0..nodes.len()).filter(|&at| missing[at] == 0).collect();
        let mut order = Vec::with_capacity(nodes.len());
        while let Some(at) = ready.pop_first() {
            order.push(at);
            for &next in &dependents[at] {
                missing[next] -= 1;
                if missing[next] == 0 {
                    ready.insert(next);
                }
            }
        }
        if order.len() == nodes.len() { Ok(order) } else { Err(hipErrorInvalidValue) }
    }

    /// Checks that the graph can be launched.
    pub(crate) fn check(&self) -> Answer {
        let nodes = lock(&self.nodes);
        for node in &*nodes {
            if let NodeKind::Child(child) = &node.kind {
                child.check()?;
            }
        }
        Self::order(&nodes).map(drop)
    }

    /// Takes the steps of a launch. Events count as recorded from here on.
    fn steps(&self, steps: &mut Vec<Step>) -> Answer {
        let nodes = lock(&self.nodes);
        for at in Self::order(&nodes)? {
            let node = &nodes[at];
            if !node.enabled {
                continue;
            }
            match &node.kind {
                NodeKind::Work(op) => steps.push(Step::Work(op.clone())),
                NodeKind::EventRecord(event) => steps.push(Step::Record(event.record_in_graph())),
                NodeKind::EventWait(event) => steps.extend(event.latest().map(Step::Wait)),
                NodeKind::Child(child) => child.steps(steps)?,
                NodeKind::Empty | NodeKind::Alloc { .. } | NodeKind::Free(_) => {}
            }
        }
        Ok(())
    }
}

impl NodeKind {
    /// HIP's name for what the node does.
    pub(crate) fn node_type(&self) -> hipGraphNodeType {
        match self {
            Self::Work(op) => match op {
                Op::Copy(_) | Op::Staged(_) => hipGraphNodeTypeMemcpy,
                Op::Fill(_) => hipGraphNodeTypeMemset,
                Op::Kernel(_) => hipGraphNodeTypeKernel,
                Op::Host(_) | Op::Callback(_) => hipGraphNodeTypeHost,
                Op::Free(_) => hipGraphNodeTypeMemFree,
                Op::Memory(_) => hipGraphNodeTypeBatchMemOp,
                Op::Graph(_) => hipGraphNodeTypeGraph,
                Op::Complete(_) => hipGraphNodeTypeEventRecord,
                Op::Await(_) => hipGraphNodeTypeWaitEvent,
            },
            Self::Empty => hipGraphNodeTypeEmpty,
            Self::EventRecord(_) => hipGraphNodeTypeEventRecord,
            Self::EventWait(_) => hipGraphNodeTypeWaitEvent,
            Self::Child(_) => hipGraphNodeTypeGraph,
            Self::Alloc { .. } => hipGraphNodeTypeMemAlloc,
            Self::Free(_) => hipGraphNodeTypeMemFree,
        }
    }
}

impl GraphExec {
    /// Takes a snapshot of the graph.
    pub(crate) fn new(runtime: &Runtime, graph: &Arc<Graph>, flags: u64) -> Answer<Arc<Self>> {
        graph.check()?;
        let snapshot = graph.copy(runtime);
        let handle = runtime.handles.next();
        let exec = Arc::new(Self { handle, graph: snapshot, flags });
        runtime.execs.insert(handle, Arc::clone(&exec));
        Ok(exec)
    }

    /// The launch as it is now: later changes of the parameters are for later launches.
    pub(crate) fn launch(&self) -> Answer<Arc<Launched>> {
        let mut steps = Vec::new();
        self.graph.steps(&mut steps)?;
        Ok(Arc::new(Launched { steps }))
    }

    /// Changes the node that was made from the given node of the original graph.
    pub(crate) fn change(
        &self,
        original: usize,
        change: impl FnOnce(&NodeKind) -> Answer<NodeKind>,
    ) -> Answer {
        let mut nodes = lock(&self.graph.nodes);
        let node =
            nodes.iter_mut().find(|node| node.origin == original).ok_or(hipErrorInvalidValue)?;
        let kind = change(&node.kind)?;
        if kind.node_type() != node.kind.node_type() {
            return Err(hipErrorInvalidValue);
        }
        node.kind = kind;
        Ok(())
    }

    /// Takes the parameters of a graph of the same shape. On a mismatch: why, and at which node.
    pub(crate) fn update(
        &self,
        runtime: &Runtime,
        graph: &Graph,
    ) -> Result<(), (hipGraphExecUpdateResult, usize)> {
        let theirs = lock(&graph.nodes);
        let mut ours = lock(&self.graph.nodes);
        if theirs.len() != ours.len() {
            return Err((hipGraphExecUpdateErrorTopologyChanged, 0));
        }
        let position =
            |nodes: &[Node], handle: usize| nodes.iter().position(|n| n.handle == handle);
        for (mine, new) in ours.iter().zip(&*theirs) {
            let same = |kind: hipGraphExecUpdateResult| (kind, new.handle);
            if mine.kind.node_type() != new.kind.node_type() {
                return Err(same(hipGraphExecUpdateErrorNodeTypeChanged));
            }
            let edges = |nodes: &[Node], of: &Node| -> Vec<Option<usize>> {
                of.dependencies.iter().map(|&handle| position(nodes, handle)).collect()
            };
            if edges(&ours, mine) != edges(&theirs, new) {
                return Err(same(hipGraphExecUpdateErrorTopologyChanged));
            }
        }
        for (mine, new) in ours.iter_mut().zip(&*theirs) {
            mine.origin = new.handle;
            mine.kind = match &new.kind {
                NodeKind::Child(child) => NodeKind::Child(child.copy(runtime)),
                other => other.clone(),
            };
        }
        Ok(())
    }
}

impl Launched {
    /// Runs the nodes.
    pub(crate) fn run(&self, worker: &Worker) -> Answer {
        for step in &self.steps {
            match step {
                Step::Work(op) => worker.run(op),
                Step::Record(point) => point.complete(),
                Step::Wait(point) => point.wait(),
            }
        }
        Ok(())
    }

    /// Completes the events of a launch that does not run.
    pub(crate) fn complete_events(&self) {
        for step in &self.steps {
            match step {
                Step::Record(point) => point.complete(),
                Step::Work(_) | Step::Wait(_) => {}
            }
        }
    }
}

/// A capture: streams that describe a graph instead of working.
pub(crate) struct Capture {
    pub(crate) id: u64,
    pub(crate) graph: Arc<Graph>,
    pub(crate) mode: hipStreamCaptureMode,
    pub(crate) thread: ThreadId,
    state: AtomicU8,
}

const ACTIVE: u8 = 0;
const INVALID: u8 = 1;
const ENDED: u8 = 2;

impl Capture {
    pub(crate) fn new(
        runtime: &Runtime,
        graph: Arc<Graph>,
        mode: hipStreamCaptureMode,
    ) -> Arc<Self> {
        let thread = std::thread::current().id();
        let state = AtomicU8::new(ACTIVE);
        let capture = Arc::new(Self { id: runtime.next_id(), graph, mode, thread, state });
        lock(&runtime.captures).push(Arc::downgrade(&capture));
        capture
    }

    /// Spoils the capture: a call was made that cannot be part of it.
    pub(crate) fn invalidate(&self) {
        // Only an active capture can be spoiled; an ended one is a graph already.
        let _ended_or_spoiled =
            self.state.compare_exchange(ACTIVE, INVALID, Ordering::AcqRel, Ordering::Acquire);
    }

    pub(crate) fn is_valid(&self) -> bool {
        self.state.load(Ordering::Acquire) == ACTIVE
    }

    pub(crate) fn check_valid(&self) -> Answer {
        if self.is_valid() { Ok(()) } else { Err(hipErrorStreamCaptureInvalidated) }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.state.load(Ordering::Acquire) == ENDED
    }

    pub(crate) fn end(&self) {
        self.state.store(ENDED, Ordering::Release);
    }
}

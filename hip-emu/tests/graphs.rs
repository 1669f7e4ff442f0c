//! Goal: graphs do what their nodes say, as often as they are launched, and captures turn calls
//! into nodes or say why they cannot. Method: results of launches are read back; every error of
//! a capture is provoked.

mod hip;

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use hip::*;
use hrr_ffi::types::*;

fn graph() -> hipGraph_t {
    let mut graph = hipGraph_t::NULL;
    ok(hipGraphCreate(&raw mut graph, 0));
    graph
}

fn instantiate(graph: hipGraph_t) -> hipGraphExec_t {
    let mut exec = hipGraphExec_t::NULL;
    ok(hipGraphInstantiate(&raw mut exec, graph, null_mut(), null_mut(), 0));
    exec
}

/// Parameters of `add(p, value, 64)`, with room for the arguments.
struct AddNode {
    p: *mut c_void,
    value: i32,
    n: i32,
    pointers: [*mut c_void; 3],
}

impl AddNode {
    fn new(p: *mut c_void, value: i32) -> Box<Self> {
        let mut node = Box::new(Self { p, value, n: 64, pointers: [null_mut(); 3] });
        node.pointers =
            [(&raw mut node.p).cast(), (&raw mut node.value).cast(), (&raw mut node.n).cast()];
        node
    }

    fn params(&mut self, function: hipFunction_t) -> hipKernelNodeParams {
        hipKernelNodeParams {
            blockDim: dim3 { x: 64, y: 1, z: 1 },
            extra: null_mut(),
            func: function.0,
            gridDim: dim3 { x: 1, y: 1, z: 1 },
            kernelParams: self.pointers.as_mut_ptr(),
            sharedMemBytes: 0,
        }
    }
}

fn memset_params(dst: *mut c_void, value: u32, count: usize) -> hipMemsetParams {
    hipMemsetParams { dst, elementSize: 4, height: 1, pitch: 0, value, width: count }
}

fn pitched(ptr: *mut c_void, bytes: usize) -> hipPitchedPtr {
    hipPitchedPtr { ptr, pitch: bytes, xsize: bytes, ysize: 1 }
}

#[test]
fn explicit_nodes_run_in_the_order_of_their_dependencies() {
    let _one = exclusive();
    let module = module(KERNELS);
    let add = function(module, c"add");
    let (memory, copy) = (device_memory(256), device_memory(256));
    let graph = graph();
    let (mut set, mut kernel, mut across, mut back) = Default::default();
    // Added in the wrong order; the edges say what comes first.
    let mut result = [0_u32; 64];
    let back_params = hipMemcpy3DParms {
        srcArray: hipArray_t::NULL,
        srcPos: hipPos::default(),
        srcPtr: pitched(copy, 256),
        dstArray: hipArray_t::NULL,
        dstPos: hipPos::default(),
        dstPtr: pitched(result.as_mut_ptr().cast(), 256),
        extent: hipExtent { width: 256, height: 1, depth: 1 },
        kind: hipMemcpyDeviceToHost,
    };
    ok(hipGraphAddMemcpyNode(&raw mut back, graph, null(), 0, &raw const back_params));
    let kind = hipMemcpyDeviceToDevice;
    ok(hipGraphAddMemcpyNode1D(&raw mut across, graph, null(), 0, copy, memory, 256, kind));
    let mut arguments = AddNode::new(memory, 2);
    let params = arguments.params(add);
    ok(hipGraphAddKernelNode(&raw mut kernel, graph, null(), 0, &raw const params));
    let memset = memset_params(memory, 40, 64);
    ok(hipGraphAddMemsetNode(&raw mut set, graph, null(), 0, &raw const memset));
    let (from, to) = ([set, kernel, across], [kernel, across, back]);
    ok(hipGraphAddDependencies(graph, from.as_ptr(), to.as_ptr(), 3));
    let again = hipGraphAddDependencies(graph, from.as_ptr(), to.as_ptr(), 1);
    assert_eq!(again, hipErrorInvalidValue);
    // What the arguments pointed at was read when the node was added.
    arguments.value = 1000;

    let exec = instantiate(graph);
    let stream = stream();
    for _ in 0..3 {
        result.fill(0);
        ok(hipGraphLaunch(exec, stream));
        ok(hipStreamSynchronize(stream));
        assert_eq!(result, [42; 64]);
    }
    // New parameters are for later launches, of this exec alone.
    let mut changed = AddNode::new(memory, 7);
    let params = changed.params(add);
    ok(hipGraphExecKernelNodeSetParams(exec, kernel, &raw const params));
    ok(hipGraphLaunch(exec, stream));
    ok(hipStreamSynchronize(stream));
    assert_eq!(result, [47; 64]);
    let wrong = hipGraphExecKernelNodeSetParams(exec, set, &raw const params);
    assert_eq!(wrong, hipErrorInvalidValue);
    let other = instantiate(graph);
    ok(hipGraphLaunch(other, stream));
    ok(hipStreamSynchronize(stream));
    assert_eq!(result, [42; 64]);

    // The node tells its parameters.
    let mut told = params;
    ok(hipGraphKernelNodeGetParams(kernel, &raw mut told));
    assert_eq!((told.func, told.blockDim.x), (add.0, 64));
    // SAFETY: the array holds pointers to the node's arguments.
    let second = unsafe { told.kernelParams.add(1).read() };
    // SAFETY: the second argument is an `int`.
    assert_eq!(unsafe { second.cast::<i32>().read_unaligned() }, 2);

    // An exec takes a graph of the same shape, and no other.
    let (mut node, mut why) = (hipGraphNode_t::NULL, hipGraphExecUpdateError);
    ok(hipGraphExecUpdate(exec, graph, &raw mut node, &raw mut why));
    assert_eq!(why, hipGraphExecUpdateSuccess);
    ok(hipGraphLaunch(exec, stream));
    ok(hipStreamSynchronize(stream));
    assert_eq!(result, [42; 64]);
    let mut extra = hipGraphNode_t::NULL;
    ok(hipGraphAddEmptyNode(&raw mut extra, graph, null(), 0));
    let failed = hipGraphExecUpdate(exec, graph, &raw mut node, &raw mut why);
    assert_eq!(failed, hipErrorGraphExecUpdateFailure);
    assert_eq!(why, hipGraphExecUpdateErrorTopologyChanged);

    for exec in [exec, other] {
        ok(hipGraphExecDestroy(exec));
    }
    ok(hipGraphDestroy(graph));
    assert_eq!(hipGraphDestroy(graph), hipErrorInvalidValue);
    let mut kind = hipGraphNodeTypeEmpty;
    assert_eq!(hipGraphNodeGetType(set, &raw mut kind), hipErrorInvalidValue);
    ok(hipStreamDestroy(stream));
    ok(hipModuleUnload(module));
    for memory in [memory, copy] {
        ok(hipFree(memory));
    }
}

#[test]
fn a_thousand_dependencies_are_kept_and_circles_are_refused() {
    let _one = exclusive();
    let graph = graph();
    let mut nodes = vec![hipGraphNode_t::NULL; 1000];
    for node in &mut nodes {
        ok(hipGraphAddEmptyNode(&raw mut *node, graph, null(), 0));
    }
    let mut last = hipGraphNode_t::NULL;
    ok(hipGraphAddEmptyNode(&raw mut last, graph, nodes.as_ptr(), 1000));
    let mut count = 0;
    ok(hipGraphGetNodes(graph, null_mut(), &raw mut count));
    assert_eq!(count, 1001);
    ok(hipGraphGetEdges(graph, null_mut(), null_mut(), &raw mut count));
    assert_eq!(count, 1000);
    let (mut from, mut to) = (vec![hipGraphNode_t::NULL; 1002], vec![hipGraphNode_t::NULL; 1002]);
    count = 1002;
    ok(hipGraphGetEdges(graph, from.as_mut_ptr(), to.as_mut_ptr(), &raw mut count));
    assert_eq!((count, &from[..1000]), (1000, &nodes[..]));
    assert!(to[..1000].iter().all(|&node| node == last) && from[1000].is_null());
    // More handles than nodes, twice the same, and a stranger.
    let add = |given: &[hipGraphNode_t], count| {
        let mut node = hipGraphNode_t::NULL;
        hipGraphAddEmptyNode(&raw mut node, graph, given.as_ptr(), count)
    };
    assert_eq!(add(&nodes, u32::MAX as usize), hipErrorInvalidValue);
    assert_eq!(add(&[last, last], 2), hipErrorInvalidValue);
    assert_eq!(add(&[hipGraphNode_t(graph.0)], 1), hipErrorInvalidValue);
    ok(hipGraphAddDependencies(graph, &raw const last, nodes.as_ptr(), 1));
    let mut exec = hipGraphExec_t::NULL;
    let circle = hipGraphInstantiate(&raw mut exec, graph, null_mut(), null_mut(), 0);
    assert_eq!((circle, exec), (hipErrorInvalidValue, hipGraphExec_t::NULL));
    ok(hipGraphDestroy(graph));
}

#[test]
fn clones_and_children_have_nodes_of_their_own() {
    let _one = exclusive();
    let memory = device_memory(256);
    let inner = graph();
    let mut set = hipGraphNode_t::NULL;
    let memset = memset_params(memory, 5, 64);
    ok(hipGraphAddMemsetNode(&raw mut set, inner, null(), 0, &raw const memset));
    let outer = graph();
    let mut child = hipGraphNode_t::NULL;
    ok(hipGraphAddChildGraphNode(&raw mut child, outer, null(), 0, inner));
    let mut itself = hipGraphNode_t::NULL;
    let circle = hipGraphAddChildGraphNode(&raw mut itself, outer, null(), 0, outer);
    assert_eq!(circle, hipErrorInvalidValue);
    let (mut clone, mut twin) = (hipGraph_t::NULL, hipGraphNode_t::NULL);
    ok(hipGraphClone(&raw mut clone, inner));
    ok(hipGraphNodeFindInClone(&raw mut twin, set, clone));
    assert!(twin != set && !twin.is_null());
    // The child was copied when it was added.
    ok(hipGraphDestroy(inner));
    let exec = instantiate(outer);
    ok(hipGraphLaunch(exec, NULL_STREAM));
    ok(hipDeviceSynchronize());
    assert_eq!(read_words(memory, 64), [5; 64]);
    ok(hipGraphExecDestroy(exec));
    for graph in [outer, clone] {
        ok(hipGraphDestroy(graph));
    }
    ok(hipFree(memory));
}

#[test]
fn events_of_a_graph_are_recorded_by_each_launch() {
    let _one = exclusive();
    let (event, stream, words) = (event(), non_blocking_stream(), pinned(1));
    let graph = graph();
    let mut node = hipGraphNode_t::NULL;
    ok(hipGraphAddEventRecordNode(&raw mut node, graph, null(), 0, event));
    let exec = instantiate(graph);
    ok(hipEventQuery(event));
    gate(stream, &mut words[0]);
    ok(hipGraphLaunch(exec, stream));
    assert_eq!(hipEventQuery(event), hipErrorNotReady);
    open(&mut words[0]);
    ok(hipEventSynchronize(event));
    ok(hipGraphExecDestroy(exec));
    ok(hipGraphDestroy(graph));
    ok(hipEventDestroy(event));
    ok(hipStreamDestroy(stream));
    ok(hipHostFree(words.as_mut_ptr().cast()));
}

unsafe extern "C" fn increment(data: *mut c_void) {
    // SAFETY: the test passes a live counter that only this function changes.
    unsafe { *data.cast::<u32>() += 1 };
}

#[test]
fn captures_describe_work_across_streams_without_doing_it() {
    let _one = exclusive();
    let (origin, other) = (stream(), stream());
    let (fork, join) = (event(), event());
    let memory = device_memory(8);
    ok(hipMemset(memory, 0, 8));
    let words = pinned(2);
    let mut calls = 0_u32;
    let mut status = hipStreamCaptureStatusNone;
    ok(hipStreamBeginCapture(origin, hipStreamCaptureModeGlobal));
    ok(hipStreamIsCapturing(origin, &raw mut status));
    assert_eq!(status, hipStreamCaptureStatusActive);
    ok(hipEventRecord(fork, origin));
    ok(hipStreamWaitEvent(other, fork, 0));
    ok(hipStreamIsCapturing(other, &raw mut status));
    assert_eq!(status, hipStreamCaptureStatusActive, "joined through the event");
    let pageable = [1_u32];
    let from = |words: &[u32]| words.as_ptr().cast::<c_void>();
    let kind = hipMemcpyHostToDevice;
    ok(hipMemcpyAsync(memory, from(&words[..1]), 4, kind, origin));
    ok(hipMemcpyAsync(memory.wrapping_byte_add(4), from(&pageable), 4, kind, other));
    ok(hipLaunchHostFunc(other, Some(increment), (&raw mut calls).cast()));
    ok(hipEventRecord(join, other));
    assert_eq!(hipEventQuery(join), hipErrorCapturedEvent, "spoils the capture");
    let mut graph = hipGraph_t(std::ptr::dangling_mut());
    assert_eq!(hipStreamEndCapture(origin, &raw mut graph), hipErrorStreamCaptureInvalidated);
    assert!(graph.is_null());
    ok(hipStreamIsCapturing(other, &raw mut status));
    assert_eq!(status, hipStreamCaptureStatusNone, "the capture is over for all");
    assert_eq!((read_words(memory, 2), calls), (vec![0, 0], 0), "nothing was done");

    // Once more, without the spoiling call.
    ok(hipStreamBeginCapture(origin, hipStreamCaptureModeGlobal));
    ok(hipEventRecord(fork, origin));
    ok(hipStreamWaitEvent(other, fork, 0));
    ok(hipMemcpyAsync(memory, from(&words[..1]), 4, kind, origin));
    ok(hipMemcpyAsync(memory.wrapping_byte_add(4), from(&words[1..]), 4, kind, other));
    ok(hipLaunchHostFunc(other, Some(increment), (&raw mut calls).cast()));
    ok(hipEventRecord(join, other));
    ok(hipStreamWaitEvent(origin, join, 0));
    ok(hipStreamEndCapture(origin, &raw mut graph));
    let mut count = 0;
    ok(hipGraphGetNodes(graph, null_mut(), &raw mut count));
    assert_eq!(count, 3);
    let exec = instantiate(graph);
    for round in 1..4_u32 {
        // The source is read by each launch.
        words.copy_from_slice(&[10 * round, 20 * round]);
        ok(hipGraphLaunch(exec, origin));
        ok(hipStreamSynchronize(origin));
        assert_eq!(read_words(memory, 2), [10 * round, 20 * round]);
    }
    // SAFETY: the callbacks have run.
    assert_eq!(unsafe { (&raw const calls).read_volatile() }, 3);
    ok(hipGraphExecDestroy(exec));
    ok(hipGraphDestroy(graph));
    for event in [fork, join] {
        ok(hipEventDestroy(event));
    }
    for stream in [origin, other] {
        ok(hipStreamDestroy(stream));
    }
    ok(hipFree(memory));
    ok(hipHostFree(words.as_mut_ptr().cast()));
}

#[test]
fn captures_end_with_the_error_that_they_ran_into() {
    let _one = exclusive();
    let (origin, other) = (stream(), stream());
    let (fork, outside) = (event(), event());
    let global = hipStreamCaptureModeGlobal;
    let mut graph = hipGraph_t::NULL;
    let begin = |mode| ok(hipStreamBeginCapture(origin, mode));
    assert_eq!(hipStreamEndCapture(origin, &raw mut graph), hipErrorIllegalState);
    assert_eq!(hipStreamBeginCapture(NULL_STREAM, global), hipErrorStreamCaptureUnsupported);

    begin(global);
    assert_eq!(hipStreamBeginCapture(origin, global), hipErrorIllegalState);
    ok(hipStreamEndCapture(origin, &raw mut graph));
    ok(hipGraphDestroy(graph));

    // Waiting for a stream that captures.
    begin(global);
    assert_eq!(hipStreamSynchronize(origin), hipErrorStreamCaptureUnsupported);
    let launch = hipLaunchHostFunc(origin, Some(increment), null_mut());
    assert_eq!(launch, hipErrorStreamCaptureInvalidated);
    assert_eq!(hipStreamEndCapture(origin, &raw mut graph), hipErrorStreamCaptureInvalidated);

    // Calls that cannot be part of any graph, from any thread.
    begin(global);
    let malloc = std::thread::spawn(|| {
        let mut none = null_mut();
        hipMalloc(&raw mut none, 16)
    });
    assert_eq!(malloc.join().unwrap(), hipErrorStreamCaptureUnsupported);
    assert_eq!(hipStreamEndCapture(origin, &raw mut graph), hipErrorStreamCaptureInvalidated);

    // In the thread's own mode they are forbidden to that thread alone; when relaxed, to none.
    begin(hipStreamCaptureModeThreadLocal);
    std::thread::spawn(|| ok(hipFree(device_memory(16)))).join().unwrap();
    let wrong = std::thread::spawn(move || {
        let mut none = hipGraph_t::NULL;
        hipStreamEndCapture(origin, &raw mut none)
    });
    assert_eq!(wrong.join().unwrap(), hipErrorStreamCaptureWrongThread);
    ok(hipStreamEndCapture(origin, &raw mut graph));
    ok(hipGraphDestroy(graph));
    begin(hipStreamCaptureModeRelaxed);
    ok(hipFree(device_memory(16)));
    ok(hipStreamEndCapture(origin, &raw mut graph));
    ok(hipGraphDestroy(graph));

    // The null stream would have to wait for the capture.
    begin(hipStreamCaptureModeRelaxed);
    let host = hipLaunchHostFunc(NULL_STREAM, Some(increment), null_mut());
    assert_eq!(host, hipErrorStreamCaptureImplicit);
    assert_eq!(hipStreamEndCapture(origin, &raw mut graph), hipErrorStreamCaptureInvalidated);

    // Work of another stream that never came back.
    let mut counter = 0_u32;
    begin(global);
    ok(hipEventRecord(fork, origin));
    ok(hipStreamWaitEvent(other, fork, 0));
    ok(hipLaunchHostFunc(other, Some(increment), (&raw mut counter).cast()));
    assert_eq!(hipStreamEndCapture(other, &raw mut graph), hipErrorStreamCaptureUnmatched);
    assert_eq!(hipStreamEndCapture(origin, &raw mut graph), hipErrorStreamCaptureUnjoined);

    // Waiting for work outside the graph, that has not ended.
    let words = pinned(1);
    gate(other, &mut words[0]);
    ok(hipEventRecord(outside, other));
    begin(global);
    assert_eq!(hipStreamWaitEvent(origin, outside, 0), hipErrorStreamCaptureIsolation);
    assert_eq!(hipStreamEndCapture(origin, &raw mut graph), hipErrorStreamCaptureInvalidated);
    open(&mut words[0]);
    ok(hipStreamSynchronize(other));

    // Afterwards the streams work as if nothing had been.
    begin(global);
    ok(hipStreamEndCapture(origin, &raw mut graph));
    ok(hipGraphDestroy(graph));
    ok(hipLaunchHostFunc(origin, Some(increment), (&raw mut counter).cast()));
    ok(hipStreamSynchronize(origin));
    // SAFETY: the callback has run.
    assert_eq!(unsafe { (&raw const counter).read_volatile() }, 1);
    for event in [fork, outside] {
        ok(hipEventDestroy(event));
    }
    for stream in [origin, other] {
        ok(hipStreamDestroy(stream));
    }
    ok(hipHostFree(words.as_mut_ptr().cast()));
}

#[test]
fn graphs_come_and_go_without_leaving_anything() {
    let _one = exclusive();
    let stream = stream();
    let memory = device_memory(256);
    let mut before = 0;
    ok(hipMemGetInfo(&raw mut before, null_mut()));
    for round in 0..500 {
        let graph = graph();
        let mut node = hipGraphNode_t::NULL;
        let memset = memset_params(memory, round, 64);
        ok(hipGraphAddMemsetNode(&raw mut node, graph, null(), 0, &raw const memset));
        let exec = instantiate(graph);
        ok(hipGraphDestroy(graph));
        ok(hipGraphLaunch(exec, stream));
        // The launch goes on without the exec.
        ok(hipGraphExecDestroy(exec));
    }
    ok(hipStreamSynchronize(stream));
    assert_eq!(read_words(memory, 64), [499; 64]);
    let mut after = 0;
    ok(hipMemGetInfo(&raw mut after, null_mut()));
    assert_eq!(before, after);
    ok(hipStreamDestroy(stream));
    ok(hipFree(memory));
}

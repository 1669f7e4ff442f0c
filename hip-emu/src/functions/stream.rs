//! Streams: life, waiting, callbacks, operations on memory, capture.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::sync::Arc;

use hrr_ffi::types::*;

use super::device::{PRIORITY_GREATEST, PRIORITY_LEAST};
use super::memory::per_thread;
use super::properties::UNITS;
use crate::abi::{by_version, major};
use crate::api::{Answer, In, Out};
use crate::graphs::{Capture, Graph};
use crate::handles::word;
use crate::ops::{Condition, HostCall, MemoryOp, Op, StreamCallback};
use crate::runtime::{Runtime, current, no_stream, runtime};
use crate::streams::{Ordering, Stream, StreamCapture, lock};
use crate::{events, thread};

hip_api! { TABLE;
    fn hipStreamCreate(stream: Out<hipStream_t>) {
        create(stream, hipStreamDefault, 0)
    }

    fn hipStreamCreateWithFlags(stream: Out<hipStream_t>, flags: c_uint) {
        create(stream, flags, 0)
    }

    fn hipStreamCreateWithPriority(stream: Out<hipStream_t>, flags: c_uint, priority: c_int) {
        create(stream, flags, priority)
    }

    /// Which units work on a stream changes nothing here.
    fn hipExtStreamCreateWithCUMask(stream: Out<hipStream_t>, words: u32, mask: In<u32>) {
        if words == 0 {
            return Err(hipErrorInvalidValue);
        }
        let mask = mask.slice(words as usize)?;
        create_masked(stream, hipStreamDefault, 0, Some(mask))
    }

    /// The mask that the stream was made with, or that of all units; what lies behind it is left
    /// as it is.
    fn hipExtStreamGetCUMask(stream: hipStream_t, words: u32, mask: Out<u32>) {
        let stream = find(stream)?;
        let units = UNITS.cast_unsigned();
        if words < units.div_ceil(u32::BITS) || mask.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let all = |word: u32| match units - word * u32::BITS {
            rest @ ..u32::BITS => (1 << rest) - 1,
            _full => u32::MAX,
        };
        match &stream.units {
            None => mask.fill(&(0..units.div_ceil(u32::BITS)).map(all).collect::<Vec<u32>>()),
            Some(chosen) => mask.fill(&chosen[..chosen.len().min(words as usize)]),
        }
    }

    fn hipStreamDestroy(stream: hipStream_t) {
        let (runtime, _) = current()?;
        // The null stream and the thread's own are nobody's to destroy.
        let missing = if stream.0.addr() <= 2 { hipErrorInvalidHandle } else { no_stream() };
        let found = runtime.streams.remove(stream.0).ok_or(missing)?;
        if let Some(state) = found.capture().take() {
            state.capture.invalidate();
        }
        Ok(())
    }

    fn hipStreamQuery(stream: hipStream_t) {
        query(stream)
    }

    fn hipStreamQuery_spt(stream: hipStream_t) {
        query(per_thread(stream))
    }

    fn hipStreamSynchronize(stream: hipStream_t) {
        synchronize(stream)
    }

    fn hipStreamSynchronize_spt(stream: hipStream_t) {
        synchronize(per_thread(stream))
    }

    fn hipStreamWaitEvent(stream: hipStream_t, event: hipEvent_t, flags: c_uint) {
        wait_event(stream, event, flags)
    }

    fn hipStreamWaitEvent_spt(stream: hipStream_t, event: hipEvent_t, flags: c_uint) {
        wait_event(per_thread(stream), event, flags)
    }

    fn hipStreamGetFlags(stream: hipStream_t, flags: Out<c_uint>) {
        if stream.is_null() && major() <= 5 {
            return Err(hipErrorInvalidValue);
        }
        flags.set(find(stream)?.flags)
    }

    fn hipStreamGetFlags_spt(stream: hipStream_t, flags: Out<c_uint>) {
        flags.set(find(per_thread(stream))?.flags)
    }

    fn hipStreamGetPriority(stream: hipStream_t, priority: Out<c_int>) {
        priority.set(find(stream)?.priority)
    }

    fn hipStreamGetPriority_spt(stream: hipStream_t, priority: Out<c_int>) {
        priority.set(find(per_thread(stream))?.priority)
    }

    fn hipStreamGetDevice(stream: hipStream_t, device: Out<hipDevice_t>) {
        device.set(find(stream)?.device as c_int)
    }

    fn hipStreamGetId(stream: hipStream_t, id: Out<c_ulonglong>) {
        id.set(find(stream)?.id)
    }

    fn hipLaunchHostFunc(stream: hipStream_t, function: hipHostFn_t, data: *mut c_void) {
        launch_host(stream, function, data)
    }

    fn hipLaunchHostFunc_spt(stream: hipStream_t, function: hipHostFn_t, data: *mut c_void) {
        launch_host(per_thread(stream), function, data)
    }

    fn hipStreamAddCallback(
        stream: hipStream_t,
        callback: hipStreamCallback_t,
        data: *mut c_void,
        flags: c_uint,
    ) {
        add_callback(stream, callback, data, flags)
    }

    fn hipStreamAddCallback_spt(
        stream: hipStream_t,
        callback: hipStreamCallback_t,
        data: *mut c_void,
        flags: c_uint,
    ) {
        add_callback(per_thread(stream), callback, data, flags)
    }

    fn hipStreamWriteValue32(stream: hipStream_t, to: *mut c_void, value: u32, flags: c_uint) {
        if flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        let (address, value) = (to.addr() as u64, value.into());
        memory_ops(stream, &[MemoryOp::Write { address, value, bytes: 4 }])
    }

    fn hipStreamWriteValue64(stream: hipStream_t, to: *mut c_void, value: u64, flags: c_uint) {
        if flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        memory_ops(stream, &[MemoryOp::Write { address: to.addr() as u64, value, bytes: 8 }])
    }

    fn hipStreamWaitValue32(
        stream: hipStream_t,
        at: *mut c_void,
        value: u32,
        flags: c_uint,
        mask: u32,
    ) {
        let (address, condition) = (at.addr() as u64, condition(flags)?);
        let (value, mask) = (value.into(), mask.into());
        memory_ops(stream, &[MemoryOp::Wait { address, value, mask, bytes: 4, condition }])
    }

    fn hipStreamWaitValue64(
        stream: hipStream_t,
        at: *mut c_void,
        value: u64,
        flags: c_uint,
        mask: u64,
    ) {
        let (address, condition) = (at.addr() as u64, condition(flags)?);
        memory_ops(stream, &[MemoryOp::Wait { address, value, mask, bytes: 8, condition }])
    }

    fn hipStreamBatchMemOp(
        stream: hipStream_t,
        count: c_uint,
        operations: In<hipStreamBatchMemOpParams>,
        flags: c_uint,
    ) {
        if count == 0 || flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        memory_ops(stream, &batch(operations, count)?)
    }

    fn hipStreamBeginCapture(stream: hipStream_t, mode: hipStreamCaptureMode) {
        begin_capture(stream, mode)
    }

    fn hipStreamBeginCapture_spt(stream: hipStream_t, mode: hipStreamCaptureMode) {
        begin_capture(per_thread(stream), mode)
    }

    fn hipStreamBeginCaptureToGraph(
        stream: hipStream_t,
        graph: hipGraph_t,
        dependencies: In<hipGraphNode_t>,
        edges: In<hipGraphEdgeData>,
        count: usize,
        mode: hipStreamCaptureMode,
    ) {
        let (runtime, _) = current()?;
        let graph = runtime.graphs.get(graph.0).ok_or(hipErrorInvalidValue)?;
        if !edges.is_null() {
            return Err(hipErrorNotSupported);
        }
        let dependencies = super::graph_node::dependencies(&graph, dependencies, count)?;
        begin_capture_to(runtime, stream, graph, dependencies, mode)
    }

    fn hipStreamEndCapture(stream: hipStream_t, graph: Out<hipGraph_t>) {
        end_capture(stream, graph)
    }

    fn hipStreamEndCapture_spt(stream: hipStream_t, graph: Out<hipGraph_t>) {
        end_capture(per_thread(stream), graph)
    }

    fn hipStreamIsCapturing(stream: hipStream_t, status: Out<hipStreamCaptureStatus>) {
        let stream = find(stream)?;
        status.set(capture_status(&stream))
    }

    fn hipStreamIsCapturing_spt(stream: hipStream_t, status: Out<hipStreamCaptureStatus>) {
        let stream = find(per_thread(stream))?;
        status.set(capture_status(&stream))
    }

    fn hipStreamGetCaptureInfo(
        stream: hipStream_t,
        status: Out<hipStreamCaptureStatus>,
        id: Out<c_ulonglong>,
    ) {
        capture_info(stream, status, id)
    }

    fn hipStreamGetCaptureInfo_spt(
        stream: hipStream_t,
        status: Out<hipStreamCaptureStatus>,
        id: Out<c_ulonglong>,
    ) {
        capture_info(per_thread(stream), status, id)
    }

    fn hipStreamGetCaptureInfo_v2(
        stream: hipStream_t,
        status: Out<hipStreamCaptureStatus>,
        id: Out<c_ulonglong>,
        graph: Out<hipGraph_t>,
        dependencies: Out<*const hipGraphNode_t>,
        count: Out<usize>,
    ) {
        capture_info_v2(stream, status, id, graph, dependencies, count)
    }

    fn hipStreamGetCaptureInfo_v2_spt(
        stream: hipStream_t,
        status: Out<hipStreamCaptureStatus>,
        id: Out<c_ulonglong>,
        graph: Out<hipGraph_t>,
        dependencies: Out<*const hipGraphNode_t>,
        count: Out<usize>,
    ) {
        capture_info_v2(per_thread(stream), status, id, graph, dependencies, count)
    }

    fn hipStreamUpdateCaptureDependencies(
        stream: hipStream_t,
        dependencies: In<hipGraphNode_t>,
        count: usize,
        flags: c_uint,
    ) {
        let stream = find(stream)?;
        let mut capture = stream.capture();
        let state = capture.as_mut().ok_or(hipErrorIllegalState)?;
        state.capture.check_valid()?;
        let graph = Arc::clone(&state.capture.graph);
        let given = super::graph_node::dependencies(&graph, dependencies, count)?;
        match hipStreamUpdateCaptureDependenciesFlags(flags) {
            hipStreamAddCaptureDependencies => {
                for node in given {
                    if !state.tail.contains(&node) {
                        state.tail.push(node);
                    }
                }
            }
            hipStreamSetCaptureDependencies => state.tail = given,
            _unknown => return Err(hipErrorInvalidValue),
        }
        Ok(())
    }

    fn hipThreadExchangeStreamCaptureMode(mode: Out<hipStreamCaptureMode>) {
        let wanted = mode.get()?;
        if wanted.0 > hipStreamCaptureModeRelaxed.0 {
            return Err(hipErrorInvalidValue);
        }
        mode.set(thread::exchange_capture_mode(wanted))
    }
}

hip_api_unchecked! { UNCHECKED;
    /// The device of a stream, or -1.
    fn hipGetStreamDeviceId(stream: hipStream_t) -> c_int {
        find(stream).map_or(-1, |stream| stream.device as c_int)
    }
}

fn find(stream: hipStream_t) -> Answer<Arc<Stream>> {
    let runtime = runtime()?;
    let stream = runtime.stream(stream)?;
    runtime.device(stream.device)?.check()?;
    Ok(stream)
}

fn create(stream: Out<hipStream_t>, flags: c_uint, priority: c_int) -> Answer {
    create_masked(stream, flags, priority, None)
}

fn create_masked(
    stream: Out<hipStream_t>,
    flags: c_uint,
    priority: c_int,
    units: Option<Vec<u32>>,
) -> Answer {
    let (runtime, device) = current()?;
    if stream.is_null() {
        return Err(hipErrorInvalidValue);
    }
    let ordering = match flags {
        hipStreamDefault => Ordering::Blocking,
        hipStreamNonBlocking => Ordering::Independent,
        _unknown => return Err(hipErrorInvalidValue),
    };
    let priority = priority.clamp(PRIORITY_GREATEST, PRIORITY_LEAST);
    let made = Stream::new(runtime, device.id(), ordering, flags, priority, units)?;
    let handle = made.handle;
    runtime.streams.insert(handle, made);
    stream.set(hipStream_t(word(handle)))
}

/// Waiting for a stream that captures would wait for work that is never done.
fn refuse_capturing(stream: &Stream) -> Answer {
    match stream.capture().as_ref() {
        // What is being captured is no work yet, and HIP 5 leaves it at that.
        Some(_) if major() <= 5 => Ok(()),
        Some(state) => {
            state.capture.invalidate();
            Err(hipErrorStreamCaptureUnsupported)
        }
        None => Ok(()),
    }
}

fn query(stream: hipStream_t) -> Answer {
    let stream = find(stream)?;
    refuse_capturing(&stream)?;
    if stream.is_idle(runtime()?)? { Ok(()) } else { Err(hipErrorNotReady) }
}

fn synchronize(stream: hipStream_t) -> Answer {
    let stream = find(stream)?;
    refuse_capturing(&stream)?;
    stream.synchronize(runtime()?)
}

fn wait_event(stream: hipStream_t, event: hipEvent_t, flags: c_uint) -> Answer {
    let runtime = runtime()?;
    let event = runtime.event(event)?;
    let stream = find(stream)?;
    match flags {
        hipEventWaitDefault => event.make_wait(runtime, &stream),
        hipEventWaitExternal => match events::external_wait(runtime, &stream, &event)? {
            true => Ok(()),
            false => event.make_wait(runtime, &stream),
        },
        _unknown => Err(hipErrorInvalidValue),
    }
}

fn launch_host(stream: hipStream_t, function: hipHostFn_t, data: *mut c_void) -> Answer {
    let function = function.ok_or(hipErrorInvalidValue)?;
    find(stream)?.enqueue(runtime()?, Op::Host(HostCall { function, data })).map(drop)
}

fn add_callback(
    handle: hipStream_t,
    callback: hipStreamCallback_t,
    data: *mut c_void,
    flags: c_uint,
) -> Answer {
    let function = callback.ok_or(hipErrorInvalidValue)?;
    if flags != 0 {
        return Err(hipErrorInvalidValue);
    }
    let stream = find(handle)?;
    refuse_capturing(&stream)?;
    let callback = StreamCallback { function, stream: handle, data };
    stream.enqueue(runtime()?, Op::Callback(callback)).map(drop)
}

fn memory_ops(stream: hipStream_t, operations: &[MemoryOp]) -> Answer {
    let (runtime, _) = current()?;
    for operation in operations {
        check_memory_op(runtime, operation)?;
    }
    find(stream)?.enqueue(runtime, Op::Memory(operations.into())).map(drop)
}

pub(crate) fn check_memory_op(runtime: &Runtime, operation: &MemoryOp) -> Answer {
    let (address, bytes) = match *operation {
        MemoryOp::Write { address, bytes, .. } | MemoryOp::Wait { address, bytes, .. } => {
            (address, bytes as u64)
        }
        MemoryOp::Barrier => return Ok(()),
    };
    let inside = runtime.allocations.find(address).is_some_and(|a| a.contains(address, bytes));
    if inside && address.is_multiple_of(bytes) { Ok(()) } else { Err(hipErrorInvalidValue) }
}

/// `hipStreamWaitValueGte`, `Eq`, `And` and `Nor`.
fn condition(flags: c_uint) -> Answer<Condition> {
    match flags {
        0 => Ok(Condition::GreaterOrEqual),
        1 => Ok(Condition::Equal),
        2 => Ok(Condition::And),
        3 => Ok(Condition::Nor),
        _unknown => Err(hipErrorInvalidValue),
    }
}

/// The operations of a batch; an operation that is not known is an invalid value.
pub(crate) fn batch(
    operations: In<hipStreamBatchMemOpParams>,
    count: c_uint,
) -> Answer<Vec<MemoryOp>> {
    let convert = |params: hipStreamBatchMemOpParams| {
        // SAFETY: every variant of the union is made of integers and pointers, and the C union
        // that it stands for has all its bytes.
        let body = unsafe { params.body.value };
        let address = body.address.addr() as u64;
        let (low, mask) = (body.value & u64::from(u32::MAX), u64::MAX);
        Ok(match params.operation {
            hipStreamMemOpWriteValue32 => MemoryOp::Write { address, value: low, bytes: 4 },
            hipStreamMemOpWriteValue64 => MemoryOp::Write { address, value: body.value, bytes: 8 },
            hipStreamMemOpWaitValue32 => {
                let condition = condition(body.flags)?;
                MemoryOp::Wait { address, value: low, mask: 0xffff_ffff, bytes: 4, condition }
            }
            hipStreamMemOpWaitValue64 => {
                let condition = condition(body.flags)?;
                MemoryOp::Wait { address, value: body.value, mask, bytes: 8, condition }
            }
            hipStreamMemOpBarrier | hipStreamMemOpFlushRemoteWrites => MemoryOp::Barrier,
            _unknown => return Err(hipErrorInvalidValue),
        })
    };
    operations.slice(count as usize)?.into_iter().map(convert).collect()
}

fn begin_capture(stream: hipStream_t, mode: hipStreamCaptureMode) -> Answer {
    let (runtime, _) = current()?;
    begin_capture_to(runtime, stream, Graph::new(runtime), Vec::new(), mode)
}

fn begin_capture_to(
    runtime: &'static Runtime,
    stream: hipStream_t,
    graph: Arc<Graph>,
    tail: Vec<usize>,
    mode: hipStreamCaptureMode,
) -> Answer {
    let stream = find(stream)?;
    if stream.ordering == Ordering::Null {
        return Err(hipErrorStreamCaptureUnsupported);
    }
    if mode.0 > hipStreamCaptureModeRelaxed.0 {
        return Err(hipErrorInvalidValue);
    }
    let mut capture = stream.capture();
    if capture.is_some() {
        return Err(hipErrorIllegalState);
    }
    *capture =
        Some(StreamCapture { capture: Capture::new(runtime, graph, mode), tail, origin: true });
    Ok(())
}

fn end_capture(stream: hipStream_t, graph: Out<hipGraph_t>) -> Answer {
    let runtime = runtime()?;
    let is_null = stream.is_null();
    let stream = find(stream)?;
    if graph.is_null() || (is_null && major() <= 5) {
        return Err(hipErrorInvalidValue);
    }
    let mut own = stream.capture();
    let none = by_version(hipErrorStreamCaptureUnmatched, hipErrorIllegalState);
    let state = own.clone().ok_or(none)?;
    if !state.origin {
        return Err(hipErrorStreamCaptureUnmatched);
    }
    let capture = state.capture;
    let other_thread = capture.thread != std::thread::current().id();
    if capture.mode != hipStreamCaptureModeRelaxed && other_thread {
        return Err(hipErrorStreamCaptureWrongThread);
    }
    *own = None;
    drop(own);
    // Whatever comes of it, the capture is over, for the streams that joined it too.
    let joined = leave_capture(runtime, &capture);
    let valid = capture.is_valid();
    capture.end();
    let answer = if !valid {
        Err(hipErrorStreamCaptureInvalidated)
    } else if joined.iter().any(|tail| !reaches(&capture.graph, &state.tail, tail)) {
        Err(hipErrorStreamCaptureUnjoined)
    } else {
        graph.set(hipGraph_t(word(capture.graph.handle)))
    };
    if answer.is_err() {
        graph.set_if_wanted(hipGraph_t::NULL);
        capture.graph.destroy(runtime);
    }
    answer
}

/// Takes every other stream out of the capture; the result is where they were.
fn leave_capture(runtime: &Runtime, capture: &Arc<Capture>) -> Vec<Vec<usize>> {
    let mut tails = Vec::new();
    for id in 0..runtime.device_count() {
        let Ok(device) = runtime.device(id) else { continue };
        for stream in device.streams() {
            let mut state = stream.capture();
            if state.as_ref().is_some_and(|state| Arc::ptr_eq(&state.capture, capture)) {
                tails.extend(state.take().map(|state| state.tail));
            }
        }
    }
    tails
}

/// Whether all of `nodes` are among the ancestors of `tail`, or in it.
fn reaches(graph: &Graph, tail: &[usize], nodes: &[usize]) -> bool {
    let all = lock(&graph.nodes);
    let mut seen: std::collections::HashSet<usize> = tail.iter().copied().collect();
    let mut open: Vec<usize> = tail.to_vec();
    while let Some(handle) = open.pop() {
        let Some(node) = all.iter().find(|node| node.handle == handle) else { continue };
        for &dependency in &node.dependencies {
            if seen.insert(dependency) {
                open.push(dependency);
            }
        }
    }
    nodes.iter().all(|node| seen.contains(node))
}

fn capture_status(stream: &Stream) -> hipStreamCaptureStatus {
    match stream.capture().as_ref() {
        None => hipStreamCaptureStatusNone,
        Some(state) if state.capture.is_valid() => hipStreamCaptureStatusActive,
        Some(_) => hipStreamCaptureStatusInvalidated,
    }
}

fn capture_info(
    stream: hipStream_t,
    status: Out<hipStreamCaptureStatus>,
    id: Out<c_ulonglong>,
) -> Answer {
    let stream = find(stream)?;
    status.set(capture_status(&stream))?;
    if let Some(state) = stream.capture().as_ref() {
        id.set_if_wanted(state.capture.id);
    }
    Ok(())
}

fn capture_info_v2(
    stream: hipStream_t,
    status: Out<hipStreamCaptureStatus>,
    id: Out<c_ulonglong>,
    graph: Out<hipGraph_t>,
    dependencies: Out<*const hipGraphNode_t>,
    count: Out<usize>,
) -> Answer {
    capture_info(stream, status, id)?;
    let stream = find(stream)?;
    let capture = stream.capture();
    let Some(state) = capture.as_ref() else { return Ok(()) };
    graph.set_if_wanted(hipGraph_t(word(state.capture.graph.handle)));
    count.set_if_wanted(state.tail.len());
    // The words of the handles, which stay where they are until the stream captures more.
    dependencies.set_if_wanted(state.tail.as_ptr().cast());
    Ok(())
}

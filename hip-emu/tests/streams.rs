//! Goal: streams defer, and order is what HIP promises and no more. Method: a wait for a value
//! in pinned memory stops one stream; what others do meanwhile is looked at, without clocks.

mod hip;

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Mutex;
use std::thread::ThreadId;

use hip::*;
use hrr_ffi::types::*;

#[test]
fn work_of_a_stream_waits_for_what_is_before_it() {
    let _one = exclusive();
    let (stream, words) = (non_blocking_stream(), pinned(2));
    gate(stream, &mut words[0]);
    let target = (&raw mut words[1]).cast();
    ok(hipStreamWriteValue32(stream, target, 7, 0));
    let event = event();
    ok(hipEventRecord(event, stream));
    assert_eq!(hipEventQuery(event), hipErrorNotReady);
    assert_eq!(hipStreamQuery(stream), hipErrorNotReady);
    assert_eq!(words[1], 0);
    open(&mut words[0]);
    ok(hipEventSynchronize(event));
    ok(hipEventQuery(event));
    ok(hipStreamQuery(stream));
    // SAFETY: the worker has written it; pinned memory is live.
    assert_eq!(unsafe { (&raw const words[1]).read_volatile() }, 7);
    ok(hipEventDestroy(event));
    ok(hipStreamDestroy(stream));
    ok(hipHostFree(words.as_mut_ptr().cast()));
}

#[test]
fn the_null_stream_waits_for_blocking_streams_and_they_for_it() {
    let _one = exclusive();
    let (blocking, free, words) = (stream(), non_blocking_stream(), pinned(2));
    gate(blocking, &mut words[0]);
    let event = event();
    ok(hipEventRecord(event, NULL_STREAM));
    assert_eq!(hipEventQuery(event), hipErrorNotReady, "waits for the blocking stream");
    ok(hipStreamSynchronize(free));
    open(&mut words[0]);
    ok(hipEventSynchronize(event));

    gate(NULL_STREAM, &mut words[1]);
    let later = self::event();
    ok(hipEventRecord(later, blocking));
    assert_eq!(hipEventQuery(later), hipErrorNotReady, "waits for the null stream");
    ok(hipEventRecord(event, free));
    ok(hipEventSynchronize(event));
    assert_eq!(hipEventQuery(later), hipErrorNotReady, "still");
    open(&mut words[1]);
    ok(hipEventSynchronize(later));
    ok(hipDeviceSynchronize());
    for stream in [blocking, free] {
        ok(hipStreamDestroy(stream));
    }
    ok(hipHostFree(words.as_mut_ptr().cast()));
}

#[test]
fn events_carry_order_across_streams() {
    let _one = exclusive();
    let (first, second, words) = (non_blocking_stream(), non_blocking_stream(), pinned(2));
    let event = event();
    ok(hipEventQuery(event));
    ok(hipStreamWaitEvent(second, event, 0));
    ok(hipStreamSynchronize(second));
    gate(first, &mut words[0]);
    ok(hipEventRecord(event, first));
    ok(hipStreamWaitEvent(second, event, 0));
    ok(hipStreamWriteValue32(second, (&raw mut words[1]).cast(), 3, 0));
    assert_eq!(hipStreamQuery(second), hipErrorNotReady);
    // A later record does not change what was waited for.
    open(&mut words[0]);
    ok(hipStreamSynchronize(second));
    // SAFETY: pinned memory is live.
    assert_eq!(unsafe { (&raw const words[1]).read_volatile() }, 3);
    // The event's own end does not matter to what waits for it.
    ok(hipEventRecord(event, first));
    ok(hipStreamWaitEvent(second, event, 0));
    ok(hipEventDestroy(event));
    ok(hipStreamSynchronize(second));
    for stream in [first, second] {
        ok(hipStreamDestroy(stream));
    }
    ok(hipHostFree(words.as_mut_ptr().cast()));
}

#[test]
fn elapsed_time_needs_two_completed_events_with_timing() {
    let _one = exclusive();
    let (stream, words) = (non_blocking_stream(), pinned(1));
    let (start, stop) = (event(), event());
    let mut milliseconds = -1.0;
    let time = |ms: &mut f32, stop| hipEventElapsedTime(&raw mut *ms, start, stop);
    assert_eq!(time(&mut milliseconds, stop), hipErrorInvalidHandle, "not recorded");
    ok(hipEventRecord(start, stream));
    gate(stream, &mut words[0]);
    ok(hipEventRecord(stop, stream));
    assert_eq!(time(&mut milliseconds, stop), hipErrorNotReady);
    open(&mut words[0]);
    ok(hipStreamSynchronize(stream));
    ok(time(&mut milliseconds, stop));
    assert!(milliseconds >= 0.0);
    let mut untimed = hipEvent_t::NULL;
    ok(hipEventCreateWithFlags(&raw mut untimed, hipEventDisableTiming));
    ok(hipEventRecord(untimed, stream));
    ok(hipEventSynchronize(untimed));
    assert_eq!(time(&mut milliseconds, untimed), hipErrorInvalidHandle);
    for event in [start, stop, untimed] {
        ok(hipEventDestroy(event));
    }
    ok(hipStreamDestroy(stream));
    ok(hipHostFree(words.as_mut_ptr().cast()));
}

#[test]
fn asynchronous_copies_read_pageable_memory_now_and_pinned_memory_later() {
    let _one = exclusive();
    let (stream, words) = (non_blocking_stream(), pinned(2));
    let memory = device_memory(8);
    let second = memory.wrapping_byte_add(4);
    gate(stream, &mut words[0]);
    let mut pageable = [1_u32];
    words[1] = 1;
    let to = hipMemcpyHostToDevice;
    ok(hipMemcpyAsync(memory, pageable.as_ptr().cast(), 4, to, stream));
    ok(hipMemcpyAsync(second, (&raw const words[1]).cast(), 4, to, stream));
    pageable[0] = 2;
    // SAFETY: pinned memory is live; the worker reads it later.
    unsafe { (&raw mut words[1]).write_volatile(2) };
    open(&mut words[0]);
    ok(hipStreamSynchronize(stream));
    assert_eq!(pageable, [2]);
    let mut back = [0_u32; 2];
    // Back to pageable memory: done when the call returns.
    ok(hipMemcpyAsync(back.as_mut_ptr().cast(), memory, 8, hipMemcpyDeviceToHost, stream));
    assert_eq!(back, [1, 2]);
    ok(hipFree(memory));
    ok(hipStreamDestroy(stream));
    ok(hipHostFree(words.as_mut_ptr().cast()));
}

static SEEN: Mutex<Vec<(usize, ThreadId)>> = Mutex::new(Vec::new());

unsafe extern "C" fn note(data: *mut c_void) {
    SEEN.lock().unwrap().push((data.addr(), std::thread::current().id()));
}

unsafe extern "C" fn note_status(stream: hipStream_t, status: hipError_t, data: *mut c_void) {
    assert!(status == hipSuccess && !stream.is_null());
    // HIP may be called from here, except for what waits for the device: it would wait for this.
    let memory = device_memory(16);
    ok(hipFreeAsync(memory, NULL_STREAM));
    SEEN.lock().unwrap().push((data.addr(), std::thread::current().id()));
}

#[test]
fn callbacks_run_in_order_on_a_thread_of_the_runtime() {
    let _one = exclusive();
    SEEN.lock().unwrap().clear();
    let (stream, words) = (non_blocking_stream(), pinned(1));
    gate(stream, &mut words[0]);
    let data = |number: usize| std::ptr::without_provenance_mut(number);
    ok(hipLaunchHostFunc(stream, Some(note), data(1)));
    ok(hipStreamAddCallback(stream, Some(note_status), data(2), 0));
    ok(hipLaunchHostFunc(stream, Some(note), data(3)));
    assert_eq!(hipLaunchHostFunc(stream, None, null_mut()), hipErrorInvalidValue);
    let bad = hipStreamAddCallback(stream, Some(note_status), null_mut(), 1);
    assert_eq!(bad, hipErrorInvalidValue);
    assert!(SEEN.lock().unwrap().is_empty());
    open(&mut words[0]);
    ok(hipStreamSynchronize(stream));
    let seen = SEEN.lock().unwrap().clone();
    assert_eq!(seen.iter().map(|(data, _)| *data).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(seen.iter().all(|(_, thread)| *thread != std::thread::current().id()));
    ok(hipStreamDestroy(stream));
    ok(hipHostFree(words.as_mut_ptr().cast()));
}

#[test]
fn batches_do_their_operations_and_refuse_unknown_ones() {
    let _one = exclusive();
    let (stream, words) = (non_blocking_stream(), pinned(4));
    let value = |operation, address: &mut u32, value| hipStreamBatchMemOpParams {
        operation,
        flags: 0,
        body: hipStreamMemOpBody {
            value: hipStreamMemOpValueParams {
                address: (&raw mut *address).cast(),
                value,
                flags: 1,
                alias: null_mut(),
            },
        },
    };
    let [gate, first, second, _] = words else { panic!("four words") };
    let mut batch = [
        value(hipStreamMemOpWaitValue32, gate, 1),
        value(hipStreamMemOpWriteValue32, first, 11),
        value(hipStreamMemOpWriteValue32, second, 22),
    ];
    ok(hipStreamBatchMemOp(stream, 3, batch.as_mut_ptr(), 0));
    assert_eq!(hipStreamQuery(stream), hipErrorNotReady);
    open(gate);
    ok(hipStreamSynchronize(stream));
    // SAFETY: pinned memory is live.
    let read = |word: &u32| unsafe { (&raw const *word).read_volatile() };
    assert_eq!([read(first), read(second)], [11, 22]);
    batch[1].operation = hipStreamBatchMemOpType(99);
    let unknown = hipStreamBatchMemOp(stream, 3, batch.as_mut_ptr(), 0);
    assert_eq!(unknown, hipErrorInvalidValue);
    assert_eq!(hipStreamBatchMemOp(stream, 0, null_mut(), 0), hipErrorInvalidValue);
    ok(hipStreamDestroy(stream));
    ok(hipHostFree(words.as_mut_ptr().cast()));
}

#[test]
fn stream_ordered_memory_ends_where_its_free_stands() {
    let _one = exclusive();
    let (stream, words) = (non_blocking_stream(), pinned(1));
    let mut memory = null_mut();
    ok(hipMallocAsync(&raw mut memory, 4096, stream));
    gate(stream, &mut words[0]);
    ok(hipFreeAsync(memory, stream));
    // SAFETY: a structure of integers and pointers.
    let mut attributes: hipPointerAttribute_t = unsafe { std::mem::zeroed() };
    ok(hipPointerGetAttributes(&raw mut attributes, memory));
    assert_eq!(attributes.r#type, hipMemoryTypeDevice, "the free has not been reached");
    open(&mut words[0]);
    ok(hipStreamSynchronize(stream));
    ok(hipPointerGetAttributes(&raw mut attributes, memory));
    assert_eq!(attributes.r#type, hipMemoryTypeUnregistered);
    ok(hipStreamDestroy(stream));
    ok(hipHostFree(words.as_mut_ptr().cast()));
}

#[test]
fn each_thread_has_a_default_stream_of_its_own() {
    let _one = exclusive();
    let per_thread = hipStream_t(std::ptr::without_provenance_mut(2));
    let words = pinned(1);
    gate(per_thread, &mut words[0]);
    assert_eq!(hipStreamQuery(per_thread), hipErrorNotReady);
    std::thread::spawn(|| {
        ok(hipStreamSynchronize(hipStream_t(std::ptr::without_provenance_mut(2))))
    })
    .join()
    .unwrap();
    open(&mut words[0]);
    ok(hipStreamSynchronize(per_thread));
    ok(hipHostFree(words.as_mut_ptr().cast()));
}

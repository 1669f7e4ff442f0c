//! Goal: a kernel that goes wrong leaves an error that stays, and hangs nothing. Method: kernels
//! that touch addresses nobody owns, and that trap.

mod hip;

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use hip::*;
use hrr_ffi::types::*;

/// Every later call that needs the device.
fn assert_broken(expected: hipError_t) {
    let mut pointer = null_mut();
    assert_eq!(hipMalloc(&raw mut pointer, 16), expected);
    assert_eq!(hipMemset(pointer, 0, 16), expected);
    assert_eq!(hipStreamSynchronize(NULL_STREAM), expected);
    assert_eq!(hipStreamQuery(NULL_STREAM), expected);
    let mut event = hipEvent_t::NULL;
    assert_eq!(hipEventCreate(&raw mut event), expected);
    assert_eq!(hipDeviceSynchronize(), expected);
    assert_eq!(hipPeekAtLastError(), expected);
    assert_eq!(hipGetLastError(), expected);
    // Calls that need no device work.
    let mut count: c_int = 0;
    ok(hipGetDeviceCount(&raw mut count));
    assert_eq!(count, 1);
    assert_eq!(hipDeviceSynchronize(), expected, "reading the error does not mend the device");
}

#[test]
fn an_illegal_address_is_a_sticky_error() {
    let _one = exclusive();
    let local = 0_u32;
    // A reset frees all memory, so each round makes its own.
    let mut registered = vec![0_u32; 64];
    for round in 0..6 {
        let module = module(KERNELS);
        let poke = function(module, c"poke");
        let address: *mut c_void = match round {
            0 => null_mut(),
            1 => {
                // The middle of what was freed, where nothing else comes to lie.
                let freed = device_memory(64 << 20);
                ok(hipFree(freed));
                freed.wrapping_byte_add(32 << 20)
            }
            // Behind the end, on the same page.
            2 => device_memory(100).wrapping_byte_add(112),
            3 => (&raw const local).cast_mut().cast(),
            // Devices have registered memory elsewhere.
            4 => {
                let address = registered.as_mut_ptr().cast();
                ok(hipHostRegister(address, 256, 0));
                address
            }
            _last => std::ptr::without_provenance_mut(usize::MAX - 7),
        };
        let (stream, words) = (non_blocking_stream(), pinned(1));
        let event = event();
        gate(stream, &mut words[0]);
        ok(launch_one(poke, address, stream));
        ok(hipEventRecord(event, stream));
        open(&mut words[0]);
        // What waits for the stream is told, and not left waiting.
        assert_eq!(hipStreamSynchronize(stream), hipErrorIllegalAddress, "{address:?}");
        assert_eq!(hipEventSynchronize(event), hipErrorIllegalAddress);
        assert_broken(hipErrorIllegalAddress);
        ok(hipDeviceReset());
        ok(hipDeviceSynchronize());
        assert_eq!(hipStreamSynchronize(stream), hipErrorInvalidHandle, "gone with the reset");
        ok(hipModuleUnload(module));
    }
    let module = module(KERNELS);
    let poke = function(module, c"poke");
    let fresh = device_memory(4);
    ok(launch_one(poke, fresh, NULL_STREAM));
    assert_eq!(read_words(fresh, 1), [1]);
    ok(hipFree(fresh));
    ok(hipModuleUnload(module));
}

#[test]
fn a_trap_is_a_launch_failure() {
    let _one = exclusive();
    let module = module(KERNELS);
    let trap = function(module, c"trap");
    let memory = device_memory(4);
    ok(hipMemsetD32(memory, 12345, 1));
    ok(launch_one(trap, memory, NULL_STREAM));
    ok(hipDeviceSynchronize());
    ok(hipMemsetD32(memory, 1, 1));
    ok(launch_one(trap, memory, NULL_STREAM));
    assert_eq!(hipDeviceSynchronize(), hipErrorLaunchFailure);
    assert_broken(hipErrorLaunchFailure);
    ok(hipDeviceReset());
    ok(hipModuleUnload(module));
}

unsafe extern "C" fn count(data: *mut c_void) {
    // SAFETY: the test passes a live counter that only this function changes.
    unsafe { *data.cast::<u32>() += 1 };
}

unsafe extern "C" fn keep_status(_: hipStream_t, status: hipError_t, data: *mut c_void) {
    // SAFETY: the test passes a live place for the status.
    unsafe { *data.cast::<hipError_t>() = status };
}

#[test]
fn work_behind_a_fault_is_not_done_and_callbacks_are_told() {
    let _one = exclusive();
    let module = module(KERNELS);
    let (stream, words) = (non_blocking_stream(), pinned(2));
    let (mut calls, mut status) = (0_u32, hipSuccess);
    gate(stream, &mut words[0]);
    ok(launch_one(function(module, c"poke"), null_mut(), stream));
    ok(hipStreamWriteValue32(stream, (&raw mut words[1]).cast(), 9, 0));
    ok(hipLaunchHostFunc(stream, Some(count), (&raw mut calls).cast()));
    ok(hipStreamAddCallback(stream, Some(keep_status), (&raw mut status).cast(), 0));
    open(&mut words[0]);
    assert_eq!(hipStreamSynchronize(stream), hipErrorIllegalAddress);
    // SAFETY: the worker is done with both.
    let (calls, status) =
        unsafe { ((&raw const calls).read_volatile(), (&raw const status).read_volatile()) };
    assert_eq!((calls, words[1], status), (0, 0, hipErrorIllegalAddress));
    ok(hipDeviceReset());
    ok(hipModuleUnload(module));
}

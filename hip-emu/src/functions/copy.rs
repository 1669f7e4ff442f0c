//! Copies.
//!
//! A copy without "Async" in its name waits for its stream. An asynchronous one from pageable
//! memory takes the bytes before it returns, and one to pageable memory has ended when it
//! returns: the memory may be a local variable. One from and to pinned, registered, managed or
//! device memory really happens later. Nodes of graphs always read when they run.

use std::ffi::{c_int, c_void};

use hrr_ffi::types::*;

use super::memory::{Wait, per_thread};
use crate::abi;
use crate::api::{Answer, In};
use crate::copies::{Copy, Place, Side};
use crate::ops::{self, Op};
use crate::runtime::{Runtime, current};

hip_api! { TABLE;
    fn hipMemcpy(to: *mut c_void, from: *const c_void, bytes: usize, kind: hipMemcpyKind) {
        copy_row(hipStream_t::NULL, to, from, bytes, kind, Wait::Yes)
    }

    fn hipMemcpy_spt(to: *mut c_void, from: *const c_void, bytes: usize, kind: hipMemcpyKind) {
        copy_row(per_thread(hipStream_t::NULL), to, from, bytes, kind, Wait::Yes)
    }

    fn hipMemcpyWithStream(
        to: *mut c_void,
        from: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) {
        copy_row(stream, to, from, bytes, kind, Wait::Yes)
    }

    fn hipMemcpyAsync(
        to: *mut c_void,
        from: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) {
        copy_row(stream, to, from, bytes, kind, Wait::No)
    }

    fn hipMemcpyAsync_spt(
        to: *mut c_void,
        from: *const c_void,
        bytes: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) {
        copy_row(per_thread(stream), to, from, bytes, kind, Wait::No)
    }

    fn hipMemcpyHtoD(to: hipDeviceptr_t, from: *const c_void, bytes: usize) {
        copy_row(hipStream_t::NULL, to, from, bytes, hipMemcpyHostToDevice, Wait::Yes)
    }

    fn hipMemcpyDtoH(to: *mut c_void, from: hipDeviceptr_t, bytes: usize) {
        copy_row(hipStream_t::NULL, to, from, bytes, hipMemcpyDeviceToHost, Wait::Yes)
    }

    fn hipMemcpyDtoD(to: hipDeviceptr_t, from: hipDeviceptr_t, bytes: usize) {
        copy_row(hipStream_t::NULL, to, from, bytes, hipMemcpyDeviceToDevice, Wait::Yes)
    }

    fn hipMemcpyHtoDAsync(
        to: hipDeviceptr_t,
        from: *const c_void,
        bytes: usize,
        stream: hipStream_t,
    ) {
        copy_row(stream, to, from, bytes, hipMemcpyHostToDevice, Wait::No)
    }

    fn hipMemcpyDtoHAsync(
        to: *mut c_void,
        from: hipDeviceptr_t,
        bytes: usize,
        stream: hipStream_t,
    ) {
        copy_row(stream, to, from, bytes, hipMemcpyDeviceToHost, Wait::No)
    }

    fn hipMemcpyDtoDAsync(
        to: hipDeviceptr_t,
        from: hipDeviceptr_t,
        bytes: usize,
        stream: hipStream_t,
    ) {
        copy_row(stream, to, from, bytes, hipMemcpyDeviceToDevice, Wait::No)
    }

    fn hipMemcpyPeer(
        to: *mut c_void,
        to_device: c_int,
        from: *const c_void,
        from_device: c_int,
        bytes: usize,
    ) {
        check_peers(to_device, from_device)?;
        copy_row(hipStream_t::NULL, to, from, bytes, hipMemcpyDeviceToDevice, Wait::Yes)
    }

    fn hipMemcpyPeerAsync(
        to: *mut c_void,
        to_device: c_int,
        from: *const c_void,
        from_device: c_int,
        bytes: usize,
        stream: hipStream_t,
    ) {
        check_peers(to_device, from_device)?;
        copy_row(stream, to, from, bytes, hipMemcpyDeviceToDevice, Wait::No)
    }

    fn hipMemcpy3DPeer(copy: In<hipMemcpy3DPeerParms>) {
        enqueue_rows(hipStream_t::NULL, peer_3d(&copy.get()?)?, Wait::Yes)
    }

    fn hipMemcpy3DPeerAsync(copy: In<hipMemcpy3DPeerParms>, stream: hipStream_t) {
        enqueue_rows(stream, peer_3d(&copy.get()?)?, Wait::No)
    }

    fn hipMemcpy2D(
        to: *mut c_void,
        to_pitch: usize,
        from: *const c_void,
        from_pitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
    ) {
        let copy = copy_2d([to_pitch, from_pitch], to, from, [width, height], kind)?;
        enqueue_rows(hipStream_t::NULL, copy, Wait::Yes)
    }

    fn hipMemcpy2D_spt(
        to: *mut c_void,
        to_pitch: usize,
        from: *const c_void,
        from_pitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
    ) {
        let copy = copy_2d([to_pitch, from_pitch], to, from, [width, height], kind)?;
        enqueue_rows(per_thread(hipStream_t::NULL), copy, Wait::Yes)
    }

    fn hipMemcpy2DAsync(
        to: *mut c_void,
        to_pitch: usize,
        from: *const c_void,
        from_pitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) {
        let copy = copy_2d([to_pitch, from_pitch], to, from, [width, height], kind)?;
        enqueue_rows(stream, copy, Wait::No)
    }

    fn hipMemcpy2DAsync_spt(
        to: *mut c_void,
        to_pitch: usize,
        from: *const c_void,
        from_pitch: usize,
        width: usize,
        height: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) {
        let copy = copy_2d([to_pitch, from_pitch], to, from, [width, height], kind)?;
        enqueue_rows(per_thread(stream), copy, Wait::No)
    }

    fn hipMemcpyParam2D(copy: In<hip_Memcpy2D>) {
        enqueue_box(hipStream_t::NULL, param_2d(&copy.get()?)?, Wait::Yes)
    }

    fn hipMemcpyParam2DAsync(copy: In<hip_Memcpy2D>, stream: hipStream_t) {
        enqueue_box(stream, param_2d(&copy.get()?)?, Wait::No)
    }

    fn hipDrvMemcpy2DUnaligned(copy: In<hip_Memcpy2D>) {
        enqueue_box(hipStream_t::NULL, param_2d(&copy.get()?)?, Wait::Yes)
    }

    fn hipMemcpy3D(copy: In<hipMemcpy3DParms>) {
        enqueue_box(hipStream_t::NULL, param_3d(&copy.get()?)?, Wait::Yes)
    }

    fn hipMemcpy3D_spt(copy: In<hipMemcpy3DParms>) {
        enqueue_box(per_thread(hipStream_t::NULL), param_3d(&copy.get()?)?, Wait::Yes)
    }

    fn hipMemcpy3DAsync(copy: In<hipMemcpy3DParms>, stream: hipStream_t) {
        enqueue_box(stream, param_3d(&copy.get()?)?, Wait::No)
    }

    fn hipMemcpy3DAsync_spt(copy: In<hipMemcpy3DParms>, stream: hipStream_t) {
        enqueue_box(per_thread(stream), param_3d(&copy.get()?)?, Wait::No)
    }

    fn hipDrvMemcpy3D(copy: In<HIP_MEMCPY3D>) {
        enqueue_box(hipStream_t::NULL, driver_3d(&copy.get()?)?, Wait::Yes)
    }

    fn hipDrvMemcpy3DAsync(copy: In<HIP_MEMCPY3D>, stream: hipStream_t) {
        enqueue_box(stream, driver_3d(&copy.get()?)?, Wait::No)
    }
}

/// As [`enqueue`], for copies of several rows, whose direction matters.
fn enqueue_rows(stream: hipStream_t, copy: Copy, wait: Wait) -> Answer {
    copy.check_direction()?;
    enqueue(stream, copy, wait)
}

/// As [`enqueue_rows`], for functions that take a structure: to them a bad pitch is a value like
/// others.
fn enqueue_box(stream: hipStream_t, copy: Copy, wait: Wait) -> Answer {
    enqueue_rows(stream, copy, wait).map_err(|error| match error {
        hipErrorInvalidPitchValue => hipErrorInvalidValue,
        other => other,
    })
}

fn check_peers(to: c_int, from: c_int) -> Answer {
    let (runtime, _) = current()?;
    runtime.device_of(to)?;
    runtime.device_of(from).map(drop)
}

fn copy_row(
    stream: hipStream_t,
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    kind: hipMemcpyKind,
    wait: Wait,
) -> Answer {
    let (runtime, _) = current()?;
    enqueue(stream, row(runtime, to, from, bytes, kind), wait)
}

/// A copy of one row of bytes.
pub(crate) fn row(
    runtime: &Runtime,
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    kind: hipMemcpyKind,
) -> Copy {
    Copy::row(place(runtime, to), place(runtime, from.cast_mut()), bytes as u64, kind)
}

fn place(runtime: &Runtime, pointer: *mut c_void) -> Place {
    Place::of(runtime, pointer.expose_provenance() as u64)
}

fn copy_2d(
    [to_pitch, from_pitch]: [usize; 2],
    to: *mut c_void,
    from: *const c_void,
    [width, height]: [usize; 2],
    kind: hipMemcpyKind,
) -> Answer<Copy> {
    let (runtime, _) = current()?;
    let side = |pointer, pitch| Side { place: place(runtime, pointer), pitch, slice: 0 };
    Ok(Copy {
        to: side(to, to_pitch as u64),
        from: side(from.cast_mut(), from_pitch as u64),
        extent: [width as u64, height as u64, 1],
        kind,
    })
}

/// One side of a driver-style copy.
struct DriverSide {
    memory: hipMemoryType,
    host: *mut c_void,
    device: *mut c_void,
    array: hipArray_t,
    /// Bytes, rows, slices before the first byte.
    start: [usize; 3],
    pitch: usize,
    height: usize,
}

impl DriverSide {
    fn side(&self, runtime: &Runtime, width: usize) -> Answer<Side> {
        let pointer = match abi::memory_type_in(self.memory) {
            hipMemoryTypeHost | hipMemoryTypeUnregistered => self.host,
            hipMemoryTypeDevice | hipMemoryTypeUnified | hipMemoryTypeManaged => self.device,
            hipMemoryTypeArray => return Err(hipErrorNotSupported),
            _unknown => return Err(hipErrorInvalidValue),
        };
        if !self.array.is_null() {
            return Err(hipErrorNotSupported);
        }
        let pitch = if self.pitch == 0 { width } else { self.pitch };
        let side = side_at(runtime, pointer, self.start, pitch, self.height)?;
        let device = abi::memory_type_in(self.memory) == hipMemoryTypeDevice;
        if device && matches!(side.place, Place::Pageable(_)) {
            return Err(hipErrorInvalidValue);
        }
        Ok(side)
    }
}

/// A side whose first byte is some bytes, rows and slices behind a pointer.
fn side_at(
    runtime: &Runtime,
    pointer: *mut c_void,
    [x, y, z]: [usize; 3],
    pitch: usize,
    height: usize,
) -> Answer<Side> {
    let slice = pitch.checked_mul(height).ok_or(hipErrorInvalidValue)?;
    let offset = z
        .checked_mul(slice)
        .and_then(|offset| offset.checked_add(y.checked_mul(pitch)?))
        .and_then(|offset| offset.checked_add(x))
        .ok_or(hipErrorInvalidValue)?;
    if pointer.is_null() {
        return Err(hipErrorInvalidValue);
    }
    let place = place(runtime, pointer.wrapping_byte_add(offset));
    Ok(Side { place, pitch: pitch as u64, slice: slice as u64 })
}

fn param_2d(copy: &hip_Memcpy2D) -> Answer<Copy> {
    let (runtime, _) = current()?;
    let from = DriverSide {
        memory: copy.srcMemoryType,
        host: copy.srcHost.cast_mut(),
        device: copy.srcDevice,
        array: copy.srcArray,
        start: [copy.srcXInBytes, copy.srcY, 0],
        pitch: copy.srcPitch,
        height: 0,
    };
    let to = DriverSide {
        memory: copy.dstMemoryType,
        host: copy.dstHost,
        device: copy.dstDevice,
        array: copy.dstArray,
        start: [copy.dstXInBytes, copy.dstY, 0],
        pitch: copy.dstPitch,
        height: 0,
    };
    Ok(Copy {
        to: to.side(runtime, copy.WidthInBytes)?,
        from: from.side(runtime, copy.WidthInBytes)?,
        extent: [copy.WidthInBytes as u64, copy.Height as u64, 1],
        kind: hipMemcpyDefault,
    })
}

pub(crate) fn driver_3d(copy: &HIP_MEMCPY3D) -> Answer<Copy> {
    let (runtime, _) = current()?;
    if copy.srcLOD != 0 || copy.dstLOD != 0 {
        return Err(hipErrorInvalidValue);
    }
    let height = |given: usize| if given == 0 { copy.Height } else { given };
    let from = DriverSide {
        memory: copy.srcMemoryType,
        host: copy.srcHost.cast_mut(),
        device: copy.srcDevice,
        array: copy.srcArray,
        start: [copy.srcXInBytes, copy.srcY, copy.srcZ],
        pitch: copy.srcPitch,
        height: height(copy.srcHeight),
    };
    let to = DriverSide {
        memory: copy.dstMemoryType,
        host: copy.dstHost,
        device: copy.dstDevice,
        array: copy.dstArray,
        start: [copy.dstXInBytes, copy.dstY, copy.dstZ],
        pitch: copy.dstPitch,
        height: height(copy.dstHeight),
    };
    Ok(Copy {
        to: to.side(runtime, copy.WidthInBytes)?,
        from: from.side(runtime, copy.WidthInBytes)?,
        extent: [copy.WidthInBytes as u64, copy.Height as u64, copy.Depth as u64],
        kind: hipMemcpyDefault,
    })
}

pub(crate) fn param_3d(copy: &hipMemcpy3DParms) -> Answer<Copy> {
    let (runtime, _) = current()?;
    if !copy.srcArray.is_null() || !copy.dstArray.is_null() {
        return Err(hipErrorNotSupported);
    }
    let side = |pitched: hipPitchedPtr, start: hipPos| {
        side_at(runtime, pitched.ptr, [start.x, start.y, start.z], pitched.pitch, pitched.ysize)
    };
    let extent = copy.extent;
    Ok(Copy {
        to: side(copy.dstPtr, copy.dstPos)?,
        from: side(copy.srcPtr, copy.srcPos)?,
        extent: [extent.width as u64, extent.height as u64, extent.depth as u64],
        kind: copy.kind,
    })
}

/// Devices share their address space, so the addresses say it all.
fn peer_3d(copy: &hipMemcpy3DPeerParms) -> Answer<Copy> {
    check_peers(copy.dstDevice, copy.srcDevice)?;
    param_3d(&hipMemcpy3DParms {
        srcArray: copy.srcArray,
        srcPos: copy.srcPos,
        srcPtr: copy.srcPtr,
        dstArray: copy.dstArray,
        dstPos: copy.dstPos,
        dstPtr: copy.dstPtr,
        extent: copy.extent,
        kind: hipMemcpyDeviceToDevice,
    })
}

/// Gives the copy to its stream, by the rules at the head of this module.
pub(crate) fn enqueue(stream: hipStream_t, copy: Copy, wait: Wait) -> Answer {
    let (runtime, _) = current()?;
    if wait == Wait::Yes {
        runtime.check_no_capture().map_err(super::memory::implicitly)?;
    }
    let stream = runtime.stream(stream)?;
    copy.check(runtime)?;
    if copy.is_empty() {
        return Ok(());
    }
    let from_pageable = matches!(copy.from.place, Place::Pageable(_));
    let to_pageable = matches!(copy.to.place, Place::Pageable(_));
    let stages = from_pageable && wait == Wait::No && !stream.is_capturing();
    let op = if stages && !to_pageable { Op::Staged(copy.stage()) } else { Op::Copy(copy) };
    let done = stream.enqueue(runtime, op)?;
    if wait == Wait::Yes || to_pageable {
        ops::wait(done);
        runtime.device(stream.device)?.check()?;
    }
    Ok(())
}

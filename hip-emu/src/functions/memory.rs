//! Allocation: device, pinned, registered, managed; pitched; fills.

use std::ffi::{c_int, c_uchar, c_uint, c_ushort, c_void};
use std::ptr;

use hrr_ffi::types::*;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use crate::abi::{by_version, flags_out, major};
use crate::allocations::{Allocation, Kind};
use crate::api::{Answer, Out};
use crate::copies::{Fill, Place, Side};
use crate::ops::{self, Op};
use crate::runtime::{DEVICE_BYTES, Device, Runtime, current, memory_error, runtime};

/// Rows of pitched allocations start at multiples of this.
const PITCH_ALIGN: usize = 256;

hip_api! { TABLE;
    fn hipMalloc(pointer: Out<*mut c_void>, bytes: usize) {
        malloc(pointer, bytes)
    }

    fn hipExtMallocWithFlags(pointer: Out<*mut c_void>, bytes: usize, flags: c_uint) {
        match flags {
            hipDeviceMallocDefault
            | hipDeviceMallocFinegrained
            | hipDeviceMallocUncached
            | hipDeviceMallocContiguous => malloc(pointer, bytes),
            // A signal is eight bytes, and the program may look at it too.
            hipMallocSignalMemory if bytes == 8 => {
                host_malloc(pointer, bytes, hipHostMallocDefault)
            }
            _unknown => Err(hipErrorInvalidValue),
        }
    }

    fn hipMallocPitch(
        pointer: Out<*mut c_void>,
        pitch: Out<usize>,
        width: usize,
        height: usize,
    ) {
        malloc_pitched(pointer, pitch, width, height, 1)
    }

    fn hipMemAllocPitch(
        pointer: Out<hipDeviceptr_t>,
        pitch: Out<usize>,
        width: usize,
        height: usize,
        element_bytes: c_uint,
    ) {
        // Pitches suit elements of any size.
        let _hint = element_bytes;
        malloc_pitched(pointer, pitch, width, height, 1)
    }

    fn hipMalloc3D(pitched: Out<hipPitchedPtr>, extent: hipExtent) {
        if pitched.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let (mut base, mut pitch) = (ptr::null_mut(), 0);
        let (width, height) = (extent.width, extent.height);
        malloc_pitched(Out::to(&mut base), Out::to(&mut pitch), width, height, extent.depth)?;
        pitched.set(hipPitchedPtr { ptr: base, pitch, xsize: width, ysize: height })
    }

    fn hipFree(pointer: *mut c_void) {
        free(pointer)
    }

    fn hipHostMalloc(pointer: Out<*mut c_void>, bytes: usize, flags: c_uint) {
        host_malloc(pointer, bytes, flags)
    }

    fn hipHostAlloc(pointer: Out<*mut c_void>, bytes: usize, flags: c_uint) {
        host_malloc(pointer, bytes, flags)
    }

    fn hipMallocHost(pointer: Out<*mut c_void>, bytes: usize) {
        host_malloc(pointer, bytes, hipHostMallocDefault)
    }

    fn hipMemAllocHost(pointer: Out<*mut c_void>, bytes: usize) {
        host_malloc(pointer, bytes, hipHostMallocDefault)
    }

    fn hipHostFree(pointer: *mut c_void) {
        free(pointer)
    }

    fn hipFreeHost(pointer: *mut c_void) {
        free(pointer)
    }

    fn hipMallocManaged(pointer: Out<*mut c_void>, bytes: usize, flags: c_uint) {
        let (runtime, device) = current()?;
        if major() > 5 {
            runtime.check_no_capture()?;
        }
        let is_known = matches!(flags, hipMemAttachGlobal | hipMemAttachHost);
        if pointer.is_null() || bytes == 0 || !is_known {
            return Err(hipErrorInvalidValue);
        }
        let base = allocate_host(runtime, device.id(), bytes as u64, Kind::Managed, flags)?;
        pointer.set(address(base))
    }

    fn hipHostRegister(pointer: *mut c_void, bytes: usize, flags: c_uint) {
        let (runtime, device) = current()?;
        if pointer.is_null() || bytes == 0 || flags & !HOST_REGISTER_FLAGS != 0 {
            return Err(hipErrorInvalidValue);
        }
        let base = pointer.expose_provenance() as u64;
        let (device, bytes) = (device.id(), bytes as u64);
        // SAFETY: HIP's contract: the memory stays until it is unregistered.
        let alias = unsafe { runtime.space.alias_host(pointer.cast(), bytes) };
        let alias = alias.map_err(|error| memory_error(&error))?;
        let kind = Kind::Registered { alias };
        if !runtime.allocations.insert_new(Allocation { base, bytes, kind, device, flags }) {
            runtime.space.free(alias).map_err(|error| memory_error(&error))?;
            return Err(hipErrorHostMemoryAlreadyRegistered);
        }
        Ok(())
    }

    fn hipHostUnregister(pointer: *mut c_void) {
        let (runtime, device) = current()?;
        let found = runtime.allocations.at(pointer.addr() as u64);
        let found = found.filter(|found| matches!(found.kind, Kind::Registered { .. }));
        let found = found.ok_or(hipErrorHostMemoryNotRegistered)?;
        device.drain();
        free_host(runtime, &found)
    }

    /// The address by which devices have memory: that of registered memory is not the program's.
    /// Like AMD's runtime, answers for any memory that it knows, and does not look at the flags.
    fn hipHostGetDevicePointer(device: Out<*mut c_void>, host: *mut c_void, _flags: c_uint) {
        let (runtime, _) = current()?;
        let start = host.addr() as u64;
        let found = runtime.allocations.find(start).ok_or(hipErrorInvalidValue)?;
        device.set(address(found.device_address(start)))
    }

    fn hipHostGetFlags(flags: Out<c_uint>, host: *mut c_void) {
        let (runtime, _) = current()?;
        let found = runtime.allocations.find(host.addr() as u64).ok_or(hipErrorInvalidValue)?;
        let known = major() < 6 || matches!(found.kind, Kind::Pinned | Kind::Managed);
        if known { flags.set(flags_out(&found)) } else { Err(hipErrorInvalidValue) }
    }

    fn hipMemGetInfo(free: Out<usize>, total: Out<usize>) {
        let (_, device) = current()?;
        free.set_if_wanted((DEVICE_BYTES - device.used_bytes()) as usize);
        total.set_if_wanted(DEVICE_BYTES as usize);
        Ok(())
    }

    fn hipMemset(to: *mut c_void, value: c_int, bytes: usize) {
        fill_now(hipStream_t::NULL, to, value.cast_unsigned(), 1, bytes)
    }

    fn hipMemset_spt(to: *mut c_void, value: c_int, bytes: usize) {
        fill_now(PER_THREAD, to, value.cast_unsigned(), 1, bytes)
    }

    fn hipMemsetAsync(to: *mut c_void, value: c_int, bytes: usize, stream: hipStream_t) {
        fill_row(stream, to, value.cast_unsigned(), 1, bytes).map(drop)
    }

    fn hipMemsetAsync_spt(to: *mut c_void, value: c_int, bytes: usize, stream: hipStream_t) {
        fill_row(per_thread(stream), to, value.cast_unsigned(), 1, bytes).map(drop)
    }

    fn hipMemsetD8(to: hipDeviceptr_t, value: c_uchar, count: usize) {
        fill_now(hipStream_t::NULL, to, value.into(), 1, count)
    }

    fn hipMemsetD8Async(to: hipDeviceptr_t, value: c_uchar, count: usize, stream: hipStream_t) {
        fill_row(stream, to, value.into(), 1, count).map(drop)
    }

    fn hipMemsetD16(to: hipDeviceptr_t, value: c_ushort, count: usize) {
        fill_now(hipStream_t::NULL, to, value.into(), 2, count)
    }

    fn hipMemsetD16Async(to: hipDeviceptr_t, value: c_ushort, count: usize, stream: hipStream_t) {
        fill_row(stream, to, value.into(), 2, count).map(drop)
    }

    fn hipMemsetD32(to: hipDeviceptr_t, value: c_int, count: usize) {
        fill_now(hipStream_t::NULL, to, value.cast_unsigned(), 4, count)
    }

    fn hipMemsetD32Async(to: hipDeviceptr_t, value: c_int, count: usize, stream: hipStream_t) {
        fill_row(stream, to, value.cast_unsigned(), 4, count).map(drop)
    }

    fn hipMemset2D(to: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize) {
        let fill = fill_2d(to, pitch, value.cast_unsigned(), 1, width, height)?;
        enqueue_fill(hipStream_t::NULL, fill, Wait::Yes)
    }

    fn hipMemset2D_spt(to: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize) {
        let fill = fill_2d(to, pitch, value.cast_unsigned(), 1, width, height)?;
        enqueue_fill(PER_THREAD, fill, Wait::Yes)
    }

    fn hipMemset2DAsync(
        to: *mut c_void,
        pitch: usize,
        value: c_int,
        width: usize,
        height: usize,
        stream: hipStream_t,
    ) {
        let fill = fill_2d(to, pitch, value.cast_unsigned(), 1, width, height)?;
        enqueue_fill(stream, fill, Wait::No)
    }

    fn hipMemset2DAsync_spt(
        to: *mut c_void,
        pitch: usize,
        value: c_int,
        width: usize,
        height: usize,
        stream: hipStream_t,
    ) {
        let fill = fill_2d(to, pitch, value.cast_unsigned(), 1, width, height)?;
        enqueue_fill(per_thread(stream), fill, Wait::No)
    }

    fn hipMemsetD2D8(
        to: hipDeviceptr_t,
        pitch: usize,
        value: c_uchar,
        width: usize,
        height: usize,
    ) {
        enqueue_fill(hipStream_t::NULL, fill_2d(to, pitch, value.into(), 1, width, height)?, Wait::Yes)
    }

    fn hipMemsetD2D8Async(
        to: hipDeviceptr_t,
        pitch: usize,
        value: c_uchar,
        width: usize,
        height: usize,
        stream: hipStream_t,
    ) {
        enqueue_fill(stream, fill_2d(to, pitch, value.into(), 1, width, height)?, Wait::No)
    }

    fn hipMemsetD2D16(
        to: hipDeviceptr_t,
        pitch: usize,
        value: c_ushort,
        width: usize,
        height: usize,
    ) {
        enqueue_fill(hipStream_t::NULL, fill_2d(to, pitch, value.into(), 2, width, height)?, Wait::Yes)
    }

    fn hipMemsetD2D16Async(
        to: hipDeviceptr_t,
        pitch: usize,
        value: c_ushort,
        width: usize,
        height: usize,
        stream: hipStream_t,
    ) {
        enqueue_fill(stream, fill_2d(to, pitch, value.into(), 2, width, height)?, Wait::No)
    }

    fn hipMemsetD2D32(
        to: hipDeviceptr_t,
        pitch: usize,
        value: c_uint,
        width: usize,
        height: usize,
    ) {
        enqueue_fill(hipStream_t::NULL, fill_2d(to, pitch, value, 4, width, height)?, Wait::Yes)
    }

    fn hipMemsetD2D32Async(
        to: hipDeviceptr_t,
        pitch: usize,
        value: c_uint,
        width: usize,
        height: usize,
        stream: hipStream_t,
    ) {
        enqueue_fill(stream, fill_2d(to, pitch, value, 4, width, height)?, Wait::No)
    }

    fn hipMemset3D(to: hipPitchedPtr, value: c_int, extent: hipExtent) {
        enqueue_fill(hipStream_t::NULL, fill_3d(to, value, extent)?, Wait::Yes)
    }

    fn hipMemset3D_spt(to: hipPitchedPtr, value: c_int, extent: hipExtent) {
        enqueue_fill(PER_THREAD, fill_3d(to, value, extent)?, Wait::Yes)
    }

    fn hipMemset3DAsync(to: hipPitchedPtr, value: c_int, extent: hipExtent, stream: hipStream_t) {
        enqueue_fill(stream, fill_3d(to, value, extent)?, Wait::No)
    }

    fn hipMemset3DAsync_spt(
        to: hipPitchedPtr,
        value: c_int,
        extent: hipExtent,
        stream: hipStream_t,
    ) {
        enqueue_fill(per_thread(stream), fill_3d(to, value, extent)?, Wait::No)
    }
}

/// `hipStreamPerThread`.
const PER_THREAD: hipStream_t = hipStream_t(ptr::without_provenance_mut(2));
const HOST_REGISTER_FLAGS: c_uint = hipHostRegisterPortable
    | hipHostRegisterMapped
    | hipHostRegisterIoMemory
    | hipHostRegisterReadOnly
    | hipExtHostRegisterUncached;

/// Whether a call returns before its work is done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    Yes,
    No,
}

/// The stream that functions whose name ends in `_spt` mean by the null stream.
pub(crate) fn per_thread(stream: hipStream_t) -> hipStream_t {
    if stream.is_null() { PER_THREAD } else { stream }
}

pub(crate) fn address(base: u64) -> *mut c_void {
    ptr::with_exposed_provenance_mut(base as usize)
}

fn malloc(pointer: Out<*mut c_void>, bytes: usize) -> Answer {
    let (runtime, device) = current()?;
    runtime.check_no_capture()?;
    if pointer.is_null() {
        return Err(hipErrorInvalidValue);
    }
    if bytes == 0 {
        return pointer.set(ptr::null_mut());
    }
    let base = runtime.allocate(device, bytes as u64, Kind::Device)?;
    pointer.set(address(base))
}

fn malloc_pitched(
    pointer: Out<*mut c_void>,
    pitch: Out<usize>,
    width: usize,
    height: usize,
    depth: usize,
) -> Answer {
    if pointer.is_null() || pitch.is_null() {
        return Err(hipErrorInvalidValue);
    }
    if width == 0 || height == 0 || depth == 0 {
        pitch.set(0)?;
        return pointer.set(ptr::null_mut());
    }
    let row = width.checked_next_multiple_of(PITCH_ALIGN).ok_or(hipErrorOutOfMemory)?;
    let bytes = row.checked_mul(height).and_then(|bytes| bytes.checked_mul(depth));
    malloc(pointer, bytes.ok_or(hipErrorOutOfMemory)?)?;
    pitch.set(row)
}

fn host_malloc(pointer: Out<*mut c_void>, bytes: usize, flags: c_uint) -> Answer {
    let (runtime, device) = current()?;
    runtime.check_no_capture()?;
    let coherence = hipHostMallocCoherent | hipHostMallocNonCoherent;
    let known = hipHostMallocPortable
        | hipHostMallocMapped
        | hipHostMallocWriteCombined
        | hipHostMallocUncached
        | hipHostMallocNumaUser
        | coherence;
    if pointer.is_null() || flags & !known != 0 || flags & coherence == coherence {
        return Err(hipErrorInvalidValue);
    }
    if bytes == 0 {
        return pointer.set(ptr::null_mut());
    }
    let base = allocate_host(runtime, device.id(), bytes as u64, Kind::Pinned, flags)?;
    pointer.set(address(base))
}

/// Maps memory that the program and kernels both use.
pub(crate) fn allocate_host(
    runtime: &'static Runtime,
    device: usize,
    bytes: u64,
    kind: Kind,
    flags: u32,
) -> Answer<u64> {
    let mapping = map_host(bytes)?;
    // SAFETY: the mapping was made above, and lives until `free_host` unregisters it.
    let registered = unsafe { adopt_host(runtime, mapping, bytes) };
    if let Err(error) = registered {
        // SAFETY: the mapping was made above and nobody knows of it.
        unsafe { munmap(mapping, bytes as usize) }.map_err(|_| hipErrorUnknown)?;
        return Err(error);
    }
    let base = mapping.addr() as u64;
    runtime.allocations.insert(Allocation { base, bytes, kind, device, flags });
    Ok(base)
}

/// Maps zeroed memory of the program.
pub(crate) fn map_host(bytes: u64) -> Answer<*mut c_void> {
    let length = usize::try_from(bytes).map_err(|_| hipErrorOutOfMemory)?;
    let access = ProtFlags::READ | ProtFlags::WRITE;
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
    // SAFETY: a new mapping at an address that the kernel chooses.
    let mapping = unsafe { mmap_anonymous(ptr::null_mut(), length, access, flags) };
    let mapping = mapping.map_err(|_| hipErrorOutOfMemory)?;
    mapping.expose_provenance();
    Ok(mapping)
}

/// Makes memory of the program reachable from kernels.
///
/// # Safety
///
/// The memory stays until it is unregistered.
pub(crate) unsafe fn adopt_host(runtime: &Runtime, mapping: *mut c_void, bytes: u64) -> Answer {
    // SAFETY: the caller's own obligation.
    let registered = unsafe { runtime.space.register_host(mapping.cast(), bytes) };
    registered.map_err(|error| memory_error(&error))
}

/// Ends pinned, managed or registered memory that no work uses any more.
pub(crate) fn free_host(runtime: &Runtime, allocation: &Allocation) -> Answer {
    if let Kind::Registered { alias } = allocation.kind {
        runtime.allocations.remove(allocation.base);
        return runtime.space.free(alias).map_err(|error| memory_error(&error));
    }
    let host = address(allocation.base);
    let unregistered = runtime.space.unregister_host(host.cast());
    unregistered.map_err(|error| memory_error(&error))?;
    runtime.allocations.remove(allocation.base);
    // SAFETY: the mapping was made by `allocate_host` with this size, and the program has given
    // it up.
    unsafe { munmap(host, allocation.bytes as usize) }.map_err(|_| hipErrorInvalidValue)
}

/// Frees what any allocation function gave. Waits for the device first, as HIP does.
fn free(pointer: *mut c_void) -> Answer {
    let (runtime, device) = current()?;
    runtime.check_no_capture()?;
    if pointer.is_null() {
        return Ok(());
    }
    let found = runtime.allocations.at(pointer.addr() as u64).ok_or(hipErrorInvalidValue)?;
    match found.kind {
        Kind::Device | Kind::Pool(_) => {
            drain_all(runtime, device);
            runtime.release(&found)
        }
        Kind::Pinned | Kind::Managed => {
            drain_all(runtime, device);
            free_host(runtime, &found)
        }
        Kind::Registered { .. } | Kind::Mapped | Kind::Variable | Kind::Heap | Kind::Imported => {
            Err(hipErrorInvalidValue)
        }
    }
}

/// Memory may be in use by every device.
fn drain_all(runtime: &Runtime, current: &Device) {
    current.drain();
    for id in (0..runtime.device_count()).filter(|&id| id != current.id()) {
        if let Ok(device) = runtime.device(id) {
            device.drain();
        }
    }
}

fn fill_row(
    stream: hipStream_t,
    to: *mut c_void,
    value: u32,
    element_bytes: u32,
    count: usize,
) -> Answer {
    enqueue_fill(stream, fill_of_row(to, value, element_bytes, count)?, Wait::No)
}

fn fill_now(
    stream: hipStream_t,
    to: *mut c_void,
    value: u32,
    element_bytes: u32,
    count: usize,
) -> Answer {
    enqueue_fill(stream, fill_of_row(to, value, element_bytes, count)?, Wait::Yes)
}

fn fill_of_row(to: *mut c_void, value: u32, element_bytes: u32, count: usize) -> Answer<Fill> {
    let place = Place::of(runtime()?, to.addr() as u64);
    Ok(Fill { to: Side::row(place), value, element_bytes, extent: [count as u64, 1, 1] })
}

pub(crate) fn fill_2d(
    to: *mut c_void,
    pitch: usize,
    value: u32,
    element_bytes: u32,
    width: usize,
    height: usize,
) -> Answer<Fill> {
    let place = Place::of(runtime()?, to.addr() as u64);
    let to = Side { place, pitch: pitch as u64, slice: 0 };
    Ok(Fill { to, value, element_bytes, extent: [width as u64, height as u64, 1] })
}

fn fill_3d(to: hipPitchedPtr, value: c_int, extent: hipExtent) -> Answer<Fill> {
    let place = Place::of(runtime()?, to.ptr.addr() as u64);
    let slice = to.pitch.checked_mul(to.ysize).ok_or(hipErrorInvalidValue)?;
    let to = Side { place, pitch: to.pitch as u64, slice: slice as u64 };
    let extent = [extent.width as u64, extent.height as u64, extent.depth as u64];
    Ok(Fill { to, value: value.cast_unsigned() & 0xff, element_bytes: 1, extent })
}

/// HIP 5 says of copies and fills on the null stream why they do not go with a capture.
pub(crate) fn implicitly(error: hipError_t) -> hipError_t {
    by_version(hipErrorStreamCaptureImplicit, error)
}

/// Fills of device memory are asynchronous even without "Async" in their name, but nothing that
/// the program can do lets it see that, except through a stream that does not wait for the null
/// stream; like AMD's runtime, the functions without "Async" wait only for pinned and managed
/// memory, which the program could look at.
fn enqueue_fill(stream: hipStream_t, fill: Fill, wait: Wait) -> Answer {
    let (runtime, _) = current()?;
    if wait == Wait::Yes {
        runtime.check_no_capture().map_err(implicitly)?;
    }
    fill.check(runtime)?;
    let stream = runtime.stream(stream)?;
    if fill.extent.contains(&0) {
        return Ok(());
    }
    let done = stream.enqueue(runtime, Op::Fill(fill))?;
    if wait == Wait::Yes && !fill.to.place.is_device_only(runtime) {
        ops::wait(done);
        runtime.device(stream.device)?.check()?;
    }
    Ok(())
}

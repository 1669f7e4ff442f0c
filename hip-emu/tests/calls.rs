//! Goal: each call answers what HIP documents, for good arguments and for bad ones. Method: the
//! library is loaded by path and called through its C names.

mod hip;

use std::ffi::{CStr, c_int, c_void};
use std::ptr::{null, null_mut};

use hip::*;
use hrr_ffi::types::*;

fn bogus() -> *mut c_void {
    std::ptr::without_provenance_mut(0x1234_5670)
}

#[test]
fn a_failure_stays_the_last_error_until_it_is_read() {
    let _one = exclusive();
    std::thread::spawn(|| {
        assert_eq!(hipGetLastError(), hipSuccess);
        assert_eq!(hipMalloc(null_mut(), 16), hipErrorInvalidValue);
        ok(hipDeviceSynchronize());
        assert_eq!(hipPeekAtLastError(), hipErrorInvalidValue);
        std::thread::spawn(|| assert_eq!(hipPeekAtLastError(), hipSuccess)).join().unwrap();
        assert_eq!(hipGetLastError(), hipErrorInvalidValue);
        assert_eq!(hipGetLastError(), hipSuccess);
        // "Not ready" is no failure.
        let (stream, words) = (non_blocking_stream(), pinned(1));
        gate(stream, &mut words[0]);
        assert_eq!(hipStreamQuery(stream), hipErrorNotReady);
        assert_eq!(hipGetLastError(), hipSuccess);
        open(&mut words[0]);
        ok(hipStreamSynchronize(stream));
        ok(hipStreamDestroy(stream));
        ok(hipHostFree(words.as_mut_ptr().cast()));
    })
    .join()
    .unwrap();
}

#[test]
fn errors_have_names_and_texts() {
    // SAFETY: the functions return texts that live for ever.
    let text = |pointer| unsafe { CStr::from_ptr(pointer) }.to_str().unwrap();
    assert_eq!(text(hipGetErrorName(hipErrorNoBinaryForGpu)), "hipErrorNoBinaryForGpu");
    assert_eq!(text(hipGetErrorName(hipErrorOutOfMemory)), "hipErrorOutOfMemory");
    assert_eq!(text(hipGetErrorString(hipErrorInvalidValue)), "invalid argument");
    assert_eq!(text(hipGetErrorString(hipSuccess)), "no error");
    assert_eq!(text(hipGetErrorName(hipError_t(424_242))), "hipErrorUnknown");
}

#[test]
fn handles_that_are_none_are_refused() {
    let _one = exclusive();
    let (stream, event) = (hipStream_t(bogus()), hipEvent_t(bogus()));
    assert_eq!(hipStreamSynchronize(stream), hipErrorInvalidHandle);
    assert_eq!(hipStreamQuery(stream), hipErrorInvalidHandle);
    assert_eq!(hipStreamDestroy(stream), hipErrorInvalidHandle);
    assert_eq!(hipStreamDestroy(NULL_STREAM), hipErrorInvalidHandle);
    assert_eq!(hipEventRecord(event, NULL_STREAM), hipErrorInvalidHandle);
    assert_eq!(hipEventSynchronize(hipEvent_t::NULL), hipErrorInvalidHandle);
    assert_eq!(hipEventDestroy(event), hipErrorInvalidHandle);
    assert_eq!(hipModuleUnload(hipModule_t(bogus())), hipErrorInvalidHandle);
    let launch = launch_one(hipFunction_t(bogus()), null_mut(), NULL_STREAM);
    assert_eq!(launch, hipErrorInvalidHandle);
    assert_eq!(hipGraphLaunch(hipGraphExec_t(bogus()), NULL_STREAM), hipErrorInvalidValue);
    assert_eq!(hipGraphDestroy(hipGraph_t(bogus())), hipErrorInvalidValue);
    assert_eq!(hipFree(bogus()), hipErrorInvalidValue);
    assert_eq!(hipSetDevice(99), hipErrorInvalidDevice);
    assert_eq!(hipSetDevice(-1), hipErrorInvalidDevice);
    assert_eq!(hipInit(1), hipErrorInvalidValue);
    // A handle is gone after its end, and others are not.
    let (first, second) = (self::stream(), self::stream());
    ok(hipStreamDestroy(first));
    assert_eq!(hipStreamSynchronize(first), hipErrorInvalidHandle);
    ok(hipStreamSynchronize(second));
    ok(hipStreamDestroy(second));
}

#[test]
fn what_is_not_supported_says_so() {
    let _one = exclusive();
    let mut array = hipArray_t::NULL;
    assert_eq!(hipMallocArray(&raw mut array, null(), 4, 4, 0), hipErrorNotSupported);
    assert_eq!(hipGetLastError(), hipErrorNotSupported);
    let (mut luid, mut mask) = ([7; 8], 7);
    let answer = hipDeviceGetLuid(&raw mut luid, &raw mut mask, 0);
    assert_eq!((answer, luid, mask), (hipErrorNotSupported, [7; 8], 7));
    let mut link = hipLinkState_t::NULL;
    let answer = hipLinkCreate(0, null_mut(), null_mut(), &raw mut link);
    assert_eq!(answer, hipErrorNotSupported);
    let mut pool = hipMemPool_t::NULL;
    let answer = hipMemPoolImportFromShareableHandle(
        &raw mut pool,
        bogus(),
        hipMemHandleTypePosixFileDescriptor,
        0,
    );
    assert_eq!(answer, hipErrorNotSupported);
}

#[test]
fn device_memory_has_bounds_and_attributes() {
    let _one = exclusive();
    let mut free = [0; 2];
    ok(hipMemGetInfo(&raw mut free[0], null_mut()));
    let memory = device_memory(1000);
    assert!(memory.addr().is_multiple_of(4096));
    ok(hipMemGetInfo(&raw mut free[1], null_mut()));
    assert_eq!(free[0] - free[1], 1000);
    let host = [5_u8; 1001];
    let to = hipMemcpyHostToDevice;
    ok(hipMemcpy(memory, host.as_ptr().cast(), 1000, to));
    assert_eq!(hipMemcpy(memory, host.as_ptr().cast(), 1001, to), hipErrorInvalidValue);
    let inside = memory.wrapping_byte_add(999);
    assert_eq!(hipMemcpy(inside, host.as_ptr().cast(), 2, to), hipErrorInvalidValue);
    assert_eq!(hipMemset(memory, 0, 1001), hipErrorInvalidValue);
    // Host memory is no destination of a copy to the device.
    let mut local = [0_u8; 8];
    let answer = hipMemcpy(local.as_mut_ptr().cast(), host.as_ptr().cast(), 8, to);
    assert_eq!(answer, hipErrorInvalidValue);
    let answer = hipMemcpy(memory, host.as_ptr().cast(), 8, hipMemcpyKind(77));
    assert_eq!(answer, hipErrorInvalidMemcpyDirection);
    ok(hipMemcpy(local.as_mut_ptr().cast(), inside.wrapping_byte_sub(7), 8, hipMemcpyDefault));
    assert_eq!(local, [5; 8]);
    ok(hipMemcpy(null_mut(), null(), 0, hipMemcpyDefault));

    // SAFETY: a structure of integers and pointers.
    let mut attributes: hipPointerAttribute_t = unsafe { std::mem::zeroed() };
    ok(hipPointerGetAttributes(&raw mut attributes, inside));
    assert_eq!(attributes.r#type, hipMemoryTypeDevice);
    assert!(attributes.hostPointer.is_null() && attributes.devicePointer == inside);
    ok(hipPointerGetAttributes(&raw mut attributes, host.as_ptr().cast()));
    assert_eq!(attributes.r#type, hipMemoryTypeUnregistered);
    let (mut base, mut bytes) = (null_mut(), 0);
    ok(hipMemGetAddressRange(&raw mut base, &raw mut bytes, inside));
    assert_eq!((base, bytes), (memory, 1000));
    ok(hipMemGetAddressRange(&raw mut base, null_mut(), inside));

    assert_eq!(hipFree(inside), hipErrorInvalidValue);
    ok(hipFree(memory));
    assert_eq!(hipFree(memory), hipErrorInvalidValue);
    ok(hipFree(null_mut()));
    let mut none = bogus();
    ok(hipMalloc(&raw mut none, 0));
    assert!(none.is_null());
    assert_eq!(hipMalloc(&raw mut none, 1 << 60), hipErrorOutOfMemory);
    assert_eq!(hipMalloc(&raw mut none, usize::MAX), hipErrorOutOfMemory);
}

#[test]
fn pinned_registered_and_managed_memory_is_the_programs_own() {
    let _one = exclusive();
    let words = pinned(64);
    let address: *mut c_void = words.as_mut_ptr().cast();
    let mut device = null_mut();
    ok(hipHostGetDevicePointer(&raw mut device, address, 0));
    let module = module(KERNELS);
    let add = function(module, c"add");
    words.fill(40);
    ok(launch_add(add, device, 2, 64, NULL_STREAM));
    ok(hipDeviceSynchronize());
    assert_eq!(words, [42; 64]);
    assert_eq!(hipHostUnregister(address), hipErrorHostMemoryNotRegistered);
    ok(hipHostFree(address));

    let mut own = vec![7_u32; 64];
    let address: *mut c_void = own.as_mut_ptr().cast();
    assert_eq!(hipHostGetDevicePointer(&raw mut device, address, 0), hipErrorInvalidValue);
    ok(hipHostRegister(address, 256, 0));
    assert_eq!(hipHostRegister(address, 256, 0), hipErrorHostMemoryAlreadyRegistered);
    assert_eq!(hipHostFree(address), hipErrorInvalidValue);
    ok(hipHostGetDevicePointer(&raw mut device, address, 0));
    ok(launch_add(add, device, 1, 64, NULL_STREAM));
    ok(hipDeviceSynchronize());
    assert_eq!(own, [8; 64]);
    ok(hipHostUnregister(address));
    assert_eq!(hipHostUnregister(address), hipErrorHostMemoryNotRegistered);

    let mut managed = null_mut();
    ok(hipMallocManaged(&raw mut managed, 256, hipMemAttachGlobal));
    // SAFETY: managed memory is ordinary memory of 64 words.
    let values = unsafe { std::slice::from_raw_parts_mut(managed.cast::<u32>(), 64) };
    values.fill(1);
    ok(launch_add(add, managed, 1, 64, NULL_STREAM));
    ok(hipDeviceSynchronize());
    assert_eq!(values, [2; 64]);
    ok(hipFree(managed));
    ok(hipModuleUnload(module));
}

/// Both sides of an address of registered memory.
fn sides(pointer: *const c_void) -> (*mut c_void, *mut c_void) {
    // SAFETY: a structure of integers and pointers.
    let mut attributes: hipPointerAttribute_t = unsafe { std::mem::zeroed() };
    ok(hipPointerGetAttributes(&raw mut attributes, pointer));
    assert_eq!(attributes.r#type, hipMemoryTypeHost);
    (attributes.hostPointer, attributes.devicePointer)
}

#[test]
fn devices_have_registered_memory_at_another_address() {
    let _one = exclusive();
    let mut own = vec![7_u32; 64];
    let host: *mut c_void = own.as_mut_ptr().cast();
    ok(hipHostRegister(host, 256, hipHostRegisterMapped));
    let mut device = null_mut();
    ok(hipHostGetDevicePointer(&raw mut device, host, 0));
    assert_ne!(device, host);
    let mut inside = null_mut();
    ok(hipHostGetDevicePointer(&raw mut inside, host.wrapping_byte_add(255), 0));
    assert_eq!(inside, device.wrapping_byte_add(255));
    ok(hipHostGetDevicePointer(&raw mut inside, inside, 0));
    assert_eq!(inside, device.wrapping_byte_add(255), "an address of the device is one already");
    let behind = hipHostGetDevicePointer(&raw mut inside, host.wrapping_byte_add(256), 0);
    assert_eq!(behind, hipErrorInvalidValue);
    for offset in [0, 40] {
        let both = (host.wrapping_byte_add(offset), device.wrapping_byte_add(offset));
        assert_eq!(sides(both.0), both);
        assert_eq!(sides(both.1), both);
    }
    // Copies, fills and waits take either.
    let memory = device_memory(256);
    for (index, from) in [host, device].into_iter().enumerate() {
        let value = index as u32 + 1;
        ok(hipMemsetD32(from, value as c_int, 4));
        ok(hipDeviceSynchronize());
        assert_eq!(own[..5], [value, value, value, value, 7]);
        for kind in [hipMemcpyHostToDevice, hipMemcpyDeviceToDevice, hipMemcpyDefault] {
            ok(hipMemsetD32(memory, 0, 64));
            ok(hipMemcpy(memory, from, 256, kind));
            assert_eq!(read_words(memory, 5), [value, value, value, value, 7]);
        }
        assert_eq!(hipMemcpy(memory, from, 257, hipMemcpyDefault), hipErrorInvalidValue);
        ok(hipStreamWriteValue32(NULL_STREAM, from, 9, 0));
        ok(hipStreamWaitValue32(NULL_STREAM, from, 9, 1, u32::MAX));
        ok(hipDeviceSynchronize());
        assert_eq!(own[0], 9);
    }
    ok(hipFree(memory));
    // What overlaps is registered already, wherever it starts.
    for (start, bytes) in [(host, 256), (host.wrapping_byte_add(40), 4)] {
        let again = hipHostRegister(start, bytes, 0);
        assert_eq!(again, hipErrorHostMemoryAlreadyRegistered);
    }
    let before = own.as_mut_ptr().wrapping_sub(1).cast();
    assert_eq!(hipHostRegister(before, 8, 0), hipErrorHostMemoryAlreadyRegistered);
    assert_eq!(hipHostUnregister(device), hipErrorHostMemoryNotRegistered);
    ok(hipHostUnregister(host));
    assert_eq!(hipHostGetDevicePointer(&raw mut device, host, 0), hipErrorInvalidValue);
}

#[test]
fn flags_are_those_of_memory_that_hip_allocated() {
    let _one = exclusive();
    let flags_of = |memory: *mut c_void| {
        let mut flags = 77;
        (hipHostGetFlags(&raw mut flags, memory), flags)
    };
    let mut host = null_mut();
    let asked = hipHostMallocNonCoherent | hipHostMallocMapped;
    ok(hipHostMalloc(&raw mut host, 64, asked));
    assert_eq!(flags_of(host.wrapping_byte_add(63)), (hipSuccess, asked));
    ok(hipHostFree(host));
    assert_eq!(flags_of(host), (hipErrorInvalidValue, 77));
    ok(hipMallocManaged(&raw mut host, 64, hipMemAttachGlobal));
    assert_eq!(flags_of(host), (hipSuccess, 0));
    ok(hipFree(host));
    let memory = device_memory(64);
    assert_eq!(flags_of(memory), (hipErrorInvalidValue, 77));
    ok(hipFree(memory));
    let mut own = [0_u32; 16];
    let address: *mut c_void = own.as_mut_ptr().cast();
    ok(hipHostRegister(address, 64, hipHostRegisterMapped));
    assert_eq!(flags_of(address), (hipErrorInvalidValue, 77));
    ok(hipHostUnregister(address));
}

/// One attribute of a range, in as many words as are asked for.
fn attribute<const WORDS: usize>(
    attribute: hipMemRangeAttribute,
    pointer: *const c_void,
    bytes: usize,
) -> Result<[i32; WORDS], hipError_t> {
    let mut words = [-77; WORDS];
    let data = words.as_mut_ptr().cast();
    let answer = hipMemRangeGetAttribute(data, 4 * WORDS, attribute, pointer, bytes);
    if answer == hipSuccess { Ok(words) } else { Err(answer) }
}

#[test]
fn what_was_said_of_managed_memory_can_be_asked_for() {
    const BYTES: usize = 3 * 4096;
    const CPU: i32 = -1;
    const NONE: i32 = -2;
    let _one = exclusive();
    let mut memory = null_mut();
    ok(hipMallocManaged(&raw mut memory, BYTES, hipMemAttachGlobal));
    let all = || {
        [
            hipMemRangeAttributeReadMostly,
            hipMemRangeAttributePreferredLocation,
            hipMemRangeAttributeLastPrefetchLocation,
            hipMemRangeAttributeCoherencyMode,
        ]
        .map(|kind| attribute::<1>(kind, memory, BYTES).unwrap()[0])
    };
    let accessed = || attribute::<3>(hipMemRangeAttributeAccessedBy, memory, BYTES).unwrap();
    let advise = |advice, device| ok(hipMemAdvise(memory, BYTES, advice, device));
    assert_eq!((all(), accessed()), ([0, NONE, NONE, 0], [CPU, NONE, NONE]));
    advise(hipMemAdviseSetReadMostly, 0);
    advise(hipMemAdviseSetPreferredLocation, 0);
    advise(hipMemAdviseSetAccessedBy, 0);
    advise(hipMemAdviseSetCoarseGrain, 0);
    ok(hipMemPrefetchAsync(memory, BYTES, CPU, NULL_STREAM));
    assert_eq!((all(), accessed()), ([1, 0, CPU, 1], [0, CPU, NONE]));
    // A part that differs takes the whole with it.
    let part = memory.wrapping_byte_add(4096 + 7);
    ok(hipMemAdvise(part, 1, hipMemAdviseUnsetReadMostly, 0));
    ok(hipMemAdvise(part, 1, hipMemAdviseSetPreferredLocation, CPU));
    ok(hipMemAdvise(part, 1, hipMemAdviseUnsetAccessedBy, 0));
    ok(hipMemAdvise(part, 1, hipMemAdviseUnsetCoarseGrain, 0));
    ok(hipMemPrefetchAsync(part, 1, 0, NULL_STREAM));
    assert_eq!((all(), accessed()), ([0, NONE, NONE, 2], [CPU, NONE, NONE]));
    assert_eq!(attribute(hipMemRangeAttributePreferredLocation, part, 1), Ok([CPU]));
    assert_eq!(attribute(hipMemRangeAttributeReadMostly, memory, 4096), Ok([1]));
    advise(hipMemAdviseUnsetPreferredLocation, 0);
    assert_eq!(all()[1], NONE);

    // Several at once.
    let (mut prefetched, mut by) = (-77, [-77; 2]);
    let mut places: [*mut c_void; 2] = [(&raw mut prefetched).cast(), by.as_mut_ptr().cast()];
    let (mut sizes, mut kinds) =
        ([4, 8], [hipMemRangeAttributeLastPrefetchLocation, hipMemRangeAttributeAccessedBy]);
    let (places, sizes, kinds) = (places.as_mut_ptr(), sizes.as_mut_ptr(), kinds.as_mut_ptr());
    ok(hipMemRangeGetAttributes(places, sizes, kinds, 2, memory, 4096));
    assert_eq!((prefetched, by), (CPU, [0, CPU]));
    let invalid = hipErrorInvalidValue;
    assert_eq!(hipMemRangeGetAttributes(places, sizes, kinds, 0, memory, 4096), invalid);
    assert_eq!(hipMemRangeGetAttributes(null_mut(), sizes, kinds, 2, memory, 4096), invalid);
    // SAFETY: two live pointers.
    unsafe { places.add(1).write(null_mut()) };
    assert_eq!(hipMemRangeGetAttributes(places, sizes, kinds, 2, memory, 4096), invalid);

    // What is no range, no size, no attribute.
    let mostly = hipMemRangeAttributeReadMostly;
    assert_eq!(attribute::<1>(mostly, memory, 0), Err(invalid));
    assert_eq!(attribute::<1>(mostly, memory, BYTES + 1), Err(invalid));
    assert_eq!(attribute::<1>(mostly, null(), BYTES), Err(invalid));
    assert_eq!(attribute::<0>(mostly, memory, BYTES), Err(invalid));
    assert_eq!(attribute::<2>(mostly, memory, BYTES), Err(invalid));
    assert_eq!(attribute::<1>(hipMemRangeAttribute(5), memory, BYTES), Err(invalid));
    let mut word = 0_i32;
    let data = (&raw mut word).cast();
    let by = hipMemRangeAttributeAccessedBy;
    assert_eq!(hipMemRangeGetAttribute(data, 3, by, memory, BYTES), invalid);
    assert_eq!(hipMemRangeGetAttribute(null_mut(), 4, mostly, memory, BYTES), invalid);
    let read_mostly = hipMemAdviseSetReadMostly;
    assert_eq!(hipMemAdvise(memory, 0, read_mostly, 0), invalid);
    assert_eq!(hipMemAdvise(memory, BYTES, hipMemoryAdvise(7), 0), invalid);
    let nowhere = hipMemAdvise(memory, BYTES, hipMemAdviseSetPreferredLocation, 9);
    assert_eq!(nowhere, hipErrorInvalidDevice);
    ok(hipMemAdvise(memory, BYTES, read_mostly, 9));
    let nowhere = hipMemPrefetchAsync(memory, BYTES, 9, NULL_STREAM);
    assert_eq!(nowhere, hipErrorInvalidDevice);
    assert_eq!(hipMemPrefetchAsync(memory, BYTES + 1, 0, NULL_STREAM), invalid);

    // Other memory has nothing but coherency.
    let words = pinned(16);
    let coherency = hipMemRangeAttributeCoherencyMode;
    assert_eq!(attribute(coherency, words.as_ptr().cast(), 64), Ok([0]));
    assert_eq!(attribute::<1>(mostly, words.as_ptr().cast(), 64), Err(invalid));
    assert_eq!(hipMemAdvise(words.as_ptr().cast(), 64, read_mostly, 0), invalid);
    ok(hipMemPrefetchAsync(words.as_ptr().cast(), 64, 0, NULL_STREAM));
    ok(hipHostFree(words.as_mut_ptr().cast()));
    let other = device_memory(64);
    assert_eq!(attribute(coherency, other, 64), Ok([1]));
    ok(hipFree(other));

    // Memory that comes later starts anew, even at the same place.
    ok(hipFree(memory));
    assert_eq!(attribute::<1>(mostly, memory, BYTES), Err(invalid));
    for _ in 0..4 {
        ok(hipMallocManaged(&raw mut memory, BYTES, hipMemAttachGlobal));
        assert_eq!(attribute(mostly, memory, BYTES), Ok([0]));
        ok(hipMemAdvise(memory, BYTES, read_mostly, 0));
        ok(hipFree(memory));
    }
}

#[test]
fn contexts_are_pushed_and_popped() {
    let _one = exclusive();
    let current = || {
        let mut context = hipCtx_t::NULL;
        ok(hipCtxGetCurrent(&raw mut context));
        context.0
    };
    let pop = || {
        let mut context = hipCtx_t::NULL;
        (hipCtxPopCurrent(&raw mut context), context.0)
    };
    // A thread of its own has pushed nothing.
    std::thread::spawn(move || {
        assert_eq!(pop(), (hipErrorInvalidContext, null_mut()));
        let mut made = hipCtx_t::NULL;
        ok(hipCtxCreate(&raw mut made, 0, 0));
        assert_eq!(made.0, current(), "a device has one");
        ok(hipCtxPushCurrent(made));
        assert_eq!(pop(), (hipSuccess, made.0));
        ok(hipCtxSetCurrent(made));
        assert_eq!(pop(), (hipSuccess, made.0));
        assert_eq!(pop().0, hipErrorInvalidContext);
        assert_eq!(hipCtxPushCurrent(hipCtx_t::NULL), hipErrorInvalidContext);
        assert_eq!(hipCtxPushCurrent(hipCtx_t(bogus())), hipErrorInvalidContext);
        ok(hipCtxPushCurrent(made));
        ok(hipCtxDestroy(made));
        assert_eq!(pop().0, hipErrorInvalidContext, "what ended was on top");
        assert_eq!(hipCtxDestroy(hipCtx_t::NULL), hipErrorInvalidValue);
        assert_eq!(hipDevicePrimaryCtxSetFlags(0, 1), hipErrorContextAlreadyInUse);
        assert_eq!(hipDevicePrimaryCtxSetFlags(9, 1), hipErrorInvalidDevice);
    })
    .join()
    .unwrap();
}

#[test]
fn allocations_are_from_the_pool_that_was_set() {
    let _one = exclusive();
    let in_use = || {
        let mut pool = hipMemPool_t::NULL;
        ok(hipDeviceGetMemPool(&raw mut pool, 0));
        pool.0
    };
    let (mut default, mut own) = (hipMemPool_t::NULL, hipMemPool_t::NULL);
    ok(hipDeviceGetDefaultMemPool(&raw mut default, 0));
    assert_eq!(in_use(), default.0);
    // SAFETY: a structure of integers and pointers.
    let mut properties: hipMemPoolProps = unsafe { std::mem::zeroed() };
    properties.allocType = hipMemAllocationTypePinned;
    properties.location = hipMemLocation { r#type: hipMemLocationTypeDevice, id: 0 };
    ok(hipMemPoolCreate(&raw mut own, &raw const properties));
    ok(hipDeviceSetMemPool(0, own));
    assert_eq!(in_use(), own.0);
    let mut memory = null_mut();
    ok(hipMallocAsync(&raw mut memory, 640, NULL_STREAM));
    let mut used = 0_u64;
    let place = (&raw mut used).cast();
    ok(hipMemPoolGetAttribute(own, hipMemPoolAttrUsedMemCurrent, place));
    assert_eq!(used, 640);
    ok(hipFreeAsync(memory, NULL_STREAM));
    ok(hipDeviceSynchronize());
    assert_eq!(hipDeviceSetMemPool(0, hipMemPool_t::NULL), hipErrorInvalidValue);
    assert_eq!(hipDeviceSetMemPool(9, own), hipErrorInvalidValue);
    // A pool that ends is in use no more.
    ok(hipMemPoolDestroy(own));
    assert_eq!(in_use(), default.0);
    ok(hipDeviceSetMemPool(0, default));
}

#[test]
fn streams_tell_the_mask_of_their_units() {
    let _one = exclusive();
    let mask = |stream: hipStream_t| {
        let mut words = [9; 6];
        ok(hipExtStreamGetCUMask(stream, 6, words.as_mut_ptr()));
        words
    };
    let all = [u32::MAX, u32::MAX, u32::MAX, 0xff, 9, 9];
    let (plain, mut masked) = (stream(), hipStream_t::NULL);
    ok(hipExtStreamCreateWithCUMask(&raw mut masked, 2, [3, 1].as_ptr()));
    assert_eq!([mask(plain), mask(NULL_STREAM)], [all, all]);
    assert_eq!(mask(masked), [3, 1, 9, 9, 9, 9]);
    let mut words = [0; 4];
    assert_eq!(hipExtStreamGetCUMask(plain, 3, words.as_mut_ptr()), hipErrorInvalidValue);
    assert_eq!(hipExtStreamGetCUMask(plain, 4, null_mut()), hipErrorInvalidValue);
    let none = hipStream_t(bogus());
    assert_eq!(hipExtStreamGetCUMask(none, 4, words.as_mut_ptr()), hipErrorInvalidHandle);
    ok(hipStreamDestroy(plain));
    ok(hipStreamDestroy(masked));
}

#[test]
fn modules_say_what_is_wrong_with_them() {
    let _one = exclusive();
    let mut module = hipModule_t::NULL;
    let load = |image: &[u8], module: &mut hipModule_t| {
        hipModuleLoadData(&raw mut *module, image.as_ptr().cast())
    };
    assert_eq!(load(FOREIGN, &mut module), hipErrorNoBinaryForGpu);
    assert_eq!(load(&[0; 64], &mut module), hipErrorInvalidImage);
    let mut broken = KERNELS.to_vec();
    broken[18] = 62; // EM_X86_64
    assert_eq!(load(&broken, &mut module), hipErrorInvalidImage);
    assert_eq!(hipModuleLoadData(&raw mut module, null()), hipErrorInvalidValue);
    assert_eq!(hipModuleLoad(&raw mut module, c"/nowhere".as_ptr()), hipErrorFileNotFound);
    assert!(module.is_null());
    ok(load(KERNELS, &mut module));
    let mut function = hipFunction_t::NULL;
    let answer = hipModuleGetFunction(&raw mut function, module, c"missing".as_ptr());
    assert_eq!((answer, function), (hipErrorNotFound, hipFunction_t::NULL));
    let (mut global, mut bytes) = (null_mut(), 0);
    let answer = hipModuleGetGlobal(&raw mut global, &raw mut bytes, module, c"none".as_ptr());
    assert_eq!(answer, hipErrorNotFound);
    ok(hipModuleGetGlobal(null_mut(), &raw mut bytes, module, c"table".as_ptr()));
    assert_eq!(bytes, 16);
    ok(hipModuleGetGlobal(&raw mut global, null_mut(), module, c"total".as_ptr()));
    let out = device_memory(4);
    let use_globals = self::function(module, c"use_globals");
    ok(launch_one(use_globals, out, NULL_STREAM));
    assert_eq!(read_words(out, 1), [5 + 4]);
    ok(hipMemsetD32(global, 38, 1));
    ok(launch_one(use_globals, out, NULL_STREAM));
    assert_eq!(read_words(out, 1), [42]);
    ok(hipModuleUnload(module));
    assert_eq!(launch_one(use_globals, out, NULL_STREAM), hipErrorInvalidHandle);
    ok(hipFree(out));
}

#[test]
fn modules_with_equal_names_have_storage_of_their_own() {
    let _one = exclusive();
    let modules = [module(KERNELS), module(KERNELS)];
    let globals = modules.map(|module| {
        let mut global = null_mut();
        ok(hipModuleGetGlobal(&raw mut global, null_mut(), module, c"total".as_ptr()));
        global
    });
    assert_ne!(globals[0], globals[1]);
    ok(hipMemsetD32(globals[0], 100, 1));
    let out = device_memory(4);
    for (module, expected) in modules.into_iter().zip([104, 9]) {
        ok(launch_one(function(module, c"use_globals"), out, NULL_STREAM));
        assert_eq!(read_words(out, 1), [expected]);
    }
    for module in modules {
        ok(hipModuleUnload(module));
    }
    ok(hipFree(out));
}

#[test]
fn launches_that_cannot_be_are_refused_and_leave_no_fault() {
    let _one = exclusive();
    let module = module(KERNELS);
    let add = function(module, c"add");
    let launch = |grid, block, shared| {
        let (mut p, mut value, mut n) = (null_mut::<c_void>(), 1, 0);
        let mut arguments =
            [(&raw mut p).cast::<c_void>(), (&raw mut value).cast(), (&raw mut n).cast()];
        let arguments = arguments.as_mut_ptr();
        hipModuleLaunchKernel(
            add,
            grid,
            1,
            1,
            block,
            1,
            1,
            shared,
            NULL_STREAM,
            arguments,
            null_mut(),
        )
    };
    assert_eq!(launch(1, 4096, 0), hipErrorInvalidConfiguration);
    assert_eq!(launch(1, 0, 0), hipErrorInvalidConfiguration);
    assert_eq!(launch(0, 64, 0), hipErrorInvalidConfiguration);
    assert_eq!(launch(u32::MAX, 64, 0), hipErrorInvalidConfiguration);
    assert_eq!(launch(1, 64, 1 << 20), hipErrorLaunchOutOfResources);
    let none = null_mut();
    let answer = hipModuleLaunchKernel(add, 1, 1, 1, 64, 1, 1, 0, NULL_STREAM, none, none);
    assert_eq!(answer, hipErrorInvalidValue);
    ok(launch(1, 64, 0));
    ok(hipDeviceSynchronize());
    ok(hipModuleUnload(module));
}

#[test]
fn padding_of_2d_copies_is_left_alone() {
    let _one = exclusive();
    let memory = device_memory(8 * 16);
    ok(hipMemset(memory, 0xee, 8 * 16));
    let rows: Vec<u8> = (0..4 * 5).collect();
    ok(hipMemcpy2D(memory, 8, rows.as_ptr().cast(), 5, 5, 4, hipMemcpyHostToDevice));
    let mut back = [0_u8; 8 * 4];
    ok(hipMemcpy(back.as_mut_ptr().cast(), memory, 32, hipMemcpyDeviceToHost));
    for (row, line) in back.chunks(8).enumerate() {
        assert_eq!(line[..5], rows[5 * row..][..5]);
        assert_eq!(line[5..], [0xee; 3]);
    }
    let narrow = hipMemcpy2D(memory, 4, rows.as_ptr().cast(), 5, 5, 4, hipMemcpyHostToDevice);
    assert_eq!(narrow, hipErrorInvalidPitchValue);
    // The driver's way of saying the same, with a start inside both sides.
    // SAFETY: a structure of integers and pointers.
    let mut copy: hip_Memcpy2D = unsafe { std::mem::zeroed() };
    copy.srcMemoryType = hipMemoryTypeDevice;
    copy.srcDevice = memory;
    (copy.srcXInBytes, copy.srcY, copy.srcPitch) = (1, 2, 8);
    copy.dstMemoryType = hipMemoryTypeHost;
    let mut host = [0_u8; 3 * 4];
    copy.dstHost = host.as_mut_ptr().cast();
    (copy.dstXInBytes, copy.dstPitch) = (1, 4);
    (copy.WidthInBytes, copy.Height) = (3, 2);
    ok(hipMemcpyParam2DAsync(&raw const copy, NULL_STREAM));
    ok(hipStreamSynchronize(NULL_STREAM));
    assert_eq!(host, [0, 11, 12, 13, 0, 16, 17, 18, 0, 0, 0, 0]);
    ok(hipFree(memory));
}

/// Whether rows that reach beyond their allocation, or memory that is not what a copy calls it, are
/// noticed before the first byte moves.
#[test]
fn rows_that_do_not_fit_or_are_elsewhere_move_nothing() {
    let _one = exclusive();
    let memory = device_memory(64 * 4);
    ok(hipMemset(memory, 0xee, 64 * 4));
    let rows = vec![1_u8; 64 * 100];
    let mut to = vec![2_u8; 64 * 100];
    // SAFETY: a structure of integers and pointers.
    let mut up: hip_Memcpy2D = unsafe { std::mem::zeroed() };
    (up.srcMemoryType, up.srcHost, up.srcPitch) = (hipMemoryTypeHost, rows.as_ptr().cast(), 64);
    (up.dstMemoryType, up.dstDevice, up.dstPitch) = (hipMemoryTypeDevice, memory, 64);
    (up.WidthInBytes, up.Height) = (64, 100);
    let mut down = up;
    (down.srcMemoryType, down.srcDevice) = (hipMemoryTypeDevice, memory);
    (down.dstMemoryType, down.dstHost) = (hipMemoryTypeHost, to.as_mut_ptr().cast());
    // Host memory is no device memory, whatever its side says.
    let (mut up_elsewhere, mut down_elsewhere) = (up, down);
    up_elsewhere.dstDevice = to.as_mut_ptr().cast();
    down_elsewhere.srcDevice = rows.as_ptr().cast_mut().cast();
    for copy in [up, down, up_elsewhere, down_elsewhere] {
        assert_eq!(hipMemcpyParam2D(&raw const copy), hipErrorInvalidValue);
        assert_eq!(hipMemcpyParam2DAsync(&raw const copy, NULL_STREAM), hipErrorInvalidValue);
    }
    let (from, into) = (rows.as_ptr().cast(), to.as_mut_ptr().cast::<c_void>());
    let copy = |to, from, height, kind| hipMemcpy2D(to, 64, from, 64, 64, height, kind);
    assert_eq!(copy(memory, from, 100, hipMemcpyHostToDevice), hipErrorInvalidValue);
    assert_eq!(copy(into, memory.cast_const(), 100, hipMemcpyDeviceToHost), hipErrorInvalidValue);
    assert_eq!(copy(into, memory.cast_const(), 4, hipMemcpyHostToDevice), hipErrorInvalidValue);
    assert_eq!(copy(into, memory.cast_const(), 4, hipMemcpyDeviceToDevice), hipErrorInvalidValue);
    assert_eq!(copy(memory, from, 4, hipMemcpyDeviceToHost), hipErrorInvalidValue);
    assert_eq!(copy(memory, from, 4, hipMemcpyDeviceToDevice), hipErrorInvalidValue);
    assert!(to.iter().all(|&byte| byte == 2));
    ok(copy(into, memory.cast_const(), 4, hipMemcpyDeviceToHost));
    assert!(to[..256].iter().all(|&byte| byte == 0xee));
    ok(hipFree(memory));
}

#[test]
fn properties_fill_the_structure_of_their_version_and_no_more() {
    let _one = exclusive();
    let mut room = [0xa5_u8; 4096];
    ok(hipGetDeviceProperties(room.as_mut_ptr().cast(), 0));
    assert!(room[..9].eq(b"HRR emula") && room[792..].iter().all(|&byte| byte == 0xa5));
    let mut room = [0xa5_u8; 4096];
    ok(hipGetDevicePropertiesR0600(room.as_mut_ptr().cast(), 0));
    assert!(room[1472..].iter().all(|&byte| byte == 0xa5));
    // SAFETY: the call has filled the structure.
    let properties = unsafe { room.as_ptr().cast::<hipDeviceProp_tR0600>().read_unaligned() };
    // SAFETY: a text with a NUL.
    let arch = unsafe { CStr::from_ptr(properties.gcnArchName.as_ptr()) };
    assert_eq!(arch, c"gfx90a:sramecc+:xnack-");
    assert_eq!((properties.warpSize, properties.major, properties.minor), (64, 9, 0));
    assert_eq!(hipGetDeviceProperties(null_mut(), 0), hipErrorInvalidValue);
    assert_eq!(hipGetDevicePropertiesR0600(room.as_mut_ptr().cast(), 7), hipErrorInvalidDevice);
}

#[test]
fn address_ranges_are_placed_by_hint_and_hold_what_is_mapped() {
    let _one = exclusive();
    // SAFETY: a structure of integers and pointers.
    let mut properties: hipMemAllocationProp = unsafe { std::mem::zeroed() };
    properties.r#type = hipMemAllocationTypePinned;
    properties.location = hipMemLocation { r#type: hipMemLocationTypeDevice, id: 0 };
    let mut unit = 0;
    let minimum = hipMemAllocationGranularityMinimum;
    ok(hipMemGetAllocationGranularity(&raw mut unit, &raw const properties, minimum));
    assert_eq!(unit, 4096);

    // Somewhere no arena lies.
    let hint = std::ptr::without_provenance_mut(0x5a00_0000_0000);
    let (mut range, mut memory) = (null_mut(), hipMemGenericAllocationHandle_t::NULL);
    ok(hipMemAddressReserve(&raw mut range, 8 * unit, 0, hint, 0));
    assert_eq!(range, hint);
    // Taken now, so somewhere else.
    let mut other = null_mut();
    ok(hipMemAddressReserve(&raw mut other, unit, 0, hint, 0));
    assert_ne!(other, hint);
    ok(hipMemAddressFree(other, unit));
    let early = hipMemMap(range, unit, 0, memory, 0);
    assert_eq!(early, hipErrorInvalidValue);
    ok(hipMemCreate(&raw mut memory, 4 * unit, &raw const properties, 0));
    let middle = range.wrapping_byte_add(2 * unit);
    ok(hipMemMap(middle, 4 * unit, 0, memory, 0));
    assert_eq!(hipMemset(middle, 1, 16), hipSuccess, "checked when it runs");
    assert_eq!(hipDeviceSynchronize(), hipErrorIllegalAddress, "no access yet");
    ok(hipDeviceReset());
    let access =
        hipMemAccessDesc { location: properties.location, flags: hipMemAccessFlagsProtReadWrite };
    ok(hipMemSetAccess(middle, 4 * unit, &raw const access, 1));
    let module = module(KERNELS);
    ok(hipMemsetD32(middle, 40, 64));
    ok(launch_add(function(module, c"add"), middle, 2, 64, NULL_STREAM));
    assert_eq!(read_words(middle, 64), [42; 64]);
    ok(hipMemRelease(memory));
    assert_eq!(hipMemRelease(memory), hipErrorInvalidValue);
    assert_eq!(read_words(middle, 1), [42], "mapped memory outlives its handle");
    assert_eq!(hipMemAddressFree(range, 8 * unit), hipErrorInvalidValue, "still mapped");
    ok(hipMemUnmap(middle, 4 * unit));
    ok(hipMemAddressFree(range, 8 * unit));
    ok(hipModuleUnload(module));
}

#[test]
fn ipc_handles_of_equal_memory_are_equal() {
    let _one = exclusive();
    let (first, second) = (device_memory(64), device_memory(64));
    let handle = |pointer| {
        let mut handle = hipIpcMemHandle_t { reserved: [0; 64] };
        ok(hipIpcGetMemHandle(&raw mut handle, pointer));
        handle.reserved
    };
    assert_eq!(handle(first), handle(first));
    assert_ne!(handle(first), handle(second));
    let mut none = hipIpcMemHandle_t { reserved: [0; 64] };
    assert_eq!(hipIpcGetMemHandle(&raw mut none, bogus()), hipErrorInvalidDevicePointer);
    assert_eq!(hipIpcGetMemHandle(&raw mut none, null_mut()), hipErrorInvalidValue);
    ok(hipFree(first));
    ok(hipFree(second));
}

#[repr(C)]
struct Wrapper {
    magic: u32,
    version: u32,
    image: *const c_void,
    unused: *const c_void,
}

#[test]
fn registered_code_is_found_by_stub_and_shadow() {
    let _one = exclusive();
    let register = |image: &'static [u8]| {
        let wrapper = Box::leak(Box::new(Wrapper {
            magic: 0x4849_5046,
            version: 1,
            image: image.as_ptr().cast(),
            unused: null(),
        }));
        __hipRegisterFatBinary((&raw const *wrapper).cast())
    };
    let (own, foreign) = (register(KERNELS), register(FOREIGN));
    static STUBS: [u8; 4] = [0; 4];
    let stub = |index: usize| (&raw const STUBS[index]).cast::<c_void>();
    let register_function = |binary, index, name: &CStr| {
        let none = null_mut();
        let no_limit = u32::MAX;
        let (id, wave) = (null_mut(), null_mut());
        __hipRegisterFunction(
            binary,
            stub(index),
            none,
            name.as_ptr(),
            no_limit,
            id,
            id,
            id,
            id,
            wave,
        );
    };
    register_function(own, 0, c"use_globals");
    register_function(own, 1, c"missing");
    register_function(foreign, 2, c"use_globals");
    let mut shadows = [0_i32; 2];
    let shadow = shadows.each_mut().map(|shadow| (&raw mut *shadow).cast::<c_void>());
    __hipRegisterVar(own, shadow[0], null_mut(), c"total".as_ptr(), 0, 4, 0, 0);
    __hipRegisterVar(own, shadow[1], null_mut(), c"not_there".as_ptr(), 0, 4, 0, 0);

    let out = device_memory(4);
    let launch = |index| {
        let mut pointer = out;
        let mut arguments = [(&raw mut pointer).cast::<c_void>()];
        let one = dim3 { x: 1, y: 1, z: 1 };
        hipLaunchKernel(stub(index), one, one, arguments.as_mut_ptr(), 0, NULL_STREAM)
    };
    ok(launch(0));
    assert_eq!(read_words(out, 1), [9]);
    assert_eq!(launch(1), hipErrorNotFound);
    assert_eq!(launch(2), hipErrorNoBinaryForGpu);
    assert_eq!(launch(3), hipErrorInvalidDeviceFunction);
    let value = 38;
    let from = (&raw const value).cast();
    ok(hipMemcpyToSymbol(shadow[0], from, 4, 0, hipMemcpyHostToDevice));
    ok(launch(0));
    assert_eq!(read_words(out, 1), [42]);
    assert_eq!(shadows, [0; 2], "the shadow is not the variable");
    let beyond = hipMemcpyToSymbol(shadow[0], from, 4, 1, hipMemcpyHostToDevice);
    assert_eq!(beyond, hipErrorInvalidValue);
    let mut address = null_mut();
    assert_eq!(hipGetSymbolAddress(&raw mut address, shadow[1]), hipErrorInvalidSymbol);
    assert_eq!(hipGetSymbolAddress(&raw mut address, stub(0)), hipErrorInvalidSymbol);
    ok(hipGetSymbolAddress(&raw mut address, shadow[0]));
    assert_eq!(read_words(address, 1), [38]);
    let mut blocks: c_int = 0;
    ok(hipOccupancyMaxActiveBlocksPerMultiprocessor(&raw mut blocks, stub(0), 256, 0));
    assert!(blocks > 0);
    __hipUnregisterFatBinary(own);
    __hipUnregisterFatBinary(foreign);
    assert_eq!(launch(0), hipErrorInvalidDeviceFunction);
    ok(hipFree(out));
}

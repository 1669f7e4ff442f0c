//! Stream-ordered allocation.
//!
//! Memory is there as soon as the call returns and ends where its free stands in the stream, so
//! a pool never holds freed memory: thresholds are kept and do nothing.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::{Arc, Mutex};

use hrr_ffi::types::*;

use super::memory::address;
use crate::abi::by_version;
use crate::allocations::Kind;
use crate::api::{Answer, In, Out};
use crate::handles::word;
use crate::ops::Op;
use crate::runtime::{Runtime, current, runtime};
use crate::streams::lock;

/// A pool.
pub(crate) struct Pool {
    pub(crate) handle: usize,
    device: usize,
    is_default: bool,
    settings: Mutex<Settings>,
}

#[derive(Clone, Copy)]
struct Settings {
    reuse: [c_int; 3],
    release_threshold: u64,
    reserved_high: u64,
    used_high: u64,
}

hip_api! { TABLE;
    fn hipMallocAsync(pointer: Out<*mut c_void>, bytes: usize, stream: hipStream_t) {
        let (runtime, device) = current()?;
        let pool = pool_in_use(runtime, device.id());
        malloc(runtime, pointer, bytes, &pool, stream)
    }

    fn hipMallocFromPoolAsync(
        pointer: Out<*mut c_void>,
        bytes: usize,
        pool: hipMemPool_t,
        stream: hipStream_t,
    ) {
        let (runtime, _) = current()?;
        let pool = find(runtime, pool)?;
        malloc(runtime, pointer, bytes, &pool, stream)
    }

    fn hipFreeAsync(pointer: *mut c_void, stream: hipStream_t) {
        let (runtime, _) = current()?;
        let found = runtime.allocations.at(pointer.addr() as u64).ok_or(hipErrorInvalidValue)?;
        match found.kind {
            Kind::Pool(_) | Kind::Device => {
                let stream = runtime.stream(stream)?;
                if stream.is_capturing() {
                    return Err(hipErrorNotSupported);
                }
                stream.enqueue(runtime, Op::Free(found.base)).map(drop)
            }
            Kind::Pinned
            | Kind::Registered { .. }
            | Kind::Managed
            | Kind::Mapped
            | Kind::Variable
            | Kind::Heap
            | Kind::Imported => {
                Err(hipErrorInvalidValue)
            }
        }
    }

    fn hipDeviceGetDefaultMemPool(pool: Out<hipMemPool_t>, device: c_int) {
        let runtime = runtime()?;
        let device = runtime.device_of(device).map_err(|_| hipErrorInvalidValue)?.id();
        pool.set(hipMemPool_t(word(default_pool(runtime, device).handle)))
    }

    fn hipDeviceGetMemPool(pool: Out<hipMemPool_t>, device: c_int) {
        let runtime = runtime()?;
        let device = runtime.device_of(device).map_err(|_| hipErrorInvalidValue)?.id();
        pool.set(hipMemPool_t(word(pool_in_use(runtime, device).handle)))
    }

    /// Decides which pool later stream-ordered allocations of the device are from.
    fn hipDeviceSetMemPool(device: c_int, pool: hipMemPool_t) {
        let runtime = runtime()?;
        let device = runtime.device_of(device).map_err(|_| hipErrorInvalidValue)?;
        let found = find(runtime, pool)?;
        if found.device != device.id() {
            return Err(hipErrorInvalidDevice);
        }
        lock(&device.settings).pool = Some(found.handle);
        Ok(())
    }

    fn hipMemPoolCreate(pool: Out<hipMemPool_t>, properties: In<hipMemPoolProps>) {
        let (runtime, _) = current()?;
        let properties = properties.get()?;
        if properties.allocType != hipMemAllocationTypePinned
            || properties.location.r#type != hipMemLocationTypeDevice
            || pool.is_null()
        {
            return Err(hipErrorInvalidValue);
        }
        if properties.handleTypes != hipMemHandleTypeNone {
            return Err(hipErrorNotSupported);
        }
        let device = runtime.device_of(properties.location.id);
        let device = device.map_err(|_| hipErrorInvalidValue)?.id();
        pool.set(hipMemPool_t(word(Pool::create(runtime, device, false).handle)))
    }

    fn hipMemPoolDestroy(pool: hipMemPool_t) {
        let (runtime, _) = current()?;
        if find(runtime, pool)?.is_default {
            return Err(hipErrorInvalidValue);
        }
        runtime.pools.remove(pool.0).map(drop).ok_or(hipErrorInvalidValue)
    }

    fn hipMemPoolTrimTo(pool: hipMemPool_t, bytes: usize) {
        let (runtime, _) = current()?;
        let _nothing_is_held = bytes;
        find(runtime, pool).map(drop)
    }

    fn hipMemPoolSetAttribute(pool: hipMemPool_t, attribute: hipMemPoolAttr, value: In<u8>) {
        let (runtime, _) = current()?;
        let pool = find(runtime, pool)?;
        let mut settings = lock(&pool.settings);
        // SAFETY: HIP's contract: the value has the attribute's type, `int` or `uint64_t`.
        let (int, long) =
            unsafe { (In::new(value.pointer().cast::<c_int>()), In::new(value.pointer().cast::<u64>())) };
        match attribute {
            hipMemPoolReuseFollowEventDependencies => settings.reuse[0] = int.get()?,
            hipMemPoolReuseAllowOpportunistic => settings.reuse[1] = int.get()?,
            hipMemPoolReuseAllowInternalDependencies => settings.reuse[2] = int.get()?,
            hipMemPoolAttrReleaseThreshold => settings.release_threshold = long.get()?,
            // High-water marks can only be set back.
            hipMemPoolAttrReservedMemHigh if long.get()? == 0 => settings.reserved_high = 0,
            hipMemPoolAttrUsedMemHigh if long.get()? == 0 => settings.used_high = 0,
            _read_only_or_unknown => return Err(hipErrorInvalidValue),
        }
        Ok(())
    }

    fn hipMemPoolGetAttribute(pool: hipMemPool_t, attribute: hipMemPoolAttr, value: Out<u8>) {
        let (runtime, _) = current()?;
        let pool = find(runtime, pool)?;
        let settings = *lock(&pool.settings);
        let used = pool.used_bytes(runtime);
        let int = |number: c_int| number.to_le_bytes().to_vec();
        let long = |number: u64| number.to_le_bytes().to_vec();
        value.fill(&match attribute {
            hipMemPoolReuseFollowEventDependencies => int(settings.reuse[0]),
            hipMemPoolReuseAllowOpportunistic => int(settings.reuse[1]),
            hipMemPoolReuseAllowInternalDependencies => int(settings.reuse[2]),
            hipMemPoolAttrReleaseThreshold => long(settings.release_threshold),
            hipMemPoolAttrReservedMemCurrent | hipMemPoolAttrUsedMemCurrent => long(used),
            hipMemPoolAttrReservedMemHigh => long(settings.reserved_high.max(used)),
            hipMemPoolAttrUsedMemHigh => long(settings.used_high.max(used)),
            _unknown => return Err(hipErrorInvalidValue),
        })
    }

    /// Every device can reach every pool.
    fn hipMemPoolSetAccess(
        pool: hipMemPool_t,
        descriptions: In<hipMemAccessDesc>,
        count: usize,
    ) {
        let (runtime, _) = current()?;
        find(runtime, pool)?;
        for description in descriptions.slice(count)? {
            if description.location.r#type != hipMemLocationTypeDevice {
                return Err(hipErrorInvalidValue);
            }
            runtime.device_of(description.location.id)?;
        }
        Ok(())
    }

    fn hipMemPoolGetAccess(
        flags: Out<hipMemAccessFlags>,
        pool: hipMemPool_t,
        location: In<hipMemLocation>,
    ) {
        let (runtime, _) = current()?;
        find(runtime, pool)?;
        runtime.device_of(location.get()?.id)?;
        flags.set(hipMemAccessFlagsProtReadWrite)
    }

    /// Pools cannot be shared between processes here.
    fn hipMemPoolImportFromShareableHandle(
        pool: Out<hipMemPool_t>,
        shared: *mut c_void,
        kind: hipMemAllocationHandleType,
        flags: c_uint,
    ) {
        current()?;
        let _never_read = (pool, shared, kind, flags);
        Err(hipErrorNotSupported)
    }
}

impl Pool {
    fn create(runtime: &Runtime, device: usize, is_default: bool) -> Arc<Self> {
        let pool = Arc::new(Self {
            handle: runtime.handles.next(),
            device,
            is_default,
            settings: Mutex::new(Settings {
                reuse: [1; 3],
                release_threshold: 0,
                reserved_high: 0,
                used_high: 0,
            }),
        });
        runtime.pools.insert(pool.handle, Arc::clone(&pool));
        pool
    }

    fn used_bytes(&self, runtime: &Runtime) -> u64 {
        let of_device = runtime.allocations.of_device(self.device);
        let own = of_device.iter().filter(|found| found.kind == Kind::Pool(self.handle));
        own.map(|found| found.bytes).sum()
    }
}

/// The default pool of a device, made when it is first wanted.
fn default_pool(runtime: &Runtime, device: usize) -> Arc<Pool> {
    static MAKING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = lock(&MAKING);
    let existing = runtime.pools.all();
    let existing = existing.into_iter().find(|pool| pool.is_default && pool.device == device);
    existing.unwrap_or_else(|| Pool::create(runtime, device, true))
}

/// The pool that a device's allocations are from; its default one once the chosen one is gone.
fn pool_in_use(runtime: &Runtime, device: usize) -> Arc<Pool> {
    let chosen = runtime.device(device).ok().and_then(|device| lock(&device.settings).pool);
    let chosen = chosen.and_then(|handle| runtime.pools.get(word(handle)));
    chosen.unwrap_or_else(|| default_pool(runtime, device))
}

fn find(runtime: &Runtime, pool: hipMemPool_t) -> Answer<Arc<Pool>> {
    runtime.pools.get(pool.0).ok_or(hipErrorInvalidValue)
}

fn malloc(
    runtime: &'static Runtime,
    pointer: Out<*mut c_void>,
    bytes: usize,
    pool: &Pool,
    stream: hipStream_t,
) -> Answer {
    let stream = runtime.stream(stream)?;
    if pointer.is_null() {
        return Err(hipErrorInvalidValue);
    }
    if stream.is_capturing() {
        return Err(hipErrorNotSupported);
    }
    if bytes == 0 {
        by_version(Err(hipErrorInvalidValue), Ok(()))?;
        return pointer.set(std::ptr::null_mut());
    }
    let device = runtime.device(pool.device)?;
    let base = runtime.allocate(device, bytes as u64, Kind::Pool(pool.handle))?;
    let used = pool.used_bytes(runtime);
    let mut settings = lock(&pool.settings);
    settings.used_high = settings.used_high.max(used);
    settings.reserved_high = settings.reserved_high.max(used);
    pointer.set(address(base))
}

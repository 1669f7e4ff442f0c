//! Devices: which there are, which is current, and how they are set.

use std::ffi::{c_char, c_int, c_uint};
use std::sync::atomic::Ordering;

use hrr_ffi::types::*;

use super::properties;
use crate::abi::by_version;
use crate::allocations::Kind;
use crate::api::{Answer, In, Out, Text};
use crate::runtime::{current, runtime};
use crate::streams::lock;
use crate::{abi, handles, thread};

hip_api! { TABLE;
    fn hipInit(flags: c_uint) {
        if by_version(0, flags) != 0 {
            return Err(hipErrorInvalidValue);
        }
        runtime()?.device(0).map(drop)
    }

    fn hipDriverGetVersion(version: Out<c_int>) {
        version.set(abi::version())
    }

    fn hipRuntimeGetVersion(version: Out<c_int>) {
        version.set(abi::version())
    }

    fn hipGetDeviceCount(count: Out<c_int>) {
        let devices = runtime()?.device_count();
        count.set(devices as c_int)?;
        if devices == 0 { Err(hipErrorNoDevice) } else { Ok(()) }
    }

    fn hipGetDevice(device: Out<c_int>) {
        runtime()?.device(thread::device())?;
        device.set(thread::device() as c_int)
    }

    fn hipSetDevice(device: c_int) {
        let device = runtime()?.device_of(device)?;
        thread::set_device(device.id());
        Ok(())
    }

    fn hipDeviceGet(device: Out<hipDevice_t>, ordinal: c_int) {
        let found = runtime()?.device_of(ordinal)?;
        device.set(found.id() as c_int).map_err(|_| hipErrorInvalidDevice)
    }

    fn hipSetValidDevices(devices: In<c_int>, count: c_int) {
        let count = usize::try_from(count).map_err(|_| hipErrorInvalidValue)?;
        let runtime = runtime()?;
        devices.slice(count)?.into_iter().try_for_each(|device| runtime.device_of(device).map(drop))
    }

    fn hipDeviceSynchronize() {
        let (runtime, device) = current()?;
        // What is being captured is no work yet, and HIP 5 leaves it at that.
        if abi::major() > 5 {
            runtime.check_no_capture()?;
        }
        device.synchronize()
    }

    /// Frees the device's memory, ends its work and forgets its faults. Streams and events that
    /// the program still holds stay usable.
    fn hipDeviceReset() {
        let runtime = runtime()?;
        let device = runtime.device(thread::device())?;
        device.drain();
        for allocation in runtime.allocations.of_device(device.id()) {
            match allocation.kind {
                Kind::Device | Kind::Pool(_) => runtime.release(&allocation)?,
                Kind::Pinned | Kind::Registered { .. } => {
                    super::memory::free_host(runtime, &allocation)?;
                }
                // Belong to the program's own code, to its modules, to its kernels, to its
                // reservations, and to other processes.
                Kind::Managed | Kind::Variable | Kind::Heap | Kind::Mapped | Kind::Imported => {}
            }
        }
        for stream in runtime.streams.all() {
            if stream.device == device.id() {
                runtime.streams.remove(handles::word(stream.handle));
            }
        }
        device.clear_fault();
        Ok(())
    }

    fn hipDeviceGetName(name: Out<c_char>, room: c_int, device: hipDevice_t) {
        runtime()?.device_of(device)?;
        let room = usize::try_from(room).map_err(|_| hipErrorInvalidValue)?;
        if room <= by_version(properties::NAME.len(), 0) {
            return Err(hipErrorInvalidValue);
        }
        name.set_text(properties::NAME, room)
    }

    fn hipDeviceGetUuid(uuid: Out<hipUUID>, device: hipDevice_t) {
        let runtime = runtime()?;
        let id = runtime.device_of(device)?.id();
        uuid.set(properties::uuid(id))
    }

    /// Only the runtime for Windows has such an identifier.
    fn hipDeviceGetLuid(luid: Out<[c_char; 8]>, mask: Out<c_uint>, device: hipDevice_t) {
        runtime()?.device_of(device)?;
        let _never_written = (luid, mask);
        Err(hipErrorNotSupported)
    }

    fn hipDeviceGetPCIBusId(text: Out<c_char>, room: c_int, device: c_int) {
        let id = runtime()?.device_of(device)?.id();
        let room = usize::try_from(room).map_err(|_| hipErrorInvalidValue)?;
        text.set_text(&properties::pci_bus_id(id), room)
    }

    fn hipDeviceGetByPCIBusId(device: Out<c_int>, text: Text) {
        let (runtime, wanted) = (runtime()?, text.get()?);
        let found = (0..runtime.device_count())
            .find(|&id| properties::pci_bus_id(id).eq_ignore_ascii_case(&wanted));
        device.set(found.ok_or(hipErrorInvalidValue)? as c_int)
    }

    fn hipDeviceTotalMem(bytes: Out<usize>, device: hipDevice_t) {
        runtime()?.device_of(device)?;
        bytes.set(crate::runtime::DEVICE_BYTES as usize)
    }

    fn hipDeviceGetLimit(value: Out<usize>, limit: hipLimit_t) {
        let (_, device) = current()?;
        let settings = *lock(&device.settings);
        match limit {
            hipLimitStackSize => value.set(settings.stack_bytes),
            hipLimitPrintfFifoSize => value.set(settings.printf_bytes),
            hipLimitMallocHeapSize => value.set(settings.heap_bytes),
            _other => Err(hipErrorUnsupportedLimit),
        }
    }

    fn hipDeviceSetLimit(limit: hipLimit_t, value: usize) {
        let (_, device) = current()?;
        let mut settings = lock(&device.settings);
        match limit {
            hipLimitStackSize if value > STACK_MAX_BYTES => return Err(hipErrorInvalidValue),
            hipLimitStackSize => settings.stack_bytes = value,
            hipLimitPrintfFifoSize => settings.printf_bytes = value,
            hipLimitMallocHeapSize => settings.heap_bytes = value,
            _other => return Err(hipErrorUnsupportedLimit),
        }
        Ok(())
    }

    fn hipDeviceGetCacheConfig(config: Out<hipFuncCache_t>) {
        let (_, device) = current()?;
        config.set(hipFuncCache_t(lock(&device.settings).cache))
    }

    fn hipDeviceSetCacheConfig(config: hipFuncCache_t) {
        let (_, device) = current()?;
        // There is nothing to configure, so that whatever is asked for is fine.
        if config.0 <= hipFuncCachePreferEqual.0 {
            lock(&device.settings).cache = config.0;
        }
        Ok(())
    }

    fn hipDeviceGetSharedMemConfig(config: Out<hipSharedMemConfig>) {
        let (_, device) = current()?;
        config.set(hipSharedMemConfig(lock(&device.settings).shared))
    }

    fn hipDeviceSetSharedMemConfig(config: hipSharedMemConfig) {
        let (_, device) = current()?;
        // As for caches.
        if config.0 <= hipSharedMemBankSizeEightByte.0 {
            lock(&device.settings).shared = config.0;
        }
        Ok(())
    }

    fn hipGetDeviceFlags(flags: Out<c_uint>) {
        let (_, device) = current()?;
        flags.set(lock(&device.settings).flags)
    }

    fn hipSetDeviceFlags(flags: c_uint) {
        let (_, device) = current()?;
        // Schedule in bits 2:0, mapped host memory, local memory kept.
        if flags & !0x1f != 0 {
            return Err(hipErrorInvalidValue);
        }
        lock(&device.settings).flags = flags;
        Ok(())
    }

    fn hipDeviceGetStreamPriorityRange(least: Out<c_int>, greatest: Out<c_int>) {
        runtime()?.device(thread::device())?;
        least.set_if_wanted(PRIORITY_LEAST);
        greatest.set_if_wanted(PRIORITY_GREATEST);
        Ok(())
    }

    fn hipDeviceCanAccessPeer(can: Out<c_int>, device: c_int, peer: c_int) {
        let runtime = runtime()?;
        runtime.device_of(device)?;
        runtime.device_of(peer)?;
        can.set(c_int::from(device != peer))
    }

    fn hipDeviceEnablePeerAccess(peer: c_int, flags: c_uint) {
        let (runtime, device) = current()?;
        let peer = runtime.device_of(peer)?.id();
        if flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        if peer == device.id() {
            return Err(hipErrorInvalidDevice);
        }
        let before = device.peers.fetch_or(1 << peer, Ordering::Relaxed);
        if before >> peer & 1 != 0 { Err(hipErrorPeerAccessAlreadyEnabled) } else { Ok(()) }
    }

    fn hipDeviceDisablePeerAccess(peer: c_int) {
        let (runtime, device) = current()?;
        let peer = runtime.device_of(peer)?.id();
        if peer == device.id() {
            return Err(hipErrorInvalidDevice);
        }
        let before = device.peers.fetch_and(!(1 << peer), Ordering::Relaxed);
        if before >> peer & 1 == 0 { Err(hipErrorPeerAccessNotEnabled) } else { Ok(()) }
    }

    fn hipDeviceGetP2PAttribute(
        value: Out<c_int>,
        attribute: hipDeviceP2PAttr,
        source: c_int,
        target: c_int,
    ) {
        let runtime = runtime()?;
        if value.is_null() {
            return Err(hipErrorInvalidValue);
        }
        runtime.device_of(source)?;
        runtime.device_of(target)?;
        if source == target {
            return Err(hipErrorInvalidDevice);
        }
        match attribute {
            hipDevP2PAttrPerformanceRank => value.set(0),
            hipDevP2PAttrAccessSupported | hipDevP2PAttrNativeAtomicSupported => value.set(1),
            hipDevP2PAttrHipArrayAccessSupported => value.set(0),
            _unknown => Err(hipErrorInvalidValue),
        }
    }

    /// Every pair of devices is one XGMI link apart.
    fn hipExtGetLinkTypeAndHopCount(first: c_int, second: c_int, link: Out<u32>, hops: Out<u32>) {
        let runtime = runtime()?;
        if first < 0 || second < 0 {
            return Err(hipErrorInvalidValue);
        }
        runtime.device_of(first)?;
        runtime.device_of(second)?;
        if first == second {
            return Err(hipErrorInvalidValue);
        }
        link.set(LINK_XGMI)?;
        hops.set(1)
    }

    fn hipProfilerStart() {
        Err(hipErrorNotSupported)
    }

    fn hipProfilerStop() {
        Err(hipErrorNotSupported)
    }
}

/// Scratch of one work-item that a kernel with a dynamic stack may get.
const STACK_MAX_BYTES: usize = 128 << 10;
/// Priorities are numbers that fall as the priority rises.
pub(crate) const PRIORITY_LEAST: c_int = 1;
pub(crate) const PRIORITY_GREATEST: c_int = -1;
/// `HSA_AMD_LINK_INFO_TYPE_XGMI`.
const LINK_XGMI: u32 = 4;

pub(crate) fn check_cache(config: hipFuncCache_t) -> Answer {
    if config.0 > hipFuncCachePreferEqual.0 { Err(hipErrorInvalidValue) } else { Ok(()) }
}

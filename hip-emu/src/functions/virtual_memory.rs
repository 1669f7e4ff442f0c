//! Address ranges and physical memory, managed apart.

use std::ffi::{c_ulonglong, c_void};
use std::sync::Arc;

use gfx_emu::memory::{Access, MemoryError, PAGE_BYTES, PhysicalId};
use hrr_ffi::types::*;

use super::memory::address;
use crate::allocations::{Allocation, Kind};
use crate::api::{Answer, In, Out};
use crate::handles::word;
use crate::runtime::{Runtime, current, memory_error};

/// Physical memory that a program has a handle of.
pub(crate) struct Physical {
    id: PhysicalId,
    bytes: u64,
    device: usize,
    properties: hipMemAllocationProp,
}

// SAFETY: the pointer among the properties is the program's own and only handed back to it.
unsafe impl Send for Physical {}
// SAFETY: as above.
unsafe impl Sync for Physical {}

hip_api! { TABLE;
    fn hipMemGetAllocationGranularity(
        granularity: Out<usize>,
        properties: In<hipMemAllocationProp>,
        option: hipMemAllocationGranularity_flags,
    ) {
        let (runtime, _) = current()?;
        check_properties(runtime, &properties.get()?)?;
        if option.0 > hipMemAllocationGranularityRecommended.0 {
            return Err(hipErrorInvalidValue);
        }
        granularity.set(PAGE_BYTES as usize)
    }

    /// A hint is honoured if the range is free.
    fn hipMemAddressReserve(
        pointer: Out<*mut c_void>,
        bytes: usize,
        align: usize,
        hint: *mut c_void,
        flags: c_ulonglong,
    ) {
        let (runtime, _) = current()?;
        if pointer.is_null() || flags != 0 || !(align == 0 || align.is_power_of_two()) {
            return Err(hipErrorInvalidValue);
        }
        let hint = (!hint.is_null()).then_some(hint.addr() as u64);
        let reserved = runtime.space.reserve(bytes as u64, align.max(1) as u64, hint);
        pointer.set(address(reserved.map_err(|error| memory_error(&error))?))
    }

    fn hipMemAddressFree(pointer: *mut c_void, bytes: usize) {
        let (runtime, _) = current()?;
        let released = runtime.space.release_reservation(pointer.addr() as u64, bytes as u64);
        released.map_err(|error| memory_error(&error))
    }

    fn hipMemCreate(
        handle: Out<hipMemGenericAllocationHandle_t>,
        bytes: usize,
        properties: In<hipMemAllocationProp>,
        flags: c_ulonglong,
    ) {
        let (runtime, _) = current()?;
        let properties = properties.get()?;
        let device = check_properties(runtime, &properties)?;
        if handle.is_null() || flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        let bytes = bytes as u64;
        let charged = runtime.device(device)?;
        charged.charge(bytes)?;
        let id = runtime.space.create_physical(bytes).map_err(|error| {
            charged.refund(bytes);
            memory_error(&error)
        })?;
        let value = runtime.handles.next();
        runtime.physical.insert(value, Arc::new(Physical { id, bytes, device, properties }));
        handle.set(hipMemGenericAllocationHandle_t(word(value)))
    }

    /// The memory lives on while it is mapped.
    fn hipMemRelease(handle: hipMemGenericAllocationHandle_t) {
        let (runtime, _) = current()?;
        let found = runtime.physical.remove(handle.0).ok_or(hipErrorInvalidValue)?;
        runtime.device(found.device)?.refund(found.bytes);
        runtime.space.release_physical(found.id).map_err(|error| memory_error(&error))
    }

    fn hipMemMap(
        pointer: *mut c_void,
        bytes: usize,
        offset: usize,
        handle: hipMemGenericAllocationHandle_t,
        flags: c_ulonglong,
    ) {
        let (runtime, _) = current()?;
        let found = runtime.physical.get(handle.0).ok_or(hipErrorInvalidValue)?;
        if flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        let (base, bytes) = (pointer.addr() as u64, bytes as u64);
        let mapped = runtime.space.map(base, bytes, found.id, offset as u64);
        mapped.map_err(|error| memory_error(&error))?;
        let device = found.device;
        runtime.allocations.insert(Allocation { base, bytes, kind: Kind::Mapped, device, flags: 0 });
        Ok(())
    }

    fn hipMemUnmap(pointer: *mut c_void, bytes: usize) {
        let (runtime, device) = current()?;
        device.drain();
        let (base, bytes) = (pointer.addr() as u64, bytes as u64);
        runtime.space.unmap(base, bytes).map_err(|error| memory_error(&error))?;
        let mut at = base;
        while let Some(mapping) = runtime.allocations.at(at).filter(|_| at < base + bytes) {
            runtime.allocations.remove(at);
            at += mapping.bytes;
        }
        Ok(())
    }

    fn hipMemSetAccess(
        pointer: *mut c_void,
        bytes: usize,
        descriptions: In<hipMemAccessDesc>,
        count: usize,
    ) {
        let (runtime, _) = current()?;
        if count == 0 {
            return Err(hipErrorInvalidValue);
        }
        for description in descriptions.slice(count)? {
            if description.location.r#type != hipMemLocationTypeDevice {
                return Err(hipErrorInvalidValue);
            }
            runtime.device_of(description.location.id)?;
            let access = match description.flags {
                hipMemAccessFlagsProtNone => Access::None,
                hipMemAccessFlagsProtRead => Access::Read,
                hipMemAccessFlagsProtReadWrite => Access::ReadWrite,
                _unknown => return Err(hipErrorInvalidValue),
            };
            let set = runtime.space.set_access(pointer.addr() as u64, bytes as u64, access);
            set.map_err(|error| memory_error(&error))?;
        }
        Ok(())
    }

    fn hipMemGetAccess(
        flags: Out<c_ulonglong>,
        location: In<hipMemLocation>,
        pointer: *mut c_void,
    ) {
        let (runtime, _) = current()?;
        runtime.device_of(location.get()?.id)?;
        let start = pointer.addr() as u64;
        let found = runtime.allocations.find(start).filter(|found| found.kind == Kind::Mapped);
        found.ok_or(hipErrorInvalidValue)?;
        let allows = |access| match runtime.space.resolve(start, 1, access) {
            Ok(_) => Ok(true),
            Err(MemoryError::Denied { .. }) => Ok(false),
            Err(error) => Err(memory_error(&error)),
        };
        flags.set(u64::from(match (allows(Access::ReadWrite)?, allows(Access::Read)?) {
            (true, _) => hipMemAccessFlagsProtReadWrite.0,
            (false, true) => hipMemAccessFlagsProtRead.0,
            (false, false) => hipMemAccessFlagsProtNone.0,
        }))
    }

    fn hipMemGetAllocationPropertiesFromHandle(
        properties: Out<hipMemAllocationProp>,
        handle: hipMemGenericAllocationHandle_t,
    ) {
        let (runtime, _) = current()?;
        let found = runtime.physical.get(handle.0).ok_or(hipErrorInvalidValue)?;
        properties.set(found.properties)
    }
}

fn check_properties(runtime: &Runtime, properties: &hipMemAllocationProp) -> Answer<usize> {
    if properties.r#type != hipMemAllocationTypePinned
        || properties.location.r#type != hipMemLocationTypeDevice
    {
        return Err(hipErrorInvalidValue);
    }
    Ok(runtime.device_of(properties.location.id)?.id())
}

//! What a pointer is.

use std::ffi::{c_int, c_uint, c_void};

use hrr_ffi::types::*;

use super::memory::address;
use crate::abi;
use crate::allocations::{Allocation, Kind};
use crate::api::{Answer, In, Out};
use crate::runtime::{Runtime, current};

hip_api! { TABLE;
    /// Memory that HIP does not know is "unregistered" since HIP 6, and an error before.
    fn hipPointerGetAttributes(attributes: Out<hipPointerAttribute_t>, pointer: *const c_void) {
        let (runtime, _) = current()?;
        if pointer.is_null() {
            return Err(hipErrorInvalidValue);
        }
        attributes.set(match find(runtime, pointer) {
            Some(found) => hipPointerAttribute_t {
                r#type: memory_type(&found),
                device: found.device as c_int,
                devicePointer: device_pointer(&found, pointer),
                hostPointer: host_pointer(&found, pointer),
                isManaged: c_int::from(found.kind == Kind::Managed),
                allocationFlags: abi::flags_out(&found),
            },
            None if abi::major() < 6 => return Err(hipErrorInvalidValue),
            None => hipPointerAttribute_t {
                r#type: hipMemoryTypeUnregistered,
                device: -2,
                devicePointer: std::ptr::null_mut(),
                hostPointer: std::ptr::null_mut(),
                isManaged: 0,
                allocationFlags: 0,
            },
        })
    }

    fn hipPointerGetAttribute(
        data: Out<u8>,
        attribute: hipPointer_attribute,
        pointer: hipDeviceptr_t,
    ) {
        let (runtime, _) = current()?;
        let found = find(runtime, pointer).ok_or(hipErrorInvalidValue)?;
        put_attribute(data, attribute, &found, pointer)
    }

    fn hipDrvPointerGetAttributes(
        count: c_uint,
        attributes: In<hipPointer_attribute>,
        data: In<*mut u8>,
        pointer: hipDeviceptr_t,
    ) {
        let (runtime, _) = current()?;
        let wanted = attributes.slice(count as usize)?;
        let places = data.slice(count as usize)?;
        if count == 0 || pointer.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let found = find(runtime, pointer);
        for (attribute, place) in wanted.into_iter().zip(places) {
            // SAFETY: HIP's contract: each pointer is good for its attribute.
            let place = unsafe { Out::new(place) };
            match &found {
                Some(found) => put_attribute(place, attribute, found, pointer)?,
                // Of what HIP does not know, everything is zero.
                None => place.fill(&vec![0; attribute_bytes(attribute)?])?,
            }
        }
        Ok(())
    }

    fn hipMemGetAddressRange(
        base: Out<hipDeviceptr_t>,
        bytes: Out<usize>,
        pointer: hipDeviceptr_t,
    ) {
        let (runtime, _) = current()?;
        let missing = abi::by_version(hipErrorInvalidDevicePointer, hipErrorNotFound);
        let found = find(runtime, pointer).ok_or(missing)?;
        base.set_if_wanted(address(found.base));
        bytes.set_if_wanted(found.bytes as usize);
        Ok(())
    }

    fn hipMemPtrGetInfo(pointer: *mut c_void, bytes: Out<usize>) {
        let (runtime, _) = current()?;
        let found = find(runtime, pointer).ok_or(hipErrorInvalidValue)?;
        bytes.set(found.bytes as usize)
    }
}

fn find(runtime: &Runtime, pointer: *const c_void) -> Option<Allocation> {
    runtime.allocations.find(pointer.addr() as u64)
}

fn memory_type(found: &Allocation) -> hipMemoryType {
    abi::memory_type_out(match found.kind {
        Kind::Device
        | Kind::Pool(_)
        | Kind::Mapped
        | Kind::Variable
        | Kind::Heap
        | Kind::Imported => hipMemoryTypeDevice,
        Kind::Pinned | Kind::Registered { .. } => hipMemoryTypeHost,
        Kind::Managed => hipMemoryTypeManaged,
    })
}

fn device_pointer(found: &Allocation, pointer: *const c_void) -> *mut c_void {
    address(found.device_address(pointer.addr() as u64))
}

fn host_pointer(found: &Allocation, pointer: *const c_void) -> *mut c_void {
    if found.is_host_memory() {
        address(found.program_address(pointer.addr() as u64))
    } else {
        std::ptr::null_mut()
    }
}

fn put_attribute(
    data: Out<u8>,
    attribute: hipPointer_attribute,
    found: &Allocation,
    pointer: *mut c_void,
) -> Answer {
    let word = |value: u64| value.to_le_bytes().to_vec();
    let half = |value: u32| value.to_le_bytes().to_vec();
    let flag = |value: bool| vec![u8::from(value)];
    data.fill(&match attribute {
        HIP_POINTER_ATTRIBUTE_MEMORY_TYPE => half(memory_type(found).0),
        HIP_POINTER_ATTRIBUTE_DEVICE_POINTER => word(device_pointer(found, pointer).addr() as u64),
        HIP_POINTER_ATTRIBUTE_HOST_POINTER => {
            let host = host_pointer(found, pointer);
            if host.is_null() {
                return Err(hipErrorInvalidValue);
            }
            word(host.addr() as u64)
        }
        HIP_POINTER_ATTRIBUTE_IS_MANAGED => flag(found.kind == Kind::Managed),
        HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL => half(found.device as u32),
        HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR => word(found.base),
        HIP_POINTER_ATTRIBUTE_RANGE_SIZE => word(found.bytes),
        HIP_POINTER_ATTRIBUTE_MAPPED => flag(true),
        HIP_POINTER_ATTRIBUTE_BUFFER_ID => word(found.base),
        // AMD's 5.2.3 knows no access but that of mapped memory, which it does not have.
        HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS if abi::major() <= 5 => {
            half(hipMemAccessFlagsProtNone.0)
        }
        HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS => half(hipMemAccessFlagsProtReadWrite.0),
        HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS => flag(true),
        HIP_POINTER_ATTRIBUTE_CONTEXT
        | HIP_POINTER_ATTRIBUTE_P2P_TOKENS
        | HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE
        | HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE
        | HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE
        | HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES => {
            return Err(hipErrorNotSupported);
        }
        _unknown => return Err(hipErrorInvalidValue),
    })
}

/// How much there is to write for an attribute.
fn attribute_bytes(attribute: hipPointer_attribute) -> Answer<usize> {
    Ok(match attribute {
        HIP_POINTER_ATTRIBUTE_DEVICE_POINTER
        | HIP_POINTER_ATTRIBUTE_HOST_POINTER
        | HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR
        | HIP_POINTER_ATTRIBUTE_RANGE_SIZE
        | HIP_POINTER_ATTRIBUTE_BUFFER_ID => 8,
        HIP_POINTER_ATTRIBUTE_MEMORY_TYPE
        | HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL
        | HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS => 4,
        HIP_POINTER_ATTRIBUTE_IS_MANAGED
        | HIP_POINTER_ATTRIBUTE_MAPPED
        | HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS => 1,
        HIP_POINTER_ATTRIBUTE_CONTEXT
        | HIP_POINTER_ATTRIBUTE_P2P_TOKENS
        | HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE
        | HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE
        | HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE
        | HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES => return Err(hipErrorNotSupported),
        _unknown => return Err(hipErrorInvalidValue),
    })
}

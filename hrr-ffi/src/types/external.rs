//! Memory, semaphores and resources of other interfaces.

use core::ffi::{c_int, c_uint, c_ulonglong, c_void};

use hrr_macros::Payload;

use super::{hipChannelFormatDesc, hipExtent};

hrr_core::c_enum! {
    /// The kind of handle external memory comes as.
    pub enum hipExternalMemoryHandleType: u32 {
        hipExternalMemoryHandleTypeOpaqueFd = 1,
        hipExternalMemoryHandleTypeOpaqueWin32 = 2,
        hipExternalMemoryHandleTypeOpaqueWin32Kmt = 3,
        hipExternalMemoryHandleTypeD3D12Heap = 4,
        hipExternalMemoryHandleTypeD3D12Resource = 5,
        hipExternalMemoryHandleTypeD3D11Resource = 6,
        hipExternalMemoryHandleTypeD3D11ResourceKmt = 7,
        hipExternalMemoryHandleTypeNvSciBuf = 8,
    }

    /// The kind of handle an external semaphore comes as.
    pub enum hipExternalSemaphoreHandleType: u32 {
        hipExternalSemaphoreHandleTypeOpaqueFd = 1,
        hipExternalSemaphoreHandleTypeOpaqueWin32 = 2,
        hipExternalSemaphoreHandleTypeOpaqueWin32Kmt = 3,
        hipExternalSemaphoreHandleTypeD3D12Fence = 4,
        hipExternalSemaphoreHandleTypeD3D11Fence = 5,
        hipExternalSemaphoreHandleTypeNvSciSync = 6,
        hipExternalSemaphoreHandleTypeKeyedMutex = 7,
        hipExternalSemaphoreHandleTypeKeyedMutexKmt = 8,
        hipExternalSemaphoreHandleTypeTimelineSemaphoreFd = 9,
    }

    /// How a graphics resource is used.
    pub enum hipGraphicsRegisterFlags: u32 {
        hipGraphicsRegisterFlagsNone = 0,
        hipGraphicsRegisterFlagsReadOnly = 1,
        hipGraphicsRegisterFlagsWriteDiscard = 2,
        hipGraphicsRegisterFlagsSurfaceLoadStore = 4,
        hipGraphicsRegisterFlagsTextureGather = 8,
    }
}

/// Where external memory comes from.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hipExternalMemoryHandleDesc {
    pub r#type: hipExternalMemoryHandleType,
    pub handle: hipExternalHandle,
    pub size: c_ulonglong,
    pub flags: c_uint,
    pub reserved: [c_uint; 16],
}

/// The handle inside a [`hipExternalMemoryHandleDesc`] or a [`hipExternalSemaphoreHandleDesc`].
#[repr(C)]
#[derive(Clone, Copy)]
pub union hipExternalHandle {
    pub fd: c_int,
    pub win32: hipExternalWin32Handle,
    pub nvSciObject: *const c_void,
}

/// A Windows handle and its name.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hipExternalWin32Handle {
    pub handle: *mut c_void,
    pub name: *const c_void,
}

/// A part of external memory.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipExternalMemoryBufferDesc {
    pub offset: c_ulonglong,
    pub size: c_ulonglong,
    pub flags: c_uint,
    pub reserved: [c_uint; 16],
}

/// Mipmapped arrays in external memory.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipExternalMemoryMipmappedArrayDesc {
    pub offset: c_ulonglong,
    pub formatDesc: hipChannelFormatDesc,
    pub extent: hipExtent,
    pub flags: c_uint,
    pub numLevels: c_uint,
}

/// Where an external semaphore comes from.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hipExternalSemaphoreHandleDesc {
    pub r#type: hipExternalSemaphoreHandleType,
    pub handle: hipExternalHandle,
    pub flags: c_uint,
    pub reserved: [c_uint; 16],
}

/// How a semaphore is signalled.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipExternalSemaphoreSignalParams {
    /// `params.fence.value`.
    pub fenceValue: c_ulonglong,
    /// `params.nvSciSync`: a pointer of another interface, or reserved.
    pub nvSciSync: c_ulonglong,
    /// `params.keyedMutex.key`.
    pub keyedMutexKey: c_ulonglong,
    pub paramsReserved: [c_uint; 12],
    pub flags: c_uint,
    pub reserved: [c_uint; 16],
}

/// How a semaphore is waited for.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipExternalSemaphoreWaitParams {
    /// `params.fence.value`.
    pub fenceValue: c_ulonglong,
    /// `params.nvSciSync`: a pointer of another interface, or reserved.
    pub nvSciSync: c_ulonglong,
    /// `params.keyedMutex`.
    pub keyedMutex: hipExternalSemaphoreKeyedMutex,
    pub paramsReserved: [c_uint; 10],
    pub flags: c_uint,
    pub reserved: [c_uint; 16],
}

/// The key of a mutex, and how long to wait for it.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipExternalSemaphoreKeyedMutex {
    pub key: c_ulonglong,
    pub timeoutMs: c_uint,
}

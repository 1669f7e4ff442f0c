//! Streams: capture, batches of memory operations, callbacks.

use core::ffi::{c_uint, c_void};

use hrr_macros::Payload;

use super::{hipCtx_t, hipDeviceptr_t, hipError_t, hipStream_t};

hrr_core::c_enum! {
    /// The tag of an operation of a batch.
    pub enum hipStreamBatchMemOpType: u32 {
        hipStreamMemOpWaitValue32 = 1,
        hipStreamMemOpWriteValue32 = 2,
        hipStreamMemOpWaitValue64 = 4,
        hipStreamMemOpWriteValue64 = 5,
        hipStreamMemOpBarrier = 6,
        hipStreamMemOpFlushRemoteWrites = 3,
    }

    /// Which calls a capture forbids.
    pub enum hipStreamCaptureMode: u32 {
        hipStreamCaptureModeGlobal = 0,
        hipStreamCaptureModeThreadLocal = 1,
        hipStreamCaptureModeRelaxed = 2,
    }

    /// Whether a stream captures.
    pub enum hipStreamCaptureStatus: u32 {
        hipStreamCaptureStatusNone = 0,
        hipStreamCaptureStatusActive = 1,
        hipStreamCaptureStatusInvalidated = 2,
    }

    /// Whether dependencies are added or replaced.
    pub enum hipStreamUpdateCaptureDependenciesFlags: u32 {
        hipStreamAddCaptureDependencies = 0,
        hipStreamSetCaptureDependencies = 1,
    }
}

/// A function of the program that runs when the work of a stream before it is done.
pub type hipStreamCallback_t =
    Option<unsafe extern "C" fn(stream: hipStream_t, status: hipError_t, userData: *mut c_void)>;
/// A function of the program that runs as a work item of a stream or graph.
pub type hipHostFn_t = Option<unsafe extern "C" fn(userData: *mut c_void)>;

/// One operation of a batch. In the header a union whose members all begin with the tag; here what
/// all members share stands before the union of what is left.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipStreamBatchMemOpParams {
    pub operation: hipStreamBatchMemOpType,
    /// `flushRemoteWrites.flags` and `memoryBarrier.flags`; padding in the other members.
    pub flags: c_uint,
    #[tagged(by = operation, table = crate::families::tags::BATCH_OPERATIONS)]
    pub body: hipStreamMemOpBody,
}

/// The part of a [`hipStreamBatchMemOpParams`] that only waits and writes have.
#[repr(C)]
#[derive(Clone, Copy)]
pub union hipStreamMemOpBody {
    /// `waitValue` and `writeValue`.
    pub value: hipStreamMemOpValueParams,
    /// 40 bytes, aligned to 8.
    pub pad: [u64; 5],
}

/// Waits for, or writes, a word of memory.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipStreamMemOpValueParams {
    #[device_ptr]
    pub address: hipDeviceptr_t,
    /// `value64`; `value` of the 32-bit operations is the low half.
    pub value: u64,
    pub flags: c_uint,
    #[opaque(reason = "the header says that AMD's runtime ignores it")]
    pub alias: hipDeviceptr_t,
}

/// A batch, as a graph node.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct hipBatchMemOpNodeParams {
    pub ctx: hipCtx_t,
    pub count: c_uint,
    #[deref(count = count)]
    pub paramArray: *mut hipStreamBatchMemOpParams,
    pub flags: c_uint,
}

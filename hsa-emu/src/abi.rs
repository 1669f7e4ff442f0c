//! The C types and constants of the HSA API that functions of this library take and give.
//!
//! Facts: hsa.h, hsa_ext_amd.h, hsa_ven_amd_loader.h, amd_hsa_queue.h and amd_hsa_signal.h of
//! ROCr 5.2.3. `tests/headers.rs` compares them with the headers where those are installed.

use std::ffi::c_void;

/// `hsa_status_t`.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status(pub(crate) u32);

/// What a function that gives a status returns before it crosses to C.
pub(crate) type Answer<T = ()> = Result<T, Status>;

/// Declares every status once, with its C name and the text that `hsa_status_string` gives.
macro_rules! statuses {
    ($($name:ident = $value:literal, $text:literal;)*) => {
        #[allow(dead_code, reason = "the table is all of hsa_status_t, used here or not")]
        impl Status {
            $(pub(crate) const $name: Self = Self($value);)*

            /// The C string of `hsa_status_string`.
            pub(crate) fn text(self) -> Option<&'static std::ffi::CStr> {
                match self.0 {
                    $($value => {
                        const TEXT: &str =
                            concat!("HSA_STATUS_", stringify!($name), ": ", $text, "\0");
                        std::ffi::CStr::from_bytes_with_nul(TEXT.as_bytes()).ok()
                    })*
                    _unknown => None,
                }
            }
        }
    };
}

statuses! {
    SUCCESS = 0x0, "The call succeeded.";
    INFO_BREAK = 0x1, "A callback ended the iteration.";
    ERROR = 0x1000, "An error that no other status describes.";
    ERROR_INVALID_ARGUMENT = 0x1001, "An argument is not what the function accepts.";
    ERROR_INVALID_QUEUE_CREATION = 0x1002, "The queue cannot be created as asked.";
    ERROR_INVALID_ALLOCATION = 0x1003, "The allocation cannot be made as asked.";
    ERROR_INVALID_AGENT = 0x1004, "The agent is invalid.";
    ERROR_INVALID_REGION = 0x1005, "The memory region is invalid.";
    ERROR_INVALID_SIGNAL = 0x1006, "The signal is invalid.";
    ERROR_INVALID_QUEUE = 0x1007, "The queue is invalid.";
    ERROR_OUT_OF_RESOURCES = 0x1008, "There are not enough resources, such as memory.";
    ERROR_INVALID_PACKET_FORMAT = 0x1009, "The packet is malformed.";
    ERROR_RESOURCE_FREE = 0x100a, "The resource could not be released.";
    ERROR_NOT_INITIALIZED = 0x100b, "The runtime is not initialized.";
    ERROR_REFCOUNT_OVERFLOW = 0x100c, "The reference count is at its limit.";
    ERROR_INCOMPATIBLE_ARGUMENTS = 0x100d, "The arguments do not fit each other.";
    ERROR_INVALID_INDEX = 0x100e, "The index is out of range.";
    ERROR_INVALID_ISA = 0x100f, "The instruction set architecture is invalid.";
    ERROR_INVALID_CODE_OBJECT = 0x1010, "The code object is invalid.";
    ERROR_INVALID_EXECUTABLE = 0x1011, "The executable is invalid.";
    ERROR_FROZEN_EXECUTABLE = 0x1012, "The executable is frozen.";
    ERROR_INVALID_SYMBOL_NAME = 0x1013, "There is no symbol of that name.";
    ERROR_VARIABLE_ALREADY_DEFINED = 0x1014, "The variable is already defined.";
    ERROR_VARIABLE_UNDEFINED = 0x1015, "The variable is not defined.";
    ERROR_EXCEPTION = 0x1016, "A kernel raised an exception.";
    ERROR_INVALID_ISA_NAME = 0x1017, "The instruction set architecture's name is invalid.";
    ERROR_INVALID_CODE_SYMBOL = 0x1018, "The code object symbol is invalid.";
    ERROR_INVALID_EXECUTABLE_SYMBOL = 0x1019, "The executable symbol is invalid.";
    ERROR_INVALID_FILE = 0x1020, "The file descriptor is invalid.";
    ERROR_INVALID_CODE_OBJECT_READER = 0x1021, "The code object reader is invalid.";
    ERROR_INVALID_CACHE = 0x1022, "The cache is invalid.";
    ERROR_INVALID_WAVEFRONT = 0x1023, "The wavefront is invalid.";
    ERROR_INVALID_SIGNAL_GROUP = 0x1024, "The signal group is invalid.";
    ERROR_INVALID_RUNTIME_STATE = 0x1025, "The runtime is not in a state for this call.";
    ERROR_FATAL = 0x1026, "The queue cannot go on.";
    ERROR_INVALID_MEMORY_POOL = 40, "The memory pool is invalid.";
    ERROR_MEMORY_APERTURE_VIOLATION = 41, "A kernel left its LDS or scratch aperture.";
    ERROR_ILLEGAL_INSTRUCTION = 42, "A kernel came to an instruction that does not exist.";
    ERROR_MEMORY_FAULT = 43, "A kernel touched memory that it must not touch.";
    CU_MASK_REDUCED = 44, "The mask of compute units was cut to those that exist.";
    ERROR_IMAGE_FORMAT_UNSUPPORTED = 0x3000, "The image format is not supported.";
    ERROR_IMAGE_SIZE_UNSUPPORTED = 0x3001, "The image size is not supported.";
    ERROR_IMAGE_PITCH_UNSUPPORTED = 0x3002, "The image pitch is not supported.";
    ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED = 0x3003, "The sampler descriptor is not supported.";
}

/// Handles: one opaque word each, distinct so that none is taken for another.
macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $($(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) struct $name(pub(crate) u64);)*
    };
}

handles! {
    /// `hsa_agent_t`.
    AgentHandle;
    /// `hsa_isa_t`.
    IsaHandle;
    /// `hsa_amd_memory_pool_t`.
    PoolHandle;
    /// `hsa_signal_t`.
    SignalHandle;
    /// `hsa_code_object_reader_t`.
    ReaderHandle;
    /// `hsa_executable_t`.
    ExecutableHandle;
    /// `hsa_loaded_code_object_t`.
    LoadedHandle;
    /// `hsa_executable_symbol_t`.
    SymbolHandle;
    /// `hsa_ext_image_t`.
    ImageHandle;
    /// `hsa_ext_sampler_t`.
    SamplerHandle;
}

/// `hsa_dim3_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dim3 {
    pub(crate) x: u32,
    pub(crate) y: u32,
    pub(crate) z: u32,
}

/// `hsa_pitched_ptr_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct PitchedPtr {
    pub(crate) base: *mut c_void,
    pub(crate) pitch: usize,
    pub(crate) slice: usize,
}

/// `hsa_queue_t`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct HsaQueue {
    pub(crate) kind: u32,
    pub(crate) features: u32,
    pub(crate) base_address: *mut c_void,
    pub(crate) doorbell_signal: SignalHandle,
    pub(crate) size: u32,
    pub(crate) reserved1: u32,
    pub(crate) id: u64,
}

/// `HSA_QUEUE_TYPE_COOPERATIVE`, the highest queue type.
pub(crate) const QUEUE_TYPE_COOPERATIVE: u32 = 2;
/// `HSA_QUEUE_FEATURE_KERNEL_DISPATCH`.
pub(crate) const QUEUE_FEATURE_KERNEL_DISPATCH: u32 = 1;

/// `hsa_amd_memory_pool_link_info_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkInfo {
    pub(crate) min_latency: u32,
    pub(crate) max_latency: u32,
    pub(crate) min_bandwidth: u32,
    pub(crate) max_bandwidth: u32,
    pub(crate) atomic_support_32bit: bool,
    pub(crate) atomic_support_64bit: bool,
    pub(crate) coherent_support: bool,
    pub(crate) link_type: u32,
    pub(crate) numa_distance: u32,
}

/// `hsa_amd_pointer_info_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct PointerInfo {
    pub(crate) size: u32,
    pub(crate) kind: u32,
    pub(crate) agent_base_address: *mut c_void,
    pub(crate) host_base_address: *mut c_void,
    pub(crate) size_in_bytes: usize,
    pub(crate) user_data: *mut c_void,
    pub(crate) agent_owner: AgentHandle,
    pub(crate) global_flags: u32,
}

/// `hsa_amd_profiling_dispatch_time_t` and `hsa_amd_profiling_async_copy_time_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProfilingTime {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// `hsa_amd_svm_attribute_pair_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct SvmPair {
    pub(crate) attribute: u64,
    pub(crate) value: u64,
}

/// `hsa_amd_ipc_memory_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct IpcMemory {
    pub(crate) handle: [u32; 8],
}

/// `hsa_amd_hdp_flush_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct HdpFlush {
    pub(crate) memory: *mut u32,
    pub(crate) registers: *mut u32,
}

/// Callbacks that the API takes.
pub(crate) type AgentCallback = unsafe extern "C" fn(AgentHandle, *mut c_void) -> Status;
pub(crate) type IsaCallback = unsafe extern "C" fn(IsaHandle, *mut c_void) -> Status;
pub(crate) type PoolCallback = unsafe extern "C" fn(PoolHandle, *mut c_void) -> Status;
pub(crate) type QueueCallback = unsafe extern "C" fn(Status, *mut HsaQueue, *mut c_void);
pub(crate) type SignalCallback = unsafe extern "C" fn(i64, *mut c_void) -> bool;
pub(crate) type AllocCallback = unsafe extern "C" fn(usize) -> *mut c_void;

/// Writes an out parameter; null is an invalid argument.
///
/// # Safety
///
/// `out` is null or points at room for a `T`.
pub(crate) unsafe fn put<T>(out: *mut T, value: T) -> Answer {
    if out.is_null() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    // SAFETY: not null, so the caller's promise says that it has room for a `T`; callers of the
    // API need not align what they pass as `void*`.
    unsafe { out.write_unaligned(value) };
    Ok(())
}

/// An array that a caller passes by pointer and count.
///
/// # Safety
///
/// `first` is null or points at `count` initialised values that stay as they are during `'a`.
pub(crate) unsafe fn list<'a, T>(first: *const T, count: usize) -> Answer<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    if first.is_null() || !first.is_aligned() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    // SAFETY: aligned and not null, so the caller's promise says that `count` values are there.
    Ok(unsafe { std::slice::from_raw_parts(first, count) })
}

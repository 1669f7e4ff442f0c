//! The system as a whole: what it says about itself, and its extensions.

use std::ffi::{c_char, c_void};
use std::ptr;

use crate::abi::{Answer, ExecutableHandle, Status, put};
use crate::agent::unknown;
use crate::code;
use crate::runtime::{now_ns, runtime};

/// `HSA_EXTENSION_AMD_LOADER`.
const EXTENSION_LOADER: u16 = 0x201;

/// `hsa_system_get_info`.
///
/// # Safety
///
/// `value` is null or has room for the attribute.
pub(crate) unsafe fn info(attribute: u32, value: *mut c_void) -> Answer {
    const VERSION_MAJOR: u32 = 0;
    const VERSION_MINOR: u32 = 1;
    const TIMESTAMP: u32 = 2;
    const TIMESTAMP_FREQUENCY: u32 = 3;
    const SIGNAL_MAX_WAIT: u32 = 4;
    const ENDIANNESS: u32 = 5;
    const MACHINE_MODEL: u32 = 6;
    const EXTENSIONS: u32 = 7;
    const SVM_SUPPORTED: u32 = 0x201;
    const SVM_ACCESSIBLE_BY_DEFAULT: u32 = 0x202;
    runtime()?;
    match attribute {
        // SAFETY: the caller's promise.
        VERSION_MAJOR | VERSION_MINOR => unsafe { put(value.cast(), 1u16) },
        // SAFETY: the caller's promise.
        TIMESTAMP => unsafe { put(value.cast(), now_ns()) },
        // SAFETY: the caller's promise; time stamps are nanoseconds.
        TIMESTAMP_FREQUENCY => unsafe { put(value.cast(), 1_000_000_000u64) },
        // SAFETY: the caller's promise.
        SIGNAL_MAX_WAIT => unsafe { put(value.cast(), u64::MAX) },
        // SAFETY: the caller's promise; HSA_ENDIANNESS_LITTLE.
        ENDIANNESS => unsafe { put(value.cast(), 0u32) },
        // SAFETY: the caller's promise; HSA_MACHINE_MODEL_LARGE.
        MACHINE_MODEL => unsafe { put(value.cast(), 1u32) },
        EXTENSIONS => {
            let mut bits = [0u8; 128];
            bits[usize::from(EXTENSION_LOADER / 8)] |= 1 << (EXTENSION_LOADER % 8);
            // SAFETY: the caller's promise; the field has 128 bytes.
            unsafe { put(value.cast(), bits) }
        }
        // SAFETY: the caller's promise.
        SVM_SUPPORTED => unsafe { put(value.cast(), true) },
        // SAFETY: the caller's promise; xnack is off.
        SVM_ACCESSIBLE_BY_DEFAULT => unsafe { put(value.cast(), false) },
        other => Err(unknown("hsa_system_get_info", other)),
    }
}

/// `hsa_system_extension_supported`.
///
/// # Safety
///
/// `out` is null or has room for a bool.
pub(crate) unsafe fn extension_supported(extension: u16, major: u16, out: *mut bool) -> Answer {
    runtime()?;
    match extension {
        // SAFETY: the caller's promise.
        0..=3 | 0x200..=0x202 => unsafe { put(out, extension == EXTENSION_LOADER && major == 1) },
        _unknown => Err(Status::ERROR_INVALID_ARGUMENT),
    }
}

/// `hsa_ven_amd_loader_1_00_pfn_t`, the first three functions of the loader extension.
#[repr(C)]
struct LoaderTable {
    query_host_address: unsafe extern "C" fn(*const c_void, *mut *const c_void) -> Status,
    query_segment_descriptors: unsafe extern "C" fn(*mut c_void, *mut usize) -> Status,
    query_executable: unsafe extern "C" fn(*const c_void, *mut ExecutableHandle) -> Status,
}

/// `hsa_system_get_major_extension_table`. Functions beyond the third are left null.
///
/// # Safety
///
/// `table` is null or has room for `bytes` bytes.
pub(crate) unsafe fn extension_table(
    extension: u16,
    major: u16,
    bytes: usize,
    table: *mut c_void,
) -> Answer {
    runtime()?;
    if table.is_null() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    if extension != EXTENSION_LOADER || major != 1 {
        return Err(Status::ERROR);
    }
    let ours = LoaderTable {
        query_host_address: code::query_host_address,
        query_segment_descriptors: code::query_segment_descriptors,
        query_executable: code::query_executable,
    };
    // SAFETY: the caller's promise.
    unsafe { ptr::write_bytes(table.cast::<u8>(), 0, bytes) };
    let length = bytes.min(size_of::<LoaderTable>());
    // SAFETY: both sides have at least `length` bytes.
    unsafe { ptr::copy_nonoverlapping((&raw const ours).cast::<u8>(), table.cast(), length) };
    Ok(())
}

/// `hsa_status_string`, which needs no initialised runtime.
///
/// # Safety
///
/// `out` is null or has room for a pointer.
pub(crate) unsafe fn status_string(status: Status, out: *mut *const c_char) -> Answer {
    let text = status.text().ok_or(Status::ERROR_INVALID_ARGUMENT)?;
    // SAFETY: the caller's promise; the text is a constant.
    unsafe { put(out, text.as_ptr()) }
}

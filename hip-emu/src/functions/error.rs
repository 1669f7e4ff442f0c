//! The last error, and what errors are called.
//!
//! A failure stays the last error of its thread until it is read; calls that succeed leave it
//! alone. That is HIP 7's rule; for programs of HIP 5 each call replaces the last error.

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char};
use std::sync::OnceLock;

use hrr_ffi::types::*;

use crate::api::{Answer, Out};
use crate::thread;

hip_api! { CHECKED;
    /// Gives the name of an error as HIP's driver interface does.
    fn hipDrvGetErrorName(error: hipError_t, text: Out<*const c_char>) {
        named(error)?;
        text.set(name_of(error).as_ptr())
    }

    /// Gives the description of an error as HIP's driver interface does.
    fn hipDrvGetErrorString(error: hipError_t, text: Out<*const c_char>) {
        named(error)?;
        text.set(description_of(error).as_ptr())
    }
}

hip_api_unchecked! { TABLE;
    /// The last error, which is none afterwards.
    fn hipGetLastError() -> hipError_t {
        thread::take_last_error()
    }

    /// The last error, which stays.
    fn hipPeekAtLastError() -> hipError_t {
        thread::last_error()
    }

    /// What the last call came to.
    fn hipExtGetLastError() -> hipError_t {
        thread::take_last_command()
    }

    /// The constant of an error.
    fn hipGetErrorName(error: hipError_t) -> *const c_char {
        name_of(error).as_ptr()
    }

    /// What an error means.
    fn hipGetErrorString(error: hipError_t) -> *const c_char {
        description_of(error).as_ptr()
    }
}

fn named(error: hipError_t) -> Answer {
    error.name().map(drop).ok_or(hipErrorInvalidValue)
}

fn name_of(error: hipError_t) -> &'static CStr {
    static NAMES: OnceLock<HashMap<u32, CString>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let values = hipError_t::NAMES.iter().map(|(value, _)| *value);
        let texts = values.filter_map(|value| {
            let name = hipError_t(value).name()?;
            Some((value, CString::new(name).ok()?))
        });
        texts.collect()
    });
    names.get(&error.0).map_or(c"hipErrorUnknown", CString::as_c_str)
}

fn description_of(error: hipError_t) -> &'static CStr {
    match error {
        // HIP 5 has no descriptions.
        five if crate::abi::major() <= 5 => name_of(five),
        hipSuccess => c"no error",
        hipErrorInvalidValue => c"invalid argument",
        hipErrorOutOfMemory => c"out of memory",
        hipErrorNotInitialized => c"initialization error",
        hipErrorDeinitialized => c"driver shutting down",
        hipErrorInvalidConfiguration => c"invalid configuration argument",
        hipErrorInvalidPitchValue => c"invalid pitch argument",
        hipErrorInvalidSymbol => c"invalid device symbol",
        hipErrorInvalidDevicePointer => c"invalid device pointer",
        hipErrorInvalidMemcpyDirection => c"invalid copy direction for memcpy",
        hipErrorInsufficientDriver => c"driver version is insufficient for runtime version",
        hipErrorMissingConfiguration => c"__global__ function call is not configured",
        hipErrorPriorLaunchFailure => c"unspecified launch failure in prior launch",
        hipErrorInvalidDeviceFunction => c"invalid device function",
        hipErrorNoDevice => c"no ROCm-capable device is detected",
        hipErrorInvalidDevice => c"invalid device ordinal",
        hipErrorInvalidImage => c"device kernel image is invalid",
        hipErrorInvalidContext => c"invalid device context",
        hipErrorNoBinaryForGpu => c"no kernel image is available for execution on the device",
        hipErrorInvalidKernelFile => c"invalid kernel file",
        hipErrorFileNotFound => c"file not found",
        hipErrorInvalidHandle => c"invalid resource handle",
        hipErrorIllegalState => c"the operation cannot be performed in the present state",
        hipErrorNotFound => c"named symbol not found",
        hipErrorNotReady => c"device not ready",
        hipErrorIllegalAddress => c"an illegal memory access was encountered",
        hipErrorLaunchOutOfResources => c"too many resources requested for launch",
        hipErrorPeerAccessAlreadyEnabled => c"peer access is already enabled",
        hipErrorPeerAccessNotEnabled => c"peer access has not been enabled",
        hipErrorContextIsDestroyed => c"context is destroyed",
        hipErrorAssert => c"device-side assert triggered",
        hipErrorHostMemoryAlreadyRegistered => {
            c"part or all of the requested memory range is already mapped"
        }
        hipErrorHostMemoryNotRegistered => {
            c"pointer does not correspond to a registered memory region"
        }
        hipErrorLaunchFailure => c"unspecified launch failure",
        hipErrorCooperativeLaunchTooLarge => c"too many blocks in cooperative launch",
        hipErrorNotSupported => c"operation not supported",
        hipErrorStreamCaptureUnsupported => c"operation not permitted when stream is capturing",
        hipErrorStreamCaptureInvalidated => {
            c"operation failed due to a previous error during capture"
        }
        hipErrorStreamCaptureMerge => {
            c"operation would result in a merge of separate capture sequences"
        }
        hipErrorStreamCaptureUnmatched => c"capture was not ended in the same stream as it began",
        hipErrorStreamCaptureUnjoined => c"capturing stream has unjoined work",
        hipErrorStreamCaptureIsolation => {
            c"dependency created on uncaptured work in another stream"
        }
        hipErrorStreamCaptureImplicit => {
            c"operation would make the legacy stream depend on a capturing blocking stream"
        }
        hipErrorCapturedEvent => {
            c"operation not permitted on an event last recorded in a capturing stream"
        }
        hipErrorStreamCaptureWrongThread => {
            c"attempt to terminate a thread-local capture sequence from another thread"
        }
        hipErrorGraphExecUpdateFailure => c"the graph update was not performed",
        // Errors that this library never answers have their names as description.
        other => name_of(other),
    }
}

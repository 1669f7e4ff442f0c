//! Statuses: the last error of the calling thread, and what statuses are called.

use core::ffi::c_char;

use hrr_macros::api;

use crate::types::hipError_t;

#[api(group = "error")]
unsafe extern "C" {
    /// Answers the calling thread's last error and clears it. (HIP 7.1)
    #[effect(takes_last_error)]
    pub fn hipGetLastError() -> hipError_t;

    /// Answers the calling thread's last error and keeps it. (HIP 7.1)
    #[effect(peeks_last_error)]
    pub fn hipPeekAtLastError() -> hipError_t;

    /// Answers the status of the calling thread's last call and clears it. (HIP 7.1)
    #[effect(takes_last_error)]
    pub fn hipExtGetLastError() -> hipError_t;

    /// Answers the constant's name. (HIP 7.1)
    pub fn hipGetErrorName(hip_error: hipError_t) -> *const c_char;

    /// Answers what the status means. (HIP 7.1)
    pub fn hipGetErrorString(hipError: hipError_t) -> *const c_char;

    /// Writes a pointer to the constant's name, which the runtime owns. (HIP 7.1)
    pub fn hipDrvGetErrorName(
        hipError: hipError_t,
        #[out_buffer(bytes = 8, machine)] errorString: *mut *const c_char,
    ) -> hipError_t;

    /// Writes a pointer to what the status means, which the runtime owns. (HIP 7.1)
    pub fn hipDrvGetErrorString(
        hipError: hipError_t,
        #[out_buffer(bytes = 8, machine)] errorString: *mut *const c_char,
    ) -> hipError_t;
}

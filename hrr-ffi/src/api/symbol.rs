//! Variables of the device, which a program names by the address of a shadow of its own.

use core::ffi::c_void;

use hrr_macros::api;

use crate::types::{hipError_t, hipMemcpyKind, hipStream_t};

#[api(group = "symbol")]
unsafe extern "C" {
    /// Writes the address of a variable. (HIP 7.1)
    #[capture(with = crate::families::memory::capture_symbol_address)]
    #[replay(with = crate::families::memory::replay_symbol_address)]
    pub fn hipGetSymbolAddress(
        #[out_device_ptr] devPtr: *mut *mut c_void,
        #[host_symbol] symbol: *const c_void,
    ) -> hipError_t;

    /// Writes the bytes of a variable. (HIP 7.1)
    pub fn hipGetSymbolSize(
        #[out] size: *mut usize,
        #[host_symbol] symbol: *const c_void,
    ) -> hipError_t;

    /// Copies bytes into a variable. (HIP 7.1)
    #[effect(completes_null_stream)]
    pub fn hipMemcpyToSymbol(
        #[host_symbol] symbol: *const c_void,
        #[operand(kind = kind, bytes = sizeBytes)] src: *const c_void,
        sizeBytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;

    /// Copies bytes into a variable, on the calling thread's default stream. (HIP 7.1)
    pub fn hipMemcpyToSymbol_spt(
        #[host_symbol] symbol: *const c_void,
        #[operand(kind = kind, bytes = sizeBytes)] src: *const c_void,
        sizeBytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;

    /// Copies bytes into a variable, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemcpyToSymbolAsync(
        #[host_symbol] symbol: *const c_void,
        #[operand(kind = kind, bytes = sizeBytes)] src: *const c_void,
        sizeBytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Copies bytes into a variable, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemcpyToSymbolAsync_spt(
        #[host_symbol] symbol: *const c_void,
        #[operand(kind = kind, bytes = sizeBytes)] src: *const c_void,
        sizeBytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Copies bytes out of a variable. (HIP 7.1)
    #[effect(completes_null_stream)]
    pub fn hipMemcpyFromSymbol(
        #[operand(kind = kind, bytes = sizeBytes)] dst: *mut c_void,
        #[host_symbol] symbol: *const c_void,
        sizeBytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;

    /// Copies bytes out of a variable, on the calling thread's default stream. (HIP 7.1)
    pub fn hipMemcpyFromSymbol_spt(
        #[operand(kind = kind, bytes = sizeBytes)] dst: *mut c_void,
        #[host_symbol] symbol: *const c_void,
        sizeBytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) -> hipError_t;

    /// Copies bytes out of a variable, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemcpyFromSymbolAsync(
        #[operand(kind = kind, bytes = sizeBytes)] dst: *mut c_void,
        #[host_symbol] symbol: *const c_void,
        sizeBytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;

    /// Copies bytes out of a variable, on a stream. (HIP 7.1)
    #[effect(enqueues = stream)]
    pub fn hipMemcpyFromSymbolAsync_spt(
        #[operand(kind = kind, bytes = sizeBytes)] dst: *mut c_void,
        #[host_symbol] symbol: *const c_void,
        sizeBytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) -> hipError_t;
}

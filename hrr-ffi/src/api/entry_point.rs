//! Entry points by name. The program gets the recorded function.

use core::ffi::{c_char, c_int, c_ulonglong, c_void};

use hrr_macros::api;

use crate::types::{hipDriverEntryPointQueryResult, hipDriverProcAddressQueryResult, hipError_t};

#[api(group = "entry_point")]
unsafe extern "C" {
    /// Writes the address of a function, and how the look-up went. (HIP 7.1)
    pub fn hipGetProcAddress(
        #[string] symbol: *const c_char,
        #[out_entry_point(name = symbol)] pfn: *mut *mut c_void,
        hipVersion: c_int,
        flags: u64,
        #[out] symbolStatus: *mut hipDriverProcAddressQueryResult,
    ) -> hipError_t;

    /// Writes the address of a function, and how the look-up went. (HIP 7.1)
    pub fn hipGetProcAddress_spt(
        #[string] symbol: *const c_char,
        #[out_entry_point(name = symbol)] pfn: *mut *mut c_void,
        hipVersion: c_int,
        flags: u64,
        #[out] symbolStatus: *mut hipDriverProcAddressQueryResult,
    ) -> hipError_t;

    /// Writes the address of a function, and how the look-up went. (HIP 7.1)
    pub fn hipGetDriverEntryPoint(
        #[string] symbol: *const c_char,
        #[out_entry_point(name = symbol)] funcPtr: *mut *mut c_void,
        flags: c_ulonglong,
        #[out] driverStatus: *mut hipDriverEntryPointQueryResult,
    ) -> hipError_t;

    /// Writes the address of a function, and how the look-up went. (HIP 7.1)
    pub fn hipGetDriverEntryPoint_spt(
        #[string] symbol: *const c_char,
        #[out_entry_point(name = symbol)] funcPtr: *mut *mut c_void,
        flags: c_ulonglong,
        #[out] status: *mut hipDriverEntryPointQueryResult,
    ) -> hipError_t;
}

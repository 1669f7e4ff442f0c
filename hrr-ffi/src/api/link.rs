//! Linking of device code.

use core::ffi::{c_char, c_uint, c_void};

use hrr_macros::api;

use crate::types::{hipError_t, hipJitInputType, hipJitOption, hipLinkState_t};

#[api(group = "link")]
unsafe extern "C" {
    /// Writes a new link in progress. (HIP 7.1)
    pub fn hipLinkCreate(
        numOptions: c_uint,
        #[deref(count = numOptions)] options: *mut hipJitOption,
        #[jit_options(keys = options, count = numOptions)] optionValues: *mut *mut c_void,
        #[out_handle] stateOut: *mut hipLinkState_t,
    ) -> hipError_t;

    /// Adds an input in memory. (HIP 7.1)
    pub fn hipLinkAddData(
        state: hipLinkState_t,
        r#type: hipJitInputType,
        #[host_in(bytes = size)] data: *mut c_void,
        size: usize,
        #[string] name: *const c_char,
        numOptions: c_uint,
        #[deref(count = numOptions)] options: *mut hipJitOption,
        #[jit_options(keys = options, count = numOptions)] optionValues: *mut *mut c_void,
    ) -> hipError_t;

    /// Adds an input file. Its content is recorded; replay adds that, and opens no file. (HIP 7.1)
    #[replay(with = crate::families::module::link_file)]
    pub fn hipLinkAddFile(
        state: hipLinkState_t,
        r#type: hipJitInputType,
        #[code_image(file)] path: *const c_char,
        numOptions: c_uint,
        #[deref(count = numOptions)] options: *mut hipJitOption,
        #[jit_options(keys = options, count = numOptions)] optionValues: *mut *mut c_void,
    ) -> hipError_t;

    /// Writes the address of the image, which the runtime owns, and its bytes. The image is
    /// recorded where it is loaded. (HIP 7.1)
    pub fn hipLinkComplete(
        state: hipLinkState_t,
        #[out_buffer(bytes = 8, machine)] hipBinOut: *mut *mut c_void,
        #[out(machine)] sizeOut: *mut usize,
    ) -> hipError_t;

    /// Ends a link. (HIP 7.1)
    pub fn hipLinkDestroy(#[destroys] state: hipLinkState_t) -> hipError_t;
}

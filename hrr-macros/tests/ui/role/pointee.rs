#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrFoo(
        #[deref] a: *const *const hipParams,
        #[out] b: *mut *mut c_void,
        #[inout] c: *mut *mut u32,
        #[string] d: *const u8,
        #[out_handle] e: *mut c_int,
        #[out_handle] f: *mut *mut hipStream_t,
        #[out_device_ptr] g: *mut u64,
        #[deref(count = 2, each = device_ptr)] h: *const u64,
    ) -> hipError_t;
}

fn main() {}

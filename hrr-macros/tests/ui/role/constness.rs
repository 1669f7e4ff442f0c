#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrFoo(
        #[out] a: *const u32,
        #[inout] b: *const u32,
        #[out_handle] c: *const hipStream_t,
        #[out_str(bytes = 8)] d: *const c_char,
        #[out_device_ptr] e: *const *mut c_void,
        #[out_alloc(bytes = 8, space = device)] f: *const *mut c_void,
        #[out_buffer(bytes = 8)] g: *const [c_char; 8],
        #[string] h: *const c_char,
        #[out_entry_point(name = h)] i: *const *mut c_void,
        attr: hipAttribute,
        #[tagged(by = attr, table = TABLE, out)] j: *const c_void,
    ) -> hipError_t;
}

fn main() {}

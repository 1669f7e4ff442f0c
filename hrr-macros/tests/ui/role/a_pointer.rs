#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrFoo(
        #[destroys] a: *mut hipStream_t,
        #[device] b: *mut c_int,
        #[callback] c: *mut c_void,
    ) -> hipError_t;
}

fn main() {}

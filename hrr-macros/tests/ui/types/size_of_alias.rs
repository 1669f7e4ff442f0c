#[path = "../support.rs"]
mod support;
use support::*;

type Address32 = Params32;

#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct Params32 {
    word: u32,
}

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrFoo(
        #[device_ptr] a: Address32,
        #[out_device_ptr] b: *mut Address32,
        #[device] c: hipParams,
        tag: hipParams,
        #[tagged(by = tag, table = TABLE)] d: *const c_void,
    ) -> hipError_t;
}

fn main() {}

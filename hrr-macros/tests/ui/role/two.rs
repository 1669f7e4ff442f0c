#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrFoo(#[out] #[device_ptr] a: *mut u32) -> hipError_t;
}

fn main() {}

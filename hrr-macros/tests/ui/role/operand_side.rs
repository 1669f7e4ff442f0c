#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrFoo(#[operand(place = device, bytes = 8)] a: DevicePtr) -> hipError_t;
}

type DevicePtr = *mut c_void;

fn main() {}

#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrFoo(#[operand(place = device, bytes = 8)] a: DevicePtr) -> Status;
}

type DevicePtr = *mut c_void;

fn main() {}

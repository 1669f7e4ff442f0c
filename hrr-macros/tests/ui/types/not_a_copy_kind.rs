#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrFoo(#[operand(kind = attr, bytes = 8)] a: *mut c_void, attr: hipAttribute) -> hipError_t;
}

fn main() {}

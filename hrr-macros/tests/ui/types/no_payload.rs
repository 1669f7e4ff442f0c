#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrFoo(#[deref] a: *const hipPlain, b: hipPlain) -> hipError_t;
}

fn main() {}

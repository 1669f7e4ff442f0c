#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    #[out]
    pub fn hrrFoo(#[validated] a: hipStream_t) -> hipError_t;
}

fn main() {}

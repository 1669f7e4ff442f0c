#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    #[machin]
    pub fn hrrFoo(#[out_handel] a: *mut hipStream_t) -> hipError_t;
    #[crate::machine]
    pub fn hrrBar(#[something] a: *mut hipStream_t) -> hipError_t;
}

fn main() {}

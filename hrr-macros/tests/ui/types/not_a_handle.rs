#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    #[effect(enqueues = params)]
    pub fn hrrFoo(#[out_handle] a: *mut hipParams, params: hipParams) -> hipError_t;
}

fn main() {}

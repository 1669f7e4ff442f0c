#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    #[effect(enqueues = stream, enqueues = stream)]
    #[effect(launches)]
    #[effect(launches)]
    pub fn hrrFoo(stream: hipStream_t) -> hipError_t;
}

fn main() {}

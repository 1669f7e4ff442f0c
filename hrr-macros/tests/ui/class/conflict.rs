#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    #[query]
    #[ordering]
    pub fn hrrFoo(stream: hipStream_t) -> hipError_t;
    #[host(reason = "prints")]
    #[unreplayable(reason = "")]
    pub fn hrrBar();
}

fn main() {}

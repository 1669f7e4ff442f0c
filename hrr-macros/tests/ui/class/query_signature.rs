#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    #[query(wait = hrrWait)]
    pub fn hrrQuery(stream: hipStream_t) -> hipError_t;
    pub fn hrrWait(event: hipEvent_t) -> hipError_t;
}

fn main() {}

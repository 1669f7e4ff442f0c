#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrFoo(
        #[deref(count = graph)] a: *const hipGraph_t,
        graph: hipGraph_t,
    ) -> hipError_t;
}

fn main() {}

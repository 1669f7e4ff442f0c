#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrFoo(
        #[deref(count = graph)] a: *const Graph,
        graph: Graph,
    ) -> Status;
}

fn main() {}

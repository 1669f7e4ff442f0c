#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    #[out]
    pub fn hrrFoo(#[validated] a: Stream) -> Status;
}

fn main() {}

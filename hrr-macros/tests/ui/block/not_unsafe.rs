#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
extern "C" {
    pub fn hrrFoo();
}

fn main() {}

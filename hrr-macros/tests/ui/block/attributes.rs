#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
#[link(name = "amdhip64")]
unsafe extern "C" {
    pub fn hrrFoo();
}

fn main() {}

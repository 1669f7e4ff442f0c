#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "system" {
    pub fn hrrFoo();
}

fn main() {}

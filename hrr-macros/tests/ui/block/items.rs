#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub static hrrCounter: u32;
    pub fn hrrFoo();
}

fn main() {}

#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrFoo();
    pub fn hrrFoo(a: u32);
}

fn main() {}

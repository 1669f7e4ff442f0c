#[path = "../support.rs"]
mod support;
use support::*;

#[api]
unsafe extern "C" {
    pub fn hrrFoo();
}

fn main() {}

#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern {
    pub fn hrrFoo();
}

fn main() {}

#[path = "../support.rs"]
mod support;
use support::*;

fn capture(_: u32) {}
fn replay() {}

#[api(group = "g")]
unsafe extern "C" {
    #[capture(with = capture)]
    #[replay(with = replay)]
    pub fn hrrFoo();
}

fn main() {}

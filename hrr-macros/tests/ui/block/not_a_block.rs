#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
pub fn hrrFoo() {}

fn main() {}

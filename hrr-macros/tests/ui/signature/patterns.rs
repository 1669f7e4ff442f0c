#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrUnnamed(_: u32);
    pub fn hrrTuple((a, b): hipParams);
    pub fn hrrMut(mut a: u32);
    pub fn hrrTwice(a: u32, a: u64);
    pub fn hrrFine(_reserved: u32);
}

fn main() {}

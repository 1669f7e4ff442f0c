#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    #[machin]
    pub fn hrrFoo(#[out_handel] a: *mut Stream) -> Status;
    #[crate::machine]
    pub fn hrrBar(#[something] a: *mut Stream) -> Status;
}

fn main() {}

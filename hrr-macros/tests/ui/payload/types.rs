#[path = "../support.rs"]
mod support;
use support::*;

#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct Outer {
    a: Plain,
    #[deref(count = stream)]
    b: *const u32,
    stream: Stream,
}

fn main() {}

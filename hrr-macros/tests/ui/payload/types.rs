#[path = "../support.rs"]
mod support;
use support::*;

#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct Outer {
    a: hipPlain,
    #[deref(count = stream)]
    b: *const u32,
    stream: hipStream_t,
}

fn main() {}

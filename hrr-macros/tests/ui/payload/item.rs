#[path = "../support.rs"]
mod support;
use support::*;

#[derive(Clone, Copy, Payload)]
pub struct NotC {
    a: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct Tuple(u32);

#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct Unit;

#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct Generic<T> {
    a: T,
}

#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub union Union {
    a: u32,
}

#[repr(u32)]
#[derive(Clone, Copy, Payload)]
pub enum Enum {
    A,
}

fn main() {}

#[path = "../support.rs"]
mod support;
use support::*;

#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct Fields {
    a: *const u32,
    #[deref(count = cuont)]
    b: *const u32,
    count: u32,
    #[out]
    c: *const u32,
    #[host_in(bytes = 8, machine)]
    d: *const c_void,
}

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrFoo(#[deref] a: *const Fields) -> hipError_t;
}

fn main() {}

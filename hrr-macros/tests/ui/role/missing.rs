#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrFoo(
        a: *const hipParams,
        b: *mut u32,
        c: extern "C" fn(),
        d: Option<unsafe extern "C" fn(*mut c_void)>,
        e: *mut *mut c_void,
        f: &mut u32,
    ) -> hipError_t;
}

fn main() {}

#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrFoo(
        #[destroys] a: *mut Stream,
        #[device] b: *mut c_int,
        #[callback] c: *mut c_void,
    ) -> Status;
}

fn main() {}

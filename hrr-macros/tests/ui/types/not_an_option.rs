#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrFoo(
        #[deref(count = 2)] keys: *mut hipAttribute,
        #[jit_options(keys = keys, count = 2)] values: *mut *mut c_void,
    ) -> hipError_t;
}

fn main() {}

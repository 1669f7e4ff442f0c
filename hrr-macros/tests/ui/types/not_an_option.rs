#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrFoo(
        #[deref(count = 2)] keys: *mut Attr,
        #[jit_options(keys = keys, count = 2)] values: *mut *mut c_void,
    ) -> Status;
}

fn main() {}

#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrFoo(
        attr: hipAttribute,
        #[tagged(by = attr, table = TABLE, out)] a: hipParams,
        #[os_handle(bytes = 64)] b: c_int,
    ) -> hipError_t;
}

fn main() {}

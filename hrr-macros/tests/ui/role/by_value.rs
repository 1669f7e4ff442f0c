#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrFoo(
        attr: Attr,
        #[tagged(by = attr, table = TABLE, out)] a: Params,
        #[os_handle(bytes = 64)] b: c_int,
    ) -> Status;
}

fn main() {}

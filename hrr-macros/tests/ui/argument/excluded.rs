#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrFoo(
        kind: hipMemcpyKind,
        #[operand(kind = kind, place = host, bytes = 8)] a: *mut c_void,
        #[operand(kind = kind, bytes = 8, rect = self::rect)] b: *mut c_void,
        #[code_image(wrapper, file)] c: *const c_void,
        #[tagged(by = kind, table = TABLE, out, inout)] d: *mut c_void,
    );
}

fn main() {}

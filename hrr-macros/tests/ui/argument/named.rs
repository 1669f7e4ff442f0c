#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrFoo(
        #[string] text: *const c_char,
        #[deref] attr: *const hipAttribute,
        #[operand(kind = attr, bytes = 8)] a: *mut c_void,
        #[kernel_args(of = text)] b: *mut *mut c_void,
        #[defines_host_symbol(image = text, name = attr)] c: *mut c_void,
        #[out_entry_point(name = attr)] d: *mut *mut c_void,
        #[tagged(by = attr, table = TABLE)] e: *const c_void,
        #[jit_options(keys = attr, count = 2)] f: *mut *mut c_void,
    );
}

fn main() {}

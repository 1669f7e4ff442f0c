#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    #[alias("two words")]
    #[host(reason = "")]
    pub fn hrrFunction();
    #[unreplayable(reason = "  ")]
    pub fn hrrOther();
    pub fn hrrParameters(
        #[out_alloc(bytes = 8, space = pined)] a: *mut *mut c_void,
        #[operand(place = hots, bytes = 8)] b: *mut c_void,
        #[operand(place = host, bytes = 8, side = left)] c: *mut c_void,
        #[kernel_args(of = k, form = packed)] d: *mut *mut c_void,
        #[out(machine = true)] e: *mut u32,
        #[out(count)] f: *mut u32,
        #[out(count =)] g: *mut u32,
        #[opaque(reason = reserved)] h: *mut c_void,
        #[operand(place = host, rows(pitch = 1, width = 2))] i: *mut c_void,
        #[operand(place = host, rows = 3)] j: *mut c_void,
        k: hipFunction_t,
    );
}

fn main() {}

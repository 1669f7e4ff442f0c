#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    #[machine]
    #[machine]
    #[validated]
    #[validated]
    #[alias("_Z6hrrFoo")]
    #[alias("_Z6hrrFoo")]
    #[capture(with = a)]
    #[capture(with = b)]
    pub fn hrrFoo(#[out] #[out] a: *mut u32, #[out_str(bytes = 1, bytes = 2)] b: *mut c_char) -> hipError_t;
}

fn main() {}

#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrTwo(#[callback] a: extern "C" fn(), #[callback] b: extern "C" fn()) -> hipError_t;
    pub fn hrrAlone(#[user_data] a: *mut c_void) -> hipError_t;
}

fn main() {}

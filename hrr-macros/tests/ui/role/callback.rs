#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrTwo(#[callback] a: extern "C" fn(), #[callback] b: extern "C" fn()) -> Status;
    pub fn hrrAlone(#[user_data] a: *mut c_void) -> Status;
}

fn main() {}

#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrParameter(#[cfg(unix)] a: u32);
    #[cfg_attr(unix, machine)]
    pub fn hrrFunction();
}

fn main() {}

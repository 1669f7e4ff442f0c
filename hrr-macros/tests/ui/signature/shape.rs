#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    fn hrrPrivate();
    pub safe fn hrrSafe();
    pub unsafe fn hrrUnsafe();
    pub fn hrrVariadic(format: u32, ...);
    pub fn hrrGeneric<T>(value: T);
    pub fn hrrMethod(&self);
}

fn main() {}

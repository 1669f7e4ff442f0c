#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    #[unreplayable(reason = "the handle is foreign")]
    #[replay(with = self::replay)]
    pub fn hrrFoo() -> hipError_t;
}

fn main() {}

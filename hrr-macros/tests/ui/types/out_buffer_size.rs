#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrFoo(
        #[out_buffer(bytes = 4)] luid: *mut [c_char; 8],
        #[out_buffer(bytes = 16)] params: *mut hipParams,
        #[out_buffer(bytes = 4)] bytes: *mut c_char,
    ) -> hipError_t;
}

fn main() {}

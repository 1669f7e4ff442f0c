#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    #[validated(true)]
    #[query(wiat = hrrFoo)]
    pub fn hrrFoo(
        #[out(cuont = 3)] a: *mut u32,
        #[string(bytes = 8)] b: *const c_char,
        #[device_ptr = 3] c: *mut c_void,
        #[frees(now)] d: *mut c_void,
        #[unregisters_host(all)] e: *mut c_void,
        #[host_symbol(x)] f: *const c_void,
        #[user_data(x)] g: *mut c_void,
        #[device(x)] h: c_int,
        #[destroys(x)] i: hipStream_t,
        #[callback(x)] j: extern "C" fn(),
    );
    #[ordering(x)]
    pub fn hrrBar();
}

fn main() {}

#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    #[alias]
    #[host]
    pub fn hrrFunction();
    #[unreplayable]
    #[capture]
    #[effect]
    pub fn hrrOther();
    pub fn hrrParameters(
        #[out_str] a: *mut c_char,
        #[out_alloc(bytes = 8)] b: *mut *mut c_void,
        #[registers_host] c: *mut c_void,
        #[host_in] d: *const c_void,
        #[host_out] e: *mut c_void,
        #[out_buffer] f: *mut [u8; 8],
        #[operand] g: *mut c_void,
        #[kernel_args] h: *mut *mut c_void,
        #[defines_host_symbol] i: *mut c_void,
        #[tagged(by = a)] j: *mut c_void,
        #[jit_options] k: *mut *mut c_void,
        #[out_entry_point] l: *mut *mut c_void,
        #[opaque] m: *mut c_void,
        #[deref(each = device_ptr)] n: *const *mut c_void,
        #[operand(place = host)] o: *mut c_void,
    );
}

fn main() {}

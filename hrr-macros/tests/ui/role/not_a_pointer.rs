#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrFoo(
        kernel: hipFunction_t,
        #[deref] a: u32,
        #[string] b: hipStream_t,
        #[device_ptr] c: u64,
        #[frees] d: u64,
        #[registers_host(bytes = 8)] e: usize,
        #[unregisters_host] f: usize,
        #[host_in(bytes = 8)] g: usize,
        #[host_out(bytes = 8)] h: usize,
        #[operand(place = host, bytes = 8)] i: usize,
        #[kernel_args(of = kernel)] j: hipStream_t,
        #[host_symbol] k: usize,
        #[code_image] l: usize,
        #[opaque(reason = "reserved")] m: c_int,
        #[user_data] n: c_int,
    ) -> hipError_t;
}

fn main() {}

#[path = "../support.rs"]
mod support;
use support::*;

// Five mistakes, five errors; the callers of the functions see none of their own.
#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrOne(a: *mut u32) -> hipError_t;
    pub fn hrrTwo(#[deref(count = m)] a: *const u32, n: usize) -> hipError_t;
    #[host(reason = "")]
    pub fn hrrThree(#[out] a: *const u32) -> hipError_t;
    pub fn hrrFour(#[outt] a: *mut u32) -> hipError_t;
}

fn caller() {
    let mut n = 0;
    unsafe {
        hrrOne(&raw mut n);
        hrrTwo(&raw const n, 1);
        raw::hrrThree(&raw const n);
        hrrFour(&raw mut n);
    }
    assert!(APIS.is_empty() && API_hrrOne.params.is_empty());
}

fn main() {}

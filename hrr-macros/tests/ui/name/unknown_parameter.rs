#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrGraphAdd(
        #[deref(count = numDepndencies)] pDependencies: *const hipGraph_t,
        numDependencies: usize,
        #[host_in(bytes = "widht * 2")] pixels: *const c_void,
        width: usize,
        #[operand(kind = knd, bytes = before(stream))] dst: *mut c_void,
        kind: hipMemcpyKind,
    ) -> hipError_t;
}

fn main() {}

#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    pub fn hrrFoo(
        n: usize,
        #[inout] p: *mut u32,
        #[deref(count = n + 1)] a: *const u32,
        #[deref(count = 3usize)] b: *const u32,
        #[deref(count = min(n))] c: *const u32,
        #[deref(count = max(n, 2))] d: *const u32,
        #[deref(count = -1)] e: *const u32,
        #[deref(count = n *)] f: *const u32,
        #[deref(count = "n n")] g: *const u32,
        #[deref(count = p)] h: *const u32,
        #[deref(count = before(n))] i: *const u32,
        #[deref(count = after(p, n))] j: *const u32,
        #[deref(count = 99999999999999999999999)] k: *const u32,
    );
}

fn main() {}

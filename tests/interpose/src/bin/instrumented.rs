//! A program that links the recorder: two calls, and it says whether its own copy records.

use std::process::ExitCode;

use hrr_runtime::{hipFree, hipMalloc};

fn main() -> ExitCode {
    let mut pointer = std::ptr::null_mut();
    // SAFETY: the out parameter is a local, and what it got is freed once.
    let status = unsafe { (hipMalloc(&raw mut pointer, 64), hipFree(pointer)) };
    eprintln!("instrumented {} {}", status.0.0, status.1.0);
    ExitCode::from(if status.0.0 == 0 && status.1.0 == 0 { 7 } else { 1 })
}

//! A program with a HIP binding of its own, recorded without a change to it: the one line
//! `use hrr_interpose as _;` makes the linker bind its names to the recorder's.
//!
//! `cargo run --release --example interposed` needs Rust alone.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::ffi::{c_int, c_void};
use std::process::ExitCode;
use std::ptr;

use hrr_examples::{Place, answers_as_hrr, held, replay_in_another_process};
use hrr_interpose as _;
use hrr_runtime::{Recording, RuntimeChoice, select_runtime};

// As in a crate that binds the vendor's library.
unsafe extern "C" {
    fn hipMalloc(pointer: *mut *mut c_void, bytes: usize) -> c_int;
    fn hipMemset(pointer: *mut c_void, value: c_int, bytes: usize) -> c_int;
    fn hipMemcpy(to: *mut c_void, from: *const c_void, bytes: usize, kind: c_int) -> c_int;
    fn hipFree(pointer: *mut c_void) -> c_int;
}
const DEVICE_TO_HOST: c_int = 2;

fn main() -> ExitCode {
    if answers_as_hrr() {
        return hrr_cli::run(&[hrr_runtime::ALL]);
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("interposed: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    select_runtime(RuntimeChoice::Emulated)?;
    let place = Place::new("interposed")?;

    let recording = Recording::start(place.archive())?;
    let bytes = fill()?;
    recording.finish()?;

    if bytes.iter().any(|byte| *byte != 7) {
        return Err("the device returned something else".into());
    }
    println!("recorded  {}", held(&place.archive())?);
    println!("replaying in another process:");
    replay_in_another_process(&place.archive())
}

fn fill() -> Result<Vec<u8>, Box<dyn Error>> {
    let mut bytes = vec![0u8; 4096];
    let mut device = ptr::null_mut();
    // SAFETY: the out parameter is a local, and both buffers have the length that is passed.
    let statuses = unsafe {
        [
            hipMalloc(&raw mut device, bytes.len()),
            hipMemset(device, 7, bytes.len()),
            hipMemcpy(bytes.as_mut_ptr().cast(), device, bytes.len(), DEVICE_TO_HOST),
            hipFree(device),
        ]
    };
    match statuses {
        [0, 0, 0, 0] => Ok(bytes),
        failed => Err(format!("the runtime answered {failed:?}").into()),
    }
}

//! A Rust GPU application that records itself: it runs a kernel on the emulated GPU, and another
//! process replays the recording and checks the result.
//!
//! `cargo run --release --example quickstart` needs Rust alone.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::ffi::c_void;
use std::process::ExitCode;
use std::ptr;

use hrr_examples::{Place, SAXPY, answers_as_hrr, held, replay_in_another_process};
use hrr_runtime::{
    Recording, RuntimeChoice, annotate, hipError_t, hipFree, hipFunction_t, hipMalloc, hipMemcpy,
    hipMemcpyDeviceToHost, hipMemcpyHostToDevice, hipModule_t, hipModuleGetFunction,
    hipModuleLaunchKernel, hipModuleLoadData, hipModuleUnload, hipStream_t, select_runtime,
};

const N: usize = 1000;

fn main() -> ExitCode {
    if answers_as_hrr() {
        return hrr_cli::run(&[hrr_runtime::ALL]);
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("quickstart: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    select_runtime(RuntimeChoice::Emulated)?;
    let place = Place::new("quickstart")?;

    let recording = Recording::start(place.archive())?;
    let y = saxpy()?;
    recording.finish()?;

    let right = y.iter().enumerate().all(|(i, y)| *y == 2.0 * i as f32 + 1.0);
    println!(
        "computed  {N} results on the emulated GPU, {}",
        if right { "all right" } else { "WRONG" }
    );
    println!("recorded  {}", held(&place.archive())?);
    println!("replaying in another process:");
    replay_in_another_process(&place.archive())?;
    if right { Ok(()) } else { Err("the kernel computed something else".into()) }
}

/// Runs y = 2 x + y for x = 0, 1, 2, ... and y = 1.
fn saxpy() -> Result<Vec<f32>, Box<dyn Error>> {
    let _range = annotate("saxpy");
    let x: Vec<f32> = (0..N).map(|i| i as f32).collect();
    let mut y = vec![1.0f32; N];
    let bytes = size_of_val(&x[..]);
    let mut module = hipModule_t::default();
    let mut function = hipFunction_t::default();
    let (mut dx, mut dy) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: out parameters are locals; the image is a whole code object; host buffers have
    // `bytes` bytes, and so have the allocations; the last copy waits for the kernel.
    unsafe {
        check(hipModuleLoadData(&raw mut module, SAXPY.as_ptr().cast()))?;
        check(hipModuleGetFunction(&raw mut function, module, c"saxpy".as_ptr()))?;
        check(hipMalloc(&raw mut dx, bytes))?;
        check(hipMalloc(&raw mut dy, bytes))?;
        check(hipMemcpy(dx, x.as_ptr().cast(), bytes, hipMemcpyHostToDevice))?;
        check(hipMemcpy(dy, y.as_ptr().cast(), bytes, hipMemcpyHostToDevice))?;
        launch(function, N as u32, 2.0, dx, dy)?;
        check(hipMemcpy(y.as_mut_ptr().cast(), dy, bytes, hipMemcpyDeviceToHost))?;
        check(hipFree(dx))?;
        check(hipFree(dy))?;
        check(hipModuleUnload(module))?;
    }
    Ok(y)
}

/// # Safety
/// `function` is the kernel of `kernels/saxpy.hip`, and `x` and `y` have `n` floats.
unsafe fn launch(
    function: hipFunction_t,
    mut n: u32,
    mut a: f32,
    mut x: *mut c_void,
    mut y: *mut c_void,
) -> Result<(), Box<dyn Error>> {
    let mut arguments: [*mut c_void; 4] =
        [(&raw mut n).cast(), (&raw mut a).cast(), (&raw mut x).cast(), (&raw mut y).cast()];
    let blocks = n.div_ceil(256);
    // SAFETY: the arguments are those of the kernel, and live for the call, which copies them.
    let status = unsafe {
        hipModuleLaunchKernel(
            function,
            blocks,
            1,
            1,
            256,
            1,
            1,
            0,
            hipStream_t::NULL,
            arguments.as_mut_ptr(),
            ptr::null_mut(),
        )
    };
    check(status)
}

fn check(status: hipError_t) -> Result<(), Box<dyn Error>> {
    if status.0 == 0 { Ok(()) } else { Err(format!("the runtime answered {status:?}").into()) }
}

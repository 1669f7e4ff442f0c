//! A function library whose functions do next to nothing, so that what is measured is the way to
//! them. It stands where a program would have its vendor's runtime.

use core::ffi::c_void;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicPtr, AtomicU64};

/// Calls that arrived. The benchmark holds it against the calls that it made.
static ARRIVED: AtomicU64 = AtomicU64::new(0);
/// What they were given, so that no argument is folded away.
static LAST: AtomicU64 = AtomicU64::new(0);

/// What both functions do. The benchmark has one thread, so counting needs no locked instruction.
#[inline(always)]
fn arrive(dst: *mut c_void, pitch: usize, value: i32, width: usize, height: usize) -> i32 {
    ARRIVED.store(ARRIVED.load(Relaxed) + 1, Relaxed);
    LAST.store(dst as u64 ^ pitch as u64 ^ value as u64 ^ width as u64 ^ height as u64, Relaxed);
    0
}

/// Five parameters, 36 bytes.
///
/// # Safety
/// None: `dst` is not followed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemset2D(
    dst: *mut c_void,
    pitch: usize,
    value: i32,
    width: usize,
    height: usize,
) -> i32 {
    arrive(dst, pitch, value, width, height)
}

/// The same function under a name that nobody records.
///
/// # Safety
/// None: `dst` is not followed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bench_plain(
    dst: *mut c_void,
    pitch: usize,
    value: i32,
    width: usize,
    height: usize,
) -> i32 {
    arrive(dst, pitch, value, width, height)
}

/// Where [`bench_jump`] leads: loaded at each call, as the slot of a recorded function is.
static SLOT: AtomicPtr<c_void> = AtomicPtr::new(bench_plain as *mut c_void);

/// [`bench_plain`] behind one jump: what an exported name is while nothing is recorded.
///
/// # Safety
/// None: `dst` is not followed.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C" fn bench_jump(
    dst: *mut c_void,
    pitch: usize,
    value: i32,
    width: usize,
    height: usize,
) -> i32 {
    core::arch::naked_asm!("jmp qword ptr [rip + {slot}]", slot = sym SLOT)
}

/// Calls that arrived at any of these functions.
#[unsafe(no_mangle)]
pub extern "C" fn bench_arrived() -> u64 {
    ARRIVED.load(Relaxed)
}

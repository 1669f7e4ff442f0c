//! The state of one thread's recording, where the hot path finds it.
//!
//! The state lies in a page that the kernel wipes in a forked child (`MADV_WIPEONFORK`), so every
//! child meets zeros, takes the slow path, and begins a recording of its own, whatever way it was
//! forked. The page's address is in a thread-local word that is reached without a call
//! (initial-exec): `__tls_get_addr` costs a nanosecond, and it is not there yet when early
//! interceptors call us.

use core::arch::{asm, global_asm};

use super::thread::Thread;

/// What the hot path touches. All zero: not begun, in this process.
#[repr(C)]
pub(crate) struct State {
    /// Where the next record goes.
    pub(crate) cur: *mut u8,
    /// From here on a chunk has no room for another record of fixed size; zero stops the hot path.
    pub(crate) end: *mut u8,
    /// The record of the innermost recorded call that has not returned; null if there is none.
    pub(crate) open: *mut u8,
    /// The stack pointer of its wrapper.
    pub(crate) frame: usize,
    /// Where the wrapper believes the record to be, if it was moved to another chunk.
    pub(crate) moved_from: *mut u8,
    /// The index of the open record.
    pub(crate) open_index: u64,
    /// The index of the next record.
    pub(crate) index: u64,
    /// The end of the chunk.
    pub(crate) limit: *mut u8,
    /// `HAS_SLOW_PATH` while every call of the thread needs it.
    pub(crate) flags: u32,
    /// Everything else.
    pub(crate) thread: *mut Thread,
}

global_asm!(
    ".pushsection .tbss.hrr_core_state,\"awT\",@nobits",
    ".p2align 3",
    ".globl hrr_core_state",
    ".hidden hrr_core_state",
    ".type hrr_core_state,@object",
    ".size hrr_core_state, 8",
    "hrr_core_state:",
    ".zero 8",
    ".popsection",
);

/// The thread's state, or null before its first call.
#[inline(always)]
pub(crate) fn current() -> *mut State {
    let state: *mut State;
    // SAFETY: reads the thread-local word declared above, which starts as zero; touches nothing
    // else.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + hrr_core_state@GOTTPOFF]",
            "mov {0}, qword ptr fs:[{0}]",
            out(reg) state,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    state
}

/// Stores the address of the thread's state.
pub(crate) fn set_current(state: *mut State) {
    // SAFETY: writes the thread-local word declared above, which nothing but this module reads.
    unsafe {
        asm!(
            "mov {1}, qword ptr [rip + hrr_core_state@GOTTPOFF]",
            "mov qword ptr fs:[{1}], {0}",
            in(reg) state,
            out(reg) _,
            options(nostack, preserves_flags),
        );
    }
}

/// The stack pointer. Inlined into a wrapper, it tells how deep that wrapper's frame lies.
#[inline(always)]
pub(crate) fn stack_pointer() -> usize {
    let pointer: usize;
    // SAFETY: reads a register.
    unsafe {
        asm!("mov {}, rsp", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    pointer
}

const PAGE_BYTES: usize = 4096;

/// Maps a zeroed page that a forked child sees as zeros; null if the system refuses.
pub(crate) fn map_wiped_page() -> *mut u8 {
    // SAFETY: asks for fresh memory; nothing is replaced.
    let page = unsafe {
        libc::mmap(
            core::ptr::null_mut(),
            PAGE_BYTES,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if page == libc::MAP_FAILED {
        return core::ptr::null_mut();
    }
    // SAFETY: the page was just mapped and is ours.
    if unsafe { libc::madvise(page, PAGE_BYTES, libc::MADV_WIPEONFORK) } != 0 {
        // SAFETY: as above; without the advice it is of no use, since a child would go on with
        // its parent's cursor.
        unsafe { libc::munmap(page, PAGE_BYTES) };
        return core::ptr::null_mut();
    }
    page.cast()
}

/// Unmaps a page of [`map_wiped_page`].
///
/// # Safety
/// `page` came from there and nobody uses it any more.
pub(crate) unsafe fn unmap_page(page: *mut u8) {
    // SAFETY: the caller's obligation.
    unsafe { libc::munmap(page.cast(), PAGE_BYTES) };
}

/// A time in ticks of the processor's own counter.
#[inline(always)]
pub(crate) fn ticks() -> u64 {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { core::arch::x86_64::_rdtsc() }
}

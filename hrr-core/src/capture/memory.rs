//! Reads the program's memory without trusting its pointers.
//!
//! A pointer that the runtime would refuse must not crash the recorder. What lies on the calling
//! thread's own stack is read directly: that is where most programs keep the structs, handles and
//! kernel arguments that they pass. Everything else goes through `process_vm_readv` on the process
//! itself (about 0.3 microseconds), which answers an error where a load would fault; where a
//! sandbox forbids it, through `/proc/self/mem`.

use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;
use std::fs::File;
use std::os::unix::fs::FileExt;

use super::state::stack_pointer;

/// The memory of the process, as the calling thread may read it.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    /// Where the thread's stack ends; 0 if it is not known.
    stack_top: usize,
    pid: libc::pid_t,
}

/// A stack deeper than this is taken for a coroutine's, whose neighbours may not be mapped.
const STACK_BYTES_MAX: usize = 8 << 20;
/// Strings longer than this are taken for memory that has no end.
const STRING_BYTES_MAX: usize = 16 << 20;

static NO_VM_READ: AtomicBool = AtomicBool::new(false);

impl Memory {
    /// For the calling thread.
    pub(crate) fn of_thread() -> Memory {
        Memory { stack_top: stack_top().unwrap_or(0), pid: std::process::id() as libc::pid_t }
    }

    /// For addresses that may be anything, on whatever thread.
    pub(crate) fn foreign() -> Memory {
        Memory { stack_top: 0, pid: std::process::id() as libc::pid_t }
    }

    fn on_stack(&self, address: u64, bytes: usize) -> bool {
        let sp = stack_pointer();
        let Some(end) = (address as usize).checked_add(bytes) else { return false };
        address as usize >= sp && end <= self.stack_top && self.stack_top - sp < STACK_BYTES_MAX
    }

    /// Appends `bytes` bytes from `address`. What could not be read is not appended.
    pub(crate) fn read(&self, address: u64, bytes: usize, out: &mut Vec<u8>) -> bool {
        if bytes == 0 {
            return true;
        }
        let start = out.len();
        if out.try_reserve(bytes).is_err() {
            return false;
        }
        if self.on_stack(address, bytes) {
            // SAFETY: between the stack pointer and the top of this thread's stack all is mapped;
            // `out` has the room and is elsewhere. Other threads may write there meanwhile, as the
            // runtime itself would see.
            unsafe {
                let to = out.as_mut_ptr().add(start);
                core::ptr::copy_nonoverlapping(address as *const u8, to, bytes);
                out.set_len(start + bytes);
            }
            return true;
        }
        // SAFETY: `to` has room for `bytes` bytes behind the vector's length.
        let done = unsafe {
            let to = out.as_mut_ptr().add(start);
            self.read_foreign(address, bytes, to)
        };
        if done {
            // SAFETY: that many bytes were written.
            unsafe { out.set_len(start + bytes) };
        }
        done
    }

    /// # Safety
    /// `to` is writable for `bytes` bytes.
    unsafe fn read_foreign(&self, address: u64, bytes: usize, to: *mut u8) -> bool {
        let mut done = 0;
        while done < bytes && !NO_VM_READ.load(Relaxed) {
            // SAFETY: inside the caller's room.
            let to = unsafe { to.add(done) };
            let local = libc::iovec { iov_base: to.cast(), iov_len: bytes - done };
            let remote = libc::iovec {
                iov_base: (address as usize).wrapping_add(done) as *mut _,
                iov_len: bytes - done,
            };
            // SAFETY: the local side is the caller's room; the remote side is checked by the
            // kernel.
            let count = unsafe { libc::process_vm_readv(self.pid, &local, 1, &remote, 1, 0) };
            if count > 0 {
                done += count as usize;
                continue;
            }
            match std::io::Error::last_os_error().raw_os_error() {
                Some(libc::ENOSYS | libc::EPERM) => NO_VM_READ.store(true, Relaxed),
                Some(libc::EINTR) => {}
                _ => return false,
            }
        }
        if done == bytes {
            return true;
        }
        let Ok(mem) = File::open("/proc/self/mem") else { return false };
        // SAFETY: the caller's room, initialised by the read or not looked at.
        let room = unsafe { core::slice::from_raw_parts_mut(to, bytes) };
        mem.read_exact_at(room, address).is_ok()
    }

    /// The bytes from `address` on: at most so many, and none behind the first page that cannot be
    /// read.
    pub(crate) fn read_beginning(&self, address: u64, bytes_max: usize) -> Vec<u8> {
        let mut out = Vec::new();
        while out.len() < bytes_max {
            let at = address.wrapping_add(out.len() as u64);
            // To the end of the page, so that no read crosses into one that is not mapped.
            let step = (4096 - (at % 4096) as usize).min(bytes_max - out.len());
            if !self.read(at, step, &mut out) {
                break;
            }
        }
        out
    }

    /// Reads a number of 1, 2, 4 or 8 bytes, zero-extended.
    pub(crate) fn read_word(&self, address: u64, bytes: usize) -> Option<u64> {
        let mut word = [0u8; 8];
        if bytes > 8 {
            return None;
        }
        if self.on_stack(address, bytes) {
            // SAFETY: as in `read`; `word` has 8 bytes.
            unsafe {
                core::ptr::copy_nonoverlapping(address as *const u8, word.as_mut_ptr(), bytes);
            }
            return Some(u64::from_le_bytes(word));
        }
        // SAFETY: `word` has 8 bytes.
        unsafe { self.read_foreign(address, bytes, word.as_mut_ptr()) }
            .then(|| u64::from_le_bytes(word))
    }

    /// Appends a string without its NUL; `limit` ends it if no NUL does. False if it could not be
    /// read to its end.
    pub(crate) fn read_string(&self, address: u64, limit: Option<u64>, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        let limit = limit.map_or(STRING_BYTES_MAX, |limit| limit.min(1 << 40) as usize);
        let mut at = address;
        while out.len() - start < limit {
            // To the end of the page, so that no read crosses into one that is not mapped.
            let in_page = 4096 - (at % 4096) as usize;
            // A short first step: most strings are short.
            let step = in_page.min(if at == address { 256 } else { 4096 });
            let step = step.min(limit - (out.len() - start));
            let from = out.len();
            if !self.read(at, step, out) {
                out.truncate(start);
                return false;
            }
            if let Some(nul) = out[from..].iter().position(|byte| *byte == 0) {
                out.truncate(from + nul);
                return true;
            }
            at += step as u64;
        }
        limit < STRING_BYTES_MAX
    }
}

/// Where the calling thread's stack ends.
fn stack_top() -> Option<usize> {
    // SAFETY: the attribute object is initialised by the call that answers 0, and destroyed once.
    unsafe {
        let mut attributes = core::mem::zeroed::<libc::pthread_attr_t>();
        if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) != 0 {
            return None;
        }
        let (mut base, mut bytes) = (core::ptr::null_mut(), 0);
        let found =
            libc::pthread_attr_getstack(&raw const attributes, &raw mut base, &raw mut bytes);
        libc::pthread_attr_destroy(&raw mut attributes);
        (found == 0).then(|| base as usize + bytes)
    }
}

//! Memory that replay hands to the runtime: buffers between canaries.
//!
//! Sizes come from archives, so every allocation is charged to a [`Budget`] first and may be
//! refused; nothing here aborts on a size.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of canary before and after each buffer.
const CANARY_BYTES: usize = 64;
const ALIGN: usize = 4096;
const SMALL_ALIGN: usize = 64;

/// How many bytes all live buffers may hold together.
pub(super) struct Budget {
    max: u64,
    used: AtomicU64,
}

impl Budget {
    pub(super) fn new(max: u64) -> Arc<Budget> {
        Arc::new(Budget { max, used: AtomicU64::new(0) })
    }

    fn charge(&self, bytes: u64) -> Result<(), String> {
        let charged = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            used.checked_add(bytes).filter(|sum| *sum <= self.max)
        });
        charged.map(drop).map_err(|used| {
            format!(
                "it needs {bytes} bytes of host memory, beside {used} in use, beyond the limit of \
                 {} (`host_bytes_max`)",
                self.max
            )
        })
    }

    fn release(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// A buffer between canaries.
pub(super) struct Buffer {
    base: NonNull<u8>,
    layout: Layout,
    start: usize,
    bytes: usize,
    budget: Arc<Budget>,
}

// SAFETY: the buffer owns its memory; the runtime, which may write it at any time, is reached only
// through raw pointers, and no reference to the content outlives one comparison.
unsafe impl Send for Buffer {}

impl Buffer {
    /// A zeroed buffer, aligned to 64.
    pub(super) fn new(bytes: u64, budget: &Arc<Budget>) -> Result<Buffer, String> {
        Self::with_offset(bytes, SMALL_ALIGN, 0, budget)
    }

    /// A zeroed buffer that lies in its page where `address` lies in its own.
    pub(super) fn like(address: u64, bytes: u64, budget: &Arc<Budget>) -> Result<Buffer, String> {
        Self::with_offset(bytes, ALIGN, (address % ALIGN as u64) as usize, budget)
    }

    fn with_offset(
        bytes: u64,
        align: usize,
        offset: usize,
        budget: &Arc<Budget>,
    ) -> Result<Buffer, String> {
        // Room for the front canary keeps the alignment of what follows it.
        let start = CANARY_BYTES.next_multiple_of(align) + offset;
        let layout = usize::try_from(bytes)
            .ok()
            .and_then(|bytes| bytes.checked_add(start + CANARY_BYTES))
            .and_then(|total| Layout::from_size_align(total, align).ok())
            .ok_or_else(|| format!("a buffer of {bytes} bytes does not fit an address space"))?;
        budget.charge(layout.size() as u64)?;
        // SAFETY: the layout's size is not zero: it holds two canaries.
        let Some(base) = NonNull::new(unsafe { alloc_zeroed(layout) }) else {
            budget.release(layout.size() as u64);
            return Err(format!("no memory for a buffer of {bytes} bytes"));
        };
        let buffer = Buffer { base, layout, start, bytes: bytes as usize, budget: budget.clone() };
        for canary in buffer.canaries() {
            for (i, byte) in canary.iter().enumerate() {
                // SAFETY: inside the allocation, which nobody else knows yet.
                unsafe { byte.write(canary_byte(i)) };
            }
        }
        Ok(buffer)
    }

    /// Fills the buffer, so that [`unwritten`] tells what a call leaves as it was.
    pub(super) fn mark_unwritten(&self) {
        // SAFETY: the content lies inside the allocation, which no call knows yet.
        unsafe { self.as_ptr().write_bytes(UNWRITTEN, self.bytes) };
    }

    /// The content's address.
    pub(super) fn as_ptr(&self) -> *mut u8 {
        // SAFETY: `start` lies inside the allocation.
        unsafe { self.base.as_ptr().add(self.start) }
    }

    /// The content's size.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    /// Copies `content` to an offset.
    pub(super) fn write(&self, offset: u64, content: &[u8]) -> Result<(), String> {
        let end = offset.checked_add(content.len() as u64).filter(|end| *end <= self.bytes());
        if end.is_none() {
            return Err(format!(
                "{} bytes at offset {offset} do not fit a buffer of {} bytes",
                content.len(),
                self.bytes
            ));
        }
        // SAFETY: the destination lies inside the buffer (checked above), and `content` is a live
        // slice that cannot overlap memory of our own allocation.
        unsafe {
            std::ptr::copy_nonoverlapping(
                content.as_ptr(),
                self.as_ptr().add(offset as usize),
                content.len(),
            );
        }
        Ok(())
    }

    /// Copies `content` to the start, as far as it fits.
    pub(super) fn fill(&self, content: &[u8]) {
        let bytes = content.len().min(self.bytes);
        // SAFETY: the buffer holds this many bytes, and `content` is no part of it.
        unsafe { std::ptr::copy_nonoverlapping(content.as_ptr(), self.as_ptr(), bytes) };
    }

    /// Says where a canary is damaged.
    pub(super) fn damage(&self) -> Option<String> {
        let names = ["before", "after"];
        for (canary, side) in self.canaries().into_iter().zip(names) {
            let mut hits = canary.iter().enumerate().filter(|(i, byte)| {
                // SAFETY: inside the allocation; a volatile read, since the runtime writes there
                // behind the compiler's back.
                unsafe { byte.read_volatile() != canary_byte(*i) }
            });
            if let Some((first, _)) = hits.next() {
                let away = if side == "after" { first } else { CANARY_BYTES - first };
                return Some(format!(
                    "the callee wrote {side} a buffer of {} bytes, {away} bytes away from it, {} \
                     bytes of its guard in all",
                    self.bytes,
                    1 + hits.count()
                ));
            }
        }
        None
    }

    fn canaries(&self) -> [[*mut u8; CANARY_BYTES]; 2] {
        [self.start - CANARY_BYTES, self.start + self.bytes].map(|start| {
            // SAFETY: both canaries lie inside the allocation, by its layout.
            std::array::from_fn(|i| unsafe { self.base.as_ptr().add(start + i) })
        })
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, once.
        unsafe { dealloc(self.base.as_ptr(), self.layout) };
        self.budget.release(self.layout.size() as u64);
    }
}

/// A content with zeros behind it, for a call that failed: a runtime may look for tables of an image
/// far behind the bytes by which it refuses it.
pub(super) struct ZeroExtended {
    base: NonNull<libc::c_void>,
    budget: Arc<Budget>,
    charged: u64,
}

/// How far the zeros go; only the pages that are read cost memory.
const ZERO_BYTES: usize = 1 << 28;

// SAFETY: the mapping is owned, and reached only through raw pointers.
unsafe impl Send for ZeroExtended {}

impl ZeroExtended {
    /// A mapping that begins with the content.
    pub(super) fn new(content: &[u8], budget: &Arc<Budget>) -> Result<ZeroExtended, String> {
        let charged = content.len() as u64;
        budget.charge(charged)?;
        let (access, kind) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
        );
        // What is charged is in memory already, so the sum does not overflow.
        let bytes = content.len() + ZERO_BYTES;
        // SAFETY: a new mapping of the kernel's choice touches no other.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, kind, -1, 0) };
        let mapped = NonNull::new(base).filter(|_| base != libc::MAP_FAILED);
        let Some(base) = mapped else {
            budget.release(charged);
            return Err("no address space for an image that was refused when recorded".to_owned());
        };
        // SAFETY: the mapping holds the content, which is no part of it.
        unsafe {
            std::ptr::copy_nonoverlapping(content.as_ptr(), base.as_ptr().cast(), content.len());
        }
        Ok(ZeroExtended { base, budget: budget.clone(), charged })
    }

    /// Where the content is.
    pub(super) fn address(&self) -> u64 {
        self.base.as_ptr() as u64
    }
}

impl Drop for ZeroExtended {
    fn drop(&mut self) {
        // SAFETY: mapped with this size, once.
        unsafe { libc::munmap(self.base.as_ptr(), self.charged as usize + ZERO_BYTES) };
        self.budget.release(self.charged);
    }
}

/// What stands in outputs before the call: as a number, size or address it is none that is likely.
const UNWRITTEN: u8 = 0xa5;

/// Whether a call has left all of these bytes, which are an output's, as they were.
pub(super) fn unwritten(live: &[u8]) -> bool {
    !live.is_empty() && live.iter().all(|byte| *byte == UNWRITTEN)
}

/// How many bytes of a scalar a call has written: a runtime may write one, two or four of more.
pub(super) fn written(live: &[u8]) -> usize {
    [0, 1, 2, 4]
        .into_iter()
        .find(|count| {
            live.get(*count..).is_some_and(|rest| rest.len() >= *count && unwritten(rest))
        })
        .unwrap_or(live.len())
}

const fn canary_byte(i: usize) -> u8 {
    0xc5 ^ (i as u8).wrapping_mul(0x1d)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_call_wrote_of_a_scalar_is_told_from_what_it_left() {
        let left = |bytes: &[u8]| {
            let mut scalar = [UNWRITTEN; 8];
            scalar[..bytes.len()].copy_from_slice(bytes);
            scalar
        };
        for (bytes, of, count) in [
            (&[][..], 8, 0),
            (&[1], 8, 1),
            (&[1], 4, 1),
            (&[1, 0], 4, 2),
            (&[1, 2, 3, 4], 8, 4),
            (&[1, 2, 3, 4], 4, 4),
            // One byte of four, or three, are no piece that a runtime writes.
            (&[1, 2, 3], 4, 4),
            (&[1, 2, 3, 4, 5], 8, 8),
            (&[7], 1, 1),
            (&[], 1, 0),
        ] {
            assert_eq!(written(&left(bytes)[..of]), count, "{bytes:?} of {of}");
        }
    }

    #[test]
    fn a_write_past_the_end_is_seen_and_one_inside_is_not() {
        let budget = Budget::new(1 << 20);
        for (bytes, offset) in [(0u64, 0u64), (5, 0), (100, 0x123)] {
            let buffer = Buffer::like(offset, bytes, &budget).unwrap();
            assert_eq!(buffer.as_ptr() as u64 % 4096, offset % 4096);
            buffer.write(0, &vec![7; bytes as usize]).unwrap();
            assert_eq!(buffer.damage(), None);
            assert!(buffer.write(bytes, &[1]).is_err());
            // SAFETY: the canary after the buffer is part of its allocation.
            unsafe { buffer.as_ptr().add(bytes as usize + 3).write(0) };
            assert!(buffer.damage().unwrap().contains("3 bytes away"));
        }
    }

    #[test]
    fn zeros_follow_a_content_of_any_length() {
        let budget = Budget::new(1 << 20);
        for content in [&b""[..], b"x", &[7; 5000]] {
            let extended = ZeroExtended::new(content, &budget).unwrap();
            let at = |offset: usize| {
                // SAFETY: the offset lies in the mapping, to which nobody else writes.
                unsafe { *(extended.address() as *const u8).add(offset) }
            };
            assert!(content.iter().enumerate().all(|(i, byte)| at(i) == *byte));
            assert_eq!([content.len(), 10_000, ZERO_BYTES - 1].map(at), [0; 3]);
        }
        assert_eq!(budget.used.load(Ordering::Relaxed), 0);
        assert!(ZeroExtended::new(&[0; (1 << 20) + 1], &budget).is_err());
    }

    #[test]
    fn absurd_sizes_are_refused_and_charges_are_returned() {
        let budget = Budget::new(1 << 20);
        for bytes in [u64::MAX, u64::MAX - 100, 1 << 62, 1 << 21] {
            assert!(Buffer::new(bytes, &budget).is_err());
        }
        drop(Buffer::new(1 << 19, &budget).unwrap());
        assert!(Buffer::new(1 << 19, &budget).is_ok());
        assert_eq!(budget.used.load(Ordering::Relaxed), 0);
    }
}

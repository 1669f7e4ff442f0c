//! The ring of one thread: chunks of a shared file mapping, walked by the thread and emptied by the
//! helper.
//!
//! The kernel keeps what was stored there whatever becomes of the process. All room is allocated
//! in the file before it is mapped, so a full disk is an error here and no signal later.

use std::collections::VecDeque;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicU64};

use crate::archive::format::{FILE_HEADER_BYTES, FileHeader, FileKind};
use crate::archive::kept::KeptFile;
use crate::archive::raw::{
    CHUNK_HEADER_BYTES, CHUNK_MAGIC, RING_HEADER_BYTES, RawChunk, RingHeader, STATE_BEGUN,
    STATE_DONE, STATE_HAS_TAIL, STATE_LEFT,
};
use crate::archive::writer::file_size_limit;

/// Size of a chunk.
pub const CHUNK_BYTES: usize = 512 << 10;
/// Chunks that a thread begins with.
pub const CHUNKS: usize = 4;
/// Chunks that a thread may grow to while a call that is open keeps the oldest from being drained.
const CHUNKS_MAX: usize = 64;
/// A record of fixed size, the longest argument block and all outputs included, is shorter.
pub(crate) const SLACK_BYTES: usize = 16 << 10;

/// A chunk in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chunk(pub(crate) *mut u8);

// SAFETY: a chunk is memory of a shared mapping; who may write it is the ring's rule.
unsafe impl Send for Chunk {}

impl Chunk {
    fn word(self, at: usize) -> &'static AtomicU64 {
        debug_assert!(at + 8 <= CHUNK_BYTES && at.is_multiple_of(8));
        // SAFETY: inside the chunk, aligned, mapped for as long as the process lives or until the
        // ring is dropped, which nobody does while it is in use.
        unsafe { AtomicU64::from_ptr(self.0.add(at).cast()) }
    }

    /// Where records begin.
    pub(crate) fn records(self) -> *mut u8 {
        // SAFETY: inside the chunk.
        unsafe { self.0.add(CHUNK_HEADER_BYTES) }
    }

    /// From where on no record of fixed size fits.
    pub(crate) fn end(self) -> *mut u8 {
        // SAFETY: inside the chunk.
        unsafe { self.0.add(CHUNK_BYTES - SLACK_BYTES) }
    }

    /// The end of the chunk; one word stays zero.
    pub(crate) fn limit(self) -> *mut u8 {
        // SAFETY: inside the chunk.
        unsafe { self.0.add(CHUNK_BYTES - 8) }
    }

    /// Walks the published headers: (bytes used, whether all calls have ended, whether there are
    /// tails).
    fn survey(self) -> (usize, bool, bool) {
        let (mut at, mut all_ended, mut has_tails) = (CHUNK_HEADER_BYTES, true, false);
        while at + 8 <= CHUNK_BYTES {
            let header = self.word(at).load(Acquire);
            if header == 0 {
                break;
            }
            let state = (header >> 56) as u8;
            all_ended &= state & (STATE_DONE | STATE_LEFT) != STATE_BEGUN;
            has_tails |= state & STATE_DONE == STATE_DONE && state & STATE_HAS_TAIL != 0;
            at += header as u32 as usize;
        }
        (at.min(CHUNK_BYTES), all_ended, has_tails)
    }

    /// Copies the published records out.
    fn copy(self) -> RawChunk {
        let (used, ..) = self.survey();
        let mut bytes = vec![0; used - CHUNK_HEADER_BYTES];
        // SAFETY: inside the chunk; what is published is not written again but for the ends of open
        // calls, whose bytes the decoder does not use before their state says so; a word read while
        // it is written is one of its two values on this processor.
        unsafe {
            core::ptr::copy_nonoverlapping(self.records(), bytes.as_mut_ptr(), bytes.len());
        }
        RawChunk { sequence: self.word(8).load(Relaxed), first: self.word(16).load(Relaxed), bytes }
    }

    fn recycle(self) {
        self.word(8).store(0, Release);
        let (used, ..) = self.survey();
        // The last record may be followed by arguments of one that was moved elsewhere.
        let dirty = (used + SLACK_BYTES).min(CHUNK_BYTES);
        // SAFETY: the helper owns a full chunk that is not free yet.
        unsafe { core::ptr::write_bytes(self.0, 0, dirty) };
    }
}

struct Inner {
    full: VecDeque<Chunk>,
    free: Vec<Chunk>,
    current: Option<Chunk>,
    chunks: usize,
    sequence: u64,
}

/// The ring of one thread.
pub(crate) struct Ring {
    file: KeptFile,
    /// The thread's ordinal in the archive.
    pub(crate) thread: u32,
    inner: Mutex<Inner>,
    freed: Condvar,
    /// The thread has ended.
    pub(crate) ended: AtomicBool,
}

impl Ring {
    pub(crate) fn create(folder: &Path, recording: u64, thread: u32, tid: u32) -> io::Result<Ring> {
        let path = folder.join(format!("ring.{thread}"));
        let ring = Ring {
            file: KeptFile::create(&path)?,
            thread,
            inner: Mutex::new(Inner {
                full: VecDeque::new(),
                free: Vec::new(),
                current: None,
                chunks: 0,
                sequence: 0,
            }),
            freed: Condvar::new(),
            ended: AtomicBool::new(false),
        };
        ring.allocate(0, RING_HEADER_BYTES)?;
        let header = RingHeader { chunk_bytes: CHUNK_BYTES as u32, thread, tid };
        let head = FileHeader { kind: FileKind::Ring as u32, recording };
        ring.file.with(|file| {
            file.write_all_at(&header.encode(), FILE_HEADER_BYTES as u64)?;
            file.write_all_at(&head.encode(), 0)
        })?;
        ring.grow(&mut ring.lock(), CHUNKS)?;
        Ok(ring)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn allocate(&self, from: usize, bytes: usize) -> io::Result<()> {
        if (from + bytes) as u64 > file_size_limit() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.file.with(|file| {
            let (from, bytes) = (from as libc::off_t, bytes as libc::off_t);
            // SAFETY: a system call on a file of ours.
            match unsafe { libc::posix_fallocate(file.as_raw_fd(), from, bytes) } {
                0 => Ok(()),
                error => Err(io::Error::from_raw_os_error(error)),
            }
        })
    }

    fn grow(&self, inner: &mut Inner, count: usize) -> io::Result<()> {
        let from = RING_HEADER_BYTES + inner.chunks * CHUNK_BYTES;
        let bytes = count * CHUNK_BYTES;
        self.allocate(from, bytes)?;
        let mapped = self.file.with(|file| {
            // SAFETY: fresh memory; the file has the room, so no access to it can fault but for a
            // failing disk.
            let mapped = unsafe {
                libc::mmap(
                    core::ptr::null_mut(),
                    bytes,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_SHARED | libc::MAP_POPULATE,
                    file.as_raw_fd(),
                    from as libc::off_t,
                )
            };
            match mapped {
                libc::MAP_FAILED => Err(io::Error::last_os_error()),
                _ => Ok(mapped),
            }
        })?;
        // A read-only population maps pages without the right to write; touching each one now
        // saves the hot path the fault.
        for page in (0..bytes).step_by(4096) {
            // SAFETY: inside the fresh mapping, whose bytes are zero.
            unsafe { mapped.cast::<u8>().add(page).write_volatile(0) };
        }
        for at in (0..count).rev() {
            // SAFETY: inside the fresh mapping.
            inner.free.push(Chunk(unsafe { mapped.cast::<u8>().add(at * CHUNK_BYTES) }));
        }
        inner.chunks += count;
        Ok(())
    }

    /// Hands the current chunk over and answers the next one, which begins with the record
    /// `index`. `held`: a call of this thread is open, so the helper may never get to free one. `wake` is called
    /// if a chunk was handed over.
    pub(crate) fn next_chunk(
        &self,
        index: u64,
        held: bool,
        stopped: &AtomicBool,
        wake: &dyn Fn(),
    ) -> io::Result<Chunk> {
        let mut inner = self.lock();
        if let Some(chunk) = inner.current.take() {
            inner.full.push_back(chunk);
            wake();
        }
        while inner.free.is_empty() {
            if held && inner.chunks < CHUNKS_MAX {
                self.grow(&mut inner, 1)?;
                break;
            }
            if held || stopped.load(Relaxed) {
                return Err(io::Error::other("no room in the thread's ring"));
            }
            let wait = std::time::Duration::from_millis(1);
            let waited = self.freed.wait_timeout(inner, wait);
            inner = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let chunk = inner.free.pop().ok_or_else(|| io::Error::other("no chunk"))?;
        inner.sequence += 1;
        chunk.word(16).store(index, Relaxed);
        chunk.word(0).store(CHUNK_MAGIC, Relaxed);
        chunk.word(8).store(inner.sequence, Release);
        inner.current = Some(chunk);
        Ok(chunk)
    }

    /// Whether chunks wait to be drained.
    pub(crate) fn has_full(&self) -> bool {
        !self.lock().full.is_empty()
    }

    /// Copies out the oldest full chunk, if all its calls have ended, and what follows it where
    /// its tails may be. With `finish`, whatever is there, the current chunk included, open calls
    /// or not; the chunk is then taken off at once.
    pub(crate) fn oldest(&self, finish: bool) -> Option<Vec<RawChunk>> {
        let mut inner = self.lock();
        if finish && inner.full.is_empty() {
            let chunk = inner.current.take()?;
            inner.full.push_back(chunk);
        }
        let chunk = *inner.full.front()?;
        let (_, all_ended, has_tails) = chunk.survey();
        if !all_ended && !finish {
            return None;
        }
        let mut copies = vec![chunk.copy()];
        if has_tails {
            copies.extend(inner.full.iter().skip(1).chain(&inner.current).map(|next| next.copy()));
        }
        Some(copies)
    }

    /// Frees the chunk that [`Ring::oldest`] copied, after its records reached the archive.
    pub(crate) fn release_oldest(&self, keep: bool) {
        let mut inner = self.lock();
        if let Some(chunk) = inner.full.pop_front() {
            if keep {
                return;
            }
            chunk.recycle();
            inner.free.push(chunk);
            self.freed.notify_all();
        }
    }

    /// Removes the file. The memory stays for who still writes to it.
    pub(crate) fn remove_file(&self) -> io::Result<()> {
        std::fs::remove_file(self.file.path())
    }

    /// Gives the memory back.
    ///
    /// # Safety
    /// The thread has ended and everything was drained: nobody uses a chunk any more.
    pub(crate) unsafe fn unmap(&self) {
        let mut inner = self.lock();
        for chunk in inner.free.drain(..) {
            // SAFETY: the caller's obligation; a chunk is a whole number of pages of a mapping.
            unsafe { libc::munmap(chunk.0.cast(), CHUNK_BYTES) };
        }
        inner.chunks = 0;
    }
}

//! Events that several processes know.
//!
//! A page of memory behind a file counts the records of the event, by whatever process, and tells
//! which of them are complete. Another process opens the file through `/proc`, as `sharing` does
//! for memory.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// What the file is called, which tells it from any other.
pub(crate) const NAME: &str = "hip-emu shared event";
const PAGE_BYTES: usize = 4096;
/// Records that may be pending at once; a further one waits for the oldest, as in AMD's runtime.
const PENDING_MAX: u64 = 32;
/// How long a wait sleeps between two looks: the one who completes it may be another process.
const POLL_INTERVAL: Duration = Duration::from_micros(50);

/// The page. Tickets count the records from one.
#[repr(C)]
struct Page {
    /// The last record's ticket; zero without any.
    latest: AtomicU64,
    /// The last ticket that is complete of those with the same remainder.
    complete: [AtomicU64; PENDING_MAX as usize],
}

/// An event's page in this process.
pub(crate) struct SharedEvent {
    page: NonNull<Page>,
    /// The process and its file, by which others find the page.
    pub(crate) process: u64,
    pub(crate) file: u64,
    /// Keeps the file of the process that made the event open.
    _own: Option<File>,
}

// SAFETY: the page is mapped as long as the value lives, and made of atomics.
unsafe impl Send for SharedEvent {}
// SAFETY: as above.
unsafe impl Sync for SharedEvent {}

impl SharedEvent {
    /// Makes the page of a new event.
    pub(crate) fn new() -> io::Result<Self> {
        let file = File::from(memfd_create(NAME, MemfdFlags::CLOEXEC)?);
        ftruncate(&file, PAGE_BYTES as u64)?;
        let page = map(&file)?;
        let (process, number) = (u64::from(std::process::id()), file.as_raw_fd() as u64);
        Ok(Self { page, process, file: number, _own: Some(file) })
    }

    /// Maps the page of an event of another process, where it is that process's file.
    pub(crate) fn open(file: &File, process: u64, number: u64) -> io::Result<Self> {
        if file.metadata()?.len() != PAGE_BYTES as u64 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(Self { page: map(file)?, process, file: number, _own: None })
    }

    fn page(&self) -> &Page {
        // SAFETY: the mapping has a whole page, aligned, that lives as long as `self`; every bit
        // pattern is a value of its atomics.
        unsafe { self.page.as_ref() }
    }

    /// The ticket of the last record, if there is one.
    pub(crate) fn latest(&self) -> Option<u64> {
        Some(self.page().latest.load(Ordering::Acquire)).filter(|&ticket| ticket != 0)
    }

    /// Takes the ticket of a new record.
    pub(crate) fn begin(&self) -> u64 {
        let ticket = self.page().latest.fetch_add(1, Ordering::AcqRel) + 1;
        if let Some(oldest) = ticket.checked_sub(PENDING_MAX).filter(|&oldest| oldest != 0) {
            self.wait(oldest);
        }
        ticket
    }

    fn slot(&self, ticket: u64) -> &AtomicU64 {
        &self.page().complete[(ticket % PENDING_MAX) as usize]
    }

    pub(crate) fn complete(&self, ticket: u64) {
        self.slot(ticket).fetch_max(ticket, Ordering::AcqRel);
    }

    pub(crate) fn is_complete(&self, ticket: u64) -> bool {
        self.slot(ticket).load(Ordering::Acquire) >= ticket
    }

    /// Waits for a record, for ever if its process has ended before its work.
    pub(crate) fn wait(&self, ticket: u64) {
        while !self.is_complete(ticket) {
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

impl Drop for SharedEvent {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `map` with this size, and nobody else has it.
        let unmapped = unsafe { munmap(self.page.as_ptr().cast(), PAGE_BYTES) };
        debug_assert!(unmapped.is_ok(), "munmap of an owned mapping");
    }
}

fn map(file: &File) -> io::Result<NonNull<Page>> {
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping at an address that the kernel chooses.
    let page = unsafe { mmap(ptr::null_mut(), PAGE_BYTES, access, MapFlags::SHARED, file, 0) }?;
    NonNull::new(page.cast()).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn records_complete_in_any_order_and_both_sides_see_it() {
        let own = SharedEvent::new().unwrap();
        let path = format!("/proc/self/fd/{}", own.file);
        let file = File::options().read(true).write(true).open(path).unwrap();
        let other = SharedEvent::open(&file, own.process, own.file).unwrap();
        assert_eq!((own.latest(), other.latest()), (None, None));
        let (first, second) = (own.begin(), other.begin());
        assert_eq!(own.latest(), Some(second));
        own.complete(second);
        assert_eq!((other.is_complete(first), other.is_complete(second)), (false, true));
        other.complete(first);
        own.wait(first);
    }

    #[test]
    fn a_record_waits_for_the_one_whose_place_it_takes() {
        let event = Arc::new(SharedEvent::new().unwrap());
        let tickets: Vec<u64> = (0..PENDING_MAX).map(|_| event.begin()).collect();
        let recording = Arc::clone(&event);
        let next = std::thread::spawn(move || recording.begin());
        // Whoever waits for the last of those in flight is not let go by one that comes later.
        for ticket in tickets {
            assert!(!event.is_complete(ticket));
            event.complete(ticket);
        }
        let ticket = next.join().unwrap();
        assert_eq!(ticket, PENDING_MAX + 1);
        assert!(!event.is_complete(ticket));
    }
}

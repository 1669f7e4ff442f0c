//! Allocations that several processes see.
//!
//! An allocation becomes shared by moving its bytes into a memory file behind the same
//! addresses; another process puts the file behind addresses of its own.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt as _;
use std::ptr;
use std::sync::Arc;

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};

use super::space::{AddressSpace, PAGE_BYTES};
use super::{Access, MemoryError};

/// The files behind shared allocations, by their start.
#[derive(Debug, Default)]
pub(super) struct Shared {
    files: BTreeMap<u64, Arc<File>>,
}

impl Shared {
    pub(super) fn remove(&mut self, address: u64) -> bool {
        self.files.remove(&address).is_some()
    }
}

impl AddressSpace {
    /// The file that holds the allocation at `address`, which it is moved into if it is not
    /// shared yet. No work may use the allocation meanwhile.
    pub fn share(&self, address: u64) -> Result<Arc<File>, MemoryError> {
        self.check_ours()?;
        let mut book = self.book();
        if let Some(file) = book.shared.files.get(&address) {
            return Ok(Arc::clone(file));
        }
        let range = self.find(address).filter(|range| range.base == address);
        let range = range.ok_or(MemoryError::NotAStart { address, expected: "an allocation" })?;
        let pages = (range.end - range.base).next_multiple_of(PAGE_BYTES);
        let memory = memfd_create("gfx-emu shared memory", MemfdFlags::CLOEXEC)
            .map_err(std::io::Error::from)?;
        ftruncate(&memory, pages).map_err(|_| MemoryError::OutOfMemory { bytes: pages })?;
        let file = File::from(memory);
        let mut bytes = vec![0; (range.end - range.base) as usize];
        let source = self.resolve(address, bytes.len() as u64, Access::Read)?;
        // SAFETY: `resolve` found that many readable bytes, and the caller lets no work use them.
        unsafe { ptr::copy_nonoverlapping(source, bytes.as_mut_ptr(), bytes.len()) };
        file.write_all_at(&bytes, 0)?;
        let window = self
            .window(&book, address)
            .ok_or(MemoryError::NotAStart { address, expected: "device memory" })?;
        window.back(address, pages, file.as_fd(), 0)?;
        let file = Arc::new(file);
        book.shared.files.insert(address, Arc::clone(&file));
        Ok(file)
    }

    /// Allocates addresses for `bytes` that another process shares through a file.
    pub fn attach(&self, file: File, bytes: u64) -> Result<u64, MemoryError> {
        let held = file.metadata()?.len();
        let pages = bytes.checked_next_multiple_of(PAGE_BYTES).filter(|&pages| pages <= held);
        let pages = pages.ok_or(MemoryError::NoSuchPhysical { offset: 0, bytes })?;
        let address = self.alloc(bytes, PAGE_BYTES)?;
        let mut book = self.book();
        let window = self.window(&book, address).ok_or(MemoryError::OutOfMemory { bytes })?;
        let backed = window.back(address, pages, file.as_fd(), 0);
        book.shared.files.insert(address, Arc::new(file));
        drop(book);
        if let Err(error) = backed {
            self.free(address)?;
            return Err(error.into());
        }
        Ok(address)
    }
}

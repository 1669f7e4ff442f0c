//! Address ranges and the memory behind them, managed apart: reserve, create, map, set access.
//!
//! Physical memory is a memory file, so that the same bytes can be seen at several addresses.

use std::collections::{BTreeMap, HashMap};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};

use super::MemoryError;
use super::space::{Access, AddressSpace, Entry, PAGE_BYTES, Range};

/// Names physical memory that is not, or not only, known by an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PhysicalId(u64);

/// What the virtual memory functions keep.
#[derive(Debug, Default)]
pub(super) struct Reservations {
    /// Start to size.
    ranges: BTreeMap<u64, u64>,
    physical: HashMap<PhysicalId, Arc<Physical>>,
    /// Mapped parts of reservations; each keeps its memory alive.
    mappings: BTreeMap<u64, Mapping>,
    next_id: u64,
}

#[derive(Debug)]
struct Physical {
    file: OwnedFd,
    bytes: u64,
}

#[derive(Debug)]
struct Mapping {
    bytes: u64,
    physical: Arc<Physical>,
}

impl AddressSpace {
    /// Reserves addresses without memory, at `hint` if it is free, else where there is room.
    pub fn reserve(&self, bytes: u64, align: u64, hint: Option<u64>) -> Result<u64, MemoryError> {
        self.check_ours()?;
        let align = align.max(PAGE_BYTES);
        if bytes == 0 || !bytes.is_multiple_of(PAGE_BYTES) || !align.is_power_of_two() {
            return Err(MemoryError::InvalidRange { address: hint.unwrap_or(0), bytes });
        }
        let mut book = self.book();
        let hinted = hint.filter(|hint| *hint != 0 && hint.is_multiple_of(align));
        let placed = hinted.filter(|&hint| self.take_at(&mut book, hint, bytes).is_ok());
        let address = match placed {
            Some(address) => address,
            None => self.take_anywhere(&mut book, bytes, align)?.0,
        };
        book.reservations.ranges.insert(address, bytes);
        Ok(address)
    }

    /// Gives reserved addresses back.
    pub fn release_reservation(&self, address: u64, bytes: u64) -> Result<(), MemoryError> {
        self.check_ours()?;
        let mut book = self.book();
        if book.reservations.ranges.get(&address) != Some(&bytes) {
            return Err(MemoryError::NotAStart { address, expected: "a reservation" });
        }
        if book.reservations.mappings.range(address..address + bytes).next().is_some() {
            return Err(MemoryError::StillMapped { address });
        }
        book.reservations.ranges.remove(&address);
        self.give_back(&mut book, address, bytes)
    }

    /// Creates memory that has no address yet.
    pub fn create_physical(&self, bytes: u64) -> Result<PhysicalId, MemoryError> {
        self.check_ours()?;
        if bytes == 0 || !bytes.is_multiple_of(PAGE_BYTES) {
            return Err(MemoryError::InvalidRange { address: 0, bytes });
        }
        let file = memfd_create("gfx-emu device memory", MemfdFlags::CLOEXEC)
            .map_err(std::io::Error::from)?;
        ftruncate(&file, bytes).map_err(|_| MemoryError::OutOfMemory { bytes })?;
        let mut book = self.book();
        let id = PhysicalId(book.reservations.next_id);
        book.reservations.next_id += 1;
        book.reservations.physical.insert(id, Arc::new(Physical { file, bytes }));
        Ok(id)
    }

    /// Drops the handle; the memory lives on while it is mapped.
    pub fn release_physical(&self, id: PhysicalId) -> Result<(), MemoryError> {
        self.check_ours()?;
        match self.book().reservations.physical.remove(&id) {
            Some(_) => Ok(()),
            None => Err(MemoryError::NoSuchPhysical { offset: 0, bytes: 0 }),
        }
    }

    /// Puts memory behind reserved addresses. Nobody may touch them before `set_access`.
    pub fn map(
        &self,
        address: u64,
        bytes: u64,
        id: PhysicalId,
        offset: u64,
    ) -> Result<(), MemoryError> {
        self.check_ours()?;
        let invalid = MemoryError::InvalidRange { address, bytes };
        let in_pages = [address, bytes, offset].iter().all(|n| n.is_multiple_of(PAGE_BYTES));
        let Some(end) = address.checked_add(bytes).filter(|_| in_pages && bytes != 0) else {
            return Err(invalid);
        };
        let mut book = self.book();
        let missing = MemoryError::NoSuchPhysical { offset, bytes };
        let physical = match book.reservations.physical.get(&id) {
            Some(found) if offset.checked_add(bytes).is_some_and(|end| end <= found.bytes) => {
                Arc::clone(found)
            }
            Some(_) | None => return Err(missing),
        };
        let reserved = book.reservations.ranges.range(..=address).next_back();
        if reserved.is_none_or(|(start, bytes)| end > start + bytes) {
            return Err(invalid);
        }
        let before = book.reservations.mappings.range(..end).next_back();
        if before.is_some_and(|(start, mapping)| start + mapping.bytes > address) {
            return Err(MemoryError::Occupied { address, bytes });
        }
        let window = self.window(&book, address).ok_or(invalid)?;
        window.back(address, bytes, physical.file.as_fd(), offset)?;
        let host = window.host(address);
        let range = Range { base: address, end, host };
        let entry = Entry { range, access: Access::None };
        book.reservations.mappings.insert(address, Mapping { bytes, physical });
        self.change_ranges(|ranges| ranges.insert(address, entry));
        Ok(())
    }

    /// Takes the memory away from behind addresses: whole mappings, one or several.
    pub fn unmap(&self, address: u64, bytes: u64) -> Result<(), MemoryError> {
        self.check_ours()?;
        let mut book = self.book();
        let starts = book.reservations.covering(address, bytes)?;
        for start in starts {
            let Some(mapping) = book.reservations.mappings.remove(&start) else { continue };
            self.change_ranges(|ranges| ranges.remove(&start));
            if let Some(window) = self.window(&book, start) {
                window.unback(start, mapping.bytes)?;
            }
            drop(mapping.physical);
        }
        Ok(())
    }

    /// Says what may be done with whole mappings, one or several.
    pub fn set_access(&self, address: u64, bytes: u64, access: Access) -> Result<(), MemoryError> {
        self.check_ours()?;
        let book = self.book();
        let starts = book.reservations.covering(address, bytes)?;
        self.change_ranges(|ranges| {
            for start in starts {
                if let Some(entry) = ranges.get_mut(&start) {
                    entry.access = access;
                }
            }
        });
        Ok(())
    }
}

impl Reservations {
    /// Starts of the mappings that make up exactly the given range.
    fn covering(&self, address: u64, bytes: u64) -> Result<Vec<u64>, MemoryError> {
        let unmapped = MemoryError::Unmapped { address, bytes };
        let Some(end) = address.checked_add(bytes).filter(|_| bytes != 0) else {
            return Err(MemoryError::InvalidRange { address, bytes });
        };
        let mut starts = Vec::new();
        let mut reached = address;
        for (&start, mapping) in self.mappings.range(address..end) {
            if start != reached {
                return Err(unmapped);
            }
            starts.push(start);
            reached = start + mapping.bytes;
        }
        if reached == end { Ok(starts) } else { Err(unmapped) }
    }
}

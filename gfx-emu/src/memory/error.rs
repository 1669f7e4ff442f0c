//! What can go wrong with device memory.

use std::io;

use super::Access;

/// A failed operation on an address space.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// There is no room for the request.
    #[error("no room for {bytes} bytes of device memory")]
    OutOfMemory {
        /// What was asked for.
        bytes: u64,
    },
    /// A size of zero, an alignment that is no power of two, or a range that wraps.
    #[error("invalid range: {bytes} bytes at {address:#x}")]
    InvalidRange {
        /// Start of the range.
        address: u64,
        /// Its size.
        bytes: u64,
    },
    /// The range overlaps memory that is in use.
    #[error("{bytes} bytes at {address:#x} are not free")]
    Occupied {
        /// Start of the range.
        address: u64,
        /// Its size.
        bytes: u64,
    },
    /// Part of the range belongs to no live allocation.
    #[error("{bytes} bytes at {address:#x} are not inside live memory")]
    Unmapped {
        /// Start of the access.
        address: u64,
        /// Its size.
        bytes: u64,
    },
    /// The range is mapped without the access that was needed.
    #[error("no {needed:?} access to {address:#x}")]
    Denied {
        /// The first address that refuses.
        address: u64,
        /// The access that was needed.
        needed: Access,
    },
    /// The address is not the start of what the operation works on.
    #[error("{address:#x} is not the start of {expected}")]
    NotAStart {
        /// The address given.
        address: u64,
        /// What should have started there.
        expected: &'static str,
    },
    /// A reservation that still has mappings cannot be released.
    #[error("the range at {address:#x} still has mappings")]
    StillMapped {
        /// Start of the reservation.
        address: u64,
    },
    /// The physical memory handle is unknown or too small for the mapping.
    #[error("no physical memory for {bytes} bytes at offset {offset}")]
    NoSuchPhysical {
        /// Offset into the handle.
        offset: u64,
        /// Size of the mapping.
        bytes: u64,
    },
    /// This process is a fork of the one that owns the memory.
    #[error("device memory does not survive fork")]
    Forked,
    /// The operating system refused.
    #[error("the operating system refused device memory: {0}")]
    Os(#[from] io::Error),
}

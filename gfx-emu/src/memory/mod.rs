//! Device memory: what an address of the emulated GPU means.
//!
//! A program holds device addresses that lie in a `PROT_NONE` reservation, so dereferencing one
//! is a SIGSEGV and handing one to the kernel is EFAULT, as on a discrete GPU. The bytes lie in
//! a read-write alias of the reservation, at constant distance, which only this crate uses.
//! Pinned, registered and managed memory is ordinary memory whose device address is its host
//! address.
//!
//! This module knows allocations and their bounds. It knows nothing of devices, streams or any
//! API; whoever frees memory waits first for the work that uses it.

mod error;
mod gaps;
mod sharing;
mod space;
#[cfg(test)]
mod tests;
mod virtual_memory;
mod window;

pub use error::MemoryError;
pub use space::{Access, AddressSpace, Config, PAGE_BYTES, Range};
pub use virtual_memory::PhysicalId;

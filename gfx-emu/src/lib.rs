//! An emulated AMD GPU: device memory, instruction set, workgroups and queues.
//!
//! The crate knows no API: its fronts (HIP, HSA) translate calls into allocations of
//! [`memory`], kernels of [`isa`] and launches of [`dispatch`].

pub mod dispatch;
pub mod isa;
pub mod loader;
pub mod memory;
pub mod queue;

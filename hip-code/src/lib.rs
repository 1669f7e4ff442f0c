//! Parser of offload bundles, AMDGPU ELF objects, kernel metadata and kernel descriptors.

mod descriptor;

pub use descriptor::{KERNEL_DESCRIPTOR_BYTES, KernelDescriptor, WorkitemId};

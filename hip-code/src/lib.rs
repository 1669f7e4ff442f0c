//! Parser of offload bundles, AMDGPU ELF objects, kernel metadata and kernel descriptors.
//!
//! From the outside in: [`image`] finds out how long an image is that a program names by a bare
//! pointer; [`select`] takes the code object for a device out of whatever an image is (an ELF
//! object, a [`Bundle`], a compressed bundle); [`CodeObject`] reads the ELF object; [`Metadata`]
//! says what its kernels take; [`KernelDescriptor`] says how they start.
//!
//! Input comes from programs and archives and is never trusted: every offset and length is
//! checked, and nothing panics. The crate knows no API and no device.

mod bundle;
mod bytes;
mod compressed;
mod descriptor;
mod error;
pub mod image;
mod metadata;
mod object_file;
mod select;
mod target;

pub use bundle::{Bundle, BundleEntry};
pub use compressed::CompressedBundle;
pub use descriptor::{KERNEL_DESCRIPTOR_BYTES, KernelDescriptor, WorkitemId};
pub use error::CodeError;
pub use metadata::{Argument, KernelMetadata, Metadata, ValueKind};
pub use object_file::{
    CodeObject, Relocation, RelocationKind, Section, Segment, Symbol, SymbolKind,
};
pub use select::{Selected, select};
pub use target::TargetId;

//! The archive: format version 6, its writer and its reader.
//!
//! Owns every byte that reaches a file. It must not know how calls are intercepted, nor how they
//! are issued again. `docs/format.md` describes the files; [`format`] holds the framing, [`shape`]
//! and [`facts`] what is kept about functions and processes, [`encode`] one event in a block,
//! [`raw`] the live record of a running program.

pub(crate) mod encode;
mod error;
pub mod event;
pub mod facts;
pub(crate) mod format;
pub(crate) mod kept;
pub mod pack;
pub mod raw;
pub mod reader;
#[cfg(test)]
mod schema;
pub mod shape;
pub mod writer;

pub use error::{Finding, FindingKind, ReadError};
pub use format::{FORMAT_VERSION, blob_hash};

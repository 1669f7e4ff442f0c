//! The archive: format version 6, its writer and its reader.

pub mod event;

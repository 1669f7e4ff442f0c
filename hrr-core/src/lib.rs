//! The engine of HRR: descriptors, recorder, archive, replayer, loader, and the traits at the
//! border between typed declarations and the erased engine.
//!
//! This crate knows no HIP name, type or struct. Declarations come to it as constant data
//! ([`desc`]); hand-written halves come to it through [`capture::CaptureCx`] and
//! [`replay::ReplayCx`].

pub mod archive;
pub mod arg;
pub mod capture;
pub mod code;
pub mod desc;
pub mod dump;
pub mod loader;
#[doc(hidden)]
pub mod private;
pub mod ranges;
pub mod replay;
#[cfg(feature = "testing")]
pub mod testing;

/// What expansions name; see [`private`].
#[doc(hidden)]
pub use private as __private;

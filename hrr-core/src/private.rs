//! What expansions of the declaration macro name. Not a public interface.

pub use crate::arg::{CopyKind, Count, Handle, JitOption, Payload, Ret};
pub use crate::desc::*;
pub use core::sync::atomic::{AtomicPtr, AtomicU32};

/// A call that a wrapper is recording; null if the call is not recorded.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Call(pub *mut u8);

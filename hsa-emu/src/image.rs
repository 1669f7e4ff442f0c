//! Images, samplers, graphics memory and whatever else the emulated GPU does not have.
//!
//! A program that comes here gets the status that the function documents for what it does not
//! support, and one line that names the function.

use std::sync::atomic::AtomicBool;

use crate::abi::{Answer, Status};
use crate::log;

/// Says once that a function is not supported, and gives its status.
pub(crate) fn unsupported(said: &AtomicBool, name: &str, status: Status) -> Answer {
    log::warn_once(said, format_args!("{name} is not supported by the emulated GPU"));
    Err(status)
}

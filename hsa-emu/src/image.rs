//! Images, samplers, graphics memory and whatever else the emulated GPU does not have.
//!
//! No agent reports the image extension, so programs have no reason to come here; one that does
//! gets the status that the extension documents for it, and one line that names the function.

use std::sync::atomic::AtomicBool;

use crate::abi::{Answer, Status};
use crate::log;

/// Says once that a function is not supported, and gives its status.
pub(crate) fn unsupported(said: &AtomicBool, name: &str, status: Status) -> Answer {
    log::warn_once(said, format_args!("{name} is not supported by the emulated GPU"));
    Err(status)
}

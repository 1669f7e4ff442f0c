//! What this library says on standard error: one line each, none unless something is wrong or
//! `HSA_EMU_LOG=1` asks for more.

use std::fmt::Arguments;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

static VERBOSE: AtomicBool = AtomicBool::new(false);

/// Turns the lines of [`detail`] on.
pub(crate) fn set_verbose() {
    VERBOSE.store(true, Ordering::Relaxed);
}

/// Says that something is wrong.
pub(crate) fn warn(what: Arguments<'_>) {
    line(what);
}

/// Says what happens, if the user wants to know.
pub(crate) fn detail(what: Arguments<'_>) {
    if VERBOSE.load(Ordering::Relaxed) {
        line(what);
    }
}

/// Says once per `said` that something is wrong.
pub(crate) fn warn_once(said: &AtomicBool, what: Arguments<'_>) {
    if !said.swap(true, Ordering::Relaxed) {
        line(what);
    }
}

fn line(what: Arguments<'_>) {
    let text = format!("hsa-emu: {what}\n");
    // A program that closed its standard error does not want to read it.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

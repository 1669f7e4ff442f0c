//! Recording: what a wrapper does around the real call, and what becomes of it.
//!
//! Owns the rings of the threads ([`ring`]), the calls in them ([`call`]), the interpreter that
//! takes what hangs below their arguments ([`interpret`]), the knowledge of when device work is
//! final ([`track`]), and the recording as a whole ([`recorder`]). It knows no function of any API
//! by name, and issues no call of the recorded API.

pub(crate) mod call;
pub(crate) mod callback;
mod custom;
mod fields;
mod graphs;
mod interpret;
pub(crate) mod lock;
mod memory;
mod process;
pub(crate) mod recorder;
mod ring;
mod state;
mod thread;
mod track;

use core::ffi::c_void;
use std::io;
use std::path::Path;

use crate::archive::facts::{Note, RuntimeName};
use crate::archive::raw::{MARK_BEGIN, MARK_END};

pub use custom::CaptureCx;
pub use ring::{CHUNK_BYTES, CHUNKS};

use recorder::Fact;
pub(crate) use recorder::{declare, start_from_environment};

/// Writes one line for the user. No buffer and no lock: it may be written in a forked child.
pub(crate) fn say(text: &str) {
    let line = format!("hrr: {text}\n");
    // SAFETY: writes bytes of ours to the standard error stream. If that fails there is nobody to
    // tell.
    let _ = unsafe { libc::write(2, line.as_ptr().cast::<c_void>(), line.len()) };
}

/// A recording that runs; dropping it stops and seals it.
#[must_use = "dropping it stops the recording"]
pub struct Recording {
    _private: (),
}

impl Recording {
    /// Stops the recording, and tells what went wrong.
    ///
    /// # Errors
    /// The rest could not be written; what was written before stays readable.
    pub fn stop(self) -> io::Result<()> {
        core::mem::forget(self);
        recorder::stop()
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        if let Err(error) = recorder::stop() {
            say(&format!("the end of the recording could not be written: {error}"));
        }
    }
}

/// Starts recording into a folder of this process below `dir`.
///
/// # Errors
/// A recording runs, or the folder cannot be made.
pub fn start(dir: &Path) -> io::Result<Recording> {
    recorder::start_at(dir, false)?;
    Ok(Recording { _private: () })
}

/// Stops and seals the recording of this process, if one runs: for the library's destructor.
pub fn stop() -> io::Result<()> {
    recorder::stop()
}

/// Leaves this process to another copy of the recorder that is in front of this one: `HRR_RECORD`
/// starts nothing here.
pub fn stand_back() {
    recorder::stand_back();
}

/// Whether a recording runs.
pub fn is_running() -> bool {
    recorder::is_running()
}

/// Adds a fact to the running recording, for example which library the calls go to.
pub fn note(note: Note) {
    if let Some(recorder) = recorder::current() {
        recorder.note(note);
    }
}

/// Adds a fact of the process: to the running recording, and to those that start later, also in
/// forked children.
pub fn fact(note: Note) {
    recorder::fact(Fact::Note(note));
}

/// Says which library the calls go to, by its names: a fact as [`fact`] adds it, with its
/// [`Note::Runtime`].
pub fn runtime(name: RuntimeName) {
    recorder::fact(Fact::Runtime(name));
}

/// A named range of the calling thread's calls; it ends when this is dropped.
#[must_use = "the range ends when this is dropped"]
pub struct Annotation {
    /// Marks belong to a thread, so the range must end on the one that began it.
    _thread: core::marker::PhantomData<*const ()>,
}

/// Begins a named range: the archive shows which calls lie in it. Costs nothing without a
/// recording.
pub fn annotate(name: &str) -> Annotation {
    if is_running() {
        call::mark(MARK_BEGIN, 0, name.len() as u64, name.as_bytes());
    }
    Annotation { _thread: core::marker::PhantomData }
}

impl Drop for Annotation {
    fn drop(&mut self) {
        if is_running() {
            call::mark(MARK_END, 0, 0, &[]);
        }
    }
}

/// Seals the recording when the program ends, after the program's own exit handlers.
extern "C" fn at_exit() {
    let stopped = std::panic::catch_unwind(|| {
        if is_running() {
            return stop();
        }
        Ok(())
    });
    match stopped {
        Ok(Ok(())) => {}
        Ok(Err(error)) => say(&format!("the end of the recording could not be written: {error}")),
        Err(_) => say("a fault at the end of the recording"),
    }
}

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;

//! Recording from within a program: the guard, marks beside the calls, and who of several recorders
//! in one process records.

use std::ffi::c_void;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use hrr_core::capture;

use crate::{objects, runtime};

/// Why a recording cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The program's own binding calls the vendor's library past the recorder.
    #[error(
        "{}: the program's own HIP binding calls it directly, so nothing would be recorded; \
         add `use hrr_interpose as _;`, or call the functions of hrr_runtime",
        .0.display()
    )]
    NotInFront(PathBuf),
    /// The path of the archive exists.
    #[error("{}: exists already; name another path, or remove it", .0.display())]
    Exists(PathBuf),
    /// The system refused, or a recording runs.
    #[error("{}: cannot record: {error}", path.display())]
    Io {
        /// The archive.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
}

/// A running recording of this process. It is sealed by [`Recording::finish`], or at its drop.
#[must_use = "the recording ends when the guard is dropped"]
pub struct Recording {
    path: PathBuf,
    /// `None` if `hrr record` has started this program and records it.
    running: Option<capture::Recording>,
}

impl Recording {
    /// Starts to record the calls of this process into a new archive.
    ///
    /// Under `hrr record` the program is recorded there, once, and nothing is written here.
    ///
    /// # Errors
    /// If the path exists or cannot be made, if a recording runs, or if the program calls the
    /// vendor's library past the recorder.
    pub fn start(path: impl AsRef<Path>) -> Result<Recording, StartError> {
        let path = path.as_ref().to_owned();
        if another_recorder_records() {
            return Ok(Recording { path, running: None });
        }
        if !NAMES_ARE_OURS.load(Ordering::Acquire)
            && let Some(direct) = bound_past_us()
        {
            return Err(StartError::NotInFront(direct));
        }
        if path.symlink_metadata().is_ok() {
            return Err(StartError::Exists(path));
        }
        match capture::start(&path) {
            Ok(running) => Ok(Recording { path, running: Some(running) }),
            Err(error) => Err(StartError::Io { path, error }),
        }
    }

    /// Where the archive is; nothing is there if `hrr record` records the program instead.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Ends the recording and seals the archive.
    ///
    /// # Errors
    /// If the archive cannot be completed.
    pub fn finish(self) -> io::Result<()> {
        self.running.map_or(Ok(()), capture::Recording::stop)
    }
}

/// Set by hrr-interpose: the program's HIP names are bound to ours.
static NAMES_ARE_OURS: AtomicBool = AtomicBool::new(false);

/// What hrr-interpose says at the start of a program.
#[doc(hidden)]
pub fn names_are_ours() {
    NAMES_ARE_OURS.store(true, Ordering::Release);
}

/// A runtime that was loaded, and not by us: the program, or a library of it, is linked against it.
fn bound_past_us() -> Option<PathBuf> {
    objects::paths(b"libamdhip64").into_iter().find(|path| !runtime::opened_by_us(path))
}

/// How copies of the recorder in one process know of each other: the first that the loader finds
/// under this name claims the process. The value is the version of the agreement.
#[doc(hidden)]
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "a C name")]
pub static hrr_recorder_v1: AtomicU32 = AtomicU32::new(1);

/// Whether another copy of the recorder is in front of this one, and `hrr record` has set it up.
fn another_recorder_records() -> bool {
    // SAFETY: looks a name up in the global scope; a data symbol runs no code.
    let first = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"hrr_recorder_v1".as_ptr()) };
    let ours = (&raw const hrr_recorder_v1).cast::<c_void>();
    let set_up = std::env::var_os("HRR_RECORD").is_some_and(|value| !value.is_empty());
    !first.is_null() && !std::ptr::eq(first, ours) && set_up
}

/// Leaves the process to the recorder that is in front, if there is one.
pub(crate) fn stand_back() {
    if another_recorder_records() {
        capture::stand_back();
    }
}

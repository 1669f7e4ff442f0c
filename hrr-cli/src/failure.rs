//! The ways in which a command ends without doing its work, each with its exit code. What a replay
//! found has the codes of its report.

use std::fmt;
use std::process::ExitCode;

/// Refused or incomplete.
pub(crate) const INCOMPLETE: u8 = 2;
/// A damaged archive.
pub(crate) const DAMAGED: u8 = 3;
/// What was written after `hrr` cannot be understood.
pub(crate) const USAGE: u8 = 64;
/// No archive, or one of a newer format.
pub(crate) const NO_ARCHIVE: u8 = 65;
/// A path is missing, or the output exists.
pub(crate) const NO_PATH: u8 = 66;
/// No runtime.
pub(crate) const NO_RUNTIME: u8 = 69;
/// A fault of ours, or of the system.
pub(crate) const INTERNAL: u8 = 70;
/// As a shell: the program is there and cannot be run.
pub(crate) const NOT_EXECUTABLE: u8 = 126;
/// As a shell: there is no such program.
pub(crate) const NO_PROGRAM: u8 = 127;

/// Why a command could not do its work: one line, with what to do next.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: u8,
    what: String,
}

impl Failure {
    pub(crate) fn new(code: u8, what: impl Into<String>) -> Failure {
        // One line, whatever the system's message holds.
        let what = what.into();
        Failure { code, what: what.lines().map(str::trim).collect::<Vec<_>>().join(" ") }
    }

    pub(crate) fn exit(&self) -> ExitCode {
        ExitCode::from(self.code)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

/// A write to stdout that fails: the reader is gone, or the disk is full.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            // The reader has seen enough (`hrr events A | head`): nothing went wrong.
            return Failure::new(0, String::new());
        }
        Failure::new(INTERNAL, format!("cannot write the output: {error}"))
    }
}

//! Opening an archive, with an error for each thing that a path may be instead.

use std::fmt;
use std::path::Path;

use hrr_runtime::archive::facts::Note;
use hrr_runtime::archive::reader::{Archive, Process};
use hrr_runtime::archive::{Finding, FindingKind, ReadError};

use crate::failure::{DAMAGED, Failure, INCOMPLETE, INTERNAL, NO_ARCHIVE, NO_PATH};

/// Opens an archive.
pub(crate) fn open(path: &Path) -> Result<Archive, Failure> {
    Archive::open(path).map_err(|error| match error {
        // The beginning of an archive has at least its magic.
        ReadError::Cut { path, offset: 0, .. } => {
            failure(&ReadError::NotAnArchive { path, what: "an empty file".to_owned() })
        }
        error => failure(&error),
    })
}

/// What a read error means for the command.
pub(crate) fn failure(error: &ReadError) -> Failure {
    let (code, what, next) = match error {
        ReadError::Damaged { .. } | ReadError::NoSuchBlob { .. } => {
            (DAMAGED, error.to_string(), "copy the archive anew from where it was recorded")
        }
        ReadError::Cut { .. } => {
            (INCOMPLETE, error.to_string(), "copy the archive anew, or record again")
        }
        ReadError::NotAnArchive { path, what } => (
            NO_ARCHIVE,
            format!("{}: not an HRR archive ({what})", path.display()),
            "name what `hrr record -o` made, or a packed archive",
        ),
        ReadError::Newer { .. } => {
            (NO_ARCHIVE, error.to_string(), "use the hrr that recorded it, or a newer one")
        }
        ReadError::Upstream { .. } => {
            (NO_ARCHIVE, error.to_string(), "replay it with AMD's hrr-playback")
        }
        ReadError::Io { path, source, .. } => match source.kind() {
            std::io::ErrorKind::NotFound
            | std::io::ErrorKind::PermissionDenied
            | std::io::ErrorKind::NotADirectory => {
                (NO_PATH, format!("{}: {source}", path.display()), "check the path")
            }
            _other => (INTERNAL, error.to_string(), "check the disk"),
        },
    };
    Failure::new(code, format!("{what}; {next}"))
}

/// The processes of an archive that are asked for: all, or those with a number, or the one with a
/// name as `hrr info` shows it. With their indices.
pub(crate) fn processes<'a>(
    archive: &'a Archive,
    asked: Option<&str>,
) -> Result<Vec<(usize, &'a Process)>, Failure> {
    let all = archive.processes();
    let is_asked = |process: &Process| {
        asked.is_none_or(|asked| process.info().pid.to_string() == asked || process.name() == asked)
    };
    let found: Vec<_> = all.iter().enumerate().filter(|(_, process)| is_asked(process)).collect();
    if let Some(asked) = asked.filter(|_| found.is_empty()) {
        let there: Vec<_> = all.iter().map(Process::name).collect();
        let path = archive.path().display();
        let what = format!("{path}: no process {asked}; it holds {}", there.join(", "));
        return Err(Failure::new(NO_PATH, what));
    }
    Ok(found)
}

/// The exit code that findings of the archive ask for; `None`: it is whole.
pub(crate) fn verdict<'a>(
    findings: impl IntoIterator<Item = &'a Finding>,
    sealed: bool,
) -> Option<u8> {
    let worst = findings.into_iter().map(|finding| match finding.kind {
        FindingKind::Damaged | FindingKind::Unreadable => DAMAGED,
        FindingKind::Cut | FindingKind::Stopped => INCOMPLETE,
    });
    // Damage is the larger number and the worse one.
    worst.chain((!sealed).then_some(INCOMPLETE)).max()
}

/// A note for people.
pub(crate) struct NoteText<'a>(pub(crate) &'a Note);

impl fmt::Display for NoteText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Note::Runtime { path } => write!(f, "runtime: {path}"),
            Note::NotRecorded { path } => write!(f, "not recorded: {path}"),
            Note::Stopped { reason } => write!(f, "recording stopped: {reason}"),
            Note::Warning { text } => f.write_str(text),
        }
    }
}

/// A number of bytes for people.
pub(crate) fn bytes_text(bytes: u64) -> String {
    indicatif::BinaryBytes(bytes).to_string()
}

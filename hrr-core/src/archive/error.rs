//! What can be wrong with an archive, told apart.

use std::path::{Path, PathBuf};

/// Why an archive, or a part of it, cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Bytes are there and fail their checksum, or say what cannot be.
    #[error("{}: damaged at byte {offset}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where the damaged part begins.
        offset: u64,
        /// What was found.
        what: String,
    },
    /// The file ends early.
    #[error("{}: cut at byte {offset}: {what}", path.display())]
    Cut {
        /// The file.
        path: PathBuf,
        /// The end of what can be read.
        offset: u64,
        /// What is missing.
        what: String,
    },
    /// The path holds something else.
    #[error("{}: not an archive: {what}", path.display())]
    NotAnArchive {
        /// The path.
        path: PathBuf,
        /// What was found instead.
        what: String,
    },
    /// A recorder newer than this reader wrote it.
    #[error(
        "{}: format version {version} is newer than this reader's {}",
        path.display(),
        super::FORMAT_VERSION
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// An archive of AMD's own recorder.
    #[error("{}: an archive of AMD's HRR (\"HRRE\"), which this tool does not read", path.display())]
    Upstream {
        /// The file.
        path: PathBuf,
    },
    /// The archive does not hold the content that an event names.
    #[error("{}: no blob with the hash {hash:032x}", path.display())]
    NoSuchBlob {
        /// The file of blobs.
        path: PathBuf,
        /// The hash.
        hash: u128,
    },
    /// The system refused.
    #[error("{}: {source} (at byte {offset})", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Where.
        offset: u64,
        /// The system's answer.
        source: std::io::Error,
    },
}

impl ReadError {
    pub(crate) fn io(path: &Path, offset: u64, source: std::io::Error) -> ReadError {
        ReadError::Io { path: path.to_owned(), offset, source }
    }

    pub(crate) fn damaged(path: &Path, offset: u64, what: impl Into<String>) -> ReadError {
        ReadError::Damaged { path: path.to_owned(), offset, what: what.into() }
    }

    pub(crate) fn cut(path: &Path, offset: u64, what: impl Into<String>) -> ReadError {
        ReadError::Cut { path: path.to_owned(), offset, what: what.into() }
    }

    /// The finding that this error is, where reading can go on without the part.
    pub fn finding(&self) -> Finding {
        let (kind, path, offset) = match self {
            ReadError::Damaged { path, offset, .. } => (FindingKind::Damaged, path, *offset),
            ReadError::Cut { path, offset, .. } => (FindingKind::Cut, path, *offset),
            ReadError::NoSuchBlob { path, .. } => (FindingKind::Damaged, path, 0),
            ReadError::NotAnArchive { path, .. }
            | ReadError::Newer { path, .. }
            | ReadError::Upstream { path } => (FindingKind::Damaged, path, 0),
            ReadError::Io { path, offset, .. } => (FindingKind::Unreadable, path, *offset),
        };
        Finding { kind, path: path.clone(), offset, events_lost: None, what: self.to_string() }
    }
}

/// What a finding says about the archive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FindingKind {
    /// The recording ended without its index: what is there is whole, more may be missing.
    Cut,
    /// The recorder stopped early and said why.
    Stopped,
    /// Bytes are there and are wrong.
    Damaged,
    /// The system did not let the part be read.
    Unreadable,
}

/// Something wrong with an archive that did not keep the rest from being read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// The file.
    pub path: PathBuf,
    /// Where in the file.
    pub offset: u64,
    /// How many events are lost, where an index or a block header tells.
    pub events_lost: Option<u64>,
    /// For people.
    pub what: String,
}

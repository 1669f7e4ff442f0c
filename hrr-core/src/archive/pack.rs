//! Puts the process folders of an archive into one file.
//!
//! A sealed process is copied as it is. One that was cut is written anew, from what can be read of
//! it, and says so: it stays incomplete.

use std::path::{Path, PathBuf};

use super::facts::Note;
use super::format::{BlockHeader, FileKind, kind};
use super::reader::{Archive, Part, Process};
use super::writer::{BlockFile, Writer, header, put_postcard};
use super::{ReadError, blob_hash};

/// Why an archive could not be packed.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// The archive cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The file cannot be written.
    #[error("{}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
}

/// Copied at once.
const PIECE_BYTES: u64 = 1 << 20;

/// Packs an archive into a file that was not there.
///
/// # Errors
/// The archive is damaged, or the file cannot be written; what was written of it is removed.
pub fn pack(archive: &Archive, to: &Path) -> Result<(), PackError> {
    let failed = |source| PackError::Write { path: to.to_owned(), source };
    let recording = blob_hash(archive.path().as_os_str().as_encoded_bytes()) as u64;
    let mut file = BlockFile::create(to, FileKind::Pack, recording).map_err(failed)?;
    let packed =
        archive.processes().iter().try_for_each(|process| pack_process(process, to, &mut file));
    if packed.is_err() {
        // The error that is handed on says why; a file that cannot be removed is one more.
        let _ = std::fs::remove_file(to);
    }
    packed
}

fn pack_process(process: &Process, to: &Path, file: &mut BlockFile) -> Result<(), PackError> {
    if let Some(parts) = process.files() {
        return copy(process.name(), &parts, to, file);
    }
    let failed = |source| PackError::Write { path: to.to_owned(), source };
    let beside = to.parent().unwrap_or(Path::new("."));
    let folder = super::writer::create_process_folder(
        &beside.join(format!(".{}.hrr-pack", process.name())),
        std::process::id(),
    )
    .map_err(failed)?;
    let above = folder.parent().map(Path::to_owned).unwrap_or_default();
    let written = write_anew(process, &folder).and_then(|()| {
        let anew = Archive::open(&folder)?;
        let parts = anew.processes()[0].files().ok_or_else(|| {
            ReadError::damaged(&folder, 0, "the copy of a cut process is not sealed")
        })?;
        copy(process.name(), &parts, to, file)
    });
    // A folder of our own; what stays of it does no harm.
    let _ = std::fs::remove_dir_all(above);
    written
}

fn copy(name: &str, parts: &[Part; 2], to: &Path, file: &mut BlockFile) -> Result<(), PackError> {
    let failed = |source| PackError::Write { path: to.to_owned(), source };
    let head = BlockHeader { a: parts[0].len(), b: parts[1].len(), ..header(kind::PACKED) };
    put_postcard(file, head, &name.to_owned()).map_err(failed)?;
    for part in parts {
        let mut offset = 0;
        while offset < part.len() {
            let mut piece = vec![0; PIECE_BYTES.min(part.len() - offset) as usize];
            part.read(offset, &mut piece)?;
            file.append([&piece, &[]]).map_err(failed)?;
            offset += piece.len() as u64;
        }
    }
    Ok(())
}

/// Writes what can be read of a process that was cut.
fn write_anew(process: &Process, folder: &Path) -> Result<(), PackError> {
    let failed = |source| PackError::Write { path: folder.to_owned(), source };
    let mut writer = Writer::create(folder, process.info().clone()).map_err(failed)?;
    for shape in process.apis() {
        writer.api(shape.clone()).map_err(failed)?;
    }
    for hash in process.blob_hashes() {
        let content = process.blob(hash)?;
        writer.blob(&content).map_err(failed)?;
    }
    for thread in process.threads() {
        writer.thread(thread.tid).map_err(failed)?;
        for event in process.thread(thread.ordinal) {
            writer.event(&event?).map_err(failed)?;
        }
    }
    for mark in process.annotations()? {
        writer.annotation(mark);
    }
    for note in process.notes() {
        writer.note(note.clone()).map_err(failed)?;
    }
    for name in process.runtimes() {
        writer.runtime(name.clone()).map_err(failed)?;
    }
    for finding in process.findings() {
        writer.note(Note::Stopped { reason: finding.what.clone() }).map_err(failed)?;
    }
    writer.seal().map_err(failed)
}

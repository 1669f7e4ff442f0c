//! Writes a process folder: the encoder of recordings, of packed archives and of tests.
//!
//! Everything is appended, so that what was written stays whatever becomes of the process. Room is
//! checked before each write, since writing past `RLIMIT_FSIZE` would kill the program.

use std::collections::HashMap;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use super::encode::put_event;
use super::event::{Body, Event};
use super::facts::{Annotation, Note, ProcessInfo, RuntimeName, ThreadInfo};
use super::format::{
    BlobEntry, BlockEntry, BlockHeader, FILE_HEADER_BYTES, FileHeader, FileKind, Footer, Index,
    RuntimeNames, blob_hash, codec, kind, payload_sum,
};
use super::kept::KeptFile;
use super::shape::ApiShape;

/// A block of events is written once it has this many bytes, unpacked.
const BLOCK_BYTES: usize = 256 << 10;
/// How hard blocks are packed: the helper thread must keep up with the program.
const PACK_LEVEL: i32 = 1;

/// Makes a folder `DIR/<pid>-<n>` that was not there.
///
/// # Errors
/// The system refuses, or the path above is missing and cannot be made.
pub fn create_process_folder(dir: &Path, pid: u32) -> io::Result<PathBuf> {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder.recursive(true).create(dir)?;
    builder.recursive(false);
    for n in 0..u32::MAX {
        let folder = dir.join(format!("{pid}-{n}"));
        match builder.create(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// The largest file that the process may write.
pub(crate) fn file_size_limit() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid place for the answer.
    match unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) } {
        0 => limit.rlim_cur,
        _ => u64::MAX,
    }
}

/// A file of blocks, appended to.
pub(crate) struct BlockFile {
    file: KeptFile,
    at: u64,
}

impl BlockFile {
    pub(crate) fn create(path: &Path, what: FileKind, recording: u64) -> io::Result<BlockFile> {
        let file = KeptFile::create(path)?;
        if file_size_limit() < FILE_HEADER_BYTES as u64 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let head = FileHeader { kind: what as u32, recording }.encode();
        file.with(|file| file.write_all_at(&head, 0))?;
        Ok(BlockFile { file, at: FILE_HEADER_BYTES as u64 })
    }

    pub(crate) fn len(&self) -> u64 {
        self.at
    }

    /// Appends the parts. What a failed write left is cut off again.
    pub(crate) fn append(&mut self, parts: [&[u8]; 2]) -> io::Result<()> {
        let bytes = parts.iter().map(|part| part.len() as u64).sum::<u64>();
        if self.at.saturating_add(bytes) > file_size_limit() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let start = self.at;
        self.at = self.file.with(|file| {
            let mut at = start;
            for part in parts {
                if let Err(error) = file.write_all_at(part, at) {
                    // The error that matters is the first; a tail that stays is read as a cut.
                    let _ = file.set_len(start);
                    return Err(error);
                }
                at += part.len() as u64;
            }
            Ok(at)
        })?;
        Ok(())
    }

    /// Appends a block whose payload is stored as it is.
    fn block(
        &mut self,
        mut header: BlockHeader,
        hash: u128,
        payload: &[u8],
    ) -> io::Result<BlockEntry> {
        header.stored = payload.len() as u64;
        header.sum = payload_sum(header.kind, hash, payload);
        let entry = BlockEntry { offset: self.at, header };
        self.append([&header.encode(self.at), payload])?;
        Ok(entry)
    }
}

pub(crate) fn header(kind: u32) -> BlockHeader {
    BlockHeader { kind, codec: codec::RAW, stored: 0, raw: 0, a: 0, b: 0, c: 0, sum: 0 }
}

/// Content by hash: each once, in a file of its own.
pub struct BlobStore {
    inner: Mutex<BlobStoreInner>,
}

struct BlobStoreInner {
    file: BlockFile,
    entries: HashMap<u128, (u64, u64)>,
}

impl BlobStore {
    pub(crate) fn create(folder: &Path, recording: u64) -> io::Result<BlobStore> {
        let file = BlockFile::create(&folder.join("blobs"), FileKind::Blobs, recording)?;
        Ok(BlobStore { inner: Mutex::new(BlobStoreInner { file, entries: HashMap::new() }) })
    }

    fn lock(&self) -> MutexGuard<'_, BlobStoreInner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the content, if it is not there yet, and answers the body that refers to it. It is in
    /// the file when this returns, so no event refers to what a killed process had not written.
    ///
    /// # Errors
    /// The file cannot grow.
    pub fn put(&self, content: &[u8]) -> io::Result<Body> {
        let hash = blob_hash(content);
        let body = Body::Blob { hash, bytes: content.len() as u64 };
        let mut inner = self.lock();
        if inner.entries.contains_key(&hash) {
            return Ok(body);
        }
        let header = BlockHeader {
            raw: content.len() as u64,
            a: hash as u64,
            b: (hash >> 64) as u64,
            ..header(kind::BLOB)
        };
        let entry = inner.file.block(header, hash, content)?;
        inner.entries.insert(hash, (entry.offset, content.len() as u64));
        Ok(body)
    }

    /// Ends the file with the number of events, and answers what the index says of it.
    fn seal(&self, events: u64) -> io::Result<(Vec<BlobEntry>, u64)> {
        let mut inner = self.lock();
        inner.file.block(BlockHeader { a: events, ..header(kind::SEALED) }, 0, &[])?;
        let mut entries: Vec<BlobEntry> = inner
            .entries
            .iter()
            .map(|(hash, (offset, bytes))| BlobEntry {
                hash: *hash,
                offset: *offset,
                bytes: *bytes,
            })
            .collect();
        entries.sort_by_key(|entry| entry.hash);
        Ok((entries, inner.file.len()))
    }
}

/// The events of one thread that are not in the file yet.
struct Pending {
    info: ThreadInfo,
    raw: Vec<u8>,
    first: u64,
    last: u64,
}

/// Writes one process folder.
pub struct Writer {
    folder: PathBuf,
    recording: u64,
    file: BlockFile,
    blobs: Arc<BlobStore>,
    index: Index,
    threads: Vec<Pending>,
    annotations: Vec<Annotation>,
    scratch: Vec<u8>,
}

impl Writer {
    /// Begins the files of a folder that is there and empty.
    ///
    /// # Errors
    /// A file cannot be made.
    pub fn create(folder: &Path, process: ProcessInfo) -> io::Result<Writer> {
        let recording = blob_hash(format!("{process:?} {:?}", folder).as_bytes()) as u64;
        let blobs = Arc::new(BlobStore::create(folder, recording)?);
        let mut file = BlockFile::create(&folder.join("events"), FileKind::Events, recording)?;
        let entry = put_postcard(&mut file, header(kind::PROCESS), &process)?;
        Ok(Writer {
            folder: folder.to_owned(),
            recording,
            file,
            blobs,
            index: Index {
                process,
                apis: Vec::new(),
                threads: Vec::new(),
                notes: Vec::new(),
                blocks: vec![entry],
                blobs: Vec::new(),
                blobs_bytes: 0,
            },
            threads: Vec::new(),
            annotations: Vec::new(),
            scratch: Vec::new(),
        })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The number that all files of the folder carry.
    pub fn recording(&self) -> u64 {
        self.recording
    }

    /// The store of contents, which threads use on their own.
    pub fn blobs(&self) -> Arc<BlobStore> {
        Arc::clone(&self.blobs)
    }

    /// Keeps a content; see [`BlobStore::put`].
    ///
    /// # Errors
    /// The file cannot grow.
    pub fn blob(&mut self, content: &[u8]) -> io::Result<Body> {
        self.blobs.put(content)
    }

    /// Adds a function and answers its place in the table.
    ///
    /// # Errors
    /// The file cannot grow.
    pub fn api(&mut self, shape: ApiShape) -> io::Result<u32> {
        let place = self.index.apis.len() as u32;
        let shapes = vec![shape];
        let head = BlockHeader { a: place.into(), ..header(kind::APIS) };
        let entry = put_postcard(&mut self.file, head, &shapes)?;
        self.index.blocks.push(entry);
        self.index.apis.extend(shapes);
        Ok(place)
    }

    /// Adds a thread and answers its ordinal.
    ///
    /// # Errors
    /// The file cannot grow.
    pub fn thread(&mut self, tid: u32) -> io::Result<u32> {
        let ordinal = self.threads.len() as u32;
        let info = ThreadInfo { ordinal, tid, events: 0 };
        let head = BlockHeader { a: ordinal.into(), ..header(kind::THREAD) };
        let entry = put_postcard(&mut self.file, head, &info)?;
        self.index.blocks.push(entry);
        self.threads.push(Pending { info, raw: Vec::new(), first: 0, last: 0 });
        Ok(ordinal)
    }

    /// How many events of the thread were given.
    pub fn events_of(&self, thread: u32) -> u64 {
        self.threads.get(thread as usize).map_or(0, |pending| pending.info.events)
    }

    /// The table so far.
    pub fn apis(&self) -> &[ApiShape] {
        &self.index.apis
    }

    /// Adds the next event of a thread that was added before.
    ///
    /// # Errors
    /// The thread or function is unknown, the index is not the next one, the argument block has
    /// another size than the function declares, or the file cannot grow.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidInput, what);
        let pending = self
            .threads
            .get_mut(event.id.thread as usize)
            .ok_or_else(|| invalid(format!("no thread {}", event.id.thread)))?;
        let shape = self
            .index
            .apis
            .get(event.api as usize)
            .ok_or_else(|| invalid(format!("no function {}", event.api)))?;
        if event.id.index != pending.info.events {
            return Err(invalid(format!("{:?} after {} events", event.id, pending.info.events)));
        }
        if pending.raw.is_empty() {
            pending.first = event.id.index;
            pending.last = 0;
        }
        put_event(&mut pending.raw, &mut self.scratch, event, shape, pending.last)
            .map_err(invalid)?;
        pending.last = event.enter;
        pending.info.events += 1;
        if pending.raw.len() >= BLOCK_BYTES {
            self.flush_thread(event.id.thread)?;
        }
        Ok(())
    }

    /// Adds a mark.
    pub fn annotation(&mut self, annotation: Annotation) {
        self.annotations.push(annotation);
    }

    /// Adds a fact.
    ///
    /// # Errors
    /// The file cannot grow.
    pub fn note(&mut self, note: Note) -> io::Result<()> {
        let notes = vec![note];
        let entry = put_postcard(&mut self.file, header(kind::NOTES), &notes)?;
        self.index.blocks.push(entry);
        self.index.notes.extend(notes);
        Ok(())
    }

    /// Adds the names of a runtime.
    ///
    /// # Errors
    /// The file cannot grow.
    pub fn runtime(&mut self, name: RuntimeName) -> io::Result<()> {
        let names: RuntimeNames = vec![name];
        let entry = put_postcard(&mut self.file, header(kind::RUNTIMES), &names)?;
        self.index.blocks.push(entry);
        Ok(())
    }

    /// Writes what the thread's block holds so far.
    ///
    /// # Errors
    /// The file cannot grow.
    pub fn flush_thread(&mut self, thread: u32) -> io::Result<()> {
        let Some(pending) = self.threads.get_mut(thread as usize) else { return Ok(()) };
        if pending.raw.is_empty() {
            return Ok(());
        }
        let packed = zstd::bulk::compress(&pending.raw, PACK_LEVEL)?;
        let head = BlockHeader {
            codec: codec::ZSTD,
            raw: pending.raw.len() as u64,
            a: thread.into(),
            b: pending.first,
            c: pending.info.events - pending.first,
            ..header(kind::EVENTS)
        };
        let entry = self.file.block(head, 0, &packed)?;
        self.index.blocks.push(entry);
        pending.raw.clear();
        Ok(())
    }

    /// Writes everything that was given so far.
    ///
    /// # Errors
    /// The file cannot grow.
    pub fn flush(&mut self) -> io::Result<()> {
        for thread in 0..self.threads.len() as u32 {
            self.flush_thread(thread)?;
        }
        if !self.annotations.is_empty() {
            let head =
                BlockHeader { c: self.annotations.len() as u64, ..header(kind::ANNOTATIONS) };
            let entry = put_postcard(&mut self.file, head, &self.annotations)?;
            self.index.blocks.push(entry);
            self.annotations.clear();
        }
        Ok(())
    }

    /// Writes the index: from here on the archive is whole.
    ///
    /// # Errors
    /// A file cannot grow; the archive then stays as one that was cut.
    pub fn seal(&mut self) -> io::Result<()> {
        self.flush()?;
        self.index.threads = self.threads.iter().map(|pending| pending.info.clone()).collect();
        let events = self.threads.iter().map(|pending| pending.info.events).sum();
        (self.index.blobs, self.index.blobs_bytes) = self.blobs.seal(events)?;
        let entry = put_postcard(&mut self.file, header(kind::INDEX), &self.index)?;
        let footer = Footer { index: entry.offset }.encode(self.file.len());
        self.file.append([&footer, &[]])
    }
}

/// Appends a packed block of a serialised value.
pub(crate) fn put_postcard<T: Serialize>(
    file: &mut BlockFile,
    mut head: BlockHeader,
    value: &T,
) -> io::Result<BlockEntry> {
    let raw = postcard::to_stdvec(value).map_err(io::Error::other)?;
    let packed = zstd::bulk::compress(&raw, PACK_LEVEL)?;
    head.codec = codec::ZSTD;
    head.raw = raw.len() as u64;
    file.block(head, 0, &packed)
}

//! Reads archives, and trusts nothing in them.
//!
//! Every length is held against what is there before it is used, nothing is allocated by a number
//! from a file alone, and no path in an archive is ever opened. Events stream one block at a time.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde::de::DeserializeOwned;

use super::encode::{Cursor, take_event};
use super::event::{BlobHash, Body, Event, EventId, FIELD_CUSTOM};
use super::facts::{Annotation, Note, ProcessInfo, RuntimeName, ThreadInfo};
use super::format::{
    Annotations, BLOCK_HEADER_BYTES, BlockEntry, BlockHeader, FILE_HEADER_BYTES, FOOTER_BYTES,
    FORMAT_VERSION, FileHeader, FileKind, Footer, Index, MAGIC, RAW_BYTES_MAX, RuntimeNames,
    UPSTREAM_MAGIC, array, blob_hash, codec, kind, payload_sum,
};
use super::raw::{
    CHUNK_HEADER_BYTES, CHUNK_MAGIC, FIELD_PACK, RING_HEADER_BYTES, RawChunk, RawItem, RingHeader,
    decode_chunks, take_fields, whole_records,
};
use super::shape::ApiShape;
use super::{Finding, FindingKind, ReadError};

/// The largest argument block that a reader accepts.
const ARGS_BYTES_MAX: u32 = 1 << 16;
/// The largest chunk of a ring that a reader accepts.
const CHUNK_BYTES_MAX: u32 = 64 << 20;

/// A file, or a part of one.
#[derive(Clone, Debug)]
struct Source {
    file: Arc<File>,
    path: PathBuf,
    base: u64,
    len: u64,
}

impl Source {
    fn open(path: &Path) -> Result<Source, ReadError> {
        let error = |source| ReadError::io(path, 0, source);
        // O_NONBLOCK: a FIFO in a file's place must not hang the reader.
        let file = File::options()
            .read(true)
            .custom_flags(libc::O_CLOEXEC | libc::O_NONBLOCK)
            .open(path)
            .map_err(error)?;
        let meta = file.metadata().map_err(error)?;
        if !meta.is_file() {
            let what = "not a regular file".to_owned();
            return Err(ReadError::NotAnArchive { path: path.to_owned(), what });
        }
        Ok(Source { file: Arc::new(file), path: path.to_owned(), base: 0, len: meta.len() })
    }

    fn damaged(&self, offset: u64, what: impl Into<String>) -> ReadError {
        ReadError::damaged(&self.path, self.base + offset, what)
    }

    fn cut(&self, offset: u64, what: impl Into<String>) -> ReadError {
        ReadError::cut(&self.path, self.base + offset, what)
    }

    /// Fills `into` from `offset`: what lies past the end is a cut.
    fn exact(&self, offset: u64, into: &mut [u8]) -> Result<(), ReadError> {
        if offset.checked_add(into.len() as u64).is_none_or(|end| end > self.len) {
            return Err(self.cut(self.len, format!("{} bytes from {offset}", into.len())));
        }
        self.file.read_exact_at(into, self.base + offset).map_err(|source| {
            if source.kind() == std::io::ErrorKind::UnexpectedEof {
                self.cut(offset, "the file became shorter while it was read")
            } else {
                ReadError::io(&self.path, self.base + offset, source)
            }
        })
    }

    /// Reads the header of the file.
    fn file_header(&self, expected: FileKind) -> Result<FileHeader, ReadError> {
        let mut bytes = [0; FILE_HEADER_BYTES];
        if self.len < FILE_HEADER_BYTES as u64 {
            let head = &mut bytes[..self.len as usize];
            self.exact(0, head)?;
            return Err(if head.starts_with(&UPSTREAM_MAGIC) {
                ReadError::Upstream { path: self.path.clone() }
            } else if head.starts_with(&MAGIC) || MAGIC.starts_with(head) {
                self.cut(self.len, "the header of the file")
            } else {
                self.not_an_archive("other first bytes")
            });
        }
        self.exact(0, &mut bytes)?;
        if bytes.starts_with(&UPSTREAM_MAGIC) {
            return Err(ReadError::Upstream { path: self.path.clone() });
        }
        if !bytes.starts_with(&MAGIC) {
            return Err(self.not_an_archive("other first bytes"));
        }
        let version = u32::from_le_bytes(array(&bytes[8..12]));
        let found = FileHeader {
            kind: u32::from_le_bytes(array(&bytes[12..16])),
            recording: u64::from_le_bytes(array(&bytes[16..24])),
        };
        let mut again = found.encode();
        again[8..12].copy_from_slice(&bytes[8..12]);
        let sum = xxhash_rust::xxh3::xxh3_64_with_seed(&again[..24], 0);
        if sum.to_le_bytes() != bytes[24..] {
            return Err(self.damaged(0, "the header of the file fails its checksum"));
        }
        if version > FORMAT_VERSION {
            return Err(ReadError::Newer { path: self.path.clone(), version });
        }
        if version < FORMAT_VERSION {
            return Err(self.damaged(8, format!("format version {version} never existed")));
        }
        if found.kind != expected as u32 {
            return Err(self.damaged(12, format!("a file of kind {} in this place", found.kind)));
        }
        Ok(found)
    }

    fn not_an_archive(&self, what: &str) -> ReadError {
        ReadError::NotAnArchive { path: self.path.clone(), what: what.to_owned() }
    }

    /// Reads the header of the block at `offset`.
    fn block_header(&self, offset: u64) -> Result<BlockHeader, ReadError> {
        let mut bytes = [0; BLOCK_HEADER_BYTES];
        self.exact(offset, &mut bytes)?;
        BlockHeader::decode(&bytes, offset)
            .ok_or_else(|| self.damaged(offset, "the header of a block fails its checksum"))
    }

    /// Reads, checks and unpacks the payload of the block at `offset`.
    fn payload(&self, entry: &BlockEntry) -> Result<Vec<u8>, ReadError> {
        let BlockEntry { offset, header } = entry;
        let start = offset + BLOCK_HEADER_BYTES as u64;
        if start.checked_add(header.stored).is_none_or(|end| end > self.len) {
            return Err(self.cut(self.len, format!("the block at {offset} is longer")));
        }
        let mut stored = vec![0; header.stored as usize];
        self.exact(start, &mut stored)?;
        let hash = if header.kind == kind::BLOB && header.codec == codec::RAW {
            let hash = blob_hash(&stored);
            if hash != u128::from(header.a) | u128::from(header.b) << 64 {
                return Err(self.damaged(start, "a blob does not have its hash"));
            }
            hash
        } else {
            0
        };
        if payload_sum(header.kind, hash, &stored) != header.sum {
            return Err(self.damaged(start, "a block fails its checksum"));
        }
        match header.codec {
            codec::RAW if header.raw == header.stored || header.raw == 0 => Ok(stored),
            codec::ZSTD if header.raw <= RAW_BYTES_MAX => {
                let mut raw = Vec::new();
                let unpacked = zstd::stream::read::Decoder::with_buffer(&stored[..])
                    .and_then(|decoder| decoder.take(header.raw + 1).read_to_end(&mut raw));
                match unpacked {
                    Ok(_) if raw.len() as u64 == header.raw => Ok(raw),
                    Ok(_) => Err(self.damaged(start, "a block unpacks to another length")),
                    Err(error) => Err(self.damaged(start, format!("a block: {error}"))),
                }
            }
            _ => Err(self.damaged(*offset, "a block of an unknown form or an unlikely size")),
        }
    }

    fn postcard<T: DeserializeOwned>(&self, entry: &BlockEntry) -> Result<T, ReadError> {
        let raw = self.payload(entry)?;
        postcard::from_bytes(&raw)
            .map_err(|error| self.damaged(entry.offset, format!("a block's content: {error}")))
    }
}

/// An archive: the recorded processes below one path.
#[derive(Debug)]
pub struct Archive {
    path: PathBuf,
    processes: Vec<Process>,
    findings: Vec<Finding>,
}

impl Archive {
    /// Opens a recording's folder, one process folder of it, or a packed archive.
    ///
    /// # Errors
    /// There is no archive, it is of a newer format or of another recorder, or none of its
    /// processes can be read.
    pub fn open(path: &Path) -> Result<Archive, ReadError> {
        let meta = path.metadata().map_err(|source| ReadError::io(path, 0, source))?;
        if !meta.is_dir() {
            return Archive::open_packed(path);
        }
        let mut archive =
            Archive { path: path.to_owned(), processes: Vec::new(), findings: Vec::new() };
        let mut folders = Vec::new();
        if path.join("events").exists() {
            folders.push(path.to_owned());
        } else {
            let listing = path.read_dir().map_err(|source| ReadError::io(path, 0, source))?;
            for entry in listing {
                let entry = entry.map_err(|source| ReadError::io(path, 0, source))?.path();
                if entry.join("events").exists() {
                    folders.push(entry);
                } else {
                    refuse_upstream(&entry)?;
                }
            }
        }
        folders.sort_by_key(|folder| order_of(folder));
        let (mut first_error, mut none) = (None, None);
        for folder in folders {
            match Process::open(&folder) {
                Ok(process) => archive.processes.push(process),
                Err(error) => {
                    archive.findings.push(error.finding());
                    // A file that is called so and is none does not make the folder an archive.
                    if let ReadError::NotAnArchive { path: file, what } = &error {
                        let file = file.strip_prefix(path).unwrap_or(file).display();
                        none.get_or_insert(format!("; {file}: {what}"));
                    } else {
                        first_error.get_or_insert(error);
                    }
                }
            }
        }
        match first_error {
            _ if !archive.processes.is_empty() => Ok(archive),
            Some(error) => Err(error),
            None => Err(ReadError::NotAnArchive {
                path: path.to_owned(),
                what: format!("no folder of a recorded process{}", none.unwrap_or_default()),
            }),
        }
    }

    fn open_packed(path: &Path) -> Result<Archive, ReadError> {
        let source = Source::open(path)?;
        source.file_header(FileKind::Pack)?;
        let mut archive =
            Archive { path: path.to_owned(), processes: Vec::new(), findings: Vec::new() };
        let mut offset = FILE_HEADER_BYTES as u64;
        while offset < source.len {
            let (process, next) = Process::open_packed(&source, offset)?;
            archive.processes.push(process);
            offset = next;
        }
        if archive.processes.is_empty() {
            return Err(source.cut(source.len, "no recorded process"));
        }
        Ok(archive)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The recorded processes, in the order of their folders' names.
    pub fn processes(&self) -> &[Process] {
        &self.processes
    }

    /// The processes, taken out of the archive.
    pub fn take_processes(&mut self) -> Vec<Process> {
        std::mem::take(&mut self.processes)
    }

    /// The processes that could not be opened.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

/// Orders `<pid>-<n>` by number.
fn order_of(folder: &Path) -> (u64, u64, PathBuf) {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let mut numbers = name.split('-').map(|part| part.parse().unwrap_or(u64::MAX));
    let (pid, n) = (numbers.next(), numbers.next());
    (pid.unwrap_or(u64::MAX), n.unwrap_or(u64::MAX), folder.to_owned())
}

/// Answers an error if the path is a file of AMD's recorder, or a folder that directly holds one.
fn refuse_upstream(path: &Path) -> Result<(), ReadError> {
    let is_upstream = |path: &Path| {
        let mut head = [0; 4];
        Source::open(path).is_ok_and(|file| file.exact(0, &mut head).is_ok())
            && head == UPSTREAM_MAGIC
    };
    let inside = path.read_dir().into_iter().flatten().take(64).flatten();
    let mut candidates = inside.map(|entry| entry.path()).chain([path.to_owned()]);
    match candidates.find(|candidate| is_upstream(candidate)) {
        Some(path) => Err(ReadError::Upstream { path }),
        None => Ok(()),
    }
}

/// One recorded process.
#[derive(Debug)]
pub struct Process {
    name: String,
    events: Source,
    blobs: Option<Source>,
    rings: Vec<(Source, RingHeader)>,
    sealed: bool,
    index: Index,
    runtimes: RuntimeNames,
    /// Place of a function in the table by the number that live records use.
    places: HashMap<BlobHash, (u64, u64)>,
    findings: Vec<Finding>,
    live: OnceLock<Live>,
}

/// What the rings of a process that did not end well still hold.
#[derive(Debug, Default)]
struct Live {
    events: Vec<Event>,
    annotations: Vec<Annotation>,
    /// What is wrong with a ring; the events before it are above.
    findings: Vec<Finding>,
}

impl Process {
    fn open(folder: &Path) -> Result<Process, ReadError> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let events = Source::open(&folder.join("events"))?;
        let header = events.file_header(FileKind::Events).map_err(|error| match error {
            // Nothing tells that it ever was one.
            ReadError::Cut { .. } => events.not_an_archive("it ends inside its header"),
            other => other,
        })?;
        let mut findings = Vec::new();
        let blobs = match Source::open(&folder.join("blobs")) {
            Ok(blobs) => match blobs.file_header(FileKind::Blobs) {
                Ok(found) if found.recording == header.recording => Some(blobs),
                Ok(_) => {
                    findings.push(blobs.damaged(16, "a file of another recording").finding());
                    None
                }
                Err(error) => {
                    findings.push(error.finding());
                    None
                }
            },
            Err(error) => {
                findings.push(error.finding());
                None
            }
        };
        let mut process = Process::read_table(name, events, blobs, findings)?;
        if !process.sealed {
            process.find_rings(folder, header.recording);
        }
        Ok(process)
    }

    /// Opens the process that begins at `offset` of a packed file, and answers where it ends.
    fn open_packed(source: &Source, offset: u64) -> Result<(Process, u64), ReadError> {
        let head = source.block_header(offset)?;
        if head.kind != kind::PACKED {
            return Err(source.damaged(offset, "a block of another kind"));
        }
        let name: String = source.postcard(&BlockEntry { offset, header: head })?;
        let start = offset + BLOCK_HEADER_BYTES as u64 + head.stored;
        let part = |base: u64, len: u64| {
            let end = base.checked_add(len).filter(|end| *end <= source.len);
            end.map(|_| Source { base: source.base + base, len, ..source.clone() })
                .ok_or_else(|| source.cut(source.len, "a packed file is longer"))
        };
        let events = part(start, head.a)?;
        let blobs = part(start + head.a, head.b)?;
        let header = events.file_header(FileKind::Events)?;
        if blobs.file_header(FileKind::Blobs)?.recording != header.recording {
            return Err(blobs.damaged(16, "a file of another recording"));
        }
        let process = Process::read_table(name, events, Some(blobs), Vec::new())?;
        Ok((process, start + head.a + head.b))
    }

    fn read_table(
        name: String,
        events: Source,
        blobs: Option<Source>,
        mut findings: Vec<Finding>,
    ) -> Result<Process, ReadError> {
        let (index, sealed) = match read_sealed(&events) {
            Ok(Some(index)) => (index, true),
            Ok(None) => (scan_events(&events, &mut findings)?, false),
            Err(error) => {
                findings.push(error.finding());
                (scan_events(&events, &mut findings)?, false)
            }
        };
        check_shapes(&events, &index.apis)?;
        for note in &index.notes {
            if let Note::Stopped { reason } = note {
                findings.push(Finding {
                    kind: FindingKind::Stopped,
                    path: events.path.clone(),
                    offset: events.len,
                    events_lost: None,
                    what: format!("the recorder stopped early: {reason}"),
                });
            }
        }
        let runtimes = read_runtimes(&events, &index, &mut findings);
        let mut places: HashMap<BlobHash, (u64, u64)> = HashMap::new();
        if let Some(blobs) = &blobs {
            if sealed {
                if index.blobs_bytes != blobs.len {
                    let error = if blobs.len < index.blobs_bytes {
                        blobs.cut(blobs.len, format!("{} bytes expected", index.blobs_bytes))
                    } else {
                        blobs.damaged(index.blobs_bytes, "bytes after the last blob")
                    };
                    findings.push(error.finding());
                }
                places.extend(
                    index.blobs.iter().map(|entry| (entry.hash, (entry.offset, entry.bytes))),
                );
            } else if let Some(total) = scan_blobs(blobs, &mut places, &mut findings) {
                let found = index.threads.iter().map(|thread| thread.events).sum();
                let lost = total.saturating_sub(found);
                let what = format!("{lost} of {total} events are lost");
                let error = events.cut(events.len, what);
                findings.push(Finding { events_lost: Some(lost), ..error.finding() });
            }
        }
        Ok(Process {
            name,
            events,
            blobs,
            rings: Vec::new(),
            sealed,
            index,
            runtimes,
            places,
            findings,
            live: OnceLock::new(),
        })
    }

    /// Finds the rings that the helper thread had not drained when the process died.
    fn find_rings(&mut self, folder: &Path, recording: u64) {
        let Ok(listing) = folder.read_dir() else { return };
        let mut rings = Vec::new();
        for entry in listing.flatten() {
            if !entry.file_name().to_string_lossy().starts_with("ring.") {
                continue;
            }
            let ring = Source::open(&entry.path()).and_then(|source| {
                let header = source.file_header(FileKind::Ring)?;
                let mut bytes = [0; 16];
                source.exact(FILE_HEADER_BYTES as u64, &mut bytes)?;
                let ring = RingHeader::decode(&bytes);
                if header.recording != recording
                    || ring.chunk_bytes <= CHUNK_HEADER_BYTES as u32
                    || ring.chunk_bytes > CHUNK_BYTES_MAX
                    || ring.thread as usize >= self.index.threads.len()
                {
                    return Err(source.damaged(0, "the header of a ring"));
                }
                Ok((source, ring))
            });
            match ring {
                Ok(ring) => rings.push(ring),
                // A ring whose header was not written yet never held a record.
                Err(ReadError::Cut { .. } | ReadError::NotAnArchive { .. }) => {}
                Err(error) => self.findings.push(error.finding()),
            }
        }
        rings.sort_by_key(|(_, ring)| ring.thread);
        self.rings = rings;
        let counts: Vec<u64> = {
            let live = self.live();
            self.index
                .threads
                .iter()
                .map(|thread| {
                    let of = live.events.iter().filter(|event| event.id.thread == thread.ordinal);
                    of.map(|event| event.id.index + 1).max().unwrap_or(thread.events)
                })
                .collect()
        };
        for (thread, count) in self.index.threads.iter_mut().zip(counts) {
            thread.events = thread.events.max(count);
        }
        self.findings.extend(self.live().findings.clone());
    }

    fn live(&self) -> &Live {
        self.live.get_or_init(|| self.read_rings())
    }

    /// Decodes the records that are in the rings and not in the file of events. What is wrong in
    /// one ends that ring; the records before it count.
    fn read_rings(&self) -> Live {
        let mut live = Live::default();
        let mut findings = Vec::new();
        for (source, ring) in &self.rings {
            let drained = self.index.threads[ring.thread as usize].events;
            let functions = |id: u32| {
                let place = id.checked_sub(1)?;
                Some((place, self.index.apis.get(place as usize)?))
            };
            let mut sink = |item| match item {
                RawItem::Event(event) if event.id.index >= drained => live.events.push(event),
                RawItem::Mark(mark) if mark.before >= drained => live.annotations.push(mark),
                RawItem::Event(_) | RawItem::Mark(_) => {}
            };
            let whole = (source.len.saturating_sub(RING_HEADER_BYTES as u64))
                .is_multiple_of(ring.chunk_bytes.into());
            let read = read_chunks(source, ring).and_then(|chunks| {
                decode_chunks(&chunks, chunks.len(), ring.thread, &functions, &mut sink).map_err(
                    |what| match whole {
                        true => source.damaged(0, what),
                        false => source.cut(source.len, what),
                    },
                )
            });
            if let Err(error) = read {
                findings.push(error.finding());
            }
        }
        live.findings = findings;
        live
    }

    /// The name of its folder, `<pid>-<n>`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What was known of the process at its start.
    pub fn info(&self) -> &ProcessInfo {
        &self.index.process
    }

    /// Whether the program ended and the index was written.
    pub fn sealed(&self) -> bool {
        self.sealed
    }

    /// Whether nothing is known to be missing: sealed, undamaged, not stopped early.
    pub fn complete(&self) -> bool {
        self.sealed && self.findings.is_empty()
    }

    /// The recorder's table: [`Event::api`] is an index into it.
    pub fn apis(&self) -> &[ApiShape] {
        &self.index.apis
    }

    /// The recorded threads, by ordinal.
    pub fn threads(&self) -> &[ThreadInfo] {
        &self.index.threads
    }

    /// The number of events of all threads.
    pub fn event_count(&self) -> u64 {
        self.index.threads.iter().map(|thread| thread.events).fold(0, u64::saturating_add)
    }

    /// What was learnt while recording.
    pub fn notes(&self) -> &[Note] {
        &self.index.notes
    }

    /// The names of the libraries that calls went to; none in archives of older recorders.
    pub fn runtimes(&self) -> &[RuntimeName] {
        &self.runtimes
    }

    /// What is wrong, as far as opening tells. [`Process::verify`] looks at everything.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Streams the events of a thread.
    pub fn thread(&self, ordinal: u32) -> ThreadReader<'_> {
        let blocks = self
            .index
            .blocks
            .iter()
            .filter(|entry| {
                entry.header.kind == kind::EVENTS && entry.header.a == u64::from(ordinal)
            })
            .copied()
            .collect();
        ThreadReader {
            process: self,
            thread: ordinal,
            blocks,
            next_block: 0,
            block: Vec::new(),
            at: 0,
            left: 0,
            index: 0,
            last: 0,
            next_live: 0,
        }
    }

    /// The marks beside the calls, in the order of the file.
    ///
    /// # Errors
    /// A block of them is damaged.
    pub fn annotations(&self) -> Result<Vec<Annotation>, ReadError> {
        let mut all = Vec::new();
        for entry in &self.index.blocks {
            if entry.header.kind == kind::ANNOTATIONS {
                all.append(&mut self.events.postcard::<Annotations>(entry)?);
            }
        }
        all.extend(self.live().annotations.iter().cloned());
        Ok(all)
    }

    /// The content with this hash, verified.
    ///
    /// # Errors
    /// It is not there, damaged or cut.
    pub fn blob(&self, hash: BlobHash) -> Result<Arc<[u8]>, ReadError> {
        let missing = || ReadError::NoSuchBlob { path: self.blobs_path(), hash };
        let blobs = self.blobs.as_ref().ok_or_else(missing)?;
        let (offset, bytes) = *self.places.get(&hash).ok_or_else(missing)?;
        let header = blobs.block_header(offset)?;
        if header.kind != kind::BLOB || header.raw != bytes {
            return Err(blobs.damaged(offset, "another block than the index says"));
        }
        let content = blobs.payload(&BlockEntry { offset, header })?;
        if blob_hash(&content) != hash {
            return Err(blobs.damaged(offset, format!("not the blob {hash:032x}")));
        }
        Ok(content.into())
    }

    fn blobs_path(&self) -> PathBuf {
        match &self.blobs {
            Some(blobs) => blobs.path.clone(),
            None => self.events.path.with_file_name("blobs"),
        }
    }

    /// The bytes of a field: `None` for a body without any.
    ///
    /// # Errors
    /// The blob is not there, damaged or cut.
    pub fn content(&self, body: &Body) -> Result<Option<Arc<[u8]>>, ReadError> {
        match body {
            Body::Bytes(bytes) => Ok(Some(Arc::clone(bytes))),
            Body::Blob { hash, bytes } => {
                let content = self.blob(*hash)?;
                if content.len() as u64 != *bytes {
                    let what =
                        format!("the blob {hash:032x} has another length than its event says");
                    return Err(ReadError::damaged(&self.blobs_path(), 0, what));
                }
                Ok(Some(content))
            }
            Body::Null | Body::Device | Body::Absent(_) => Ok(None),
        }
    }

    /// Puts fields that were too many for a ring in the place of the blob that holds them.
    fn unpack_fields(&self, mut event: Event) -> Result<Event, ReadError> {
        while let Some(at) = event.fields.iter().position(|field| field.id == FIELD_PACK) {
            let Some(content) = self.content(&event.fields[at].body)? else {
                // The recorder could not keep them: the field stays, absent, with its reason.
                event.fields[at].id = FIELD_CUSTOM;
                continue;
            };
            let mut fields = Vec::new();
            take_fields(&content, &mut fields)
                .map_err(|what| ReadError::damaged(&self.blobs_path(), 0, what))?;
            if fields.iter().any(|field| field.id == FIELD_PACK) {
                let what = "a pack of fields inside another";
                return Err(ReadError::damaged(&self.blobs_path(), 0, what));
            }
            event.fields.splice(at..=at, fields);
        }
        Ok(event)
    }

    /// Looks at every byte of the process's files and at every event, and answers all that is
    /// wrong, the findings of opening included.
    pub fn verify(&self) -> Vec<Finding> {
        let mut findings = self.findings.clone();
        let mut add = |error: ReadError, events_lost: Option<u64>| {
            let finding = Finding { events_lost, ..error.finding() };
            if !findings.contains(&finding) {
                findings.push(finding);
            }
        };
        let mut expected = FILE_HEADER_BYTES as u64;
        for entry in &self.index.blocks {
            if entry.offset != expected {
                add(self.events.damaged(expected, "the index leaves out bytes"), None);
            }
            expected =
                (entry.offset + BLOCK_HEADER_BYTES as u64).saturating_add(entry.header.stored);
            let lost = (entry.header.kind == kind::EVENTS).then_some(entry.header.c);
            match self.events.block_header(entry.offset) {
                Ok(header) if header == entry.header => {
                    if let Err(error) = self.events.payload(entry) {
                        add(error, lost);
                    }
                }
                Ok(_) => add(self.events.damaged(entry.offset, "not the block of the index"), lost),
                Err(error) => add(error, lost),
            }
        }
        for hash in self.places.keys() {
            if let Err(error) = self.blob(*hash) {
                add(error, None);
            }
        }
        if let Some(blobs) = self.blobs.as_ref().filter(|_| self.sealed)
            && let Err(error) = check_seal_of_blobs(blobs, &self.index)
        {
            add(error, None);
        }
        for thread in &self.index.threads {
            for event in self.thread(thread.ordinal) {
                if let Err(error) = event {
                    let block_was_reported = matches!(error, ReadError::Cut { .. });
                    if !block_was_reported {
                        add(error, None);
                    }
                }
            }
        }
        findings
    }

    /// The files of a sealed process, to be copied as they are: events, then blobs.
    pub(crate) fn files(&self) -> Option<[Part; 2]> {
        let blobs = self.blobs.clone().filter(|_| self.sealed)?;
        Some([Part(self.events.clone()), Part(blobs)])
    }

    /// Every blob's hash.
    pub(crate) fn blob_hashes(&self) -> impl Iterator<Item = BlobHash> {
        self.places.keys().copied()
    }

    /// The bytes of its files, rings left out.
    pub fn bytes(&self) -> u64 {
        self.events.len + self.blobs.as_ref().map_or(0, |blobs| blobs.len)
    }
}

/// A file of a process, or a part of a packed one.
pub(crate) struct Part(Source);

impl Part {
    /// Its length.
    pub(crate) fn len(&self) -> u64 {
        self.0.len
    }

    /// Fills `into` from `offset`.
    pub(crate) fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), ReadError> {
        self.0.exact(offset, into)
    }
}

/// Reads the index of a sealed file; `None` if the file does not end with a seal.
fn read_sealed(source: &Source) -> Result<Option<Index>, ReadError> {
    let shortest = (FILE_HEADER_BYTES + BLOCK_HEADER_BYTES + FOOTER_BYTES) as u64;
    if source.len < shortest {
        return Ok(None);
    }
    let at = source.len - FOOTER_BYTES as u64;
    let mut bytes = [0; FOOTER_BYTES];
    source.exact(at, &mut bytes)?;
    let Some(footer) = Footer::decode(&bytes, at) else { return Ok(None) };
    let header = source.block_header(footer.index)?;
    let end = footer.index.checked_add(BLOCK_HEADER_BYTES as u64 + header.stored);
    if header.kind != kind::INDEX || end != Some(at) {
        return Err(source.damaged(footer.index, "the block before the seal is not the index"));
    }
    let index: Index = source.postcard(&BlockEntry { offset: footer.index, header })?;
    check_index(source, &index, footer.index)?;
    Ok(Some(index))
}

/// Holds what an index says against the file, once.
fn check_index(source: &Source, index: &Index, end: u64) -> Result<(), ReadError> {
    let mut expected = FILE_HEADER_BYTES as u64;
    for entry in &index.blocks {
        if entry.offset != expected {
            return Err(source.damaged(end, "the index leaves out bytes"));
        }
        expected = expected
            .checked_add(BLOCK_HEADER_BYTES as u64)
            .and_then(|at| at.checked_add(entry.header.stored))
            .filter(|at| *at <= end)
            .ok_or_else(|| source.damaged(end, "the index points past itself"))?;
    }
    if expected != end {
        return Err(source.damaged(end, "the index leaves out bytes"));
    }
    let ordinals = index.threads.iter().enumerate();
    if ordinals.into_iter().any(|(at, thread)| thread.ordinal as usize != at) {
        return Err(source.damaged(end, "the threads of the index are out of order"));
    }
    Ok(())
}

/// Reads the names of runtimes; the list is short.
fn read_runtimes(source: &Source, index: &Index, findings: &mut Vec<Finding>) -> RuntimeNames {
    let mut names = RuntimeNames::new();
    for entry in index.blocks.iter().filter(|entry| entry.header.kind == kind::RUNTIMES) {
        match source.postcard::<RuntimeNames>(entry) {
            Ok(mut more) => names.append(&mut more),
            Err(error) => findings.push(error.finding()),
        }
    }
    names
}

/// Refuses shapes whose argument blocks no recorder makes.
fn check_shapes(source: &Source, apis: &[ApiShape]) -> Result<(), ReadError> {
    let fits = |shape: &ApiShape| {
        shape.args_bytes <= ARGS_BYTES_MAX
            && shape.params.iter().all(|param| {
                param.offset.checked_add(param.bytes).is_some_and(|end| end <= shape.args_bytes)
            })
    };
    match apis.iter().find(|shape| !fits(shape)) {
        Some(shape) => Err(source.damaged(0, format!("the argument block of {}", shape.name))),
        None => Ok(()),
    }
}

/// Reads a file without an index, block by block, as far as it goes.
fn scan_events(source: &Source, findings: &mut Vec<Finding>) -> Result<Index, ReadError> {
    let mut process = None;
    let (mut apis, mut threads, mut notes) = (Vec::new(), Vec::<ThreadInfo>::new(), Vec::new());
    let mut blocks = Vec::new();
    let mut offset = FILE_HEADER_BYTES as u64;
    let stop = loop {
        if offset == source.len {
            break source.cut(offset, "the recording ended without its index");
        }
        let header = match source.block_header(offset) {
            Ok(header) => header,
            Err(error) => break error,
        };
        let entry = BlockEntry { offset, header };
        let end = (offset + BLOCK_HEADER_BYTES as u64).checked_add(header.stored);
        let Some(end) = end.filter(|end| *end <= source.len) else {
            break source.cut(source.len, format!("the block at {offset} is longer"));
        };
        if header.kind == kind::INDEX {
            break match source.len - end {
                left if left < FOOTER_BYTES as u64 => source.cut(source.len, "the seal"),
                _ => source.damaged(end, "the seal"),
            };
        }
        let metadata = match header.kind {
            kind::PROCESS => source.postcard(&entry).map(|info| process = Some(info)),
            kind::APIS => source.postcard::<Vec<ApiShape>>(&entry).and_then(|mut more| {
                if header.a != apis.len() as u64 {
                    return Err(source.damaged(offset, "a part of the table is out of order"));
                }
                apis.append(&mut more);
                Ok(())
            }),
            kind::THREAD => source.postcard::<ThreadInfo>(&entry).and_then(|info| {
                if info.ordinal as usize != threads.len() {
                    return Err(source.damaged(offset, "a thread is out of order"));
                }
                threads.push(ThreadInfo { events: 0, ..info });
                Ok(())
            }),
            kind::NOTES => {
                source.postcard::<Vec<Note>>(&entry).map(|mut more| notes.append(&mut more))
            }
            kind::EVENTS => {
                if let Some(thread) = threads.get_mut(header.a as usize) {
                    thread.events = thread.events.max(header.b.saturating_add(header.c));
                }
                Ok(())
            }
            // Annotations are read when they are asked for; an unknown kind is stepped over.
            _ => Ok(()),
        };
        if let Err(error) = metadata {
            break error;
        }
        blocks.push(entry);
        offset = end;
    };
    let finding = stop.finding();
    if !findings.iter().any(|known| known.what == finding.what) {
        findings.push(finding);
    }
    match process {
        Some(process) => {
            Ok(Index { process, apis, threads, notes, blocks, blobs: Vec::new(), blobs_bytes: 0 })
        }
        None => Err(stop),
    }
}

/// Finds the blobs of a file that no index describes.
///
/// Answers the number of events that the archive held, if the file was sealed.
fn scan_blobs(
    source: &Source,
    places: &mut HashMap<BlobHash, (u64, u64)>,
    findings: &mut Vec<Finding>,
) -> Option<u64> {
    let mut offset = FILE_HEADER_BYTES as u64;
    while offset < source.len {
        let header = match source.block_header(offset) {
            Ok(header) => header,
            Err(error) => {
                findings.push(error.finding());
                return None;
            }
        };
        let end = (offset + BLOCK_HEADER_BYTES as u64).checked_add(header.stored);
        let Some(end) = end.filter(|end| *end <= source.len) else {
            let error = source.cut(source.len, format!("the blob at {offset} is longer"));
            findings.push(error.finding());
            return None;
        };
        if header.kind == kind::SEALED {
            return Some(header.a);
        }
        if header.kind == kind::BLOB {
            let hash = u128::from(header.a) | u128::from(header.b) << 64;
            places.insert(hash, (offset, header.raw));
        }
        offset = end;
    }
    None
}

/// Looks at the last block of a sealed file of blobs.
fn check_seal_of_blobs(blobs: &Source, index: &Index) -> Result<(), ReadError> {
    let last = index.blobs.iter().max_by_key(|entry| entry.offset);
    let offset = last.map_or(FILE_HEADER_BYTES as u64, |entry| {
        (entry.offset + BLOCK_HEADER_BYTES as u64).saturating_add(entry.bytes)
    });
    let header = blobs.block_header(offset)?;
    let events = index.threads.iter().map(|thread| thread.events).fold(0, u64::saturating_add);
    if header.kind != kind::SEALED || header.stored != 0 || header.a != events {
        return Err(blobs.damaged(offset, "the last block does not close the file"));
    }
    Ok(())
}

/// Reads the used chunks of a ring, in the thread's order. Of a file that ends inside a chunk, the
/// records before its end are read.
fn read_chunks(source: &Source, ring: &RingHeader) -> Result<Vec<RawChunk>, ReadError> {
    let mut chunks = Vec::new();
    let bytes = u64::from(ring.chunk_bytes);
    let mut offset = RING_HEADER_BYTES as u64;
    while offset + CHUNK_HEADER_BYTES as u64 <= source.len {
        let there = bytes.min(source.len - offset) as usize - CHUNK_HEADER_BYTES;
        let mut head = [0; CHUNK_HEADER_BYTES];
        source.exact(offset, &mut head)?;
        let word = |at: usize| u64::from_le_bytes(array(&head[at..at + 8]));
        let (magic, sequence, first) = (word(0), word(8), word(16));
        if magic == CHUNK_MAGIC && sequence != 0 {
            let mut records = vec![0; there];
            source.exact(offset + CHUNK_HEADER_BYTES as u64, &mut records)?;
            if (there as u64) < bytes - CHUNK_HEADER_BYTES as u64 {
                records.truncate(whole_records(&records));
            }
            chunks.push(RawChunk { sequence, first, bytes: records });
        }
        offset += bytes;
    }
    chunks.sort_by_key(|chunk| chunk.sequence);
    Ok(chunks)
}

/// Streams the events of one thread: one block is in memory at a time.
///
/// After an error the iterator goes on behind the damaged block; the indices of the events tell
/// what is missing.
pub struct ThreadReader<'a> {
    process: &'a Process,
    thread: u32,
    blocks: Vec<BlockEntry>,
    next_block: usize,
    block: Vec<u8>,
    at: usize,
    left: u64,
    index: u64,
    last: u64,
    next_live: usize,
}

impl ThreadReader<'_> {
    /// Loads the next block; `None` after the last.
    fn load(&mut self) -> Option<Result<(), ReadError>> {
        let entry = *self.blocks.get(self.next_block)?;
        self.next_block += 1;
        self.block.clear();
        self.at = 0;
        self.left = 0;
        let source = &self.process.events;
        let loaded = source.block_header(entry.offset).and_then(|header| {
            if header != entry.header {
                return Err(source.damaged(entry.offset, "not the block of the index"));
            }
            source.payload(&entry)
        });
        Some(loaded.map(|block| {
            self.block = block;
            self.left = entry.header.c;
            self.index = entry.header.b;
            self.last = 0;
        }))
    }

    fn damaged_here(&mut self, what: &str) -> ReadError {
        let entry = self.blocks[self.next_block - 1];
        let place = self.at;
        let lost = self.left;
        self.left = 0;
        self.process.events.damaged(
            entry.offset,
            format!("{what}, at byte {place} of the unpacked block; {lost} events lost"),
        )
    }
}

impl Iterator for ThreadReader<'_> {
    type Item = Result<Event, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            while self.left > 0 {
                let mut cursor = Cursor::new(&self.block[self.at..]);
                let id = EventId { thread: self.thread, index: self.index };
                if cursor.is_empty() {
                    return Some(Err(self.damaged_here("fewer events than the block announces")));
                }
                match take_event(&mut cursor, &self.process.index.apis, id, self.last) {
                    Ok(found) => {
                        self.at += cursor.at();
                        let Some(event) = found else { continue };
                        self.left -= 1;
                        self.index += 1;
                        self.last = event.enter;
                        return Some(self.process.unpack_fields(event));
                    }
                    Err(what) => return Some(Err(self.damaged_here(what))),
                }
            }
            match self.load() {
                Some(Ok(())) => {}
                Some(Err(error)) => return Some(Err(error)),
                None => {
                    let live = &self.process.live().events;
                    while let Some(event) = live.get(self.next_live) {
                        self.next_live += 1;
                        if event.id.thread == self.thread {
                            return Some(self.process.unpack_fields(event.clone()));
                        }
                    }
                    return None;
                }
            }
        }
    }
}

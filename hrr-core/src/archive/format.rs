//! The framing that every file of an archive shares: a file header, then blocks.
//!
//! A block is a header of 64 bytes and a payload. The header has a checksum of its own, seeded
//! with its place in the file, so that a flipped length is damage and never a cut, and so that a
//! block that was moved is damage too. `docs/format.md` has the tables.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128};

use super::event::BlobHash;
use super::facts::{Annotation, Note, ProcessInfo, RuntimeName, ThreadInfo};
use super::shape::ApiShape;

/// The version of the format that this crate writes.
pub const FORMAT_VERSION: u32 = 6;

/// The first bytes of every file.
pub(crate) const MAGIC: [u8; 8] = *b"\x89HRRrs\r\n";
/// The first bytes of a file of AMD's own recorder.
pub(crate) const UPSTREAM_MAGIC: [u8; 4] = *b"HRRE";

/// Size of the header of a file.
pub(crate) const FILE_HEADER_BYTES: usize = 32;
/// Size of the header of a block.
pub(crate) const BLOCK_HEADER_BYTES: usize = 64;
/// Size of what stands after the index.
pub(crate) const FOOTER_BYTES: usize = 32;
/// The largest payload, unpacked, that a reader accepts.
pub(crate) const RAW_BYTES_MAX: u64 = 1 << 30;

/// What a file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(crate) enum FileKind {
    /// Events and everything about them.
    Events = 1,
    /// Content by hash.
    Blobs = 2,
    /// The live ring of one thread.
    Ring = 3,
    /// Process folders in one file.
    Pack = 4,
}

/// What a block holds.
pub(crate) mod kind {
    /// `postcard` of [`super::ProcessInfo`].
    pub(crate) const PROCESS: u32 = 1;
    /// `postcard` of a list of [`super::ApiShape`]; `a` is the position of the first.
    pub(crate) const APIS: u32 = 2;
    /// `postcard` of a [`super::ThreadInfo`]; its number of events is 0 here.
    pub(crate) const THREAD: u32 = 3;
    /// Events of the thread `a`, from its index `b`, `c` of them.
    pub(crate) const EVENTS: u32 = 4;
    /// `postcard` of a list of [`super::Annotation`].
    pub(crate) const ANNOTATIONS: u32 = 5;
    /// `postcard` of a list of [`super::Note`].
    pub(crate) const NOTES: u32 = 6;
    /// Content; `a` and `b` are the low and high half of its hash.
    pub(crate) const BLOB: u32 = 7;
    /// `postcard` of [`super::Index`].
    pub(crate) const INDEX: u32 = 8;
    /// The last block of a sealed file of blobs; `a` is the number of events of all threads. It tells
    /// how many events are lost when the file of events is cut.
    pub(crate) const SEALED: u32 = 10;
    /// `postcard` of a list of [`super::RuntimeName`].
    pub(crate) const RUNTIMES: u32 = 11;
    /// One file of a packed archive; `postcard` of its names stands in a block before it.
    pub(crate) const PACKED: u32 = 9;
}

/// How a payload is stored.
pub(crate) mod codec {
    /// As it is.
    pub(crate) const RAW: u32 = 0;
    /// One zstd frame.
    pub(crate) const ZSTD: u32 = 1;
}

/// The header of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FileHeader {
    pub(crate) kind: u32,
    /// The same in every file of a process folder.
    pub(crate) recording: u64,
}

impl FileHeader {
    pub(crate) fn encode(self) -> [u8; FILE_HEADER_BYTES] {
        let mut out = [0; FILE_HEADER_BYTES];
        out[..8].copy_from_slice(&MAGIC);
        out[8..12].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
        out[12..16].copy_from_slice(&self.kind.to_le_bytes());
        out[16..24].copy_from_slice(&self.recording.to_le_bytes());
        let sum = xxh3_64_with_seed(&out[..24], 0);
        out[24..].copy_from_slice(&sum.to_le_bytes());
        out
    }
}

/// The header of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct BlockHeader {
    pub(crate) kind: u32,
    pub(crate) codec: u32,
    pub(crate) stored: u64,
    pub(crate) raw: u64,
    pub(crate) a: u64,
    pub(crate) b: u64,
    pub(crate) c: u64,
    /// Of the stored payload.
    pub(crate) sum: u64,
}

impl BlockHeader {
    pub(crate) fn encode(&self, offset: u64) -> [u8; BLOCK_HEADER_BYTES] {
        let mut out = [0; BLOCK_HEADER_BYTES];
        out[..4].copy_from_slice(&self.kind.to_le_bytes());
        out[4..8].copy_from_slice(&self.codec.to_le_bytes());
        let words = [self.stored, self.raw, self.a, self.b, self.c, self.sum];
        for (slot, word) in out[8..56].chunks_exact_mut(8).zip(words) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        let sum = xxh3_64_with_seed(&out[..56], offset);
        out[56..].copy_from_slice(&sum.to_le_bytes());
        out
    }

    /// The header at `offset`, if its checksum is right.
    pub(crate) fn decode(bytes: &[u8; BLOCK_HEADER_BYTES], offset: u64) -> Option<BlockHeader> {
        let u32_at = |at: usize| u32::from_le_bytes(array(&bytes[at..at + 4]));
        let u64_at = |at: usize| u64::from_le_bytes(array(&bytes[at..at + 8]));
        (u64_at(56) == xxh3_64_with_seed(&bytes[..56], offset)).then(|| BlockHeader {
            kind: u32_at(0),
            codec: u32_at(4),
            stored: u64_at(8),
            raw: u64_at(16),
            a: u64_at(24),
            b: u64_at(32),
            c: u64_at(40),
            sum: u64_at(48),
        })
    }
}

/// Copies a slice whose length the caller chose into an array.
pub(crate) fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[..N]);
    out
}

/// What stands at the very end of a sealed file of events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Footer {
    /// Where the index block begins.
    pub(crate) index: u64,
}

impl Footer {
    const SEAL: u64 = u64::from_le_bytes(*b"HRRseal6");

    pub(crate) fn encode(self, offset: u64) -> [u8; FOOTER_BYTES] {
        let mut out = [0; FOOTER_BYTES];
        out[..8].copy_from_slice(&self.index.to_le_bytes());
        out[8..16].copy_from_slice(&Self::SEAL.to_le_bytes());
        out[16..24].copy_from_slice(&(offset + FOOTER_BYTES as u64).to_le_bytes());
        let sum = xxh3_64_with_seed(&out[..24], offset);
        out[24..].copy_from_slice(&sum.to_le_bytes());
        out
    }

    pub(crate) fn decode(bytes: &[u8; FOOTER_BYTES], offset: u64) -> Option<Footer> {
        let footer = Footer { index: u64::from_le_bytes(array(&bytes[..8])) };
        (footer.encode(offset) == *bytes).then_some(footer)
    }
}

/// What the index says of one block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct BlockEntry {
    pub(crate) offset: u64,
    pub(crate) header: BlockHeader,
}

/// What the index says of one blob.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct BlobEntry {
    pub(crate) hash: BlobHash,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// The index of a sealed process.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Index {
    pub(crate) process: ProcessInfo,
    pub(crate) apis: Vec<ApiShape>,
    pub(crate) threads: Vec<ThreadInfo>,
    pub(crate) notes: Vec<Note>,
    /// Every block of the file of events before the index, in the order of the file.
    pub(crate) blocks: Vec<BlockEntry>,
    /// Every blob, sorted by hash.
    pub(crate) blobs: Vec<BlobEntry>,
    /// The length of the file of blobs.
    pub(crate) blobs_bytes: u64,
}

/// The hash by which the content of a blob is found.
pub fn blob_hash(content: &[u8]) -> BlobHash {
    xxh3_128(content)
}

/// The checksum of a stored payload of the given kind. A blob's is the low half of its hash, which
/// was computed already.
pub(crate) fn payload_sum(kind_of: u32, hash: BlobHash, stored: &[u8]) -> u64 {
    if kind_of == kind::BLOB { hash as u64 } else { xxh3_64_with_seed(stored, 0) }
}

/// A list of annotations, as its block holds it.
pub(crate) type Annotations = Vec<Annotation>;

/// A list of the names of runtimes, as its block holds it.
pub(crate) type RuntimeNames = Vec<RuntimeName>;

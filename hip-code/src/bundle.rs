//! `__CLANG_OFFLOAD_BUNDLE__`: several code objects in one file, with a table in front.
//!
//! Facts: Clang documentation, "Clang Offload Bundler", "Bundled Binary File Layout" and
//! "Bundle Entry ID".

use crate::bytes::{slice_at, u64_at};
use crate::{CodeError, TargetId};

pub(crate) const MAGIC: &[u8; 24] = b"__CLANG_OFFLOAD_BUNDLE__";
/// Magic and number of entries.
pub(crate) const HEADER_BYTES: usize = 32;
/// Offset, size and id length of one entry, in front of its id.
pub(crate) const ENTRY_BYTES: usize = 24;

/// A bundle whose table has been checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle<'a> {
    /// The entries, in the order of the table.
    pub entries: Vec<BundleEntry<'a>>,
}

/// One code object of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BundleEntry<'a> {
    /// `OFFLOADKIND-TRIPLE-TARGETID`, for example `hipv4-amdgcn-amd-amdhsa--gfx90a`.
    pub id: &'a str,
    /// The bytes; empty for the host entry.
    pub data: &'a [u8],
}

impl<'a> Bundle<'a> {
    /// Whether the bytes start as a bundle does.
    pub fn is_bundle(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC)
    }

    /// Reads the table and finds the bytes of each entry.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, CodeError> {
        if !Self::is_bundle(bytes) {
            return Err(CodeError::UnknownImage);
        }
        let truncated = CodeError::Truncated("bundle table");
        let count = u64_at(bytes, MAGIC.len()).ok_or(truncated.clone())?;
        let mut entries = Vec::new();
        let mut at = HEADER_BYTES;
        // Each entry takes at least 24 bytes of the image, which bounds the loop.
        for _ in 0..count {
            let (entry, next) = Self::entry_at(bytes, at)?;
            entries.push(entry);
            at = next;
        }
        Ok(Self { entries })
    }

    fn entry_at(bytes: &'a [u8], at: usize) -> Result<(BundleEntry<'a>, usize), CodeError> {
        let truncated = || CodeError::Truncated("bundle table");
        let field = |index: usize| u64_at(bytes, at + 8 * index).ok_or_else(truncated);
        let (offset, size, id_bytes) = (field(0)?, field(1)?, field(2)?);
        let id_at = at + ENTRY_BYTES;
        let id = slice_at(bytes, id_at as u64, id_bytes).ok_or_else(truncated)?;
        let next = id_at + id.len();
        let id = str::from_utf8(id).map_err(|_| CodeError::Malformed("bundle entry id"))?;
        let data = slice_at(bytes, offset, size).ok_or(CodeError::Truncated("bundle entry"))?;
        Ok((BundleEntry { id, data }, next))
    }
}

impl BundleEntry<'_> {
    /// The target of a device entry for HIP; `None` for the host and for other languages.
    pub fn target(&self) -> Option<TargetId> {
        let rest = self.id.strip_prefix("hipv4-").or_else(|| self.id.strip_prefix("hip-"))?;
        // The triple is `amdgcn-amd-amdhsa` with an environment that is empty, "unknown", or,
        // from old tools, left out with its hyphen.
        let rest = rest.strip_prefix("amdgcn-amd-amdhsa-")?;
        let rest = rest.strip_prefix("unknown").unwrap_or(rest);
        TargetId::parse(rest.strip_prefix('-').unwrap_or(rest))
    }
}

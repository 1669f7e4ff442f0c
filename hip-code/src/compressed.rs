//! `CCOB`: a compressed offload bundle.
//!
//! Facts: Clang documentation, "Clang Offload Bundler", "Compressed Offload Bundle". Version 1
//! does not say how long it is. The hash in the header is not checked: it guards against
//! mistakes of the bundler, and zstd and zlib have checksums of their own.

use std::io::{self, Read};

use crate::bytes::{slice_at, u16_at, u32_at, u64_at};
use crate::{Bundle, CodeError};

pub(crate) const MAGIC: &[u8; 4] = b"CCOB";
/// Header length of the longest version, the third.
pub(crate) const HEADER_MAX_BYTES: usize = 32;
/// More than any bundle seen (ROCm's largest libraries hold some hundred MiB of code); stops a
/// small image from filling the memory.
const UNCOMPRESSED_MAX_BYTES: u64 = 4 << 30;

/// The header of a compressed bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompressedBundle {
    /// Version of the header: 1, 2 or 3.
    pub version: u16,
    /// Length of the header.
    pub header_bytes: usize,
    /// Length of the whole image; version 1 does not say.
    pub total_bytes: Option<u64>,
    /// Length of the bundle inside.
    pub uncompressed_bytes: u64,
    method: Method,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Zlib,
    Zstd,
}

impl CompressedBundle {
    /// Whether the bytes start as a compressed bundle does.
    pub fn is_compressed(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC)
    }

    /// Reads the header alone.
    pub fn parse_header(bytes: &[u8]) -> Result<Self, CodeError> {
        if !Self::is_compressed(bytes) {
            return Err(CodeError::UnknownImage);
        }
        let truncated = || CodeError::Truncated("compressed bundle header");
        let version = u16_at(bytes, 4).ok_or_else(truncated)?;
        let method = match u16_at(bytes, 6).ok_or_else(truncated)? {
            0 => Method::Zlib,
            1 => Method::Zstd,
            value => return Err(CodeError::UnknownCompression { what: "method", value }),
        };
        let word = |at| u32_at(bytes, at).map(u64::from).ok_or_else(truncated);
        let long = |at| u64_at(bytes, at).ok_or_else(truncated);
        // A 64-bit hash ends each header.
        let (total_bytes, uncompressed_bytes, header_bytes) = match version {
            1 => (None, word(8)?, 20),
            2 => (Some(word(8)?), word(12)?, 24),
            3 => (Some(long(8)?), long(16)?, 32),
            value => return Err(CodeError::UnknownCompression { what: "version", value }),
        };
        if total_bytes.is_some_and(|total| total < header_bytes as u64) {
            return Err(CodeError::Malformed("compressed bundle header"));
        }
        Ok(Self { version, header_bytes, total_bytes, uncompressed_bytes, method })
    }

    /// Decompresses the image `bytes`, whose header this is.
    pub fn decompress(&self, bytes: &[u8]) -> Result<Vec<u8>, CodeError> {
        let total = self.total_bytes.unwrap_or(bytes.len() as u64);
        let truncated = CodeError::Truncated("compressed bundle");
        let payload_bytes = total.checked_sub(self.header_bytes as u64).ok_or(truncated.clone())?;
        let payload = slice_at(bytes, self.header_bytes as u64, payload_bytes).ok_or(truncated)?;
        if self.uncompressed_bytes > UNCOMPRESSED_MAX_BYTES {
            return Err(CodeError::Decompression(format!(
                "{} bytes are more than the limit of {UNCOMPRESSED_MAX_BYTES}",
                self.uncompressed_bytes
            )));
        }
        let failed = |error: io::Error| CodeError::Decompression(error.to_string());
        // One byte more than promised is asked for, so that too much is noticed.
        let limit = self.uncompressed_bytes + 1;
        let mut bundle = Vec::new();
        match self.method {
            Method::Zlib => flate2::read::ZlibDecoder::new(payload)
                .take(limit)
                .read_to_end(&mut bundle)
                .map_err(failed)?,
            Method::Zstd => zstd::Decoder::new(payload)
                .map_err(failed)?
                .single_frame()
                .take(limit)
                .read_to_end(&mut bundle)
                .map_err(failed)?,
        };
        if bundle.len() as u64 != self.uncompressed_bytes {
            return Err(CodeError::Decompression(format!(
                "the header says {} bytes, the data has {}{}",
                self.uncompressed_bytes,
                bundle.len(),
                if bundle.len() as u64 == limit { " or more" } else { "" }
            )));
        }
        if !Bundle::is_bundle(&bundle) {
            return Err(CodeError::Malformed("content of the compressed bundle"));
        }
        Ok(bundle)
    }
}

//! How long an image is that a program hands over as a bare pointer.
//!
//! HIP takes code objects as `const void*` without a length. The length follows from the
//! image's own headers, which are read through the operating system: an image that ends early,
//! at the edge of mapped memory, then gives "unknown" and not a crash. An unknown length is
//! `None` and never zero.

use std::io::{self, Read as _};
use std::os::fd::AsRawFd as _;

use crate::bytes::{u16_at, u32_at, u64_at};
use crate::{CompressedBundle, bundle, compressed};

/// Tables longer than these are taken for garbage: the largest bundles seen hold some dozens.
const BUNDLE_ENTRIES_MAX: u64 = 1 << 16;
const BUNDLE_ID_MAX_BYTES: u64 = 1 << 16;
const PAGE_BYTES: u64 = 4096;

const ELF_MAGIC: &[u8; 4] = b"\x7fELF";
const ELF64_HEADER_BYTES: usize = 64;
const ELF64_PROGRAM_HEADER_BYTES: u64 = 56;
const ELF64_SECTION_HEADER_BYTES: u64 = 64;
const SHT_NOBITS: u32 = 8;
const PN_XNUM: u64 = 0xffff;

/// Magic of `__CudaFatBinaryWrapper`, which compilers pass to `__hipRegisterFatBinary`: "HIPF".
pub const FAT_BINARY_MAGIC: u32 = 0x4849_5046;
/// The one version of that wrapper.
pub const FAT_BINARY_VERSION: u32 = 1;

/// Length of the image at `image`, if its headers say and all of it is mapped.
///
/// Reads the ELF header and its two tables, or the header and table of a bundle, or the header
/// of a compressed bundle; then one byte of each page of the result.
///
/// # Safety
///
/// Nobody writes to the image during the call. The pointer may be invalid.
pub unsafe fn image_bytes(image: *const u8) -> Option<usize> {
    let base = image.addr() as u64;
    let bytes = measure(&|offset, into: &mut [u8]| read_memory(base.checked_add(offset)?, into))?;
    let end = base.checked_add(bytes)?;
    let mut probe = [0];
    let mut page = base;
    while page < end {
        read_memory(page, &mut probe)?;
        page = (page / PAGE_BYTES + 1) * PAGE_BYTES;
    }
    usize::try_from(bytes).ok()
}

/// A copy of the image at `image`, if [`image_bytes`] finds its length.
///
/// # Safety
///
/// As for [`image_bytes`].
pub unsafe fn copy_image(image: *const u8) -> Option<Vec<u8>> {
    // SAFETY: the obligations are the caller's own.
    let bytes = unsafe { image_bytes(image) }?;
    let mut copy = vec![0; bytes];
    read_memory(image.addr() as u64, &mut copy)?;
    Some(copy)
}

/// The image that a fat binary wrapper points at, if it is one.
///
/// # Safety
///
/// Nobody writes to the wrapper during the call. The pointer may be invalid.
pub unsafe fn fat_binary_image(wrapper: *const u8) -> Option<*const u8> {
    let mut header = [0; 16];
    read_memory(wrapper.addr() as u64, &mut header)?;
    let known =
        u32_at(&header, 0)? == FAT_BINARY_MAGIC && u32_at(&header, 4)? == FAT_BINARY_VERSION;
    let image = usize::try_from(u64_at(&header, 8)?).ok()?;
    (known && image != 0).then(|| std::ptr::with_exposed_provenance(image))
}

/// Whether an image is a code object by itself, not a bundle.
pub fn is_object(image: &[u8]) -> bool {
    image.starts_with(ELF_MAGIC)
}

/// Length of the image that `bytes` start with, by the same rules; at most `bytes.len()`.
pub fn image_bytes_in(bytes: &[u8]) -> Option<usize> {
    let found = measure(&|offset, into: &mut [u8]| {
        let start = usize::try_from(offset).ok()?;
        into.copy_from_slice(bytes.get(start..start.checked_add(into.len())?)?);
        Some(())
    })?;
    usize::try_from(found).ok().filter(|found| *found <= bytes.len())
}

/// Fills the slice with the bytes at an offset of the image, or says that they are not there.
type ReadAt<'r> = &'r dyn Fn(u64, &mut [u8]) -> Option<()>;

fn measure(read: ReadAt<'_>) -> Option<u64> {
    let mut magic = [0; 4];
    read(0, &mut magic)?;
    if magic == *ELF_MAGIC {
        measure_elf(read)
    } else if magic == *compressed::MAGIC {
        measure_compressed(read)
    } else {
        measure_bundle(read)
    }
}

fn measure_compressed(read: ReadAt<'_>) -> Option<u64> {
    // The shortest version that has a length says in 16 bytes; the third needs 32.
    let mut header = [0; compressed::HEADER_MAX_BYTES];
    let present = [compressed::HEADER_MAX_BYTES, 24]
        .into_iter()
        .find(|&length| read(0, &mut header[..length]).is_some())?;
    CompressedBundle::parse_header(&header[..present]).ok()?.total_bytes
}

fn measure_bundle(read: ReadAt<'_>) -> Option<u64> {
    let mut header = [0; bundle::HEADER_BYTES];
    read(0, &mut header)?;
    if !header.starts_with(bundle::MAGIC) {
        return None;
    }
    let count = u64_at(&header, bundle::MAGIC.len())?;
    if count > BUNDLE_ENTRIES_MAX {
        return None;
    }
    let mut at = bundle::HEADER_BYTES as u64;
    let mut end = at;
    for _ in 0..count {
        let mut entry = [0; bundle::ENTRY_BYTES];
        read(at, &mut entry)?;
        let (offset, bytes) = (u64_at(&entry, 0)?, u64_at(&entry, 8)?);
        let id_bytes = u64_at(&entry, 16).filter(|&length| length <= BUNDLE_ID_MAX_BYTES)?;
        at = at.checked_add(bundle::ENTRY_BYTES as u64)?.checked_add(id_bytes)?;
        end = end.max(at).max(offset.checked_add(bytes)?);
    }
    Some(end)
}

fn measure_elf(read: ReadAt<'_>) -> Option<u64> {
    let mut header = [0; ELF64_HEADER_BYTES];
    read(0, &mut header)?;
    // EI_CLASS and EI_DATA: 64-bit, little-endian.
    if header[4..6] != [2, 1] {
        return None;
    }
    let (programs_at, sections_at) = (u64_at(&header, 32)?, u64_at(&header, 40)?);
    let half = |at: usize| u16_at(&header, at).map(u64::from);
    let (mut programs, mut sections) = (half(56)?, half(60)?);
    if programs != 0 && half(54)? != ELF64_PROGRAM_HEADER_BYTES
        || sections_at != 0 && half(58)? != ELF64_SECTION_HEADER_BYTES
    {
        return None;
    }
    if sections_at != 0 && (sections == 0 || programs == PN_XNUM) {
        // The counts did not fit; the first section header has them.
        let mut first = [0; ELF64_SECTION_HEADER_BYTES as usize];
        read(sections_at, &mut first)?;
        if sections == 0 {
            sections = u64_at(&first, 32)?;
        }
        if programs == PN_XNUM {
            programs = u64::from(u32_at(&first, 44)?);
        }
    }
    let mut end = ELF64_HEADER_BYTES as u64;
    if programs != 0 {
        let (entry, at) = (ELF64_PROGRAM_HEADER_BYTES, programs_at);
        end = end.max(table_end(read, at, programs, entry, &|header| {
            u64_at(header, 8)?.checked_add(u64_at(header, 32)?)
        })?);
    }
    if sections_at != 0 {
        let (entry, at) = (ELF64_SECTION_HEADER_BYTES, sections_at);
        end = end.max(table_end(read, at, sections, entry, &|header| {
            let in_file = if u32_at(header, 4)? == SHT_NOBITS { 0 } else { u64_at(header, 32)? };
            u64_at(header, 24)?.checked_add(in_file)
        })?);
    }
    Some(end)
}

/// Where a table of an ELF file and all that its entries describe end.
fn table_end(
    read: ReadAt<'_>,
    at: u64,
    count: u64,
    entry_bytes: u64,
    end_of: &dyn Fn(&[u8]) -> Option<u64>,
) -> Option<u64> {
    let mut end = at.checked_add(count.checked_mul(entry_bytes)?)?;
    let mut entry = [0; ELF64_SECTION_HEADER_BYTES as usize];
    let entry = entry.get_mut(..entry_bytes as usize)?;
    // A count that lies ends at the first entry that is not there.
    for index in 0..count {
        read(at + index * entry_bytes, entry)?;
        end = end.max(end_of(entry)?);
    }
    Some(end)
}

/// Copies memory of this process without faulting where there is none, or none to read.
fn read_memory(address: u64, into: &mut [u8]) -> Option<()> {
    match read_by_copy(address, into) {
        // Some sandboxes forbid the system call, though the memory is our own.
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) => {
            read_by_pipe(address, into).ok()
        }
        result => result.ok(),
    }
}

fn read_by_copy(address: u64, into: &mut [u8]) -> io::Result<()> {
    let process = std::process::id().cast_signed();
    let mut done = 0;
    while done < into.len() {
        let from = foreign(address, done)?;
        let rest = &mut into[done..];
        let local = libc::iovec { iov_base: rest.as_mut_ptr().cast(), iov_len: rest.len() };
        let remote = libc::iovec { iov_base: from, iov_len: rest.len() };
        // SAFETY: the local vector is an exclusive slice; the kernel checks the remote one.
        let copied = unsafe {
            libc::process_vm_readv(process, &raw const local, 1, &raw const remote, 1, 0)
        };
        done += progress(copied)?;
    }
    Ok(())
}

/// The kernel reads the memory when it fills the pipe, and says EFAULT where it cannot.
fn read_by_pipe(address: u64, into: &mut [u8]) -> io::Result<()> {
    let (mut reader, writer) = io::pipe()?;
    let mut done = 0;
    while done < into.len() {
        let from = foreign(address, done)?;
        // A chunk that an empty pipe takes without waiting for its reader.
        let chunk = (into.len() - done).min(PAGE_BYTES as usize);
        // SAFETY: the descriptor is open; the kernel checks the range that it reads.
        let written = progress(unsafe { libc::write(writer.as_raw_fd(), from, chunk) })?;
        reader.read_exact(&mut into[done..done + written])?;
        done += written;
    }
    Ok(())
}

fn foreign(address: u64, done: usize) -> io::Result<*mut libc::c_void> {
    let base = usize::try_from(address).map_err(io::Error::other)?;
    let address = base.checked_add(done).ok_or_else(|| io::Error::from(io::ErrorKind::Other))?;
    Ok(std::ptr::without_provenance_mut(address))
}

fn progress(result: isize) -> io::Result<usize> {
    match usize::try_from(result) {
        Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
        Ok(bytes) => Ok(bytes),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::{read_by_copy, read_by_pipe};

    #[test]
    fn both_ways_read_what_is_there_and_nothing_else() {
        let source: Vec<u8> = (0..20_000_u32).map(|index| (index % 251) as u8).collect();
        let address = source.as_ptr().addr() as u64;
        for read in [read_by_copy, read_by_pipe] {
            let mut copy = vec![0; source.len()];
            read(address, &mut copy).unwrap();
            assert_eq!(copy, source);
            for nowhere in [0, 0x1000, u64::MAX - 4, u64::MAX] {
                let error = read(nowhere, &mut [0; 8]).unwrap_err();
                assert!(error.raw_os_error().is_none_or(|code| code == libc::EFAULT), "{error}");
            }
        }
    }
}

//! Which HIP the program was built for.
//!
//! HIP 6 gave values of enums and flags that programs see new numbers, and tells more of them. A
//! program loads the library by the name that it was linked against, `libamdhip64.so.5` or a later
//! one, so the name that this library was loaded by says which numbers it means.

use std::ffi::CStr;
use std::sync::OnceLock;

use hrr_ffi::types::*;

use crate::allocations::{Allocation, Kind};

/// The major version in the name that this library was loaded by; 6, the soname's, without one.
pub(crate) fn major() -> u32 {
    static MAJOR: OnceLock<u32> = OnceLock::new();
    *MAJOR.get_or_init(|| loaded_as().as_deref().and_then(major_of).unwrap_or(6))
}

fn loaded_as() -> Option<String> {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    let address = (major as *const ()).cast();
    // SAFETY: the structure is live and only written; any address may be asked about.
    let found = unsafe { libc::dladdr(address, info.as_mut_ptr()) };
    // SAFETY: zeroed above, and filled by a call that succeeded.
    let info = (found != 0).then(|| unsafe { info.assume_init() })?;
    if info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader keeps the name, with its NUL, as long as the library is loaded.
    Some(unsafe { CStr::from_ptr(info.dli_fname) }.to_string_lossy().into_owned())
}

fn major_of(path: &str) -> Option<u32> {
    path.rsplit_once(".so.")?.1.split('.').next()?.parse().ok()
}

/// The version number that programs are told, as HIP packs it.
pub(crate) fn version() -> i32 {
    match major() {
        ..=5 => 5 * 10_000_000 + 2 * 100_000 + 21_153,
        6 => 6 * 10_000_000 + 4 * 100_000 + 43_484,
        7.. => 7 * 10_000_000 + 100_000 + 51_831,
    }
}

/// What HIP 5 answers where later versions answer something else.
///
/// What HIP 5 answers is what AMD's 5.2.3 does; `tests/workloads/errors.hip.cpp` holds both to it.
pub(crate) fn by_version<T>(five: T, later: T) -> T {
    if major() <= 5 { five } else { later }
}

/// A kind of memory as the program's HIP numbers it.
pub(crate) fn memory_type_out(kind: hipMemoryType) -> hipMemoryType {
    if major() >= 6 {
        return kind;
    }
    hipMemoryType(match kind {
        // 5.2.3 calls managed memory host memory.
        hipMemoryTypeUnregistered | hipMemoryTypeHost | hipMemoryTypeManaged => 0,
        hipMemoryTypeDevice => 1,
        hipMemoryTypeArray => 2,
        _unified => 3,
    })
}

/// A kind of memory from a program's number.
pub(crate) fn memory_type_in(number: hipMemoryType) -> hipMemoryType {
    if major() >= 6 {
        return number;
    }
    match number.0 {
        0 => hipMemoryTypeHost,
        1 => hipMemoryTypeDevice,
        2 => hipMemoryTypeArray,
        3 => hipMemoryTypeUnified,
        _unknown => number,
    }
}

/// `hipIpcMemLazyEnablePeerAccess` as the program's HIP numbers it.
pub(crate) fn lazy_peer_access() -> u32 {
    if major() >= 6 { hipIpcMemLazyEnablePeerAccess } else { 0 }
}

/// The flags of an allocation as the program's HIP tells them. Only host memory that HIP itself
/// allocated has any. 5.2.3 keeps the lower half alone, so that coherence and others are lost, but
/// for the wish to follow the NUMA policy, which is told as bit 15; since HIP 6 (clr,
/// `hip_memory.cpp`) they are what was asked for.
pub(crate) fn flags_out(found: &Allocation) -> u32 {
    match found.kind {
        Kind::Pinned if major() >= 6 => found.flags,
        Kind::Pinned if found.flags & hipHostMallocNumaUser != 0 => found.flags & 0xffff | 0x8000,
        Kind::Pinned => found.flags & 0xffff,
        Kind::Registered { .. } if major() >= 6 => found.flags,
        Kind::Registered { .. }
        | Kind::Device
        | Kind::Pool(_)
        | Kind::Managed
        | Kind::Mapped
        | Kind::Variable
        | Kind::Heap
        | Kind::Imported => 0,
    }
}

/// A kind of node as the program's HIP numbers it: HIP 5 starts at one, and has a number of its
/// own for copies of one row.
pub(crate) fn node_type_out(kind: hipGraphNodeType) -> hipGraphNodeType {
    match kind {
        later if major() >= 6 => later,
        hipGraphNodeTypeMemcpyFromSymbol => hipGraphNodeType(10),
        hipGraphNodeTypeMemcpyToSymbol => hipGraphNodeType(11),
        other => hipGraphNodeType(other.0 + 1),
    }
}

/// What is said of an image that is none: HIP 5 calls it a file that is none.
pub(crate) fn no_image() -> hipError_t {
    if major() >= 6 { hipErrorInvalidImage } else { hipErrorInvalidKernelFile }
}

/// What is said of a code object for another device: HIP 5 tries to load it.
pub(crate) fn object_for_another_device() -> hipError_t {
    if major() >= 6 { hipErrorNoBinaryForGpu } else { hipErrorSharedObjectInitFailed }
}

#[cfg(test)]
mod tests {
    use super::major_of;

    #[test]
    fn the_version_is_the_number_behind_so() {
        assert_eq!(major_of("/opt/rocm/lib/libamdhip64.so.5"), Some(5));
        assert_eq!(major_of("libamdhip64.so.6.4.43484"), Some(6));
        assert_eq!(major_of("target/debug/deps/libamdhip64.so"), None);
        assert_eq!(major_of("/a.so.7/libamdhip64.so"), None);
    }
}

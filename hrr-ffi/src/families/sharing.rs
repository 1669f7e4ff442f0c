//! Handles of the operating system, by which memory is shared with other processes.

use hrr_core::desc::Scope;

use crate::types::hipMemHandleTypePosixFileDescriptor;

/// How many bytes `hipMemExportToShareableHandle` writes: a file descriptor is an `int`, everything
/// else is as large as a pointer.
pub fn handle_bytes(scope: &Scope<'_>) -> Option<u64> {
    bytes_of(super::integer(scope, "handleType")?)
}

/// How many bytes `hipMemPoolExportToShareableHandle` writes.
pub fn pool_handle_bytes(scope: &Scope<'_>) -> Option<u64> {
    bytes_of(super::integer(scope, "handle_type")?)
}

fn bytes_of(handle_type: u64) -> Option<u64> {
    let descriptor = u64::from(hipMemHandleTypePosixFileDescriptor.0);
    Some(if handle_type == descriptor { 4 } else { 8 })
}

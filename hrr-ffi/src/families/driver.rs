//! What the replay engine asks of the live runtime: where the devices are, and device memory at
//! addresses of its choice.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr::{null_mut, with_exposed_provenance_mut};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hrr_core::replay::Driver;

use crate::api::{device, vmm};
use crate::types::*;

/// The driver of HIP runtimes.
#[derive(Default)]
pub struct HipDriver {
    placed: Mutex<Placed>,
}

/// Memory at chosen addresses. The runtime maps in granules, which may be larger than the
/// allocations in them: neighbours share a chunk.
#[derive(Default)]
struct Placed {
    /// By start.
    chunks: BTreeMap<u64, Chunk>,
    /// The allocations, by address: their device and the end of their last granule.
    allocations: HashMap<u64, Allocation>,
}

/// A mapped run of granules.
struct Chunk {
    bytes: u64,
    memory: hipMemGenericAllocationHandle_t,
    /// Allocations that lie in it, in whole or in part.
    users: usize,
}

struct Allocation {
    device: u32,
    /// Rounded to granules.
    start: u64,
    end: u64,
}

impl HipDriver {
    fn placed(&self) -> MutexGuard<'_, Placed> {
        // A panic leaves the maps as the runtime's state is: every change follows its call.
        self.placed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Driver for HipDriver {
    fn identity(&self) -> String {
        let mut version: c_int = 0;
        // SAFETY: the callee writes one int.
        match unsafe { device::raw::hipRuntimeGetVersion(&raw mut version) } {
            hipSuccess => {
                let (major, minor) = (version / 10_000_000, version / 100_000 % 100);
                format!("HIP {major}.{minor}.{}", version % 100_000)
            }
            error => format!("a HIP runtime that answers {error:?} when asked for its version"),
        }
    }

    fn needs_own_memory(&self, function: &str) -> bool {
        // They export an allocation, or answer its bounds, which a mapping rounds up.
        matches!(
            function,
            "hipIpcGetMemHandle"
                | "hipMemGetHandleForAddressRange"
                | "hipMemPoolExportPointer"
                | "hipMemGetAddressRange"
                | "hipMemPtrGetInfo"
        )
    }

    fn device_count(&self) -> Result<u32, String> {
        let mut count: c_int = 0;
        // SAFETY: the callee writes one int.
        match unsafe { device::raw::hipGetDeviceCount(&raw mut count) } {
            // Runtimes say "no device" where there are none.
            hipErrorNoDevice => Ok(0),
            status => {
                told("hipGetDeviceCount", status).map(|()| u32::try_from(count).unwrap_or_default())
            }
        }
    }

    fn device_name(&self, device: u32) -> String {
        let mut name = [0; 256];
        let bytes = name.len() as c_int;
        // SAFETY: the callee writes at most as many bytes as it is told.
        let status =
            unsafe { device::raw::hipDeviceGetName(name.as_mut_ptr(), bytes, device as c_int) };
        match told("hipDeviceGetName", status) {
            Ok(()) => text(&name),
            Err(error) => error,
        }
    }

    fn current_device(&self) -> Result<u32, String> {
        let mut device: c_int = 0;
        // SAFETY: the callee writes one int.
        told("hipGetDevice", unsafe { device::raw::hipGetDevice(&raw mut device) })?;
        u32::try_from(device).map_err(|_| format!("hipGetDevice answered {device}"))
    }

    fn place(&self, address: u64, bytes: u64, device: u32) -> Result<(), String> {
        select(device)?;
        let granule = granule(device)?;
        let start = address / granule * granule;
        let end = address
            .checked_add(bytes)
            .and_then(|end| end.checked_next_multiple_of(granule))
            .ok_or("the range ends beyond all addresses")?;
        let mut placed = self.placed();
        let mut made = Vec::new();
        for (gap, bytes) in placed.gaps(start, end) {
            match map(gap, bytes, device) {
                Ok(memory) => made.push((gap, Chunk { bytes, memory, users: 0 })),
                Err(error) => {
                    for (gap, chunk) in made {
                        unmap(gap, &chunk)?;
                    }
                    return Err(error);
                }
            }
        }
        placed.chunks.extend(made);
        for (_, chunk) in placed.overlapping(start, end) {
            chunk.users += 1;
        }
        placed.allocations.insert(address, Allocation { device, start, end });
        Ok(())
    }

    fn unplace(&self, address: u64) -> Result<(), String> {
        let mut placed = self.placed();
        let allocation = placed
            .allocations
            .remove(&address)
            .ok_or_else(|| format!("nothing was placed at {address:#x}"))?;
        select(allocation.device)?;
        // SAFETY: no argument.
        told("hipDeviceSynchronize", unsafe { device::raw::hipDeviceSynchronize() })?;
        let mut unused = Vec::new();
        for (start, chunk) in placed.overlapping(allocation.start, allocation.end) {
            chunk.users -= 1;
            if chunk.users == 0 {
                unused.push(*start);
            }
        }
        for start in unused {
            if let Some(chunk) = placed.chunks.remove(&start) {
                unmap(start, &chunk)?;
            }
        }
        Ok(())
    }

    fn synchronize(&self) -> Result<(), String> {
        for device in 0..self.device_count()? {
            select(device)?;
            // SAFETY: no argument.
            told("hipDeviceSynchronize", unsafe { device::raw::hipDeviceSynchronize() })?;
        }
        Ok(())
    }
}

impl Placed {
    /// The chunks that touch a range.
    fn overlapping(&mut self, start: u64, end: u64) -> impl Iterator<Item = (&u64, &mut Chunk)> {
        self.chunks.range_mut(..end).filter(move |(at, chunk)| **at + chunk.bytes > start)
    }

    /// The parts of a range that no chunk covers: starts and bytes.
    fn gaps(&mut self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let mut gaps = Vec::new();
        let mut at = start;
        for (chunk_start, chunk) in self.overlapping(start, end) {
            if *chunk_start > at {
                gaps.push((at, *chunk_start - at));
            }
            at = *chunk_start + chunk.bytes;
        }
        if at < end {
            gaps.push((at, end - at));
        }
        gaps
    }
}

fn select(device: u32) -> Result<(), String> {
    // SAFETY: by value.
    told("hipSetDevice", unsafe { device::raw::hipSetDevice(device as c_int) })
}

/// Physical memory of a device.
fn memory_of(device: u32) -> hipMemAllocationProp {
    hipMemAllocationProp {
        r#type: hipMemAllocationTypePinned,
        requestedHandleType: hipMemHandleTypeNone,
        location: location(device),
        win32HandleMetaData: null_mut(),
        allocFlags: hipMemAllocationFlags { compressionType: 0, gpuDirectRDMACapable: 0, usage: 0 },
    }
}

fn location(device: u32) -> hipMemLocation {
    hipMemLocation { r#type: hipMemLocationTypeDevice, id: device as c_int }
}

/// What mapped sizes are multiples of.
fn granule(device: u32) -> Result<u64, String> {
    let mut granule = 0;
    let memory = memory_of(device);
    // SAFETY: the callee reads one struct and writes one size.
    let status = unsafe {
        vmm::raw::hipMemGetAllocationGranularity(
            &raw mut granule,
            &raw const memory,
            hipMemAllocationGranularityMinimum,
        )
    };
    told("hipMemGetAllocationGranularity", status)?;
    match granule {
        0 => Err("hipMemGetAllocationGranularity answered 0".to_owned()),
        granule => Ok(granule as u64),
    }
}

/// Maps new memory at an address, all or nothing.
fn map(address: u64, bytes: u64, device: u32) -> Result<hipMemGenericAllocationHandle_t, String> {
    let size = bytes as usize;
    let at = reserve(address, size)?;
    let mut memory = hipMemGenericAllocationHandle_t::NULL;
    let prop = memory_of(device);
    // SAFETY: the callee reads one struct and writes one handle.
    let created = unsafe { vmm::raw::hipMemCreate(&raw mut memory, size, &raw const prop, 0) };
    let result = told("hipMemCreate", created).and_then(|()| {
        // SAFETY: `at` was reserved for `size` bytes, which `memory` has.
        let mapped = unsafe { vmm::raw::hipMemMap(at, size, 0, memory, 0) };
        told("hipMemMap", mapped)
            .and_then(|()| {
                let access = hipMemAccessDesc {
                    location: location(device),
                    flags: hipMemAccessFlagsProtReadWrite,
                };
                // SAFETY: the callee reads one descriptor; the range was just mapped.
                let given = unsafe { vmm::raw::hipMemSetAccess(at, size, &raw const access, 1) };
                told("hipMemSetAccess", given).inspect_err(|_| {
                    // SAFETY: mapped above, and nothing uses it.
                    let _ = unsafe { vmm::raw::hipMemUnmap(at, size) };
                })
            })
            .inspect_err(|_| {
                // SAFETY: created above.
                let _ = unsafe { vmm::raw::hipMemRelease(memory) };
            })
    });
    match result {
        Ok(()) => Ok(memory),
        Err(error) => {
            // SAFETY: reserved above, and nothing is mapped there.
            let _ = unsafe { vmm::raw::hipMemAddressFree(at, size) };
            Err(error)
        }
    }
}

/// Reserves exactly these addresses.
fn reserve(address: u64, size: usize) -> Result<*mut c_void, String> {
    let wish = with_exposed_provenance_mut::<c_void>(address as usize);
    let mut at = null_mut();
    // SAFETY: the callee writes one pointer; the wish is only a number.
    let status = unsafe { vmm::raw::hipMemAddressReserve(&raw mut at, size, 0, wish, 0) };
    told("hipMemAddressReserve", status)?;
    if at == wish {
        return Ok(at);
    }
    // HIP 5.2 says success and writes nothing; others give other addresses.
    if !at.is_null() {
        // SAFETY: just reserved.
        let _ = unsafe { vmm::raw::hipMemAddressFree(at, size) };
    }
    Err(format!("the runtime reserves {at:p} where {address:#x} was asked for"))
}

fn unmap(address: u64, chunk: &Chunk) -> Result<(), String> {
    let at = with_exposed_provenance_mut::<c_void>(address as usize);
    let size = chunk.bytes as usize;
    // SAFETY: mapped by `map`, and the caller says that no work uses it any more.
    told("hipMemUnmap", unsafe { vmm::raw::hipMemUnmap(at, size) })?;
    // SAFETY: created by `map`.
    told("hipMemRelease", unsafe { vmm::raw::hipMemRelease(chunk.memory) })?;
    // SAFETY: reserved by `map`.
    told("hipMemAddressFree", unsafe { vmm::raw::hipMemAddressFree(at, size) })
}

fn told(function: &str, status: hipError_t) -> Result<(), String> {
    match status {
        hipSuccess => Ok(()),
        error => Err(format!("{function} answered {error:?}")),
    }
}

fn text(name: &[c_char]) -> String {
    let bytes: Vec<u8> = name.iter().map(|byte| *byte as u8).collect();
    match CStr::from_bytes_until_nul(&bytes) {
        Ok(name) => name.to_string_lossy().into_owned(),
        Err(_) => String::from_utf8_lossy(&bytes).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(bytes: u64) -> Chunk {
        Chunk { bytes, memory: hipMemGenericAllocationHandle_t::NULL, users: 1 }
    }

    #[test]
    fn only_what_no_chunk_covers_is_mapped() {
        let mut placed = Placed::default();
        assert_eq!(placed.gaps(0x1000, 0x3000), [(0x1000, 0x2000)]);
        placed.chunks.insert(0x2000, chunk(0x1000));
        placed.chunks.insert(0x4000, chunk(0x1000));
        assert_eq!(
            placed.gaps(0x1000, 0x6000),
            [(0x1000, 0x1000), (0x3000, 0x1000), (0x5000, 0x1000)]
        );
        assert_eq!(placed.gaps(0x2000, 0x3000), []);
        assert_eq!(placed.gaps(0x2000, 0x4000), [(0x3000, 0x1000)]);
    }

    #[test]
    fn neighbours_in_a_chunk_are_found_and_others_are_not() {
        let mut placed = Placed::default();
        placed.chunks.insert(0x2000, chunk(0x1000));
        let touching = |placed: &mut Placed, start, end| placed.overlapping(start, end).count();
        assert_eq!(touching(&mut placed, 0x2800, 0x2900), 1);
        assert_eq!(touching(&mut placed, 0x1000, 0x2000), 0);
        assert_eq!(touching(&mut placed, 0x3000, 0x4000), 0);
    }
}

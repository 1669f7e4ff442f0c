//! Managed memory: advice, prefetches, and what a program asks about them.
//!
//! Managed memory is where every device can reach it already, so nothing moves.

use std::ffi::{c_int, c_uint, c_void};

use hrr_ffi::types::*;

use crate::abi;
use crate::advice::{CPU, NOWHERE};
use crate::allocations::{Allocation, Kind};
use crate::api::{Answer, In, Out};
use crate::runtime::{Runtime, current};

hip_api! { TABLE;
    fn hipMemPrefetchAsync(
        pointer: *const c_void,
        bytes: usize,
        device: c_int,
        stream: hipStream_t,
    ) {
        let (runtime, _) = current()?;
        runtime.stream(stream)?;
        prefetch(runtime, pointer, bytes, place(device))
    }

    fn hipMemPrefetchAsync_v2(
        pointer: *const c_void,
        bytes: usize,
        location: hipMemLocation,
        flags: c_uint,
        stream: hipStream_t,
    ) {
        let (runtime, _) = current()?;
        runtime.stream(stream)?;
        if flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        prefetch(runtime, pointer, bytes, location)
    }

    fn hipMemAdvise(
        pointer: *const c_void,
        bytes: usize,
        advice: hipMemoryAdvise,
        device: c_int,
    ) {
        let (runtime, _) = current()?;
        advise(runtime, pointer, bytes, advice, place(device))
    }

    fn hipMemAdvise_v2(
        pointer: *const c_void,
        bytes: usize,
        advice: hipMemoryAdvise,
        location: hipMemLocation,
    ) {
        let (runtime, _) = current()?;
        advise(runtime, pointer, bytes, advice, location)
    }

    fn hipMemRangeGetAttribute(
        data: Out<u8>,
        data_bytes: usize,
        attribute: hipMemRangeAttribute,
        pointer: *const c_void,
        bytes: usize,
    ) {
        let (runtime, _) = current()?;
        put_attribute(runtime, data, data_bytes, attribute, pointer, bytes)
    }

    fn hipMemRangeGetAttributes(
        data: In<*mut u8>,
        data_bytes: In<usize>,
        attributes: In<hipMemRangeAttribute>,
        count: usize,
        pointer: *const c_void,
        bytes: usize,
    ) {
        let (runtime, _) = current()?;
        if count == 0 {
            return Err(hipErrorInvalidValue);
        }
        let (places, sizes) = (data.slice(count)?, data_bytes.slice(count)?);
        let asked = sizes.into_iter().zip(attributes.slice(count)?);
        for (place, (size, attribute)) in places.into_iter().zip(asked) {
            // SAFETY: HIP's contract: each pointer is good for as many bytes as its size says.
            let place = unsafe { Out::new(place) };
            put_attribute(runtime, place, size, attribute, pointer, bytes)?;
        }
        Ok(())
    }

    fn hipStreamAttachMemAsync(
        stream: hipStream_t,
        pointer: *mut c_void,
        bytes: usize,
        flags: c_uint,
    ) {
        let (runtime, _) = current()?;
        runtime.stream(stream)?;
        if !matches!(flags, hipMemAttachGlobal | hipMemAttachHost | hipMemAttachSingle) {
            return Err(hipErrorInvalidValue);
        }
        managed(runtime, pointer, bytes).map(drop)
    }
}

/// What functions without a location mean by a device.
fn place(device: c_int) -> hipMemLocation {
    let kind = if device == CPU { hipMemLocationTypeHost } else { hipMemLocationTypeDevice };
    hipMemLocation { r#type: kind, id: device }
}

/// The device, or [`CPU`]: there is one NUMA node.
fn check_location(runtime: &Runtime, location: hipMemLocation) -> Answer<i32> {
    match location.r#type {
        hipMemLocationTypeDevice => runtime.device_of(location.id).map(|_| location.id),
        hipMemLocationTypeHost | hipMemLocationTypeHostNuma | hipMemLocationTypeHostNumaCurrent => {
            Ok(CPU)
        }
        _invalid => Err(hipErrorInvalidValue),
    }
}

/// The allocation that a range is part of.
fn known(runtime: &Runtime, pointer: *const c_void, bytes: usize) -> Answer<Allocation> {
    let start = pointer.addr() as u64;
    let found = runtime.allocations.find(start);
    let found = found.filter(|found| bytes != 0 && found.contains(start, bytes as u64));
    found.ok_or(hipErrorInvalidValue)
}

fn managed(runtime: &Runtime, pointer: *const c_void, bytes: usize) -> Answer<Allocation> {
    let found = known(runtime, pointer, bytes)?;
    if found.kind == Kind::Managed { Ok(found) } else { Err(hipErrorInvalidValue) }
}

/// AMD's runtime takes a prefetch of any memory that it knows; other memory than managed stays
/// where it is.
fn prefetch(
    runtime: &Runtime,
    pointer: *const c_void,
    bytes: usize,
    location: hipMemLocation,
) -> Answer {
    let found = known(runtime, pointer, bytes)?;
    let location = check_location(runtime, location)?;
    if found.kind == Kind::Managed {
        let range = found.range(pointer.addr() as u64, bytes as u64);
        runtime.allocations.advise(&found, range, |wishes| wishes.prefetched = location);
    }
    Ok(())
}

fn advise(
    runtime: &Runtime,
    pointer: *const c_void,
    bytes: usize,
    advice: hipMemoryAdvise,
    location: hipMemLocation,
) -> Answer {
    let of_no_place = matches!(advice, hipMemAdviseSetReadMostly | hipMemAdviseUnsetReadMostly);
    let location = match check_location(runtime, location) {
        // What is mostly read is so everywhere (clr, `hip_hmm.cpp`); HIP 5 looked all the same.
        Err(hipErrorInvalidDevice) if of_no_place && abi::major() >= 6 => CPU,
        Err(hipErrorInvalidDevice) if abi::major() < 6 => return Err(hipErrorInvalidValue),
        checked => checked?,
    };
    if !hipMemoryAdvise::NAMES.iter().any(|(value, _)| *value == advice.0) {
        return Err(hipErrorInvalidValue);
    }
    let found = managed(runtime, pointer, bytes)?;
    let range = found.range(pointer.addr() as u64, bytes as u64);
    runtime.allocations.advise(&found, range, |wishes| wishes.advise(advice, location));
    Ok(())
}

/// Writes an attribute of a range. Only coherency is asked of memory that is not managed.
fn put_attribute(
    runtime: &Runtime,
    data: Out<u8>,
    data_bytes: usize,
    attribute: hipMemRangeAttribute,
    pointer: *const c_void,
    bytes: usize,
) -> Answer {
    const WORD: usize = size_of::<i32>();
    let found = known(runtime, pointer, bytes)?;
    let range = found.range(pointer.addr() as u64, bytes as u64);
    let wishes = match found.kind {
        Kind::Managed => Some(runtime.allocations.wishes(&found, range)),
        Kind::Device
        | Kind::Pool(_)
        | Kind::Pinned
        | Kind::Registered { .. }
        | Kind::Mapped
        | Kind::Variable
        | Kind::Heap
        | Kind::Imported => None,
    };
    let is_array = attribute == hipMemRangeAttributeAccessedBy;
    let fits = if is_array { data_bytes.is_multiple_of(WORD) } else { data_bytes == WORD };
    if data_bytes == 0 || !fits {
        return Err(hipErrorInvalidValue);
    }
    let words = match (attribute, wishes) {
        (hipMemRangeAttributeReadMostly, Some(wishes)) => vec![i32::from(wishes.read_mostly)],
        (hipMemRangeAttributePreferredLocation, Some(wishes)) => vec![wishes.preferred],
        (hipMemRangeAttributeLastPrefetchLocation, Some(wishes)) => vec![wishes.prefetched],
        (hipMemRangeAttributeAccessedBy, Some(wishes)) => {
            let devices = (0..32).filter(|device| wishes.accessed_by >> device & 1 != 0);
            let all = devices.chain([CPU]).chain(std::iter::repeat(NOWHERE));
            all.take(data_bytes / WORD).collect()
        }
        (hipMemRangeAttributeCoherencyMode, wishes) => {
            let own = || {
                let fine = found.is_host_memory() && found.flags & hipHostMallocNonCoherent == 0;
                if fine {
                    hipMemRangeCoherencyModeFineGrain
                } else {
                    hipMemRangeCoherencyModeCoarseGrain
                }
            };
            vec![wishes.map_or_else(own, |wishes| wishes.coherency).0.cast_signed()]
        }
        (_unknown_or_not_managed, _) => return Err(hipErrorInvalidValue),
    };
    data.fill(&words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>())
}

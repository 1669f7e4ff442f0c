//! Variables of the program's own code, named by their host shadows.

use std::ffi::c_void;

use gfx_emu::loader::Variable;
use hrr_ffi::types::*;

use super::copy::{enqueue, row};
use super::memory::{Wait, address, per_thread};
use crate::abi::by_version;
use crate::api::{Answer, Out};
use crate::copies::Copy;
use crate::runtime::{Runtime, current, registry};

hip_api! { TABLE;
    fn hipGetSymbolAddress(pointer: Out<*mut c_void>, symbol: *const c_void) {
        let (runtime, _) = current()?;
        pointer.set(address(variable(runtime, symbol)?.address))
    }

    fn hipGetSymbolSize(bytes: Out<usize>, symbol: *const c_void) {
        let (runtime, _) = current()?;
        bytes.set(variable(runtime, symbol)?.bytes as usize)
    }

    fn hipMemcpyToSymbol(
        symbol: *const c_void,
        from: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) {
        enqueue(hipStream_t::NULL, to_symbol(symbol, from, bytes, offset, kind)?, Wait::Yes)
    }

    fn hipMemcpyToSymbol_spt(
        symbol: *const c_void,
        from: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) {
        let copy = to_symbol(symbol, from, bytes, offset, kind)?;
        enqueue(per_thread(hipStream_t::NULL), copy, Wait::Yes)
    }

    fn hipMemcpyToSymbolAsync(
        symbol: *const c_void,
        from: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) {
        enqueue(stream, to_symbol(symbol, from, bytes, offset, kind)?, Wait::No)
    }

    fn hipMemcpyToSymbolAsync_spt(
        symbol: *const c_void,
        from: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) {
        enqueue(per_thread(stream), to_symbol(symbol, from, bytes, offset, kind)?, Wait::No)
    }

    fn hipMemcpyFromSymbol(
        to: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) {
        enqueue(hipStream_t::NULL, from_symbol(to, symbol, bytes, offset, kind)?, Wait::Yes)
    }

    fn hipMemcpyFromSymbol_spt(
        to: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
    ) {
        let copy = from_symbol(to, symbol, bytes, offset, kind)?;
        enqueue(per_thread(hipStream_t::NULL), copy, Wait::Yes)
    }

    fn hipMemcpyFromSymbolAsync(
        to: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) {
        enqueue(stream, from_symbol(to, symbol, bytes, offset, kind)?, Wait::No)
    }

    fn hipMemcpyFromSymbolAsync_spt(
        to: *mut c_void,
        symbol: *const c_void,
        bytes: usize,
        offset: usize,
        kind: hipMemcpyKind,
        stream: hipStream_t,
    ) {
        enqueue(per_thread(stream), from_symbol(to, symbol, bytes, offset, kind)?, Wait::No)
    }
}

fn variable(runtime: &'static Runtime, symbol: *const c_void) -> Answer<Variable> {
    registry().variable(runtime, crate::thread::device(), symbol.addr())
}

/// The address of a part of a variable.
fn part(symbol: *const c_void, bytes: usize, offset: usize) -> Answer<*mut c_void> {
    let (runtime, _) = current()?;
    let variable = variable(runtime, symbol)?;
    let end = offset.checked_add(bytes).ok_or(hipErrorInvalidValue)?;
    if end as u64 > variable.bytes {
        return Err(hipErrorInvalidValue);
    }
    Ok(address(variable.address + offset as u64))
}

/// A copy into a variable, whose host shadow is not the variable.
pub(crate) fn to_symbol(
    symbol: *const c_void,
    from: *const c_void,
    bytes: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> Answer<Copy> {
    let fits = matches!(kind, hipMemcpyHostToDevice | hipMemcpyDeviceToDevice | hipMemcpyDefault);
    if !by_version(true, fits) {
        return Err(hipErrorInvalidMemcpyDirection);
    }
    let (runtime, _) = current()?;
    Ok(row(runtime, part(symbol, bytes, offset)?, from, bytes, kind))
}

/// A copy out of a variable.
pub(crate) fn from_symbol(
    to: *mut c_void,
    symbol: *const c_void,
    bytes: usize,
    offset: usize,
    kind: hipMemcpyKind,
) -> Answer<Copy> {
    let fits = matches!(kind, hipMemcpyDeviceToHost | hipMemcpyDeviceToDevice | hipMemcpyDefault);
    if !by_version(true, fits) {
        return Err(hipErrorInvalidMemcpyDirection);
    }
    let (runtime, _) = current()?;
    Ok(row(runtime, to, part(symbol, bytes, offset)?.cast_const(), bytes, kind))
}

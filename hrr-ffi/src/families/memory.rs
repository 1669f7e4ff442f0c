//! Memory whose address or size stands where no role reaches: in a struct that the call fills, or
//! in no argument at all. The recording halves tell the tracker of the range, and keep its size; the
//! replaying halves enter it.

use hrr_core::archive::event::Phase;
use hrr_core::capture::CaptureCx;
use hrr_core::code::Identity;
use hrr_core::desc::{Scope, Space};
use hrr_core::replay::{Issued, Refusal, ReplayCx};

use super::integer;
use crate::types::*;

/// Where `hipExtMallocWithFlags` allocates: memory for signals lies in host memory, and programs
/// store there what a stream waits for (`hipMallocSignalMemory`, HIP 7.1 `hip_runtime_api.h`).
pub fn ext_space(scope: &Scope<'_>) -> Space {
    match integer(scope, "flags") {
        Some(flags) if flags & u64::from(hipMallocSignalMemory) != 0 => Space::Pinned,
        Some(_) | None => Space::Device,
    }
}

/// The number under which a recording half keeps the bytes of the range.
const BYTES: u32 = 0;

/// A range of the device: where it starts and how long it is.
#[derive(Clone, Copy)]
struct Range {
    start: u64,
    bytes: u64,
}

/// Takes a call as the interpreter does, and after a success the range that it made.
fn capture(cx: &mut CaptureCx<'_>, range: impl FnOnce(&mut CaptureCx<'_>) -> Option<Range>) {
    cx.interpret();
    if cx.phase() != Phase::After || !cx.succeeded() {
        return;
    }
    if let Some(range) = range(cx).filter(|range| range.start != 0 && range.bytes != 0) {
        cx.add_range(range.start, range.bytes, Space::Device);
        cx.add_custom(BYTES, &range.bytes.to_le_bytes());
    }
}

/// Issues a call as it was recorded, and enters the range that it made: the word at `offset` behind
/// the first parameter that is `index`.
fn replay(cx: &mut ReplayCx<'_>, index: u16, offset: usize, space: Option<Space>) -> Issued {
    match try_replay(cx, index, offset, space) {
        Ok(()) => cx.issued(),
        Err(refusal) => refusal.into(),
    }
}

fn try_replay(
    cx: &mut ReplayCx<'_>,
    index: u16,
    offset: usize,
    space: Option<Space>,
) -> Result<(), Refusal> {
    cx.rebuild()?;
    let written = cx.arg::<*const u8>(index);
    cx.call();
    let Some(bytes) = cx.custom(BYTES)? else { return Ok(()) };
    let Ok(bytes) = <[u8; 8]>::try_from(&*bytes) else {
        return Err(Refusal::new("the size of the range is not 8 bytes"));
    };
    let Some(recorded) = cx.field(index, Phase::After)? else { return Ok(()) };
    let Some(recorded) = recorded.get(offset..).and_then(|rest| rest.first_chunk::<8>()) else {
        return Err(Refusal::new("the recording lacks the address that the call wrote"));
    };
    if written.is_null() {
        return Ok(());
    }
    // SAFETY: the engine rebuilt the parameter as room for what it points to, which holds an address
    // at this offset; where the call failed the room is as it was, zeros or the recorded input.
    let live = unsafe { written.add(offset).cast::<u64>().read_unaligned() };
    if live != 0 {
        cx.enter_range(u64::from_le_bytes(*recorded), u64::from_le_bytes(bytes), live, space);
    }
    Ok(())
}

fn struct_at<T: Copy>(cx: &CaptureCx<'_>, address: u64) -> Option<T> {
    let bytes = cx.read(address, size_of::<T>())?;
    // SAFETY: as many bytes as the type has; these types are integers, addresses and handles, for
    // which any bits will do.
    Some(unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
}

/// `hipMalloc3D`: the address and the pitch stand in the struct that the call fills.
pub fn capture_malloc_3d(cx: &mut CaptureCx<'_>) {
    capture(cx, |cx| {
        let address = cx.word(0);
        let memory = struct_at::<hipPitchedPtr>(cx, address)?;
        let extent = cx.arg::<hipExtent>(1);
        let rows = extent.height.checked_mul(extent.depth)?;
        let bytes = memory.pitch.checked_mul(rows)? as u64;
        Some(Range { start: memory.ptr as u64, bytes })
    });
}

/// See [`capture_malloc_3d`].
pub fn replay_malloc_3d(cx: &mut ReplayCx<'_>) -> Issued {
    replay(cx, 0, core::mem::offset_of!(hipPitchedPtr, ptr), Some(Space::Device))
}

/// `hipGraphAddMemAllocNode`: the address stands in the struct that the call fills.
pub fn capture_alloc_node(cx: &mut CaptureCx<'_>) {
    capture(cx, |cx| {
        let address = cx.word(4);
        let params = struct_at::<hipMemAllocNodeParams>(cx, address)?;
        Some(Range { start: params.dptr as u64, bytes: params.bytesize as u64 })
    });
}

/// See [`capture_alloc_node`].
pub fn replay_alloc_node(cx: &mut ReplayCx<'_>) -> Issued {
    replay(cx, 4, core::mem::offset_of!(hipMemAllocNodeParams, dptr), None)
}

/// `hipGetSymbolAddress`: no argument tells the size of the variable; its code image does.
pub fn capture_symbol_address(cx: &mut CaptureCx<'_>) {
    capture(cx, |cx| {
        let address = cx.word(0);
        let start = struct_at::<u64>(cx, address)?;
        let shadow = cx.word(1);
        let bytes = cx.variable_bytes(&cx.symbol(shadow)?)?;
        Some(Range { start, bytes })
    });
}

/// `hipModuleGetGlobal`: the pointer to the size may be null; the code image tells it too.
pub fn capture_module_global(cx: &mut CaptureCx<'_>) {
    capture(cx, |cx| {
        let (address, size, module, name) = (cx.word(0), cx.word(1), cx.word(2), cx.word(3));
        let start = struct_at::<u64>(cx, address)?;
        let told = struct_at::<u64>(cx, size);
        let of_image = || {
            let image = cx.image(module)?;
            let name = String::from_utf8(cx.read_string(name)?).ok()?;
            cx.variable_bytes(&Identity { image, name })
        };
        Some(Range { start, bytes: told.or_else(of_image)? })
    });
}

/// See [`capture_symbol_address`] and [`capture_module_global`].
pub fn replay_symbol_address(cx: &mut ReplayCx<'_>) -> Issued {
    replay(cx, 0, 0, None)
}

/// `hipMemAddressReserve`: asks for the addresses that the recorded call was given, so that
/// addresses inside buffers stay true where the runtime obeys.
pub fn replay_reserve(cx: &mut ReplayCx<'_>) -> Issued {
    match try_replay_reserve(cx) {
        Ok(()) => cx.issued(),
        Err(refusal) => refusal.into(),
    }
}

fn try_replay_reserve(cx: &mut ReplayCx<'_>) -> Result<(), Refusal> {
    cx.rebuild()?;
    let given = cx.field(0, Phase::After)?;
    if let Some(given) = given.as_deref().and_then(|given| given.first_chunk::<8>()) {
        cx.set_arg(3, u64::from_le_bytes(*given));
    }
    cx.call();
    Ok(())
}

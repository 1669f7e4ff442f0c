//! Memory access of lanes: translation with a small cache of ranges, loads, stores, atomics.
//!
//! Everything that leaves the wave's registers goes through here; the addressing modes are the
//! encodings' own.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use super::float;
use super::inst::{Inst, Opnd, Trouble, flag};
use super::lane::{H, LANES};
use super::state::Cx;
use crate::dispatch::{FaultKind, Host};
use crate::memory::{Access as Needed, AddressSpace, Range};

/// Which half of a register a 16-bit access means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    /// The whole register, extended.
    Whole,
    /// The low half; the high one is kept.
    Low,
    /// The high half; the low one is kept.
    High,
}

/// A read-modify-write operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Atomic {
    Swap,
    CmpSwap,
    Add,
    Sub,
    RSub,
    SMin,
    UMin,
    SMax,
    UMax,
    And,
    Or,
    Xor,
    Inc,
    Dec,
    AddF,
    MinF,
    MaxF,
    PkAddF16,
    PkAddBf16,
    MskOr,
    CmpSwapF,
    Wrap,
}

/// What a memory instruction does at its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemOp {
    Load { bytes: u8, signed: bool, half: Half },
    Store { bytes: u8, half: Half },
    Atomic { op: Atomic, wide: bool },
}

impl MemOp {
    /// Registers of loaded data.
    pub(crate) fn loaded(self) -> usize {
        match self {
            Self::Load { bytes, .. } => usize::from(bytes).div_ceil(4),
            Self::Store { .. } => 0,
            Self::Atomic { wide, .. } => 1 + usize::from(wide),
        }
    }

    /// Registers of data given.
    pub(crate) fn given(self) -> usize {
        match self {
            Self::Load { .. } => 0,
            Self::Store { bytes, .. } => usize::from(bytes).div_ceil(4),
            Self::Atomic { op, wide } => {
                (1 + usize::from(wide)) * if op == Atomic::CmpSwap { 2 } else { 1 }
            }
        }
    }
}

const NOTHING: Range = Range { base: 1, end: 0, host: std::ptr::null_mut() };

/// Ranges that were found, newest over oldest.
struct Recent {
    ranges: [Range; 6],
    next: usize,
}

impl Recent {
    const EMPTY: Self = Self { ranges: [NOTHING; 6], next: 0 };

    #[inline(always)]
    fn host(&self, address: u64, bytes: u32) -> Option<*mut u8> {
        let hit = |r: &&Range| {
            address >= r.base && address < r.end && u64::from(bytes) <= r.end - address
        };
        self.ranges.iter().find(hit).map(|r| r.host.wrapping_add((address - r.base) as usize))
    }
}

/// Translation for one thread of a launch.
pub(crate) struct Access<'a> {
    space: &'a AddressSpace,
    generation: u64,
    readable: Recent,
    writable: Recent,
    /// Ranges that only this launch or wave has, at their host addresses.
    pub local: Vec<Range>,
    /// Who is told of messages.
    pub host: Option<&'a dyn Host>,
}

impl<'a> Access<'a> {
    pub(crate) fn new(space: &'a AddressSpace) -> Self {
        let generation = space.generation();
        Self {
            space,
            generation,
            readable: Recent::EMPTY,
            writable: Recent::EMPTY,
            local: Vec::new(),
            host: None,
        }
    }

    /// Forgets what was found: the next accesses ask the address space again.
    pub(crate) fn forget(&mut self) {
        self.readable = Recent::EMPTY;
        self.writable = Recent::EMPTY;
    }

    /// Forgets what was found if the address space has changed since.
    #[inline(always)]
    pub(crate) fn refresh(&mut self) {
        let generation = self.space.generation();
        if generation != self.generation {
            self.generation = generation;
            self.forget();
        }
    }

    /// The host memory behind `bytes` bytes at `address`, to be read.
    #[inline(always)]
    pub(crate) fn at(&mut self, address: u64, bytes: u32) -> Option<*mut u8> {
        self.readable.host(address, bytes).or_else(|| self.look_up(address, bytes, false))
    }

    /// The host memory behind `bytes` bytes at `address`, to be written.
    #[inline(always)]
    pub(crate) fn at_mut(&mut self, address: u64, bytes: u32) -> Option<*mut u8> {
        self.writable.host(address, bytes).or_else(|| self.look_up(address, bytes, true))
    }

    #[cold]
    fn look_up(&mut self, address: u64, bytes: u32, write: bool) -> Option<*mut u8> {
        let inside = |r: &Range| address >= r.base && address < r.end;
        let range = match self.local.iter().copied().find(inside) {
            Some(local) => local,
            None => {
                let range = self.space.find(address)?;
                if write {
                    self.space.resolve(address, u64::from(bytes), Needed::ReadWrite).ok()?;
                }
                range
            }
        };
        if range.end - address < u64::from(bytes) {
            return None;
        }
        let recent = if write { &mut self.writable } else { &mut self.readable };
        recent.ranges[recent.next] = range;
        recent.next = (recent.next + 1) % recent.ranges.len();
        Some(range.host.wrapping_add((address - range.base) as usize))
    }

    #[inline(always)]
    pub(crate) fn read_u32(&mut self, address: u64) -> Option<u32> {
        self.at(address, 4).map(load_u32)
    }
}

// The helpers below take a host pointer that `Access::at` gave for enough bytes. The address
// space keeps what it finds mapped and writable while launches run, and every access to it
// from kernels is atomic, since other workgroups may touch the same bytes.

#[inline(always)]
fn read_byte(host: *mut u8) -> u8 {
    // SAFETY: valid for one byte, see above; a byte is always aligned.
    unsafe { AtomicU8::from_ptr(host) }.load(Ordering::Relaxed)
}

#[inline(always)]
fn write_byte(host: *mut u8, value: u8) {
    // SAFETY: as in `read_byte`.
    unsafe { AtomicU8::from_ptr(host) }.store(value, Ordering::Relaxed);
}

#[inline(always)]
fn load_u32(host: *mut u8) -> u32 {
    if host.addr().is_multiple_of(4) {
        // SAFETY: valid for four bytes, see above; alignment was just tested.
        unsafe { AtomicU32::from_ptr(host.cast()) }.load(Ordering::Relaxed)
    } else {
        u32::from_le_bytes([0, 1, 2, 3].map(|i| read_byte(host.wrapping_add(i))))
    }
}

#[inline(always)]
fn store_u32(host: *mut u8, value: u32) {
    if host.addr().is_multiple_of(4) {
        // SAFETY: valid for four bytes, see above; alignment was just tested.
        unsafe { AtomicU32::from_ptr(host.cast()) }.store(value, Ordering::Relaxed);
    } else {
        for (i, byte) in value.to_le_bytes().into_iter().enumerate() {
            write_byte(host.wrapping_add(i), byte);
        }
    }
}

#[inline(always)]
fn load_u16(host: *mut u8) -> u16 {
    if host.addr().is_multiple_of(2) {
        // SAFETY: valid for two bytes, see above; alignment was just tested.
        unsafe { AtomicU16::from_ptr(host.cast()) }.load(Ordering::Relaxed)
    } else {
        u16::from_le_bytes([0, 1].map(|i| read_byte(host.wrapping_add(i))))
    }
}

#[inline(always)]
fn store_u16(host: *mut u8, value: u16) {
    if host.addr().is_multiple_of(2) {
        // SAFETY: valid for two bytes, see above; alignment was just tested.
        unsafe { AtomicU16::from_ptr(host.cast()) }.store(value, Ordering::Relaxed);
    } else {
        for (i, byte) in value.to_le_bytes().into_iter().enumerate() {
            write_byte(host.wrapping_add(i), byte);
        }
    }
}

/// The lanes of a mask, lowest first.
#[inline(always)]
pub(crate) fn lanes(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let lane = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(lane)
    })
}

/// The per-lane addresses of one instruction.
pub(crate) struct Places {
    pub at: [u64; LANES],
    pub mask: u64,
    /// Distance between the words of a lane: 4, or more in swizzled memory.
    pub step: u64,
}

#[cold]
fn illegal(address: u64, bytes: u32, write: bool, lane: usize) -> Box<Trouble> {
    Trouble::lane(FaultKind::IllegalAddress { address, bytes, write }, lane)
}

fn register(operand: Opnd) -> usize {
    match operand {
        Opnd::V(at) => usize::from(at),
        // The decoder gives memory instructions vector registers.
        _other => 0,
    }
}

/// Does a memory operation at linear or swizzled addresses. `data` is the first data register.
pub(crate) fn transfer(
    cx: &mut Cx<'_, '_>,
    inst: &Inst,
    op: MemOp,
    places: &Places,
    data: Opnd,
) -> Result<(), Box<Trouble>> {
    cx.mem.refresh();
    if places.step != 4 {
        swizzle_aligned(op, places)?;
    }
    match op {
        MemOp::Load { bytes, signed, half } => load(cx, inst, places, bytes, signed, half),
        MemOp::Store { bytes, half } => store(cx, places, bytes, half, data),
        MemOp::Atomic { op, wide } => {
            for lane in lanes(places.mask) {
                atomic(cx, inst, op, wide, places.at[lane], lane, data)?;
            }
            Ok(())
        }
    }
}

/// In swizzled memory the bytes of one access must share a word, or be whole words.
fn swizzle_aligned(op: MemOp, places: &Places) -> Result<(), Box<Trouble>> {
    let bytes = match op {
        MemOp::Load { bytes, .. } | MemOp::Store { bytes, .. } => bytes,
        MemOp::Atomic { wide: false, .. } => 4,
        MemOp::Atomic { wide: true, .. } => 8,
    };
    let align = u64::from(bytes).min(4);
    for lane in lanes(places.mask) {
        let address = places.at[lane];
        if (address & 3) + align > 4 {
            let align = align as u32;
            return Err(Trouble::lane(FaultKind::Unaligned { address, align }, lane));
        }
    }
    Ok(())
}

fn load(
    cx: &mut Cx<'_, '_>,
    inst: &Inst,
    places: &Places,
    bytes: u8,
    signed: bool,
    half: Half,
) -> Result<(), Box<Trouble>> {
    let dst = register(inst.dst);
    let words = usize::from(bytes / 4);
    if words == 0 {
        for lane in lanes(places.mask) {
            let address = places.at[lane];
            let host = cx
                .mem
                .at(address, u32::from(bytes))
                .ok_or_else(|| illegal(address, u32::from(bytes), false, lane))?;
            let raw =
                if bytes == 1 { u32::from(read_byte(host)) } else { u32::from(load_u16(host)) };
            put_small(&mut cx.wave.v[dst][lane], raw, bytes, signed, half);
        }
        return Ok(());
    }
    let span = if places.step == 4 { 4 * words as u32 } else { 4 };
    for lane in lanes(places.mask) {
        let address = places.at[lane];
        let mut host =
            cx.mem.at(address, span).ok_or_else(|| illegal(address, span, false, lane))?;
        for k in 0..words {
            if k > 0 && places.step != 4 {
                let address = address + places.step * k as u64;
                host = cx.mem.at(address, 4).ok_or_else(|| illegal(address, 4, false, lane))?;
            }
            let offset = if places.step == 4 { 4 * k } else { 0 };
            cx.wave.v[dst + k][lane] = load_u32(host.wrapping_add(offset));
        }
    }
    Ok(())
}

/// Puts a loaded byte or short into its register.
pub(crate) fn put_small(to: &mut u32, raw: u32, bytes: u8, signed: bool, half: Half) {
    let value = match (bytes, signed) {
        (1, true) => raw as u8 as i8 as u32,
        (1, false) => raw & 0xff,
        (_, true) => raw as u16 as i16 as u32,
        (_, false) => raw & 0xffff,
    };
    *to = match half {
        Half::Whole => value,
        Half::Low => *to & 0xffff_0000 | value & 0xffff,
        Half::High => *to & 0xffff | value << 16,
    };
}

fn store(
    cx: &mut Cx<'_, '_>,
    places: &Places,
    bytes: u8,
    half: Half,
    data: Opnd,
) -> Result<(), Box<Trouble>> {
    let data = register(data);
    let words = usize::from(bytes / 4);
    let span = if words == 0 {
        u32::from(bytes)
    } else if places.step == 4 {
        4 * words as u32
    } else {
        4
    };
    for lane in lanes(places.mask) {
        let address = places.at[lane];
        let mut host =
            cx.mem.at_mut(address, span).ok_or_else(|| illegal(address, span, true, lane))?;
        if words == 0 {
            let value = cx.wave.v[data][lane] >> if half == Half::High { 16 } else { 0 };
            if bytes == 1 {
                write_byte(host, value as u8);
            } else {
                store_u16(host, value as u16);
            }
            continue;
        }
        for k in 0..words {
            if k > 0 && places.step != 4 {
                let address = address + places.step * k as u64;
                host = cx.mem.at_mut(address, 4).ok_or_else(|| illegal(address, 4, true, lane))?;
            }
            let offset = if places.step == 4 { 4 * k } else { 0 };
            store_u32(host.wrapping_add(offset), cx.wave.v[data + k][lane]);
        }
    }
    Ok(())
}

fn atomic(
    cx: &mut Cx<'_, '_>,
    inst: &Inst,
    op: Atomic,
    wide: bool,
    address: u64,
    lane: usize,
    data: Opnd,
) -> Result<(), Box<Trouble>> {
    let bytes = if wide { 8 } else { 4 };
    let host = cx.mem.at_mut(address, bytes).ok_or_else(|| illegal(address, bytes, true, lane))?;
    if !host.addr().is_multiple_of(bytes as usize) {
        return Err(Trouble::lane(FaultKind::Unaligned { address, align: bytes }, lane));
    }
    let data = register(data);
    let word = |k: usize| u64::from(cx.wave.v[data + k][lane]);
    let old = if wide {
        let (value, compare) = (word(0) | word(1) << 32, word(2) | word(3) << 32);
        // SAFETY: valid for eight bytes, see above; alignment was just tested.
        let cell = unsafe { AtomicU64::from_ptr(host.cast()) };
        cell.update(Ordering::SeqCst, Ordering::SeqCst, |old| apply64(op, old, value, compare))
    } else {
        let (value, compare) = (word(0) as u32, word(1) as u32);
        // SAFETY: valid for four bytes, see above; alignment was just tested.
        let cell = unsafe { AtomicU32::from_ptr(host.cast()) };
        u64::from(
            cell.update(Ordering::SeqCst, Ordering::SeqCst, |old| apply32(op, old, value, compare)),
        )
    };
    if inst.flag(flag::GLC) {
        let dst = register(inst.dst);
        cx.wave.v[dst][lane] = old as u32;
        if wide {
            cx.wave.v[dst + 1][lane] = (old >> 32) as u32;
        }
    }
    Ok(())
}

/// The new value of a 32-bit cell.
pub(crate) fn apply32(op: Atomic, old: u32, value: u32, second: u32) -> u32 {
    let float = |f: fn(f32, f32) -> f32| f(f32::from_bits(old), f32::from_bits(value)).to_bits();
    match op {
        Atomic::Swap => value,
        Atomic::CmpSwap => {
            if old == second {
                value
            } else {
                old
            }
        }
        Atomic::CmpSwapF => {
            if f32::from_bits(old) == f32::from_bits(second) {
                value
            } else {
                old
            }
        }
        Atomic::Add => old.wrapping_add(value),
        Atomic::Sub => old.wrapping_sub(value),
        Atomic::RSub => value.wrapping_sub(old),
        Atomic::SMin => (old as i32).min(value as i32) as u32,
        Atomic::UMin => old.min(value),
        Atomic::SMax => (old as i32).max(value as i32) as u32,
        Atomic::UMax => old.max(value),
        Atomic::And => old & value,
        Atomic::Or => old | value,
        Atomic::Xor => old ^ value,
        Atomic::Inc => {
            if old >= value {
                0
            } else {
                old + 1
            }
        }
        Atomic::Dec => {
            if old == 0 || old > value {
                value
            } else {
                old - 1
            }
        }
        Atomic::AddF => float(float::add_f32),
        Atomic::MinF => float(float::min_f32),
        Atomic::MaxF => float(float::max_f32),
        Atomic::PkAddF16 => {
            let half = |shift: u32| {
                let sum = float::add_f16(H((old >> shift) as u16), H((value >> shift) as u16));
                u32::from(sum.0) << shift
            };
            half(0) | half(16)
        }
        Atomic::PkAddBf16 => {
            let half = |shift: u32| {
                let wide = |x: u32| f32::from_bits(x >> shift << 16);
                bf16(float::add_f32(wide(old), wide(value))) << shift
            };
            half(0) | half(16)
        }
        Atomic::MskOr => old & !value | second,
        Atomic::Wrap => {
            if old >= value {
                old - value
            } else {
                old.wrapping_add(second)
            }
        }
    }
}

/// Rounds to the nearest bfloat16, ties to even.
pub(crate) fn bf16(x: f32) -> u32 {
    let bits = x.to_bits();
    if x.is_nan() {
        return bits >> 16 | 0x40;
    }
    (bits + 0x7fff + (bits >> 16 & 1)) >> 16
}

/// The new value of a 64-bit cell.
pub(crate) fn apply64(op: Atomic, old: u64, value: u64, second: u64) -> u64 {
    let float = |f: fn(f64, f64) -> f64| f(f64::from_bits(old), f64::from_bits(value)).to_bits();
    match op {
        Atomic::Swap => value,
        Atomic::CmpSwap => {
            if old == second {
                value
            } else {
                old
            }
        }
        Atomic::CmpSwapF => {
            if f64::from_bits(old) == f64::from_bits(second) {
                value
            } else {
                old
            }
        }
        Atomic::Add => old.wrapping_add(value),
        Atomic::Sub => old.wrapping_sub(value),
        Atomic::RSub => value.wrapping_sub(old),
        Atomic::SMin => (old as i64).min(value as i64) as u64,
        Atomic::UMin => old.min(value),
        Atomic::SMax => (old as i64).max(value as i64) as u64,
        Atomic::UMax => old.max(value),
        Atomic::And => old & value,
        Atomic::Or => old | value,
        Atomic::Xor => old ^ value,
        Atomic::Inc => {
            if old >= value {
                0
            } else {
                old + 1
            }
        }
        Atomic::Dec => {
            if old == 0 || old > value {
                value
            } else {
                old - 1
            }
        }
        Atomic::AddF => float(float::add_f64),
        Atomic::MinF => float(float::min_f64),
        Atomic::MaxF => float(float::max_f64),
        Atomic::MskOr => old & !value | second,
        Atomic::Wrap => {
            if old >= value {
                old - value
            } else {
                old.wrapping_add(second)
            }
        }
        // No table has a 64-bit row for these.
        Atomic::PkAddF16 | Atomic::PkAddBf16 => old,
    }
}

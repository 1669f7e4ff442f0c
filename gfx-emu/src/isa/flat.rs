//! FLAT, GLOBAL and SCRATCH: loads, stores and atomics at 64-bit or scratch addresses.

use super::decode::Words;
use super::inst::{ACC, Encoding, Flow, Inst, Opnd, Row, Run, Step, Targets, Trouble, Ty, flag};
use super::lane::LANES;
use super::mem::{Atomic, Half, MemOp, Places, lanes, transfer};
use super::state::{Cx, PRIVATE_BASE_HI, SHARED_BASE_HI, Wave};
use super::{Target, ds};
use crate::dispatch::FaultKind;

pub(crate) const fn memory(op: u16, name: &'static str, run: MemOp) -> Row {
    Row { op, name, targets: Targets::ALL, dst: Ty::None, src: [Ty::None; 4], run: Run::Mem(run) }
}

pub(crate) const fn load(bytes: u8) -> MemOp {
    MemOp::Load { bytes, signed: false, half: Half::Whole }
}

pub(crate) const fn small(bytes: u8, signed: bool, half: Half) -> MemOp {
    MemOp::Load { bytes, signed, half }
}

pub(crate) const fn store(bytes: u8) -> MemOp {
    MemOp::Store { bytes, half: Half::Whole }
}

pub(crate) const fn atomic(op: Atomic) -> MemOp {
    MemOp::Atomic { op, wide: false }
}

pub(crate) const fn atomic_x2(op: Atomic) -> MemOp {
    MemOp::Atomic { op, wide: true }
}

/// Loads and stores, which four encodings number alike.
macro_rules! load_store_rows {
    ($p:literal) => {
        &[
            memory(0x10, concat!($p, "load_ubyte"), small(1, false, Half::Whole)),
            memory(0x11, concat!($p, "load_sbyte"), small(1, true, Half::Whole)),
            memory(0x12, concat!($p, "load_ushort"), small(2, false, Half::Whole)),
            memory(0x13, concat!($p, "load_sshort"), small(2, true, Half::Whole)),
            memory(0x14, concat!($p, "load_dword"), load(4)),
            memory(0x15, concat!($p, "load_dwordx2"), load(8)),
            memory(0x16, concat!($p, "load_dwordx3"), load(12)),
            memory(0x17, concat!($p, "load_dwordx4"), load(16)),
            memory(0x18, concat!($p, "store_byte"), store(1)),
            memory(
                0x19,
                concat!($p, "store_byte_d16_hi"),
                MemOp::Store { bytes: 1, half: Half::High },
            ),
            memory(0x1a, concat!($p, "store_short"), store(2)),
            memory(
                0x1b,
                concat!($p, "store_short_d16_hi"),
                MemOp::Store { bytes: 2, half: Half::High },
            ),
            memory(0x1c, concat!($p, "store_dword"), store(4)),
            memory(0x1d, concat!($p, "store_dwordx2"), store(8)),
            memory(0x1e, concat!($p, "store_dwordx3"), store(12)),
            memory(0x1f, concat!($p, "store_dwordx4"), store(16)),
            memory(0x20, concat!($p, "load_ubyte_d16"), small(1, false, Half::Low)),
            memory(0x21, concat!($p, "load_ubyte_d16_hi"), small(1, false, Half::High)),
            memory(0x22, concat!($p, "load_sbyte_d16"), small(1, true, Half::Low)),
            memory(0x23, concat!($p, "load_sbyte_d16_hi"), small(1, true, Half::High)),
            memory(0x24, concat!($p, "load_short_d16"), small(2, false, Half::Low)),
            memory(0x25, concat!($p, "load_short_d16_hi"), small(2, false, Half::High)),
        ]
    };
}

/// Atomics, which three encodings number alike.
macro_rules! atomic_rows {
    ($p:literal) => {
        &[
            memory(0x40, concat!($p, "atomic_swap"), atomic(Atomic::Swap)),
            memory(0x41, concat!($p, "atomic_cmpswap"), atomic(Atomic::CmpSwap)),
            memory(0x42, concat!($p, "atomic_add"), atomic(Atomic::Add)),
            memory(0x43, concat!($p, "atomic_sub"), atomic(Atomic::Sub)),
            memory(0x44, concat!($p, "atomic_smin"), atomic(Atomic::SMin)),
            memory(0x45, concat!($p, "atomic_umin"), atomic(Atomic::UMin)),
            memory(0x46, concat!($p, "atomic_smax"), atomic(Atomic::SMax)),
            memory(0x47, concat!($p, "atomic_umax"), atomic(Atomic::UMax)),
            memory(0x48, concat!($p, "atomic_and"), atomic(Atomic::And)),
            memory(0x49, concat!($p, "atomic_or"), atomic(Atomic::Or)),
            memory(0x4a, concat!($p, "atomic_xor"), atomic(Atomic::Xor)),
            memory(0x4b, concat!($p, "atomic_inc"), atomic(Atomic::Inc)),
            memory(0x4c, concat!($p, "atomic_dec"), atomic(Atomic::Dec)),
            memory(0x4f, concat!($p, "atomic_add_f64"), atomic_x2(Atomic::AddF))
                .on(Targets::GFX90A_UP),
            memory(0x50, concat!($p, "atomic_min_f64"), atomic_x2(Atomic::MinF))
                .on(Targets::GFX90A_UP),
            memory(0x51, concat!($p, "atomic_max_f64"), atomic_x2(Atomic::MaxF))
                .on(Targets::GFX90A_UP),
            memory(0x60, concat!($p, "atomic_swap_x2"), atomic_x2(Atomic::Swap)),
            memory(0x61, concat!($p, "atomic_cmpswap_x2"), atomic_x2(Atomic::CmpSwap)),
            memory(0x62, concat!($p, "atomic_add_x2"), atomic_x2(Atomic::Add)),
            memory(0x63, concat!($p, "atomic_sub_x2"), atomic_x2(Atomic::Sub)),
            memory(0x64, concat!($p, "atomic_smin_x2"), atomic_x2(Atomic::SMin)),
            memory(0x65, concat!($p, "atomic_umin_x2"), atomic_x2(Atomic::UMin)),
            memory(0x66, concat!($p, "atomic_smax_x2"), atomic_x2(Atomic::SMax)),
            memory(0x67, concat!($p, "atomic_umax_x2"), atomic_x2(Atomic::UMax)),
            memory(0x68, concat!($p, "atomic_and_x2"), atomic_x2(Atomic::And)),
            memory(0x69, concat!($p, "atomic_or_x2"), atomic_x2(Atomic::Or)),
            memory(0x6a, concat!($p, "atomic_xor_x2"), atomic_x2(Atomic::Xor)),
            memory(0x6b, concat!($p, "atomic_inc_x2"), atomic_x2(Atomic::Inc)),
            memory(0x6c, concat!($p, "atomic_dec_x2"), atomic_x2(Atomic::Dec)),
        ]
    };
}
pub(crate) use {atomic_rows, load_store_rows};

pub(crate) static FLAT: &[&[Row]] = &[
    load_store_rows!("flat_"),
    atomic_rows!("flat_"),
    &[
        memory(0x4d, "flat_atomic_add_f32", atomic(Atomic::AddF)).on(Targets::GFX942),
        memory(0x4e, "flat_atomic_pk_add_f16", atomic(Atomic::PkAddF16)).on(Targets::GFX942),
        memory(0x52, "flat_atomic_pk_add_bf16", atomic(Atomic::PkAddBf16)).on(Targets::GFX942),
    ],
];
pub(crate) static GLOBAL: &[&[Row]] = &[
    load_store_rows!("global_"),
    atomic_rows!("global_"),
    &[
        memory(0x4d, "global_atomic_add_f32", atomic(Atomic::AddF)).on(Targets::GFX90A_UP),
        memory(0x4e, "global_atomic_pk_add_f16", atomic(Atomic::PkAddF16)).on(Targets::GFX90A_UP),
        memory(0x52, "global_atomic_pk_add_bf16", atomic(Atomic::PkAddBf16)).on(Targets::GFX942),
    ],
];
pub(crate) static SCRATCH: &[&[Row]] = &[load_store_rows!("scratch_")];

/// The address field that means "no scalar address".
pub(crate) const OFF: u32 = 0x7f;

pub(crate) fn find_in(
    words: &Words<'_>,
    encoding: Encoding,
    tables: &'static [&'static [Row]],
    op: u32,
) -> Result<&'static Row, FaultKind> {
    tables
        .iter()
        .find_map(|rows| super::inst::find(rows, op, words.target))
        .ok_or_else(|| words.unknown(encoding, format!("opcode {op:#x} is not implemented")))
}

/// The operation of a memory row.
pub(crate) fn operation(inst: &Inst) -> Result<MemOp, Box<Trouble>> {
    match inst.row.run {
        Run::Mem(op) => Ok(op),
        Run::Scalar(_) | Run::Lanes(_) | Run::Exec(_) => {
            Err(Trouble::unsupported(inst, "this form"))
        }
    }
}

/// Operands: dst = loaded, src[0] = address, src[1] = data, src[2] = scalar address.
pub(crate) fn decode(words: &Words<'_>) -> Result<Inst, FaultKind> {
    let w = words.first();
    let (encoding, tables) = match w >> 14 & 3 {
        0 => (Encoding::Flat, FLAT),
        1 => (Encoding::Scratch, SCRATCH),
        2 => (Encoding::Global, GLOBAL),
        _reserved => return Err(words.unknown(Encoding::Flat, "segment 3")),
    };
    let row = find_in(words, encoding, tables, w >> 18 & 0x7f)?;
    let second = words.second(encoding)?;
    let mut inst = words.inst(encoding, row, 2);
    inst.exec = execute;
    let Run::Mem(op) = row.run else {
        return Err(words.unknown(encoding, "a row without an operation"));
    };
    let signed = encoding != Encoding::Flat;
    inst.imm = if signed { ((w & 0x1fff) << 19) as i32 >> 19 } else { (w & 0xfff) as i32 };
    for (bit, flag) in [(16, flag::GLC), (17, flag::SLC)] {
        if w >> bit & 1 != 0 {
            inst.flags |= flag;
        }
    }
    if w >> 25 & 1 != 0 && words.target != Target::Gfx906 {
        inst.flags |= flag::SCC;
    }
    if w >> 13 & 1 != 0 {
        if encoding == Encoding::Scratch && words.target == Target::Gfx942 {
            inst.flags |= flag::SVE;
        } else {
            return Err(words.unknown(encoding, "a transfer to LDS"));
        }
    }
    let accumulator = if second >> 23 & 1 == 0 {
        0
    } else if words.target == Target::Gfx906 {
        inst.flags |= flag::NV;
        0
    } else {
        ACC
    };
    let register = |shift: u32| Opnd::V((second >> shift & 0xff) as u16);
    let data = |shift: u32| Opnd::V((second >> shift & 0xff) as u16 + accumulator);
    inst.src[0] = register(0);
    if op.loaded() > 0 {
        inst.dst = data(24);
    }
    if op.given() > 0 {
        inst.src[1] = data(8);
    }
    let scalar = second >> 16 & 0x7f;
    if signed && scalar != OFF {
        inst.src[2] = words.scalar_source(encoding, scalar, &mut 1)?;
    }
    if encoding == Encoding::Scratch {
        let has_vector = if words.target == Target::Gfx942 {
            inst.flag(flag::SVE)
        } else {
            inst.src[2] == Opnd::None
        };
        if !has_vector {
            inst.src[0] = Opnd::None;
        }
    }
    Ok(inst)
}

fn vector32(wave: &Wave, operand: Opnd, lane: usize) -> u32 {
    match operand {
        Opnd::V(at) => wave.v[usize::from(at)][lane],
        _absent => 0,
    }
}

fn vector64(wave: &Wave, operand: Opnd, lane: usize) -> u64 {
    match operand {
        Opnd::V(at) => {
            let at = usize::from(at);
            u64::from(wave.v[at][lane]) | u64::from(wave.v[at + 1][lane]) << 32
        }
        _absent => 0,
    }
}

/// The address of a byte of a lane's scratch: words of all lanes lie side by side.
pub(crate) fn scratch_address(wave: &Wave, offset: u32, lane: usize) -> u64 {
    let offset = u64::from(offset);
    wave.scratch.wrapping_add((offset >> 2) * 4 * LANES as u64 + 4 * lane as u64 + (offset & 3))
}

pub(crate) const SCRATCH_STEP: u64 = 4 * LANES as u64;

pub(crate) fn execute(cx: &mut Cx<'_, '_>, inst: &Inst) -> Step {
    let op = operation(inst)?;
    let mask = cx.wave.exec();
    let mut places = Places { at: [0; LANES], mask, step: 4 };
    let offset = i64::from(inst.imm) as u64;
    match inst.encoding {
        Encoding::Scratch => {
            let base = cx.wave.scalar(inst.src[2], Ty::B32) as u32;
            let base = base.wrapping_add(inst.imm as u32);
            for lane in lanes(mask) {
                let at = base.wrapping_add(vector32(cx.wave, inst.src[0], lane));
                places.at[lane] = scratch_address(cx.wave, at, lane);
            }
            places.step = SCRATCH_STEP;
        }
        Encoding::Global if inst.src[2] != Opnd::None => {
            let base = cx.wave.scalar(inst.src[2], Ty::B64).wrapping_add(offset);
            for lane in lanes(mask) {
                let by = vector32(cx.wave, inst.src[0], lane);
                places.at[lane] = base.wrapping_add(u64::from(by));
            }
        }
        _global_or_flat => {
            for lane in lanes(mask) {
                places.at[lane] = vector64(cx.wave, inst.src[0], lane).wrapping_add(offset);
            }
        }
    }
    if inst.encoding == Encoding::Flat {
        by_aperture(cx, inst, op, &mut places)?;
    }
    if places.mask != 0 {
        transfer(cx, inst, op, &places, inst.src[1])?;
    }
    Ok(Flow::Next)
}

/// Serves the lanes whose flat address means LDS or scratch, and takes them out of `places`.
fn by_aperture(
    cx: &mut Cx<'_, '_>,
    inst: &Inst,
    op: MemOp,
    places: &mut Places,
) -> Result<(), Box<Trouble>> {
    let (mut shared, mut private) = (0u64, 0u64);
    for lane in lanes(places.mask) {
        match (places.at[lane] >> 32) as u32 {
            SHARED_BASE_HI => shared |= 1 << lane,
            PRIVATE_BASE_HI => private |= 1 << lane,
            _memory => {}
        }
    }
    if shared | private == 0 {
        return Ok(());
    }
    places.mask &= !(shared | private);
    for lane in lanes(shared) {
        let offset = places.at[lane] & 0xffff_ffff;
        ds::transfer(cx, inst, op, offset, lane, inst.src[1], inst.flag(flag::GLC))?;
    }
    if private != 0 {
        let mut there = Places { at: [0; LANES], mask: private, step: SCRATCH_STEP };
        for lane in lanes(private) {
            there.at[lane] = scratch_address(cx.wave, places.at[lane] as u32, lane);
        }
        transfer(cx, inst, op, &there, inst.src[1])?;
    }
    Ok(())
}

//! DS: LDS access, and the lane permutations that run through LDS's crossbar.

use super::Target;
use super::decode::Words;
use super::flat::{atomic, atomic_x2, find_in, load, memory, operation, small, store};
use super::inst::{ACC, Encoding, Flow, Inst, Opnd, Row, Run, Step, Targets, Trouble, Ty, special};
use super::lane::LANES;
use super::mem::{Atomic, Half, MemOp, apply32, apply64, lanes, put_small};
use super::state::Cx;
use crate::dispatch::FaultKind;
use Ty::{B32, B64, None as No, Regs};

const ADDRESS: [Ty; 4] = [B32, No, No, No];

/// The atomics that give the old value back have 0x20 more.
macro_rules! rmw_rows {
    ($($op:literal $rtn:literal $wide:literal $wide_rtn:literal $name:literal $t32:literal $t64:literal $a:expr;)*) => {
        &[$(
            memory($op, concat!("ds_", $name, "_", $t32), atomic($a)),
            memory($rtn, concat!("ds_", $name, "_rtn_", $t32), atomic($a)),
            memory($wide, concat!("ds_", $name, "_", $t64), atomic_x2($a)),
            memory($wide_rtn, concat!("ds_", $name, "_rtn_", $t64), atomic_x2($a)),
        )*]
    };
}

static RMW: &[Row] = rmw_rows! {
    0x00 0x20 0x40 0x60 "add" "u32" "u64" Atomic::Add;
    0x01 0x21 0x41 0x61 "sub" "u32" "u64" Atomic::Sub;
    0x02 0x22 0x42 0x62 "rsub" "u32" "u64" Atomic::RSub;
    0x03 0x23 0x43 0x63 "inc" "u32" "u64" Atomic::Inc;
    0x04 0x24 0x44 0x64 "dec" "u32" "u64" Atomic::Dec;
    0x05 0x25 0x45 0x65 "min" "i32" "i64" Atomic::SMin;
    0x06 0x26 0x46 0x66 "max" "i32" "i64" Atomic::SMax;
    0x07 0x27 0x47 0x67 "min" "u32" "u64" Atomic::UMin;
    0x08 0x28 0x48 0x68 "max" "u32" "u64" Atomic::UMax;
    0x09 0x29 0x49 0x69 "and" "b32" "b64" Atomic::And;
    0x0a 0x2a 0x4a 0x6a "or" "b32" "b64" Atomic::Or;
    0x0b 0x2b 0x4b 0x6b "xor" "b32" "b64" Atomic::Xor;
    0x0c 0x2c 0x4c 0x6c "mskor" "b32" "b64" Atomic::MskOr;
    0x10 0x30 0x50 0x70 "cmpst" "b32" "b64" Atomic::CmpSwap;
    0x11 0x31 0x51 0x71 "cmpst" "f32" "f64" Atomic::CmpSwapF;
    0x12 0x32 0x52 0x72 "min" "f32" "f64" Atomic::MinF;
    0x13 0x33 0x53 0x73 "max" "f32" "f64" Atomic::MaxF;
};

static OTHERS: &[Row] = &[
    memory(0x0d, "ds_write_b32", store(4)),
    special(0x0e, "ds_write2_b32", No, [B32, B32, B32, No], write2),
    special(0x0f, "ds_write2st64_b32", No, [B32, B32, B32, No], write2),
    special(0x14, "ds_nop", No, [No; 4], |_, _| Ok(Flow::Next)),
    memory(0x15, "ds_add_f32", atomic(Atomic::AddF)),
    memory(0x17, "ds_pk_add_f16", atomic(Atomic::PkAddF16)).on(Targets::GFX942),
    memory(0x18, "ds_pk_add_bf16", atomic(Atomic::PkAddBf16)).on(Targets::GFX942),
    memory(0x1e, "ds_write_b8", store(1)),
    memory(0x1f, "ds_write_b16", store(2)),
    memory(0x2d, "ds_wrxchg_rtn_b32", atomic(Atomic::Swap)),
    memory(0x34, "ds_wrap_rtn_b32", atomic(Atomic::Wrap)),
    memory(0x35, "ds_add_rtn_f32", atomic(Atomic::AddF)),
    memory(0x36, "ds_read_b32", load(4)),
    special(0x37, "ds_read2_b32", B64, ADDRESS, read2),
    special(0x38, "ds_read2st64_b32", B64, ADDRESS, read2),
    memory(0x39, "ds_read_i8", small(1, true, Half::Whole)),
    memory(0x3a, "ds_read_u8", small(1, false, Half::Whole)),
    memory(0x3b, "ds_read_i16", small(2, true, Half::Whole)),
    memory(0x3c, "ds_read_u16", small(2, false, Half::Whole)),
    special(0x3d, "ds_swizzle_b32", B32, ADDRESS, swizzle),
    special(0x3e, "ds_permute_b32", B32, [B32, B32, No, No], permute),
    special(0x3f, "ds_bpermute_b32", B32, [B32, B32, No, No], permute_backward),
    memory(0x4d, "ds_write_b64", store(8)),
    special(0x4e, "ds_write2_b64", No, [B32, B64, B64, No], write2),
    special(0x4f, "ds_write2st64_b64", No, [B32, B64, B64, No], write2),
    memory(0x54, "ds_write_b8_d16_hi", MemOp::Store { bytes: 1, half: Half::High }),
    memory(0x55, "ds_write_b16_d16_hi", MemOp::Store { bytes: 2, half: Half::High }),
    memory(0x56, "ds_read_u8_d16", small(1, false, Half::Low)),
    memory(0x57, "ds_read_u8_d16_hi", small(1, false, Half::High)),
    memory(0x58, "ds_read_i8_d16", small(1, true, Half::Low)),
    memory(0x59, "ds_read_i8_d16_hi", small(1, true, Half::High)),
    memory(0x5a, "ds_read_u16_d16", small(2, false, Half::Low)),
    memory(0x5b, "ds_read_u16_d16_hi", small(2, false, Half::High)),
    memory(0x5c, "ds_add_f64", atomic_x2(Atomic::AddF)).on(Targets::GFX90A_UP),
    memory(0x6d, "ds_wrxchg_rtn_b64", atomic_x2(Atomic::Swap)),
    memory(0x76, "ds_read_b64", load(8)),
    special(0x77, "ds_read2_b64", Regs(4), ADDRESS, read2),
    special(0x78, "ds_read2st64_b64", Regs(4), ADDRESS, read2),
    memory(0x7c, "ds_add_rtn_f64", atomic_x2(Atomic::AddF)).on(Targets::GFX90A_UP),
    // The barrier says itself for how many it waits.
    special(0x99, "ds_gws_init", No, [B32, No, No, No], |_, _| Ok(Flow::Next)),
    special(0x9d, "ds_gws_barrier", No, [B32, No, No, No], grid_barrier),
    memory(0xb7, "ds_pk_add_rtn_f16", atomic(Atomic::PkAddF16)).on(Targets::GFX942),
    memory(0xb8, "ds_pk_add_rtn_bf16", atomic(Atomic::PkAddBf16)).on(Targets::GFX942),
    memory(0xde, "ds_write_b96", store(12)),
    memory(0xdf, "ds_write_b128", store(16)),
    memory(0xfe, "ds_read_b96", load(12)),
    memory(0xff, "ds_read_b128", load(16)),
];

pub(crate) static TABLES: &[&[Row]] = &[RMW, OTHERS];

/// Whether an instruction gives back what was there.
pub(crate) fn returns(row: &Row) -> bool {
    match row.run {
        Run::Mem(MemOp::Load { .. }) => true,
        Run::Mem(MemOp::Atomic { .. }) => row.name.contains("_rtn_"),
        Run::Mem(MemOp::Store { .. }) => false,
        Run::Exec(_) | Run::Scalar(_) | Run::Lanes(_) => row.dst != No,
    }
}

/// Whether an atomic takes two data operands.
pub(crate) fn takes_two(op: MemOp) -> bool {
    matches!(
        op,
        MemOp::Atomic { op: Atomic::CmpSwap | Atomic::CmpSwapF | Atomic::MskOr | Atomic::Wrap, .. }
    )
}

/// Operands: src[0] = address, src[1] and src[2] = data; imm = the two offset bytes.
pub(crate) fn decode(words: &Words<'_>) -> Result<Inst, FaultKind> {
    let w = words.first();
    let row = find_in(words, Encoding::Ds, TABLES, w >> 17 & 0xff)?;
    let second = words.second(Encoding::Ds)?;
    let mut inst = words.inst(Encoding::Ds, row, 2);
    if matches!(row.run, Run::Mem(_)) {
        inst.exec = execute;
    }
    inst.imm = (w & 0xffff) as i32;
    // Only the global wave sync instructions have the bit that names the global data share.
    if (w >> 16 & 1 != 0) != row.name.starts_with("ds_gws_") {
        return Err(words.unknown(Encoding::Ds, "global data share"));
    }
    let accumulator = if w >> 25 & 1 != 0 && words.target != Target::Gfx906 { ACC } else { 0 };
    let data = |shift: u32| Opnd::V((second >> shift & 0xff) as u16 + accumulator);
    let (gives, two) = match row.run {
        Run::Mem(op) => (op.given() > 0, takes_two(op)),
        Run::Exec(_) | Run::Scalar(_) | Run::Lanes(_) => (row.src[1] != No, row.src[2] != No),
    };
    if row.name == "ds_nop" {
        return Ok(inst);
    }
    inst.src[0] = Opnd::V((second & 0xff) as u16);
    if gives {
        inst.src[1] = data(8);
    }
    if two {
        inst.src[2] = data(16);
    }
    if returns(row) {
        inst.dst = data(24);
    }
    Ok(inst)
}

/// One wave of each workgroup of a cooperative launch comes here, with their number less one.
fn grid_barrier(cx: &mut Cx<'_, '_>, inst: &Inst) -> Step {
    let others = lanes(cx.wave.exec()).next().map_or(0, |lane| cx.wave.v[at(inst.src[0])][lane]);
    Ok(Flow::GridBarrier(others.saturating_add(1)))
}

fn at(operand: Opnd) -> usize {
    match operand {
        Opnd::V(at) => usize::from(at),
        // The decoder gives these instructions vector registers.
        _other => 0,
    }
}

fn execute(cx: &mut Cx<'_, '_>, inst: &Inst) -> Step {
    let op = operation(inst)?;
    let address = at(inst.src[0]);
    // LDS addresses are 32 bits; the offset does not wrap them.
    let by = inst.imm as u64;
    match op {
        MemOp::Load { bytes: words @ (4 | 8 | 12 | 16), .. } => {
            read_words(cx, address, by, usize::from(words / 4), at(inst.dst))?;
        }
        MemOp::Store { bytes: words @ (4 | 8 | 12 | 16), .. } => {
            write_words(cx, address, by, usize::from(words / 4), at(inst.src[1]))?;
        }
        MemOp::Load { .. } | MemOp::Store { .. } | MemOp::Atomic { .. } => {
            for lane in lanes(cx.wave.exec()) {
                let offset = u64::from(cx.wave.v[address][lane]) + by;
                transfer(cx, inst, op, offset, lane, inst.src[1], returns(inst.row))?;
            }
        }
    }
    Ok(Flow::Next)
}

/// Loads whole words in all active lanes.
fn read_words(
    cx: &mut Cx<'_, '_>,
    address: usize,
    by: u64,
    words: usize,
    dst: usize,
) -> Result<(), Box<Trouble>> {
    // The destination may be the address: every lane's address is read first.
    let addresses = cx.wave.v[address];
    for lane in lanes(cx.wave.exec()) {
        let range = cx.lds_range(u64::from(addresses[lane]) + by, 4 * words as u32, lane)?;
        for (k, word) in cx.lds[range].chunks_exact(4).enumerate() {
            let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            cx.wave.v[dst + k][lane] = word;
        }
    }
    Ok(())
}

/// Stores whole words of all active lanes.
fn write_words(
    cx: &mut Cx<'_, '_>,
    address: usize,
    by: u64,
    words: usize,
    data: usize,
) -> Result<(), Box<Trouble>> {
    for lane in lanes(cx.wave.exec()) {
        let offset = u64::from(cx.wave.v[address][lane]) + by;
        let range = cx.lds_range(offset, 4 * words as u32, lane)?;
        for (k, word) in cx.lds[range].chunks_exact_mut(4).enumerate() {
            word.copy_from_slice(&cx.wave.v[data + k][lane].to_le_bytes());
        }
    }
    Ok(())
}

/// Does a memory operation on LDS for one lane.
pub(crate) fn transfer(
    cx: &mut Cx<'_, '_>,
    inst: &Inst,
    op: MemOp,
    offset: u64,
    lane: usize,
    data: Opnd,
    returns: bool,
) -> Result<(), Box<Trouble>> {
    let (data, dst) = (at(data), at(inst.dst));
    match op {
        MemOp::Load { bytes, signed, half } => {
            let range = cx.lds_range(offset, u32::from(bytes), lane)?;
            let from = &cx.lds[range];
            match from {
                [byte] => put_small(&mut cx.wave.v[dst][lane], u32::from(*byte), 1, signed, half),
                [low, high] => {
                    let raw = u32::from(u16::from_le_bytes([*low, *high]));
                    put_small(&mut cx.wave.v[dst][lane], raw, 2, signed, half);
                }
                words => {
                    for (k, word) in words.chunks_exact(4).enumerate() {
                        let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
                        cx.wave.v[dst + k][lane] = word;
                    }
                }
            }
        }
        MemOp::Store { bytes, half } => {
            let range = cx.lds_range(offset, u32::from(bytes), lane)?;
            let to = &mut cx.lds[range];
            if bytes < 4 {
                let value = cx.wave.v[data][lane] >> if half == Half::High { 16 } else { 0 };
                to.copy_from_slice(&value.to_le_bytes()[..usize::from(bytes)]);
            } else {
                for (k, word) in to.chunks_exact_mut(4).enumerate() {
                    word.copy_from_slice(&cx.wave.v[data + k][lane].to_le_bytes());
                }
            }
        }
        MemOp::Atomic { op, wide } => {
            let second = match inst.src[2] {
                // DS has its second operand in registers of its own; it is what a flat
                // compare-and-swap has after its first one.
                Opnd::V(second) if inst.encoding == Encoding::Ds => usize::from(second),
                _flat => data + 1 + usize::from(wide),
            };
            rmw(cx, inst, op, wide, offset, lane, (data, second), returns.then_some(dst))?;
        }
    }
    Ok(())
}

#[allow(clippy::too_many_arguments, reason = "one lane of one read-modify-write, in full")]
fn rmw(
    cx: &mut Cx<'_, '_>,
    inst: &Inst,
    op: Atomic,
    wide: bool,
    offset: u64,
    lane: usize,
    (data, second): (usize, usize),
    dst: Option<usize>,
) -> Result<(), Box<Trouble>> {
    let bytes = if wide { 8 } else { 4 };
    if !offset.is_multiple_of(u64::from(bytes)) {
        let kind = FaultKind::Unaligned { address: offset, align: bytes };
        return Err(Trouble::lane(kind, lane));
    }
    let range = cx.lds_range(offset, bytes, lane)?;
    let pair = |at: usize| {
        let high = if wide { u64::from(cx.wave.v[at + 1][lane]) } else { 0 };
        u64::from(cx.wave.v[at][lane]) | high << 32
    };
    let (mut first, mut other) = (pair(data), pair(second));
    if inst.encoding == Encoding::Ds && matches!(op, Atomic::CmpSwap | Atomic::CmpSwapF) {
        // DS compares with its first operand and stores its second.
        (first, other) = (other, first);
    }
    let cell = &mut cx.lds[range];
    let mut raw = [0; 8];
    raw[..cell.len()].copy_from_slice(cell);
    let old = u64::from_le_bytes(raw);
    let new = if wide {
        apply64(op, old, first, other)
    } else {
        u64::from(apply32(op, old as u32, first as u32, other as u32))
    };
    let size = cell.len();
    cell.copy_from_slice(&new.to_le_bytes()[..size]);
    if let Some(dst) = dst {
        cx.wave.v[dst][lane] = old as u32;
        if wide {
            cx.wave.v[dst + 1][lane] = (old >> 32) as u32;
        }
    }
    Ok(())
}

/// The two offsets of a two-address instruction, in bytes.
fn two_offsets(inst: &Inst, words: usize) -> [u64; 2] {
    let scale = 4 * words as u64 * if inst.row.name.contains("st64") { 64 } else { 1 };
    [(inst.imm & 0xff) as u64 * scale, (inst.imm >> 8 & 0xff) as u64 * scale]
}

fn read2(cx: &mut Cx<'_, '_>, inst: &Inst) -> Step {
    let words = inst.row.dst.regs() / 2;
    let [first, second] = two_offsets(inst, words);
    let (address, dst) = (at(inst.src[0]), at(inst.dst));
    // The first half must not overwrite an address that the second half needs.
    let held = cx.wave.v[address];
    read_words(cx, address, first, words, dst)?;
    let overwritten = cx.wave.v[address];
    cx.wave.v[address] = held;
    read_words(cx, address, second, words, dst + words)?;
    if (dst..dst + words).contains(&address) {
        cx.wave.v[address] = overwritten;
    }
    Ok(Flow::Next)
}

fn write2(cx: &mut Cx<'_, '_>, inst: &Inst) -> Step {
    let words = inst.row.src[1].regs();
    let address = at(inst.src[0]);
    for (i, offset) in two_offsets(inst, words).into_iter().enumerate() {
        write_words(cx, address, offset, words, at(inst.src[1 + i]))?;
    }
    Ok(Flow::Next)
}

/// The lane that a permutation's byte address names.
fn named_lane(cx: &Cx<'_, '_>, inst: &Inst, lane: usize) -> usize {
    let address = cx.wave.v[at(inst.src[0])][lane].wrapping_add(inst.imm as u32);
    (address / 4) as usize % LANES
}

/// Each lane sends its value to the lane it names; the highest sender wins.
fn permute(cx: &mut Cx<'_, '_>, inst: &Inst) -> Step {
    let exec = cx.wave.exec();
    let mut result = [0; LANES];
    for lane in lanes(exec) {
        result[named_lane(cx, inst, lane)] = cx.wave.v[at(inst.src[1])][lane];
    }
    cx.wave.out.v[0] = result;
    cx.write_v(inst.dst, 1, exec);
    Ok(Flow::Next)
}

/// Each lane fetches the value of the lane it names; inactive lanes give 0.
fn permute_backward(cx: &mut Cx<'_, '_>, inst: &Inst) -> Step {
    let exec = cx.wave.exec();
    let mut result = [0; LANES];
    for lane in lanes(exec) {
        let from = named_lane(cx, inst, lane);
        if exec >> from & 1 != 0 {
            result[lane] = cx.wave.v[at(inst.src[1])][from];
        }
    }
    cx.wave.out.v[0] = result;
    cx.write_v(inst.dst, 1, exec);
    Ok(Flow::Next)
}

/// Each lane fetches the value of the lane that the pattern in the offset gives.
fn swizzle(cx: &mut Cx<'_, '_>, inst: &Inst) -> Step {
    let exec = cx.wave.exec();
    let pattern = inst.imm as usize;
    if pattern >= 0xe000 {
        return Err(Trouble::unsupported(inst, "the FFT swizzle pattern"));
    }
    let mut result = [0; LANES];
    for lane in lanes(exec) {
        let from = if pattern & 0xc000 == 0xc000 {
            // Rotation within 32 lanes; bits of the mask stay.
            let (mask, by) = (pattern & 31, pattern >> 5 & 31);
            let turned = if pattern & 0x400 == 0 { lane + by } else { lane + 32 - by };
            lane & 32 | lane & mask | turned & 31 & !mask
        } else if pattern & 0x8000 != 0 {
            lane & !3 | pattern >> (2 * (lane & 3)) & 3
        } else {
            let (and, or, xor) = (pattern & 31, pattern >> 5 & 31, pattern >> 10 & 31);
            lane & 32 | ((lane & and | or) ^ xor) & 31
        };
        if exec >> from & 1 != 0 {
            result[lane] = cx.wave.v[at(inst.src[0])][from];
        }
    }
    cx.wave.out.v[0] = result;
    cx.write_v(inst.dst, 1, exec);
    Ok(Flow::Next)
}

//! SOP1: scalar operations with one source.

use super::decode::Words;
use super::inst::{EXEC, Encoding, Flow, Inst, Opnd, Row, Step, Trouble, Ty, scalar, special};
use super::state::{Cx, mode};
use crate::dispatch::FaultKind;
use Ty::{B32, B64, None as No};

const W: [Ty; 2] = [B32, No];
const D: [Ty; 2] = [B64, No];
const D4: [Ty; 4] = [B64, No, No, No];
const W4: [Ty; 4] = [B32, No, No, No];

macro_rules! nonzero {
    (|$a:ident| $e:expr) => {
        |$a, _, scc| {
            let r = $e;
            *scc = r != 0;
            r as u64
        }
    };
}

/// A position, or -1 if there is none.
fn position(found: bool, at: u32) -> u64 {
    if found { u64::from(at) } else { 0xffff_ffff }
}

fn flip_runs(value: i64, bits: u32) -> u64 {
    // The number of leading bits that equal the sign; all of them: -1.
    let value = if bits == 32 { (value as i32 as i64) << 32 } else { value };
    let flipped = (value ^ (value >> 63)) as u64;
    let run = flipped.leading_zeros();
    position(run < bits, run)
}

fn any_of_four(value: u64, bits: u32) -> u64 {
    let mut quads = 0;
    for i in 0..bits / 4 {
        if value >> (4 * i) & 15 != 0 {
            quads |= 1 << i;
        }
    }
    quads
}

fn whole_quads(value: u64, bits: u32) -> u64 {
    let quads = any_of_four(value, bits);
    (0..bits / 4).filter(|i| quads >> i & 1 != 0).fold(0, |wide, i| wide | 15 << (4 * i))
}

/// EXEC from a source and EXEC; the destination takes the old EXEC.
macro_rules! save_exec {
    ($op:literal, $name:literal, |$s:ident, $exec:ident| $e:expr) => {
        special($op, $name, B64, D4, |cx, inst| {
            let $s = cx.wave.scalar(inst.src[0], B64);
            let $exec = cx.wave.exec();
            let new: u64 = $e;
            cx.wave.set_scalar(inst.dst, B64, $exec);
            cx.wave.set_s64(EXEC, new);
            cx.wave.scc = new != 0;
            Ok(Flow::Next)
        })
    };
}

/// EXEC from a source and EXEC; the destination takes the new EXEC.
macro_rules! write_exec {
    ($op:literal, $name:literal, |$s:ident, $exec:ident| $e:expr) => {
        special($op, $name, B64, D4, |cx, inst| {
            let $s = cx.wave.scalar(inst.src[0], B64);
            let $exec = cx.wave.exec();
            let new: u64 = $e;
            cx.wave.set_s64(EXEC, new);
            cx.wave.set_scalar(inst.dst, B64, new);
            cx.wave.scc = new != 0;
            Ok(Flow::Next)
        })
    };
}

fn conditional_move(cx: &mut Cx<'_, '_>, inst: &Inst) -> Step {
    if cx.wave.scc {
        let value = cx.wave.scalar(inst.src[0], inst.row.dst);
        cx.wave.set_scalar(inst.dst, inst.row.dst, value);
    }
    Ok(Flow::Next)
}

fn bit_set(cx: &mut Cx<'_, '_>, inst: &Inst) -> Step {
    let wide = inst.row.dst == B64;
    let bit = 1u64 << (cx.wave.scalar(inst.src[0], B32) & if wide { 63 } else { 31 });
    let old = cx.wave.scalar(inst.dst, inst.row.dst);
    // Even opcodes clear the bit, odd ones of these four set it: 0x18, 0x19 against 0x1a, 0x1b.
    let new = if inst.row.op < 0x1a { old & !bit } else { old | bit };
    cx.wave.set_scalar(inst.dst, inst.row.dst, new);
    Ok(Flow::Next)
}

/// The scalar register that M0 away from another one is.
fn relative(inst: &Inst, operand: Opnd, by: u32) -> Result<Opnd, Box<Trouble>> {
    let Opnd::S(at) = operand else {
        return Err(Trouble::unsupported(inst, "a relative operand that is no register"));
    };
    match u32::from(at).checked_add(by) {
        Some(to) if to < 102 => Ok(Opnd::S(to as u8)),
        Some(_) | None => Err(Trouble::unsupported(inst, format!("M0 = {by}: beyond s101"))),
    }
}

fn move_relative_source(cx: &mut Cx<'_, '_>, inst: &Inst) -> Step {
    let from = relative(inst, inst.src[0], cx.wave.m0())?;
    let value = cx.wave.scalar(from, inst.row.dst);
    cx.wave.set_scalar(inst.dst, inst.row.dst, value);
    Ok(Flow::Next)
}

fn move_relative_destination(cx: &mut Cx<'_, '_>, inst: &Inst) -> Step {
    let to = relative(inst, inst.dst, cx.wave.m0())?;
    let value = cx.wave.scalar(inst.src[0], inst.row.dst);
    cx.wave.set_scalar(to, inst.row.dst, value);
    Ok(Flow::Next)
}

pub(crate) static ROWS: &[Row] = &[
    scalar(0x00, "s_mov_b32", B32, W, |a, _, _| a),
    scalar(0x01, "s_mov_b64", B64, D, |a, _, _| a),
    special(0x02, "s_cmov_b32", B32, W4, conditional_move),
    special(0x03, "s_cmov_b64", B64, D4, conditional_move),
    scalar(0x04, "s_not_b32", B32, W, nonzero!(|a| !a as u32)),
    scalar(0x05, "s_not_b64", B64, D, nonzero!(|a| !a)),
    scalar(0x06, "s_wqm_b32", B32, W, nonzero!(|a| whole_quads(a, 32))),
    scalar(0x07, "s_wqm_b64", B64, D, nonzero!(|a| whole_quads(a, 64))),
    scalar(0x08, "s_brev_b32", B32, W, |a, _, _| (a as u32).reverse_bits() as u64),
    scalar(0x09, "s_brev_b64", B64, D, |a, _, _| a.reverse_bits()),
    scalar(0x0a, "s_bcnt0_i32_b32", B32, W, nonzero!(|a| (a as u32).count_zeros())),
    scalar(0x0b, "s_bcnt0_i32_b64", B32, D, nonzero!(|a| a.count_zeros())),
    scalar(0x0c, "s_bcnt1_i32_b32", B32, W, nonzero!(|a| (a as u32).count_ones())),
    scalar(0x0d, "s_bcnt1_i32_b64", B32, D, nonzero!(|a| a.count_ones())),
    scalar(0x0e, "s_ff0_i32_b32", B32, W, |a, _, _| {
        position(a as u32 != u32::MAX, (a as u32).trailing_ones())
    }),
    scalar(0x0f, "s_ff0_i32_b64", B32, D, |a, _, _| position(a != u64::MAX, a.trailing_ones())),
    scalar(0x10, "s_ff1_i32_b32", B32, W, |a, _, _| {
        position(a as u32 != 0, (a as u32).trailing_zeros())
    }),
    scalar(0x11, "s_ff1_i32_b64", B32, D, |a, _, _| position(a != 0, a.trailing_zeros())),
    scalar(0x12, "s_flbit_i32_b32", B32, W, |a, _, _| {
        position(a as u32 != 0, (a as u32).leading_zeros())
    }),
    scalar(0x13, "s_flbit_i32_b64", B32, D, |a, _, _| position(a != 0, a.leading_zeros())),
    scalar(0x14, "s_flbit_i32", B32, W, |a, _, _| flip_runs(a as i64, 32)),
    scalar(0x15, "s_flbit_i32_i64", B32, D, |a, _, _| flip_runs(a as i64, 64)),
    scalar(0x16, "s_sext_i32_i8", B32, W, |a, _, _| a as i8 as u32 as u64),
    scalar(0x17, "s_sext_i32_i16", B32, W, |a, _, _| a as i16 as u32 as u64),
    special(0x18, "s_bitset0_b32", B32, W4, bit_set),
    special(0x19, "s_bitset0_b64", B64, W4, bit_set),
    special(0x1a, "s_bitset1_b32", B32, W4, bit_set),
    special(0x1b, "s_bitset1_b64", B64, W4, bit_set),
    special(0x1c, "s_getpc_b64", B64, [No; 4], |cx, inst| {
        cx.wave.set_scalar(inst.dst, B64, inst.pc + 4);
        Ok(Flow::Next)
    }),
    special(0x1d, "s_setpc_b64", No, D4, |cx, inst| {
        Ok(Flow::Jump(cx.wave.scalar(inst.src[0], B64)))
    }),
    special(0x1e, "s_swappc_b64", B64, D4, |cx, inst| {
        let to = cx.wave.scalar(inst.src[0], B64);
        cx.wave.set_scalar(inst.dst, B64, inst.pc + 4 * u64::from(inst.len));
        Ok(Flow::Jump(to))
    }),
    save_exec!(0x20, "s_and_saveexec_b64", |s, exec| s & exec),
    save_exec!(0x21, "s_or_saveexec_b64", |s, exec| s | exec),
    save_exec!(0x22, "s_xor_saveexec_b64", |s, exec| s ^ exec),
    save_exec!(0x23, "s_andn2_saveexec_b64", |s, exec| s & !exec),
    save_exec!(0x24, "s_orn2_saveexec_b64", |s, exec| s | !exec),
    save_exec!(0x25, "s_nand_saveexec_b64", |s, exec| !(s & exec)),
    save_exec!(0x26, "s_nor_saveexec_b64", |s, exec| !(s | exec)),
    save_exec!(0x27, "s_xnor_saveexec_b64", |s, exec| !(s ^ exec)),
    scalar(0x28, "s_quadmask_b32", B32, W, nonzero!(|a| any_of_four(a, 32))),
    scalar(0x29, "s_quadmask_b64", B64, D, nonzero!(|a| any_of_four(a, 64))),
    special(0x2a, "s_movrels_b32", B32, W4, move_relative_source),
    special(0x2b, "s_movrels_b64", B64, D4, move_relative_source),
    special(0x2c, "s_movreld_b32", B32, W4, move_relative_destination),
    special(0x2d, "s_movreld_b64", B64, D4, move_relative_destination),
    scalar(0x30, "s_abs_i32", B32, W, nonzero!(|a| (a as i32).wrapping_abs() as u32)),
    special(0x32, "s_set_gpr_idx_idx", No, W4, |cx, inst| {
        let index = cx.wave.scalar(inst.src[0], B32) as u32;
        let m0 = &mut cx.wave.s[usize::from(super::inst::M0)];
        *m0 = *m0 & !0xff | index & 0xff;
        Ok(Flow::Next)
    }),
    save_exec!(0x33, "s_andn1_saveexec_b64", |s, exec| !s & exec),
    save_exec!(0x34, "s_orn1_saveexec_b64", |s, exec| !s | exec),
    write_exec!(0x35, "s_andn1_wrexec_b64", |s, exec| !s & exec),
    write_exec!(0x36, "s_andn2_wrexec_b64", |s, exec| s & !exec),
    scalar(0x37, "s_bitreplicate_b64_b32", B64, W, |a, _, _| {
        (0..32).filter(|i| a >> i & 1 != 0).fold(0, |wide, i| wide | 3 << (2 * i))
    }),
];

pub(crate) fn decode(words: &Words<'_>) -> Result<Inst, FaultKind> {
    let w = words.first();
    let row = words.row(Encoding::Sop1, ROWS, w >> 8 & 0xff)?;
    let mut inst = words.inst(Encoding::Sop1, row, 1);
    if row.dst != No {
        inst.dst = words.scalar_destination(Encoding::Sop1, w >> 16)?;
    }
    if row.src[0] != No {
        inst.src[0] = words.scalar_source(Encoding::Sop1, w, &mut inst.len)?;
    }
    Ok(inst)
}

/// Turns VGPR indexing on or off; the low bits of M0's second byte say for which operands.
pub(crate) fn set_indexing(cx: &mut Cx<'_, '_>, on: bool) {
    if on {
        cx.wave.mode |= mode::GPR_IDX;
    } else {
        cx.wave.mode &= !mode::GPR_IDX;
    }
}

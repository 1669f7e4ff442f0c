//! SOP2: scalar operations with two sources.

use super::decode::Words;
use super::inst::{Encoding, Flow, Inst, Row, Run, Step, Trouble, Ty, scalar};
use super::state::Cx;
use crate::dispatch::FaultKind;
use Ty::{B32, B64};

const W: [Ty; 2] = [B32, B32];
const D: [Ty; 2] = [B64, B64];
const DW: [Ty; 2] = [B64, B32];

/// A result whose SCC says whether it is not 0.
macro_rules! nonzero {
    (|$a:ident, $b:ident| $e:expr) => {
        |$a, $b, scc| {
            let r = $e;
            *scc = r != 0;
            r as u64
        }
    };
}

fn bfe32(value: u64, field: u64) -> (u32, u32, u32) {
    (value as u32, field as u32 & 31, (field as u32 >> 16 & 0x7f).min(32))
}

fn bfe64(value: u64, field: u64) -> (u64, u32, u32) {
    (value, field as u32 & 63, (field as u32 >> 16 & 0x7f).min(64))
}

fn low_bits(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

fn sign_extend(value: u64, width: u32) -> u64 {
    if width == 0 || width >= 64 {
        return value;
    }
    ((value << (64 - width)) as i64 >> (64 - width)) as u64
}

fn add(a: u64, b: u64, carry: bool, scc: &mut bool) -> u64 {
    let sum = (a as u32 as u64) + (b as u32 as u64) + u64::from(carry);
    *scc = sum >> 32 != 0;
    sum as u32 as u64
}

fn sub(a: u64, b: u64, borrow: bool, scc: &mut bool) -> u64 {
    let (a, b) = (a as u32 as u64, (b as u32 as u64) + u64::from(borrow));
    *scc = b > a;
    a.wrapping_sub(b) as u32 as u64
}

fn lshl_add(a: u64, b: u64, shift: u32, scc: &mut bool) -> u64 {
    let sum = ((a as u32 as u64) << shift) + (b as u32 as u64);
    *scc = sum >> 32 != 0;
    sum as u32 as u64
}

fn least(a: u64, scc: &mut bool, is_a: bool, b: u64) -> u64 {
    *scc = is_a;
    if is_a { a } else { b }
}

pub(crate) static ROWS: &[Row] = &[
    scalar(0x00, "s_add_u32", B32, W, |a, b, scc| add(a, b, false, scc)),
    scalar(0x01, "s_sub_u32", B32, W, |a, b, scc| sub(a, b, false, scc)),
    scalar(0x02, "s_add_i32", B32, W, |a, b, scc| {
        let (r, overflow) = (a as i32).overflowing_add(b as i32);
        *scc = overflow;
        r as u32 as u64
    }),
    scalar(0x03, "s_sub_i32", B32, W, |a, b, scc| {
        let (r, overflow) = (a as i32).overflowing_sub(b as i32);
        *scc = overflow;
        r as u32 as u64
    }),
    scalar(0x04, "s_addc_u32", B32, W, |a, b, scc| {
        let carry = *scc;
        add(a, b, carry, scc)
    }),
    scalar(0x05, "s_subb_u32", B32, W, |a, b, scc| {
        let borrow = *scc;
        sub(a, b, borrow, scc)
    }),
    scalar(0x06, "s_min_i32", B32, W, |a, b, scc| least(a, scc, (a as i32) < b as i32, b)),
    scalar(0x07, "s_min_u32", B32, W, |a, b, scc| least(a, scc, (a as u32) < b as u32, b)),
    scalar(0x08, "s_max_i32", B32, W, |a, b, scc| least(a, scc, a as i32 > b as i32, b)),
    scalar(0x09, "s_max_u32", B32, W, |a, b, scc| least(a, scc, a as u32 > b as u32, b)),
    scalar(0x0a, "s_cselect_b32", B32, W, |a, b, scc| if *scc { a } else { b }),
    scalar(0x0b, "s_cselect_b64", B64, D, |a, b, scc| if *scc { a } else { b }),
    scalar(0x0c, "s_and_b32", B32, W, nonzero!(|a, b| (a & b) as u32)),
    scalar(0x0d, "s_and_b64", B64, D, nonzero!(|a, b| a & b)),
    scalar(0x0e, "s_or_b32", B32, W, nonzero!(|a, b| (a | b) as u32)),
    scalar(0x0f, "s_or_b64", B64, D, nonzero!(|a, b| a | b)),
    scalar(0x10, "s_xor_b32", B32, W, nonzero!(|a, b| (a ^ b) as u32)),
    scalar(0x11, "s_xor_b64", B64, D, nonzero!(|a, b| a ^ b)),
    scalar(0x12, "s_andn2_b32", B32, W, nonzero!(|a, b| (a & !b) as u32)),
    scalar(0x13, "s_andn2_b64", B64, D, nonzero!(|a, b| a & !b)),
    scalar(0x14, "s_orn2_b32", B32, W, nonzero!(|a, b| (a | !b) as u32)),
    scalar(0x15, "s_orn2_b64", B64, D, nonzero!(|a, b| a | !b)),
    scalar(0x16, "s_nand_b32", B32, W, nonzero!(|a, b| !(a & b) as u32)),
    scalar(0x17, "s_nand_b64", B64, D, nonzero!(|a, b| !(a & b))),
    scalar(0x18, "s_nor_b32", B32, W, nonzero!(|a, b| !(a | b) as u32)),
    scalar(0x19, "s_nor_b64", B64, D, nonzero!(|a, b| !(a | b))),
    scalar(0x1a, "s_xnor_b32", B32, W, nonzero!(|a, b| !(a ^ b) as u32)),
    scalar(0x1b, "s_xnor_b64", B64, D, nonzero!(|a, b| !(a ^ b))),
    scalar(0x1c, "s_lshl_b32", B32, W, nonzero!(|a, b| (a as u32) << (b & 31))),
    scalar(0x1d, "s_lshl_b64", B64, DW, nonzero!(|a, b| a << (b & 63))),
    scalar(0x1e, "s_lshr_b32", B32, W, nonzero!(|a, b| a as u32 >> (b & 31))),
    scalar(0x1f, "s_lshr_b64", B64, DW, nonzero!(|a, b| a >> (b & 63))),
    scalar(0x20, "s_ashr_i32", B32, W, nonzero!(|a, b| (a as i32 >> (b & 31)) as u32)),
    scalar(0x21, "s_ashr_i64", B64, DW, nonzero!(|a, b| a as i64 >> (b & 63))),
    scalar(0x22, "s_bfm_b32", B32, W, |a, b, _| {
        ((low_bits(a as u32 & 31) as u32) << (b & 31)) as u64
    }),
    scalar(0x23, "s_bfm_b64", B64, W, |a, b, _| low_bits(a as u32 & 63) << (b & 63)),
    scalar(0x24, "s_mul_i32", B32, W, |a, b, _| (a as u32).wrapping_mul(b as u32) as u64),
    scalar(
        0x25,
        "s_bfe_u32",
        B32,
        W,
        nonzero!(|a, b| {
            let (value, shift, width) = bfe32(a, b);
            (value >> shift) as u64 & low_bits(width)
        }),
    ),
    scalar(
        0x26,
        "s_bfe_i32",
        B32,
        W,
        nonzero!(|a, b| {
            let (value, shift, width) = bfe32(a, b);
            sign_extend((value as i32 >> shift) as u32 as u64 & low_bits(width), width) as u32
        }),
    ),
    scalar(
        0x27,
        "s_bfe_u64",
        B64,
        DW,
        nonzero!(|a, b| {
            let (value, shift, width) = bfe64(a, b);
            value >> shift & low_bits(width)
        }),
    ),
    scalar(
        0x28,
        "s_bfe_i64",
        B64,
        DW,
        nonzero!(|a, b| {
            let (value, shift, width) = bfe64(a, b);
            sign_extend((value as i64 >> shift) as u64 & low_bits(width), width)
        }),
    ),
    scalar(
        0x2a,
        "s_absdiff_i32",
        B32,
        W,
        nonzero!(|a, b| { (a as i32).wrapping_sub(b as i32).wrapping_abs() as u32 }),
    ),
    scalar(0x2c, "s_mul_hi_u32", B32, W, |a, b, _| (a as u32 as u64 * b as u32 as u64) >> 32),
    scalar(0x2d, "s_mul_hi_i32", B32, W, |a, b, _| {
        ((a as i32 as i64 * b as i32 as i64) >> 32) as u32 as u64
    }),
    scalar(0x2e, "s_lshl1_add_u32", B32, W, |a, b, scc| lshl_add(a, b, 1, scc)),
    scalar(0x2f, "s_lshl2_add_u32", B32, W, |a, b, scc| lshl_add(a, b, 2, scc)),
    scalar(0x30, "s_lshl3_add_u32", B32, W, |a, b, scc| lshl_add(a, b, 3, scc)),
    scalar(0x31, "s_lshl4_add_u32", B32, W, |a, b, scc| lshl_add(a, b, 4, scc)),
    scalar(0x32, "s_pack_ll_b32_b16", B32, W, |a, b, _| a & 0xffff | (b & 0xffff) << 16),
    scalar(0x33, "s_pack_lh_b32_b16", B32, W, |a, b, _| a & 0xffff | b & 0xffff_0000),
    scalar(0x34, "s_pack_hh_b32_b16", B32, W, |a, b, _| a >> 16 & 0xffff | b & 0xffff_0000),
];

pub(crate) fn decode(words: &Words<'_>) -> Result<Inst, FaultKind> {
    let w = words.first();
    let row = words.row(Encoding::Sop2, ROWS, w >> 23 & 0x7f)?;
    let mut inst = words.inst(Encoding::Sop2, row, 1);
    inst.dst = words.scalar_destination(Encoding::Sop2, w >> 16)?;
    inst.src[0] = words.scalar_source(Encoding::Sop2, w, &mut inst.len)?;
    inst.src[1] = words.scalar_source(Encoding::Sop2, w >> 8, &mut inst.len)?;
    Ok(inst)
}

/// Executes any scalar operation of one result.
pub(crate) fn execute(cx: &mut Cx<'_, '_>, inst: &Inst) -> Step {
    let Run::Scalar(run) = inst.row.run else {
        return Err(Trouble::unsupported(inst, "this form"));
    };
    let wave = &mut *cx.wave;
    let a = wave.scalar(inst.src[0], inst.row.src[0]);
    let b = wave.scalar(inst.src[1], inst.row.src[1]);
    let value = run(a, b, &mut wave.scc);
    wave.set_scalar(inst.dst, inst.row.dst, value);
    Ok(Flow::Next)
}

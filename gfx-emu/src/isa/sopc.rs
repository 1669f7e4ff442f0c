//! SOPC: scalar comparisons, whose result is SCC.

use super::decode::Words;
use super::inst::{Encoding, Flow, Inst, M0, Opnd, Row, Ty, scalar, special};
use super::sop1::set_indexing;
use crate::dispatch::FaultKind;
use Ty::{B32, B64, None as No};

const W: [Ty; 2] = [B32, B32];

macro_rules! compare {
    ($op:literal, $name:literal, $src:expr, |$a:ident, $b:ident| $e:expr) => {
        scalar($op, $name, No, $src, |$a, $b, scc| {
            *scc = $e;
            0
        })
    };
}

pub(crate) static ROWS: &[Row] = &[
    compare!(0x00, "s_cmp_eq_i32", W, |a, b| a as i32 == b as i32),
    compare!(0x01, "s_cmp_lg_i32", W, |a, b| a as i32 != b as i32),
    compare!(0x02, "s_cmp_gt_i32", W, |a, b| a as i32 > b as i32),
    compare!(0x03, "s_cmp_ge_i32", W, |a, b| a as i32 >= b as i32),
    compare!(0x04, "s_cmp_lt_i32", W, |a, b| (a as i32) < b as i32),
    compare!(0x05, "s_cmp_le_i32", W, |a, b| a as i32 <= b as i32),
    compare!(0x06, "s_cmp_eq_u32", W, |a, b| a as u32 == b as u32),
    compare!(0x07, "s_cmp_lg_u32", W, |a, b| a as u32 != b as u32),
    compare!(0x08, "s_cmp_gt_u32", W, |a, b| a as u32 > b as u32),
    compare!(0x09, "s_cmp_ge_u32", W, |a, b| a as u32 >= b as u32),
    compare!(0x0a, "s_cmp_lt_u32", W, |a, b| (a as u32) < b as u32),
    compare!(0x0b, "s_cmp_le_u32", W, |a, b| a as u32 <= b as u32),
    compare!(0x0c, "s_bitcmp0_b32", W, |a, b| a >> (b & 31) & 1 == 0),
    compare!(0x0d, "s_bitcmp1_b32", W, |a, b| a >> (b & 31) & 1 == 1),
    compare!(0x0e, "s_bitcmp0_b64", [B64, B32], |a, b| a >> (b & 63) & 1 == 0),
    compare!(0x0f, "s_bitcmp1_b64", [B64, B32], |a, b| a >> (b & 63) & 1 == 1),
    special(0x11, "s_set_gpr_idx_on", No, [B32, No, No, No], |cx, inst| {
        let index = cx.wave.scalar(inst.src[0], B32) as u32;
        let m0 = &mut cx.wave.s[usize::from(M0)];
        *m0 = *m0 & 0xffff_0f00 | index & 0xff | (inst.imm as u32 & 15) << 12;
        set_indexing(cx, true);
        Ok(Flow::Next)
    }),
    compare!(0x12, "s_cmp_eq_u64", [B64, B64], |a, b| a == b),
    compare!(0x13, "s_cmp_lg_u64", [B64, B64], |a, b| a != b),
];

pub(crate) fn decode(words: &Words<'_>) -> Result<Inst, FaultKind> {
    let w = words.first();
    let row = words.row(Encoding::Sopc, ROWS, w >> 16 & 0x7f)?;
    let mut inst = words.inst(Encoding::Sopc, row, 1);
    inst.src[0] = words.scalar_source(Encoding::Sopc, w, &mut inst.len)?;
    if row.src[1] == No {
        // The field itself is the operand: which operands are indexed.
        inst.imm = (w >> 8 & 0xff) as i32;
        inst.src[1] = Opnd::None;
    } else {
        inst.src[1] = words.scalar_source(Encoding::Sopc, w >> 8, &mut inst.len)?;
    }
    Ok(inst)
}

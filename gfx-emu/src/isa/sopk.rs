//! SOPK: scalar operations with a 16-bit constant.

use super::decode::Words;
use super::inst::{Encoding, Flow, Inst, Row, Step, Trouble, Ty, special};
use super::state::{Cx, PRIVATE_BASE_HI, SHARED_BASE_HI, float_mode_is_emulated};
use crate::dispatch::FaultKind;
use Ty::{B32, None as No};

const S: [Ty; 4] = [B32, No, No, No];

macro_rules! compare {
    ($op:literal, $name:literal, |$a:ident, $k:ident| $e:expr) => {
        special($op, $name, No, S, |cx, inst| {
            let $a = cx.wave.scalar(inst.src[0], B32) as u32;
            let $k = inst.imm as u32;
            cx.wave.scc = $e;
            Ok(Flow::Next)
        })
    };
}

pub(crate) static ROWS: &[Row] = &[
    special(0x00, "s_movk_i32", B32, [No; 4], |cx, inst| {
        cx.wave.set_scalar(inst.dst, B32, inst.simm16() as u64);
        Ok(Flow::Next)
    }),
    special(0x01, "s_cmovk_i32", B32, [No; 4], |cx, inst| {
        if cx.wave.scc {
            cx.wave.set_scalar(inst.dst, B32, inst.simm16() as u64);
        }
        Ok(Flow::Next)
    }),
    compare!(0x02, "s_cmpk_eq_i32", |a, k| a as i32 == k as i16 as i32),
    compare!(0x03, "s_cmpk_lg_i32", |a, k| a as i32 != k as i16 as i32),
    compare!(0x04, "s_cmpk_gt_i32", |a, k| a as i32 > k as i16 as i32),
    compare!(0x05, "s_cmpk_ge_i32", |a, k| a as i32 >= k as i16 as i32),
    compare!(0x06, "s_cmpk_lt_i32", |a, k| (a as i32) < k as i16 as i32),
    compare!(0x07, "s_cmpk_le_i32", |a, k| a as i32 <= k as i16 as i32),
    compare!(0x08, "s_cmpk_eq_u32", |a, k| a == k & 0xffff),
    compare!(0x09, "s_cmpk_lg_u32", |a, k| a != k & 0xffff),
    compare!(0x0a, "s_cmpk_gt_u32", |a, k| a > k & 0xffff),
    compare!(0x0b, "s_cmpk_ge_u32", |a, k| a >= k & 0xffff),
    compare!(0x0c, "s_cmpk_lt_u32", |a, k| a < k & 0xffff),
    compare!(0x0d, "s_cmpk_le_u32", |a, k| a <= k & 0xffff),
    special(0x0e, "s_addk_i32", B32, [No; 4], |cx, inst| {
        let a = cx.wave.scalar(inst.dst, B32) as i32;
        let (r, overflow) = a.overflowing_add(i32::from(inst.imm as i16));
        cx.wave.scc = overflow;
        cx.wave.set_scalar(inst.dst, B32, r as u32 as u64);
        Ok(Flow::Next)
    }),
    special(0x0f, "s_mulk_i32", B32, [No; 4], |cx, inst| {
        let a = cx.wave.scalar(inst.dst, B32) as i32;
        let r = a.wrapping_mul(i32::from(inst.imm as i16));
        cx.wave.set_scalar(inst.dst, B32, r as u32 as u64);
        Ok(Flow::Next)
    }),
    special(0x11, "s_getreg_b32", B32, [No; 4], |cx, inst| {
        let (id, shift, width) = hardware_field(inst);
        let value = read_hardware(cx, inst, id)? >> shift & width_mask(width);
        cx.wave.set_scalar(inst.dst, B32, u64::from(value));
        Ok(Flow::Next)
    }),
    special(0x12, "s_setreg_b32", No, S, |cx, inst| {
        let value = cx.wave.scalar(inst.src[0], B32) as u32;
        write_hardware(cx, inst, value)
    }),
    special(0x14, "s_setreg_imm32_b32", No, S, |cx, inst| {
        let value = inst.words[1];
        write_hardware(cx, inst, value)
    }),
    special(0x15, "s_call_b64", Ty::B64, [No; 4], |cx, inst| {
        let next = inst.pc + 4;
        cx.wave.set_scalar(inst.dst, Ty::B64, next);
        Ok(Flow::Jump(next.wrapping_add_signed(4 * inst.simm16())))
    }),
];

/// The register, first bit and number of bits that a hwreg operand names.
pub(crate) fn hardware_field(inst: &Inst) -> (u32, u32, u32) {
    let k = inst.imm as u32 & 0xffff;
    (k & 0x3f, k >> 6 & 0x1f, (k >> 11) + 1)
}

fn width_mask(width: u32) -> u32 {
    if width >= 32 { u32::MAX } else { (1 << width) - 1 }
}

/// The names of hardware registers, as text shows them.
pub(crate) const HARDWARE: [(u32, &str); 9] = [
    (1, "HW_REG_MODE"),
    (2, "HW_REG_STATUS"),
    (3, "HW_REG_TRAPSTS"),
    (4, "HW_REG_HW_ID"),
    (5, "HW_REG_GPR_ALLOC"),
    (6, "HW_REG_LDS_ALLOC"),
    (7, "HW_REG_IB_STS"),
    (15, "HW_REG_SH_MEM_BASES"),
    (20, "HW_REG_XCC_ID"),
];

fn read_hardware(cx: &Cx<'_, '_>, inst: &Inst, id: u32) -> Result<u32, Box<Trouble>> {
    match id {
        1 => Ok(cx.wave.mode),
        // What a program may learn of its wave: SCC, and EXEC and VCC being zero.
        2 => Ok(u32::from(cx.wave.scc)
            | u32::from(cx.wave.exec() == 0) << 9
            | u32::from(cx.wave.vcc() == 0) << 10),
        // No trap has been taken.
        3 => Ok(0),
        // The first SIMD of the first compute unit; one wave slot after the other.
        4 => Ok(cx.wave.index & 15),
        6 => Ok((cx.lds.len() as u32).div_ceil(256) << 12),
        15 => Ok(SHARED_BASE_HI >> 16 << 16 | PRIVATE_BASE_HI >> 16),
        20 => Ok(0),
        _other => Err(Trouble::unsupported(inst, format!("hardware register {id}"))),
    }
}

fn write_hardware(cx: &mut Cx<'_, '_>, inst: &Inst, value: u32) -> Step {
    let (id, shift, width) = hardware_field(inst);
    if id != 1 {
        return Err(Trouble::unsupported(inst, format!("writing hardware register {id}")));
    }
    let mask = width_mask(width) << shift;
    let new = cx.wave.mode & !mask | value << shift & mask;
    if !float_mode_is_emulated(new) {
        return Err(Trouble::unsupported(inst, format!("float mode {:#04x}", new & 0xff)));
    }
    cx.wave.mode = new;
    Ok(Flow::Next)
}

pub(crate) fn decode(words: &Words<'_>) -> Result<Inst, FaultKind> {
    let w = words.first();
    let row = words.row(Encoding::Sopk, ROWS, w >> 23 & 0x1f)?;
    let mut inst = words.inst(Encoding::Sopk, row, 1);
    inst.imm = (w & 0xffff) as i32;
    if row.op == 0x14 {
        words.second(Encoding::Sopk)?;
        inst.len = 2;
        return Ok(inst);
    }
    let register = words.scalar_destination(Encoding::Sopk, w >> 16)?;
    if row.dst != No {
        inst.dst = register;
    } else {
        inst.src[0] = register;
    }
    Ok(inst)
}

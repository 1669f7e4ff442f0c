//! VOP2: vector operations with two sources.

use super::Target;
use super::decode::Words;
use super::float as f;
use super::inst::{Encoding, Form, Inst, Mods, Opnd, Row, Run, Targets, Ty, VCC};
use super::lane::{H, LANES, PH, lanes};
use super::valu::{self, dpp_known};
use crate::dispatch::FaultKind;

/// The low 24 bits, extended with zeros.
#[inline(always)]
pub(crate) fn u24(x: u32) -> u32 {
    x & 0xff_ffff
}

/// The low 24 bits, extended with their sign.
#[inline(always)]
pub(crate) fn i24(x: i32) -> i32 {
    x << 8 >> 8
}

#[inline(always)]
fn carry(a: u32, b: u32, c: bool) -> (u32, bool) {
    let sum = u64::from(a) + u64::from(b) + u64::from(c);
    (sum as u32, sum >> 32 != 0)
}

#[inline(always)]
fn borrow(a: u32, b: u32, c: bool) -> (u32, bool) {
    let less = u64::from(b) + u64::from(c);
    ((u64::from(a).wrapping_sub(less)) as u32, less > u64::from(a))
}

/// The sum of products of the halves of two registers.
pub(crate) fn dot2_f16(a: PH, b: PH, c: f32) -> f32 {
    let wide = |h: H| f::f16_to_f32(h);
    let low = f::fma_f32(wide(a.0[0]), wide(b.0[0]), c);
    f::fma_f32(wide(a.0[1]), wide(b.0[1]), low)
}

pub(crate) fn dot_signed(a: u32, b: u32, bits: u32) -> i32 {
    let part = |x: u32, i: u32| (x << (32 - bits * (i + 1))) as i32 >> (32 - bits);
    (0..32 / bits).fold(0i32, |sum, i| sum.wrapping_add(part(a, i).wrapping_mul(part(b, i))))
}

pub(crate) fn dot_unsigned(a: u32, b: u32, bits: u32) -> u32 {
    let part = |x: u32, i: u32| x >> (bits * i) & ((1 << bits) - 1);
    (0..32 / bits).fold(0u32, |sum, i| sum.wrapping_add(part(a, i).wrapping_mul(part(b, i))))
}

pub(crate) static ROWS: &[Row] = &[
    // Its sources take the sign modifiers of floats.
    lanes!(0x00 "v_cndmask_b32", |a: f32, b: f32, c: bool| -> f32 { if c { b } else { a } }),
    lanes!(0x01 "v_add_f32", |a: f32, b: f32| -> f32 { f::add_f32(a, b) }),
    lanes!(0x02 "v_sub_f32", |a: f32, b: f32| -> f32 { f::sub_f32(a, b) }),
    lanes!(0x03 "v_subrev_f32", |a: f32, b: f32| -> f32 { f::sub_f32(b, a) }),
    lanes!(0x04 "v_fmac_f64", |a: f64, b: f64, c: f64| -> f64 { f::fma_f64(a, b, c) })
        .on(Targets::GFX90A_UP),
    lanes!(0x05 "v_mul_f32", |a: f32, b: f32| -> f32 { f::mul_f32(a, b) }),
    lanes!(0x06 "v_mul_i32_i24", |a: i32, b: i32| -> i32 { i24(a).wrapping_mul(i24(b)) }),
    lanes!(0x07 "v_mul_hi_i32_i24", |a: i32, b: i32| -> i32 {
        ((i64::from(i24(a)) * i64::from(i24(b))) >> 32) as i32
    }),
    lanes!(0x08 "v_mul_u32_u24", |a: u32, b: u32| -> u32 { u24(a).wrapping_mul(u24(b)) }),
    lanes!(0x09 "v_mul_hi_u32_u24", |a: u32, b: u32| -> u32 {
        ((u64::from(u24(a)) * u64::from(u24(b))) >> 32) as u32
    }),
    lanes!(0x0a "v_min_f32", |a: f32, b: f32| -> f32 { f::min_f32(a, b) }),
    lanes!(0x0b "v_max_f32", |a: f32, b: f32| -> f32 { f::max_f32(a, b) }),
    lanes!(0x0c "v_min_i32", |a: i32, b: i32| -> i32 { a.min(b) }),
    lanes!(0x0d "v_max_i32", |a: i32, b: i32| -> i32 { a.max(b) }),
    lanes!(0x0e "v_min_u32", |a: u32, b: u32| -> u32 { a.min(b) }),
    lanes!(0x0f "v_max_u32", |a: u32, b: u32| -> u32 { a.max(b) }),
    lanes!(0x10 "v_lshrrev_b32", |a: u32, b: u32| -> u32 { b >> (a & 31) }),
    lanes!(0x11 "v_ashrrev_i32", |a: u32, b: i32| -> i32 { b >> (a & 31) }),
    lanes!(0x12 "v_lshlrev_b32", |a: u32, b: u32| -> u32 { b << (a & 31) }),
    lanes!(0x13 "v_and_b32", |a: u32, b: u32| -> u32 { a & b }),
    lanes!(0x14 "v_or_b32", |a: u32, b: u32| -> u32 { a | b }),
    lanes!(0x15 "v_xor_b32", |a: u32, b: u32| -> u32 { a ^ b }),
    lanes!(0x16 "v_mac_f32", |a: f32, b: f32, c: f32| -> f32 { f::mad_f32(a, b, c) })
        .on(Targets::UNTIL_GFX90A),
    lanes!(0x17 "v_madmk_f32", |a: f32, b: f32, k: f32| -> f32 { f::mad_f32(a, k, b) })
        .on(Targets::UNTIL_GFX90A),
    lanes!(0x18 "v_madak_f32", |a: f32, b: f32, k: f32| -> f32 { f::mad_f32(a, b, k) })
        .on(Targets::UNTIL_GFX90A),
    lanes!(0x17 "v_fmamk_f32", |a: f32, b: f32, k: f32| -> f32 { f::fma_f32(a, k, b) })
        .on(Targets::GFX942),
    lanes!(0x18 "v_fmaak_f32", |a: f32, b: f32, k: f32| -> f32 { f::fma_f32(a, b, k) })
        .on(Targets::GFX942),
    lanes!(0x19 "v_add_co_u32", |a: u32, b: u32| -> (u32, bool) { carry(a, b, false) }),
    lanes!(0x1a "v_sub_co_u32", |a: u32, b: u32| -> (u32, bool) { borrow(a, b, false) }),
    lanes!(0x1b "v_subrev_co_u32", |a: u32, b: u32| -> (u32, bool) { borrow(b, a, false) }),
    lanes!(0x1c "v_addc_co_u32", |a: u32, b: u32, c: bool| -> (u32, bool) { carry(a, b, c) }),
    lanes!(0x1d "v_subb_co_u32", |a: u32, b: u32, c: bool| -> (u32, bool) { borrow(a, b, c) }),
    lanes!(0x1e "v_subbrev_co_u32", |a: u32, b: u32, c: bool| -> (u32, bool) { borrow(b, a, c) }),
    lanes!(0x1f "v_add_f16", |a: H, b: H| -> H { f::add_f16(a, b) }),
    lanes!(0x20 "v_sub_f16", |a: H, b: H| -> H { f::sub_f16(a, b) }),
    lanes!(0x21 "v_subrev_f16", |a: H, b: H| -> H { f::sub_f16(b, a) }),
    lanes!(0x22 "v_mul_f16", |a: H, b: H| -> H { f::mul_f16(a, b) }),
    lanes!(0x23 "v_mac_f16", |a: H, b: H, c: H| -> H { f::mad_f16(a, b, c) }),
    lanes!(0x26 "v_add_u16", |a: u16, b: u16| -> u16 { a.wrapping_add(b) }),
    lanes!(0x27 "v_sub_u16", |a: u16, b: u16| -> u16 { a.wrapping_sub(b) }),
    lanes!(0x28 "v_subrev_u16", |a: u16, b: u16| -> u16 { b.wrapping_sub(a) }),
    lanes!(0x29 "v_mul_lo_u16", |a: u16, b: u16| -> u16 { a.wrapping_mul(b) }),
    lanes!(0x2a "v_lshlrev_b16", |a: u16, b: u16| -> u16 { b << (a & 15) }),
    lanes!(0x2b "v_lshrrev_b16", |a: u16, b: u16| -> u16 { b >> (a & 15) }),
    lanes!(0x2c "v_ashrrev_i16", |a: u16, b: i16| -> i16 { b >> (a & 15) }),
    lanes!(0x2d "v_max_f16", |a: H, b: H| -> H { f::max_f16(a, b) }),
    lanes!(0x2e "v_min_f16", |a: H, b: H| -> H { f::min_f16(a, b) }),
    lanes!(0x2f "v_max_u16", |a: u16, b: u16| -> u16 { a.max(b) }),
    lanes!(0x30 "v_max_i16", |a: i16, b: i16| -> i16 { a.max(b) }),
    lanes!(0x31 "v_min_u16", |a: u16, b: u16| -> u16 { a.min(b) }),
    lanes!(0x32 "v_min_i16", |a: i16, b: i16| -> i16 { a.min(b) }),
    lanes!(0x33 "v_ldexp_f16", |a: H, b: i16| -> H { f::ldexp_f16(a, b) }),
    lanes!(0x34 "v_add_u32", |a: u32, b: u32| -> u32 { a.wrapping_add(b) }),
    lanes!(0x35 "v_sub_u32", |a: u32, b: u32| -> u32 { a.wrapping_sub(b) }),
    lanes!(0x36 "v_subrev_u32", |a: u32, b: u32| -> u32 { b.wrapping_sub(a) }),
    lanes!(0x37 "v_dot2c_f32_f16", |a: PH, b: PH, c: f32| -> f32 { dot2_f16(a, b, c) })
        .on(Targets::GFX90A_UP),
    lanes!(0x38 "v_dot2c_i32_i16", |a: u32, b: u32, c: i32| -> i32 {
        dot_signed(a, b, 16).wrapping_add(c)
    })
    .on(Targets::GFX90A_UP),
    lanes!(0x39 "v_dot4c_i32_i8", |a: u32, b: u32, c: i32| -> i32 {
        dot_signed(a, b, 8).wrapping_add(c)
    })
    .on(Targets::GFX90A_UP),
    lanes!(0x3a "v_dot8c_i32_i4", |a: u32, b: u32, c: i32| -> i32 {
        dot_signed(a, b, 4).wrapping_add(c)
    })
    .on(Targets::GFX90A_UP),
    lanes!(0x3b "v_fmac_f32", |a: f32, b: f32, c: f32| -> f32 { f::fma_f32(a, b, c) }),
    lanes!(0x3c "v_pk_fmac_f16", |a: PH, b: PH, c: PH| -> PH {
        PH([f::fma_f16(a.0[0], b.0[0], c.0[0]), f::fma_f16(a.0[1], b.0[1], c.0[1])])
    })
    .on(Targets::GFX90A_UP),
    lanes!(0x3d "v_xnor_b32", |a: u32, b: u32| -> u32 { !(a ^ b) }),
];

/// Whether the third source is the constant after the instruction.
pub(crate) fn has_constant(row: &Row) -> bool {
    matches!(row.name, "v_madmk_f32" | "v_madak_f32" | "v_fmamk_f32" | "v_fmaak_f32")
}

/// The third source of a VOP2 row: the carry in VCC, or the destination.
pub(crate) fn implied_source(row: &Row, dst: Opnd) -> Opnd {
    match row.src[2] {
        Ty::None => Opnd::None,
        Ty::Mask => Opnd::S(VCC),
        _accumulates => dst,
    }
}

/// The first source with its SDWA and DPP forms, and the second source that they qualify.
pub(crate) fn first_source(
    words: &Words<'_>,
    encoding: Encoding,
    inst: &mut Inst,
) -> Result<(), FaultKind> {
    let w = words.first();
    match w & 0x1ff {
        form @ (249 | 250) => {
            if !matches!(inst.row.run, Run::Lanes(_)) || has_constant(inst.row) {
                return Err(words.unknown(encoding, "no SDWA or DPP form"));
            }
            let extra = words.second(encoding)?;
            inst.len = 2;
            inst.src[0] = Opnd::V((extra & 0xff) as u16);
            if form == 249 {
                sdwa(words, encoding, inst, extra)
            } else {
                dpp(words, encoding, inst, extra)
            }
        }
        code => {
            inst.src[0] = words.vector_source(encoding, code, &mut inst.len)?;
            Ok(())
        }
    }
}

fn sdwa(
    words: &Words<'_>,
    encoding: Encoding,
    inst: &mut Inst,
    extra: u32,
) -> Result<(), FaultKind> {
    inst.form = Form::Sdwa(extra);
    if extra >> 23 & 1 != 0 {
        inst.src[0] = words.scalar_source(encoding, extra & 0xff, &mut 1)?;
    }
    if extra >> 31 != 0 && inst.row.src[1] != Ty::None {
        let code = words.first() >> 9 & 0xff;
        inst.src[1] = words.scalar_source(encoding, code, &mut 1)?;
    }
    let wide = inst.row.src.iter().any(|ty| ty.regs() == 2 && *ty != Ty::Mask);
    let selects = [extra >> 16 & 7, extra >> 24 & 7];
    if selects.contains(&7) || wide || inst.row.dst.regs() == 2 && inst.row.dst != Ty::Mask {
        return Err(words.unknown(encoding, "an SDWA form of this operand"));
    }
    if inst.row.dst != Ty::Mask {
        if extra >> 8 & 7 == 7 || extra >> 11 & 3 == 3 {
            return Err(words.unknown(encoding, "an SDWA destination that is reserved"));
        }
        inst.mods =
            Mods { clamp: extra >> 13 & 1 != 0, omod: (extra >> 14 & 3) as u8, ..Mods::default() };
    }
    inst.exec = valu::modified;
    Ok(())
}

fn dpp(
    words: &Words<'_>,
    encoding: Encoding,
    inst: &mut Inst,
    extra: u32,
) -> Result<(), FaultKind> {
    let control = extra >> 8 & 0x1ff;
    let wide = inst.row.src[0].regs() == 2;
    let broadcast = (0x150..=0x15f).contains(&control);
    // Two-register operands know one control.
    let known = if words.target == Target::Gfx906 {
        dpp_known(control) && !broadcast && !wide
    } else {
        dpp_known(control) && (broadcast || !wide)
    };
    if !known {
        return Err(words.unknown(encoding, format!("DPP control {control:#x}")));
    }
    inst.form = Form::Dpp(extra);
    inst.mods = Mods {
        neg: (extra >> 20 & 1 | (extra >> 22 & 1) << 1) as u8,
        abs: (extra >> 21 & 1 | (extra >> 23 & 1) << 1) as u8,
        ..Mods::default()
    };
    inst.exec = valu::modified;
    Ok(())
}

pub(crate) fn decode(words: &Words<'_>) -> Result<Inst, FaultKind> {
    let w = words.first();
    let row = words.row(Encoding::Vop2, ROWS, w >> 25 & 0x3f)?;
    let mut inst = words.inst(Encoding::Vop2, row, 1);
    inst.dst = Opnd::V((w >> 17 & 0xff) as u16);
    if row.dst.has_mask() {
        inst.sdst = Opnd::S(VCC);
    }
    inst.src[1] = Opnd::V((w >> 9 & 0xff) as u16);
    inst.src[2] = implied_source(row, inst.dst);
    first_source(words, Encoding::Vop2, &mut inst)?;
    if has_constant(row) {
        // The constant follows; a literal first source would be the same word.
        inst.src[2] = Opnd::Literal(words.second(Encoding::Vop2)?);
        inst.len = 2;
    }
    // Packed operands need their halves routed.
    if row.dst.is_packed() || row.src.iter().any(|ty| ty.is_packed()) {
        inst.mods.op_sel_hi = 7;
        inst.exec = valu::modified;
    }
    Ok(inst)
}

const _: () = assert!(LANES == 64, "a mask has one bit per lane");

//! VOP3P: packed operations, dot products, mixed precision, accumulation registers.

use super::decode::Words;
use super::float as f;
use super::inst::{ACC, Encoding, Flow, Inst, Opnd, Row, Run, Step, Targets, Ty, special};
use super::lane::{H, KeepH, KeepHi, LANES, Mix, P16, P32, PH, lanes};
use super::state::Cx;
use super::valu;
use super::vop2::{dot_signed, dot_unsigned, dot2_f16};
use crate::dispatch::FaultKind;
use Ty::{B32, None as No};

macro_rules! pairs {
    ($a:ident, $b:ident, $f:expr) => {
        [$f($a.0[0], $b.0[0]), $f($a.0[1], $b.0[1])]
    };
    ($a:ident, $b:ident, $c:ident, $f:expr) => {
        [$f($a.0[0], $b.0[0], $c.0[0]), $f($a.0[1], $b.0[1], $c.0[1])]
    };
}

fn signed(f: impl Fn(i16, i16) -> i16) -> impl Fn(u16, u16) -> u16 {
    move |a, b| f(a as i16, b as i16) as u16
}

fn accumulator_copy(cx: &mut Cx<'_, '_>, inst: &Inst) -> Step {
    cx.wave.out.v[0] = match inst.src[0] {
        Opnd::V(at) => cx.wave.v[usize::from(at)],
        scalar => [cx.wave.scalar(scalar, B32) as u32; LANES],
    };
    let exec = cx.wave.exec();
    cx.write_v(inst.dst, 1, exec);
    Ok(Flow::Next)
}

pub(crate) static ROWS: &[Row] = &[
    lanes!(0x00 "v_pk_mad_i16", |a: P16, b: P16, c: P16| -> P16 {
        P16(pairs!(a, b, c, |a: u16, b: u16, c: u16| a.wrapping_mul(b).wrapping_add(c)))
    }),
    lanes!(0x01 "v_pk_mul_lo_u16", |a: P16, b: P16| -> P16 { P16(pairs!(a, b, u16::wrapping_mul)) }),
    lanes!(0x02 "v_pk_add_i16", |a: P16, b: P16| -> P16 { P16(pairs!(a, b, u16::wrapping_add)) }),
    lanes!(0x03 "v_pk_sub_i16", |a: P16, b: P16| -> P16 { P16(pairs!(a, b, u16::wrapping_sub)) }),
    lanes!(0x04 "v_pk_lshlrev_b16", |a: P16, b: P16| -> P16 {
        P16(pairs!(a, b, |a: u16, b: u16| b << (a & 15)))
    }),
    lanes!(0x05 "v_pk_lshrrev_b16", |a: P16, b: P16| -> P16 {
        P16(pairs!(a, b, |a: u16, b: u16| b >> (a & 15)))
    }),
    lanes!(0x06 "v_pk_ashrrev_i16", |a: P16, b: P16| -> P16 {
        P16(pairs!(a, b, |a: u16, b: u16| (b as i16 >> (a & 15)) as u16))
    }),
    lanes!(0x07 "v_pk_max_i16", |a: P16, b: P16| -> P16 { P16(pairs!(a, b, signed(i16::max))) }),
    lanes!(0x08 "v_pk_min_i16", |a: P16, b: P16| -> P16 { P16(pairs!(a, b, signed(i16::min))) }),
    lanes!(0x09 "v_pk_mad_u16", |a: P16, b: P16, c: P16| -> P16 {
        P16(pairs!(a, b, c, |a: u16, b: u16, c: u16| a.wrapping_mul(b).wrapping_add(c)))
    }),
    lanes!(0x0a "v_pk_add_u16", |a: P16, b: P16| -> P16 { P16(pairs!(a, b, u16::wrapping_add)) }),
    lanes!(0x0b "v_pk_sub_u16", |a: P16, b: P16| -> P16 { P16(pairs!(a, b, u16::wrapping_sub)) }),
    lanes!(0x0c "v_pk_max_u16", |a: P16, b: P16| -> P16 { P16(pairs!(a, b, u16::max)) }),
    lanes!(0x0d "v_pk_min_u16", |a: P16, b: P16| -> P16 { P16(pairs!(a, b, u16::min)) }),
    lanes!(0x0e "v_pk_fma_f16", |a: PH, b: PH, c: PH| -> PH { PH(pairs!(a, b, c, f::fma_f16)) }),
    lanes!(0x0f "v_pk_add_f16", |a: PH, b: PH| -> PH { PH(pairs!(a, b, f::add_f16)) }),
    lanes!(0x10 "v_pk_mul_f16", |a: PH, b: PH| -> PH { PH(pairs!(a, b, f::mul_f16)) }),
    lanes!(0x11 "v_pk_min_f16", |a: PH, b: PH| -> PH { PH(pairs!(a, b, f::min_f16)) }),
    lanes!(0x12 "v_pk_max_f16", |a: PH, b: PH| -> PH { PH(pairs!(a, b, f::max_f16)) }),
    lanes!(0x20 "v_fma_mix_f32", |a: Mix, b: Mix, c: Mix| -> f32 { f::fma_f32(a.0, b.0, c.0) }),
    lanes!(0x21 "v_fma_mixlo_f16", |a: Mix, b: Mix, c: Mix| -> KeepH {
        KeepH(mixed(a, b, c))
    }),
    lanes!(0x22 "v_fma_mixhi_f16", |a: Mix, b: Mix, c: Mix| -> KeepHi {
        KeepHi(mixed(a, b, c))
    }),
    lanes!(0x23 "v_dot2_f32_f16", |a: PH, b: PH, c: f32| -> f32 { dot2_f16(a, b, c) }),
    lanes!(0x26 "v_dot2_i32_i16", |a: P16, b: P16, c: i32| -> i32 {
        dot_signed(joined(a), joined(b), 16).wrapping_add(c)
    }),
    lanes!(0x27 "v_dot2_u32_u16", |a: P16, b: P16, c: u32| -> u32 {
        dot_unsigned(joined(a), joined(b), 16).wrapping_add(c)
    }),
    lanes!(0x28 "v_dot4_i32_i8", |a: u32, b: u32, c: i32| -> i32 {
        dot_signed(a, b, 8).wrapping_add(c)
    }),
    lanes!(0x29 "v_dot4_u32_u8", |a: u32, b: u32, c: u32| -> u32 {
        dot_unsigned(a, b, 8).wrapping_add(c)
    }),
    lanes!(0x2a "v_dot8_i32_i4", |a: u32, b: u32, c: i32| -> i32 {
        dot_signed(a, b, 4).wrapping_add(c)
    }),
    lanes!(0x2b "v_dot8_u32_u4", |a: u32, b: u32, c: u32| -> u32 {
        dot_unsigned(a, b, 4).wrapping_add(c)
    }),
    lanes!(0x30 "v_pk_fma_f32", |a: P32, b: P32, c: P32| -> P32 {
        P32(pairs!(a, b, c, f::fma_f32))
    })
    .on(Targets::GFX90A_UP),
    lanes!(0x31 "v_pk_mul_f32", |a: P32, b: P32| -> P32 { P32(pairs!(a, b, f::mul_f32)) })
        .on(Targets::GFX90A_UP),
    lanes!(0x32 "v_pk_add_f32", |a: P32, b: P32| -> P32 { P32(pairs!(a, b, f::add_f32)) })
        .on(Targets::GFX90A_UP),
    // The halves that op_sel routed: one from each source.
    lanes!(0x33 "v_pk_mov_b32", |a: P32, b: P32| -> P32 { P32([a.0[0], b.0[0]]) })
        .on(Targets::GFX90A_UP),
    special(0x58, "v_accvgpr_read_b32", B32, [B32, No, No, No], accumulator_copy)
        .on(Targets::GFX90A_UP),
    special(0x59, "v_accvgpr_write_b32", B32, [B32, No, No, No], accumulator_copy)
        .on(Targets::GFX90A_UP),
];

fn mixed(a: Mix, b: Mix, c: Mix) -> H {
    f::f32_to_f16(f::fma_f32(a.0, b.0, c.0))
}

fn joined(x: P16) -> u32 {
    u32::from(x.0[0]) | u32::from(x.0[1]) << 16
}

pub(crate) fn decode(words: &Words<'_>) -> Result<Inst, FaultKind> {
    let w = words.first();
    let row = words.row(Encoding::Vop3p, ROWS, w >> 16 & 0x7f)?;
    let second = words.second(Encoding::Vop3p)?;
    let mut inst = words.inst(Encoding::Vop3p, row, 2);
    let mut destination = (w & 0xff) as u16;
    if row.name == "v_accvgpr_write_b32" {
        destination += ACC;
    }
    inst.dst = Opnd::V(destination);
    for k in 0..3 {
        if row.src[k] == No {
            continue;
        }
        let code = second >> (9 * k) & 0x1ff;
        if code == 255 {
            return Err(words.unknown(Encoding::Vop3p, "a literal in the long form"));
        }
        inst.src[k] = words.vector_source(Encoding::Vop3p, code, &mut inst.len)?;
    }
    if row.name == "v_accvgpr_read_b32"
        && let Opnd::V(at) = inst.src[0]
    {
        inst.src[0] = Opnd::V(at + ACC);
    }
    inst.mods.neg_hi = (w >> 8 & 7) as u8;
    inst.mods.op_sel = (w >> 11 & 7) as u8;
    inst.mods.clamp = w >> 15 & 1 != 0;
    inst.mods.op_sel_hi = (second >> 27 & 3 | (w >> 14 & 1) << 2) as u8;
    inst.mods.neg = (second >> 29 & 7) as u8;
    if matches!(row.run, Run::Lanes(_)) {
        inst.exec = valu::modified;
    }
    Ok(inst)
}

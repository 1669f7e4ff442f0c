//! VOP3: vector operations with three sources, and the long form of the shorter encodings.

use super::decode::Words;
use super::float as f;
use super::inst::{
    Encoding, Flow, Inst, Mods, Opnd, Row, Run, Step, Targets, Trouble, Ty, VCC, special,
};
use super::lane::{H, Keep, KeepH, LANES, P16, lanes};
use super::state::Cx;
use super::vop2::{i24, u24};
use super::{valu, vop1, vop2, vopc};
use crate::dispatch::FaultKind;
use Ty::{B32, None as No};

const TWO: [Ty; 4] = [B32, B32, No, No];

fn read_lane(cx: &mut Cx<'_, '_>, inst: &Inst) -> Step {
    let lane = cx.wave.scalar(inst.src[1], B32) as usize % LANES;
    let value = match inst.src[0] {
        Opnd::V(at) => u64::from(cx.wave.v[usize::from(at)][lane]),
        scalar => cx.wave.scalar(scalar, B32),
    };
    cx.wave.set_scalar(inst.dst, B32, value);
    Ok(Flow::Next)
}

fn write_lane(cx: &mut Cx<'_, '_>, inst: &Inst) -> Step {
    let Opnd::V(to) = inst.dst else {
        return Err(Trouble::unsupported(inst, "a destination that is no vector register"));
    };
    let lane = cx.wave.scalar(inst.src[1], B32) as usize % LANES;
    let value = cx.wave.scalar(inst.src[0], B32) as u32;
    cx.wave.v[usize::from(to)][lane] = value;
    Ok(Flow::Next)
}

/// Counts the bits of a mask below each lane: those of lanes 0 to 31, or 32 to 63.
fn count_below(cx: &mut Cx<'_, '_>, inst: &Inst, first: usize) -> Step {
    let wave = &mut *cx.wave;
    for lane in 0..LANES {
        let value = |operand: Opnd| match operand {
            Opnd::V(at) => wave.v[usize::from(at)][lane],
            scalar => wave.scalar(scalar, B32) as u32,
        };
        let below = match lane.saturating_sub(first).min(32) {
            32 => u32::MAX,
            n => (1 << n) - 1,
        };
        let count = (value(inst.src[0]) & below).count_ones().wrapping_add(value(inst.src[1]));
        wave.out.v[0][lane] = count;
    }
    let exec = cx.wave.exec();
    cx.write_v(inst.dst, 1, exec);
    Ok(Flow::Next)
}

#[inline(always)]
fn bfe(a: u32, shift: u32, width: u32) -> u32 {
    a >> (shift & 31) & ((1u32 << (width & 31)) - 1)
}

#[inline(always)]
fn bfe_signed(a: i32, shift: u32, width: u32) -> i32 {
    let width = width & 31;
    if width == 0 {
        return 0;
    }
    let field = a >> (shift & 31);
    field << (32 - width) >> (32 - width)
}

#[inline(always)]
fn middle<T: Ord + Copy>(a: T, b: T, c: T) -> T {
    a.min(b).max(a.max(b).min(c))
}

#[inline(always)]
fn bytes(a: u32, b: u32, f: impl Fn(u32, u32) -> u32) -> u32 {
    (0..4).map(|i| f(a >> (8 * i) & 255, b >> (8 * i) & 255)).sum()
}

fn lerp(a: u32, b: u32, c: u32) -> u32 {
    let byte = |x: u32, i: u32| x >> (8 * i) & 255;
    (0..4).fold(0, |r, i| r | (byte(a, i) + byte(b, i) + (byte(c, i) & 1)) >> 1 << (8 * i))
}

fn permute_byte(a: u32, b: u32, select: u32) -> u32 {
    let all = u64::from(a) << 32 | u64::from(b);
    let byte = |i: u32| (all >> (8 * i)) as u32 & 255;
    match select & 255 {
        s @ 0..=7 => byte(s),
        // The signs of the four halves.
        s @ 8..=11 => {
            if byte(2 * (s - 8) + 1) & 0x80 != 0 {
                255
            } else {
                0
            }
        }
        12 => 0,
        _beyond => 255,
    }
}

fn permute(a: u32, b: u32, s: u32) -> u32 {
    (0..4).fold(0, |r, i| r | permute_byte(a, b, s >> (8 * i)) << (8 * i))
}

/// Face, and the two coordinates and major axis of a cube map.
fn cube(x: f32, y: f32, z: f32) -> (f32, f32, f32, f32) {
    let negative = |v: f32| v < 0.0;
    if z.abs() >= x.abs() && z.abs() >= y.abs() {
        let face = if negative(z) { 5.0 } else { 4.0 };
        (face, if negative(z) { -x } else { x }, -y, 2.0 * z)
    } else if y.abs() >= x.abs() {
        let face = if negative(y) { 3.0 } else { 2.0 };
        (face, x, if negative(y) { -z } else { z }, 2.0 * y)
    } else {
        let face = if negative(x) { 1.0 } else { 0.0 };
        (face, if negative(x) { z } else { -z }, -y, 2.0 * x)
    }
}

fn multiply_high(a: i32, b: i32) -> i32 {
    ((i64::from(a) * i64::from(b)) >> 32) as i32
}

#[inline(always)]
fn mad64(a: u32, b: u32, c: u64) -> (u64, bool) {
    (u64::from(a) * u64::from(b)).overflowing_add(c)
}

#[inline(always)]
fn mad64_signed(a: i32, b: i32, c: i64) -> (u64, bool) {
    let (r, overflow) = (i64::from(a) * i64::from(b)).overflowing_add(c);
    (r as u64, overflow)
}

fn byte_of_float(a: f32) -> u32 {
    u32::from(a.round_ties_even() as u8)
}

pub(crate) static ROWS: &[Row] = &[
    lanes!(0x1c0 "v_mad_legacy_f32", |a: f32, b: f32, c: f32| -> f32 {
        f::mad_f32(f::mul_legacy_f32(a, b), 1.0, c)
    })
    .on(Targets::UNTIL_GFX90A),
    lanes!(0x1c1 "v_mad_f32", |a: f32, b: f32, c: f32| -> f32 { f::mad_f32(a, b, c) })
        .on(Targets::UNTIL_GFX90A),
    lanes!(0x1c2 "v_mad_i32_i24", |a: i32, b: i32, c: i32| -> i32 {
        i24(a).wrapping_mul(i24(b)).wrapping_add(c)
    }),
    lanes!(0x1c3 "v_mad_u32_u24", |a: u32, b: u32, c: u32| -> u32 {
        u24(a).wrapping_mul(u24(b)).wrapping_add(c)
    }),
    lanes!(0x1c4 "v_cubeid_f32", |a: f32, b: f32, c: f32| -> f32 { cube(a, b, c).0 }),
    lanes!(0x1c5 "v_cubesc_f32", |a: f32, b: f32, c: f32| -> f32 { cube(a, b, c).1 }),
    lanes!(0x1c6 "v_cubetc_f32", |a: f32, b: f32, c: f32| -> f32 { cube(a, b, c).2 }),
    lanes!(0x1c7 "v_cubema_f32", |a: f32, b: f32, c: f32| -> f32 { cube(a, b, c).3 }),
    lanes!(0x1c8 "v_bfe_u32", |a: u32, b: u32, c: u32| -> u32 { bfe(a, b, c) }),
    lanes!(0x1c9 "v_bfe_i32", |a: i32, b: u32, c: u32| -> i32 { bfe_signed(a, b, c) }),
    lanes!(0x1ca "v_bfi_b32", |a: u32, b: u32, c: u32| -> u32 { a & b | !a & c }),
    lanes!(0x1cb "v_fma_f32", |a: f32, b: f32, c: f32| -> f32 { f::fma_f32(a, b, c) }),
    lanes!(0x1cc "v_fma_f64", |a: f64, b: f64, c: f64| -> f64 { f::fma_f64(a, b, c) }),
    lanes!(0x1cd "v_lerp_u8", |a: u32, b: u32, c: u32| -> u32 { lerp(a, b, c) }),
    lanes!(0x1ce "v_alignbit_b32", |a: u32, b: u32, c: u32| -> u32 {
        ((u64::from(a) << 32 | u64::from(b)) >> (c & 31)) as u32
    }),
    lanes!(0x1cf "v_alignbyte_b32", |a: u32, b: u32, c: u32| -> u32 {
        ((u64::from(a) << 32 | u64::from(b)) >> (8 * (c & 3))) as u32
    }),
    lanes!(0x1d0 "v_min3_f32", |a: f32, b: f32, c: f32| -> f32 {
        f::min_f32(f::min_f32(a, b), c)
    }),
    lanes!(0x1d1 "v_min3_i32", |a: i32, b: i32, c: i32| -> i32 { a.min(b).min(c) }),
    lanes!(0x1d2 "v_min3_u32", |a: u32, b: u32, c: u32| -> u32 { a.min(b).min(c) }),
    lanes!(0x1d3 "v_max3_f32", |a: f32, b: f32, c: f32| -> f32 {
        f::max_f32(f::max_f32(a, b), c)
    }),
    lanes!(0x1d4 "v_max3_i32", |a: i32, b: i32, c: i32| -> i32 { a.max(b).max(c) }),
    lanes!(0x1d5 "v_max3_u32", |a: u32, b: u32, c: u32| -> u32 { a.max(b).max(c) }),
    lanes!(0x1d6 "v_med3_f32", |a: f32, b: f32, c: f32| -> f32 { f::med3_f32(a, b, c) }),
    lanes!(0x1d7 "v_med3_i32", |a: i32, b: i32, c: i32| -> i32 { middle(a, b, c) }),
    lanes!(0x1d8 "v_med3_u32", |a: u32, b: u32, c: u32| -> u32 { middle(a, b, c) }),
    lanes!(0x1d9 "v_sad_u8", |a: u32, b: u32, c: u32| -> u32 {
        bytes(a, b, u32::abs_diff).wrapping_add(c)
    }),
    lanes!(0x1da "v_sad_hi_u8", |a: u32, b: u32, c: u32| -> u32 {
        (bytes(a, b, u32::abs_diff) << 16).wrapping_add(c)
    }),
    lanes!(0x1db "v_sad_u16", |a: u32, b: u32, c: u32| -> u32 {
        (a & 0xffff).abs_diff(b & 0xffff).wrapping_add((a >> 16).abs_diff(b >> 16)).wrapping_add(c)
    }),
    lanes!(0x1dc "v_sad_u32", |a: u32, b: u32, c: u32| -> u32 {
        a.abs_diff(b).wrapping_add(c)
    }),
    lanes!(0x1dd "v_cvt_pk_u8_f32", |a: f32, b: u32, c: u32| -> u32 {
        let shift = 8 * (b & 3);
        c & !(255 << shift) | byte_of_float(a) << shift
    }),
    lanes!(0x1de "v_div_fixup_f32", |a: f32, b: f32, c: f32| -> f32 {
        f::div_fixup_f32(a, b, c)
    }),
    lanes!(0x1df "v_div_fixup_f64", |a: f64, b: f64, c: f64| -> f64 {
        f::div_fixup_f64(a, b, c)
    }),
    lanes!(0x1e0 "v_div_scale_f32", |a: f32, b: f32, c: f32| -> (f32, bool) {
        f::div_scale_f32(a, b, c)
    }),
    lanes!(0x1e1 "v_div_scale_f64", |a: f64, b: f64, c: f64| -> (f64, bool) {
        f::div_scale_f64(a, b, c)
    }),
    lanes!(0x1e2 "v_div_fmas_f32", |a: f32, b: f32, c: f32, d: bool| -> f32 {
        f::div_fmas_f32(a, b, c, d)
    }),
    lanes!(0x1e3 "v_div_fmas_f64", |a: f64, b: f64, c: f64, d: bool| -> f64 {
        f::div_fmas_f64(a, b, c, d)
    }),
    lanes!(0x1e4 "v_msad_u8", |a: u32, b: u32, c: u32| -> u32 {
        bytes(a, b, |a, b| if b == 0 { 0 } else { a.abs_diff(b) }).wrapping_add(c)
    }),
    lanes!(0x1e8 "v_mad_u64_u32", |a: u32, b: u32, c: u64| -> (u64, bool) { mad64(a, b, c) }),
    lanes!(0x1e9 "v_mad_i64_i32", |a: i32, b: i32, c: i64| -> (u64, bool) {
        mad64_signed(a, b, c)
    }),
    lanes!(0x1ea "v_mad_legacy_f16", |a: H, b: H, c: H| -> H { f::mad_f16(a, b, c) }),
    lanes!(0x1eb "v_mad_legacy_u16", |a: u16, b: u16, c: u16| -> u16 {
        a.wrapping_mul(b).wrapping_add(c)
    }),
    lanes!(0x1ec "v_mad_legacy_i16", |a: i16, b: i16, c: i16| -> i16 {
        a.wrapping_mul(b).wrapping_add(c)
    }),
    lanes!(0x1ed "v_perm_b32", |a: u32, b: u32, c: u32| -> u32 { permute(a, b, c) }),
    lanes!(0x1ee "v_fma_legacy_f16", |a: H, b: H, c: H| -> H { f::fma_f16(a, b, c) }),
    lanes!(0x1ef "v_div_fixup_legacy_f16", |a: H, b: H, c: H| -> H {
        f::div_fixup_f16(a, b, c)
    }),
    lanes!(0x1f1 "v_mad_u32_u16", |a: u16, b: u16, c: u32| -> u32 {
        (u32::from(a) * u32::from(b)).wrapping_add(c)
    }),
    lanes!(0x1f2 "v_mad_i32_i16", |a: i16, b: i16, c: i32| -> i32 {
        (i32::from(a) * i32::from(b)).wrapping_add(c)
    }),
    lanes!(0x1f3 "v_xad_u32", |a: u32, b: u32, c: u32| -> u32 { (a ^ b).wrapping_add(c) }),
    lanes!(0x1f4 "v_min3_f16", |a: H, b: H, c: H| -> KeepH {
        KeepH(f::min_f16(f::min_f16(a, b), c))
    }),
    lanes!(0x1f5 "v_min3_i16", |a: i16, b: i16, c: i16| -> Keep {
        Keep(a.min(b).min(c) as u16)
    }),
    lanes!(0x1f6 "v_min3_u16", |a: u16, b: u16, c: u16| -> Keep { Keep(a.min(b).min(c)) }),
    lanes!(0x1f7 "v_max3_f16", |a: H, b: H, c: H| -> KeepH {
        KeepH(f::max_f16(f::max_f16(a, b), c))
    }),
    lanes!(0x1f8 "v_max3_i16", |a: i16, b: i16, c: i16| -> Keep {
        Keep(a.max(b).max(c) as u16)
    }),
    lanes!(0x1f9 "v_max3_u16", |a: u16, b: u16, c: u16| -> Keep { Keep(a.max(b).max(c)) }),
    lanes!(0x1fa "v_med3_f16", |a: H, b: H, c: H| -> KeepH { KeepH(f::med3_f16(a, b, c)) }),
    lanes!(0x1fb "v_med3_i16", |a: i16, b: i16, c: i16| -> Keep {
        Keep(middle(a, b, c) as u16)
    }),
    lanes!(0x1fc "v_med3_u16", |a: u16, b: u16, c: u16| -> Keep { Keep(middle(a, b, c)) }),
    lanes!(0x1fd "v_lshl_add_u32", |a: u32, b: u32, c: u32| -> u32 {
        (a << (b & 31)).wrapping_add(c)
    }),
    lanes!(0x1fe "v_add_lshl_u32", |a: u32, b: u32, c: u32| -> u32 {
        a.wrapping_add(b) << (c & 31)
    }),
    lanes!(0x1ff "v_add3_u32", |a: u32, b: u32, c: u32| -> u32 {
        a.wrapping_add(b).wrapping_add(c)
    }),
    lanes!(0x200 "v_lshl_or_b32", |a: u32, b: u32, c: u32| -> u32 { a << (b & 31) | c }),
    lanes!(0x201 "v_and_or_b32", |a: u32, b: u32, c: u32| -> u32 { a & b | c }),
    lanes!(0x202 "v_or3_b32", |a: u32, b: u32, c: u32| -> u32 { a | b | c }),
    lanes!(0x203 "v_mad_f16", |a: H, b: H, c: H| -> KeepH { KeepH(f::mad_f16(a, b, c)) }),
    lanes!(0x204 "v_mad_u16", |a: u16, b: u16, c: u16| -> Keep {
        Keep(a.wrapping_mul(b).wrapping_add(c))
    }),
    lanes!(0x205 "v_mad_i16", |a: i16, b: i16, c: i16| -> Keep {
        Keep(a.wrapping_mul(b).wrapping_add(c) as u16)
    }),
    lanes!(0x206 "v_fma_f16", |a: H, b: H, c: H| -> KeepH { KeepH(f::fma_f16(a, b, c)) }),
    lanes!(0x207 "v_div_fixup_f16", |a: H, b: H, c: H| -> KeepH {
        KeepH(f::div_fixup_f16(a, b, c))
    }),
    lanes!(0x208 "v_lshl_add_u64", |a: u64, b: u32, c: u64| -> u64 {
        (a << (b & 7)).wrapping_add(c)
    })
    .on(Targets::GFX942),
    lanes!(0x280 "v_add_f64", |a: f64, b: f64| -> f64 { f::add_f64(a, b) }),
    lanes!(0x281 "v_mul_f64", |a: f64, b: f64| -> f64 { f::mul_f64(a, b) }),
    lanes!(0x282 "v_min_f64", |a: f64, b: f64| -> f64 { f::min_f64(a, b) }),
    lanes!(0x283 "v_max_f64", |a: f64, b: f64| -> f64 { f::max_f64(a, b) }),
    lanes!(0x284 "v_ldexp_f64", |a: f64, b: i32| -> f64 { f::ldexp_f64(a, b) }),
    lanes!(0x285 "v_mul_lo_u32", |a: u32, b: u32| -> u32 { a.wrapping_mul(b) }),
    lanes!(0x286 "v_mul_hi_u32", |a: u32, b: u32| -> u32 {
        ((u64::from(a) * u64::from(b)) >> 32) as u32
    }),
    lanes!(0x287 "v_mul_hi_i32", |a: i32, b: i32| -> i32 { multiply_high(a, b) }),
    lanes!(0x288 "v_ldexp_f32", |a: f32, b: i32| -> f32 { f::ldexp_f32(a, b) }),
    special(0x289, "v_readlane_b32", B32, TWO, read_lane),
    special(0x28a, "v_writelane_b32", B32, TWO, write_lane),
    lanes!(0x28b "v_bcnt_u32_b32", |a: u32, b: u32| -> u32 {
        a.count_ones().wrapping_add(b)
    }),
    special(0x28c, "v_mbcnt_lo_u32_b32", B32, TWO, |cx, inst| count_below(cx, inst, 0)),
    special(0x28d, "v_mbcnt_hi_u32_b32", B32, TWO, |cx, inst| count_below(cx, inst, 32)),
    lanes!(0x28f "v_lshlrev_b64", |a: u32, b: u64| -> u64 { b << (a & 63) }),
    lanes!(0x290 "v_lshrrev_b64", |a: u32, b: u64| -> u64 { b >> (a & 63) }),
    lanes!(0x291 "v_ashrrev_i64", |a: u32, b: i64| -> i64 { b >> (a & 63) }),
    lanes!(0x292 "v_trig_preop_f64", |a: f64, b: u32| -> f64 { f::trig_preop_f64(a, b) }),
    lanes!(0x293 "v_bfm_b32", |a: u32, b: u32| -> u32 {
        ((1u32 << (a & 31)) - 1) << (b & 31)
    }),
    lanes!(0x294 "v_cvt_pknorm_i16_f32", |a: f32, b: f32| -> P16 {
        P16([f::snorm16(a), f::snorm16(b)])
    }),
    lanes!(0x295 "v_cvt_pknorm_u16_f32", |a: f32, b: f32| -> P16 {
        P16([f::unorm16(a), f::unorm16(b)])
    }),
    lanes!(0x296 "v_cvt_pkrtz_f16_f32", |a: f32, b: f32| -> P16 {
        P16([f::f32_to_f16_rtz(a).0, f::f32_to_f16_rtz(b).0])
    }),
    lanes!(0x297 "v_cvt_pk_u16_u32", |a: u32, b: u32| -> P16 {
        P16([a.min(0xffff) as u16, b.min(0xffff) as u16])
    }),
    lanes!(0x298 "v_cvt_pk_i16_i32", |a: i32, b: i32| -> P16 {
        P16([a.clamp(-0x8000, 0x7fff) as u16, b.clamp(-0x8000, 0x7fff) as u16])
    }),
    lanes!(0x299 "v_cvt_pknorm_i16_f16", |a: H, b: H| -> P16 {
        P16([f::snorm16(f::f16_to_f32(a)), f::snorm16(f::f16_to_f32(b))])
    }),
    lanes!(0x29a "v_cvt_pknorm_u16_f16", |a: H, b: H| -> P16 {
        P16([f::unorm16(f::f16_to_f32(a)), f::unorm16(f::f16_to_f32(b))])
    }),
    lanes!(0x29c "v_add_i32", |a: u32, b: u32| -> u32 { a.wrapping_add(b) }),
    lanes!(0x29d "v_sub_i32", |a: u32, b: u32| -> u32 { a.wrapping_sub(b) }),
    lanes!(0x29e "v_add_i16", |a: u16, b: u16| -> u16 { a.wrapping_add(b) }),
    lanes!(0x29f "v_sub_i16", |a: u16, b: u16| -> u16 { a.wrapping_sub(b) }),
    lanes!(0x2a0 "v_pack_b32_f16", |a: H, b: H| -> u32 {
        u32::from(a.0) | u32::from(b.0) << 16
    }),
    lanes!(0x2a1 "v_mul_legacy_f32", |a: f32, b: f32| -> f32 { f::mul_legacy_f32(a, b) })
        .on(Targets::GFX90A_UP),
];

/// Whether the long form has a second destination in place of abs and op_sel.
pub(crate) fn is_vop3b(row: &Row) -> bool {
    row.dst.has_mask()
}

fn long_row(words: &Words<'_>, op: u32) -> Result<&'static Row, FaultKind> {
    let row = match op {
        0x000..=0x0ff => return vopc::row(words, Encoding::Vop3, op),
        0x100..=0x13f => words.row(Encoding::Vop3, vop2::ROWS, op - 0x100)?,
        0x140..=0x1bf => words.row(Encoding::Vop3, vop1::ROWS, op - 0x140)?,
        _own => return words.row(Encoding::Vop3, ROWS, op),
    };
    // These have a 32-bit encoding only.
    let short = vop2::has_constant(row)
        || matches!(row.name, "v_swap_b32" | "v_accvgpr_mov_b32" | "v_readfirstlane_b32")
        || row.src.iter().any(|ty| ty.is_packed());
    if short {
        return Err(words.unknown(Encoding::Vop3, format!("{} has no long form", row.name)));
    }
    Ok(row)
}

pub(crate) fn decode(words: &Words<'_>) -> Result<Inst, FaultKind> {
    let w = words.first();
    let op = w >> 16 & 0x3ff;
    let row = long_row(words, op)?;
    let second = words.second(Encoding::Vop3)?;
    let mut inst = words.inst(Encoding::Vop3, row, 2);
    let destination = w & 0xff;
    if op < 0x100 {
        inst.sdst = words.scalar_destination(Encoding::Vop3, destination)?;
    } else if row.name == "v_readlane_b32" {
        inst.dst = words.scalar_destination(Encoding::Vop3, destination)?;
    } else if row.dst != No {
        inst.dst = Opnd::V(destination as u16);
    }
    for k in 0..3 {
        if row.src[k] == No {
            continue;
        }
        let code = second >> (9 * k) & 0x1ff;
        if code == 255 {
            return Err(words.unknown(Encoding::Vop3, "a literal in the long form"));
        }
        inst.src[k] = words.vector_source(Encoding::Vop3, code, &mut inst.len)?;
    }
    if (0x100..0x140).contains(&op) && row.src[2] != No && row.src[2] != Ty::Mask {
        // The multiply-accumulate operations keep their destination as the addend.
        inst.src[2] = inst.dst;
    }
    if row.src[3] == Ty::Mask {
        inst.src[3] = Opnd::S(VCC);
    }
    if is_vop3b(row) {
        inst.sdst = words.scalar_destination(Encoding::Vop3, w >> 8)?;
    } else {
        inst.mods.abs = (w >> 8 & 7) as u8;
        inst.mods.op_sel = (w >> 11 & 15) as u8;
    }
    inst.mods.clamp = w >> 15 & 1 != 0;
    inst.mods.omod = (second >> 27 & 3) as u8;
    inst.mods.neg = (second >> 29 & 7) as u8;
    if matches!(row.run, Run::Lanes(_)) && inst.mods != Mods::default() {
        inst.exec = valu::modified;
    }
    Ok(inst)
}

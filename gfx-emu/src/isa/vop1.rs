//! VOP1: vector operations with one source.

use super::decode::Words;
use super::float as f;
use super::inst::{ACC, Encoding, Flow, Inst, Opnd, Row, Step, Targets, Trouble, Ty, special};
use super::lane::{H, LANES, lanes};
use super::state::Cx;
use super::vop2;
use crate::dispatch::FaultKind;
use Ty::{B32, None as No};

/// The scalar of the first active lane; of lane 0 if none is.
fn read_first_lane(cx: &mut Cx<'_, '_>, inst: &Inst) -> Step {
    let value = match inst.src[0] {
        Opnd::V(at) => {
            let exec = cx.wave.exec();
            let lane = if exec == 0 { 0 } else { exec.trailing_zeros() as usize };
            u64::from(cx.wave.v[usize::from(at)][lane])
        }
        scalar => cx.wave.scalar(scalar, B32),
    };
    cx.wave.set_scalar(inst.dst, B32, value);
    Ok(Flow::Next)
}

fn swap(cx: &mut Cx<'_, '_>, inst: &Inst) -> Step {
    let (Opnd::V(a), Opnd::V(b)) = (inst.dst, inst.src[0]) else {
        return Err(Trouble::unsupported(inst, "an operand that is no vector register"));
    };
    for lane in super::mem::lanes(cx.wave.exec()) {
        let held = cx.wave.v[usize::from(a)][lane];
        cx.wave.v[usize::from(a)][lane] = cx.wave.v[usize::from(b)][lane];
        cx.wave.v[usize::from(b)][lane] = held;
    }
    Ok(Flow::Next)
}

/// Copies between accumulation registers, whatever EXEC is in the lanes it has.
fn accumulator_move(cx: &mut Cx<'_, '_>, inst: &Inst) -> Step {
    let mut value = [0; LANES];
    match inst.src[0] {
        Opnd::V(at) => value = cx.wave.v[usize::from(at)],
        scalar => value.fill(cx.wave.scalar(scalar, B32) as u32),
    }
    cx.wave.out.v[0] = value;
    let exec = cx.wave.exec();
    cx.write_v(inst.dst, 1, exec);
    Ok(Flow::Next)
}

fn high_bit(x: u32) -> u32 {
    if x == 0 { u32::MAX } else { x.leading_zeros() }
}

fn high_bit_signed(x: i32) -> u32 {
    let flipped = (x ^ (x >> 31)) as u32;
    if flipped == 0 { u32::MAX } else { flipped.leading_zeros() }
}

fn half(x: H) -> f32 {
    f::f16_to_f32(x)
}

/// Two 8-bit integers saturated from two 16-bit ones.
fn saturated_bytes(x: u32) -> u16 {
    let byte = |h: u32| (h as u16 as i16).clamp(0, 255) as u16;
    byte(x) | byte(x >> 16) << 8
}

pub(crate) static ROWS: &[Row] = &[
    special(0x00, "v_nop", No, [No; 4], |_, _| Ok(Flow::Next)),
    lanes!(0x01 "v_mov_b32", |a: u32| -> u32 { a }),
    special(0x02, "v_readfirstlane_b32", B32, [B32, No, No, No], read_first_lane),
    lanes!(0x03 "v_cvt_i32_f64", |a: f64| -> i32 { a as i32 }),
    lanes!(0x04 "v_cvt_f64_i32", |a: i32| -> f64 { f64::from(a) }),
    lanes!(0x05 "v_cvt_f32_i32", |a: i32| -> f32 { a as f32 }),
    lanes!(0x06 "v_cvt_f32_u32", |a: u32| -> f32 { a as f32 }),
    lanes!(0x07 "v_cvt_u32_f32", |a: f32| -> u32 { a as u32 }),
    lanes!(0x08 "v_cvt_i32_f32", |a: f32| -> i32 { a as i32 }),
    lanes!(0x0a "v_cvt_f16_f32", |a: f32| -> H { f::f32_to_f16(a) }),
    lanes!(0x0b "v_cvt_f32_f16", |a: H| -> f32 { f::nan1_f32(half(a), half(a)) }),
    lanes!(0x0c "v_cvt_rpi_i32_f32", |a: f32| -> i32 { (f64::from(a) + 0.5).floor() as i32 }),
    lanes!(0x0d "v_cvt_flr_i32_f32", |a: f32| -> i32 { a.floor() as i32 }),
    lanes!(0x0e "v_cvt_off_f32_i4", |a: u32| -> f32 { ((a << 28) as i32 >> 28) as f32 / 16.0 }),
    lanes!(0x0f "v_cvt_f32_f64", |a: f64| -> f32 { f::nan1_f32(a as f32, a as f32) }),
    lanes!(0x10 "v_cvt_f64_f32", |a: f32| -> f64 { f::nan1_f64(f64::from(a), f64::from(a)) }),
    lanes!(0x11 "v_cvt_f32_ubyte0", |a: u32| -> f32 { (a & 255) as f32 }),
    lanes!(0x12 "v_cvt_f32_ubyte1", |a: u32| -> f32 { (a >> 8 & 255) as f32 }),
    lanes!(0x13 "v_cvt_f32_ubyte2", |a: u32| -> f32 { (a >> 16 & 255) as f32 }),
    lanes!(0x14 "v_cvt_f32_ubyte3", |a: u32| -> f32 { (a >> 24) as f32 }),
    lanes!(0x15 "v_cvt_u32_f64", |a: f64| -> u32 { a as u32 }),
    lanes!(0x16 "v_cvt_f64_u32", |a: u32| -> f64 { f64::from(a) }),
    lanes!(0x17 "v_trunc_f64", |a: f64| -> f64 { f::trunc_f64(a) }),
    lanes!(0x18 "v_ceil_f64", |a: f64| -> f64 { f::ceil_f64(a) }),
    lanes!(0x19 "v_rndne_f64", |a: f64| -> f64 { f::rndne_f64(a) }),
    lanes!(0x1a "v_floor_f64", |a: f64| -> f64 { f::floor_f64(a) }),
    lanes!(0x1b "v_fract_f32", |a: f32| -> f32 { f::fract_f32(a) }),
    lanes!(0x1c "v_trunc_f32", |a: f32| -> f32 { f::trunc_f32(a) }),
    lanes!(0x1d "v_ceil_f32", |a: f32| -> f32 { f::ceil_f32(a) }),
    lanes!(0x1e "v_rndne_f32", |a: f32| -> f32 { f::rndne_f32(a) }),
    lanes!(0x1f "v_floor_f32", |a: f32| -> f32 { f::floor_f32(a) }),
    lanes!(0x20 "v_exp_f32", |a: f32| -> f32 { f::exp_f32(a) }),
    lanes!(0x21 "v_log_f32", |a: f32| -> f32 { f::log_f32(a) }),
    lanes!(0x22 "v_rcp_f32", |a: f32| -> f32 { f::rcp_f32(a) }),
    lanes!(0x23 "v_rcp_iflag_f32", |a: f32| -> f32 { f::rcp_f32(a) }),
    lanes!(0x24 "v_rsq_f32", |a: f32| -> f32 { f::rsq_f32(a) }),
    lanes!(0x25 "v_rcp_f64", |a: f64| -> f64 { f::rcp_f64(a) }),
    lanes!(0x26 "v_rsq_f64", |a: f64| -> f64 { f::rsq_f64(a) }),
    lanes!(0x27 "v_sqrt_f32", |a: f32| -> f32 { f::sqrt_f32(a) }),
    lanes!(0x28 "v_sqrt_f64", |a: f64| -> f64 { f::sqrt_f64(a) }),
    lanes!(0x29 "v_sin_f32", |a: f32| -> f32 { f::sin_f32(a) }),
    lanes!(0x2a "v_cos_f32", |a: f32| -> f32 { f::cos_f32(a) }),
    lanes!(0x2b "v_not_b32", |a: u32| -> u32 { !a }),
    lanes!(0x2c "v_bfrev_b32", |a: u32| -> u32 { a.reverse_bits() }),
    lanes!(0x2d "v_ffbh_u32", |a: u32| -> u32 { high_bit(a) }),
    lanes!(0x2e "v_ffbl_b32", |a: u32| -> u32 { if a == 0 { !0 } else { a.trailing_zeros() } }),
    lanes!(0x2f "v_ffbh_i32", |a: i32| -> u32 { high_bit_signed(a) }),
    lanes!(0x30 "v_frexp_exp_i32_f64", |a: f64| -> i32 { f::frexp_exp_f64(a) }),
    lanes!(0x31 "v_frexp_mant_f64", |a: f64| -> f64 { f::frexp_mant_f64(a) }),
    lanes!(0x32 "v_fract_f64", |a: f64| -> f64 { f::fract_f64(a) }),
    lanes!(0x33 "v_frexp_exp_i32_f32", |a: f32| -> i32 { f::frexp_exp_f32(a) }),
    lanes!(0x34 "v_frexp_mant_f32", |a: f32| -> f32 { f::frexp_mant_f32(a) }),
    lanes!(0x38 "v_mov_b64", |a: u64| -> u64 { a }).on(Targets::GFX942),
    lanes!(0x39 "v_cvt_f16_u16", |a: u16| -> H { f::f32_to_f16(f32::from(a)) }),
    lanes!(0x3a "v_cvt_f16_i16", |a: i16| -> H { f::f32_to_f16(f32::from(a)) }),
    lanes!(0x3b "v_cvt_u16_f16", |a: H| -> u16 { half(a) as u16 }),
    lanes!(0x3c "v_cvt_i16_f16", |a: H| -> i16 { half(a) as i16 }),
    lanes!(0x3d "v_rcp_f16", |a: H| -> H { f::rcp_f16(a) }),
    lanes!(0x3e "v_sqrt_f16", |a: H| -> H { f::sqrt_f16(a) }),
    lanes!(0x3f "v_rsq_f16", |a: H| -> H { f::rsq_f16(a) }),
    lanes!(0x40 "v_log_f16", |a: H| -> H { f::log_f16(a) }),
    lanes!(0x41 "v_exp_f16", |a: H| -> H { f::exp_f16(a) }),
    lanes!(0x42 "v_frexp_mant_f16", |a: H| -> H { f::frexp_mant_f16(a) }),
    lanes!(0x43 "v_frexp_exp_i16_f16", |a: H| -> i16 { f::frexp_exp_f16(a) }),
    lanes!(0x44 "v_floor_f16", |a: H| -> H { f::floor_f16(a) }),
    lanes!(0x45 "v_ceil_f16", |a: H| -> H { f::ceil_f16(a) }),
    lanes!(0x46 "v_trunc_f16", |a: H| -> H { f::trunc_f16(a) }),
    lanes!(0x47 "v_rndne_f16", |a: H| -> H { f::rndne_f16(a) }),
    lanes!(0x48 "v_fract_f16", |a: H| -> H { f::fract_f16(a) }),
    lanes!(0x49 "v_sin_f16", |a: H| -> H { f::sin_f16(a) }),
    lanes!(0x4a "v_cos_f16", |a: H| -> H { f::cos_f16(a) }),
    lanes!(0x4b "v_exp_legacy_f32", |a: f32| -> f32 { f::exp_f32(a) }),
    lanes!(0x4c "v_log_legacy_f32", |a: f32| -> f32 { f::log_f32(a) }),
    lanes!(0x4d "v_cvt_norm_i16_f16", |a: H| -> u16 { f::snorm16(half(a)) }),
    lanes!(0x4e "v_cvt_norm_u16_f16", |a: H| -> u16 { f::unorm16(half(a)) }),
    lanes!(0x4f "v_sat_pk_u8_i16", |a: u32| -> u16 { saturated_bytes(a) }),
    special(0x51, "v_swap_b32", B32, [B32, No, No, No], swap),
    special(0x52, "v_accvgpr_mov_b32", B32, [B32, No, No, No], accumulator_move)
        .on(Targets::GFX90A_UP),
];

/// Whether the destination is a scalar register.
pub(crate) fn scalar_destination(row: &Row) -> bool {
    row.name == "v_readfirstlane_b32"
}

pub(crate) fn decode(words: &Words<'_>) -> Result<Inst, FaultKind> {
    let w = words.first();
    let row = words.row(Encoding::Vop1, ROWS, w >> 9 & 0xff)?;
    let mut inst = words.inst(Encoding::Vop1, row, 1);
    inst.dst = match row.dst {
        No => Opnd::None,
        _reg if scalar_destination(row) => words.scalar_destination(Encoding::Vop1, w >> 17)?,
        _reg => Opnd::V((w >> 17 & 0xff) as u16),
    };
    if row.src[0] == No {
        return Ok(inst);
    }
    vop2::first_source(words, Encoding::Vop1, &mut inst)?;
    if row.name == "v_accvgpr_mov_b32" {
        for operand in [&mut inst.dst, &mut inst.src[0]] {
            if let Opnd::V(at) = operand {
                *at += ACC;
            }
        }
    }
    Ok(inst)
}

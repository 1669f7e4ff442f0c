//! Execution of vector instructions: operand fetch, modifiers, SDWA and DPP, and write-back.

use super::inst::{EXEC, Flow, Form, Inst, Opnd, Run, Step, Trouble, Ty};
use super::lane::{LANES, Reg, Sources};
use super::state::{Cx, Wave, merge, mode};

/// The plain form without modifiers.
pub(crate) fn plain(cx: &mut Cx<'_, '_>, inst: &Inst) -> Step {
    let Run::Lanes(pair) = &inst.row.run else {
        return Err(Trouble::unsupported(inst, "this form"));
    };
    if cx.wave.mode & mode::DENORMALS_32 == 0 && flushes(inst) {
        return modified(cx, inst);
    }
    let wave = &mut *cx.wave;
    for (k, operand) in inst.src.into_iter().enumerate() {
        if !matches!(operand, Opnd::None | Opnd::V(_)) {
            broadcast(wave, k, operand, inst.row.src[k]);
        }
    }
    let Wave { v, tmp, out, .. } = wave;
    let source = |k: usize| -> &[Reg] {
        match inst.src[k] {
            Opnd::V(at) => &v[usize::from(at)..],
            _scalar => &tmp[k],
        }
    };
    let sources: Sources<'_> = [source(0), source(1), source(2), source(3)];
    pair.run(out, &sources);
    let exec = cx.wave.exec();
    write_back(cx, inst, exec);
    Ok(Flow::Next)
}

/// Any form, with modifiers.
pub(crate) fn modified(cx: &mut Cx<'_, '_>, inst: &Inst) -> Step {
    let Run::Lanes(pair) = &inst.row.run else {
        return Err(Trouble::unsupported(inst, "this form"));
    };
    let mut mask = cx.wave.exec();
    for k in 0..4 {
        let ty = inst.row.src[k];
        if ty == Ty::None {
            continue;
        }
        fetch(cx.wave, k, inst.src[k], ty);
        match inst.form {
            Form::Sdwa(word) if k < 2 => sdwa_source(&mut cx.wave.tmp[k], ty, word, k),
            Form::Dpp(word) if k == 0 => {
                let exec = cx.wave.exec();
                mask = dpp_source(&mut cx.wave.tmp[0], ty.regs(), word, exec);
            }
            Form::Plain | Form::Sdwa(_) | Form::Dpp(_) => {}
        }
        source_modifiers(&mut cx.wave.tmp[k], inst, k, ty);
    }
    let flush = cx.wave.mode & mode::DENORMALS_32 == 0 && flushes(inst);
    let Wave { tmp, out, .. } = &mut *cx.wave;
    if flush {
        for (registers, ty) in tmp.iter_mut().zip(inst.row.src) {
            flush_denormals(registers, ty);
        }
    }
    let sources: Sources<'_> = [&tmp[0], &tmp[1], &tmp[2], &tmp[3]];
    pair.run(out, &sources);
    if flush {
        flush_denormals(&mut out.v, inst.row.dst);
    }
    result_modifiers(cx, inst)?;
    if let Form::Sdwa(word) = inst.form
        && inst.row.dst != Ty::Mask
    {
        sdwa_result(cx.wave, inst, word);
    }
    write_back(cx, inst, mask);
    Ok(Flow::Next)
}

/// Puts a scalar operand into all lanes of a temporary.
#[inline]
fn broadcast(wave: &mut Wave, k: usize, operand: Opnd, ty: Ty) {
    let value = wave.scalar(operand, ty);
    wave.tmp[k][0] = [value as u32; LANES];
    if ty == Ty::Mask {
        // A mask is read as its two words, whichever lane asks.
        wave.tmp[k][0][1] = (value >> 32) as u32;
    } else if ty.regs() >= 2 {
        wave.tmp[k][1] = [(value >> 32) as u32; LANES];
    }
}

fn fetch(wave: &mut Wave, k: usize, operand: Opnd, ty: Ty) {
    match operand {
        Opnd::V(at) => {
            for r in 0..ty.regs().min(4) {
                wave.tmp[k][r] = wave.v[usize::from(at) + r];
            }
        }
        scalar => broadcast(wave, k, scalar, ty),
    }
}

fn source_modifiers(tmp: &mut [Reg; 4], inst: &Inst, k: usize, ty: Ty) {
    let mods = &inst.mods;
    let bit = |field: u8| field >> k & 1 != 0;
    match ty {
        Ty::PkB16 | Ty::PkF16 => {
            let (lo, hi) = (bit(mods.op_sel), bit(mods.op_sel_hi));
            let flip = u32::from(bit(mods.neg)) << 15 | u32::from(bit(mods.neg_hi)) << 31;
            let flip = if ty == Ty::PkF16 { flip } else { 0 };
            for x in &mut tmp[0] {
                let low = if lo { *x >> 16 } else { *x & 0xffff };
                let high = if hi { *x >> 16 } else { *x & 0xffff };
                *x = (low | high << 16) ^ flip;
            }
        }
        Ty::Pk32 => {
            let (lo, hi) = (bit(mods.op_sel), bit(mods.op_sel_hi));
            let [a, b, ..] = *tmp;
            tmp[0] = if lo { b } else { a };
            tmp[1] = if hi { b } else { a };
            for (reg, neg) in [(0, bit(mods.neg)), (1, bit(mods.neg_hi))] {
                if neg {
                    tmp[reg].iter_mut().for_each(|x| *x ^= 1 << 31);
                }
            }
        }
        Ty::Mix => {
            // op_sel_hi asks for a half, op_sel for which; neg_hi is abs here.
            let (half, high) = (bit(mods.op_sel_hi), bit(mods.op_sel));
            for x in &mut tmp[0] {
                if half {
                    let bits = if high { *x >> 16 } else { *x } as u16;
                    *x = super::float::f16_to_f32(super::lane::H(bits)).to_bits();
                }
                if bit(mods.neg_hi) {
                    *x &= 0x7fff_ffff;
                }
                if bit(mods.neg) {
                    *x ^= 1 << 31;
                }
            }
        }
        _other => {
            if ty.is_16() && bit(mods.op_sel) {
                tmp[0].iter_mut().for_each(|x| *x >>= 16);
            }
            if ty.is_float() {
                let reg = ty.regs() - 1;
                let sign = if ty.is_16() { 1 << 15 } else { 1 << 31 };
                if bit(mods.abs) {
                    tmp[reg].iter_mut().for_each(|x| *x &= !sign);
                }
                if bit(mods.neg) {
                    tmp[reg].iter_mut().for_each(|x| *x ^= sign);
                }
            }
        }
    }
}

/// Whether an operation flushes single-precision denormals when the mode says so: arithmetic
/// does, selecting does not.
fn flushes(inst: &Inst) -> bool {
    let single = |ty: Ty| matches!(ty, Ty::F32 | Ty::F32Mask | Ty::Pk32 | Ty::Mix);
    let arithmetic = !matches!(inst.row.name, "v_cndmask_b32" | "v_pk_mov_b32");
    arithmetic && (single(inst.row.dst) || inst.row.src.into_iter().any(single))
}

fn flush_denormals(registers: &mut [Reg; 4], ty: Ty) {
    let count = match ty {
        Ty::F32 | Ty::F32Mask | Ty::Mix => 1,
        Ty::Pk32 => 2,
        _other => 0,
    };
    for x in registers[..count].iter_mut().flatten() {
        if *x & 0x7f80_0000 == 0 {
            *x &= 0x8000_0000;
        }
    }
}

/// omod and clamp.
fn result_modifiers(cx: &mut Cx<'_, '_>, inst: &Inst) -> Result<(), Box<Trouble>> {
    let mods = &inst.mods;
    if mods.omod == 0 && !mods.clamp {
        return Ok(());
    }
    let factor: f64 = [1.0, 2.0, 4.0, 0.5][usize::from(mods.omod & 3)];
    let clamp = |x: f64| {
        let x = x * factor;
        // With DX10 clamp, as compute code runs, a NaN becomes 0.
        if !mods.clamp {
            x
        } else if x.is_nan() {
            0.0
        } else {
            x.clamp(0.0, 1.0) + 0.0
        }
    };
    let out = &mut cx.wave.out;
    match inst.row.dst {
        Ty::F32 | Ty::F32Mask => {
            for x in &mut out.v[0] {
                *x = (clamp(f64::from(f32::from_bits(*x))) as f32).to_bits();
            }
        }
        Ty::Pk32 => {
            for reg in &mut out.v[..2] {
                for x in reg {
                    *x = (clamp(f64::from(f32::from_bits(*x))) as f32).to_bits();
                }
            }
        }
        Ty::F64 | Ty::F64Mask => {
            for i in 0..LANES {
                let bits = u64::from(out.v[0][i]) | u64::from(out.v[1][i]) << 32;
                let bits = clamp(f64::from_bits(bits)).to_bits();
                out.v[0][i] = bits as u32;
                out.v[1][i] = (bits >> 32) as u32;
            }
        }
        Ty::F16 | Ty::KeepF16 | Ty::KeepHi16 | Ty::PkF16 => {
            let half = |bits: u32| {
                let x = f64::from(super::float::f16_to_f32(super::lane::H(bits as u16)));
                u32::from(super::float::f64_to_f16(clamp(x)).0)
            };
            let packed = inst.row.dst == Ty::PkF16;
            for x in &mut out.v[0] {
                *x = half(*x) | if packed { half(*x >> 16) << 16 } else { 0 };
            }
        }
        // The clamp bit of a comparison asks for signalling, which has no effect on its result.
        Ty::Mask => {}
        _integer => saturate(cx, inst)?,
    }
    Ok(())
}

/// Integer clamp: the operations of the saturating add and subtract.
fn saturate(cx: &mut Cx<'_, '_>, inst: &Inst) -> Result<(), Box<Trouble>> {
    let Wave { tmp, out, .. } = &mut *cx.wave;
    let (a, b) = (&tmp[0][0], &tmp[1][0]);
    let each = |out: &mut Reg, f: fn(u32, u32) -> u32| {
        for i in 0..LANES {
            out[i] = f(a[i], b[i]);
        }
    };
    let out = &mut out.v[0];
    match inst.row.name {
        "v_add_u32" => each(out, u32::saturating_add),
        "v_sub_u32" => each(out, u32::saturating_sub),
        "v_subrev_u32" => each(out, |a, b| b.saturating_sub(a)),
        "v_add_i32" => each(out, |a, b| (a as i32).saturating_add(b as i32) as u32),
        "v_sub_i32" => each(out, |a, b| (a as i32).saturating_sub(b as i32) as u32),
        "v_add_u16" => each(out, |a, b| u32::from((a as u16).saturating_add(b as u16))),
        "v_sub_u16" => each(out, |a, b| u32::from((a as u16).saturating_sub(b as u16))),
        "v_add_i16" => each(out, |a, b| u32::from((a as i16).saturating_add(b as i16) as u16)),
        "v_sub_i16" => each(out, |a, b| u32::from((a as i16).saturating_sub(b as i16) as u16)),
        "v_pk_add_u16" => each(out, |a, b| halves(a, b, u16::saturating_add)),
        "v_pk_sub_u16" => each(out, |a, b| halves(a, b, u16::saturating_sub)),
        "v_pk_add_i16" => {
            each(out, |a, b| halves(a, b, |a, b| (a as i16).saturating_add(b as i16) as u16))
        }
        "v_pk_sub_i16" => {
            each(out, |a, b| halves(a, b, |a, b| (a as i16).saturating_sub(b as i16) as u16))
        }
        _other => return Err(Trouble::unsupported(inst, "its clamp modifier")),
    }
    Ok(())
}

fn halves(a: u32, b: u32, f: fn(u16, u16) -> u16) -> u32 {
    u32::from(f(a as u16, b as u16)) | u32::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
}

/// Selects and extends the part of a register that an SDWA source names.
fn sdwa_source(tmp: &mut [Reg; 4], ty: Ty, word: u32, k: usize) {
    let field = word >> (16 + 8 * k);
    let (select, sext) = (field & 7, field & 8 != 0);
    let (shift, bits) = match select {
        0..=3 => (8 * select, 8),
        4 => (0, 16),
        5 => (16, 16),
        _dword => (0, 32),
    };
    if bits < 32 {
        for x in &mut tmp[0] {
            let part = *x >> shift << (32 - bits);
            *x = if sext { (part as i32 >> (32 - bits)) as u32 } else { part >> (32 - bits) };
        }
    }
    let (neg, abs) = (field & 16 != 0, field & 32 != 0);
    if ty.is_float() {
        let sign = if ty.is_16() { 1 << 15 } else { 1 << 31 };
        for x in &mut tmp[0] {
            if abs {
                *x &= !sign;
            }
            if neg {
                *x ^= sign;
            }
        }
    }
}

/// Places an SDWA result into the part of the destination that it names.
fn sdwa_result(wave: &mut Wave, inst: &Inst, word: u32) {
    let Opnd::V(at) = inst.dst else { return };
    let (select, unused) = (word >> 8 & 7, word >> 11 & 3);
    let (shift, bits) = match select {
        0..=3 => (8 * select, 8),
        4 => (0, 16),
        5 => (16, 16),
        _dword => return,
    };
    let field = ((1u32 << bits) - 1) << shift;
    for i in 0..LANES {
        let value = wave.out.v[0][i] << shift & field;
        let rest = match unused {
            // Zero, the sign above the field, or what was there.
            0 => 0,
            1 if value >> (shift + bits - 1) & 1 != 0 => !0u32 << (shift + bits - 1) << 1,
            1 => 0,
            _preserve => wave.v[usize::from(at)][i] & !field,
        };
        wave.out.v[0][i] = value | rest;
    }
}

/// Moves a DPP source between lanes; returns which lanes take a result.
fn dpp_source(tmp: &mut [Reg; 4], regs: usize, word: u32, exec: u64) -> u64 {
    let control = word >> 8 & 0x1ff;
    let bound = word >> 19 & 1 != 0;
    let (banks, rows) = (word >> 24 & 15, word >> 28 & 15);
    let mut mask = 0;
    let source = *tmp;
    for lane in 0..LANES {
        if rows >> (lane / 16) & 1 == 0 || banks >> (lane / 4 % 4) & 1 == 0 {
            continue;
        }
        let from = dpp_lane(control, lane).filter(|&from| exec >> from & 1 != 0);
        if from.is_none() && !bound {
            continue;
        }
        mask |= 1 << lane;
        for (to, source) in tmp.iter_mut().zip(&source).take(regs) {
            to[lane] = from.map_or(0, |from| source[from]);
        }
    }
    mask & exec
}

/// The lane that a DPP control reads, if it is one of the wave's.
fn dpp_lane(control: u32, lane: usize) -> Option<usize> {
    let (row, at) = (lane & !15, lane & 15);
    let n = (control & 15) as usize;
    match control {
        0x000..=0x0ff => Some((lane & !3) | (control >> (2 * (lane & 3)) & 3) as usize),
        0x101..=0x10f => (at + n < 16).then_some(lane + n),
        0x111..=0x11f => at.checked_sub(n).map(|at| row + at),
        0x121..=0x12f => Some(row + (at + 16 - n) % 16),
        0x130 => (lane + 1 < LANES).then_some(lane + 1),
        0x134 => Some((lane + 1) % LANES),
        0x138 => lane.checked_sub(1),
        0x13c => Some((lane + LANES - 1) % LANES),
        0x140 => Some(row + 15 - at),
        0x141 => Some(lane & !7 | (7 - (lane & 7))),
        // The last lane of the row before, in every row but the first.
        0x142 => row.checked_sub(1),
        0x143 => (lane >= 32).then_some(31),
        0x150..=0x15f => Some(row + n),
        _reserved => None,
    }
}

/// Whether a DPP control is one that `dpp_lane` knows.
pub(crate) fn dpp_known(control: u32) -> bool {
    matches!(control,
        0x000..=0x0ff | 0x101..=0x10f | 0x111..=0x11f | 0x121..=0x12f | 0x130 | 0x134 | 0x138
        | 0x13c | 0x140..=0x143 | 0x150..=0x15f)
}

#[inline]
fn write_back(cx: &mut Cx<'_, '_>, inst: &Inst, mask: u64) {
    let dst = inst.row.dst;
    match dst {
        Ty::Mask => write_compare(cx, inst, mask),
        Ty::Keep16 | Ty::KeepF16 | Ty::KeepHi16 => keep_half(cx, inst, mask),
        _reg => {
            if dst.is_16() && inst.mods.op_sel & 8 != 0 {
                keep_half(cx, inst, mask);
                return;
            }
            cx.write_v(inst.dst, dst.regs().min(4), mask);
            if dst.has_mask() {
                let carry = cx.wave.out.mask() & mask;
                cx.wave.set_scalar(inst.sdst, Ty::Mask, carry);
            }
        }
    }
}

fn write_compare(cx: &mut Cx<'_, '_>, inst: &Inst, mask: u64) {
    let result = cx.wave.out.mask() & mask;
    cx.wave.set_scalar(inst.sdst, Ty::Mask, result);
    if inst.row.name.starts_with("v_cmpx") {
        cx.wave.set_s64(EXEC, result);
    }
}

/// Writes half of a register and keeps the other.
fn keep_half(cx: &mut Cx<'_, '_>, inst: &Inst, mask: u64) {
    let Opnd::V(at) = inst.dst else { return };
    let high = inst.row.dst == Ty::KeepHi16 || inst.mods.op_sel & 8 != 0;
    let Wave { v, out, .. } = &mut *cx.wave;
    let reg = &mut v[usize::from(at)];
    for (new, old) in out.v[0].iter_mut().zip(reg.iter()) {
        let value = *new & 0xffff;
        *new = if high { old & 0xffff | value << 16 } else { old & 0xffff_0000 | value };
    }
    merge(reg, &out.v[0], mask);
}

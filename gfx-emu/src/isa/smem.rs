//! SMEM: scalar loads and stores, clocks, cache control.

use super::decode::Words;
use super::inst::{Encoding, Flow, Inst, Opnd, Row, Step, Targets, Trouble, Ty, flag, special};
use super::state::Cx;
use crate::dispatch::FaultKind;
use Ty::{B32, B64, None as No, Regs};

const ADDRESS: [Ty; 4] = [B64, No, No, No];
const BUFFER: [Ty; 4] = [Regs(4), No, No, No];

fn offset(cx: &Cx<'_, '_>, inst: &Inst) -> u64 {
    let immediate = if inst.flag(flag::IMM) { i64::from(inst.imm) as u64 } else { 0 };
    immediate.wrapping_add(cx.wave.scalar(inst.src[1], B32))
}

fn first(operand: Opnd) -> usize {
    match operand {
        Opnd::S(at) => usize::from(at),
        // The decoder gives scalar memory instructions scalar registers.
        _other => 0,
    }
}

fn illegal(address: u64, write: bool) -> Box<Trouble> {
    Trouble::new(FaultKind::IllegalAddress { address, bytes: 4, write })
}

fn load(cx: &mut Cx<'_, '_>, inst: &Inst) -> Step {
    cx.mem.refresh();
    let base = cx.wave.scalar(inst.src[0], B64);
    // The two lowest bits of a scalar address do not count.
    let address = base.wrapping_add(offset(cx, inst)) & !3;
    let count = inst.row.dst.regs();
    let mut words = [0; 16];
    for (k, word) in words[..count].iter_mut().enumerate() {
        let at = address.wrapping_add(4 * k as u64);
        *word = cx.mem.read_u32(at).ok_or_else(|| illegal(at, false))?;
    }
    let to = first(inst.dst);
    cx.wave.s[to..to + count].copy_from_slice(&words[..count]);
    Ok(Flow::Next)
}

fn buffer_load(cx: &mut Cx<'_, '_>, inst: &Inst) -> Step {
    cx.mem.refresh();
    let at = first(inst.src[0]);
    let base = u64::from(cx.wave.s[at]) | u64::from(cx.wave.s[at + 1] & 0xffff) << 32;
    let stride = u64::from(cx.wave.s[at + 1] >> 16 & 0x3fff);
    let records = u64::from(cx.wave.s[at + 2]);
    let size = if stride == 0 { records } else { stride * records };
    let offset = offset(cx, inst) & !3;
    let count = inst.row.dst.regs();
    let mut words = [0; 16];
    for (k, word) in words[..count].iter_mut().enumerate() {
        let offset = offset.wrapping_add(4 * k as u64);
        // Beyond the buffer a load gives 0.
        if offset.checked_add(4).is_some_and(|end| end <= size) {
            let at = base.wrapping_add(offset);
            *word = cx.mem.read_u32(at).ok_or_else(|| illegal(at, false))?;
        }
    }
    let to = first(inst.dst);
    cx.wave.s[to..to + count].copy_from_slice(&words[..count]);
    Ok(Flow::Next)
}

/// The clocks count the wave's instructions, so that equal launches read equal times.
fn clock(cx: &mut Cx<'_, '_>, inst: &Inst) -> Step {
    let now = cx.wave.instructions;
    cx.wave.set_scalar(inst.dst, B64, now);
    Ok(Flow::Next)
}

/// Caches do not exist here.
fn cache(_: &mut Cx<'_, '_>, _: &Inst) -> Step {
    Ok(Flow::Next)
}

pub(crate) static ROWS: &[Row] = &[
    special(0x00, "s_load_dword", B32, ADDRESS, load),
    special(0x01, "s_load_dwordx2", B64, ADDRESS, load),
    special(0x02, "s_load_dwordx4", Regs(4), ADDRESS, load),
    special(0x03, "s_load_dwordx8", Regs(8), ADDRESS, load),
    special(0x04, "s_load_dwordx16", Regs(16), ADDRESS, load),
    special(0x08, "s_buffer_load_dword", B32, BUFFER, buffer_load),
    special(0x09, "s_buffer_load_dwordx2", B64, BUFFER, buffer_load),
    special(0x0a, "s_buffer_load_dwordx4", Regs(4), BUFFER, buffer_load),
    special(0x0b, "s_buffer_load_dwordx8", Regs(8), BUFFER, buffer_load),
    special(0x0c, "s_buffer_load_dwordx16", Regs(16), BUFFER, buffer_load),
    special(0x20, "s_dcache_inv", No, [No; 4], cache),
    special(0x21, "s_dcache_wb", No, [No; 4], cache).on(Targets::UNTIL_GFX90A),
    special(0x22, "s_dcache_inv_vol", No, [No; 4], cache),
    special(0x23, "s_dcache_wb_vol", No, [No; 4], cache).on(Targets::UNTIL_GFX90A),
    special(0x24, "s_memtime", B64, [No; 4], clock),
    special(0x25, "s_memrealtime", B64, [No; 4], clock),
];

pub(crate) fn decode(words: &Words<'_>) -> Result<Inst, FaultKind> {
    let w = words.first();
    let row = words.row(Encoding::Smem, ROWS, w >> 18 & 0xff)?;
    let second = words.second(Encoding::Smem)?;
    let mut inst = words.inst(Encoding::Smem, row, 2);
    if row.dst != No {
        inst.dst = words.scalar_destination(Encoding::Smem, w >> 6)?;
    }
    if row.src[0] == No {
        return Ok(inst);
    }
    inst.src[0] = Opnd::S((w & 0x3f) as u8 * 2);
    if w >> 16 & 1 != 0 {
        inst.flags |= flag::GLC;
    }
    if w >> 15 & 1 != 0 {
        inst.flags |= flag::NV;
    }
    let (immediate, register) = (w >> 17 & 1 != 0, w >> 14 & 1 != 0);
    if immediate {
        inst.flags |= flag::IMM;
        inst.imm = (second << 11) as i32 >> 11;
    }
    if register {
        inst.flags |= flag::SOFFSET;
        inst.src[1] = words.scalar_source(Encoding::Smem, second >> 25, &mut 1)?;
    } else if !immediate {
        inst.flags |= flag::SOFFSET;
        inst.src[1] = words.scalar_source(Encoding::Smem, second & 0x7f, &mut 1)?;
    }
    Ok(inst)
}

//! SOPP: program flow, barriers, waits, messages.

use super::decode::Words;
use super::inst::{Encoding, Flow, Inst, Row, Step, Trouble, Ty, special};
use super::sop1::set_indexing;
use super::state::Cx;
use crate::dispatch::{FaultKind, Host};
use Ty::None as No;

/// Where a taken branch goes.
pub(crate) fn branch_target(inst: &Inst) -> u64 {
    (inst.pc + 4).wrapping_add_signed(4 * inst.simm16())
}

macro_rules! branch {
    ($op:literal, $name:literal, |$w:ident| $e:expr) => {
        special($op, $name, No, [No; 4], |cx, inst| {
            let $w = &*cx.wave;
            Ok(if $e { Flow::Jump(branch_target(inst)) } else { Flow::Next })
        })
    };
}

/// Instructions that order, prefetch, count or prioritise: this machine does everything in
/// program order, so that they have nothing left to do.
fn nothing(_: &mut Cx<'_, '_>, _: &Inst) -> Step {
    Ok(Flow::Next)
}

/// Messages 2 and 3 are the graphics pipeline's; what compute code sends is the interrupt that
/// tells the host of a signal.
fn message(cx: &mut Cx<'_, '_>, inst: &Inst) -> Step {
    match inst.imm & 15 {
        1 => {
            let told = cx.mem.host.map_or(Ok(()), Host::interrupt);
            told.map(|()| Flow::Next).map_err(|what| Trouble::new(FaultKind::Host(what)))
        }
        id => Err(Trouble::unsupported(inst, format!("message {id}"))),
    }
}

fn end(_: &mut Cx<'_, '_>, _: &Inst) -> Step {
    Ok(Flow::End)
}

pub(crate) static ROWS: &[Row] = &[
    special(0x00, "s_nop", No, [No; 4], nothing),
    special(0x01, "s_endpgm", No, [No; 4], end),
    branch!(0x02, "s_branch", |_w| true),
    special(0x03, "s_wakeup", No, [No; 4], nothing),
    branch!(0x04, "s_cbranch_scc0", |w| !w.scc),
    branch!(0x05, "s_cbranch_scc1", |w| w.scc),
    branch!(0x06, "s_cbranch_vccz", |w| w.vcc() == 0),
    branch!(0x07, "s_cbranch_vccnz", |w| w.vcc() != 0),
    branch!(0x08, "s_cbranch_execz", |w| w.exec() == 0),
    branch!(0x09, "s_cbranch_execnz", |w| w.exec() != 0),
    special(0x0a, "s_barrier", No, [No; 4], |_, _| Ok(Flow::Barrier)),
    special(0x0c, "s_waitcnt", No, [No; 4], nothing),
    special(0x0d, "s_sethalt", No, [No; 4], |_, inst| match inst.imm & 1 {
        0 => Ok(Flow::Next),
        _halt => Err(Trouble::unsupported(inst, "halting a wave")),
    }),
    special(0x0e, "s_sleep", No, [No; 4], |_, _| Ok(Flow::Yield)),
    special(0x0f, "s_setprio", No, [No; 4], nothing),
    special(0x10, "s_sendmsg", No, [No; 4], message),
    special(0x12, "s_trap", No, [No; 4], |_, inst| match inst.imm as u8 {
        // A breakpoint, which nothing happens at without a debugger.
        3 => Ok(Flow::Next),
        id => Err(Trouble::new(FaultKind::Trap { id })),
    }),
    special(0x13, "s_icache_inv", No, [No; 4], nothing),
    special(0x14, "s_incperflevel", No, [No; 4], nothing),
    special(0x15, "s_decperflevel", No, [No; 4], nothing),
    special(0x16, "s_ttracedata", No, [No; 4], nothing),
    special(0x1b, "s_endpgm_saved", No, [No; 4], end),
    special(0x1c, "s_set_gpr_idx_off", No, [No; 4], |cx, _| {
        set_indexing(cx, false);
        Ok(Flow::Next)
    }),
    special(0x1d, "s_set_gpr_idx_mode", No, [No; 4], |cx, inst| {
        let m0 = &mut cx.wave.s[usize::from(super::inst::M0)];
        *m0 = *m0 & !0xf000 | (inst.imm as u32 & 15) << 12;
        Ok(Flow::Next)
    }),
];

pub(crate) fn decode(words: &Words<'_>) -> Result<Inst, FaultKind> {
    let w = words.first();
    let row = words.row(Encoding::Sopp, ROWS, w >> 16 & 0x7f)?;
    let mut inst = words.inst(Encoding::Sopp, row, 1);
    inst.imm = (w & 0xffff) as i32;
    Ok(inst)
}

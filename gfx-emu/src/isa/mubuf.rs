//! MUBUF: access through a buffer resource, and cache control.

use super::Target;
use super::decode::Words;
use super::flat::{
    atomic, atomic_rows, atomic_x2, find_in, load, load_store_rows, memory, operation, small, store,
};
use super::inst::{
    ACC, Encoding, Flow, Inst, Opnd, Row, Run, Step, Targets, Trouble, Ty, flag, special,
};
use super::lane::LANES;
use super::mem::{Atomic, Half, MemOp, Places, lanes, transfer};
use super::state::Cx;
use crate::dispatch::FaultKind;
use Ty::None as No;

/// Caches do not exist here.
fn cache(_: &mut Cx<'_, '_>, _: &Inst) -> Step {
    Ok(Flow::Next)
}

pub(crate) static TABLES: &[&[Row]] = &[
    load_store_rows!("buffer_"),
    atomic_rows!("buffer_"),
    &[
        special(0x28, "buffer_wbl2", No, [No; 4], cache).on(Targets::GFX90A_UP),
        special(0x29, "buffer_invl2", No, [No; 4], cache).on(Targets::GFX90A),
        special(0x29, "buffer_inv", No, [No; 4], cache).on(Targets::GFX942),
        special(0x3e, "buffer_wbinvl1", No, [No; 4], cache).on(Targets::UNTIL_GFX90A),
        special(0x3f, "buffer_wbinvl1_vol", No, [No; 4], cache).on(Targets::UNTIL_GFX90A),
        memory(0x4d, "buffer_atomic_add_f32", atomic(Atomic::AddF)).on(Targets::GFX90A_UP),
        memory(0x4e, "buffer_atomic_pk_add_f16", atomic(Atomic::PkAddF16)).on(Targets::GFX90A_UP),
    ],
];

/// Operands: dst and src[1] = data, src[0] = address, src[2] = resource, src[3] = offset.
pub(crate) fn decode(words: &Words<'_>) -> Result<Inst, FaultKind> {
    let w = words.first();
    let row = find_in(words, Encoding::Mubuf, TABLES, w >> 18 & 0x7f)?;
    let second = words.second(Encoding::Mubuf)?;
    let mut inst = words.inst(Encoding::Mubuf, row, 2);
    inst.imm = (w & 0xfff) as i32;
    let scc = if words.target == Target::Gfx906 { 0 } else { flag::SCC };
    let bits = [
        (12, flag::OFFEN),
        (13, flag::IDXEN),
        (14, flag::GLC),
        (15, scc),
        (16, flag::LDS),
        (17, flag::SLC),
    ];
    for (bit, flag) in bits {
        if w >> bit & 1 != 0 {
            inst.flags |= flag;
        }
    }
    let Run::Mem(op) = row.run else {
        return Ok(inst);
    };
    inst.exec = execute;
    if inst.flag(flag::LDS) {
        return Err(words.unknown(Encoding::Mubuf, "a transfer to LDS"));
    }
    let mut accumulator = 0;
    if second >> 23 & 1 != 0 {
        if words.target == Target::Gfx906 {
            return Err(words.unknown(Encoding::Mubuf, "a texture fail word"));
        }
        accumulator = ACC;
    }
    let data = Opnd::V((second >> 8 & 0xff) as u16 + accumulator);
    if op.loaded() > 0 {
        inst.dst = data;
    }
    if op.given() > 0 {
        inst.src[1] = data;
    }
    inst.src[0] = Opnd::V((second & 0xff) as u16);
    inst.src[2] = Opnd::S((second >> 16 & 31) as u8 * 4);
    inst.src[3] = words.scalar_source(Encoding::Mubuf, second >> 24, &mut 1)?;
    if inst.src[2] == Opnd::S(124) {
        return Err(words.unknown(Encoding::Mubuf, "a resource in M0"));
    }
    Ok(inst)
}

/// The four words of a buffer resource, taken apart.
struct Resource {
    base: u64,
    stride: u64,
    swizzle: bool,
    records: u64,
    index_stride: u64,
    add_tid: bool,
}

impl Resource {
    fn new(w: [u32; 4]) -> Self {
        let add_tid = w[3] >> 23 & 1 != 0;
        // With thread ids added, the data format field holds more bits of the stride.
        let more = if add_tid { w[3] >> 15 & 15 } else { 0 };
        Self {
            base: u64::from(w[0]) | u64::from(w[1] & 0xffff) << 32,
            stride: u64::from(w[1] >> 16 & 0x3fff) | u64::from(more) << 14,
            swizzle: w[1] >> 31 != 0,
            records: u64::from(w[2]),
            index_stride: 8 << (w[3] >> 21 & 3),
            add_tid,
        }
    }

    /// Where in the buffer a lane's element lies.
    fn place(&self, index: u64, offset: u64) -> u64 {
        if !self.swizzle {
            return index.wrapping_mul(self.stride).wrapping_add(offset);
        }
        let (block, within) = (index / self.index_stride, index % self.index_stride);
        (block * self.stride + offset / 4 * 4) * self.index_stride + within * 4 + offset % 4
    }
}

fn execute(cx: &mut Cx<'_, '_>, inst: &Inst) -> Step {
    let op = operation(inst)?;
    let at = match inst.src[2] {
        Opnd::S(at) => usize::from(at),
        // The decoder gives no other operand.
        _other => 0,
    };
    let s = &cx.wave.s;
    let resource = Resource::new([s[at], s[at + 1], s[at + 2], s[at + 3]]);
    let scalar = cx.wave.scalar(inst.src[3], Ty::B32);
    let exec = cx.wave.exec();
    let step = if resource.swizzle { 4 * resource.index_stride } else { 4 };
    let mut places = Places { at: [0; LANES], mask: 0, step };
    let bytes = access_bytes(op);
    let vector = |wave: &super::state::Wave, by: usize, lane: usize| match inst.src[0] {
        Opnd::V(at) => u64::from(wave.v[usize::from(at) + by][lane]),
        _absent => 0,
    };
    for lane in lanes(exec) {
        let mut index = if resource.add_tid { lane as u64 } else { 0 };
        let mut offset = inst.imm as u64;
        let mut next = 0;
        if inst.flag(flag::IDXEN) {
            index += vector(cx.wave, next, lane);
            next += 1;
        }
        if inst.flag(flag::OFFEN) {
            offset = (offset + vector(cx.wave, next, lane)) & 0xffff_ffff;
        }
        places.at[lane] =
            resource.base.wrapping_add(scalar).wrapping_add(resource.place(index, offset));
        let inside = if resource.add_tid {
            // The runtime's scratch resource: what lies beyond it faults below.
            true
        } else if resource.stride == 0 {
            offset + scalar + bytes <= resource.records
        } else {
            index < resource.records
        };
        if inside {
            places.mask |= 1 << lane;
        } else {
            outside(cx, inst, op, (offset + scalar, resource.records), places.at[lane], lane)?;
        }
    }
    transfer(cx, inst, op, &places, inst.src[1])?;
    Ok(Flow::Next)
}

fn access_bytes(op: MemOp) -> u64 {
    match op {
        MemOp::Load { bytes, .. } | MemOp::Store { bytes, .. } => u64::from(bytes),
        MemOp::Atomic { wide, .. } => 4 + 4 * u64::from(wide),
    }
}

/// A lane that reaches beyond the buffer: a load gives 0 there, a store does nothing there.
fn outside(
    cx: &mut Cx<'_, '_>,
    inst: &Inst,
    op: MemOp,
    (offset, records): (u64, u64),
    address: u64,
    lane: usize,
) -> Result<(), Box<Trouble>> {
    let loads = match op {
        MemOp::Load { .. } => true,
        MemOp::Atomic { .. } => inst.flag(flag::GLC),
        MemOp::Store { .. } => false,
    };
    let Opnd::V(dst) = inst.dst else {
        return outside_store(cx, inst, op, offset, records, address, lane);
    };
    if !loads {
        return Ok(());
    }
    for k in 0..op.loaded() {
        let by = 4 * k as u64;
        let whole = matches!(op, MemOp::Load { bytes: 8.., .. });
        let value = if whole && offset + by + 4 <= records {
            let at = address.wrapping_add(by);
            cx.mem.read_u32(at).ok_or_else(|| {
                Trouble::lane(
                    FaultKind::IllegalAddress { address: at, bytes: 4, write: false },
                    lane,
                )
            })?
        } else {
            0
        };
        cx.wave.v[usize::from(dst) + k][lane] = value;
    }
    Ok(())
}

/// The words of a store that still lie in the buffer.
fn outside_store(
    cx: &mut Cx<'_, '_>,
    inst: &Inst,
    op: MemOp,
    offset: u64,
    records: u64,
    address: u64,
    lane: usize,
) -> Result<(), Box<Trouble>> {
    let (MemOp::Store { bytes: 8.., .. }, Opnd::V(data)) = (op, inst.src[1]) else {
        return Ok(());
    };
    for k in 0..op.given() {
        let by = 4 * k as u64;
        if offset + by + 4 <= records {
            let mut places = Places { at: [0; LANES], mask: 1 << lane, step: 4 };
            places.at[lane] = address.wrapping_add(by);
            transfer(cx, inst, store(4), &places, Opnd::V(data + k as u16))?;
        }
    }
    Ok(())
}

//! One workgroup: the waves, their initial registers, LDS, scratch and barriers.

use super::launch::Launch;
use super::{Fault, FaultKind, Site, Stats};
use crate::isa::{Access, Cx, FLAT_SCRATCH, Flow, Target, Wave};
use crate::memory::Range;

const LANES: u32 = 64;
const EXEC: u8 = 126;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    AtBarrier,
    /// For how many waves of the launch it waits.
    AtGridBarrier(u32),
    Ended,
}

/// A workgroup that runs. Its buffers are used again for the next one.
#[derive(Default)]
pub(super) struct Workgroup {
    pub index: u64,
    /// Turns since another workgroup was started beside this one.
    pub turns: u32,
    id: [u32; 3],
    waves: Vec<(Wave, State)>,
    spare: Vec<Wave>,
    lds: Vec<u8>,
    /// Scratch of all waves, in words so that it is aligned.
    scratch: Vec<u32>,
}

impl Workgroup {
    pub(super) fn start(&mut self, launch: &Launch<'_>, index: u64) {
        self.index = index;
        self.turns = 0;
        self.id = launch.id(index);
        self.lds.clear();
        self.lds.resize(launch.lds as usize, 0);
        let size = launch.size(self.id);
        let items = size[0] * size[1] * size[2];
        let waves = items.div_ceil(LANES);
        let words = launch.private as usize / 4 * LANES as usize;
        self.scratch.clear();
        self.scratch.resize(words * waves as usize, 0);
        self.spare.extend(self.waves.drain(..).map(|(wave, _)| wave));
        for n in 0..waves {
            let mut wave = self.spare.pop().unwrap_or_else(Wave::new);
            wave.index = n;
            wave.scratch_bytes = 4 * words as u64;
            wave.scratch = if words == 0 {
                0
            } else {
                let host = self.scratch[words * n as usize..].as_mut_ptr();
                host.expose_provenance() as u64
            };
            initialise(&mut wave, launch, self.id);
            self.waves.push((wave, State::Ready));
        }
    }

    pub(super) fn wave_count(&self) -> usize {
        self.waves.len()
    }

    pub(super) fn stats(&self) -> Stats {
        Stats {
            workgroups: 1,
            waves: self.waves.len() as u64,
            instructions: self.waves.iter().map(|(wave, _)| wave.instructions).sum(),
        }
    }

    /// Gives every wave a turn. True if the workgroup has ended.
    pub(super) fn turn(
        &mut self,
        launch: &Launch<'_>,
        access: &mut Access<'_>,
        backward: u64,
    ) -> Result<bool, Fault> {
        self.turns = self.turns.saturating_add(1);
        for (wave, state) in &mut self.waves {
            if *state != State::Ready {
                continue;
            }
            if wave.scratch != 0 {
                // In the place of the scratch of the wave before.
                access.local.truncate(launch.local_count());
                let (base, end) = (wave.scratch, wave.scratch + wave.scratch_bytes);
                let host = std::ptr::with_exposed_provenance_mut(base as usize);
                access.local.push(Range { base, end, host });
                access.forget();
            }
            let mut cx = Cx { wave, lds: &mut self.lds, mem: access };
            match launch.kernel.program().run(&mut cx, backward) {
                Ok(Flow::End) => *state = State::Ended,
                Ok(Flow::Barrier) => *state = State::AtBarrier,
                Ok(Flow::GridBarrier(count)) if launch.dispatch.cooperative => {
                    *state = State::AtGridBarrier(count);
                }
                Ok(Flow::GridBarrier(_)) => {
                    let what = "a barrier of the grid in a launch that is not cooperative";
                    return Err(Fault::at(
                        FaultKind::Launch(what.to_owned()),
                        launch.kernel.site(),
                    ));
                }
                Ok(Flow::Yield | Flow::Next | Flow::Jump(_)) => {}
                Err(trouble) => {
                    let site = Site {
                        pc: Some(wave.pc),
                        workgroup: Some(self.id),
                        wave: Some(wave.index),
                        lane: trouble.lane,
                        ..launch.kernel.site()
                    };
                    return Err(Fault::at(trouble.kind, site));
                }
            }
        }
        // Ended waves do not hold up a barrier.
        let comes = |state: State| matches!(state, State::Ready | State::AtGridBarrier(_));
        if !self.waves.iter().any(|(_, state)| comes(*state)) {
            for (_, state) in &mut self.waves {
                if *state == State::AtBarrier {
                    *state = State::Ready;
                }
            }
        }
        Ok(self.waves.iter().all(|(_, state)| *state == State::Ended))
    }
}

impl Workgroup {
    /// For how many waves of the launch each of those waits that wait at the grid's barrier.
    pub(super) fn at_grid_barrier(&self) -> impl Iterator<Item = u32> {
        self.waves.iter().filter_map(|(_, state)| match state {
            State::AtGridBarrier(count) => Some(*count),
            State::Ready | State::AtBarrier | State::Ended => None,
        })
    }

    /// All waves have come to the grid's barrier.
    pub(super) fn leave_grid_barrier(&mut self) {
        for (_, state) in &mut self.waves {
            if matches!(state, State::AtGridBarrier(_)) {
                *state = State::Ready;
            }
        }
    }
}

/// The registers at a wave's start, as the launch ABI fixes them.
fn initialise(wave: &mut Wave, launch: &Launch<'_>, id: [u32; 3]) {
    let descriptor = launch.kernel.descriptor();
    let target = launch.kernel.program().target();
    wave.s.fill(0);
    wave.scc = false;
    wave.pc = launch.kernel.entry();
    wave.mode = descriptor.float_mode()
        | u32::from(descriptor.dx10_clamp()) << 8
        | u32::from(descriptor.ieee_mode()) << 9;
    wave.instructions = 0;
    // Nothing may depend on what a register held before; equal launches give equal bytes.
    wave.clear_vectors(vector_registers(launch));
    scalar_registers(wave, launch, id);
    work_items(wave, launch, target, id);
}

fn vector_registers(launch: &Launch<'_>) -> (usize, usize) {
    let descriptor = launch.kernel.descriptor();
    let granules = descriptor.granulated_workitem_vgpr_count() as usize + 1;
    match launch.kernel.program().target() {
        Target::Gfx906 => ((4 * granules).min(256), 0),
        Target::Gfx90a | Target::Gfx942 => {
            let own = (descriptor.accum_offset() as usize).min(256);
            (own, (8 * granules).saturating_sub(own).min(256))
        }
    }
}

/// User registers in the order of the descriptor's bits, then the system's.
fn scalar_registers(wave: &mut Wave, launch: &Launch<'_>, id: [u32; 3]) {
    let descriptor = launch.kernel.descriptor();
    let dispatch = launch.dispatch;
    let mut values: Vec<u32> = Vec::with_capacity(32);
    let pair = |present: bool, value: u64, values: &mut Vec<u32>| {
        if present {
            values.extend([value as u32, (value >> 32) as u32]);
        }
    };
    if descriptor.private_segment_buffer() {
        values.extend(scratch_resource(wave));
    }
    pair(descriptor.dispatch_ptr(), launch.packet_address, &mut values);
    pair(descriptor.queue_ptr(), dispatch.queue_address, &mut values);
    pair(descriptor.kernarg_segment_ptr(), dispatch.kernarg_address, &mut values);
    pair(descriptor.dispatch_id(), dispatch.dispatch_id, &mut values);
    pair(descriptor.flat_scratch_init(), wave.scratch, &mut values);
    if descriptor.private_segment_size() {
        values.push(launch.private);
    }
    values.resize(descriptor.user_sgpr_count() as usize, 0);
    let [x, y, z] = id;
    for (present, value) in [
        (descriptor.workgroup_id_x(), x),
        (descriptor.workgroup_id_y(), y),
        (descriptor.workgroup_id_z(), z),
        (descriptor.workgroup_info(), 0),
        // Each wave has scratch of its own, so that its offset is 0.
        (descriptor.enable_private_segment(), 0),
    ] {
        if present {
            values.push(value);
        }
    }
    for (register, value) in wave.s.iter_mut().zip(values) {
        *register = value;
    }
    wave.set_s64(FLAT_SCRATCH, wave.scratch);
}

/// The buffer resource of a wave's scratch: swizzled by words over 64 lanes, lane ids added.
fn scratch_resource(wave: &Wave) -> [u32; 4] {
    const SWIZZLE: u32 = 1 << 31;
    const INDEX_STRIDE_64: u32 = 3 << 21;
    const ADD_TID: u32 = 1 << 23;
    let base = wave.scratch;
    [base as u32, (base >> 32) as u32 & 0xffff | SWIZZLE, u32::MAX, INDEX_STRIDE_64 | ADD_TID]
}

/// Work-item ids, and the lanes that have a work-item.
fn work_items(wave: &mut Wave, launch: &Launch<'_>, target: Target, id: [u32; 3]) {
    let size = launch.size(id);
    let mut exec = 0u64;
    for lane in 0..LANES {
        let n = wave.index * LANES + lane;
        let item = [n % size[0], n / size[0] % size[1], n / (size[0] * size[1])];
        if item[2] >= size[2] {
            break;
        }
        exec |= 1 << lane;
        let at = lane as usize;
        match target {
            Target::Gfx906 => {
                for (axis, value) in item.into_iter().enumerate() {
                    wave.v[axis][at] = value;
                }
            }
            Target::Gfx90a | Target::Gfx942 => {
                wave.v[0][at] = item[0] | item[1] << 10 | item[2] << 20;
            }
        }
    }
    wave.set_s64(EXEC, exec);
}

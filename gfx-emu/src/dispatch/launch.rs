//! One launch: its limits, its packet, and its workgroups spread over threads.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

use super::workgroup::Workgroup;
use super::{Dispatch, Fault, MAX_LDS, MAX_WORKGROUP, Stats};
use crate::isa::{Access, Kernel, float_mode_is_emulated};
use crate::memory::{AddressSpace, Range};

/// Turns that the running workgroups get before another one, which they may wait for, is
/// started beside them. A turn ends at a barrier, at s_sleep, or after many branches back.
const PATIENCE: u32 = 4;
/// Branches back of a turn while one workgroup runs alone.
const BACKWARD_ALONE: u64 = 20_000;
/// The same where several workgroups take turns.
const BACKWARD_TOGETHER: u64 = 500;
/// Waves that a thread runs side by side at most, unless the launch is cooperative. A device
/// has no more waves in flight either, and the rest wait until some end.
const MOST_WAVES: usize = 2048;
const PACKET_BYTES: usize = 64;
/// A launch that takes less than this is not worth a thread.
const HEAD_START: Duration = Duration::from_micros(200);

/// Threads of a launch.
static THREADS: LazyLock<usize> = LazyLock::new(|| {
    let wished = std::env::var("HIP_EMU_THREADS").ok().and_then(|n| n.parse().ok());
    wished.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
});

/// What all workgroups of a launch share.
pub(super) struct Launch<'a> {
    pub space: &'a AddressSpace,
    pub kernel: &'a Kernel,
    pub dispatch: &'a Dispatch<'a>,
    /// Workgroups along each axis.
    pub groups: [u32; 3],
    /// LDS bytes of a workgroup.
    pub lds: u32,
    /// Scratch bytes of a work-item.
    pub private: u32,
    /// The dispatch packet that the kernel reads, and its address.
    packet: Box<[u64; PACKET_BYTES / 8]>,
    pub packet_address: u64,
}

impl<'a> Launch<'a> {
    pub(super) fn new(
        space: &'a AddressSpace,
        kernel: &'a Kernel,
        dispatch: &'a Dispatch<'a>,
    ) -> Result<Self, String> {
        let (grid, block) = (dispatch.grid, dispatch.block);
        if grid.contains(&0) || block.contains(&0) {
            return Err(format!("grid {grid:?} or block {block:?} has no work-items"));
        }
        let items = block.iter().try_fold(1u32, |product, &n| product.checked_mul(n));
        if items.is_none_or(|items| items > MAX_WORKGROUP) {
            return Err(format!("block {block:?} has more than {MAX_WORKGROUP} work-items"));
        }
        let descriptor = kernel.descriptor();
        let lds = descriptor
            .group_segment_fixed_size
            .checked_add(dispatch.dynamic_lds_bytes)
            .filter(|&lds| lds <= MAX_LDS)
            .ok_or_else(|| {
                let (fixed, dynamic) =
                    (descriptor.group_segment_fixed_size, dispatch.dynamic_lds_bytes);
                format!("{fixed} + {dynamic} bytes of LDS are more than {MAX_LDS}")
            })?;
        if descriptor.wavefront_size32() {
            return Err("waves of 32 lanes are not emulated".to_owned());
        }
        let mode = descriptor.float_mode();
        if !float_mode_is_emulated(mode) {
            return Err(format!("float mode {mode:#04x} is not emulated"));
        }
        let private = descriptor.private_segment_fixed_size.max(dispatch.private_segment_bytes);
        let mut launch = Self {
            space,
            kernel,
            dispatch,
            groups: [0, 1, 2].map(|axis| grid[axis].div_ceil(block[axis])),
            lds,
            private: private.next_multiple_of(4),
            packet: Box::new([0; PACKET_BYTES / 8]),
            packet_address: dispatch.packet_address,
        };
        if launch.packet_address == 0 {
            launch.fill_packet();
            launch.packet_address = launch.packet.as_ptr().expose_provenance() as u64;
        }
        Ok(launch)
    }

    /// The AQL kernel dispatch packet of this launch.
    fn fill_packet(&mut self) {
        let (d, [bx, by, bz], [gx, gy, gz]) =
            (self.dispatch, self.dispatch.block.map(u64::from), self.dispatch.grid.map(u64::from));
        let dimensions = if gz > 1 {
            3
        } else if gy > 1 {
            2
        } else {
            1
        };
        // Type 2, a kernel dispatch, with system-wide acquire and release.
        let header = 2 | 2 << 9 | 2 << 11;
        *self.packet = [
            header | dimensions << 16 | bx << 32 | by << 48,
            bz | gx << 32,
            gy | gz << 32,
            u64::from(self.private) | u64::from(self.lds) << 32,
            self.kernel.entry(),
            d.kernarg_address,
            0,
            d.completion_signal,
        ];
    }

    /// The memory that only this launch has.
    pub(super) fn local(&self) -> Vec<Range> {
        let base = self.packet.as_ptr().expose_provenance() as u64;
        let host = self.packet.as_ptr().cast::<u8>().cast_mut();
        vec![Range { base, end: base + PACKET_BYTES as u64, host }]
    }

    /// How many ranges [`Launch::local`] gives.
    pub(super) fn local_count(&self) -> usize {
        1
    }

    fn count(&self) -> u64 {
        self.groups.iter().map(|&n| u64::from(n)).product()
    }

    pub(super) fn id(&self, index: u64) -> [u32; 3] {
        let [x, y, _] = self.groups.map(u64::from);
        [(index % x) as u32, (index / x % y) as u32, (index / (x * y)) as u32]
    }

    /// Work-items of a workgroup: the last one of an axis has those that are left.
    pub(super) fn size(&self, id: [u32; 3]) -> [u32; 3] {
        let (block, grid) = (self.dispatch.block, self.dispatch.grid);
        [0, 1, 2].map(|axis| block[axis].min(grid[axis] - id[axis] * block[axis]))
    }

    fn threads(&self) -> usize {
        if self.dispatch.cooperative || self.kernel.has_memory_atomics() {
            return 1;
        }
        let most = usize::try_from(self.count()).unwrap_or(usize::MAX);
        (*THREADS).clamp(1, most)
    }

    pub(super) fn run(&self) -> Result<Stats, Fault> {
        let shared = Shared {
            next: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            first_fault: Mutex::new(None),
        };
        let threads = self.threads();
        let start = Instant::now();
        let stats = std::thread::scope(|scope| {
            let mut workers = Vec::new();
            let mut stats = self.work(&shared, &mut || {
                let some_left = shared.next.load(Ordering::Relaxed) < self.count();
                if threads > 1 && workers.is_empty() && some_left && start.elapsed() >= HEAD_START {
                    let worker = || self.work(&shared, &mut || {});
                    workers.extend((1..threads).map(|_| scope.spawn(worker)));
                }
            });
            for worker in workers {
                match worker.join() {
                    Ok(part) => stats.add(&part),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            stats
        });
        let fault = shared.first_fault.into_inner().unwrap_or_else(|e| e.into_inner());
        match fault {
            Some((_, fault)) => Err(fault),
            None => Ok(stats),
        }
    }

    /// Runs workgroups until none is left. `each_round` is called before each round of turns.
    fn work(&self, shared: &Shared, each_round: &mut dyn FnMut()) -> Stats {
        let mut access = Access::new(self.space);
        access.local = self.local();
        access.host = self.dispatch.host;
        let mut stats = Stats::default();
        let mut active: Vec<Workgroup> = Vec::new();
        let mut idle: Vec<Workgroup> = Vec::new();
        let mut exhausted = false;
        while !shared.stop.load(Ordering::Relaxed) {
            each_round();
            let waves: usize = active.iter().map(Workgroup::wave_count).sum();
            let all_wait = waves < MOST_WAVES && active.iter().all(|group| group.turns >= PATIENCE);
            if !exhausted && (self.dispatch.cooperative || all_wait) {
                let index = shared.next.fetch_add(1, Ordering::Relaxed);
                if index >= self.count() {
                    exhausted = true;
                } else {
                    let mut group = idle.pop().unwrap_or_default();
                    group.start(self, index);
                    active.push(group);
                    active.iter_mut().for_each(|group| group.turns = 0);
                }
                if self.dispatch.cooperative && !exhausted {
                    continue;
                }
            }
            if active.is_empty() {
                break;
            }
            let backward = if active.len() == 1 { BACKWARD_ALONE } else { BACKWARD_TOGETHER };
            let mut at = 0;
            while at < active.len() {
                match active[at].turn(self, &mut access, backward) {
                    Ok(false) => at += 1,
                    Ok(true) => {
                        let group = active.remove(at);
                        stats.add(&group.stats());
                        idle.push(group);
                    }
                    Err(fault) => {
                        shared.report(active[at].index, fault);
                        return stats;
                    }
                }
            }
            let waiting: Vec<u32> = active.iter().flat_map(Workgroup::at_grid_barrier).collect();
            if waiting.iter().max().is_some_and(|count| waiting.len() >= *count as usize) {
                active.iter_mut().for_each(Workgroup::leave_grid_barrier);
            }
        }
        stats
    }
}

impl Stats {
    fn add(&mut self, other: &Self) {
        self.workgroups += other.workgroups;
        self.waves += other.waves;
        self.instructions += other.instructions;
    }
}

/// What the threads of a launch share.
struct Shared {
    next: AtomicU64,
    stop: AtomicBool,
    first_fault: Mutex<Option<(u64, Fault)>>,
}

impl Shared {
    /// Keeps the fault of the first workgroup in order.
    fn report(&self, index: u64, fault: Fault) {
        let mut first = self.first_fault.lock().unwrap_or_else(|e| e.into_inner());
        if first.as_ref().is_none_or(|(at, _)| index < *at) {
            *first = Some((index, fault));
        }
        self.stop.store(true, Ordering::Relaxed);
    }
}

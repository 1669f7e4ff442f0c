//! Launches: from a grid to workgroups, waves and their initial registers.
//!
//! This module owns the launch ABI (which register holds what when a wave starts), LDS and
//! scratch of a workgroup, barriers, and the order in which workgroups run. It does not know
//! instructions, nor who asked for the launch.

mod fault;
mod launch;
mod workgroup;

pub use fault::{Fault, FaultKind, Site};

use std::fmt::Debug;

use crate::isa::Kernel;
use crate::memory::AddressSpace;
use launch::Launch;

/// The host, as far as a kernel that runs can reach it.
pub trait Host: Debug + Sync {
    /// A wave has sent the message that interrupts the host (`s_sendmsg` 1), and goes on when
    /// this returns: what it waits for may be done at once, on the thread that runs it. The text
    /// of an error says why the kernel cannot go on.
    fn interrupt(&self) -> Result<(), String>;
}

/// What one launch asks for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dispatch<'a> {
    /// Size of the grid in work-items.
    pub grid: [u32; 3],
    /// Size of a workgroup in work-items.
    pub block: [u32; 3],
    /// LDS bytes beyond those that the kernel descriptor fixes.
    pub dynamic_lds_bytes: u32,
    /// Scratch bytes of one work-item, if more than the kernel descriptor says.
    pub private_segment_bytes: u32,
    /// Address of the kernel argument block, in the address space of the launch.
    pub kernarg_address: u64,
    /// Address of the dispatch packet; 0 makes [`run`] provide one.
    pub packet_address: u64,
    /// Address of the queue object that the kernel sees.
    pub queue_address: u64,
    /// The completion signal that the provided packet names.
    pub completion_signal: u64,
    /// Number of this dispatch in its queue.
    pub dispatch_id: u64,
    /// Workgroups may wait for each other: all of them make progress.
    pub cooperative: bool,
    /// Who is told of the messages that the kernel sends; `None` where nobody has to be, because
    /// what kernels write is looked at anyway.
    pub host: Option<&'a dyn Host>,
}

/// What one launch did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Workgroups that ran.
    pub workgroups: u64,
    /// Waves that ran.
    pub waves: u64,
    /// Instructions that those waves executed.
    pub instructions: u64,
}

/// Waves that a workgroup may have: 1024 work-items.
const MAX_WORKGROUP: u32 = 1024;
/// LDS that a workgroup may have.
const MAX_LDS: u32 = 64 * 1024;

/// Runs a kernel over a grid and returns when its last workgroup has ended.
///
/// Equal launches on equal memory give equal memory, whatever the number of threads: a kernel
/// that may do atomics on memory runs its workgroups in order on one thread, and so does a
/// cooperative launch, whose workgroups take turns in a fixed rotation. Workgroups of other
/// kernels are spread over `HIP_EMU_THREADS` threads (default: one for each processor).
pub fn run(space: &AddressSpace, kernel: &Kernel, dispatch: &Dispatch<'_>) -> Result<Stats, Fault> {
    let refuse = |what: String| Fault::at(FaultKind::Launch(what), kernel.site());
    let launch = Launch::new(space, kernel, dispatch).map_err(refuse)?;
    launch.run()
}

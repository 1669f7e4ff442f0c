//! Kernel launches: from what a program passes to what a kernel starts with.

use std::ffi::c_void;
use std::sync::Arc;

use gfx_emu::dispatch::{self, Dispatch, Fault, FaultKind, Host};
use gfx_emu::loader::LoadedKernel;
use gfx_emu::loader::code::{Argument, ValueKind};
use hrr_ffi::types::*;

use crate::abi::by_version;
use crate::api::{Answer, In};
use crate::modules::Loaded;
use crate::ops::Worker;
use crate::streams::lock;

/// LDS of a workgroup (all emulated targets).
pub(crate) const LDS_BYTES: u64 = 64 << 10;
/// Work-items of a workgroup (all emulated targets).
pub(crate) const WORKGROUP_MAX: u32 = 1024;
/// Arguments are read in units of up to 64 bytes, which may reach over the end of the block.
const ARGUMENT_SLACK: u64 = 64;
const ARGUMENT_ALIGN: u64 = 64;
/// Addresses from here on belong to nobody; they stand for what is not emulated.
const MISSING: u64 = 0xffee_0000_0000_0000;
const MISSING_STEP: u64 = 1 << 32;
/// Stands for the queue, which kernels can have in registers.
const MISSING_QUEUE: u64 = MISSING + (1 << 48);
const MISSING_END: u64 = MISSING_QUEUE + MISSING_STEP;

// `hip_runtime_api.h`: the tags of the `extra` array.
const LAUNCH_PARAM_BUFFER_POINTER: usize = 1;
const LAUNCH_PARAM_BUFFER_SIZE: usize = 2;
const LAUNCH_PARAM_END: usize = 3;

/// What `<<<>>>` and `hipConfigureCall` say.
#[derive(Clone)]
pub(crate) struct CallConfiguration {
    pub(crate) grid: dim3,
    pub(crate) block: dim3,
    pub(crate) shared_bytes: usize,
    pub(crate) stream: hipStream_t,
    /// What `hipSetupArgument` added.
    pub(crate) arguments: Vec<u8>,
}

/// The size of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Workgroups, or work-items if `grid_in_items`.
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared_bytes: u64,
    pub(crate) grid_in_items: bool,
    pub(crate) cooperative: bool,
}

/// A launch that is ready to run.
pub(crate) struct Launch {
    pub(crate) kernel: Arc<LoadedKernel>,
    /// Keeps the code in memory.
    _code: Arc<Loaded>,
    pub(crate) shape: Shape,
    /// What the program launched: a function handle or a stub.
    pub(crate) named: usize,
    /// The argument block, hidden arguments included.
    arguments: Vec<u8>,
    /// Hidden arguments that depend on where the launch runs.
    services: Vec<(Service, Argument)>,
    /// Addresses of the explicit arguments, for programs that ask a graph node for them.
    pointers: Vec<usize>,
}

/// What the runtime does for a kernel that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Service {
    Hostcall,
    Heap,
}

/// The value of a hidden argument.
enum Hidden {
    Value(u64),
    Service(Service),
    /// What the argument names is not emulated.
    Missing,
}

/// Where the arguments are.
#[derive(Clone, Copy)]
pub(crate) struct Arguments {
    /// One pointer for each argument.
    pub(crate) pointers: In<*mut c_void>,
    /// Or a list of tags and values that names one block.
    pub(crate) extra: In<*mut c_void>,
}

/// `dim3` as an array.
pub(crate) fn axes(dim: dim3) -> [u32; 3] {
    [dim.x, dim.y, dim.z]
}

impl Launch {
    /// Checks the launch and copies its arguments.
    pub(crate) fn new(
        code: Arc<Loaded>,
        kernel: Arc<LoadedKernel>,
        named: usize,
        shape: Shape,
        arguments: Arguments,
    ) -> Answer<Self> {
        shape.check(&kernel)?;
        let explicit = arguments.block(&kernel)?;
        Self::with_block(code, kernel, named, shape, &explicit)
    }

    /// A launch whose explicit arguments are laid out already.
    pub(crate) fn with_block(
        code: Arc<Loaded>,
        kernel: Arc<LoadedKernel>,
        named: usize,
        shape: Shape,
        explicit: &[u8],
    ) -> Answer<Self> {
        let mut block = vec![0; kernel.metadata.kernarg_bytes as usize];
        let length = explicit.len().min(block.len());
        block[..length].copy_from_slice(&explicit[..length]);
        let mut services = Vec::new();
        for (index, argument) in kernel.metadata.args.iter().enumerate() {
            if !argument.is_hidden() {
                continue;
            }
            match shape.hidden_value(&argument.kind) {
                Hidden::Value(value) => put(&mut block, argument, &value.to_le_bytes()),
                Hidden::Service(service) => services.push((service, argument.clone())),
                // Kernels name more than they use: only one that does comes to the address.
                Hidden::Missing if argument.bytes == 8 => {
                    put(&mut block, argument, &missing_address(index).to_le_bytes());
                }
                Hidden::Missing => {
                    let (name, kind) = (&kernel.metadata.name, &argument.kind);
                    eprintln!("hip-emu: kernel {name}: argument {kind:?} is not emulated");
                    return Err(hipErrorNotSupported);
                }
            }
        }
        let start = block.as_ptr().expose_provenance();
        let explicit = kernel.metadata.args.iter().filter(|argument| !argument.is_hidden());
        let pointers = explicit.map(|argument| start + argument.offset as usize).collect();
        Ok(Self { kernel, _code: code, shape, named, arguments: block, services, pointers })
    }

    /// One pointer for each explicit argument, good as long as the launch is.
    pub(crate) fn argument_pointers(&self) -> *mut *mut c_void {
        self.pointers.as_ptr().cast_mut().cast()
    }

    /// Runs the launch to its end.
    pub(crate) fn run(&self, worker: &Worker) -> Answer {
        let address = self.place_arguments(worker)?;
        let host = self.services.iter().any(|(service, _)| *service == Service::Hostcall);
        let host = if host { Some(worker.hostcall()? as &dyn Host) } else { None };
        let metadata = &self.kernel.metadata;
        let device = worker.runtime.device(worker.device)?;
        let stack = lock(&device.settings).stack_bytes as u32;
        let dispatch = Dispatch {
            grid: self.shape.work_items(),
            block: self.shape.block,
            dynamic_lds_bytes: self.shape.shared_bytes as u32,
            private_segment_bytes: if metadata.dynamic_stack { stack } else { 0 },
            kernarg_address: address,
            dispatch_id: worker.runtime.next_id(),
            cooperative: self.shape.cooperative,
            queue_address: MISSING_QUEUE,
            host,
            ..Dispatch::default()
        };
        match dispatch::run(&worker.runtime.space, &self.kernel.kernel, &dispatch) {
            Ok(_stats) => Ok(()),
            Err(fault) => {
                let target = self.kernel.kernel.program().target();
                let seed = worker.runtime.config.seed;
                let missing = self.missing(&fault);
                let missing = missing.map(|what| format!(", {what}, which is not emulated"));
                let missing = missing.unwrap_or_default();
                eprintln!("hip-emu: {target}: {fault}{missing} (HIP_EMU_SEED={seed})");
                Err(fault_error(&fault))
            }
        }
    }

    /// The part of the runtime that is not emulated and that the kernel wanted to use.
    fn missing(&self, fault: &Fault) -> Option<String> {
        let FaultKind::IllegalAddress { address, .. } = fault.kind else { return None };
        if !is_missing(address) {
            return None;
        }
        if address >= MISSING_QUEUE {
            return Some("the queue".to_owned());
        }
        let index = (address - MISSING) / MISSING_STEP;
        let argument = self.kernel.metadata.args.get(index as usize)?;
        Some(format!("{:?}", argument.kind))
    }

    /// Writes the argument block to the worker's memory for it.
    fn place_arguments(&self, worker: &Worker) -> Answer<u64> {
        let space = &worker.runtime.space;
        let needed = self.arguments.len() as u64 + ARGUMENT_SLACK;
        let mut held = lock(&worker.arguments);
        let base = match *held {
            Some((base, bytes)) if bytes >= needed => base,
            too_small => {
                if let Some((base, _)) = too_small {
                    space.free(base).map_err(|_| hipErrorOutOfMemory)?;
                    *held = None;
                }
                let bytes = needed.next_power_of_two().max(4096);
                let base = space.alloc(bytes, ARGUMENT_ALIGN).map_err(|_| hipErrorOutOfMemory)?;
                *held = Some((base, bytes));
                base
            }
        };
        let mut arguments = self.arguments.clone();
        for (service, argument) in &self.services {
            let address = match service {
                Service::Hostcall => worker.hostcall()?.address(),
                Service::Heap => worker.runtime.device(worker.device)?.heap(worker.runtime)?,
            };
            put(&mut arguments, argument, &address.to_le_bytes());
        }
        space.write(base, &arguments).map_err(|_| hipErrorIllegalAddress)?;
        Ok(base)
    }
}

impl Arguments {
    /// # Safety
    ///
    /// The arrays are null or have what the kernel's arguments need.
    pub(crate) unsafe fn new(pointers: *mut *mut c_void, extra: *mut *mut c_void) -> Self {
        // SAFETY: the caller's own obligation.
        let pointers = unsafe { In::new(pointers.cast_const()) };
        // SAFETY: as above.
        let extra = unsafe { In::new(extra.cast_const()) };
        Self { pointers, extra }
    }

    /// Arguments of which each has a pointer.
    pub(crate) fn pointers(pointers: In<*mut c_void>) -> Self {
        // SAFETY: null is never read.
        Self { pointers, extra: unsafe { In::new(std::ptr::null()) } }
    }

    /// The explicit part of the argument block.
    fn block(&self, kernel: &LoadedKernel) -> Answer<Vec<u8>> {
        if !self.extra.is_null() {
            if !self.pointers.is_null() {
                return Err(hipErrorInvalidValue);
            }
            return self.block_of_extra();
        }
        let explicit: Vec<&Argument> =
            kernel.metadata.args.iter().filter(|argument| !argument.is_hidden()).collect();
        let pointers = self.pointers.slice(explicit.len())?;
        let mut block = vec![0; kernel.metadata.kernarg_bytes as usize];
        for (argument, pointer) in explicit.iter().zip(pointers) {
            // SAFETY: HIP's contract: each pointer is good for the size of its argument.
            let bytes = unsafe { In::new(pointer.cast_const().cast::<u8>()) };
            put(&mut block, argument, &bytes.slice(argument.bytes as usize)?);
        }
        Ok(block)
    }

    fn block_of_extra(&self) -> Answer<Vec<u8>> {
        let (mut block, mut bytes) = (None, None);
        let mut at = self.extra;
        loop {
            let tag = at.get()?;
            if tag.addr() == LAUNCH_PARAM_END {
                break;
            }
            // SAFETY: HIP's contract: each tag but the last is followed by its value.
            let value = unsafe { In::new(at.pointer().wrapping_add(1)) }.get()?;
            match tag.addr() {
                LAUNCH_PARAM_BUFFER_POINTER => block = Some(value.cast_const().cast::<u8>()),
                LAUNCH_PARAM_BUFFER_SIZE => {
                    // SAFETY: HIP's contract: the value points at the size.
                    bytes = Some(unsafe { In::new(value.cast_const().cast::<usize>()) }.get()?);
                }
                _unknown => return Err(hipErrorInvalidValue),
            }
            // SAFETY: as above: the next tag follows.
            at = unsafe { In::new(at.pointer().wrapping_add(2)) };
        }
        let (Some(block), Some(bytes)) = (block, bytes) else { return Err(hipErrorInvalidValue) };
        // SAFETY: HIP's contract: the block has as many bytes as the size says.
        unsafe { In::new(block) }.slice(bytes)
    }
}

impl Shape {
    pub(crate) fn check(&self, kernel: &LoadedKernel) -> Answer {
        let items = self.block.iter().try_fold(1_u32, |product, &axis| product.checked_mul(axis));
        let items = items.ok_or(hipErrorInvalidConfiguration)?;
        if items == 0 || self.grid.contains(&0) {
            return Err(by_version(hipErrorInvalidValue, hipErrorInvalidConfiguration));
        }
        if items > WORKGROUP_MAX.min(kernel.metadata.workgroup_max) {
            return Err(hipErrorInvalidConfiguration);
        }
        if !self.grid_in_items {
            for (blocks, block) in self.grid.iter().zip(self.block) {
                blocks.checked_mul(block).ok_or(hipErrorInvalidConfiguration)?;
            }
        }
        let lds = u64::from(kernel.metadata.group_segment_bytes) + self.shared_bytes;
        if lds > LDS_BYTES {
            return Err(by_version(hipErrorOutOfMemory, hipErrorLaunchOutOfResources));
        }
        if self.cooperative {
            let per_unit = crate::functions::occupancy::blocks_per_unit(kernel, items, lds);
            let room = u64::from(per_unit) * crate::functions::properties::units();
            let blocks: u64 = self.blocks().iter().map(|&axis| u64::from(axis)).product();
            if blocks > room {
                return Err(hipErrorCooperativeLaunchTooLarge);
            }
        }
        Ok(())
    }

    /// Whole workgroups along each axis, and a last one that is not full.
    fn blocks(&self) -> [u32; 3] {
        let items = self.work_items();
        std::array::from_fn(|axis| items[axis].div_ceil(self.block[axis]))
    }

    fn work_items(&self) -> [u32; 3] {
        if self.grid_in_items {
            self.grid
        } else {
            std::array::from_fn(|axis| self.grid[axis].wrapping_mul(self.block[axis]))
        }
    }

    fn hidden_value(&self, kind: &ValueKind) -> Hidden {
        let items = self.work_items();
        let whole = |axis: usize| Hidden::Value(u64::from(items[axis] / self.block[axis]));
        let rest = |axis: usize| Hidden::Value(u64::from(items[axis] % self.block[axis]));
        let size = |axis: usize| Hidden::Value(u64::from(self.block[axis]));
        match kind {
            ValueKind::HiddenBlockCountX => whole(0),
            ValueKind::HiddenBlockCountY => whole(1),
            ValueKind::HiddenBlockCountZ => whole(2),
            ValueKind::HiddenGroupSizeX => size(0),
            ValueKind::HiddenGroupSizeY => size(1),
            ValueKind::HiddenGroupSizeZ => size(2),
            ValueKind::HiddenRemainderX => rest(0),
            ValueKind::HiddenRemainderY => rest(1),
            ValueKind::HiddenRemainderZ => rest(2),
            ValueKind::HiddenGridDims => Hidden::Value(3),
            ValueKind::HiddenDynamicLdsSize => Hidden::Value(self.shared_bytes),
            ValueKind::HiddenHostcallBuffer => Hidden::Service(Service::Hostcall),
            ValueKind::HiddenHeapV1 => Hidden::Service(Service::Heap),
            // Launches of HIP have no global offset; and only a launch on several devices at once,
            // which this runtime refuses by name, is synchronised over them.
            ValueKind::HiddenGlobalOffsetX
            | ValueKind::HiddenGlobalOffsetY
            | ValueKind::HiddenGlobalOffsetZ
            | ValueKind::HiddenMultigridSyncArg
            | ValueKind::HiddenNone => Hidden::Value(0),
            ValueKind::HiddenPrintfBuffer
            | ValueKind::HiddenDefaultQueue
            | ValueKind::HiddenCompletionAction
            | ValueKind::HiddenPrivateBase
            | ValueKind::HiddenSharedBase
            | ValueKind::HiddenQueuePtr
            | ValueKind::Other(_) => Hidden::Missing,
            ValueKind::ByValue
            | ValueKind::GlobalBuffer
            | ValueKind::DynamicSharedPointer
            | ValueKind::Sampler
            | ValueKind::Image
            | ValueKind::Pipe
            | ValueKind::Queue => unreachable!("not hidden"),
        }
    }
}

/// Stands for what an argument names and what is not emulated: a faulting address that tells the
/// argument.
fn missing_address(argument: usize) -> u64 {
    MISSING + argument as u64 * MISSING_STEP
}

fn is_missing(address: u64) -> bool {
    (MISSING..MISSING_END).contains(&address)
}

/// Writes an argument where its metadata says, as far as the block goes.
fn put(block: &mut [u8], argument: &Argument, bytes: &[u8]) {
    let start = (argument.offset as usize).min(block.len());
    let length = (argument.bytes as usize).min(bytes.len()).min(block.len() - start);
    block[start..start + length].copy_from_slice(&bytes[..length]);
}

fn fault_error(fault: &Fault) -> hipError_t {
    match fault.kind {
        FaultKind::IllegalAddress { address, .. } if is_missing(address) => hipErrorLaunchFailure,
        FaultKind::IllegalAddress { .. } => hipErrorIllegalAddress,
        FaultKind::Launch(_) => hipErrorLaunchOutOfResources,
        FaultKind::Unaligned { .. }
        | FaultKind::LdsOutOfRange { .. }
        | FaultKind::IllegalPc { .. }
        | FaultKind::UnknownInstruction { .. }
        | FaultKind::Unsupported { .. }
        | FaultKind::Host(_)
        // A failed device assertion too: since ROCm 7, AMD's runtime no longer ends the process
        // for one (`HIP_SKIP_ABORT_ON_GPU_ERROR`, on if not set), and since the trap does not say
        // what it was for, answers this and not `hipErrorAssert` (hip-tests
        // `unit/assertion/assert.cc`).
        | FaultKind::Trap { .. } => hipErrorLaunchFailure,
    }
}

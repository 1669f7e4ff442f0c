//! Attributes of managed memory: ordinary memory that HIP mapped and asks devices to reach.

use std::ffi::c_void;
use std::ptr;

use crate::abi::{AgentHandle, Answer, SignalHandle, Status, SvmPair};
use crate::agent::Agent;
use crate::copy::{Direction, Work};
use crate::memory::{Book, Memory, status_of};
use crate::runtime::{Runtime, runtime};

/// `hsa_amd_svm_attribute_t`.
mod attribute {
    pub(super) const GLOBAL_FLAG: u64 = 0;
    pub(super) const READ_ONLY: u64 = 1;
    pub(super) const HIVE_LOCAL: u64 = 2;
    pub(super) const MIGRATION_GRANULARITY: u64 = 3;
    pub(super) const PREFERRED_LOCATION: u64 = 4;
    pub(super) const PREFETCH_LOCATION: u64 = 5;
    pub(super) const READ_MOSTLY: u64 = 6;
    pub(super) const AGENT_ACCESSIBLE: u64 = 0x200;
    pub(super) const AGENT_ACCESSIBLE_IN_PLACE: u64 = 0x201;
    pub(super) const AGENT_NO_ACCESS: u64 = 0x202;
    pub(super) const ACCESS_QUERY: u64 = 0x203;
}

/// Attributes that are one value of a whole range.
const PLAIN: usize = 7;

/// Managed memory with its attributes.
#[derive(Clone, Debug)]
pub(crate) struct SvmRange {
    pub(crate) bytes: u64,
    /// Whether devices reach it.
    pub(crate) accessible: bool,
    /// Values of the attributes 0 to 6.
    values: [u64; PLAIN],
    /// What was last said about each agent's access.
    access: Vec<(AgentHandle, u64)>,
}

impl SvmRange {
    fn new(bytes: u64) -> Self {
        // HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED among them: what memory is before it is told
        // otherwise (hip_runtime_api.h, hipMemAdviseSetCoarseGrain).
        Self { bytes, accessible: false, values: [0; PLAIN], access: Vec::new() }
    }

    fn set(&mut self, runtime: &Runtime, pair: SvmPair) -> Answer {
        match pair.attribute {
            attribute::GLOBAL_FLAG
            | attribute::READ_ONLY
            | attribute::HIVE_LOCAL
            | attribute::MIGRATION_GRANULARITY
            | attribute::PREFERRED_LOCATION
            | attribute::READ_MOSTLY => self.values[pair.attribute as usize] = pair.value,
            attribute::AGENT_ACCESSIBLE
            | attribute::AGENT_ACCESSIBLE_IN_PLACE
            | attribute::AGENT_NO_ACCESS => {
                let agent = AgentHandle(pair.value);
                runtime.names.agent(agent)?;
                self.access.retain(|(known, _)| *known != agent);
                self.access.push((agent, pair.attribute));
            }
            attribute::PREFETCH_LOCATION | attribute::ACCESS_QUERY => {
                return Err(Status::ERROR_INVALID_ARGUMENT);
            }
            _unknown => return Err(Status::ERROR_INVALID_ARGUMENT),
        }
        Ok(())
    }

    fn get(&self, runtime: &Runtime, pair: &mut SvmPair) -> Answer {
        match pair.attribute {
            plain if plain < PLAIN as u64 => pair.value = self.values[plain as usize],
            attribute::ACCESS_QUERY => {
                let agent = AgentHandle(pair.value);
                let said = self.access.iter().find(|(known, _)| *known == agent);
                pair.attribute = match (runtime.names.agent(agent)?, said) {
                    (Agent::Cpu, None) => attribute::AGENT_ACCESSIBLE_IN_PLACE,
                    (Agent::Gpu(_), None) => attribute::AGENT_NO_ACCESS,
                    (Agent::Cpu | Agent::Gpu(_), Some((_, access))) => *access,
                };
            }
            _unknown => return Err(Status::ERROR_INVALID_ARGUMENT),
        }
        Ok(())
    }

    fn device_access(&self, runtime: &Runtime) -> bool {
        self.access.iter().any(|(agent, access)| {
            matches!(runtime.names.agent(*agent), Ok(Agent::Gpu(_)))
                && *access != attribute::AGENT_NO_ACCESS
        })
    }
}

impl Book {
    /// The managed memory that all of the range lies in, and its first address.
    fn svm_range(&mut self, base: u64, bytes: u64) -> Option<(u64, &mut SvmRange)> {
        let (start, range) = self.svm.range_mut(..=base).next_back()?;
        let end = base.checked_add(bytes)?;
        (end <= start + range.bytes).then_some((*start, range))
    }
}

impl Memory {
    /// # Safety
    ///
    /// `bytes` at `base` are memory that stays readable and writable until its owner unmaps it
    /// after the last kernel that uses it.
    unsafe fn set_svm(
        &self,
        runtime: &Runtime,
        base: u64,
        bytes: u64,
        pairs: &[SvmPair],
    ) -> Answer {
        let mut book = self.book();
        if book.pool_allocation(base).is_some() {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        if book.svm_range(base, bytes).is_none() {
            self.evict_svm(&mut book, base, base.saturating_add(bytes));
            book.svm.insert(base, SvmRange::new(bytes));
        }
        let Some((start, range)) = book.svm_range(base, bytes) else {
            return Err(Status::ERROR);
        };
        for pair in pairs {
            range.set(runtime, *pair)?;
        }
        let wanted = range.device_access(runtime);
        if wanted == range.accessible {
            return Ok(());
        }
        let host = ptr::with_exposed_provenance_mut(start as usize);
        let changed = if wanted {
            // SAFETY: the caller's promise; the end is learnt in `evict_svm`.
            unsafe { self.space().register_host(host, range.bytes) }
        } else {
            self.space().unregister_host(host)
        };
        changed.map_err(|error| status_of(&error))?;
        range.accessible = wanted;
        Ok(())
    }
}

/// `hsa_amd_svm_attributes_set`.
///
/// # Safety
///
/// As for [`Memory::set_svm`]; `pairs` holds `count` pairs.
pub(crate) unsafe fn set(
    base: *mut c_void,
    bytes: usize,
    pairs: *const SvmPair,
    count: usize,
) -> Answer {
    let runtime = runtime()?;
    if base.is_null() || bytes == 0 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    // SAFETY: the caller's promise.
    let pairs = unsafe { crate::abi::list(pairs, count) }?;
    let base = base.expose_provenance() as u64;
    // SAFETY: the caller's promise is the same.
    unsafe { runtime.memory.set_svm(runtime, base, bytes as u64, pairs) }
}

/// `hsa_amd_svm_attributes_get`.
///
/// # Safety
///
/// `pairs` is null or holds `count` pairs that may be written.
pub(crate) unsafe fn get(
    base: *mut c_void,
    bytes: usize,
    pairs: *mut SvmPair,
    count: usize,
) -> Answer {
    let runtime = runtime()?;
    // HIP asks nothing here about memory of pools, whose coherency it knows already.
    if count == 0 {
        return Ok(());
    }
    if pairs.is_null() || base.is_null() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let mut book = runtime.memory.book();
    let (_, range) =
        book.svm_range(base.addr() as u64, bytes as u64).ok_or(Status::ERROR_INVALID_ARGUMENT)?;
    for index in 0..count {
        // SAFETY: one of the `count` pairs that the caller promises.
        let pair = unsafe { &mut *pairs.add(index) };
        range.get(runtime, pair)?;
    }
    Ok(())
}

/// `hsa_amd_svm_prefetch_async`. The memory is where it is; the wish is remembered.
///
/// # Safety
///
/// `dependencies` holds `count` handles.
pub(crate) unsafe fn prefetch(
    base: *mut c_void,
    bytes: usize,
    agent: AgentHandle,
    count: u32,
    dependencies: *const SignalHandle,
    completion: SignalHandle,
) -> Answer {
    let runtime = runtime()?;
    let gpu = match runtime.names.agent(agent)? {
        Agent::Gpu(gpu) => gpu,
        Agent::Cpu => 0,
    };
    {
        let mut book = runtime.memory.book();
        let (_, range) = book
            .svm_range(base.addr() as u64, bytes as u64)
            .ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        range.values[attribute::PREFETCH_LOCATION as usize] = agent.0;
    }
    // SAFETY: the caller's promise.
    let dependencies = unsafe { runtime.signals.list(dependencies, count) }?;
    let completion = runtime.signals.optional(completion)?;
    runtime.copies.submit(gpu, Direction::DeviceToDevice, dependencies, completion, Work::Nothing)
}

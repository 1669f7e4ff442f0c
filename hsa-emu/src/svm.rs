//! Attributes of managed memory: ordinary memory that HIP mapped and asks devices to reach.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;

use gfx_emu::memory::PAGE_BYTES;

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

/// Attributes that are one value.
const PLAIN: usize = 7;
/// `HSA_AMD_SVM_GLOBAL_FLAG_INDETERMINATE`.
const INDETERMINATE: u64 = 2;

/// Managed memory with its attributes.
#[derive(Clone, Debug)]
pub(crate) struct SvmRange {
    pub(crate) bytes: u64,
    /// Whether devices reach it.
    pub(crate) accessible: bool,
    /// What holds for the pages from each offset to the next: the first is 0.
    parts: BTreeMap<u64, Advice>,
}

/// What was said of some pages.
#[derive(Clone, Debug, Default)]
struct Advice {
    /// Values of the attributes 0 to 6. HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED, which is 0, among them:
    /// what memory is before it is told otherwise (hip_runtime_api.h, hipMemAdviseSetCoarseGrain).
    values: [u64; PLAIN],
    /// What was last said about each agent's access.
    access: Vec<(AgentHandle, u64)>,
}

impl Advice {
    fn set(&mut self, pair: SvmPair) {
        match self.values.get_mut(pair.attribute as usize) {
            Some(value) => *value = pair.value,
            None => {
                let agent = AgentHandle(pair.value);
                self.access.retain(|(known, _)| *known != agent);
                self.access.push((agent, pair.attribute));
            }
        }
    }

    fn access(&self, runtime: &Runtime, agent: AgentHandle) -> Answer<u64> {
        let said = self.access.iter().find(|(known, _)| *known == agent);
        Ok(match (runtime.names.agent(agent)?, said) {
            (Agent::Cpu, None) => attribute::AGENT_ACCESSIBLE_IN_PLACE,
            (Agent::Gpu(_), None) => attribute::AGENT_NO_ACCESS,
            (Agent::Cpu | Agent::Gpu(_), Some((_, access))) => *access,
        })
    }

    fn device_access(&self, runtime: &Runtime) -> bool {
        self.access.iter().any(|(agent, access)| {
            matches!(runtime.names.agent(*agent), Ok(Agent::Gpu(_)))
                && *access != attribute::AGENT_NO_ACCESS
        })
    }
}

/// Whether an attribute can be set, and to that value.
fn check(runtime: &Runtime, pair: SvmPair) -> Answer {
    match pair.attribute {
        attribute::GLOBAL_FLAG
        | attribute::READ_ONLY
        | attribute::HIVE_LOCAL
        | attribute::MIGRATION_GRANULARITY
        | attribute::PREFERRED_LOCATION
        | attribute::READ_MOSTLY => Ok(()),
        attribute::AGENT_ACCESSIBLE
        | attribute::AGENT_ACCESSIBLE_IN_PLACE
        | attribute::AGENT_NO_ACCESS => {
            runtime.names.agent(AgentHandle(pair.value)).map(|_agent| ())
        }
        attribute::PREFETCH_LOCATION | attribute::ACCESS_QUERY => {
            Err(Status::ERROR_INVALID_ARGUMENT)
        }
        _unknown => Err(Status::ERROR_INVALID_ARGUMENT),
    }
}

impl SvmRange {
    fn new(bytes: u64) -> Self {
        Self { bytes, accessible: false, parts: BTreeMap::from([(0, Advice::default())]) }
    }

    /// The parts that the pages of `bytes` from `offset` consist of.
    fn parts(&self, offset: u64, bytes: u64) -> impl Iterator<Item = &Advice> {
        let end = offset + bytes;
        let first = self.parts.range(..=offset).next_back().map_or(0, |(start, _)| *start);
        self.parts.range(first..end).map(|(_, advice)| advice)
    }

    /// Cuts out the pages of `bytes` from `offset`, and changes what was said of them.
    fn change(&mut self, offset: u64, bytes: u64, change: impl Fn(&mut Advice)) {
        let start = offset / PAGE_BYTES * PAGE_BYTES;
        let end = (offset + bytes).next_multiple_of(PAGE_BYTES);
        for cut in [start, end] {
            if cut < self.bytes
                && let Some((_, advice)) = self.parts.range(..=cut).next_back()
            {
                let advice = advice.clone();
                self.parts.insert(cut, advice);
            }
        }
        self.parts.range_mut(start..end).for_each(|(_, advice)| change(advice));
    }

    /// What holds for all of `bytes` from `offset`: of pages that differ what the kernel's driver
    /// answers (`svm_range_get_attr`).
    fn get(&self, runtime: &Runtime, offset: u64, bytes: u64, pair: &mut SvmPair) -> Answer {
        let parts = || self.parts(offset, bytes);
        let values = |plain: u64| parts().map(move |advice| advice.values[plain as usize]);
        let same = |plain: u64| {
            let first = values(plain).next()?;
            values(plain).all(|value| value == first).then_some(first)
        };
        match pair.attribute {
            attribute::GLOBAL_FLAG => pair.value = same(pair.attribute).unwrap_or(INDETERMINATE),
            attribute::READ_ONLY | attribute::HIVE_LOCAL | attribute::READ_MOSTLY => {
                pair.value = same(pair.attribute).unwrap_or(0);
            }
            attribute::MIGRATION_GRANULARITY => {
                pair.value = values(pair.attribute).min().unwrap_or(0);
            }
            // No agent has this handle.
            attribute::PREFERRED_LOCATION | attribute::PREFETCH_LOCATION => {
                pair.value = same(pair.attribute).unwrap_or(0);
            }
            attribute::ACCESS_QUERY => {
                let agent = AgentHandle(pair.value);
                let all: Answer<Vec<u64>> =
                    parts().map(|advice| advice.access(runtime, agent)).collect();
                let all = all?;
                pair.attribute = match all.first() {
                    Some(first) if all.iter().all(|access| access == first) => *first,
                    _ => attribute::AGENT_NO_ACCESS,
                };
            }
            _unknown => return Err(Status::ERROR_INVALID_ARGUMENT),
        }
        Ok(())
    }

    fn device_access(&self, runtime: &Runtime) -> bool {
        self.parts.values().any(|advice| advice.device_access(runtime))
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
            check(runtime, *pair)?;
            range.change(base - start, bytes, |advice| advice.set(*pair));
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
    let (base, bytes) = (base.addr() as u64, bytes as u64);
    let (start, range) = book.svm_range(base, bytes).ok_or(Status::ERROR_INVALID_ARGUMENT)?;
    for index in 0..count {
        // SAFETY: one of the `count` pairs that the caller promises.
        let pair = unsafe { &mut *pairs.add(index) };
        range.get(runtime, base - start, bytes, pair)?;
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
        let (base, bytes) = (base.addr() as u64, bytes as u64);
        let (start, range) = book.svm_range(base, bytes).ok_or(Status::ERROR_INVALID_ARGUMENT)?;
        range.change(base - start, bytes, |advice| {
            advice.values[attribute::PREFETCH_LOCATION as usize] = agent.0;
        });
    }
    // SAFETY: the caller's promise.
    let dependencies = unsafe { runtime.signals.list(dependencies, count) }?;
    let completion = runtime.signals.optional(completion)?;
    runtime.copies.submit(gpu, Direction::DeviceToDevice, dependencies, completion, Work::Nothing)
}

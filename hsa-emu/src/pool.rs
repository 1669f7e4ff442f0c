//! Memory pools: what they say about themselves, and allocation from them.

use std::ffi::c_void;
use std::ptr;

use crate::abi::{
    AgentHandle, AllocCallback, Answer, LinkInfo, PointerInfo, PoolCallback, PoolHandle, Status,
    list, put,
};
use crate::agent::{Agent, Pool, go_on, unknown};
use crate::memory::{Found, VRAM_BYTES};
use crate::runtime::{Runtime, runtime};

const LDS_BYTES: usize = 64 << 10;
const GRANULE_BYTES: usize = 4096;

/// `hsa_amd_segment_t`.
const SEGMENT_GLOBAL: u32 = 0;
const SEGMENT_GROUP: u32 = 3;
/// `hsa_amd_memory_pool_global_flag_t`.
const FLAG_KERNARG: u32 = 1;
const FLAG_FINE: u32 = 2;
const FLAG_COARSE: u32 = 4;

/// `hsa_amd_memory_pool_access_t`.
const ACCESS_NEVER: u32 = 0;
const ACCESS_BY_DEFAULT: u32 = 1;
const ACCESS_ON_REQUEST: u32 = 2;

/// `hsa_amd_agent_iterate_memory_pools`.
///
/// # Safety
///
/// `callback` may be called with `data` on this thread.
pub(crate) unsafe fn iterate(
    agent: AgentHandle,
    callback: Option<PoolCallback>,
    data: *mut c_void,
) -> Answer {
    let runtime = runtime()?;
    let callback = callback.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
    for pool in runtime.names.pools_of(runtime.names.agent(agent)?) {
        // SAFETY: the caller's promise.
        go_on(unsafe { callback(pool, data) })?;
    }
    Ok(())
}

/// `hsa_amd_memory_pool_get_info`.
///
/// # Safety
///
/// `value` is null or has room for the attribute.
pub(crate) unsafe fn info(pool: PoolHandle, attribute: u32, value: *mut c_void) -> Answer {
    const SEGMENT: u32 = 0;
    const GLOBAL_FLAGS: u32 = 1;
    const SIZE: u32 = 2;
    const RUNTIME_ALLOC_ALLOWED: u32 = 5;
    const RUNTIME_ALLOC_GRANULE: u32 = 6;
    const RUNTIME_ALLOC_ALIGNMENT: u32 = 7;
    const ACCESSIBLE_BY_ALL: u32 = 15;
    const ALLOC_MAX_SIZE: u32 = 16;
    let pool = runtime()?.names.pool(pool)?;
    let lds = matches!(pool, Pool::Lds(_));
    let segment = if lds { SEGMENT_GROUP } else { SEGMENT_GLOBAL };
    let bytes = if lds { LDS_BYTES } else { VRAM_BYTES as usize };
    match attribute {
        // SAFETY: the caller's promise.
        SEGMENT => unsafe { put(value.cast(), segment) },
        // SAFETY: the caller's promise.
        GLOBAL_FLAGS => unsafe { put(value.cast(), global_flags(pool)) },
        // SAFETY: the caller's promise.
        SIZE | ALLOC_MAX_SIZE => unsafe { put(value.cast(), bytes) },
        // SAFETY: the caller's promise.
        RUNTIME_ALLOC_ALLOWED => unsafe { put(value.cast(), !lds) },
        RUNTIME_ALLOC_GRANULE | RUNTIME_ALLOC_ALIGNMENT => {
            // SAFETY: the caller's promise.
            unsafe { put(value.cast(), if lds { 0 } else { GRANULE_BYTES }) }
        }
        // SAFETY: the caller's promise.
        ACCESSIBLE_BY_ALL => unsafe { put(value.cast(), pool.owner() == Agent::Cpu) },
        other => Err(unknown("hsa_amd_memory_pool_get_info", other)),
    }
}

fn global_flags(pool: Pool) -> u32 {
    match pool {
        Pool::SystemFine | Pool::VramFine(_) => FLAG_FINE,
        Pool::SystemKernarg => FLAG_FINE | FLAG_KERNARG,
        Pool::SystemCoarse | Pool::Vram(_) => FLAG_COARSE,
        Pool::Lds(_) => 0,
    }
}

/// `hsa_amd_agent_memory_pool_get_info`.
///
/// # Safety
///
/// `value` is null or has room for the attribute.
pub(crate) unsafe fn agent_info(
    agent: AgentHandle,
    pool: PoolHandle,
    attribute: u32,
    value: *mut c_void,
) -> Answer {
    const ACCESS: u32 = 0;
    const NUM_LINK_HOPS: u32 = 1;
    const LINK_INFO: u32 = 2;
    let names = &runtime()?.names;
    let (agent, pool) = (names.agent(agent)?, names.pool(pool)?);
    let hops = u32::from(pool.owner() != agent);
    let access = match (agent, pool) {
        (_, _) if hops == 0 => ACCESS_BY_DEFAULT,
        // Device memory cannot be touched by the host: there is no large BAR.
        (Agent::Cpu, Pool::Vram(_) | Pool::VramFine(_)) | (_, Pool::Lds(_)) => ACCESS_NEVER,
        (Agent::Cpu | Agent::Gpu(_), _) => ACCESS_ON_REQUEST,
    };
    match attribute {
        // SAFETY: the caller's promise.
        ACCESS => unsafe { put(value.cast(), access) },
        // SAFETY: the caller's promise.
        NUM_LINK_HOPS => unsafe { put(value.cast(), hops) },
        LINK_INFO if hops == 0 => Ok(()),
        // SAFETY: the caller's promise; one hop, so one description.
        LINK_INFO => unsafe { put(value.cast(), link(agent, pool)) },
        other => Err(unknown("hsa_amd_agent_memory_pool_get_info", other)),
    }
}

fn link(agent: Agent, pool: Pool) -> LinkInfo {
    const PCIE: u32 = 2;
    const XGMI: u32 = 4;
    let between_gpus = agent != Agent::Cpu && pool.owner() != Agent::Cpu;
    LinkInfo {
        min_latency: 0,
        max_latency: 0,
        min_bandwidth: 0,
        max_bandwidth: 0,
        atomic_support_32bit: true,
        atomic_support_64bit: true,
        coherent_support: true,
        link_type: if between_gpus { XGMI } else { PCIE },
        numa_distance: if between_gpus { 15 } else { 20 },
    }
}

/// `hsa_amd_memory_pool_allocate`.
///
/// # Safety
///
/// `out` is null or has room for a pointer.
pub(crate) unsafe fn allocate(
    pool: PoolHandle,
    bytes: usize,
    flags: u32,
    out: *mut *mut c_void,
) -> Answer {
    let runtime = runtime()?;
    let pool = runtime.names.pool(pool)?;
    if bytes == 0 || out.is_null() || flags != 0 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let address = runtime.memory.allocate(pool, bytes as u64)?;
    // SAFETY: the caller's promise.
    unsafe { put(out, ptr::without_provenance_mut(address as usize)) }
}

/// `hsa_amd_memory_pool_free`.
pub(crate) fn free(address: *mut c_void) -> Answer {
    if address.is_null() {
        return Ok(());
    }
    runtime()?.memory.free(address.addr() as u64)
}

/// `hsa_amd_agents_allow_access`.
///
/// # Safety
///
/// `agents` holds `count` handles.
pub(crate) unsafe fn allow_access(
    count: u32,
    agents: *const AgentHandle,
    flags: *const u32,
    address: *const c_void,
) -> Answer {
    let runtime = runtime()?;
    if !flags.is_null() || count == 0 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    // SAFETY: the caller's promise.
    for agent in unsafe { list(agents, count as usize) }? {
        runtime.names.agent(*agent)?;
    }
    // All devices see one address space, so there is nothing to map.
    let found = runtime.memory.find(address.addr() as u64);
    found.map(drop).ok_or(Status::ERROR_INVALID_ARGUMENT)
}

/// `hsa_amd_pointer_info`.
///
/// # Safety
///
/// `info` is null or points at a structure whose first word is its size; `allocate` gives
/// memory; `count` and `accessible` are null or have room for their values.
pub(crate) unsafe fn pointer_info(
    address: *const c_void,
    info: *mut PointerInfo,
    allocate: Option<AllocCallback>,
    count: *mut u32,
    accessible: *mut *mut AgentHandle,
) -> Answer {
    let runtime = runtime()?;
    if address.is_null() || info.is_null() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let found = runtime.memory.find(address.addr() as u64);
    let mut answer = describe(runtime, found.as_ref())?;
    // SAFETY: the caller's promise; the size is the first word.
    let room = unsafe { info.cast::<u32>().read_unaligned() };
    answer.size = room.min(size_of::<PointerInfo>() as u32);
    // SAFETY: both sides have at least `answer.size` bytes.
    unsafe {
        ptr::copy_nonoverlapping(
            (&raw const answer).cast::<u8>(),
            info.cast(),
            answer.size as usize,
        );
    }
    let agents: Vec<AgentHandle> = match found {
        Some(_) => runtime.names.agents().collect(),
        None => Vec::new(),
    };
    if !count.is_null() {
        // SAFETY: the caller's promise.
        unsafe { put(count, agents.len() as u32) }?;
    }
    if accessible.is_null() || agents.is_empty() {
        return Ok(());
    }
    let allocate = allocate.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
    // SAFETY: the caller's promise.
    let room = unsafe { allocate(size_of_val(agents.as_slice())) }.cast::<AgentHandle>();
    if room.is_null() {
        return Err(Status::ERROR_OUT_OF_RESOURCES);
    }
    // SAFETY: the caller's function gave that much memory.
    unsafe { ptr::copy_nonoverlapping(agents.as_ptr(), room, agents.len()) };
    // SAFETY: the caller's promise.
    unsafe { put(accessible, room) }
}

fn describe(runtime: &Runtime, found: Option<&Found>) -> Answer<PointerInfo> {
    const UNKNOWN: u32 = 0;
    let Some(found) = found else {
        return Ok(PointerInfo {
            size: 0,
            kind: UNKNOWN,
            agent_base_address: ptr::null_mut(),
            host_base_address: ptr::null_mut(),
            size_in_bytes: 0,
            user_data: ptr::null_mut(),
            agent_owner: AgentHandle(0),
            global_flags: 0,
        });
    };
    Ok(PointerInfo {
        size: 0,
        kind: found.kind as u32,
        agent_base_address: ptr::without_provenance_mut(found.agent_base as usize),
        host_base_address: ptr::without_provenance_mut(found.host_base as usize),
        size_in_bytes: found.bytes as usize,
        user_data: ptr::null_mut(),
        agent_owner: runtime.names.agent_handle(found.owner)?,
        global_flags: if found.coarse { FLAG_COARSE } else { FLAG_FINE },
    })
}

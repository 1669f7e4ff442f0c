//! Agents: the host's processor and the emulated GPUs, and what they say about themselves.
//!
//! Attributes that AMD's HIP runtime asks for are answered as a real card answers them; any
//! other is an invalid argument and is named in the log.

use std::ffi::{CStr, c_void};
use std::sync::atomic::AtomicU32;

use gfx_emu::isa::Target;

use crate::abi::{
    AgentCallback, AgentHandle, Answer, HdpFlush, IsaCallback, IsaHandle, PoolHandle,
    QUEUE_FEATURE_KERNEL_DISPATCH, Status, put,
};
use crate::log;
use crate::runtime::{handle_value, runtime};
use crate::settings::Settings;

/// A processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agent {
    Cpu,
    Gpu(usize),
}

/// A memory pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pool {
    SystemFine,
    SystemKernarg,
    SystemCoarse,
    Vram(usize),
    /// Device memory of which others see writes at once.
    VramFine(usize),
    Lds(usize),
}

impl Pool {
    /// The agent that the memory belongs to.
    pub(crate) fn owner(self) -> Agent {
        match self {
            Self::SystemFine | Self::SystemKernarg | Self::SystemCoarse => Agent::Cpu,
            Self::Vram(gpu) | Self::VramFine(gpu) | Self::Lds(gpu) => Agent::Gpu(gpu),
        }
    }

    /// The device whose memory it is.
    pub(crate) fn device(self) -> Option<usize> {
        match self {
            Self::Vram(gpu) | Self::VramFine(gpu) => Some(gpu),
            Self::SystemFine | Self::SystemKernarg | Self::SystemCoarse | Self::Lds(_) => None,
        }
    }

    /// Whether agents see each other's writes only at kernel boundaries.
    pub(crate) fn is_coarse(self) -> bool {
        match self {
            Self::SystemFine | Self::SystemKernarg | Self::VramFine(_) => false,
            Self::SystemCoarse | Self::Vram(_) | Self::Lds(_) => true,
        }
    }
}

/// Handles of everything that exists from the start.
pub(crate) struct Names {
    agents: Vec<(AgentHandle, Agent)>,
    pools: Vec<(PoolHandle, Pool)>,
    isa: IsaHandle,
}

impl Names {
    pub(crate) fn new(settings: &Settings) -> Self {
        let mut index = 0;
        let mut next = || {
            index += 1;
            handle_value(settings.seed, index)
        };
        let gpus = 0..settings.gpus;
        let agents = std::iter::once(Agent::Cpu).chain(gpus.clone().map(Agent::Gpu));
        // ROCclr keeps the last fine pool without the kernarg flag that it sees.
        let system = [Pool::SystemFine, Pool::SystemKernarg, Pool::SystemCoarse];
        // An MI50 offers fine-grained memory only where it is forced to.
        let fine = settings.target != Target::Gfx906;
        let device = gpus.flat_map(|gpu| {
            let fine = fine.then_some(Pool::VramFine(gpu));
            [Some(Pool::Vram(gpu)), fine, Some(Pool::Lds(gpu))].into_iter().flatten()
        });
        Self {
            agents: agents.map(|agent| (AgentHandle(next()), agent)).collect(),
            pools: system
                .into_iter()
                .chain(device)
                .map(|pool| (PoolHandle(next()), pool))
                .collect(),
            isa: IsaHandle(next()),
        }
    }

    pub(crate) fn agent(&self, handle: AgentHandle) -> Answer<Agent> {
        let found = self.agents.iter().find(|(known, _)| *known == handle);
        found.map(|(_, agent)| *agent).ok_or(Status::ERROR_INVALID_AGENT)
    }

    pub(crate) fn gpu(&self, handle: AgentHandle) -> Answer<usize> {
        match self.agent(handle)? {
            Agent::Gpu(gpu) => Ok(gpu),
            Agent::Cpu => Err(Status::ERROR_INVALID_AGENT),
        }
    }

    pub(crate) fn agent_handle(&self, agent: Agent) -> Answer<AgentHandle> {
        let found = self.agents.iter().find(|(_, known)| *known == agent);
        found.map(|(handle, _)| *handle).ok_or(Status::ERROR)
    }

    pub(crate) fn agents(&self) -> impl Iterator<Item = AgentHandle> {
        self.agents.iter().map(|(handle, _)| *handle)
    }

    pub(crate) fn pool(&self, handle: PoolHandle) -> Answer<Pool> {
        let found = self.pools.iter().find(|(known, _)| *known == handle);
        found.map(|(_, pool)| *pool).ok_or(Status::ERROR_INVALID_MEMORY_POOL)
    }

    pub(crate) fn pools_of(&self, agent: Agent) -> impl Iterator<Item = PoolHandle> {
        let owned = self.pools.iter().filter(move |(_, pool)| pool.owner() == agent);
        owned.map(|(handle, _)| *handle)
    }
}

/// What differs between the cards.
struct Card {
    name: &'static CStr,
    product: &'static CStr,
    isa: &'static CStr,
    chip_id: u32,
    compute_units: u32,
    clock_mhz: u32,
    memory_clock_mhz: u32,
    waves_per_unit: u32,
    l2_bytes: u32,
}

/// An Instinct MI210.
static GFX90A: Card = Card {
    name: c"gfx90a",
    product: c"Emulated gfx90a",
    isa: c"amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-",
    chip_id: 0x740f,
    compute_units: 104,
    clock_mhz: 1700,
    memory_clock_mhz: 1600,
    waves_per_unit: 32,
    l2_bytes: 8 << 20,
};

/// A Radeon Instinct MI50.
static GFX906: Card = Card {
    name: c"gfx906",
    product: c"Emulated gfx906",
    isa: c"amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-",
    chip_id: 0x66a1,
    compute_units: 60,
    clock_mhz: 1725,
    memory_clock_mhz: 1000,
    waves_per_unit: 40,
    l2_bytes: 4 << 20,
};

const MEMORY_WIDTH_BITS: u32 = 4096;

fn card(target: Target) -> &'static Card {
    match target {
        Target::Gfx906 => &GFX906,
        // Settings refuse gfx942, which AMD's HIP 5.2.3 does not know.
        Target::Gfx90a | Target::Gfx942 => &GFX90A,
    }
}

/// The target id of the devices, with their features, as `hip-code` reads it.
pub(crate) fn target_id(target: Target) -> &'static str {
    let name = card(target).isa.to_str().unwrap_or_default();
    name.trim_start_matches("amdgcn-amd-amdhsa--")
}

/// Compute units of a device.
pub(crate) fn compute_units(target: Target) -> u32 {
    card(target).compute_units
}

/// Registers that HIP writes to flush the host's view of device memory.
static HDP: [AtomicU32; 2] = [AtomicU32::new(0), AtomicU32::new(0)];

/// `hsa_agent_info_t`, with AMD's and the image extension's part.
mod attribute {
    pub(super) const NAME: u32 = 0;
    pub(super) const VENDOR_NAME: u32 = 1;
    pub(super) const FEATURE: u32 = 2;
    pub(super) const MACHINE_MODEL: u32 = 3;
    pub(super) const PROFILE: u32 = 4;
    pub(super) const DEFAULT_FLOAT_ROUNDING_MODE: u32 = 5;
    pub(super) const WAVEFRONT_SIZE: u32 = 6;
    pub(super) const WORKGROUP_MAX_DIM: u32 = 7;
    pub(super) const WORKGROUP_MAX_SIZE: u32 = 8;
    pub(super) const GRID_MAX_DIM: u32 = 9;
    pub(super) const GRID_MAX_SIZE: u32 = 10;
    pub(super) const FBARRIER_MAX_SIZE: u32 = 11;
    pub(super) const QUEUES_MAX: u32 = 12;
    pub(super) const QUEUE_MIN_SIZE: u32 = 13;
    pub(super) const QUEUE_MAX_SIZE: u32 = 14;
    pub(super) const QUEUE_TYPE: u32 = 15;
    pub(super) const NODE: u32 = 16;
    pub(super) const DEVICE: u32 = 17;
    pub(super) const CACHE_SIZE: u32 = 18;
    pub(super) const ISA: u32 = 19;
    pub(super) const EXTENSIONS: u32 = 20;
    pub(super) const VERSION_MAJOR: u32 = 21;
    pub(super) const VERSION_MINOR: u32 = 22;
    pub(super) const FAST_F16_OPERATION: u32 = 24;
    pub(super) const CHIP_ID: u32 = 0xa000;
    pub(super) const CACHELINE_SIZE: u32 = 0xa001;
    pub(super) const COMPUTE_UNIT_COUNT: u32 = 0xa002;
    pub(super) const MAX_CLOCK_FREQUENCY: u32 = 0xa003;
    pub(super) const DRIVER_NODE_ID: u32 = 0xa004;
    pub(super) const BDFID: u32 = 0xa006;
    pub(super) const MEMORY_WIDTH: u32 = 0xa007;
    pub(super) const MEMORY_MAX_FREQUENCY: u32 = 0xa008;
    pub(super) const PRODUCT_NAME: u32 = 0xa009;
    pub(super) const MAX_WAVES_PER_CU: u32 = 0xa00a;
    pub(super) const NUM_SIMDS_PER_CU: u32 = 0xa00b;
    pub(super) const NUM_SHADER_ENGINES: u32 = 0xa00c;
    pub(super) const NUM_SHADER_ARRAYS_PER_SE: u32 = 0xa00d;
    pub(super) const HDP_FLUSH: u32 = 0xa00e;
    pub(super) const DOMAIN: u32 = 0xa00f;
    pub(super) const COOPERATIVE_QUEUES: u32 = 0xa010;
    pub(super) const UUID: u32 = 0xa011;
    pub(super) const ASIC_REVISION: u32 = 0xa012;
    pub(super) const SVM_DIRECT_HOST_ACCESS: u32 = 0xa013;
    pub(super) const COOPERATIVE_COMPUTE_UNIT_COUNT: u32 = 0xa014;
    pub(super) const IMAGE_1D_MAX_ELEMENTS: u32 = 0x3000;
    pub(super) const IMAGE_1DA_MAX_ELEMENTS: u32 = 0x3001;
    pub(super) const IMAGE_1DB_MAX_ELEMENTS: u32 = 0x3002;
    pub(super) const IMAGE_2D_MAX_ELEMENTS: u32 = 0x3003;
    pub(super) const IMAGE_2DA_MAX_ELEMENTS: u32 = 0x3004;
    pub(super) const IMAGE_2DDEPTH_MAX_ELEMENTS: u32 = 0x3005;
    pub(super) const IMAGE_2DADEPTH_MAX_ELEMENTS: u32 = 0x3006;
    pub(super) const IMAGE_3D_MAX_ELEMENTS: u32 = 0x3007;
    pub(super) const IMAGE_ARRAY_MAX_LAYERS: u32 = 0x3008;
    pub(super) const MAX_IMAGE_RD_HANDLES: u32 = 0x3009;
    pub(super) const MAX_IMAGE_RORW_HANDLES: u32 = 0x300a;
    pub(super) const MAX_SAMPLER_HANDLERS: u32 = 0x300b;
    pub(super) const IMAGE_LINEAR_ROW_PITCH_ALIGNMENT: u32 = 0x300c;
}

const DEVICE_TYPE_CPU: u32 = 0;
const DEVICE_TYPE_GPU: u32 = 1;
const MACHINE_MODEL_LARGE: u32 = 1;
const PROFILE_BASE: u32 = 0;
const PROFILE_FULL: u32 = 1;
const ROUNDING_NEAR: u32 = 2;
const QUEUE_TYPE_MULTI: u32 = 0;

/// `HSA_EXTENSION_IMAGES`. HIP refuses pitched memory (`hipMallocPitch`, `hipMalloc3D`) on a
/// device without it, so it is reported as by a real card; creating an image is refused.
const EXTENSION_IMAGES: u16 = 1;
const IMAGE_EDGE: u32 = 16384;

/// `hsa_iterate_agents`.
///
/// # Safety
///
/// `callback` may be called with `data` on this thread.
pub(crate) unsafe fn iterate(callback: Option<AgentCallback>, data: *mut c_void) -> Answer {
    let runtime = runtime()?;
    let callback = callback.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
    for agent in runtime.names.agents() {
        // SAFETY: the caller's promise.
        go_on(unsafe { callback(agent, data) })?;
    }
    Ok(())
}

/// What a callback's status means for the iteration: anything but success ends it and is the
/// answer of the whole.
pub(crate) fn go_on(status: Status) -> Answer {
    if status == Status::SUCCESS { Ok(()) } else { Err(status) }
}

/// `hsa_agent_iterate_isas`. HIP refuses a device with more than one.
///
/// # Safety
///
/// `callback` may be called with `data` on this thread.
pub(crate) unsafe fn iterate_isas(
    agent: AgentHandle,
    callback: Option<IsaCallback>,
    data: *mut c_void,
) -> Answer {
    let runtime = runtime()?;
    let callback = callback.ok_or(Status::ERROR_INVALID_ARGUMENT)?;
    match runtime.names.agent(agent)? {
        Agent::Cpu => Ok(()),
        // SAFETY: the caller's promise.
        Agent::Gpu(_) => go_on(unsafe { callback(runtime.names.isa, data) }),
    }
}

/// `hsa_isa_get_info_alt`.
///
/// # Safety
///
/// `value` is null or has room for the attribute.
pub(crate) unsafe fn isa_info(isa: IsaHandle, attribute: u32, value: *mut c_void) -> Answer {
    const NAME_LENGTH: u32 = 0;
    const NAME: u32 = 1;
    let runtime = runtime()?;
    if isa != runtime.names.isa {
        return Err(Status::ERROR_INVALID_ISA);
    }
    let name = card(runtime.settings.target).isa.to_bytes_with_nul();
    match attribute {
        // SAFETY: the caller's promise.
        NAME_LENGTH => unsafe { put(value.cast(), name.len() as u32) },
        // SAFETY: the caller's promise.
        NAME => unsafe { put_bytes(value, name) },
        other => Err(unknown("hsa_isa_get_info_alt", other)),
    }
}

/// Says which attribute is not known.
pub(crate) fn unknown(function: &str, attribute: u32) -> Status {
    log::warn(format_args!("{function}: attribute {attribute:#x} is not known here"));
    Status::ERROR_INVALID_ARGUMENT
}

/// # Safety
///
/// `value` is null or has room for the bytes.
pub(crate) unsafe fn put_bytes(value: *mut c_void, bytes: &[u8]) -> Answer {
    if value.is_null() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    // SAFETY: not null, so the caller's promise says that there is room; `bytes` is ours.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), value.cast(), bytes.len()) };
    Ok(())
}

/// Text in a field of fixed size.
fn field<const BYTES: usize>(text: &CStr) -> [u8; BYTES] {
    let mut field = [0; BYTES];
    let text = text.to_bytes();
    let length = text.len().min(BYTES - 1);
    field[..length].copy_from_slice(&text[..length]);
    field
}

/// `hsa_agent_get_info`.
///
/// # Safety
///
/// `value` is null or has room for the attribute.
pub(crate) unsafe fn info(agent: AgentHandle, attribute: u32, value: *mut c_void) -> Answer {
    let runtime = runtime()?;
    let agent = runtime.names.agent(agent)?;
    match agent {
        // SAFETY: the caller's promise is the same.
        Agent::Cpu => unsafe { cpu_info(attribute, value) },
        // SAFETY: the caller's promise is the same.
        Agent::Gpu(gpu) => unsafe { gpu_info(&runtime.settings, gpu, attribute, value) },
    }
}

/// # Safety
///
/// As for [`info`].
unsafe fn cpu_info(attribute: u32, value: *mut c_void) -> Answer {
    use self::attribute as a;
    let word = match attribute {
        // SAFETY: the caller's promise; the field has 64 bytes.
        a::NAME => return unsafe { put(value.cast(), field::<64>(c"Host processor")) },
        // SAFETY: as above.
        a::VENDOR_NAME => return unsafe { put(value.cast(), field::<64>(c"CPU")) },
        // SAFETY: the caller's promise; the field has 128 bytes.
        a::EXTENSIONS => return unsafe { put(value.cast(), [0u8; 128]) },
        a::DEVICE => DEVICE_TYPE_CPU,
        a::FEATURE | a::NODE | a::DRIVER_NODE_ID | a::WAVEFRONT_SIZE => 0,
        a::QUEUES_MAX | a::QUEUE_MIN_SIZE | a::QUEUE_MAX_SIZE => 0,
        a::MACHINE_MODEL => MACHINE_MODEL_LARGE,
        a::PROFILE => PROFILE_FULL,
        a::DEFAULT_FLOAT_ROUNDING_MODE => ROUNDING_NEAR,
        other => return Err(unknown("hsa_agent_get_info of the CPU", other)),
    };
    // SAFETY: the caller's promise.
    unsafe { put(value.cast(), word) }
}

/// # Safety
///
/// As for [`info`].
unsafe fn gpu_info(settings: &Settings, gpu: usize, attribute: u32, value: *mut c_void) -> Answer {
    use self::attribute as a;
    let card = card(settings.target);
    let number = gpu as u32;
    let word = match attribute {
        a::FEATURE => QUEUE_FEATURE_KERNEL_DISPATCH,
        a::MACHINE_MODEL => MACHINE_MODEL_LARGE,
        a::PROFILE => PROFILE_BASE,
        a::DEFAULT_FLOAT_ROUNDING_MODE => ROUNDING_NEAR,
        a::WAVEFRONT_SIZE => 64,
        a::WORKGROUP_MAX_SIZE => 1024,
        a::GRID_MAX_SIZE => u32::MAX,
        a::FBARRIER_MAX_SIZE => 32,
        a::QUEUES_MAX => 128,
        a::QUEUE_MIN_SIZE => 64,
        a::QUEUE_MAX_SIZE => crate::queue::SIZE_MAX,
        a::QUEUE_TYPE => QUEUE_TYPE_MULTI,
        a::NODE | a::DRIVER_NODE_ID => 1 + number,
        a::DEVICE => DEVICE_TYPE_GPU,
        a::CHIP_ID => card.chip_id,
        a::CACHELINE_SIZE => 64,
        a::COMPUTE_UNIT_COUNT | a::COOPERATIVE_COMPUTE_UNIT_COUNT => card.compute_units,
        a::MAX_CLOCK_FREQUENCY => card.clock_mhz,
        // Bus, device and function: one bus for each card, from 3 on.
        a::BDFID => (3 + number) << 8,
        a::MEMORY_WIDTH => MEMORY_WIDTH_BITS,
        a::MEMORY_MAX_FREQUENCY => card.memory_clock_mhz,
        a::MAX_WAVES_PER_CU => card.waves_per_unit,
        a::NUM_SIMDS_PER_CU => 4,
        a::NUM_SHADER_ENGINES => 8,
        a::NUM_SHADER_ARRAYS_PER_SE | a::ASIC_REVISION => 1,
        a::DOMAIN => 0,
        a::IMAGE_1D_MAX_ELEMENTS | a::IMAGE_1DA_MAX_ELEMENTS => IMAGE_EDGE,
        a::IMAGE_1DB_MAX_ELEMENTS => u32::MAX,
        a::IMAGE_ARRAY_MAX_LAYERS => 8192,
        a::MAX_IMAGE_RD_HANDLES => 128,
        a::MAX_IMAGE_RORW_HANDLES => 64,
        a::MAX_SAMPLER_HANDLERS => 16,
        a::IMAGE_LINEAR_ROW_PITCH_ALIGNMENT => 256,
        // SAFETY: the caller's promise is the same.
        other => return unsafe { gpu_info_not_a_word(settings, card, gpu, other, value) },
    };
    // SAFETY: the caller's promise.
    unsafe { put(value.cast(), word) }
}

/// # Safety
///
/// As for [`info`].
unsafe fn gpu_info_not_a_word(
    settings: &Settings,
    card: &Card,
    gpu: usize,
    attribute: u32,
    value: *mut c_void,
) -> Answer {
    use self::attribute as a;
    match attribute {
        // SAFETY: the caller's promise; the field has 64 bytes.
        a::NAME => unsafe { put(value.cast(), field::<64>(card.name)) },
        // SAFETY: as above.
        a::VENDOR_NAME => unsafe { put(value.cast(), field::<64>(c"AMD")) },
        // SAFETY: as above.
        a::PRODUCT_NAME => unsafe { put(value.cast(), field::<64>(card.product)) },
        // SAFETY: the caller's promise.
        a::WORKGROUP_MAX_DIM => unsafe { put(value.cast(), [1024u16; 3]) },
        // SAFETY: the caller's promise.
        a::GRID_MAX_DIM => unsafe { put(value.cast(), [u32::MAX; 3]) },
        // SAFETY: the caller's promise; the four levels are one word each.
        a::CACHE_SIZE => unsafe { put(value.cast(), [16384, card.l2_bytes, 0, 0]) },
        // SAFETY: the caller's promise.
        a::ISA => unsafe { put(value.cast(), runtime()?.names.isa) },
        a::EXTENSIONS => {
            let mut bits = [0u8; 128];
            bits[0] = 1 << EXTENSION_IMAGES;
            // SAFETY: the caller's promise.
            unsafe { put(value.cast(), bits) }
        }
        a::IMAGE_2D_MAX_ELEMENTS
        | a::IMAGE_2DA_MAX_ELEMENTS
        | a::IMAGE_2DDEPTH_MAX_ELEMENTS
        // SAFETY: the caller's promise.
        | a::IMAGE_2DADEPTH_MAX_ELEMENTS => unsafe { put(value.cast(), [IMAGE_EDGE; 2]) },
        a::IMAGE_3D_MAX_ELEMENTS => {
            // SAFETY: the caller's promise.
            unsafe { put(value.cast(), [IMAGE_EDGE, IMAGE_EDGE, 8192]) }
        }
        // SAFETY: the caller's promise.
        a::VERSION_MAJOR | a::VERSION_MINOR => unsafe { put(value.cast(), 1u16) },
        // SAFETY: the caller's promise.
        a::FAST_F16_OPERATION | a::COOPERATIVE_QUEUES => unsafe { put(value.cast(), true) },
        // SAFETY: the caller's promise.
        a::SVM_DIRECT_HOST_ACCESS => unsafe { put(value.cast(), false) },
        a::HDP_FLUSH => {
            let [memory, registers] = [HDP[0].as_ptr(), HDP[1].as_ptr()];
            // SAFETY: the caller's promise.
            unsafe { put(value.cast(), HdpFlush { memory, registers }) }
        }
        a::UUID => {
            let text = format!("GPU-{:016x}\0", handle_value(settings.seed, !(gpu as u64)));
            // SAFETY: the caller's promise; the field has 21 bytes.
            unsafe { put_bytes(value, text.as_bytes()) }
        }
        other => Err(unknown("hsa_agent_get_info", other)),
    }
}

/// `hsa_agent_extension_supported`.
///
/// # Safety
///
/// `out` is null or has room for a bool.
pub(crate) unsafe fn extension_supported(
    extension: u16,
    agent: AgentHandle,
    out: *mut bool,
) -> Answer {
    let gpu = matches!(runtime()?.names.agent(agent)?, Agent::Gpu(_));
    match extension {
        // SAFETY: the caller's promise.
        0..=3 | 0x200..=0x202 => unsafe { put(out, gpu && extension == EXTENSION_IMAGES) },
        _unknown => Err(Status::ERROR_INVALID_ARGUMENT),
    }
}

/// Whether a handle names an agent.
pub(crate) fn check(agent: AgentHandle) -> Answer {
    runtime()?.names.agent(agent).map(drop)
}

/// `hsa_amd_coherency_set_type`. All memory is coherent here, which satisfies both types.
pub(crate) fn set_coherency(agent: AgentHandle, kind: u32) -> Answer {
    const NONCOHERENT: u32 = 1;
    runtime()?.names.gpu(agent)?;
    if kind > NONCOHERENT { Err(Status::ERROR_INVALID_ARGUMENT) } else { Ok(()) }
}

//! What the emulated device says about itself: the numbers of an MI210, with the emulated
//! target's name.

use std::ffi::{c_char, c_int};

use hrr_ffi::types::*;

use crate::abi::by_version;
use crate::api::{Answer, In, Out};
use crate::launches::{LDS_BYTES, WORKGROUP_MAX};
use crate::runtime::{DEVICE_BYTES, Runtime, runtime};

pub(crate) const NAME: &str = "HRR emulated GPU";
const WAVE: c_int = 64;
pub(crate) const UNITS: c_int = 104;
const THREADS_PER_UNIT: c_int = 2048;
const REGISTERS: c_int = 65536;
const CLOCK_KHZ: c_int = 1_700_000;
const MEMORY_CLOCK_KHZ: c_int = 1_600_000;
const MEMORY_BUS_BITS: c_int = 4096;
const L2_BYTES: c_int = 8 << 20;
const GRID_MAX: [c_int; 3] = [c_int::MAX, 65536, 65536];
const TEXTURE_ALIGN: usize = 256;
/// Every feature bit of `hipDeviceArch_t` up to 3D grids, but not dynamic parallelism, surface
/// functions, funnel shift and extended synchronisation.
const ARCH_BITS: u32 = 0b1000_0001_0111_1111_1111 & !(1 << 11);

hip_api! { TABLE;
    /// The structure of HIP 6 and later.
    fn hipGetDevicePropertiesR0600(properties: Out<hipDeviceProp_tR0600>, device: c_int) {
        let runtime = runtime()?;
        let id = runtime.device_of(device)?.id();
        properties.set(r0600(runtime, id))
    }

    /// The structure of HIP 5 and earlier, under the name that its programs ask for.
    fn hipGetDeviceProperties(properties: Out<hipDeviceProp_tR0000>, device: c_int) {
        let runtime = runtime()?;
        let id = runtime.device_of(device)?.id();
        properties.set(r0000(runtime, id))
    }

    fn hipGetDevicePropertiesR0000(properties: Out<hipDeviceProp_tR0000>, device: c_int) {
        let runtime = runtime()?;
        let id = runtime.device_of(device)?.id();
        properties.set(r0000(runtime, id))
    }

    fn hipChooseDevice(device: Out<c_int>, wanted: In<hipDeviceProp_tR0000>) {
        wanted.get()?;
        runtime()?.device(0)?;
        device.set(0)
    }

    fn hipChooseDeviceR0000(device: Out<c_int>, wanted: In<hipDeviceProp_tR0000>) {
        wanted.get()?;
        runtime()?.device(0)?;
        device.set(0)
    }

    fn hipChooseDeviceR0600(device: Out<c_int>, wanted: In<hipDeviceProp_tR0600>) {
        wanted.get()?;
        runtime()?.device(0)?;
        device.set(0)
    }

    fn hipDeviceComputeCapability(major: Out<c_int>, minor: Out<c_int>, device: hipDevice_t) {
        let runtime = runtime()?;
        runtime.device_of(device)?;
        let (found_major, found_minor) = capability(runtime);
        major.set(found_major)?;
        minor.set(found_minor)
    }

    fn hipDeviceGetAttribute(
        value: Out<c_int>,
        attribute: hipDeviceAttribute_t,
        device: c_int,
    ) {
        let runtime = runtime()?;
        let id = runtime.device_of(device)?.id();
        if crate::abi::major() <= 5 && NOT_IN_FIVE.contains(&attribute) {
            return Err(hipErrorInvalidValue);
        }
        value.set(attribute_value(runtime, id, attribute)?)
    }
}

/// What 5.2.3 has numbers for and does not answer.
const NOT_IN_FIVE: &[hipDeviceAttribute_t] = &[
    hipDeviceAttributeAsyncEngineCount,
    hipDeviceAttributeCanUseHostPointerForRegisteredMem,
    hipDeviceAttributeComputePreemptionSupported,
    hipDeviceAttributeHostNativeAtomicSupported,
    hipDeviceAttributeMaxBlocksPerMultiProcessor,
    hipDeviceAttributeMaxRegistersPerMultiprocessor,
    hipDeviceAttributeSharedMemPerBlockOptin,
    hipDeviceAttributeSharedMemPerMultiprocessor,
    hipDeviceAttributeStreamPrioritiesSupported,
    hipDeviceAttributeSurfaceAlignment,
    hipDeviceAttributeTccDriver,
    hipDeviceAttributeUnifiedAddressing,
    hipDeviceAttributeClockInstructionRate,
    hipDeviceAttributeIsLargeBar,
];

/// Compute units of a device.
pub(crate) fn units() -> u64 {
    UNITS as u64
}

pub(crate) fn uuid(id: usize) -> hipUUID {
    let mut bytes = [0; 16];
    for (byte, letter) in bytes.iter_mut().zip(format!("hrr-emu-gpu-{id:04}").bytes()) {
        *byte = letter.cast_signed();
    }
    hipUUID { bytes }
}

pub(crate) fn pci_bus_id(id: usize) -> String {
    format!("0000:{:02x}:00.0", pci_bus(id))
}

fn pci_bus(id: usize) -> c_int {
    3 + id as c_int
}

/// From the processor's name: gfx90a is 9.0, gfx942 is 9.4.
fn capability(runtime: &Runtime) -> (c_int, c_int) {
    let digits = runtime.config.target.processor.trim_start_matches("gfx").as_bytes();
    let (version, stepping) = digits.split_at(digits.len().saturating_sub(2));
    let major = version.iter().fold(0, |number, digit| number * 10 + c_int::from(digit - b'0'));
    (major, stepping.first().map_or(0, |digit| c_int::from(digit - b'0')))
}

fn fill_text<const N: usize>(field: &mut [c_char; N], text: &str) {
    for (slot, byte) in field.iter_mut().take(N - 1).zip(text.bytes()) {
        *slot = byte.cast_signed();
    }
}

fn r0600(runtime: &Runtime, id: usize) -> hipDeviceProp_tR0600 {
    // SAFETY: a C structure of numbers, arrays of numbers and pointers: all zeros is a value.
    let mut p: hipDeviceProp_tR0600 = unsafe { std::mem::zeroed() };
    let (major, minor) = capability(runtime);
    fill_text(&mut p.name, NAME);
    fill_text(&mut p.gcnArchName, &runtime.config.arch_name);
    p.uuid = uuid(id);
    p.totalGlobalMem = DEVICE_BYTES as usize;
    p.sharedMemPerBlock = LDS_BYTES as usize;
    p.regsPerBlock = REGISTERS;
    p.warpSize = WAVE;
    p.memPitch = c_int::MAX as usize;
    p.maxThreadsPerBlock = WORKGROUP_MAX as c_int;
    p.maxThreadsDim = [WORKGROUP_MAX as c_int; 3];
    p.maxGridSize = by_version([c_int::MAX; 3], GRID_MAX);
    p.clockRate = CLOCK_KHZ;
    p.totalConstMem = c_int::MAX as usize;
    (p.major, p.minor) = (major, minor);
    p.textureAlignment = TEXTURE_ALIGN;
    p.texturePitchAlignment = TEXTURE_ALIGN;
    p.multiProcessorCount = UNITS;
    p.canMapHostMemory = 1;
    p.concurrentKernels = 1;
    p.pciBusID = pci_bus(id);
    p.asyncEngineCount = 2;
    p.unifiedAddressing = 1;
    p.memoryClockRate = MEMORY_CLOCK_KHZ;
    p.memoryBusWidth = MEMORY_BUS_BITS;
    p.l2CacheSize = L2_BYTES;
    p.maxThreadsPerMultiProcessor = THREADS_PER_UNIT;
    p.streamPrioritiesSupported = 1;
    p.sharedMemPerMultiprocessor = LDS_BYTES as usize;
    p.regsPerMultiprocessor = REGISTERS;
    p.managedMemory = 1;
    p.concurrentManagedAccess = 1;
    p.canUseHostPointerForRegisteredMem = 1;
    p.cooperativeLaunch = 1;
    p.sharedMemPerBlockOptin = LDS_BYTES as usize;
    p.maxBlocksPerMultiProcessor = THREADS_PER_UNIT / WAVE;
    p.hostRegisterSupported = 1;
    // HIP 5 has pools and says that it has none.
    p.memoryPoolsSupported = by_version(0, 1);
    p.maxSharedMemoryPerMultiProcessor = LDS_BYTES as usize;
    p.clockInstructionRate = 100_000;
    p.arch = hipDeviceArch_t { bits: ARCH_BITS };
    p
}

fn r0000(runtime: &Runtime, id: usize) -> hipDeviceProp_tR0000 {
    // SAFETY: as in `r0600`.
    let mut p: hipDeviceProp_tR0000 = unsafe { std::mem::zeroed() };
    let new = r0600(runtime, id);
    p.name = new.name;
    p.gcnArchName = new.gcnArchName;
    p.totalGlobalMem = new.totalGlobalMem;
    p.sharedMemPerBlock = new.sharedMemPerBlock;
    p.regsPerBlock = new.regsPerBlock;
    p.warpSize = new.warpSize;
    p.maxThreadsPerBlock = new.maxThreadsPerBlock;
    p.maxThreadsDim = new.maxThreadsDim;
    p.maxGridSize = new.maxGridSize;
    p.clockRate = new.clockRate;
    p.memoryClockRate = new.memoryClockRate;
    p.memoryBusWidth = new.memoryBusWidth;
    p.totalConstMem = new.totalConstMem;
    (p.major, p.minor) = (new.major, new.minor);
    p.multiProcessorCount = new.multiProcessorCount;
    p.l2CacheSize = new.l2CacheSize;
    p.maxThreadsPerMultiProcessor = new.maxThreadsPerMultiProcessor;
    p.clockInstructionRate = new.clockInstructionRate;
    p.arch = new.arch;
    p.concurrentKernels = new.concurrentKernels;
    p.pciBusID = new.pciBusID;
    p.maxSharedMemoryPerMultiProcessor = new.maxSharedMemoryPerMultiProcessor;
    p.canMapHostMemory = new.canMapHostMemory;
    p.cooperativeLaunch = new.cooperativeLaunch;
    p.memPitch = new.memPitch;
    p.textureAlignment = new.textureAlignment;
    p.texturePitchAlignment = new.texturePitchAlignment;
    p.managedMemory = new.managedMemory;
    p.concurrentManagedAccess = new.concurrentManagedAccess;
    p
}

/// The number behind an attribute; what the device lacks, textures among it, is zero.
fn attribute_value(runtime: &Runtime, id: usize, attribute: hipDeviceAttribute_t) -> Answer<c_int> {
    let p = r0600(runtime, id);
    let clamp = |bytes: usize| c_int::try_from(bytes).unwrap_or(c_int::MAX);
    Ok(match attribute {
        hipDeviceAttributeAsyncEngineCount => p.asyncEngineCount,
        hipDeviceAttributeCanMapHostMemory
        | hipDeviceAttributeCanUseHostPointerForRegisteredMem
        | hipDeviceAttributeConcurrentKernels
        | hipDeviceAttributeConcurrentManagedAccess
        | hipDeviceAttributeCooperativeLaunch
        | hipDeviceAttributeManagedMemory
        | hipDeviceAttributeStreamPrioritiesSupported
        | hipDeviceAttributeUnifiedAddressing
        | hipDeviceAttributeVirtualMemoryManagementSupported
        | hipDeviceAttributeHostRegisterSupported
        | hipDeviceAttributeCanUseStreamWaitValue
        | hipDeviceAttributeFineGrainSupport
        | hipDeviceAttributeNumberOfXccs => 1,
        hipDeviceAttributeMemoryPoolsSupported => p.memoryPoolsSupported,
        hipDeviceAttributeClockRate => p.clockRate,
        hipDeviceAttributeL2CacheSize => p.l2CacheSize,
        hipDeviceAttributeComputeCapabilityMajor => p.major,
        hipDeviceAttributeComputeCapabilityMinor => p.minor,
        hipDeviceAttributeMaxBlocksPerMultiProcessor => p.maxBlocksPerMultiProcessor,
        hipDeviceAttributeMaxBlockDimX => p.maxThreadsDim[0],
        hipDeviceAttributeMaxBlockDimY => p.maxThreadsDim[1],
        hipDeviceAttributeMaxBlockDimZ => p.maxThreadsDim[2],
        hipDeviceAttributeMaxGridDimX => p.maxGridSize[0],
        hipDeviceAttributeMaxGridDimY => p.maxGridSize[1],
        hipDeviceAttributeMaxGridDimZ => p.maxGridSize[2],
        hipDeviceAttributeMaxThreadsDim => p.maxThreadsDim[0],
        hipDeviceAttributeMaxThreadsPerBlock => p.maxThreadsPerBlock,
        hipDeviceAttributeMaxThreadsPerMultiProcessor => p.maxThreadsPerMultiProcessor,
        hipDeviceAttributeMaxPitch => clamp(p.memPitch),
        hipDeviceAttributeMemoryBusWidth => p.memoryBusWidth,
        hipDeviceAttributeMemoryClockRate => p.memoryClockRate,
        hipDeviceAttributeMultiprocessorCount | hipDeviceAttributePhysicalMultiProcessorCount => {
            p.multiProcessorCount
        }
        hipDeviceAttributePciBusId => p.pciBusID,
        hipDeviceAttributeMaxRegistersPerBlock => p.regsPerBlock,
        hipDeviceAttributeMaxRegistersPerMultiprocessor => p.regsPerMultiprocessor,
        hipDeviceAttributeMaxSharedMemoryPerBlock => clamp(p.sharedMemPerBlock),
        hipDeviceAttributeSharedMemPerBlockOptin => clamp(p.sharedMemPerBlockOptin),
        hipDeviceAttributeSharedMemPerMultiprocessor
        | hipDeviceAttributeMaxSharedMemoryPerMultiprocessor => clamp(p.sharedMemPerMultiprocessor),
        hipDeviceAttributeTextureAlignment => clamp(p.textureAlignment),
        hipDeviceAttributeTexturePitchAlignment => clamp(p.texturePitchAlignment),
        hipDeviceAttributeTotalConstantMemory => clamp(p.totalConstMem),
        hipDeviceAttributeTotalGlobalMem => clamp(p.totalGlobalMem),
        hipDeviceAttributeWarpSize => p.warpSize,
        hipDeviceAttributeClockInstructionRate | hipDeviceAttributeWallClockRate => {
            p.clockInstructionRate
        }
        hipDeviceAttributeMaxAvailableVgprsPerThread => 512,
        hipDeviceAttributeUnused1
        | hipDeviceAttributeUnused2
        | hipDeviceAttributeUnused3
        | hipDeviceAttributeUnused4
        | hipDeviceAttributeUnused5 => return Err(hipErrorInvalidValue),
        known if hipDeviceAttribute_t::NAMES.iter().any(|(value, _)| *value == known.0) => 0,
        _unknown => return Err(hipErrorInvalidValue),
    })
}

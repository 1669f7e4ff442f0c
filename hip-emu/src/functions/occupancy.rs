//! Occupancy: how many workgroups of a kernel a compute unit holds.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use gfx_emu::loader::LoadedKernel;
use hrr_ffi::types::*;

use super::launch::kernel_of;
use super::properties::units;
use crate::abi::by_version;
use crate::api::{Answer, Out};
use crate::launches::{LDS_BYTES, WORKGROUP_MAX};
use crate::modules::Loaded;
use crate::runtime::{Runtime, current};

hip_api! { TABLE;
    fn hipOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: Out<c_int>,
        stub: *const c_void,
        block_size: c_int,
        shared_bytes: usize,
    ) {
        active_blocks(blocks, stub.addr(), block_size, shared_bytes)
    }

    fn hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: Out<c_int>,
        stub: *const c_void,
        block_size: c_int,
        shared_bytes: usize,
        flags: c_uint,
    ) {
        check_flags(flags)?;
        active_blocks(blocks, stub.addr(), block_size, shared_bytes)
    }

    fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: Out<c_int>,
        function: hipFunction_t,
        block_size: c_int,
        shared_bytes: usize,
    ) {
        active_blocks(blocks, function.0.addr(), block_size, shared_bytes)
    }

    fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: Out<c_int>,
        function: hipFunction_t,
        block_size: c_int,
        shared_bytes: usize,
        flags: c_uint,
    ) {
        check_flags(flags)?;
        active_blocks(blocks, function.0.addr(), block_size, shared_bytes)
    }

    fn hipOccupancyMaxPotentialBlockSize(
        grid: Out<c_int>,
        block: Out<c_int>,
        stub: *const c_void,
        shared_bytes: usize,
        limit: c_int,
    ) {
        potential_block(grid, block, stub.addr(), shared_bytes, limit)
    }

    fn hipModuleOccupancyMaxPotentialBlockSize(
        grid: Out<c_int>,
        block: Out<c_int>,
        function: hipFunction_t,
        shared_bytes: usize,
        limit: c_int,
    ) {
        potential_block(grid, block, function.0.addr(), shared_bytes, limit)
    }

    fn hipModuleOccupancyMaxPotentialBlockSizeWithFlags(
        grid: Out<c_int>,
        block: Out<c_int>,
        function: hipFunction_t,
        shared_bytes: usize,
        limit: c_int,
        flags: c_uint,
    ) {
        check_flags(flags)?;
        potential_block(grid, block, function.0.addr(), shared_bytes, limit)
    }
}

const WAVE: u32 = 64;
/// SIMDs of a compute unit, and the waves and vector registers that each has.
const SIMDS: u32 = 4;
const WAVES_PER_SIMD: u32 = 8;
pub(crate) const WAVES_PER_UNIT: u32 = SIMDS * WAVES_PER_SIMD;
const VGPRS_PER_LANE: u32 = 512;
const VGPR_GRANULE: u32 = 8;

fn check_flags(flags: c_uint) -> Answer {
    // `hipOccupancyDefault` and `hipOccupancyDisableCachingOverride`.
    if by_version(0, flags) > 1 { Err(hipErrorInvalidValue) } else { Ok(()) }
}

/// Workgroups of `items` work-items and `lds` bytes of LDS that fit into one compute unit.
pub(crate) fn blocks_per_unit(kernel: &LoadedKernel, items: u32, lds: u64) -> u32 {
    let registers = (kernel.metadata.vgprs + kernel.metadata.agprs.unwrap_or(0)).max(1);
    let by_registers = VGPRS_PER_LANE / registers.next_multiple_of(VGPR_GRANULE);
    let waves = SIMDS * WAVES_PER_SIMD.min(by_registers);
    let by_waves = waves / items.div_ceil(WAVE).max(1);
    let by_lds = LDS_BYTES.checked_div(lds).map_or(u32::MAX, |blocks| blocks as u32);
    by_waves.min(by_lds)
}

/// The kernel; HIP 5 has no error of its own for what is none.
fn kernel(runtime: &'static Runtime, named: usize) -> Answer<(Arc<Loaded>, Arc<LoadedKernel>)> {
    kernel_of(runtime, named).map_err(|error| by_version(hipErrorInvalidValue, error))
}

fn active_blocks(
    blocks: Out<c_int>,
    named: usize,
    block_size: c_int,
    shared_bytes: usize,
) -> Answer {
    let (runtime, _) = current()?;
    let (_, kernel) = kernel(runtime, named)?;
    let items = u32::try_from(block_size).map_err(|_| hipErrorInvalidValue)?;
    if items == 0 || items > by_version(u32::MAX, WORKGROUP_MAX) {
        return Err(hipErrorInvalidValue);
    }
    let lds = u64::from(kernel.metadata.group_segment_bytes) + shared_bytes as u64;
    blocks.set(blocks_per_unit(&kernel, items, lds) as c_int)
}

fn potential_block(
    grid: Out<c_int>,
    block: Out<c_int>,
    named: usize,
    shared_bytes: usize,
    limit: c_int,
) -> Answer {
    let (runtime, _) = current()?;
    let (_, kernel) = kernel(runtime, named)?;
    let limit = u32::try_from(limit).map_err(|_| hipErrorInvalidValue)?;
    let limit = if limit == 0 { WORKGROUP_MAX } else { limit.min(WORKGROUP_MAX) };
    let limit = limit.min(kernel.metadata.workgroup_max);
    let lds = u64::from(kernel.metadata.group_segment_bytes) + shared_bytes as u64;
    let sizes = (1..=limit.div_ceil(WAVE)).map(|waves| (waves * WAVE).min(limit));
    // The most work-items at once, in the largest workgroups that reach that.
    let best = sizes.max_by_key(|&items| (blocks_per_unit(&kernel, items, lds) * items, items));
    let items = best.ok_or(hipErrorInvalidValue)?;
    block.set(items as c_int)?;
    grid.set(blocks_per_unit(&kernel, items, lds) as c_int * units() as c_int)
}

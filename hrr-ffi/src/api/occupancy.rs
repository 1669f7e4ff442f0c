//! How many blocks of a kernel fit: facts of the machine.

use core::ffi::{c_int, c_uint, c_void};

use hrr_macros::api;

use crate::types::{hipError_t, hipFunction_t, hipLaunchConfig_t};

#[api(group = "occupancy")]
unsafe extern "C" {
    /// Writes how many blocks one compute unit holds. (HIP 7.1)
    pub fn hipOccupancyMaxActiveBlocksPerMultiprocessor(
        #[out(machine)] numBlocks: *mut c_int,
        #[host_symbol] f: *const c_void,
        blockSize: c_int,
        dynSharedMemPerBlk: usize,
    ) -> hipError_t;

    /// Writes how many blocks one compute unit holds. (HIP 7.1)
    pub fn hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        #[out(machine)] numBlocks: *mut c_int,
        #[host_symbol] f: *const c_void,
        blockSize: c_int,
        dynSharedMemPerBlk: usize,
        flags: c_uint,
    ) -> hipError_t;

    /// Writes the sizes that fill the device. (HIP 7.1)
    pub fn hipOccupancyMaxPotentialBlockSize(
        #[out(machine)] gridSize: *mut c_int,
        #[out(machine)] blockSize: *mut c_int,
        #[host_symbol] f: *const c_void,
        dynSharedMemPerBlk: usize,
        blockSizeLimit: c_int,
    ) -> hipError_t;

    /// Writes the bytes of shared memory left for each block. (HIP 7.1)
    pub fn hipOccupancyAvailableDynamicSMemPerBlock(
        #[out(machine)] dynamicSmemSize: *mut usize,
        #[host_symbol] f: *const c_void,
        numBlocks: c_int,
        blockSize: c_int,
    ) -> hipError_t;

    /// Writes how many clusters of blocks the device holds. (HIP 7.14)
    pub fn hipOccupancyMaxActiveClusters(
        #[out(machine)] numClusters: *mut c_int,
        #[host_symbol] f: *const c_void,
        #[deref] config: *const hipLaunchConfig_t,
    ) -> hipError_t;

    /// Writes the largest cluster of blocks. (HIP 7.14)
    pub fn hipOccupancyMaxPotentialClusterSize(
        #[out(machine)] clusterSize: *mut c_int,
        #[host_symbol] f: *const c_void,
        #[deref] config: *const hipLaunchConfig_t,
    ) -> hipError_t;

    /// Writes how many blocks one compute unit holds. (HIP 7.1)
    pub fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
        #[out(machine)] numBlocks: *mut c_int,
        f: hipFunction_t,
        blockSize: c_int,
        dynSharedMemPerBlk: usize,
    ) -> hipError_t;

    /// Writes how many blocks one compute unit holds. (HIP 7.1)
    pub fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        #[out(machine)] numBlocks: *mut c_int,
        f: hipFunction_t,
        blockSize: c_int,
        dynSharedMemPerBlk: usize,
        flags: c_uint,
    ) -> hipError_t;

    /// Writes the sizes that fill the device. (HIP 7.1)
    pub fn hipModuleOccupancyMaxPotentialBlockSize(
        #[out(machine)] gridSize: *mut c_int,
        #[out(machine)] blockSize: *mut c_int,
        f: hipFunction_t,
        dynSharedMemPerBlk: usize,
        blockSizeLimit: c_int,
    ) -> hipError_t;

    /// Writes the sizes that fill the device. (HIP 7.1)
    pub fn hipModuleOccupancyMaxPotentialBlockSizeWithFlags(
        #[out(machine)] gridSize: *mut c_int,
        #[out(machine)] blockSize: *mut c_int,
        f: hipFunction_t,
        dynSharedMemPerBlk: usize,
        blockSizeLimit: c_int,
        flags: c_uint,
    ) -> hipError_t;
}

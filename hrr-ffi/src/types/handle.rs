//! Handles: words that only the runtime may look into, one type for each kind.

use hrr_core::arg::{Handle, Ret};
use hrr_core::desc::{Compare, RetDesc, RetKind};

hrr_core::handle! {
    /// A queue of device work. 1 is the legacy default stream, 2 the default stream of the thread.
    pub struct hipStream_t, reserved = [1, 2];
    /// A point in the work of a stream.
    pub struct hipEvent_t;
    /// A loaded code object.
    pub struct hipModule_t;
    /// A kernel of a module.
    pub struct hipFunction_t;
    /// A context.
    pub struct hipCtx_t;
    /// A pool of device memory.
    pub struct hipMemPool_t;
    /// A graph of work.
    pub struct hipGraph_t;
    /// A graph that is ready to run.
    pub struct hipGraphExec_t;
    /// A node of a graph.
    pub struct hipGraphNode_t;
    /// An object of the program whose life a graph shares.
    pub struct hipUserObject_t;
    /// An array of texels.
    pub struct hipArray_t;
    /// Arrays of texels, each half the size of the one before.
    pub struct hipMipmappedArray_t;
    /// A texture.
    pub struct hipTextureObject_t;
    /// A surface.
    pub struct hipSurfaceObject_t;
    /// A piece of physical memory.
    pub struct hipMemGenericAllocationHandle_t;
    /// A link in progress.
    pub struct hipLinkState_t;
    /// A library of kernels.
    pub struct hipLibrary_t;
    /// A kernel of a library.
    pub struct hipKernel_t;
    /// Memory of another interface.
    pub struct hipExternalMemory_t;
    /// A semaphore of another interface.
    pub struct hipExternalSemaphore_t;
    /// A resource of a graphics interface.
    pub struct hipGraphicsResource_t;
    /// An execution context: a part of a device.
    pub struct hipExecutionCtx_t;
    /// A description of device resources.
    pub struct hipDevResourceDesc_t;
    /// A texture reference of a module: `textureReference*` in the header.
    pub struct hipTexRef_t;
    /// A program of the runtime compiler.
    pub struct hiprtcProgram;
    /// A link in progress of the runtime compiler.
    pub struct hiprtcLinkState;
    /// What registering a fat binary gives: `void**` or `hip::FatBinaryInfo**` in the sources.
    pub struct hipFatBinaryHandle;
}

/// An array that the callee does not change.
pub type hipArray_const_t = hipArray_t;
/// Mipmapped arrays that the callee does not change.
pub type hipMipmappedArray_const_t = hipMipmappedArray_t;

// SAFETY: the description is the handle's own.
unsafe impl Ret for hipFatBinaryHandle {
    const RET: RetDesc = RetDesc {
        ty: "hipFatBinaryHandle",
        bytes: 8,
        kind: RetKind::Handle(<Self as Handle>::HANDLE),
        compare: Compare::Exact,
    };
    const MISSING: Self = Self::NULL;
}

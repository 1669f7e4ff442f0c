//! The `NT_AMDGPU_METADATA` note: what kernels take and need, as MessagePack.
//!
//! Facts: LLVM AMDGPUUsage, "Code Object V3 Metadata" and the sections for V4 and V5 that
//! extend it. Keys that are not needed are ignored; an unknown value kind is kept as text.

use serde::Deserialize;

use crate::CodeError;

/// The part of the metadata that runtimes use.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Metadata {
    /// `amdhsa.kernels`.
    #[serde(rename = "amdhsa.kernels", default)]
    pub kernels: Vec<KernelMetadata>,
    /// `amdhsa.target`, from V4.
    #[serde(rename = "amdhsa.target", default)]
    pub target: Option<String>,
    /// `amdhsa.version`.
    #[serde(rename = "amdhsa.version", default)]
    pub version: Vec<u32>,
}

/// One kernel.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct KernelMetadata {
    /// Name in the source.
    #[serde(rename = ".name")]
    pub name: String,
    /// Symbol of the kernel descriptor, `NAME.kd`.
    #[serde(rename = ".symbol")]
    pub symbol: String,
    /// Arguments in the order of their offsets, hidden ones included.
    #[serde(rename = ".args", default)]
    pub args: Vec<Argument>,
    /// Bytes of the argument block.
    #[serde(rename = ".kernarg_segment_size")]
    pub kernarg_bytes: u32,
    /// Alignment of the argument block.
    #[serde(rename = ".kernarg_segment_align")]
    pub kernarg_align: u32,
    /// LDS bytes without the dynamic part.
    #[serde(rename = ".group_segment_fixed_size")]
    pub group_segment_bytes: u32,
    /// Scratch bytes of one work-item.
    #[serde(rename = ".private_segment_fixed_size")]
    pub private_segment_bytes: u32,
    /// Most work-items that a workgroup may have.
    #[serde(rename = ".max_flat_workgroup_size")]
    pub workgroup_max: u32,
    /// Work-items of a wave.
    #[serde(rename = ".wavefront_size")]
    pub wavefront: u32,
    /// Scalar registers.
    #[serde(rename = ".sgpr_count")]
    pub sgprs: u32,
    /// Vector registers.
    #[serde(rename = ".vgpr_count")]
    pub vgprs: u32,
    /// Accumulation registers, on processors that have them.
    #[serde(rename = ".agpr_count", default)]
    pub agprs: Option<u32>,
    /// Whether the scratch size may be larger than `private_segment_bytes`.
    #[serde(rename = ".uses_dynamic_stack", default)]
    pub dynamic_stack: bool,
    /// Workgroup size that the kernel insists on.
    #[serde(rename = ".reqd_workgroup_size", default)]
    pub required_workgroup: Option<Vec<u32>>,
}

/// One argument.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Argument {
    /// Name in the source, if the compiler kept it.
    #[serde(rename = ".name", default)]
    pub name: Option<String>,
    /// Byte offset in the argument block.
    #[serde(rename = ".offset")]
    pub offset: u32,
    /// Size in bytes.
    #[serde(rename = ".size")]
    pub bytes: u32,
    /// What the argument is.
    #[serde(rename = ".value_kind")]
    pub kind: ValueKind,
    /// Address space of what a pointer points at.
    #[serde(rename = ".address_space", default)]
    pub address_space: Option<String>,
}

impl Argument {
    /// Whether the runtime supplies the value, not the caller.
    pub fn is_hidden(&self) -> bool {
        match &self.kind {
            ValueKind::ByValue
            | ValueKind::GlobalBuffer
            | ValueKind::DynamicSharedPointer
            | ValueKind::Sampler
            | ValueKind::Image
            | ValueKind::Pipe
            | ValueKind::Queue => false,
            ValueKind::Other(text) => text.starts_with("hidden_"),
            _hidden => true,
        }
    }
}

/// `.value_kind`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "each name is the specification's own, in table form there")]
pub enum ValueKind {
    ByValue,
    GlobalBuffer,
    DynamicSharedPointer,
    Sampler,
    Image,
    Pipe,
    Queue,
    HiddenGlobalOffsetX,
    HiddenGlobalOffsetY,
    HiddenGlobalOffsetZ,
    HiddenNone,
    HiddenPrintfBuffer,
    HiddenHostcallBuffer,
    HiddenDefaultQueue,
    HiddenCompletionAction,
    HiddenMultigridSyncArg,
    HiddenBlockCountX,
    HiddenBlockCountY,
    HiddenBlockCountZ,
    HiddenGroupSizeX,
    HiddenGroupSizeY,
    HiddenGroupSizeZ,
    HiddenRemainderX,
    HiddenRemainderY,
    HiddenRemainderZ,
    HiddenGridDims,
    #[serde(rename = "hidden_heap_v1")]
    HiddenHeapV1,
    HiddenDynamicLdsSize,
    HiddenPrivateBase,
    HiddenSharedBase,
    HiddenQueuePtr,
    /// A kind that is not known.
    #[serde(untagged)]
    Other(String),
}

impl Metadata {
    /// Decodes the content of the note.
    pub fn parse(note: &[u8]) -> Result<Self, CodeError> {
        rmp_serde::from_slice(note).map_err(|error| CodeError::Metadata(error.to_string()))
    }

    /// The kernel of that source name.
    pub fn kernel(&self, name: &str) -> Option<&KernelMetadata> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }
}

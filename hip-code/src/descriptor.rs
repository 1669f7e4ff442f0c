//! The 64-byte kernel descriptor that the command processor reads before a dispatch.
//!
//! Facts: LLVM AMDGPUUsage, "Kernel Descriptor" and the tables of `compute_pgm_rsrc1..3`
//! that follow it. This module decodes; it does not know how a dispatch uses what it finds.

/// Size of a kernel descriptor in bytes.
pub const KERNEL_DESCRIPTOR_BYTES: usize = 64;

/// One kernel descriptor, as it stands at the symbol `NAME.kd`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelDescriptor {
    /// LDS bytes that the kernel needs besides what the launch asks for.
    pub group_segment_fixed_size: u32,
    /// Scratch bytes of one work-item.
    pub private_segment_fixed_size: u32,
    /// Bytes of the kernel argument block.
    pub kernarg_size: u32,
    /// Distance from the descriptor's own address to the first instruction.
    pub kernel_code_entry_byte_offset: i64,
    /// `COMPUTE_PGM_RSRC1`: register counts and float mode.
    pub compute_pgm_rsrc1: u32,
    /// `COMPUTE_PGM_RSRC2`: user and system registers that are set up at the start.
    pub compute_pgm_rsrc2: u32,
    /// `COMPUTE_PGM_RSRC3`: on gfx90a and gfx942 the accumulation register offset.
    pub compute_pgm_rsrc3: u32,
    /// Which user SGPRs hold what, and the wavefront size.
    pub kernel_code_properties: u16,
    /// User SGPRs preloaded from the argument block (bits 6:0 length, 15:7 offset, in dwords).
    pub kernarg_preload: u16,
}

/// Highest `.vgpr` dimension that the kernel wants its work-item id in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkitemId {
    /// Only x.
    X,
    /// x and y.
    Xy,
    /// x, y and z.
    Xyz,
    /// The reserved encoding.
    Undefined,
}

impl KernelDescriptor {
    /// Decodes the first 64 bytes of `bytes`; `None` if there are fewer.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let raw: &[u8; KERNEL_DESCRIPTOR_BYTES] = bytes.first_chunk()?;
        let word = |at: usize| u32::from_le_bytes([raw[at], raw[at + 1], raw[at + 2], raw[at + 3]]);
        let half = |at: usize| u16::from_le_bytes([raw[at], raw[at + 1]]);
        let entry = u64::from(word(16)) | u64::from(word(20)) << 32;
        Some(Self {
            group_segment_fixed_size: word(0),
            private_segment_fixed_size: word(4),
            kernarg_size: word(8),
            kernel_code_entry_byte_offset: entry.cast_signed(),
            compute_pgm_rsrc3: word(44),
            compute_pgm_rsrc1: word(48),
            compute_pgm_rsrc2: word(52),
            kernel_code_properties: half(56),
            kernarg_preload: half(58),
        })
    }

    /// `GRANULATED_WORKITEM_VGPR_COUNT`, as encoded: the granule depends on the target.
    pub fn granulated_workitem_vgpr_count(&self) -> u32 {
        field(self.compute_pgm_rsrc1, 0, 6)
    }

    /// `GRANULATED_WAVEFRONT_SGPR_COUNT`, as encoded.
    pub fn granulated_wavefront_sgpr_count(&self) -> u32 {
        field(self.compute_pgm_rsrc1, 6, 4)
    }

    /// The eight bits of the MODE register's float part: round modes in bits 3:0, denormal
    /// modes in bits 7:4, in the order of the hardware register.
    pub fn float_mode(&self) -> u32 {
        field(self.compute_pgm_rsrc1, 12, 8)
    }

    /// `ENABLE_DX10_CLAMP` (GFX6 to GFX11).
    pub fn dx10_clamp(&self) -> bool {
        bit(self.compute_pgm_rsrc1, 21)
    }

    /// `ENABLE_IEEE_MODE` (GFX6 to GFX11).
    pub fn ieee_mode(&self) -> bool {
        bit(self.compute_pgm_rsrc1, 23)
    }

    /// `FP16_OVFL` (from GFX9).
    pub fn fp16_overflow(&self) -> bool {
        bit(self.compute_pgm_rsrc1, 26)
    }

    /// `ENABLE_PRIVATE_SEGMENT`: the scratch wavefront offset, or architected flat scratch, is
    /// set up.
    pub fn enable_private_segment(&self) -> bool {
        bit(self.compute_pgm_rsrc2, 0)
    }

    /// `USER_SGPR_COUNT`.
    pub fn user_sgpr_count(&self) -> u32 {
        field(self.compute_pgm_rsrc2, 1, 5)
    }

    /// `ENABLE_SGPR_WORKGROUP_ID_X`.
    pub fn workgroup_id_x(&self) -> bool {
        bit(self.compute_pgm_rsrc2, 7)
    }

    /// `ENABLE_SGPR_WORKGROUP_ID_Y`.
    pub fn workgroup_id_y(&self) -> bool {
        bit(self.compute_pgm_rsrc2, 8)
    }

    /// `ENABLE_SGPR_WORKGROUP_ID_Z`.
    pub fn workgroup_id_z(&self) -> bool {
        bit(self.compute_pgm_rsrc2, 9)
    }

    /// `ENABLE_SGPR_WORKGROUP_INFO`.
    pub fn workgroup_info(&self) -> bool {
        bit(self.compute_pgm_rsrc2, 10)
    }

    /// `ENABLE_VGPR_WORKITEM_ID`.
    pub fn workitem_id(&self) -> WorkitemId {
        match field(self.compute_pgm_rsrc2, 11, 2) {
            0 => WorkitemId::X,
            1 => WorkitemId::Xy,
            2 => WorkitemId::Xyz,
            _reserved => WorkitemId::Undefined,
        }
    }

    /// First AGPR of the unified register file, in VGPRs (gfx90a and gfx942 `ACCUM_OFFSET`).
    pub fn accum_offset(&self) -> u32 {
        (field(self.compute_pgm_rsrc3, 0, 6) + 1) * 4
    }

    /// `ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER`: four user SGPRs.
    pub fn private_segment_buffer(&self) -> bool {
        self.property(0)
    }

    /// `ENABLE_SGPR_DISPATCH_PTR`: two user SGPRs.
    pub fn dispatch_ptr(&self) -> bool {
        self.property(1)
    }

    /// `ENABLE_SGPR_QUEUE_PTR`: two user SGPRs.
    pub fn queue_ptr(&self) -> bool {
        self.property(2)
    }

    /// `ENABLE_SGPR_KERNARG_SEGMENT_PTR`: two user SGPRs.
    pub fn kernarg_segment_ptr(&self) -> bool {
        self.property(3)
    }

    /// `ENABLE_SGPR_DISPATCH_ID`: two user SGPRs.
    pub fn dispatch_id(&self) -> bool {
        self.property(4)
    }

    /// `ENABLE_SGPR_FLAT_SCRATCH_INIT`: two user SGPRs.
    pub fn flat_scratch_init(&self) -> bool {
        self.property(5)
    }

    /// `ENABLE_SGPR_PRIVATE_SEGMENT_SIZE`: one user SGPR.
    pub fn private_segment_size(&self) -> bool {
        self.property(6)
    }

    /// `ENABLE_WAVEFRONT_SIZE32` (from GFX10).
    pub fn wavefront_size32(&self) -> bool {
        self.property(10)
    }

    /// `USES_DYNAMIC_STACK` (from code object v5).
    pub fn uses_dynamic_stack(&self) -> bool {
        self.property(11)
    }

    /// `KERNARG_PRELOAD_SPEC_LENGTH`: dwords of arguments preloaded into user SGPRs.
    pub fn kernarg_preload_length(&self) -> u32 {
        u32::from(self.kernarg_preload & 0x7f)
    }

    /// `KERNARG_PRELOAD_SPEC_OFFSET`: the dword of the argument block that the preload starts at.
    pub fn kernarg_preload_offset(&self) -> u32 {
        u32::from(self.kernarg_preload >> 7)
    }

    fn property(&self, index: u32) -> bool {
        bit(u32::from(self.kernel_code_properties), index)
    }
}

fn field(word: u32, shift: u32, bits: u32) -> u32 {
    (word >> shift) & ((1 << bits) - 1)
}

fn bit(word: u32, index: u32) -> bool {
    (word >> index) & 1 != 0
}

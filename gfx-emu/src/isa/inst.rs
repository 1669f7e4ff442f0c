//! A decoded instruction, and the table rows that decode, text and execution share.

use super::lane::LanePair;
use super::mem::MemOp;
use super::state::Cx;
use crate::dispatch::FaultKind;

/// Where an operand's value lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Opnd {
    /// The instruction has no such operand.
    #[default]
    None,
    /// A scalar register by its encoding, 0 to 127: SGPRs, VCC, M0, EXEC and their like.
    S(u8),
    /// A vector register; from 256 on, an accumulation register.
    V(u16),
    /// An inline constant by its encoding, 128 to 208 and 240 to 248.
    Inline(u8),
    /// A scalar source that is no register: apertures and condition bits, by its encoding.
    Special(u8),
    /// The 32-bit word after the instruction.
    Literal(u32),
}

pub(crate) const VCC: u8 = 106;
pub(crate) const M0: u8 = 124;
pub(crate) const EXEC: u8 = 126;
pub(crate) const FLAT_SCRATCH: u8 = 102;
/// First accumulation register in the register file that both kinds share.
pub(crate) const ACC: u16 = 256;

/// What kind of value an operand is: its width, how inline constants and modifiers read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ty {
    /// No operand.
    #[default]
    None,
    /// 16-bit integer in the low half of a register.
    B16,
    /// Half-precision float in the low half of a register.
    F16,
    /// Low half written, high half kept.
    Keep16,
    /// As `Keep16`, for a half-precision float.
    KeepF16,
    /// High half written, low half kept.
    KeepHi16,
    /// 32-bit integer or bits.
    B32,
    /// Single-precision float.
    F32,
    /// 64-bit integer or bits.
    B64,
    /// Double-precision float.
    F64,
    /// Two 16-bit integers.
    PkB16,
    /// Two half-precision floats.
    PkF16,
    /// Two single-precision floats, or two words, in two registers.
    Pk32,
    /// An operand of v_fma_mix: single precision, or a half of a register.
    Mix,
    /// One bit per lane, in a pair of scalar registers.
    Mask,
    /// Value and carry: a vector register, and one bit per lane.
    B32Mask,
    /// Single-precision value and a bit per lane.
    F32Mask,
    /// 64-bit value and a bit per lane.
    B64Mask,
    /// Double-precision value and a bit per lane.
    F64Mask,
    /// This many consecutive registers.
    Regs(u8),
}

impl Ty {
    /// Registers that a value takes (for a mask: scalar registers).
    pub(crate) fn regs(self) -> usize {
        match self {
            Self::None => 0,
            Self::B16
            | Self::F16
            | Self::Keep16
            | Self::KeepF16
            | Self::KeepHi16
            | Self::B32
            | Self::F32
            | Self::PkB16
            | Self::PkF16
            | Self::Mix
            | Self::B32Mask
            | Self::F32Mask => 1,
            Self::B64 | Self::F64 | Self::Pk32 | Self::Mask | Self::B64Mask | Self::F64Mask => 2,
            Self::Regs(n) => usize::from(n),
        }
    }

    /// Whether a second, one-bit-per-lane result goes to scalar registers.
    pub(crate) fn has_mask(self) -> bool {
        matches!(self, Self::B32Mask | Self::F32Mask | Self::B64Mask | Self::F64Mask)
    }

    /// Whether sources of this type take the neg and abs modifiers.
    pub(crate) fn is_float(self) -> bool {
        matches!(
            self,
            Self::F16 | Self::KeepF16 | Self::F32 | Self::F64 | Self::F32Mask | Self::F64Mask
        )
    }

    pub(crate) fn is_16(self) -> bool {
        matches!(self, Self::B16 | Self::F16 | Self::Keep16 | Self::KeepF16 | Self::KeepHi16)
    }

    pub(crate) fn is_packed(self) -> bool {
        matches!(self, Self::PkB16 | Self::PkF16 | Self::Pk32)
    }
}

/// The encodings, one file each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Sop1,
    Sop2,
    Sopk,
    Sopc,
    Sopp,
    Smem,
    Vop1,
    Vop2,
    Vop3,
    Vop3p,
    Vopc,
    Ds,
    Flat,
    Global,
    Scratch,
    Mubuf,
    Unknown,
}

impl Encoding {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sop1 => "SOP1",
            Self::Sop2 => "SOP2",
            Self::Sopk => "SOPK",
            Self::Sopc => "SOPC",
            Self::Sopp => "SOPP",
            Self::Smem => "SMEM",
            Self::Vop1 => "VOP1",
            Self::Vop2 => "VOP2",
            Self::Vop3 => "VOP3",
            Self::Vop3p => "VOP3P",
            Self::Vopc => "VOPC",
            Self::Ds => "DS",
            Self::Flat => "FLAT",
            Self::Global => "GLOBAL",
            Self::Scratch => "SCRATCH",
            Self::Mubuf => "MUBUF",
            Self::Unknown => "unknown",
        }
    }
}

/// What the wave does after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// The next instruction.
    Next,
    /// On at this device address.
    Jump(u64),
    /// Waits for the other waves of its workgroup.
    Barrier,
    /// Waits until that many waves of the launch wait so.
    GridBarrier(u32),
    /// Lets others run first.
    Yield,
    /// The wave has ended.
    End,
}

/// A fault inside one instruction; the caller knows wave and pc.
#[derive(Debug)]
pub(crate) struct Trouble {
    pub kind: FaultKind,
    pub lane: Option<u32>,
}

impl Trouble {
    pub(crate) fn new(kind: FaultKind) -> Box<Self> {
        Box::new(Self { kind, lane: None })
    }

    pub(crate) fn lane(kind: FaultKind, lane: usize) -> Box<Self> {
        Box::new(Self { kind, lane: Some(lane as u32) })
    }

    pub(crate) fn unsupported(inst: &Inst, what: impl Into<String>) -> Box<Self> {
        Self::new(FaultKind::Unsupported { instruction: inst.text(), what: what.into() })
    }
}

pub(crate) type Step = Result<Flow, Box<Trouble>>;
pub(crate) type Exec = fn(&mut Cx<'_, '_>, &Inst) -> Step;
/// A scalar operation: two sources and SCC, which it may change.
pub(crate) type ScalarFn = fn(u64, u64, &mut bool) -> u64;

/// How a row executes.
#[derive(Clone, Copy)]
pub(crate) enum Run {
    Scalar(ScalarFn),
    Lanes(LanePair),
    Exec(Exec),
    Mem(MemOp),
}

/// Which targets have the opcode.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Targets(pub u8);

impl Targets {
    pub(crate) const ALL: Self = Self(0b111);
    pub(crate) const GFX90A_UP: Self = Self(0b110);
    pub(crate) const GFX942: Self = Self(0b100);
    pub(crate) const UNTIL_GFX90A: Self = Self(0b011);
    pub(crate) const GFX90A: Self = Self(0b010);

    pub(crate) fn has(self, target: super::Target) -> bool {
        self.0 & (1 << target as u8) != 0
    }
}

/// One opcode.
pub(crate) struct Row {
    pub op: u16,
    pub name: &'static str,
    pub targets: Targets,
    pub dst: Ty,
    pub src: [Ty; 4],
    pub run: Run,
}

impl Row {
    /// The same row for other targets.
    pub(crate) const fn on(self, targets: Targets) -> Self {
        Self { targets, ..self }
    }
}

pub(crate) const fn scalar(
    op: u16,
    name: &'static str,
    dst: Ty,
    src: [Ty; 2],
    run: ScalarFn,
) -> Row {
    Row {
        op,
        name,
        targets: Targets::ALL,
        dst,
        src: [src[0], src[1], Ty::None, Ty::None],
        run: Run::Scalar(run),
    }
}

pub(crate) const fn special(op: u16, name: &'static str, dst: Ty, src: [Ty; 4], run: Exec) -> Row {
    Row { op, name, targets: Targets::ALL, dst, src, run: Run::Exec(run) }
}

pub(crate) fn find(rows: &'static [Row], op: u32, target: super::Target) -> Option<&'static Row> {
    rows.iter().find(|row| u32::from(row.op) == op && row.targets.has(target))
}

/// Modifiers of a vector instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mods {
    pub neg: u8,
    pub abs: u8,
    pub omod: u8,
    pub clamp: bool,
    /// VOP3 and VOP3P op_sel; bit 3 is the destination's half.
    pub op_sel: u8,
    /// VOP3P op_sel_hi.
    pub op_sel_hi: u8,
    /// VOP3P neg_hi.
    pub neg_hi: u8,
}

/// The form of a vector instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    #[default]
    Plain,
    /// The extra word of the SDWA form.
    Sdwa(u32),
    /// The extra word of the DPP form.
    Dpp(u32),
}

/// Flag bits of memory instructions.
pub(crate) mod flag {
    pub(crate) const GLC: u16 = 1;
    pub(crate) const SLC: u16 = 2;
    pub(crate) const SCC: u16 = 4;
    pub(crate) const OFFEN: u16 = 16;
    pub(crate) const IDXEN: u16 = 32;
    pub(crate) const LDS: u16 = 64;
    /// SMEM: the immediate offset is there.
    pub(crate) const IMM: u16 = 128;
    /// SMEM: an SGPR offset is there.
    pub(crate) const SOFFSET: u16 = 256;
    pub(crate) const NV: u16 = 512;
    /// The SVE bit of gfx940 scratch instructions: a VGPR address is there.
    pub(crate) const SVE: u16 = 1024;
}

/// A decoded instruction.
#[derive(Clone)]
pub(crate) struct Inst {
    pub row: &'static Row,
    pub encoding: Encoding,
    pub exec: Exec,
    pub form: Form,
    pub dst: Opnd,
    /// Second, scalar destination.
    pub sdst: Opnd,
    pub src: [Opnd; 4],
    pub mods: Mods,
    /// Immediate: simm16, memory offset, or the K of v_madmk and v_madak.
    pub imm: i32,
    pub flags: u16,
    /// Words it takes.
    pub len: u8,
    pub words: [u32; 2],
    pub target: super::Target,
    /// Address; branch targets are relative to it.
    pub pc: u64,
}

impl Inst {
    pub(crate) fn flag(&self, bit: u16) -> bool {
        self.flags & bit != 0
    }
}

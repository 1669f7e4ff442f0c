//! The state of a wave, and what an instruction can reach.

use super::inst::{EXEC, Inst, M0, Opnd, Trouble, Ty, VCC};
use super::lane::{LANES, Out, Reg};
use super::mem::Access;
use crate::dispatch::FaultKind;

/// Scalar registers, with room for a multi-word access that starts at the last one.
pub(crate) const SCALARS: usize = 128 + 16;
/// Vector and accumulation registers, with room for an access that starts at the last one.
pub(crate) const VECTORS: usize = 512 + 32;

/// MODE register bits.
pub(crate) mod mode {
    /// VGPR indexing is on.
    pub(crate) const GPR_IDX: u32 = 1 << 27;
    /// Single-precision denormals, as sources and as results.
    pub(crate) const DENORMALS_32: u32 = 0x30;
}

/// Whether the float part of a MODE register is emulated: rounding to nearest, half and double
/// precision with denormals, single precision with or without.
pub(crate) fn float_mode_is_emulated(bits: u32) -> bool {
    matches!(bits & 0xff, 0xf0 | 0xc0)
}

/// The high words of the flat address windows that mean LDS and scratch.
pub(crate) const SHARED_BASE_HI: u32 = 0x0001_0000;
pub(crate) const PRIVATE_BASE_HI: u32 = 0x0002_0000;

/// The registers of one wave.
pub(crate) struct Wave {
    pub s: Box<[u32; SCALARS]>,
    pub v: Box<[Reg]>,
    pub scc: bool,
    /// Device address of the next instruction.
    pub pc: u64,
    pub mode: u32,
    /// Executed instructions; also what the clock instructions count.
    pub instructions: u64,
    /// Scratch of this wave: its address, which is its host address, and size.
    pub scratch: u64,
    pub scratch_bytes: u64,
    pub index: u32,
    pub out: Box<Out>,
    pub tmp: Box<[[Reg; 4]; 4]>,
}

impl Wave {
    pub(crate) fn new() -> Self {
        Self {
            s: Box::new([0; SCALARS]),
            v: vec![[0; LANES]; VECTORS].into_boxed_slice(),
            scc: false,
            pc: 0,
            mode: 0,
            instructions: 0,
            scratch: 0,
            scratch_bytes: 0,
            index: 0,
            out: Box::new(Out::new()),
            tmp: Box::new([[[0; LANES]; 4]; 4]),
        }
    }

    /// Zeroes the vector registers and accumulation registers that a kernel has.
    pub(crate) fn clear_vectors(&mut self, (vectors, accumulators): (usize, usize)) {
        self.v[..vectors].fill([0; LANES]);
        let first = usize::from(super::inst::ACC);
        self.v[first..first + accumulators].fill([0; LANES]);
    }

    #[inline(always)]
    pub(crate) fn s64(&self, at: u8) -> u64 {
        let at = usize::from(at);
        u64::from(self.s[at]) | u64::from(self.s[at + 1]) << 32
    }

    #[inline(always)]
    pub(crate) fn set_s64(&mut self, at: u8, value: u64) {
        let at = usize::from(at);
        self.s[at] = value as u32;
        self.s[at + 1] = (value >> 32) as u32;
    }

    #[inline(always)]
    pub(crate) fn exec(&self) -> u64 {
        self.s64(EXEC)
    }

    pub(crate) fn vcc(&self) -> u64 {
        self.s64(VCC)
    }

    pub(crate) fn m0(&self) -> u32 {
        self.s[usize::from(M0)]
    }

    /// A scalar operand's value; of a vector register, lane 0's.
    #[inline]
    pub(crate) fn scalar(&self, operand: Opnd, ty: Ty) -> u64 {
        match operand {
            Opnd::None => 0,
            Opnd::S(at) if ty.regs() >= 2 => self.s64(at),
            Opnd::S(at) => u64::from(self.s[usize::from(at)]),
            Opnd::V(at) => u64::from(self.v[usize::from(at)][0]),
            Opnd::Inline(code) => inline_value(code, ty),
            Opnd::Special(code) => self.special(code),
            Opnd::Literal(word) => literal_value(word, ty),
        }
    }

    fn special(&self, code: u8) -> u64 {
        match code {
            235 => u64::from(SHARED_BASE_HI) << 32,
            236 => u64::from(SHARED_BASE_HI) << 32 | 0xffff_ffff,
            237 => u64::from(PRIVATE_BASE_HI) << 32,
            238 => u64::from(PRIVATE_BASE_HI) << 32 | 0xffff_ffff,
            251 => u64::from(self.vcc() == 0),
            252 => u64::from(self.exec() == 0),
            253 => u64::from(self.scc),
            // The decoder lets no other code through.
            _other => 0,
        }
    }

    /// Writes a scalar result.
    #[inline]
    pub(crate) fn set_scalar(&mut self, operand: Opnd, ty: Ty, value: u64) {
        if let Opnd::S(at) = operand {
            if ty.regs() >= 2 {
                self.set_s64(at, value);
            } else {
                self.s[usize::from(at)] = value as u32;
            }
        }
    }
}

/// What an inline constant means for an operand type.
pub(crate) fn inline_value(code: u8, ty: Ty) -> u64 {
    let integer = match code {
        128..=192 => i64::from(code) - 128,
        193..=208 => 192 - i64::from(code),
        _float => return inline_float(code, ty),
    };
    match ty {
        // Only the low word of a pair of single-precision values takes the constant.
        Ty::Pk32 => integer as u32 as u64,
        _wide if ty.regs() >= 2 => integer as u64,
        _word => u64::from(integer as u32),
    }
}

fn inline_float(code: u8, ty: Ty) -> u64 {
    let value: f64 = match code {
        240 => 0.5,
        241 => -0.5,
        242 => 1.0,
        243 => -1.0,
        244 => 2.0,
        245 => -2.0,
        246 => 4.0,
        247 => -4.0,
        // 248, 1/(2 pi): each format has its own rounding of it.
        _inverse_of_two_pi => {
            return match ty {
                _half if ty.is_16() || matches!(ty, Ty::PkF16 | Ty::PkB16) => 0x3118,
                Ty::B64 | Ty::F64 | Ty::Mask | Ty::B64Mask | Ty::F64Mask => 0x3fc4_5f30_6dc9_c882,
                _single => 0x3e22_f983,
            };
        }
    };
    match ty {
        _half if ty.is_16() || matches!(ty, Ty::PkF16 | Ty::PkB16) => {
            u64::from(super::float::f64_to_f16(value).0)
        }
        Ty::B64 | Ty::F64 | Ty::Mask | Ty::B64Mask | Ty::F64Mask => value.to_bits(),
        _single => u64::from((value as f32).to_bits()),
    }
}

/// What a literal means: the high word of a double, else the value itself.
pub(crate) fn literal_value(word: u32, ty: Ty) -> u64 {
    match ty {
        Ty::F64 | Ty::F64Mask => u64::from(word) << 32,
        Ty::B64 | Ty::Mask => word as i32 as i64 as u64,
        _word => u64::from(word),
    }
}

/// What one instruction can reach: its wave, the LDS of its workgroup, and memory.
pub(crate) struct Cx<'a, 'm> {
    pub wave: &'a mut Wave,
    pub lds: &'a mut [u8],
    pub mem: &'a mut Access<'m>,
}

impl Cx<'_, '_> {
    /// Writes `out.v[..regs]` to a vector register in the lanes of `mask`.
    #[inline]
    pub(crate) fn write_v(&mut self, dst: Opnd, regs: usize, mask: u64) {
        let Opnd::V(at) = dst else { return };
        let at = usize::from(at);
        for k in 0..regs {
            merge(&mut self.wave.v[at + k], &self.wave.out.v[k], mask);
        }
    }

    /// An LDS access in range, as a byte range.
    #[inline]
    pub(crate) fn lds_range(
        &self,
        offset: u64,
        bytes: u32,
        lane: usize,
    ) -> Result<std::ops::Range<usize>, Box<Trouble>> {
        let end = offset + u64::from(bytes);
        if end <= self.lds.len() as u64 {
            Ok(offset as usize..end as usize)
        } else {
            let size = self.lds.len() as u32;
            Err(Trouble::lane(FaultKind::LdsOutOfRange { offset, bytes, size }, lane))
        }
    }
}

/// Copies the lanes of `mask`.
#[inline]
pub(crate) fn merge(to: &mut Reg, from: &Reg, mask: u64) {
    if mask == u64::MAX {
        *to = *from;
        return;
    }
    for half in 0..2 {
        let bits = (mask >> (32 * half)) as u32;
        for i in 0..32 {
            let lane = 32 * half + i;
            to[lane] = if bits & (1 << i) != 0 { from[lane] } else { to[lane] };
        }
    }
}

impl Inst {
    /// The 16-bit immediate, sign-extended.
    pub(crate) fn simm16(&self) -> i64 {
        i64::from(self.imm as i16)
    }
}

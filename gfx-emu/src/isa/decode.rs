//! From words to an instruction: which encoding, and what the encodings have in common.

use super::inst::{Encoding, Form, Inst, Mods, Opnd, Row, Run, find};
use super::{Target, ds, flat, mubuf, smem, sop1, sop2, sopc, sopk, sopp};
use super::{valu, vop1, vop2, vop3, vop3p, vopc};
use crate::dispatch::FaultKind;

/// The words at one address, and how far they go.
pub(crate) struct Words<'a> {
    pub target: Target,
    pub pc: u64,
    pub words: &'a [u32],
}

impl Words<'_> {
    pub(crate) fn first(&self) -> u32 {
        self.words[0]
    }

    /// The second word of a 64-bit encoding, or of an extra word.
    pub(crate) fn second(&self, encoding: Encoding) -> Result<u32, FaultKind> {
        match self.words.get(1) {
            Some(&word) => Ok(word),
            None => Err(self.unknown(encoding, "its second word is beyond the text")),
        }
    }

    pub(crate) fn unknown(&self, encoding: Encoding, what: impl Into<String>) -> FaultKind {
        FaultKind::UnknownInstruction {
            target: self.target.name(),
            encoding: encoding.name(),
            words: self.words.iter().copied().take(2).collect(),
            what: what.into(),
        }
    }

    /// The row of an opcode, or the fault that names it.
    pub(crate) fn row(
        &self,
        encoding: Encoding,
        rows: &'static [Row],
        op: u32,
    ) -> Result<&'static Row, FaultKind> {
        find(rows, op, self.target)
            .ok_or_else(|| self.unknown(encoding, format!("opcode {op:#x} is not implemented")))
    }

    /// An instruction without operands yet.
    pub(crate) fn inst(&self, encoding: Encoding, row: &'static Row, len: u8) -> Inst {
        let mut words = [0; 2];
        for (to, from) in words.iter_mut().zip(self.words) {
            *to = *from;
        }
        Inst {
            row,
            encoding,
            exec: match row.run {
                Run::Exec(exec) => exec,
                Run::Lanes(_) => valu::plain,
                Run::Scalar(_) => sop2::execute,
                Run::Mem(_) => flat::execute,
            },
            form: Form::Plain,
            dst: Opnd::None,
            sdst: Opnd::None,
            src: [Opnd::None; 4],
            mods: Mods::default(),
            imm: 0,
            flags: 0,
            len,
            words,
            target: self.target,
            pc: self.pc,
        }
    }

    /// A scalar source field of 8 bits. A literal needs the next word.
    pub(crate) fn scalar_source(
        &self,
        encoding: Encoding,
        code: u32,
        len: &mut u8,
    ) -> Result<Opnd, FaultKind> {
        let code = (code & 0xff) as u8;
        match code {
            0..=127 if code != 125 => Ok(Opnd::S(code)),
            128..=208 | 240..=248 => Ok(Opnd::Inline(code)),
            235..=238 | 251..=253 => Ok(Opnd::Special(code)),
            255 => {
                *len = 2;
                Ok(Opnd::Literal(self.second(encoding)?))
            }
            _other => Err(self.unknown(encoding, format!("source operand {code}"))),
        }
    }

    /// A source field of 9 bits.
    pub(crate) fn vector_source(
        &self,
        encoding: Encoding,
        code: u32,
        len: &mut u8,
    ) -> Result<Opnd, FaultKind> {
        let code = code & 0x1ff;
        if code >= 256 {
            Ok(Opnd::V((code - 256) as u16))
        } else {
            self.scalar_source(encoding, code, len)
        }
    }

    /// A scalar destination field of 7 bits.
    pub(crate) fn scalar_destination(
        &self,
        encoding: Encoding,
        code: u32,
    ) -> Result<Opnd, FaultKind> {
        let code = (code & 0x7f) as u8;
        if code == 125 {
            return Err(self.unknown(encoding, "destination operand 125"));
        }
        Ok(Opnd::S(code))
    }
}

/// Decodes the instruction at the start of `words`, which are not empty.
pub(crate) fn decode(words: &Words<'_>) -> Result<Inst, FaultKind> {
    let w = words.first();
    if w >> 31 == 0 {
        return match w >> 25 {
            0x3f => vop1::decode(words),
            0x3e => vopc::decode(words),
            _vop2 => vop2::decode(words),
        };
    }
    if w >> 30 == 0b10 {
        return match w >> 23 {
            0x17d => sop1::decode(words),
            0x17e => sopc::decode(words),
            0x17f => sopp::decode(words),
            _other if w >> 28 == 0xb => sopk::decode(words),
            _sop2 => sop2::decode(words),
        };
    }
    match w >> 26 {
        0x30 => smem::decode(words),
        0x34 if w >> 23 == 0x1a7 => vop3p::decode(words),
        0x34 => vop3::decode(words),
        0x36 => ds::decode(words),
        0x37 => flat::decode(words),
        0x38 => mubuf::decode(words),
        _other => Err(words.unknown(Encoding::Unknown, "no encoding has these top bits")),
    }
}

//! The instruction set: decode, disassembly text and execution of GFX9 machine code.
//!
//! Each encoding has one file with one table; a row holds the opcode's number, mnemonic,
//! operand shape and semantics, and decode, text and execution all read that row. This module
//! knows nothing of launches, streams or who loaded the code.

mod decode;
mod ds;
mod flat;
mod float;
mod inst;
mod lane;
mod mem;
mod mubuf;
mod program;
mod smem;
mod sop1;
mod sop2;
mod sopc;
mod sopk;
mod sopp;
mod state;
#[cfg(test)]
mod tests;
mod text;
mod valu;
mod vop1;
mod vop2;
mod vop3;
mod vop3p;
mod vopc;

pub(crate) use inst::{FLAT_SCRATCH, Flow};
pub(crate) use mem::Access;
pub use program::{Kernel, Program};
pub(crate) use state::{Cx, Wave, float_mode_is_emulated};

use std::fmt;
use std::str::FromStr;

use inst::{Encoding, Row};

/// A GPU whose instruction set is emulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Target {
    /// Vega 20.
    Gfx906,
    /// CDNA 2 (MI200).
    #[default]
    Gfx90a,
    /// CDNA 3 (MI300).
    Gfx942,
}

impl Target {
    /// Every target.
    pub const ALL: [Self; 3] = [Self::Gfx906, Self::Gfx90a, Self::Gfx942];

    /// The name that code objects and compilers use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gfx906 => "gfx906",
            Self::Gfx90a => "gfx90a",
            Self::Gfx942 => "gfx942",
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name is no target that is emulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownTarget(pub String);

impl fmt::Display for UnknownTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no emulated target is named \"{}\"", self.0)
    }
}

impl std::error::Error for UnknownTarget {}

impl FromStr for Target {
    type Err = UnknownTarget;

    fn from_str(name: &str) -> Result<Self, UnknownTarget> {
        Self::ALL
            .into_iter()
            .find(|target| target.name() == name)
            .ok_or_else(|| UnknownTarget(name.to_owned()))
    }
}

/// An opcode that is implemented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opcode {
    /// The encoding whose table it is in.
    pub encoding: &'static str,
    /// Its number there.
    pub number: u16,
    /// Its mnemonic, without the suffix of the encoding.
    pub name: &'static str,
}

/// Every opcode that a target has and that is implemented.
pub fn opcodes(target: Target) -> impl Iterator<Item = Opcode> {
    let single: [(Encoding, &'static [Row]); 10] = [
        (Encoding::Sop1, sop1::ROWS),
        (Encoding::Sop2, sop2::ROWS),
        (Encoding::Sopk, sopk::ROWS),
        (Encoding::Sopc, sopc::ROWS),
        (Encoding::Sopp, sopp::ROWS),
        (Encoding::Smem, smem::ROWS),
        (Encoding::Vop1, vop1::ROWS),
        (Encoding::Vop2, vop2::ROWS),
        (Encoding::Vop3, vop3::ROWS),
        (Encoding::Vop3p, vop3p::ROWS),
    ];
    let families: [(Encoding, &'static [&'static [Row]]); 6] = [
        (Encoding::Vopc, vopc::FAMILIES),
        (Encoding::Ds, ds::TABLES),
        (Encoding::Flat, flat::FLAT),
        (Encoding::Global, flat::GLOBAL),
        (Encoding::Scratch, flat::SCRATCH),
        (Encoding::Mubuf, mubuf::TABLES),
    ];
    let families = families
        .into_iter()
        .flat_map(|(encoding, tables)| tables.iter().map(move |rows| (encoding, *rows)));
    single
        .into_iter()
        .chain(families)
        .flat_map(|(encoding, rows)| rows.iter().map(move |row| (encoding, row)))
        .filter(move |(_, row)| row.targets.has(target))
        .map(|(encoding, row)| Opcode { encoding: encoding.name(), number: row.op, name: row.name })
}

//! What can go wrong in a launch, and where it did.

use std::fmt;

/// Where in a launch a fault happened; what does not apply is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// The kernel's name.
    pub kernel: String,
    /// Address of the instruction.
    pub pc: Option<u64>,
    /// The workgroup.
    pub workgroup: Option<[u32; 3]>,
    /// Wave inside the workgroup.
    pub wave: Option<u32>,
    /// Lane inside the wave.
    pub lane: Option<u32>,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The address belongs to no live allocation.
    IllegalAddress {
        /// The address.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
        /// Whether the access would have written.
        write: bool,
    },
    /// The access needs an alignment that the address lacks.
    Unaligned {
        /// The address.
        address: u64,
        /// The alignment needed.
        align: u32,
    },
    /// An LDS access beyond the LDS of its workgroup.
    LdsOutOfRange {
        /// The byte offset.
        offset: u64,
        /// Bytes of the access.
        bytes: u32,
        /// Bytes of LDS that the workgroup has.
        size: u32,
    },
    /// The program counter left the code object's text.
    IllegalPc {
        /// The program counter.
        pc: u64,
    },
    /// Words that no instruction of the target matches, or one that is not implemented.
    UnknownInstruction {
        /// The target's name.
        target: &'static str,
        /// The encoding the words belong to.
        encoding: &'static str,
        /// The words.
        words: Vec<u32>,
        /// What is not known about them.
        what: String,
    },
    /// The instruction is known, and asks for something that is not emulated.
    Unsupported {
        /// The instruction as text.
        instruction: String,
        /// What is not emulated.
        what: String,
    },
    /// `s_trap`, as `abort()` and failed device assertions end in.
    Trap {
        /// The trap's number.
        id: u8,
    },
    /// The host could not do what the kernel asked it for.
    Host(String),
    /// The launch asks for what the device does not have.
    Launch(String),
}

/// A fault of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// Where. Boxed, so that the `Result` of an instruction stays small.
    pub site: Box<Site>,
}

impl Fault {
    /// A fault at a place.
    pub fn at(kind: FaultKind, site: Site) -> Self {
        Self { kind, site: Box::new(site) }
    }
}

impl std::error::Error for Fault {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel {}: {}", self.site.kernel, self.kind)?;
        if let Some(pc) = self.site.pc {
            write!(f, ", pc {pc:#x}")?;
        }
        if let Some([x, y, z]) = self.site.workgroup {
            write!(f, ", workgroup ({x},{y},{z})")?;
        }
        if let Some(wave) = self.site.wave {
            write!(f, ", wave {wave}")?;
        }
        if let Some(lane) = self.site.lane {
            write!(f, ", lane {lane}")?;
        }
        Ok(())
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IllegalAddress { address, bytes, write } => {
                let verb = if *write { "write" } else { "read" };
                write!(f, "illegal address {address:#x} ({verb} of {bytes} bytes)")
            }
            Self::Unaligned { address, align } => {
                write!(f, "address {address:#x} is not aligned to {align} bytes")
            }
            Self::LdsOutOfRange { offset, bytes, size } => {
                write!(f, "LDS access of {bytes} bytes at {offset:#x}, beyond {size} bytes of LDS")
            }
            Self::IllegalPc { pc } => write!(f, "program counter {pc:#x} outside the code object"),
            Self::UnknownInstruction { target, encoding, words, what } => {
                write!(f, "unknown {target} instruction, encoding {encoding}, words")?;
                for word in words {
                    write!(f, " {word:08x}")?;
                }
                write!(f, ": {what}")
            }
            Self::Unsupported { instruction, what } => {
                write!(f, "instruction \"{instruction}\": {what} is not emulated")
            }
            Self::Trap { id } => write!(f, "trap {id}"),
            Self::Host(what) => write!(f, "call of the host: {what}"),
            Self::Launch(what) => write!(f, "launch refused: {what}"),
        }
    }
}

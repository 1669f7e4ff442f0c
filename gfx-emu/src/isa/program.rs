//! Text of a code object, decoded once and shared by its kernels.

use std::sync::Arc;

use hip_code::KernelDescriptor;

use super::Target;
use crate::dispatch::Site;

/// The text section of one loaded code object.
pub struct Program {
    target: Target,
    base: u64,
    words: Box<[u32]>,
}

impl Program {
    /// Takes the text section; `base` is the device address of its first byte.
    pub fn new(target: Target, base: u64, text: &[u8]) -> Arc<Self> {
        let words = text.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        Arc::new(Self { target, base, words: words.collect() })
    }

    /// The target whose code this is.
    pub fn target(&self) -> Target {
        self.target
    }

    /// Device addresses of the text.
    pub fn addresses(&self) -> std::ops::Range<u64> {
        self.base..self.base + 4 * self.words.len() as u64
    }
}

/// A kernel that can be launched.
pub struct Kernel {
    name: String,
    program: Arc<Program>,
    entry: u64,
    descriptor: KernelDescriptor,
}

impl Kernel {
    /// A kernel of its own program: `code` is the text from the entry on.
    pub fn new(target: Target, code: &[u8], entry: u64, descriptor: KernelDescriptor) -> Self {
        let name = format!("at {entry:#x}");
        Self::in_program(name, Program::new(target, entry, code), entry, descriptor)
    }

    /// A kernel of a program that it shares with other kernels and functions.
    pub fn in_program(
        name: impl Into<String>,
        program: Arc<Program>,
        entry: u64,
        descriptor: KernelDescriptor,
    ) -> Self {
        Self { name: name.into(), program, entry, descriptor }
    }

    /// The kernel's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text that the kernel is in.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Address of the first instruction.
    pub fn entry(&self) -> u64 {
        self.entry
    }

    /// The kernel descriptor.
    pub fn descriptor(&self) -> &KernelDescriptor {
        &self.descriptor
    }

    pub(crate) fn site(&self) -> Site {
        Site { kernel: self.name.clone(), ..Site::default() }
    }
}

//! Text of a code object, decoded once and shared by its kernels.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use hip_code::KernelDescriptor;

use super::Target;
use super::decode::{Words, decode};
use super::inst::{Flow, Inst, Run, Trouble};
use super::mem::MemOp;
use super::sopp::branch_target;
use super::state::{Cx, mode};
use crate::dispatch::{FaultKind, Site};

type Decoded = Result<Inst, FaultKind>;

/// The text section of one loaded code object.
pub struct Program {
    target: Target,
    base: u64,
    words: Box<[u32]>,
    /// The instruction that starts at each word, once it was reached.
    decoded: Box<[OnceLock<Box<Decoded>>]>,
}

impl Program {
    /// Takes the text section; `base` is the device address of its first byte.
    pub fn new(target: Target, base: u64, text: &[u8]) -> Arc<Self> {
        let words = text.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let words: Box<[u32]> = words.collect();
        let decoded = words.iter().map(|_| OnceLock::new()).collect();
        Arc::new(Self { target, base, words, decoded })
    }

    /// The target whose code this is.
    pub fn target(&self) -> Target {
        self.target
    }

    /// Device addresses of the text.
    pub fn addresses(&self) -> std::ops::Range<u64> {
        self.base..self.base + 4 * self.words.len() as u64
    }

    /// The disassembly of the instruction at an address and its length in bytes.
    pub fn disassemble(&self, pc: u64) -> Result<(String, u64), FaultKind> {
        let index = self.index(pc).ok_or(FaultKind::IllegalPc { pc })?;
        match self.instruction(index) {
            Ok(inst) => Ok((inst.text(), 4 * u64::from(inst.len))),
            Err(kind) => Err(kind.clone()),
        }
    }

    fn index(&self, pc: u64) -> Option<usize> {
        let offset = pc.checked_sub(self.base)?;
        let index = usize::try_from(offset / 4).ok()?;
        (offset.is_multiple_of(4) && index < self.words.len()).then_some(index)
    }

    #[inline(always)]
    fn instruction(&self, index: usize) -> &Decoded {
        match self.decoded[index].get() {
            Some(inst) => inst,
            None => self.decode_at(index),
        }
    }

    #[cold]
    fn decode_at(&self, index: usize) -> &Decoded {
        self.decoded[index].get_or_init(|| {
            Box::new(decode(&Words {
                target: self.target,
                pc: self.base + 4 * index as u64,
                words: &self.words[index..],
            }))
        })
    }

    /// Runs a wave until it ends, waits, or has taken `backward` branches back.
    pub(crate) fn run(&self, cx: &mut Cx<'_, '_>, backward: u64) -> Result<Flow, Box<Trouble>> {
        let mut left = backward;
        let mut index = self.enter(cx.wave.pc)?;
        loop {
            let inst = match self.instruction(index) {
                Ok(inst) => inst,
                Err(kind) => {
                    cx.wave.pc = self.base + 4 * index as u64;
                    return Err(Trouble::new(kind.clone()));
                }
            };
            cx.wave.instructions += 1;
            let flow = if cx.wave.mode & mode::GPR_IDX == 0 {
                (inst.exec)(cx, inst)
            } else {
                indexed(cx, inst)
            };
            match flow {
                Ok(Flow::Next) => {
                    index += usize::from(inst.len);
                    if index >= self.words.len() {
                        cx.wave.pc = self.base + 4 * index as u64;
                        return Err(Trouble::new(FaultKind::IllegalPc { pc: cx.wave.pc }));
                    }
                }
                Ok(Flow::Jump(to)) => {
                    let from = index;
                    index = self.enter(to).inspect_err(|_| cx.wave.pc = inst.pc)?;
                    if index <= from {
                        if left == 0 {
                            cx.wave.pc = to;
                            return Ok(Flow::Yield);
                        }
                        left -= 1;
                    }
                }
                Ok(other) => {
                    cx.wave.pc = inst.pc + 4 * u64::from(inst.len);
                    return Ok(other);
                }
                Err(trouble) => {
                    cx.wave.pc = inst.pc;
                    return Err(trouble);
                }
            }
        }
    }

    fn enter(&self, pc: u64) -> Result<usize, Box<Trouble>> {
        self.index(pc).ok_or_else(|| Trouble::new(FaultKind::IllegalPc { pc }))
    }

    /// Whether code that is reachable from `entry` has atomics on memory. Where a call's
    /// target is not known, the whole text counts.
    fn reaches_atomics(&self, entry: u64) -> bool {
        let mut seen = BTreeSet::new();
        let mut open: Vec<usize> = self.index(entry).into_iter().collect();
        while let Some(index) = open.pop() {
            if index >= self.words.len() || !seen.insert(index) {
                continue;
            }
            let Ok(inst) = self.instruction(index) else { continue };
            if is_memory_atomic(inst) {
                return true;
            }
            let next = index + usize::from(inst.len);
            match inst.row.name {
                "s_endpgm" | "s_endpgm_saved" => {}
                "s_setpc_b64" | "s_swappc_b64" | "s_call_b64" => return self.has_atomics(),
                "s_branch" => open.extend(self.index(branch_target(inst))),
                name if name.starts_with("s_cbranch") => {
                    open.extend(self.index(branch_target(inst)));
                    open.push(next);
                }
                _straight => open.push(next),
            }
        }
        false
    }

    fn has_atomics(&self) -> bool {
        let mut index = 0;
        while index < self.words.len() {
            index += match self.instruction(index) {
                Ok(inst) if is_memory_atomic(inst) => return true,
                Ok(inst) => usize::from(inst.len),
                Err(_) => 1,
            };
        }
        false
    }
}

fn is_memory_atomic(inst: &Inst) -> bool {
    let memory = inst.encoding != super::inst::Encoding::Ds;
    memory && matches!(inst.row.run, Run::Mem(MemOp::Atomic { .. }))
}

/// Executes an instruction with VGPR indexing on: M0 moves the vector registers of the
/// operands that its second byte selects.
fn indexed(cx: &mut Cx<'_, '_>, inst: &Inst) -> super::inst::Step {
    if !matches!(inst.row.run, Run::Lanes(_)) {
        return (inst.exec)(cx, inst);
    }
    let m0 = cx.wave.m0();
    let by = (m0 & 0xff) as u16;
    let mut moved = inst.clone();
    let [a, b, c, _] = &mut moved.src;
    let operands = [a, b, c, &mut moved.dst];
    for (k, operand) in operands.into_iter().enumerate() {
        if m0 >> (12 + k) & 1 == 0 {
            continue;
        }
        if let super::inst::Opnd::V(at) = operand {
            if *at + by > 255 {
                return Err(Trouble::unsupported(inst, format!("vector register {}", *at + by)));
            }
            *at += by;
        }
    }
    (inst.exec)(cx, &moved)
}

/// A kernel that can be launched.
pub struct Kernel {
    name: String,
    program: Arc<Program>,
    entry: u64,
    descriptor: KernelDescriptor,
    atomics: OnceLock<bool>,
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
        Self { name: name.into(), program, entry, descriptor, atomics: OnceLock::new() }
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

    /// Whether the kernel may do atomics on memory: its workgroups then run in order.
    pub fn has_memory_atomics(&self) -> bool {
        *self.atomics.get_or_init(|| self.program.reaches_atomics(self.entry))
    }

    pub(crate) fn site(&self) -> Site {
        Site { kernel: self.name.clone(), ..Site::default() }
    }
}

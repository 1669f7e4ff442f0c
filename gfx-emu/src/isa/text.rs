//! Disassembly text, as LLVM writes it.

use super::inst::Inst;

impl Inst {
    /// The instruction as text.
    pub(crate) fn text(&self) -> String {
        self.row.name.to_owned()
    }
}

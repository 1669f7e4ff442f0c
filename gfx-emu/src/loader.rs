//! Code objects in device memory: placed, relocated, their symbols and kernels found by name.
//!
//! Facts: LLVM AMDGPUUsage, "Loader", "Relocation Records" and "Kernel Descriptor". Which code
//! object of a bundle is loaded, and for which device, is the caller's choice.

use std::collections::HashMap;
use std::sync::Arc;

/// The parser of code objects, for fronts that choose what to load and pass arguments.
pub use hip_code as code;
use hip_code::{
    CodeError, CodeObject, KERNEL_DESCRIPTOR_BYTES, KernelDescriptor, KernelMetadata, Relocation,
    RelocationKind, Symbol, SymbolKind,
};

use crate::isa::{Kernel, Program, Target, UnknownTarget};
use crate::memory::{AddressSpace, MemoryError, PAGE_BYTES};

/// Why a code object was not loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It could not be read.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// It is for a target that is not emulated.
    #[error(transparent)]
    Target(#[from] UnknownTarget),
    /// There is no memory for it.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A relocation cannot be applied.
    #[error("relocation {kind:?} at {offset:#x}: {what}")]
    Relocation {
        /// Its type.
        kind: RelocationKind,
        /// Its place.
        offset: u64,
        /// What is wrong.
        what: String,
    },
    /// The metadata names a kernel that the symbols or the code do not have.
    #[error("kernel {name}: {what}")]
    Kernel {
        /// The kernel's name.
        name: String,
        /// What is missing.
        what: &'static str,
    },
    /// Sections or segments that do not fit into an address range.
    #[error("the object's {0} wrap")]
    Layout(&'static str),
}

/// A kernel that can be launched, and what its caller must know about it.
pub struct LoadedKernel {
    /// For [`crate::dispatch::run`].
    pub kernel: Kernel,
    /// Arguments and resources.
    pub metadata: KernelMetadata,
    /// Device address of its descriptor.
    pub descriptor_address: u64,
}

/// A variable in device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Device address.
    pub address: u64,
    /// Size in bytes.
    pub bytes: u64,
}

/// A code object in device memory.
pub struct LoadedObject {
    base: u64,
    kernels: HashMap<String, Arc<LoadedKernel>>,
    variables: HashMap<String, Variable>,
}

impl LoadedObject {
    /// Loads an ELF object.
    pub fn load(space: &AddressSpace, elf: &[u8]) -> Result<Self, LoadError> {
        let object = CodeObject::parse(elf)?;
        let target: Target = object.target.processor.parse()?;
        let metadata = object.metadata()?;
        let layout = Layout::of(&object)?;
        let base = space.alloc(layout.bytes.max(1), PAGE_BYTES)?;
        let placed = Placed { space, object: &object, layout: &layout, base };
        let loaded = placed.fill().and_then(|()| placed.kernels(target, metadata.kernels));
        match loaded {
            Ok(kernels) => Ok(Self { base, kernels, variables: placed.variables() }),
            Err(error) => {
                space.free(base)?;
                Err(error)
            }
        }
    }

    /// Frees the memory of the object. Nothing of it may be in use.
    pub fn unload(&self, space: &AddressSpace) -> Result<(), MemoryError> {
        space.free(self.base)
    }

    /// Where the object was placed.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// The kernel of that name.
    pub fn kernel(&self, name: &str) -> Option<&Arc<LoadedKernel>> {
        self.kernels.get(name)
    }

    /// All kernels, in no particular order.
    pub fn kernels(&self) -> impl Iterator<Item = &Arc<LoadedKernel>> {
        self.kernels.values()
    }

    /// All variables, in no particular order.
    pub fn variables(&self) -> impl Iterator<Item = (&str, Variable)> {
        self.variables.iter().map(|(name, variable)| (name.as_str(), *variable))
    }

    /// The variable of that name.
    pub fn variable(&self, name: &str) -> Option<Variable> {
        self.variables.get(name).copied()
    }
}

/// A stretch of the object's memory.
struct Part<'a> {
    offset: u64,
    memory_bytes: u64,
    data: &'a [u8],
    executable: bool,
}

/// What goes where, relative to the base.
struct Layout<'a> {
    parts: Vec<Part<'a>>,
    /// Offset of each section of a relocatable object that is loaded.
    sections: HashMap<usize, u64>,
    /// Offset of the slot that holds a symbol's address, for relocations that ask for one.
    slots: HashMap<usize, u64>,
    bytes: u64,
}

impl<'a> Layout<'a> {
    fn of(object: &CodeObject<'a>) -> Result<Self, LoadError> {
        let mut layout =
            Self { parts: Vec::new(), sections: HashMap::new(), slots: HashMap::new(), bytes: 0 };
        if object.relocatable {
            layout.place_sections(object)?;
        } else {
            layout.place_segments(object)?;
        }
        layout.place_slots(object)?;
        Ok(layout)
    }

    fn place_segments(&mut self, object: &CodeObject<'a>) -> Result<(), LoadError> {
        for segment in &object.segments {
            let end = segment.address.checked_add(segment.memory_bytes);
            self.bytes = self.bytes.max(end.ok_or(LoadError::Layout("segments"))?);
            self.parts.push(Part {
                offset: segment.address,
                memory_bytes: segment.memory_bytes,
                data: segment.data,
                executable: segment.executable,
            });
        }
        Ok(())
    }

    fn place_sections(&mut self, object: &CodeObject<'a>) -> Result<(), LoadError> {
        let wraps = || LoadError::Layout("sections");
        for (index, section) in object.sections.iter().enumerate() {
            if !section.loaded {
                continue;
            }
            let offset = self.bytes.checked_next_multiple_of(section.align).ok_or_else(wraps)?;
            self.bytes = offset.checked_add(section.memory_bytes).ok_or_else(wraps)?;
            self.sections.insert(index, offset);
            self.parts.push(Part {
                offset,
                memory_bytes: section.memory_bytes,
                data: section.data,
                executable: section.executable,
            });
        }
        Ok(())
    }

    fn place_slots(&mut self, object: &CodeObject<'_>) -> Result<(), LoadError> {
        for relocation in &object.relocations {
            let (RelocationKind::GotPcRel
            | RelocationKind::GotPcRel32Lo
            | RelocationKind::GotPcRel32Hi) = relocation.kind
            else {
                continue;
            };
            let Some(symbol) = relocation.symbol else { continue };
            if self.slots.contains_key(&symbol) {
                continue;
            }
            let wraps = || LoadError::Layout("sections");
            let offset = self.bytes.checked_next_multiple_of(8).ok_or_else(wraps)?;
            self.bytes = offset.checked_add(8).ok_or_else(wraps)?;
            self.slots.insert(symbol, offset);
        }
        Ok(())
    }
}

/// An object whose memory is allocated.
struct Placed<'a> {
    space: &'a AddressSpace,
    object: &'a CodeObject<'a>,
    layout: &'a Layout<'a>,
    base: u64,
}

impl Placed<'_> {
    /// Writes the bytes, then what the relocations say.
    fn fill(&self) -> Result<(), LoadError> {
        for part in &self.layout.parts {
            self.space.write(self.base + part.offset, part.data)?;
        }
        for (&symbol, &offset) in &self.layout.slots {
            let address = self.symbol_address(symbol).map_err(|what| LoadError::Relocation {
                kind: RelocationKind::GotPcRel,
                offset,
                what,
            })?;
            self.space.write(self.base + offset, &address.to_le_bytes())?;
        }
        self.object.relocations.iter().try_for_each(|relocation| self.relocate(relocation))
    }

    fn relocate(&self, relocation: &Relocation) -> Result<(), LoadError> {
        let fail = |what: String| LoadError::Relocation {
            kind: relocation.kind,
            offset: relocation.offset,
            what,
        };
        let Some(section) = self.section_offset(relocation.section) else {
            // A section that is not loaded, such as debug information.
            return Ok(());
        };
        let place = self.base.wrapping_add(section).wrapping_add(relocation.offset);
        let symbol = || {
            let index = relocation.symbol.ok_or_else(|| fail("no symbol".to_owned()))?;
            self.symbol_address(index)
                .map(|s| s.wrapping_add_signed(relocation.addend))
                .map_err(fail)
        };
        let slot = || {
            let offset = relocation.symbol.and_then(|symbol| self.layout.slots.get(&symbol));
            let offset = offset.ok_or_else(|| fail("no symbol".to_owned()))?;
            Ok::<u64, LoadError>((self.base + offset).wrapping_add_signed(relocation.addend))
        };
        let low = |value: u64| (value & 0xffff_ffff, 4);
        let high = |value: u64| (value >> 32, 4);
        let (value, bytes) = match relocation.kind {
            RelocationKind::None => return Ok(()),
            RelocationKind::Abs32Lo | RelocationKind::Abs32 => low(symbol()?),
            RelocationKind::Abs32Hi => high(symbol()?),
            RelocationKind::Abs64 => (symbol()?, 8),
            RelocationKind::Rel32 | RelocationKind::Rel32Lo => low(symbol()?.wrapping_sub(place)),
            RelocationKind::Rel32Hi => high(symbol()?.wrapping_sub(place)),
            RelocationKind::Rel64 => (symbol()?.wrapping_sub(place), 8),
            RelocationKind::GotPcRel | RelocationKind::GotPcRel32Lo => {
                low(slot()?.wrapping_sub(place))
            }
            RelocationKind::GotPcRel32Hi => high(slot()?.wrapping_sub(place)),
            RelocationKind::Relative64 => (self.base.wrapping_add_signed(relocation.addend), 8),
            // Counted in instruction words from behind the branch.
            RelocationKind::Rel16 => {
                let distance = symbol()?.wrapping_sub(place).wrapping_sub(4).cast_signed();
                ((distance / 4).cast_unsigned() & 0xffff, 2)
            }
            RelocationKind::Unknown(number) => return Err(fail(format!("unknown type {number}"))),
        };
        if relocation.kind == RelocationKind::Abs32 && symbol()? > u64::from(u32::MAX) {
            return Err(fail("the address does not fit into 32 bits".to_owned()));
        }
        self.space.write(place, &value.to_le_bytes()[..bytes])?;
        Ok(())
    }

    /// What the offsets of a relocation count from.
    fn section_offset(&self, section: Option<usize>) -> Option<u64> {
        match section {
            Some(index) => self.layout.sections.get(&index).copied(),
            None => Some(0),
        }
    }

    fn symbol_address(&self, index: usize) -> Result<u64, String> {
        let symbol = self.object.symbols.get(index).ok_or("no such symbol")?;
        self.address_of(symbol).ok_or_else(|| match symbol.name {
            "" => "its symbol is not in loaded memory".to_owned(),
            name => format!("symbol {name} is not defined"),
        })
    }

    fn address_of(&self, symbol: &Symbol<'_>) -> Option<u64> {
        if !symbol.defined {
            return None;
        }
        let start =
            if self.object.relocatable { *self.layout.sections.get(&symbol.section?)? } else { 0 };
        Some(self.base.wrapping_add(start).wrapping_add(symbol.value))
    }

    fn kernels(
        &self,
        target: Target,
        all: Vec<KernelMetadata>,
    ) -> Result<HashMap<String, Arc<LoadedKernel>>, LoadError> {
        let programs = self.programs(target)?;
        let mut kernels = HashMap::new();
        for metadata in all {
            let missing = |what| LoadError::Kernel { name: metadata.name.clone(), what };
            let address = self
                .object
                .symbol(&metadata.symbol)
                .and_then(|symbol| self.address_of(symbol))
                .ok_or_else(|| missing("no descriptor"))?;
            // From memory, since relocations may have changed it.
            let mut bytes = [0; KERNEL_DESCRIPTOR_BYTES];
            self.space.read(address, &mut bytes)?;
            let descriptor =
                KernelDescriptor::parse(&bytes).ok_or_else(|| missing("no descriptor"))?;
            let entry = address.wrapping_add_signed(descriptor.kernel_code_entry_byte_offset);
            let program = programs
                .iter()
                .find(|program| program.addresses().contains(&entry))
                .ok_or_else(|| missing("its entry is outside the code"))?;
            let name = metadata.name.clone();
            let kernel = Kernel::in_program(name.clone(), Arc::clone(program), entry, descriptor);
            let loaded = LoadedKernel { kernel, metadata, descriptor_address: address };
            kernels.insert(name, Arc::new(loaded));
        }
        Ok(kernels)
    }

    fn programs(&self, target: Target) -> Result<Vec<Arc<Program>>, LoadError> {
        let mut programs = Vec::new();
        for part in self.layout.parts.iter().filter(|part| part.executable) {
            let address = self.base + part.offset;
            let mut text = vec![0; part.data.len()];
            self.space.read(address, &mut text)?;
            debug_assert!(part.data.len() as u64 <= part.memory_bytes);
            programs.push(Program::new(target, address, &text));
        }
        Ok(programs)
    }

    fn variables(&self) -> HashMap<String, Variable> {
        let is_variable = |symbol: &&Symbol<'_>| {
            symbol.defined
                && symbol.global
                && symbol.kind == SymbolKind::Object
                && !symbol.name.ends_with(".kd")
        };
        let symbols = self.object.symbols.iter().filter(is_variable);
        symbols
            .filter_map(|symbol| {
                let address = self.address_of(symbol)?;
                Some((symbol.name.to_owned(), Variable { address, bytes: symbol.bytes }))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use hip_code::{CodeError, CodeObject};

    use super::{LoadError, LoadedObject};
    use crate::memory::{AddressSpace, Config};

    const LINKED: &[u8] = include_bytes!("../../hip-code/tests/data/fs.gfx90a.c15.co");
    const RELOCATABLE: &[u8] = include_bytes!("../../hip-code/tests/data/fs.gfx90a.rel.o");
    const FIVE: [&str; 5] = ["saxpy", "transpose_lds", "gemm_naive", "hist", "useglob"];

    fn space() -> AddressSpace {
        AddressSpace::with_arena(Config { seed: 3, arena_bytes: 1 << 30 }).unwrap()
    }

    fn word(space: &AddressSpace, address: u64) -> u32 {
        let mut bytes = [0; 4];
        space.read(address, &mut bytes).unwrap();
        u32::from_le_bytes(bytes)
    }

    #[test]
    fn kernels_and_variables_are_found_by_name() {
        for elf in [LINKED, RELOCATABLE] {
            let space = space();
            let loaded = LoadedObject::load(&space, elf).unwrap();
            assert_eq!(loaded.kernels().count(), FIVE.len());
            for name in FIVE {
                let found = loaded.kernel(name).unwrap();
                assert_eq!(found.kernel.name(), name);
                assert_eq!(found.kernel.descriptor().kernarg_size, found.metadata.kernarg_bytes);
                // The text of a kernel is the file's, up to what relocations change.
                let object = CodeObject::parse(elf).unwrap();
                let code = object.symbol_bytes(object.symbol(name).unwrap()).unwrap();
                let first = u32::from_le_bytes(*code.first_chunk().unwrap());
                assert_eq!(word(&space, found.kernel.entry()), first);
            }
            let increment = loaded.variable("gInc").unwrap();
            assert_eq!((increment.bytes, word(&space, increment.address)), (4, 7));
            let table = loaded.variable("cTab").unwrap();
            assert_eq!((table.bytes, word(&space, table.address + 252)), (256, 0));
            assert_eq!(loaded.variable("saxpy.kd"), None);
            let base = loaded.base();
            assert!(space.find(base).is_some());
            loaded.unload(&space).unwrap();
            assert!(space.find(base).is_none());
        }
    }

    #[test]
    fn relocations_point_at_their_symbols() {
        let space = space();
        let loaded = LoadedObject::load(&space, RELOCATABLE).unwrap();
        // llvm-readelf -r: R_AMDGPU_REL32_LO at d40 and _HI at d48 of .text for cTab + 4, and at
        // d5c and d64 for gInc + 4; "useglob" starts at d00.
        let text = loaded.kernel("useglob").unwrap().kernel.entry() - 0xd00;
        for (low, high, name) in [(0xd40, 0xd48, "cTab"), (0xd5c, 0xd64, "gInc")] {
            let distance =
                u64::from(word(&space, text + low)) | u64::from(word(&space, text + high)) << 32;
            let target = loaded.variable(name).unwrap().address;
            assert_eq!((text + low).wrapping_add(distance), target + 4, "{name}");
        }
    }

    #[test]
    fn what_cannot_be_loaded_leaves_nothing_behind() {
        let space = space();
        // The symbol of a relocation becomes an undefined one: symbol 10 of the table at 0x1e18.
        let mut undefined = RELOCATABLE.to_vec();
        undefined[0x1e18 + 10 * 24 + 6..][..2].fill(0);
        let error = LoadedObject::load(&space, &undefined).err().unwrap();
        assert!(matches!(&error, LoadError::Relocation { what, .. } if what.contains("cTab")));
        // The type of a relocation becomes one that does not exist.
        let mut unknown = RELOCATABLE.to_vec();
        unknown[0x1f50 + 8] = 99;
        let error = LoadedObject::load(&space, &unknown).err().unwrap();
        assert!(matches!(&error, LoadError::Relocation { what, .. } if what.contains("99")));
        // A processor that is not emulated: gfx1030.
        let mut other = LINKED.to_vec();
        other[0x30] = 0x36;
        let error = LoadedObject::load(&space, &other).err().unwrap();
        assert!(matches!(&error, LoadError::Target(target) if target.0 == "gfx1030"));
        let error = LoadedObject::load(&space, &LINKED[..100]).err().unwrap();
        assert!(matches!(error, LoadError::Code(CodeError::Elf(_))), "{error}");
        let (arena, bytes) = space.arena();
        assert!(space.alloc_at(arena, bytes).is_ok(), "all of it is free");
    }
}

//! AMDGPU ELF64 objects.
//!
//! Facts: LLVM AMDGPUUsage, "ELF Code Object" ("Header", "Sections", "Symbols", "Relocation
//! Records", "Note Records").

use object::elf;
use object::read::elf::{
    ElfFile64, FileHeader as _, ProgramHeader as _, SectionHeader as _, Sym as _,
};
use object::{LittleEndian, Object as _, ObjectSection as _, ObjectSegment as _};

use crate::bytes::slice_at;
use crate::{CodeError, KernelDescriptor, Metadata, TargetId};

type Elf<'a> = ElfFile64<'a, LittleEndian>;

const ENDIAN: LittleEndian = LittleEndian;
const ELFOSABI_AMDGPU_HSA: u8 = 64;
const NT_AMDGPU_METADATA: u32 = 32;

/// An object for one target.
#[derive(Clone, Debug)]
pub struct CodeObject<'a> {
    /// The target, from `e_flags`.
    pub target: TargetId,
    /// Code object version, 2 to 6, from `EI_ABIVERSION`.
    pub version: u8,
    /// An `ET_REL` object: not linked, has sections but no addresses.
    pub relocatable: bool,
    /// What a loader places in memory (`PT_LOAD`); empty if `relocatable`.
    pub segments: Vec<Segment<'a>>,
    /// Sections, by their index in the file.
    pub sections: Vec<Section<'a>>,
    /// Dynamic symbols (all symbols if `relocatable`), by their index in the file.
    pub symbols: Vec<Symbol<'a>>,
    /// Relocations of the whole object.
    pub relocations: Vec<Relocation>,
    note: Option<&'a [u8]>,
}

/// A loadable segment.
#[derive(Clone, Debug)]
pub struct Segment<'a> {
    /// Address in the object's own address range, which starts at zero.
    pub address: u64,
    /// Bytes in memory; zeros follow `data`.
    pub memory_bytes: u64,
    /// Bytes in the file.
    pub data: &'a [u8],
    /// Whether it holds instructions.
    pub executable: bool,
}

/// A section.
#[derive(Clone, Debug)]
pub struct Section<'a> {
    /// Its name; empty if it is not UTF-8.
    pub name: &'a str,
    /// Address, zero if `relocatable`.
    pub address: u64,
    /// Bytes in memory.
    pub memory_bytes: u64,
    /// Alignment that it needs, at least 1.
    pub align: u64,
    /// Bytes in the file; empty for `SHT_NOBITS`.
    pub data: &'a [u8],
    /// Whether it is loaded (`SHF_ALLOC`).
    pub loaded: bool,
    /// Whether it holds instructions (`SHF_EXECINSTR`).
    pub executable: bool,
}

/// What a symbol names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// `STT_OBJECT`: a variable, or a kernel descriptor if the name ends in `.kd`.
    Object,
    /// `STT_FUNC`: code.
    Function,
    /// `STT_SECTION`.
    Section,
    /// Any other type, by its number.
    Other(u8),
}

/// A symbol.
#[derive(Clone, Debug)]
pub struct Symbol<'a> {
    /// Its name; empty if it is not UTF-8.
    pub name: &'a str,
    /// Value: an address, or an offset into `section` if the object is relocatable.
    pub value: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// What it names.
    pub kind: SymbolKind,
    /// Index of the section that defines it; `None` if it is undefined or absolute.
    pub section: Option<usize>,
    /// Whether the object defines it.
    pub defined: bool,
    /// Whether others may bind to it.
    pub global: bool,
}

/// What a relocation computes, with S the symbol, A the addend, P the place and B the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each name is the specification's own, without R_AMDGPU_")]
pub enum RelocationKind {
    None,
    Abs32Lo,
    Abs32Hi,
    Abs64,
    Rel32,
    Rel64,
    Abs32,
    GotPcRel,
    GotPcRel32Lo,
    GotPcRel32Hi,
    Rel32Lo,
    Rel32Hi,
    Relative64,
    Rel16,
    /// A type that is not known.
    Unknown(u32),
}

/// A relocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Section that `offset` counts in, if the object is relocatable.
    pub section: Option<usize>,
    /// Where to write.
    pub offset: u64,
    /// What to write.
    pub kind: RelocationKind,
    /// Index of the symbol, if there is one.
    pub symbol: Option<usize>,
    /// The addend. AMDGPU objects have explicit ones only.
    pub addend: i64,
}

impl<'a> CodeObject<'a> {
    /// Reads an object of code object version 2 to 6.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, CodeError> {
        if !bytes.starts_with(&elf::ELFMAG) {
            return Err(CodeError::UnknownImage);
        }
        let file = Elf::parse(bytes).map_err(elf_error)?;
        let header = file.elf_header();
        let ident = header.e_ident();
        if header.e_machine(ENDIAN) != elf::EM_AMDGPU || ident.os_abi.0 != ELFOSABI_AMDGPU_HSA {
            return Err(CodeError::NotAmdgpu);
        }
        let version = match ident.abi_version {
            abi @ 0..=4 => abi + 2,
            other => return Err(CodeError::UnknownAbi(other)),
        };
        let flags = header.e_flags(ENDIAN).0;
        let target = TargetId::from_elf_flags(flags, version)
            .ok_or(CodeError::UnknownMachine(flags & 0xff))?;
        let relocatable = header.e_type(ENDIAN) == elf::ET_REL;
        let sections = read_sections(&file, bytes)?;
        Ok(Self {
            target,
            version,
            relocatable,
            segments: read_segments(&file)?,
            note: find_note(&file, bytes),
            symbols: read_symbols(&file, relocatable),
            relocations: read_relocations(&file, relocatable),
            sections,
        })
    }

    /// The defined symbol of that name.
    pub fn symbol(&self, name: &str) -> Option<&Symbol<'a>> {
        self.symbols.iter().find(|symbol| symbol.defined && symbol.name == name)
    }

    /// `length` bytes at an address of the object, if a segment has them in the file.
    pub fn bytes_at(&self, address: u64, length: u64) -> Option<&'a [u8]> {
        self.segments.iter().find_map(|segment| {
            slice_at(segment.data, address.checked_sub(segment.address)?, length)
        })
    }

    /// The bytes that a symbol names.
    pub fn symbol_bytes(&self, symbol: &Symbol<'_>) -> Option<&'a [u8]> {
        if self.relocatable {
            slice_at(self.sections.get(symbol.section?)?.data, symbol.value, symbol.bytes)
        } else {
            self.bytes_at(symbol.value, symbol.bytes)
        }
    }

    /// The kernel descriptor at a symbol such as `NAME.kd`.
    pub fn descriptor(&self, symbol: &str) -> Option<KernelDescriptor> {
        KernelDescriptor::parse(self.symbol_bytes(self.symbol(symbol)?)?)
    }

    /// The metadata of the kernels.
    pub fn metadata(&self) -> Result<Metadata, CodeError> {
        Metadata::parse(self.note.ok_or(CodeError::NoMetadata)?)
    }
}

fn elf_error(error: object::Error) -> CodeError {
    CodeError::Elf(error.to_string())
}

fn read_segments<'a>(file: &Elf<'a>) -> Result<Vec<Segment<'a>>, CodeError> {
    file.segments()
        .map(|segment| {
            let flags = segment.elf_program_header().p_flags(ENDIAN);
            let memory_bytes = segment.size();
            let data = segment.data().map_err(elf_error)?;
            if (data.len() as u64) > memory_bytes {
                return Err(CodeError::Malformed("program header: more bytes than memory"));
            }
            if segment.address().checked_add(memory_bytes).is_none() {
                return Err(CodeError::Malformed("program header: the segment wraps"));
            }
            let executable = flags.contains(elf::PF_X);
            Ok(Segment { address: segment.address(), memory_bytes, data, executable })
        })
        .collect()
}

fn read_sections<'a>(file: &Elf<'a>, bytes: &'a [u8]) -> Result<Vec<Section<'a>>, CodeError> {
    let table = file.elf_section_table();
    table
        .iter()
        .map(|header| {
            let flags = header.sh_flags(ENDIAN);
            Ok(Section {
                name: table
                    .section_name(ENDIAN, header)
                    .ok()
                    .and_then(|name| str::from_utf8(name).ok())
                    .unwrap_or_default(),
                address: header.sh_addr(ENDIAN),
                memory_bytes: header.sh_size(ENDIAN),
                align: header.sh_addralign(ENDIAN).max(1),
                data: header.data(ENDIAN, bytes).map_err(elf_error)?,
                loaded: flags.contains(elf::SHF_ALLOC),
                executable: flags.contains(elf::SHF_EXECINSTR),
            })
        })
        .collect()
}

fn read_symbols<'a>(file: &Elf<'a>, relocatable: bool) -> Vec<Symbol<'a>> {
    let table = if relocatable { file.elf_symbol_table() } else { file.elf_dynamic_symbol_table() };
    let strings = table.strings();
    table
        .iter()
        .map(|symbol| {
            let kind = match symbol.st_type() {
                elf::STT_OBJECT => SymbolKind::Object,
                elf::STT_FUNC => SymbolKind::Function,
                elf::STT_SECTION => SymbolKind::Section,
                other => SymbolKind::Other(other.0),
            };
            let section = symbol.st_shndx(ENDIAN);
            let in_section = section.0 != elf::SHN_UNDEF.0 && section.0 < elf::SHN_LORESERVE;
            Symbol {
                name: symbol
                    .name(ENDIAN, strings)
                    .ok()
                    .and_then(|name| str::from_utf8(name).ok())
                    .unwrap_or_default(),
                value: symbol.st_value(ENDIAN),
                bytes: symbol.st_size(ENDIAN),
                kind,
                section: in_section.then_some(usize::from(section.0)),
                defined: section.0 != elf::SHN_UNDEF.0,
                global: symbol.st_bind() != elf::STB_LOCAL,
            }
        })
        .collect()
}

fn read_relocations(file: &Elf<'_>, relocatable: bool) -> Vec<Relocation> {
    let convert = |section: Option<usize>, offset: u64, relocation: &object::Relocation| {
        let object::RelocationFlags::Elf { r_type } = relocation.flags() else { return None };
        let symbol = match relocation.target() {
            object::RelocationTarget::Symbol(index) => Some(index.0),
            _absolute => None,
        };
        let kind = relocation_kind(r_type.0);
        Some(Relocation { section, offset, kind, symbol, addend: relocation.addend() })
    };
    if !relocatable {
        let dynamic = file.dynamic_relocations().into_iter().flatten();
        return dynamic.filter_map(|(offset, found)| convert(None, offset, &found)).collect();
    }
    let mut all = Vec::new();
    for section in file.sections() {
        let index = section.index().0;
        let found = section.relocations();
        all.extend(found.filter_map(|(offset, found)| convert(Some(index), offset, &found)));
    }
    all
}

fn relocation_kind(number: u32) -> RelocationKind {
    match number {
        0 => RelocationKind::None,
        1 => RelocationKind::Abs32Lo,
        2 => RelocationKind::Abs32Hi,
        3 => RelocationKind::Abs64,
        4 => RelocationKind::Rel32,
        5 => RelocationKind::Rel64,
        6 => RelocationKind::Abs32,
        7 => RelocationKind::GotPcRel,
        8 => RelocationKind::GotPcRel32Lo,
        9 => RelocationKind::GotPcRel32Hi,
        10 => RelocationKind::Rel32Lo,
        11 => RelocationKind::Rel32Hi,
        13 => RelocationKind::Relative64,
        14 => RelocationKind::Rel16,
        other => RelocationKind::Unknown(other),
    }
}

/// The metadata note, through the sections or, in an object without them, the segments.
fn find_note<'a>(file: &Elf<'a>, bytes: &'a [u8]) -> Option<&'a [u8]> {
    let sections = file.elf_section_table().iter();
    let of_sections = sections.filter_map(|header| header.notes(ENDIAN, bytes).ok().flatten());
    let segments = file.elf_program_headers().iter();
    let of_segments = segments.filter_map(|header| header.notes(ENDIAN, bytes).ok().flatten());
    of_sections.chain(of_segments).find_map(|mut notes| {
        while let Ok(Some(note)) = notes.next() {
            if note.name() == b"AMDGPU" && note.n_type(ENDIAN).0 == NT_AMDGPU_METADATA {
                return Some(note.desc());
            }
        }
        None
    })
}

//! Code images: what a load hands over, which kernels are inside, and how a kernel is named in an
//! archive.
//!
//! The parser itself is installed from outside ([`set_parser`]), since this crate knows no format
//! of any vendor. A kernel's or variable's name in an archive is its [`Identity`]: the hash of the
//! image that holds it, and the name in it. Never the name alone: images of just-in-time compilers
//! share names.

use std::sync::OnceLock;

use crate::archive::event::BlobHash;

/// Turns images into descriptions.
pub struct Parser {
    /// Copies the image behind a pointer, its length found in its own headers; `None` if that is
    /// not known. Reads nothing that is not mapped.
    pub copy: unsafe fn(image: *const u8) -> Option<Vec<u8>>,
    /// Describes an image.
    pub parse: fn(image: &[u8]) -> Result<Image, String>,
}

/// What is inside an image. Of a bundle: the union over its targets, which agree on names and
/// layouts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Image {
    /// The kernels.
    pub kernels: Vec<Kernel>,
    /// The variables.
    pub symbols: Vec<Symbol>,
}

impl Image {
    /// The kernel of this name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }
}

/// A kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Its name, as launches and look-ups spell it.
    pub name: String,
    /// Size of its argument segment, hidden arguments included.
    pub kernarg_bytes: u64,
    /// The visible arguments, in order.
    pub args: Vec<KernelArg>,
}

/// A visible argument of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KernelArg {
    /// Where it stands in the segment.
    pub offset: u64,
    /// Its size.
    pub bytes: u64,
    /// What it is.
    pub kind: ValueKind,
}

/// What an argument of a kernel is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ValueKind {
    /// A value; words in it may still be addresses.
    ByValue = 1,
    /// An address in memory that the device reaches.
    Pointer = 2,
    /// Something else of the vendor's list (an image, a sampler, a queue).
    Other = 3,
}

impl ValueKind {
    /// The kind of a number in the archive.
    pub fn from_u8(value: u8) -> Option<ValueKind> {
        [ValueKind::ByValue, ValueKind::Pointer, ValueKind::Other]
            .into_iter()
            .find(|kind| *kind as u8 == value)
    }
}

/// A device variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

static PARSER: OnceLock<&'static Parser> = OnceLock::new();

/// Installs the parser. The first one stays.
pub fn set_parser(parser: &'static Parser) {
    PARSER.get_or_init(|| parser);
}

/// The installed parser.
pub fn parser() -> Option<&'static Parser> {
    PARSER.get().copied()
}

/// What the compiler's wrapper of an image begins with: its magic "HIPF" and its version, 1.
pub const WRAPPER_HEAD: u64 = 0x1_4849_5046;
/// Size of the wrapper: its head, a pointer to the image, and a word that nobody uses.
pub const WRAPPER_BYTES: usize = 24;
/// The element number of the field of an image if what is recorded is a wrapper that does not begin
/// as one.
pub const ELEMENT_WRAPPER: u32 = 1;

/// The element number of the field that names the kernel of a launch, beside those of its
/// arguments.
pub const ELEMENT_IDENTITY: u32 = u32::MAX;

/// Which kernel or variable: the image that holds it, and its name there.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Identity {
    /// The hash of the image.
    pub image: BlobHash,
    /// The name.
    pub name: String,
}

impl Identity {
    /// The content of its field: 16 bytes of hash, then the name.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = self.image.to_le_bytes().to_vec();
        out.extend_from_slice(self.name.as_bytes());
        out
    }

    /// Reads the content of its field.
    pub fn decode(content: &[u8]) -> Option<Identity> {
        let (image, name) = content.split_first_chunk::<16>()?;
        let name = std::str::from_utf8(name).ok()?.to_owned();
        Some(Identity { image: u128::from_le_bytes(*image), name })
    }
}

/// The content of the field of a kernel's argument: one byte of kind, then the value.
pub fn encode_arg(kind: ValueKind, value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len() + 1);
    out.push(kind as u8);
    out.extend_from_slice(value);
    out
}

/// Reads the content of the field of a kernel's argument.
pub fn decode_arg(content: &[u8]) -> Option<(ValueKind, &[u8])> {
    let (kind, value) = content.split_first()?;
    Some((ValueKind::from_u8(*kind)?, value))
}

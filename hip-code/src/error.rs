//! Why an image was not understood.

/// What is wrong with an image.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodeError {
    /// The first bytes are those of no known image.
    #[error("neither an ELF object nor an offload bundle")]
    UnknownImage,
    /// The image ends before a part that it says it has.
    #[error("the image ends inside its {0}")]
    Truncated(&'static str),
    /// A table holds what cannot be.
    #[error("malformed {0}")]
    Malformed(&'static str),
    /// A compressed bundle of a version or method that is not known.
    #[error("compressed bundle: unknown {what} {value}")]
    UnknownCompression {
        /// `version` or `method`.
        what: &'static str,
        /// Its value.
        value: u16,
    },
    /// Decompression failed, or gave another size than the header says.
    #[error("compressed bundle: {0}")]
    Decompression(String),
    /// The ELF reader refused the object.
    #[error("ELF object: {0}")]
    Elf(String),
    /// An ELF object for another machine or operating system.
    #[error("not an AMDGPU HSA object")]
    NotAmdgpu,
    /// An AMDGPU object whose `EF_AMDGPU_MACH` names no processor that is known.
    #[error("unknown AMDGPU machine {0:#x}")]
    UnknownMachine(u32),
    /// A code object version that is not known, by its `EI_ABIVERSION`.
    #[error("unknown code object ABI version {0}")]
    UnknownAbi(u8),
    /// The object has no metadata note.
    #[error("the object has no AMDGPU metadata")]
    NoMetadata,
    /// The metadata note is not what the specification says.
    #[error("AMDGPU metadata: {0}")]
    Metadata(String),
    /// No code object of the image runs on the device.
    #[error("no code object for {device}; the image has: {offered}")]
    NoCodeForDevice {
        /// The device's target.
        device: String,
        /// Targets that the image has, separated by commas.
        offered: String,
    },
}

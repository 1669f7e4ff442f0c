//! AMD's blit kernels, done natively.
//!
//! HIP fills and copies device memory with kernels that it compiles itself at the first queue.
//! They run as instructions like any other (`HSA_EMU_BLIT=isa`); by default they are recognised
//! by name and argument layout and done by the host, a hundred times faster. A kernel of that
//! name with other arguments is not recognised, and runs as instructions.

use std::sync::atomic::Ordering;
use std::time::Duration;

use gfx_emu::loader::code::KernelMetadata;
use gfx_emu::memory::{Access, AddressSpace, MemoryError};

/// A blit kernel whose arguments are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blit {
    Fill,
    Fill2D,
    Copy,
    CopyAligned,
    CopyRect,
    CopyRectAligned,
    StreamWrite,
    StreamWait,
    BarrierInit,
}

/// Name and offsets of the arguments that the program passes, from the metadata of 5.2.3.
const KERNELS: [(&str, Blit, &[u32]); 9] = [
    ("__amd_rocclr_fillBufferAligned", Blit::Fill, &[0, 8, 16, 24, 32, 40, 48, 56]),
    ("__amd_rocclr_fillBufferAligned2D", Blit::Fill2D, &[0, 8, 16, 24, 32, 40, 48, 56, 64, 72]),
    ("__amd_rocclr_copyBuffer", Blit::Copy, &[0, 8, 16, 24, 32, 40]),
    ("__amd_rocclr_copyBufferAligned", Blit::CopyAligned, &[0, 8, 16, 24, 32, 40]),
    ("__amd_rocclr_copyBufferRect", Blit::CopyRect, &[0, 8, 32, 64, 96]),
    ("__amd_rocclr_copyBufferRectAligned", Blit::CopyRectAligned, &[0, 8, 32, 64, 96]),
    ("__amd_rocclr_streamOpsWrite", Blit::StreamWrite, &[0, 8, 16, 24]),
    ("__amd_rocclr_streamOpsWait", Blit::StreamWait, &[0, 8, 16, 24, 32]),
    ("__amd_rocclr_gwsInit", Blit::BarrierInit, &[0]),
];

/// Bytes of the longest argument block among them.
const ARGUMENT_BYTES: usize = 128;
/// How long a stream that waits for a value sleeps between looks.
const LOOK_AGAIN: Duration = Duration::from_micros(20);

impl Blit {
    /// The blit kernel that a kernel is, if it is one.
    pub(crate) fn recognise(kernel: &KernelMetadata) -> Option<Self> {
        let (_, blit, offsets) = KERNELS.iter().find(|(name, ..)| *name == kernel.name)?;
        let visible = kernel.args.iter().filter(|argument| !argument.is_hidden());
        visible.map(|argument| argument.offset).eq(offsets.iter().copied()).then_some(*blit)
    }

    /// Does what the kernel would. `stop` ends a wait for a value.
    pub(crate) fn run(
        self,
        space: &AddressSpace,
        kernarg_address: u64,
        kernarg_bytes: u32,
        stop: impl Fn() -> bool,
    ) -> Result<(), MemoryError> {
        let mut bytes = [0; ARGUMENT_BYTES];
        let length = (kernarg_bytes as usize).min(ARGUMENT_BYTES);
        space.read(kernarg_address, &mut bytes[..length])?;
        let arguments = Arguments { bytes };
        match self {
            Self::Fill => fill(space, &arguments, arguments.quad(7), 1, 0),
            Self::Fill2D => {
                let [width, height, pitch] = [7, 8, 9].map(|index| arguments.quad(index));
                fill_2d(space, &arguments, width, height, pitch)
            }
            Self::Copy => {
                let (size, remain) = (arguments.quad(4), u64::from(arguments.word(10)));
                // 8 stands for byte by byte; else dwords, of which the last may be cut.
                let bytes = if remain == 8 { size } else { size.saturating_sub(1) * 4 + remain };
                let from = arguments.quad(0).wrapping_add(arguments.quad(2));
                space.copy(arguments.quad(1).wrapping_add(arguments.quad(3)), from, bytes)
            }
            Self::CopyAligned => {
                let unit = if arguments.word(10) == 16 { 16 } else { 4 };
                let from = arguments.quad(0).wrapping_add(arguments.quad(2).wrapping_mul(unit));
                let to = arguments.quad(1).wrapping_add(arguments.quad(3).wrapping_mul(unit));
                space.copy(to, from, arguments.quad(4).wrapping_mul(unit))
            }
            Self::CopyRect => copy_rect(space, &arguments, 1),
            Self::CopyRectAligned => {
                copy_rect(space, &arguments, if arguments.quad(15) == 16 { 16 } else { 4 })
            }
            Self::StreamWrite => stream_write(space, &arguments),
            Self::StreamWait => stream_wait(space, &arguments, stop),
            // Tells the barrier of a cooperative launch how many will come, which the emulated
            // one takes from the instruction that waits at it.
            Self::BarrierInit => Ok(()),
        }
    }
}

struct Arguments {
    bytes: [u8; ARGUMENT_BYTES],
}

impl Arguments {
    /// The 64-bit word of that index.
    fn quad(&self, index: usize) -> u64 {
        let mut word = [0; 8];
        word.copy_from_slice(&self.bytes[index * 8..][..8]);
        u64::from_le_bytes(word)
    }

    /// The 32-bit word of that index.
    fn word(&self, index: usize) -> u32 {
        let mut word = [0; 4];
        word.copy_from_slice(&self.bytes[index * 4..][..4]);
        u32::from_le_bytes(word)
    }

    /// The buffer of the fills: of the four pointers, the one that is not null says the unit.
    fn buffer(&self) -> (u64, u64) {
        [(3, 8), (2, 4), (1, 2)]
            .into_iter()
            .map(|(index, unit)| (self.quad(index), unit))
            .find(|(pointer, _)| *pointer != 0)
            .unwrap_or((self.quad(0), 1))
    }
}

/// `count` copies of the pattern in each of `rows` rows, whose starts are `pitch` units apart.
fn fill(
    space: &AddressSpace,
    arguments: &Arguments,
    count: u64,
    rows: u64,
    pitch: u64,
) -> Result<(), MemoryError> {
    let (buffer, unit) = arguments.buffer();
    let pattern_units = u64::from(arguments.word(10));
    let mut pattern = vec![0; (pattern_units * unit) as usize];
    space.read(arguments.quad(4), &mut pattern)?;
    let start = buffer.wrapping_add(arguments.quad(6).wrapping_mul(unit));
    for row in 0..rows {
        let to = start.wrapping_add(row.wrapping_mul(pitch).wrapping_mul(unit));
        space.fill(to, &pattern, count)?;
    }
    Ok(())
}

/// As the kernel does it: neighbours in a row are one unit apart, whatever the pattern's size.
fn fill_2d(
    space: &AddressSpace,
    arguments: &Arguments,
    width: u64,
    height: u64,
    pitch: u64,
) -> Result<(), MemoryError> {
    if arguments.word(10) == 1 {
        return fill(space, arguments, width, height, pitch);
    }
    let (buffer, unit) = arguments.buffer();
    let mut pattern = vec![0; (u64::from(arguments.word(10)) * unit) as usize];
    space.read(arguments.quad(4), &mut pattern)?;
    for y in 0..height {
        for x in 0..width {
            let index = arguments.quad(6).wrapping_add(x).wrapping_add(y.wrapping_mul(pitch));
            space.write(buffer.wrapping_add(index.wrapping_mul(unit)), &pattern)?;
        }
    }
    Ok(())
}

/// Rows of rows; all numbers count units.
fn copy_rect(space: &AddressSpace, arguments: &Arguments, unit: u64) -> Result<(), MemoryError> {
    let [columns, rows, layers] = [12, 13, 14].map(|index| arguments.quad(index));
    let place = |buffer: usize, rect: usize, y: u64, z: u64| {
        let units = arguments
            .quad(rect + 2)
            .wrapping_add(y.wrapping_mul(arguments.quad(rect)))
            .wrapping_add(z.wrapping_mul(arguments.quad(rect + 1)));
        arguments.quad(buffer).wrapping_add(units.wrapping_mul(unit))
    };
    for z in 0..layers {
        for y in 0..rows {
            let (from, to) = (place(0, 4, y, z), place(1, 8, y, z));
            space.copy(to, from, columns.wrapping_mul(unit))?;
        }
    }
    Ok(())
}

/// A value in memory that other threads may look at meanwhile.
enum Cell<'a> {
    Word(&'a std::sync::atomic::AtomicU32),
    Quad(&'a std::sync::atomic::AtomicU64),
}

impl Cell<'_> {
    fn load(&self) -> u64 {
        match self {
            Self::Word(cell) => u64::from(cell.load(Ordering::Acquire)),
            Self::Quad(cell) => cell.load(Ordering::Acquire),
        }
    }
}

/// The cell of the stream operations: the first pointer is for 32 bits, the second for 64.
fn cell<'a>(
    space: &'a AddressSpace,
    arguments: &Arguments,
    access: Access,
) -> Result<Cell<'a>, MemoryError> {
    let (address, bytes) = match arguments.quad(0) {
        0 => (arguments.quad(1), 8),
        pointer => (pointer, 4),
    };
    if !address.is_multiple_of(bytes) {
        return Err(MemoryError::InvalidRange { address, bytes });
    }
    let host = space.resolve(address, bytes, access)?;
    // SAFETY: resolved for that many bytes and aligned (device and host addresses agree in their
    // page offsets); whoever frees memory waits for its users first.
    Ok(unsafe {
        if bytes == 4 {
            Cell::Word(std::sync::atomic::AtomicU32::from_ptr(host.cast()))
        } else {
            Cell::Quad(std::sync::atomic::AtomicU64::from_ptr(host.cast()))
        }
    })
}

fn stream_write(space: &AddressSpace, arguments: &Arguments) -> Result<(), MemoryError> {
    match cell(space, arguments, Access::ReadWrite)? {
        Cell::Word(cell) => cell.store(arguments.quad(2) as u32, Ordering::Release),
        Cell::Quad(cell) => cell.store(arguments.quad(2), Ordering::Release),
    }
    Ok(())
}

fn stream_wait(
    space: &AddressSpace,
    arguments: &Arguments,
    stop: impl Fn() -> bool,
) -> Result<(), MemoryError> {
    let cell = cell(space, arguments, Access::Read)?;
    let width = match cell {
        Cell::Word(_) => u64::from(u32::MAX),
        Cell::Quad(_) => u64::MAX,
    };
    let [value, flags, mask] = [2, 3, 4].map(|index| arguments.quad(index));
    let (value, mask) = (value & width, mask & width);
    let met = |now: u64| match flags {
        0 => now & mask >= value,
        1 => now & mask == value,
        2 => now & mask & value != 0,
        3 => (now | value) & mask != mask,
        // The kernel knows no other flag and ends at once.
        _unknown => true,
    };
    while !met(cell.load()) && !stop() {
        std::thread::sleep(LOOK_AGAIN);
    }
    Ok(())
}

//! Copies and fills: where the bytes are, and what moves them.

use std::ptr;

use gfx_emu::memory::Access;
use hrr_ffi::types::*;

use crate::abi;
use crate::api::Answer;
use crate::runtime::{Runtime, memory_error};

/// Where one side of a copy begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Memory that kernels can reach: device, pinned, registered, managed.
    Tracked(u64),
    /// Any other memory of the program.
    Pageable(u64),
}

/// One side of a copy: rows and slices from a start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    pub(crate) place: Place,
    /// Bytes from one row to the next.
    pub(crate) pitch: u64,
    /// Bytes from one slice to the next.
    pub(crate) slice: u64,
}

/// A copy of a box of bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy {
    pub(crate) to: Side,
    pub(crate) from: Side,
    /// Bytes of a row, rows of a slice, slices.
    pub(crate) extent: [u64; 3],
    /// What the program said, for it to read back.
    pub(crate) kind: hipMemcpyKind,
}

/// A fill of a box of elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fill {
    pub(crate) to: Side,
    pub(crate) value: u32,
    /// 1, 2 or 4.
    pub(crate) element_bytes: u32,
    /// Elements of a row, rows of a slice, slices.
    pub(crate) extent: [u64; 3],
}

impl Place {
    /// The address, whatever it is an address of.
    pub(crate) fn address(self) -> u64 {
        match self {
            Self::Tracked(address) | Self::Pageable(address) => address,
        }
    }

    /// What an address that a program gave is.
    pub(crate) fn of(runtime: &Runtime, address: u64) -> Self {
        if runtime.space.find(address).is_some() || runtime.allocations.find(address).is_some() {
            Self::Tracked(address)
        } else {
            Self::Pageable(address)
        }
    }

    /// Whether only the device can reach it.
    pub(crate) fn is_device_only(self, runtime: &Runtime) -> bool {
        match self {
            Self::Tracked(address) => {
                !runtime.allocations.find(address).is_some_and(|found| found.is_host_memory())
            }
            Self::Pageable(_) => false,
        }
    }
}

impl Side {
    /// A side of one row.
    pub(crate) fn row(place: Place) -> Self {
        Self { place, pitch: 0, slice: 0 }
    }

    /// Checks that the box is inside one allocation.
    fn check(&self, runtime: &Runtime, extent: [u64; 3]) -> Answer {
        let Place::Tracked(start) = self.place else { return Ok(()) };
        let [width, height, depth] = extent;
        let bytes = (depth - 1)
            .checked_mul(self.slice)
            .and_then(|bytes| bytes.checked_add((height - 1).checked_mul(self.pitch)?))
            .and_then(|bytes| bytes.checked_add(width))
            .ok_or(hipErrorInvalidValue)?;
        let inside = match runtime.allocations.find(start) {
            Some(found) => found.contains(start, bytes),
            None => runtime.space.resolve(start, bytes, Access::Read).is_ok(),
        };
        if inside { Ok(()) } else { Err(hipErrorInvalidValue) }
    }

    /// The same bytes, by the address that devices have.
    fn on_device(self, runtime: &Runtime) -> Self {
        let place = match self.place {
            Place::Tracked(address) => Place::Tracked(runtime.allocations.device_address(address)),
            pageable @ Place::Pageable(_) => pageable,
        };
        Self { place, ..self }
    }

    fn address(&self, row: u64, slice: u64) -> Place {
        let offset = slice * self.slice + row * self.pitch;
        match self.place {
            Place::Tracked(address) => Place::Tracked(address + offset),
            Place::Pageable(address) => Place::Pageable(address + offset),
        }
    }
}

impl Copy {
    /// A copy of one row.
    pub(crate) fn row(to: Place, from: Place, bytes: u64, kind: hipMemcpyKind) -> Self {
        Self { to: Side::row(to), from: Side::row(from), extent: [bytes, 1, 1], kind }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.extent.contains(&0)
    }

    /// Checks pitches and bounds. Where HIP knows one of the two addresses, it goes by what they
    /// are, whatever direction the program gave; only where it knows neither, it believes it.
    pub(crate) fn check(&self, runtime: &Runtime) -> Answer {
        if self.is_empty() {
            return Ok(());
        }
        let tracked = |side: &Side| matches!(side.place, Place::Tracked(_));
        let is_known = tracked(&self.to) || tracked(&self.from);
        let fits = match self.kind {
            hipMemcpyHostToHost | hipMemcpyDefault => true,
            hipMemcpyHostToDevice
            | hipMemcpyDeviceToHost
            | hipMemcpyDeviceToDevice
            | hipMemcpyDeviceToDeviceNoCU => is_known,
            _unknown if abi::major() <= 5 => is_known,
            _unknown => return Err(hipErrorInvalidMemcpyDirection),
        };
        let [width, height, _] = self.extent;
        for side in [&self.to, &self.from] {
            if side.place.address() == 0 || !fits {
                return Err(hipErrorInvalidValue);
            }
            if height > 1 && side.pitch < width {
                return Err(hipErrorInvalidPitchValue);
            }
            side.check(runtime, self.extent)?;
        }
        Ok(())
    }

    /// Checks the direction of a box: a side that it calls device memory must be known. (A row goes
    /// by its addresses alone.)
    pub(crate) fn check_direction(&self) -> Answer {
        let (to, from) = match self.kind {
            hipMemcpyHostToDevice => (true, false),
            hipMemcpyDeviceToHost => (false, true),
            hipMemcpyDeviceToDevice => (true, true),
            _either => (false, false),
        };
        let unknown = |side: &Side| matches!(side.place, Place::Pageable(_));
        if !self.is_empty() && (to && unknown(&self.to) || from && unknown(&self.from)) {
            return Err(hipErrorInvalidValue);
        }
        Ok(())
    }

    /// Moves the bytes.
    pub(crate) fn run(&self, runtime: &Runtime) -> Answer {
        let [width, height, depth] = self.extent;
        let (to, from) = (self.to.on_device(runtime), self.from.on_device(runtime));
        for slice in 0..depth {
            for row in 0..height {
                move_row(runtime, to.address(row, slice), from.address(row, slice), width)?;
            }
        }
        Ok(())
    }

    /// Takes the source now: what the program does with it afterwards does not matter.
    pub(crate) fn stage(&self) -> Staged {
        let [width, height, depth] = self.extent;
        let mut bytes = vec![0; (width * height * depth) as usize];
        if width != 0 {
            let mut rows = bytes.chunks_exact_mut(width as usize);
            for (slice, row) in (0..depth).flat_map(|s| (0..height).map(move |r| (s, r))) {
                let Some(into) = rows.next() else { break };
                let source = host(self.from.address(row, slice).address());
                // SAFETY: HIP's contract: the source of the copy is readable during the call.
                unsafe { ptr::copy(source.cast_const(), into.as_mut_ptr(), into.len()) };
            }
        }
        Staged { copy: *self, bytes: bytes.into() }
    }
}

/// A copy whose source is in our hands.
#[derive(Clone)]
pub(crate) struct Staged {
    copy: Copy,
    bytes: std::sync::Arc<[u8]>,
}

impl Staged {
    /// Writes the bytes to their destination.
    pub(crate) fn run(&self, runtime: &Runtime) -> Answer {
        let [width, height, _] = self.copy.extent;
        let start = self.bytes.as_ptr().addr() as u64;
        let from = Side { place: Place::Pageable(start), pitch: width, slice: width * height };
        // The address is that of our own slice, which lives as long as `self`.
        self.bytes.as_ptr().expose_provenance();
        Copy { from, ..self.copy }.run(runtime)
    }
}

impl Fill {
    /// Checks element size, destination and bounds.
    pub(crate) fn check(&self, runtime: &Runtime) -> Answer {
        if !matches!(self.element_bytes, 1 | 2 | 4) {
            return Err(hipErrorInvalidValue);
        }
        if self.extent.contains(&0) {
            return Ok(());
        }
        let [width, height, depth] = self.extent;
        let bytes = width.checked_mul(u64::from(self.element_bytes)).ok_or(hipErrorInvalidValue)?;
        let is_tracked = matches!(self.to.place, Place::Tracked(_));
        if !is_tracked || (height > 1 && self.to.pitch < bytes) {
            return Err(hipErrorInvalidValue);
        }
        self.to.check(runtime, [bytes, height, depth])
    }

    /// Writes the elements.
    pub(crate) fn run(&self, runtime: &Runtime) -> Answer {
        let pattern = self.value.to_le_bytes();
        let pattern = &pattern[..self.element_bytes as usize];
        let [width, height, depth] = self.extent;
        let to = self.to.on_device(runtime);
        for slice in 0..depth {
            for row in 0..height {
                let address = to.address(row, slice).address();
                runtime.space.fill(address, pattern, width).map_err(fault)?;
            }
        }
        Ok(())
    }
}

fn move_row(runtime: &Runtime, to: Place, from: Place, bytes: u64) -> Answer {
    let space = &runtime.space;
    let length = bytes as usize;
    let source = match from {
        Place::Tracked(address) => space.resolve(address, bytes, Access::Read).map_err(fault)?,
        Place::Pageable(address) => host(address),
    };
    let target = match to {
        Place::Tracked(address) => {
            space.resolve(address, bytes, Access::ReadWrite).map_err(fault)?
        }
        Place::Pageable(address) => host(address),
    };
    // SAFETY: tracked memory was found live, and is freed only behind the work that uses it;
    // pageable memory is the program's to keep until the copy is done (HIP's contract), or our
    // own. The ranges may overlap.
    unsafe { ptr::copy(source.cast_const(), target, length) };
    Ok(())
}

/// A copy or fill whose memory went away after it was enqueued faults as a kernel would.
fn fault(error: gfx_emu::memory::MemoryError) -> hipError_t {
    eprintln!("hip-emu: copy: {error}");
    match memory_error(&error) {
        hipErrorInvalidValue => hipErrorIllegalAddress,
        other => other,
    }
}

fn host(address: u64) -> *mut u8 {
    ptr::with_exposed_provenance_mut(address as usize)
}

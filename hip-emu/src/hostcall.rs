//! Calls of the host by kernels: what device `printf`, failed assertions and device `malloc` are
//! made of.
//!
//! The layout and the services are those of `ROCm`'s device libraries and of their runtime (ockl
//! `hostcall_impl.cl` and `services.cl`, `ROCclr` `devhostcall.cpp` and `devhcmessages.cpp`,
//! `ROCm` 5 and later). A wave takes a packet from the stack of free ones, fills it, puts it on
//! the stack of ready ones, adds to the doorbell and interrupts the host; then it waits until the
//! host has cleared the packet's flag.
//!
//! AMD's runtime serves packets on a thread of its own. Here the interrupt itself does it, on the
//! thread that runs the kernel: nothing has to wake up, so that neither a host that waits for the
//! kernel nor a process that ends can be in the way; other streams do not notice; and the order
//! of equal launches is equal.

use std::collections::HashMap;
use std::ffi::c_void;
use std::fmt;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

use gfx_emu::dispatch::Host;
use rustix::mm::munmap;

use crate::allocations::Kind;
use crate::api::Answer;
use crate::functions::memory::{adopt_host, map_host};
use crate::functions::{occupancy, properties};
use crate::printf;
use crate::runtime::{Device, Runtime};
use crate::streams::lock;

/// A power of two, and at least as many as waves can run at once, each of which holds one packet
/// at most: device code does not look whether there is one.
const PACKETS: usize = 4096;
const INDEX_MASK: u64 = PACKETS as u64 - 1;
const _: () = assert!(PACKETS.is_power_of_two());
const _: () =
    assert!(occupancy::WAVES_PER_UNIT as u64 * properties::UNITS as u64 <= PACKETS as u64);

const LANES: usize = 64;
/// Words that each lane sends, and finds its result in.
const WORDS: usize = 8;
/// The bit of a packet's control word that says that the host is to act.
const READY: u32 = 1;
/// `AMD_SIGNAL_KIND_USER`.
const SIGNAL_KIND_USER: i64 = 1;

/// The services that device code asks for.
const FUNCTION_CALL: u32 = 1;
const PRINTF: u32 = 2;
const DEVICE_MEMORY: u32 = 3;

/// The unit in which device `malloc` asks for memory; it finds a unit's start by its address.
const SLAB_BYTES: u64 = 2 << 20;

/// What a kernel gets a pointer to.
#[repr(C, align(64))]
struct Buffer {
    headers: AtomicU64,
    payloads: AtomicU64,
    doorbell: AtomicU64,
    free: AtomicU64,
    ready: AtomicU64,
    index_mask: AtomicU64,
}

/// `amd_signal_t`, as far as device code uses it.
#[repr(C, align(64))]
struct Doorbell {
    kind: AtomicI64,
    value: AtomicI64,
    /// Device code interrupts the host only if this is not zero.
    event_mailbox: AtomicU64,
    event_id: AtomicU32,
}

#[repr(C)]
struct Header {
    next: AtomicU64,
    /// The lanes that call.
    active: AtomicU64,
    service: AtomicU32,
    control: AtomicU32,
}

const _: () = assert!(size_of::<Header>() == 24);
const _: () = assert!(std::mem::offset_of!(Buffer, index_mask) == 40);
const _: () = assert!(std::mem::offset_of!(Doorbell, event_id) == 24);

type Slot = [AtomicU64; WORDS];

/// All of it, in memory that kernels can reach. Every field is an atomic, since kernels change
/// them.
#[repr(C)]
struct Area {
    buffer: Buffer,
    doorbell: Doorbell,
    mailbox: AtomicU64,
    headers: [Header; PACKETS],
    payloads: [[Slot; LANES]; PACKETS],
}

/// The host's side of one stream, whose launches come one after the other.
pub(crate) struct Hostcall {
    runtime: &'static Runtime,
    device: &'static Device,
    area: *mut c_void,
    messages: Mutex<Messages>,
}

// SAFETY: the pointer is to memory that is the object's own and made of atomics.
unsafe impl Send for Hostcall {}
// SAFETY: as above.
unsafe impl Sync for Hostcall {}

impl fmt::Debug for Hostcall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hostcall").field("area", &self.area).finish_non_exhaustive()
    }
}

impl Hostcall {
    pub(crate) fn new(runtime: &'static Runtime, device: &'static Device) -> Answer<Self> {
        let bytes = size_of::<Area>() as u64;
        let area = map_host(bytes)?;
        let new = Self { runtime, device, area, messages: Mutex::default() };
        // SAFETY: `drop` unregisters the memory before it unmaps it.
        unsafe { adopt_host(runtime, area, bytes) }?;
        new.initialise();
        Ok(new)
    }

    /// What a kernel is given.
    pub(crate) fn address(&self) -> u64 {
        self.area.addr() as u64
    }

    fn area(&self) -> &Area {
        // SAFETY: the memory was mapped with this size, page by page aligned, and is unmapped by
        // `drop` alone; zeroes, and whatever kernels write, are values of its atomics.
        unsafe { &*self.area.cast::<Area>() }
    }

    fn initialise(&self) {
        let area = self.area();
        // A packet is named by its index below a tag, which device code counts up at each use so
        // that a stack never looks as it did before. No name is zero, which ends a stack.
        let name = |index: usize| (INDEX_MASK + 1) | index as u64;
        for (index, header) in area.headers.iter().enumerate().take(PACKETS - 1) {
            header.next.store(name(index + 1), Ordering::Relaxed);
        }
        let buffer = &area.buffer;
        let address = |start: *const c_void| start.addr() as u64;
        buffer.headers.store(address(area.headers.as_ptr().cast()), Ordering::Relaxed);
        buffer.payloads.store(address(area.payloads.as_ptr().cast()), Ordering::Relaxed);
        buffer.doorbell.store(address((&raw const area.doorbell).cast()), Ordering::Relaxed);
        buffer.index_mask.store(INDEX_MASK, Ordering::Relaxed);
        buffer.free.store(name(0), Ordering::Relaxed);
        let doorbell = &area.doorbell;
        doorbell.kind.store(SIGNAL_KIND_USER, Ordering::Relaxed);
        let mailbox = address((&raw const area.mailbox).cast());
        doorbell.event_mailbox.store(mailbox, Ordering::Relaxed);
    }

    /// The packets that are ready, in the order in which they became so.
    fn take_ready(&self) -> Result<Vec<usize>, String> {
        let area = self.area();
        let mut packets = Vec::new();
        let mut name = area.buffer.ready.swap(0, Ordering::Acquire);
        while name != 0 {
            if packets.len() == PACKETS {
                return Err("the stack of ready packets has no end".to_owned());
            }
            let index = (name & INDEX_MASK) as usize;
            packets.push(index);
            name = area.headers[index].next.load(Ordering::Relaxed);
        }
        packets.reverse();
        Ok(packets)
    }

    fn serve(&self, service: u32, slot: &Slot, messages: &mut Messages) -> Result<(), String> {
        let word = |index: usize| slot[index].load(Ordering::Relaxed);
        let answer = |index: usize, value: u64| slot[index].store(value, Ordering::Relaxed);
        match service {
            FUNCTION_CALL => {
                let results = call(word(0), &std::array::from_fn(|index| word(1 + index)))?;
                (0..).zip(results).for_each(|(index, result)| answer(index, result));
            }
            PRINTF => {
                let result = messages.take(std::array::from_fn(word))?;
                answer(0, result);
            }
            DEVICE_MEMORY => answer(0, self.device_memory(word(0), word(1))?),
            unknown => return Err(format!("service {unknown} is not emulated")),
        }
        Ok(())
    }

    /// Frees memory of device `malloc`, or else gives some; zero if there is none.
    fn device_memory(&self, free: u64, bytes: u64) -> Result<u64, String> {
        if free != 0 {
            let found = self.runtime.allocations.at(free).filter(|found| found.kind == Kind::Heap);
            let found =
                found.ok_or_else(|| format!("free({free:#x}), which malloc did not give"))?;
            let freed = self.runtime.release(&found);
            return freed.map(|()| 0).map_err(|error| format!("free({free:#x}): {error:?}"));
        }
        let align = if bytes == SLAB_BYTES { SLAB_BYTES } else { 1 };
        let given = self.runtime.allocate_aligned(self.device, bytes, align, Kind::Heap);
        Ok(given.unwrap_or(0))
    }
}

impl Host for Hostcall {
    fn interrupt(&self) -> Result<(), String> {
        let mut messages = lock(&self.messages);
        let area = self.area();
        for packet in self.take_ready()? {
            let header = &area.headers[packet];
            let service = header.service.load(Ordering::Relaxed);
            let active = header.active.load(Ordering::Relaxed);
            for (lane, slot) in area.payloads[packet].iter().enumerate() {
                if active >> lane & 1 != 0 {
                    self.serve(service, slot, &mut messages)?;
                }
            }
            header.control.fetch_and(!READY, Ordering::Release);
        }
        Ok(())
    }
}

impl Drop for Hostcall {
    fn drop(&mut self) {
        // In a forked child, where kernels do not run, there is nothing to unregister; and if the
        // memory was not registered at all, neither.
        let _not_registered = self.runtime.space.unregister_host(self.area.cast());
        // SAFETY: mapped by `new` with this size; no kernel runs that was given it.
        let unmapped = unsafe { munmap(self.area, size_of::<Area>()) };
        debug_assert!(unmapped.is_ok(), "the mapping is ours");
    }
}

/// Calls a function of the program for a lane.
fn call(function: u64, input: &[u64; WORDS - 1]) -> Result<[u64; 2], String> {
    type Function = unsafe extern "C" fn(*mut u64, *const u64);
    let address = ptr::with_exposed_provenance::<c_void>(function as usize);
    // In a replay the function is that of a program that does not run.
    if !is_code(function) {
        return Err(format!("{function:#x} is not code of this process"));
    }
    // SAFETY: there is code at the address; that it is a function with this signature is the
    // kernel's part of the contract.
    let function = unsafe { std::mem::transmute::<*const c_void, Function>(address) };
    let mut results = [0; 2];
    // SAFETY: as above; it may write two words and read seven.
    unsafe { function(results.as_mut_ptr(), input.as_ptr()) };
    Ok(results)
}

/// Whether the address lies in executable memory of this process.
fn is_code(address: u64) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    maps.lines().any(|line| {
        let mut words = line.split(' ');
        let range = words.next().and_then(|range| range.split_once('-'));
        let Some((start, end)) = range else { return false };
        let number = |text| u64::from_str_radix(text, 16);
        let (Ok(start), Ok(end)) = (number(start), number(end)) else { return false };
        let executable = words.next().is_some_and(|access| access.contains('x'));
        executable && (start..end).contains(&address)
    })
}

/// Messages longer than a packet, as far as they have come.
#[derive(Default)]
struct Messages {
    open: HashMap<u64, Vec<u64>>,
    next: u64,
}

/// The first word of a packet of a message.
#[derive(Clone, Copy)]
struct Descriptor(u64);

impl Descriptor {
    fn begins(self) -> bool {
        self.0 & 1 != 0
    }

    fn ends(self) -> bool {
        self.0 & 2 != 0
    }

    /// Words of the message in this packet.
    fn words(self) -> usize {
        (self.0 >> 5 & 7) as usize
    }

    fn message(self) -> u64 {
        self.0 >> 8
    }

    /// The same packet, as a part of that message.
    fn of(self, message: u64) -> Self {
        Self(self.0 & 0xfe | message << 8)
    }
}

impl Messages {
    /// Takes a packet: gives the descriptor for the next one of the message, or what came of the
    /// whole message if this was the last.
    fn take(&mut self, packet: [u64; WORDS]) -> Result<u64, String> {
        let [first, words @ ..] = packet;
        let mut descriptor = Descriptor(first);
        if descriptor.begins() {
            descriptor = descriptor.of(self.next);
            self.next += 1;
            self.open.insert(descriptor.message(), Vec::new());
        }
        let id = descriptor.message();
        let message = self.open.get_mut(&id).ok_or("printf: a part of no message")?;
        message.extend(&words[..descriptor.words()]);
        if !descriptor.ends() {
            return Ok(descriptor.0);
        }
        let message = self.open.remove(&id).unwrap_or_default();
        // A C int, as the kernel's `printf` returns it.
        Ok(i64::from(printf::print(&message)).cast_unsigned())
    }
}

//! What the replayed process has: handles, memory, images, symbols, host buffers, captures, and the
//! report so far. One lock around all of it, never held while the runtime is called.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use crate::archive::event::{BlobHash, EventId};
use crate::code::{Identity, Image};
use crate::desc::{ApiDesc, Rect};

use super::Refusal;
use super::arena::{Budget, Buffer};
use super::handles::Handles;
use super::memory::Memory;
use super::report::{
    EventName, Finding, FindingKind, LISTED_MAX, MachineDifference, Outcome, Report, Unplaced,
};
use super::scope;

/// Where a host operand's bytes are.
pub(super) enum Kept {
    /// In a buffer of our own, between canaries.
    Own(Buffer),
    /// At this recorded address, in a tracked range.
    Tracked(u64),
}

/// A host operand whose work may still run.
pub(super) struct HostOperand {
    /// Its parameter or field, and the element of the array in which that stands: with the side,
    /// its name within the event.
    pub(super) id: u16,
    pub(super) element: u32,
    pub(super) kept: Kept,
    pub(super) rect: Rect,
    /// The address that the program passed.
    pub(super) address: u64,
    /// The recorded stream that the copy runs on; `None`: no stream is named.
    pub(super) stream: Option<u64>,
    /// Whether it belongs to a graph, whose launches use it again.
    pub(super) graph: bool,
    /// Whether the copy writes it.
    pub(super) destination: bool,
    /// What [`World::calls`] was when the call that enqueued the work had returned.
    pub(super) since: u64,
    pub(super) function: &'static ApiDesc,
}

/// Kernels and variables by which programs name them.
#[derive(Default)]
#[expect(clippy::vec_box, reason = "runtimes hold the addresses, which must not move")]
pub(super) struct Symbols {
    by_address: HashMap<u64, (Option<Identity>, u64)>,
    by_symbol: HashMap<Identity, u64>,
    /// What stands in for the program's own stubs and shadows: unique addresses, with room for the
    /// largest thing that a runtime reads there (a texture reference), never freed while
    /// the replay runs.
    stand_ins: Vec<Box<[u64; 16]>>,
    dead: HashMap<u64, EventId>,
}

impl Symbols {
    /// An address that stands for a recorded one from now on.
    pub(super) fn define(&mut self, recorded: u64, symbol: Option<Identity>) -> u64 {
        self.dead.remove(&recorded);
        let stand_in = Box::new([0u64; 16]);
        let live = stand_in.as_ptr() as u64;
        self.stand_ins.push(stand_in);
        if let Some(symbol) = &symbol {
            self.by_symbol.insert(symbol.clone(), live);
        }
        self.by_address.insert(recorded, (symbol, live));
        live
    }

    /// Says that a recorded address stands for nothing.
    pub(super) fn kill(&mut self, recorded: u64, cause: EventId) {
        self.by_address.remove(&recorded);
        self.dead.insert(recorded, cause);
    }

    /// The live stand-in of a recorded address that names `symbol`. Where both are known they must
    /// agree, or the symbol decides: a name alone never does.
    pub(super) fn resolve(
        &self,
        recorded: u64,
        symbol: Option<&Identity>,
    ) -> Result<Option<u64>, Refusal> {
        if let Some(cause) = self.dead.get(&recorded) {
            let what = format!("the symbol at {recorded:#x} was not registered");
            return Err(Refusal::because(what, *cause));
        }
        let at = self.by_address.get(&recorded);
        Ok(match (at, symbol) {
            (Some((known, live)), Some(symbol))
                if known.as_ref().is_none_or(|known| known == symbol) =>
            {
                Some(*live)
            }
            (Some((_, live)), None) => Some(*live),
            (Some(_) | None, Some(symbol)) => self.by_symbol.get(symbol).copied(),
            (None, None) => None,
        })
    }
}

/// A call whose recorded and live status differ in a way that a later synchronisation can settle:
/// runtimes report a fault of asynchronous work at the next call that happens to notice.
pub(super) struct Late {
    pub(super) id: EventId,
    pub(super) function: &'static ApiDesc,
    pub(super) recorded: i64,
    pub(super) live: i64,
}

/// Everything behind the lock.
pub(super) struct World {
    pub(super) handles: Handles,
    pub(super) memory: Memory,
    pub(super) symbols: Symbols,
    pub(super) images: HashMap<BlobHash, Buffer>,
    /// What is inside the images whose kernels were launched; `None`: it could not be read.
    pub(super) parsed: HashMap<BlobHash, Option<Image>>,
    pub(super) operands: HashMap<EventId, Vec<HostOperand>>,
    /// Streams, by recorded value, whose work is being captured; and the event at fault if the
    /// capture lacks a part.
    pub(super) captures: HashMap<u64, Option<EventId>>,
    /// Functions and their outputs that were named as left unwritten.
    outputs_left: HashSet<(String, String)>,
    /// Placed allocations that were freed while a stream was capturing.
    pub(super) to_unplace: Vec<u64>,
    /// Memory that the runtime may use until the end.
    pub(super) forever: Vec<Buffer>,
    pub(super) late: Vec<Late>,
    /// For each recorded event object, the stream whose work it stands for, and how many calls had
    /// returned when it was recorded.
    pub(super) marks: HashMap<u64, (u64, u64)>,
    /// The first refused call that would have written memory: bytes that differ from then on say
    /// nothing of the device.
    pub(super) unwritten: Option<EventId>,
    /// The first call that let another process have memory of this one. Processes are replayed one
    /// by one, so bytes that differ from then on may be that process's stores.
    pub(super) exported: Option<(EventId, &'static ApiDesc)>,
    /// For each thread whose last error may be another than the recorded one, the call at fault.
    pub(super) last_errors: HashMap<u32, EventId>,
    /// Threads that were told "ready" where the recording says "not ready", and so have another last
    /// error.
    pub(super) ready_early: HashSet<u32>,
    /// The first event for which stores were made that were taken for the program's: bytes that differ
    /// from then on may be a consequence.
    pub(super) guessed: Option<EventId>,
    /// Calls that have returned.
    pub(super) calls: u64,
    pub(super) report: Report,
    pub(super) budget: Arc<Budget>,
}

impl World {
    pub(super) fn new(budget: Arc<Budget>) -> World {
        World {
            handles: Handles::default(),
            memory: Memory::default(),
            symbols: Symbols::default(),
            images: HashMap::new(),
            parsed: HashMap::new(),
            operands: HashMap::new(),
            captures: HashMap::new(),
            outputs_left: HashSet::new(),
            to_unplace: Vec::new(),
            forever: Vec::new(),
            late: Vec::new(),
            marks: HashMap::new(),
            unwritten: None,
            exported: None,
            last_errors: HashMap::new(),
            ready_early: HashSet::new(),
            guessed: None,
            calls: 0,
            report: Report::default(),
            budget,
        }
    }

    /// Adds a finding about a call.
    pub(super) fn find(
        &mut self,
        id: EventId,
        function: &str,
        kind: FindingKind,
        reason: impl Into<String>,
    ) {
        self.report.find(Finding {
            event: Some(id.into()),
            function: function.to_owned(),
            kind,
            reason: reason.into(),
            cause: None,
        });
    }

    /// Adds the finding that a refusal is.
    pub(super) fn find_refusal(&mut self, id: EventId, function: &str, refusal: &Refusal) {
        let kind = match refusal.cause {
            Some(_) => FindingKind::Consequence,
            None => FindingKind::Refused,
        };
        if refusal.damaged {
            self.report.damaged = true;
        }
        self.report.find(Finding {
            event: Some(id.into()),
            function: function.to_owned(),
            kind,
            reason: refusal.reason.clone(),
            cause: refusal.cause.map(EventName::from),
        });
    }

    /// Counts a difference that is a fact of the machine.
    pub(super) fn machine_differs(
        &mut self,
        id: EventId,
        function: &ApiDesc,
        what: String,
        recorded: String,
        live: String,
    ) {
        self.report.machine_differs += 1;
        if self.report.machine.len() < LISTED_MAX {
            self.report.machine.push(MachineDifference {
                event: id.into(),
                function: name(function),
                what,
                recorded,
                live,
            });
        }
    }

    /// Says that a call left an output as it was, as far as `text` tells: once for each output of a
    /// function. When it was recorded it may have done so as well: what was recorded there may be the
    /// program's own, and is not compared.
    pub(super) fn left_unwritten(
        &mut self,
        id: EventId,
        function: &ApiDesc,
        what: &str,
        text: &str,
    ) {
        self.report.outputs_unwritten += 1;
        let output = what.split('[').next().unwrap_or(what);
        if self.outputs_left.insert((name(function), output.to_owned())) {
            self.find(
                id,
                &name(function),
                FindingKind::Note,
                format!("{what}: the call wrote {text}"),
            );
        }
    }

    /// Says that an allocation is not at its recorded address.
    pub(super) fn unplaced(
        &mut self,
        id: EventId,
        function: &ApiDesc,
        address: u64,
        bytes: u64,
        reason: String,
    ) {
        if self.report.unplaced.len() < LISTED_MAX {
            let (event, function) = (id.into(), name(function));
            self.report.unplaced.push(Unplaced { event, function, address, bytes, reason });
        }
    }

    /// The operand of an event, by its name within it.
    pub(super) fn operand(
        &self,
        (event, id): (EventId, u16),
        element: u32,
        destination: bool,
    ) -> Option<&HostOperand> {
        self.operands.get(&event)?.iter().find(|operand| {
            operand.id == id && operand.element == element && operand.destination == destination
        })
    }

    /// Where an operand's bytes are now, if its rows all fit there.
    pub(super) fn operand_base(&self, operand: &HostOperand) -> Result<*mut u8, Refusal> {
        match operand.kept {
            Kept::Own(ref buffer) => Ok(buffer.as_ptr()),
            Kept::Tracked(address) => {
                let needed = scope::footprint(&operand.rect).unwrap_or(u64::MAX);
                self.host_base(address, needed)
            }
        }
    }

    /// Where a tracked host range is now, if it holds so many bytes from an address on.
    pub(super) fn host_base(&self, address: u64, bytes: u64) -> Result<*mut u8, Refusal> {
        match self.memory.resolve(address)? {
            Some(found) if found.host && found.rest >= bytes => Ok(found.live as *mut u8),
            Some(found) if found.host => Err(Refusal::new("its range ends before its content")),
            Some(_) => Err(Refusal::new("the host cannot reach the memory there")),
            None => Err(Refusal::new("no recorded call made it reachable for the device")),
        }
    }

    /// Puts recorded bytes into tracked host memory: those that changed since the recording last took
    /// them there, since work that runs may be writing to the others.
    pub(super) fn restore_host(&mut self, address: u64, content: &[u8]) -> Result<(), Refusal> {
        let base = self.host_base(address, content.len() as u64)?;
        let Some(range) = self.memory.find_host(address) else { return Ok(()) };
        let offset = (address - range.start) as usize;
        for run in range.content.changed(offset, content) {
            // SAFETY: the range is host memory that lives, and the bytes end inside it.
            unsafe {
                let (from, to) = (content.as_ptr().add(run.start), base.add(run.start));
                std::ptr::copy_nonoverlapping(from, to, run.len());
            }
        }
        range.content.take(range.bytes as usize, offset, content);
        Ok(())
    }

    /// Makes a store of a callback.
    pub(super) fn store_host(&mut self, address: u64, content: &[u8]) -> Result<(), Refusal> {
        let content = self.rewrite_words(content).into_owned();
        let base = self.host_base(address, content.len() as u64)?;
        // SAFETY: the range is host memory that lives, and the bytes end inside it.
        unsafe { std::ptr::copy_nonoverlapping(content.as_ptr(), base, content.len()) };
        self.report.callback_bytes_stored += content.len() as u64;
        Ok(())
    }

    /// Notes what a recorded call found in host memory while work of this age ran.
    pub(super) fn see_host(&mut self, address: u64, content: &[u8], age_ms: u64) {
        if self.host_base(address, content.len() as u64).is_err() {
            return;
        }
        let content = self.rewrite_words(content).into_owned();
        if let Some(range) = self.memory.find_host(address) {
            let offset = (address - range.start) as usize;
            range.content.see(offset, &content, Duration::from_millis(age_ms));
        }
    }

    /// Keeps what host memory holds now in which something was seen.
    pub(super) fn look_at_hosts(&mut self) {
        for (live, range) in self.memory.hosts() {
            if range.content.was_seen() {
                // SAFETY: as in `store_seen`.
                range.content.look(&unsafe { copied(live, range.bytes) });
            }
        }
    }

    /// Whether something that was seen in host memory is not there: how long to wait for the work that
    /// may write it.
    pub(super) fn seen_and_missing(&mut self) -> Option<Duration> {
        let missing = self.memory.hosts().filter(|(live, range)| {
            // SAFETY: as in `store_seen`.
            range.content.was_seen() && range.content.lacks(&unsafe { copied(*live, range.bytes) })
        });
        missing.map(|(_, range)| range.content.patience()).max()
    }

    /// Makes the stores of the program among what was seen; answers their bytes, and the recorded
    /// address of the first.
    pub(super) fn store_seen(&mut self) -> Option<(u64, u64)> {
        let (mut bytes, mut first) = (0, None);
        for (live, range) in self.memory.hosts() {
            if !range.content.was_seen() {
                continue;
            }
            // SAFETY: the range is host memory that lives as long as it is entered, which needs the
            // world's lock to end.
            let now = unsafe { copied(live, range.bytes) };
            for (offset, store) in range.content.stores(&now) {
                // SAFETY: as above, and the run lies in the range; the device may read and write it
                // meanwhile, as it may when a program stores there.
                unsafe {
                    let to = (live as *mut u8).add(offset);
                    std::ptr::copy_nonoverlapping(store.as_ptr(), to, store.len());
                }
                bytes += store.len() as u64;
                first.get_or_insert(range.start + offset as u64);
            }
        }
        self.report.host_bytes_stored += bytes;
        first.map(|first| (bytes, first))
    }

    /// Lets go of the operands whose work is done, and looks at their canaries.
    pub(super) fn release_operands(&mut self, done: impl Fn(&HostOperand) -> bool) {
        let mut over = Vec::new();
        self.operands.retain(|id, operands| {
            over.extend(operands.extract_if(.., |operand| done(operand)).map(|o| (*id, o)));
            !operands.is_empty()
        });
        for (id, operand) in over {
            if let Kept::Own(buffer) = &operand.kept
                && let Some(damage) = buffer.damage()
            {
                self.canary(id, operand.function, damage);
            }
        }
    }

    /// Reports a write outside a buffer that was found after its event had been counted.
    fn canary(&mut self, id: EventId, function: &ApiDesc, damage: String) {
        self.find(id, &name(function), FindingKind::Canary, damage);
        // The event was counted as reproduced; what it did since shows that it was not.
        self.report.checks_failed += 1;
    }

    /// Settles the calls that waited for this synchronisation: `recorded` and `live` are what it
    /// returned then and now.
    pub(super) fn settle_late(&mut self, recorded: i64, live: i64) {
        for late in std::mem::take(&mut self.late) {
            let surfaced = match (late.recorded, late.live) {
                (0, now) => recorded == now,
                (then, _) => live == then,
            };
            self.count_late(&late, surfaced);
        }
    }

    /// Counts a call that waited to be settled.
    pub(super) fn count_late(&mut self, late: &Late, surfaced: bool) {
        if surfaced {
            self.report.count(match late.recorded {
                0 => Outcome::Reproduced,
                _ => Outcome::FailedAsRecorded,
            });
        } else {
            let text = status_text(late.recorded, late.live);
            self.find(late.id, &name(late.function), FindingKind::Diverged, text);
            self.report.count(Outcome::Diverged);
        }
    }
}

/// What memory holds.
///
/// # Safety
/// The memory is readable for so many bytes. Others may write to it meanwhile.
unsafe fn copied(address: u64, bytes: u64) -> Vec<u8> {
    let mut content = vec![0; bytes as usize];
    // SAFETY: the caller's contract, and the vector has the room.
    unsafe {
        std::ptr::copy_nonoverlapping(address as *const u8, content.as_mut_ptr(), content.len());
    }
    content
}

/// The name of a function, for people.
pub(super) fn name(function: &ApiDesc) -> String {
    function.name.to_string_lossy().into_owned()
}

/// How two statuses differ.
pub(super) fn status_text(recorded: i64, live: i64) -> String {
    match (recorded, live) {
        (0, live) => format!("it succeeded when recorded and returns {live} now"),
        (recorded, 0) => format!("it returned {recorded} when recorded and succeeds now"),
        (recorded, live) => format!("it returned {recorded} when recorded and returns {live} now"),
    }
}

//! What stands in for a callback of the program: it makes the stores that the recording saw the
//! callback make, in the order in which the runtime calls it.
//!
//! In which argument the user data comes depends on the function type, so the stand-in looks for the
//! one that leads to a node, as the recorder's trampoline does.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError, Weak};

use crate::archive::event::{Body, EventId, Field};

use super::engine::Shared;
use super::report::FindingKind;

/// What the program's callbacks stored.
#[derive(Default)]
pub(super) struct Stores {
    /// By the event that handed the callback over, and its run.
    runs: HashMap<(EventId, u32), Vec<Field>>,
    /// Where they stored, and when that can have been.
    places: Vec<Place>,
    bytes_max: u64,
}

struct Place {
    address: u64,
    bytes: u64,
    /// When the call began that handed the callback over.
    handed_over: u64,
    /// By when the callback had run.
    ran_by: u64,
}

impl Stores {
    /// Enters a store that was written with an event of this time; `handed_over`: when the call began
    /// that handed the callback over.
    pub(super) fn enter(&mut self, field: Field, handed_over: u64, ran_by: u64) {
        let Some((owner, _)) = field.owner else { return };
        let (address, bytes) = (field.address, field.original);
        self.places.push(Place { address, bytes, handed_over, ran_by });
        self.bytes_max = self.bytes_max.max(bytes);
        self.runs.entry((owner, field.element)).or_default().push(field);
    }

    /// Must be called once all stores are entered.
    pub(super) fn sort(&mut self) {
        self.places.sort_unstable_by_key(|place| place.address);
    }

    /// The parts of so many bytes from a recorded address on, relative to it, that a call which began
    /// at `enter` found as no callback left them later: a callback that had been handed over before and
    /// ran afterwards stored the others, which may be there already.
    pub(super) fn untouched(&self, address: u64, bytes: u64, enter: u64) -> Vec<Range<usize>> {
        let end = address.saturating_add(bytes);
        let first = address.saturating_sub(self.bytes_max);
        let first = self.places.partition_point(|place| place.address < first);
        let later = self.places[first..].iter().take_while(|place| place.address < end);
        let later = later.filter(|place| place.handed_over < enter && place.ran_by > enter);
        let (mut parts, mut from) = (Vec::new(), address);
        for place in later {
            if place.address > from {
                parts.push((from - address) as usize..(place.address - address) as usize);
            }
            from = from.max(place.address.saturating_add(place.bytes));
        }
        if from < end {
            parts.push((from - address) as usize..bytes as usize);
        }
        parts
    }
}

/// What a runtime is given as user data. Never freed: a runtime may call back until the process
/// ends.
struct Node {
    shared: Weak<Shared>,
    owner: EventId,
    runs: AtomicU32,
}

/// The nodes that were given out: whether an address is one must be known before it is followed.
static NODES: LazyLock<Mutex<HashSet<usize>>> = LazyLock::new(Mutex::default);

/// Every function type for callbacks passes at most this many arguments, all of them words.
type Callback = extern "C" fn(usize, usize, usize, usize) -> usize;

/// The callback and the user data that a runtime gets for an event's own.
pub(super) fn stand_in(shared: Weak<Shared>, owner: EventId) -> (u64, u64) {
    let node: &Node = Box::leak(Box::new(Node { shared, owner, runs: AtomicU32::new(0) }));
    let address = core::ptr::from_ref(node) as usize;
    NODES.lock().unwrap_or_else(PoisonError::into_inner).insert(address);
    let callback: Callback = called;
    (callback as usize as u64, address as u64)
}

extern "C" fn called(a: usize, b: usize, c: usize, d: usize) -> usize {
    let node = {
        let nodes = NODES.lock().unwrap_or_else(PoisonError::into_inner);
        [a, b, c, d].into_iter().find(|word| nodes.contains(word))
    };
    let Some(node) = node else { return 0 };
    // SAFETY: only addresses of leaked nodes are in the list.
    let node = unsafe { &*(node as *const Node) };
    let run = node.runs.fetch_add(1, Ordering::Relaxed);
    // Without it the replay is over.
    let Some(shared) = node.shared.upgrade() else { return 0 };
    // A panic must not reach the runtime, which called us.
    if catch_unwind(AssertUnwindSafe(|| store(&shared, node.owner, run))).is_err() {
        shared.gate.stop();
        let text = "a panic while the stores of a callback were made".to_owned();
        shared.world().report.internal_error.get_or_insert(text);
    }
    0
}

fn store(shared: &Shared, owner: EventId, run: u32) {
    let Some(stores) = shared.callback_stores.runs.get(&(owner, run)) else { return };
    let mut world = shared.world();
    for field in stores {
        let stored = match &field.body {
            Body::Absent(reason) => Err(reason.text().to_owned()),
            _ if field.original > field.recorded => Err("it was clipped".to_owned()),
            body => match shared.content(body) {
                Ok(Some(content)) => {
                    world.store_host(field.address, &content).map_err(|refusal| refusal.reason)
                }
                Ok(None) => Err("the recording lacks its content".to_owned()),
                Err(refusal) => {
                    world.report.damaged |= refusal.damaged;
                    Err(refusal.reason)
                }
            },
        };
        if let Err(reason) = stored {
            // What depends on it says nothing of the device.
            world.unwritten.get_or_insert(owner);
            let text = format!("what its callback stored on run {run} is not there: {reason}");
            world.find(owner, "", FindingKind::Note, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::event::{FIELD_CALLBACK_STORE, Phase};

    #[test]
    fn what_a_callback_stores_later_is_not_restored() {
        let mut stores = Stores::default();
        // (address, bytes, handed over, ran by)
        let all =
            [(100, 10, 1, 50), (104, 2, 1, 60), (130, 5, 1, 5), (140, 5, 20, 50), (90, 12, 1, 50)];
        for (address, bytes, handed_over, ran_by) in all {
            let field = Field {
                id: FIELD_CALLBACK_STORE,
                depth: 0,
                phase: Phase::Before,
                element: 0,
                original: bytes,
                recorded: bytes,
                address,
                owner: Some((EventId { thread: 0, index: 0 }, 0)),
                body: Body::Null,
            };
            stores.enter(field, handed_over, ran_by);
        }
        stores.sort();
        let untouched = |address, bytes, enter| {
            let parts = stores.untouched(address, bytes, enter);
            parts.into_iter().map(|part| (part.start, part.end)).collect::<Vec<_>>()
        };
        assert_eq!(untouched(95, 100, 10), [(15, 100)], "it ran before, or was handed over later");
        assert_eq!(untouched(80, 15, 10), [(0, 10)]);
        assert_eq!(untouched(100, 10, 10), []);
        assert_eq!(untouched(110, 5, 10), [(0, 5)]);
        assert_eq!(untouched(95, 20, 55), [(0, 9), (11, 20)]);
        assert_eq!(untouched(95, 0, 10), []);
    }
}

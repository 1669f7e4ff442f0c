//! What stands in for a callback of the program: it makes the stores that the recording saw the
//! callback make, in the order in which the runtime calls it.
//!
//! In which argument the user data comes depends on the function type, so the stand-in looks for the
//! one that leads to a node, as the recorder's trampoline does.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError, Weak};

use crate::archive::event::{Body, EventId, Field};

use super::engine::Shared;
use super::report::FindingKind;

/// The stores of each run of each event's callback.
pub(super) type Stores = HashMap<(EventId, u32), Vec<Field>>;

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
    // A fault is in the report already, or the replay is over: the runtime has no use for it.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let node = {
            let nodes = NODES.lock().unwrap_or_else(PoisonError::into_inner);
            [a, b, c, d].into_iter().find(|word| nodes.contains(word))
        };
        let Some(node) = node else { return };
        // SAFETY: only addresses of leaked nodes are in the list.
        let node = unsafe { &*(node as *const Node) };
        let run = node.runs.fetch_add(1, Ordering::Relaxed);
        if let Some(shared) = node.shared.upgrade() {
            store(&shared, node.owner, run);
        }
    }));
    0
}

fn store(shared: &Shared, owner: EventId, run: u32) {
    let Some(stores) = shared.callback_stores.get(&(owner, run)) else { return };
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

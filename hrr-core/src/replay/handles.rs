//! Recorded handles and the live ones that stand for them.
//!
//! One map per [`HandleDesc`] name, so that a value is never answered by a handle of another type.
//! Knows nothing of calls; the interpreter enters, resolves and ends.

use std::collections::HashMap;

use crate::archive::event::EventId;
use crate::desc::HandleDesc;

use super::Refusal;

/// What a recorded handle stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Entry {
    /// This live handle.
    Live(u64),
    /// Nothing: the event that should have made it did not, because of this event.
    Dead(EventId),
}

/// Every map.
#[derive(Default)]
pub(super) struct Handles {
    maps: HashMap<&'static str, HashMap<u64, Entry>>,
    /// Handles that stand for something that lacks a part, and the event at fault.
    incomplete: HashMap<(&'static str, u64), EventId>,
}

impl Handles {
    /// Whether a value passes unchanged: null, or reserved by the declaration.
    pub(super) fn passes(desc: &HandleDesc, recorded: u64) -> bool {
        recorded == 0 || desc.reserved.contains(&recorded)
    }

    /// Enters what a recorded handle stands for from now on. A value that was used before is that
    /// of a new handle: it is whole.
    pub(super) fn enter(&mut self, desc: &HandleDesc, recorded: u64, entry: Entry) {
        if Self::passes(desc, recorded) {
            return;
        }
        if self.known(desc, recorded) != Some(entry) {
            self.incomplete.remove(&(desc.name, recorded));
        }
        self.maps.entry(desc.name).or_default().insert(recorded, entry);
    }

    /// Forgets a handle that was destroyed.
    pub(super) fn end(&mut self, desc: &HandleDesc, recorded: u64) {
        if let Some(map) = self.maps.get_mut(desc.name) {
            map.remove(&recorded);
        }
        self.incomplete.remove(&(desc.name, recorded));
    }

    /// The entry of a recorded handle.
    pub(super) fn known(&self, desc: &HandleDesc, recorded: u64) -> Option<Entry> {
        self.maps.get(desc.name)?.get(&recorded).copied()
    }

    /// The live handle of a recorded one: `None` if nobody made it, which the caller judges.
    pub(super) fn resolve(&self, desc: &HandleDesc, recorded: u64) -> Result<Option<u64>, Refusal> {
        if Self::passes(desc, recorded) {
            return Ok(Some(recorded));
        }
        match self.known(desc, recorded) {
            Some(Entry::Live(live)) => Ok(Some(live)),
            Some(Entry::Dead(cause)) => Err(Refusal::because(
                format!("the {} {recorded:#x} does not exist", desc.name),
                cause,
            )),
            None => Ok(None),
        }
    }

    /// The live handle of a recorded value, whatever its type: for arguments of kernels, which
    /// carry no type. `None` unless exactly one type has it.
    pub(super) fn resolve_untyped(&self, recorded: u64) -> Option<u64> {
        let mut found = self.maps.values().filter_map(|map| match map.get(&recorded)? {
            Entry::Live(live) => Some(*live),
            Entry::Dead(_) => None,
        });
        found.next().filter(|_| found.next().is_none())
    }

    /// Marks that what a handle stands for lacks a part.
    pub(super) fn mark_incomplete(&mut self, desc: &HandleDesc, recorded: u64, cause: EventId) {
        self.incomplete.entry((desc.name, recorded)).or_insert(cause);
    }

    /// The event at fault if what a handle stands for lacks a part.
    pub(super) fn incomplete(&self, desc: &HandleDesc, recorded: u64) -> Option<EventId> {
        self.incomplete.get(&(desc.name, recorded)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static STREAM: HandleDesc = HandleDesc { name: "stream", reserved: &[1, 2] };
    static EVENT: HandleDesc = HandleDesc { name: "event", reserved: &[] };
    const CAUSE: EventId = EventId { thread: 0, index: 7 };

    #[test]
    fn a_map_answers_for_its_own_type_only() {
        let mut handles = Handles::default();
        handles.enter(&STREAM, 0x100, Entry::Live(0x900));
        assert_eq!(handles.resolve(&STREAM, 0x100).unwrap(), Some(0x900));
        assert_eq!(handles.resolve(&EVENT, 0x100).unwrap(), None);
        assert_eq!(handles.resolve_untyped(0x100), Some(0x900));
        handles.enter(&EVENT, 0x100, Entry::Live(0x901));
        assert_eq!(handles.resolve_untyped(0x100), None);
    }

    #[test]
    fn null_and_reserved_values_pass_and_are_never_entered() {
        let mut handles = Handles::default();
        handles.enter(&STREAM, 1, Entry::Live(5));
        handles.enter(&STREAM, 0, Entry::Live(5));
        for value in [0, 1, 2] {
            assert_eq!(handles.resolve(&STREAM, value).unwrap(), Some(value));
        }
        assert_eq!(handles.resolve(&EVENT, 1).unwrap(), None);
    }

    #[test]
    fn a_reused_value_is_the_newest_handle_and_whole() {
        let mut handles = Handles::default();
        handles.enter(&STREAM, 0x100, Entry::Dead(CAUSE));
        assert_eq!(handles.resolve(&STREAM, 0x100).unwrap_err().cause, Some(CAUSE));
        handles.enter(&STREAM, 0x100, Entry::Live(9));
        handles.mark_incomplete(&STREAM, 0x100, CAUSE);
        assert_eq!(handles.incomplete(&STREAM, 0x100), Some(CAUSE));
        handles.enter(&STREAM, 0x100, Entry::Live(9));
        assert_eq!(handles.incomplete(&STREAM, 0x100), Some(CAUSE), "the same handle again");
        handles.enter(&STREAM, 0x100, Entry::Live(10));
        assert_eq!(handles.incomplete(&STREAM, 0x100), None);
        handles.end(&STREAM, 0x100);
        assert_eq!(handles.resolve(&STREAM, 0x100).unwrap(), None);
    }
}

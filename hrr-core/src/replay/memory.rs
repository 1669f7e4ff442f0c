//! Recorded address ranges and where they are now.
//!
//! Owns the translation of addresses. A look-up prefers ranges that exist over ones that ended, and
//! among those the one that starts last; its end is exclusive. Sizes are those recorded: no padding
//! ever widens a look-up.

use std::collections::BTreeMap;

use crate::archive::event::EventId;
use crate::desc::Space;

use super::Refusal;
use super::arena::Buffer;
use super::hosts::HostContent;

/// What lies behind a range.
pub(super) enum Backing {
    /// Memory of the runtime.
    Runtime(Space),
    /// A part of other memory (a global variable, an alias): translated like that, never freed.
    Part,
    /// Our own buffer, registered with the runtime.
    Registered(Buffer),
}

/// Where a range is now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Where {
    /// At this address.
    Live(u64),
    /// Nowhere: the event that should have made it did not, because of this event.
    Dead(EventId),
}

/// One recorded range.
pub(super) struct Range {
    pub(super) start: u64,
    pub(super) bytes: u64,
    pub(super) at: Where,
    /// Whether the engine itself put it at its recorded address.
    pub(super) placed: bool,
    pub(super) backing: Backing,
    /// The start of the range of which it is an alias; 0: of none.
    pub(super) alias_of: u64,
    /// What the recording says of its content, if the host may touch it.
    pub(super) content: HostContent,
    /// What copies brought to the host: disjoint (start, end) offsets.
    read: BTreeMap<u64, u64>,
}

impl Range {
    /// A range at an address.
    pub(super) fn new(start: u64, bytes: u64, at: Where, backing: Backing) -> Range {
        let (content, read) = (HostContent::default(), BTreeMap::new());
        Range { start, bytes, at, placed: false, backing, alias_of: 0, content, read }
    }

    fn contains(&self, address: u64) -> bool {
        address >= self.start && address - self.start < self.bytes
    }

    /// Whether the host may touch the memory.
    pub(super) fn host(&self) -> bool {
        match self.backing {
            Backing::Runtime(Space::Pinned | Space::Managed) | Backing::Registered(_) => true,
            Backing::Runtime(Space::Device) | Backing::Part => false,
        }
    }

    fn device(&self) -> bool {
        matches!(self.backing, Backing::Runtime(Space::Device))
    }

    fn unread(&self) -> u64 {
        self.bytes - self.read.iter().map(|(start, end)| end - start).sum::<u64>()
    }
}

/// An address, found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Found {
    /// The address now.
    pub(super) live: u64,
    /// Bytes from there to the end of the range.
    pub(super) rest: u64,
    /// Whether the host may touch them.
    pub(super) host: bool,
}

/// Every range.
#[derive(Default)]
pub(super) struct Memory {
    /// By start; of two ranges with one start the newer counts.
    ranges: BTreeMap<u64, Range>,
    bytes_max: u64,
    /// Bounds of the ranges whose addresses changed: most words of a buffer are outside.
    moved: Option<(u64, u64)>,
    never_read: u64,
}

impl Memory {
    /// Enters a range; ranges of ended allocations below it are forgotten.
    pub(super) fn enter(&mut self, range: Range) {
        if range.start == 0 || range.bytes == 0 || range.start.checked_add(range.bytes).is_none() {
            return;
        }
        self.bytes_max = self.bytes_max.max(range.bytes);
        let end = range.start + range.bytes;
        if matches!(range.at, Where::Live(live) if live != range.start) {
            let (low, high) = self.moved.unwrap_or((range.start, end));
            self.moved = Some((low.min(range.start), high.max(end)));
        }
        let stale: Vec<u64> = self
            .ranges
            .range(range.start..end)
            .filter(|(_, old)| matches!(old.at, Where::Dead(_)))
            .map(|(start, _)| *start)
            .collect();
        for start in stale {
            self.ranges.remove(&start);
        }
        if let Some(old) = self.ranges.insert(range.start, range) {
            self.retire(&old);
        }
    }

    fn retire(&mut self, range: &Range) {
        if range.device() && matches!(range.at, Where::Live(_)) {
            self.never_read += range.unread();
        }
    }

    /// The range that holds an address.
    pub(super) fn find(&self, address: u64) -> Option<&Range> {
        let lowest = address.saturating_sub(self.bytes_max);
        let holding = || {
            self.ranges
                .range(lowest..=address)
                .rev()
                .map(|(_, r)| r)
                .filter(|r| r.contains(address))
        };
        holding().find(|range| matches!(range.at, Where::Live(_))).or_else(|| holding().next())
    }

    /// The range of host memory that holds an address.
    pub(super) fn find_host(&mut self, address: u64) -> Option<&mut Range> {
        let start = self.find(address)?.start;
        self.ranges.get_mut(&start).filter(|range| range.host())
    }

    /// Every range of host memory that lives, with its address.
    pub(super) fn hosts(&mut self) -> impl Iterator<Item = (u64, &mut Range)> {
        self.ranges.values_mut().filter(|range| range.host()).filter_map(|range| match range.at {
            Where::Live(live) => Some((live, range)),
            Where::Dead(_) => None,
        })
    }

    /// The range that starts at an address.
    pub(super) fn at(&self, start: u64) -> Option<&Range> {
        self.ranges.get(&start)
    }

    /// Translates an address: `None` if no range holds it, which the caller judges.
    pub(super) fn resolve(&self, address: u64) -> Result<Option<Found>, Refusal> {
        let Some(range) = self.find(address) else { return Ok(None) };
        let offset = address - range.start;
        match range.at {
            Where::Live(live) => Ok(Some(Found {
                live: live.wrapping_add(offset),
                rest: range.bytes - offset,
                host: range.host(),
            })),
            Where::Dead(cause) => Err(Refusal::because(
                format!("the memory at {address:#x} was not allocated"),
                cause,
            )),
        }
    }

    /// The address one past the end of a range that ends there, if no range holds it.
    pub(super) fn past_end(&self, address: u64) -> Option<u64> {
        let last = address.checked_sub(1)?;
        let range = self.find(last)?;
        match range.at {
            Where::Live(live) if range.start + range.bytes == address => {
                Some(live.wrapping_add(range.bytes))
            }
            Where::Live(_) | Where::Dead(_) => None,
        }
    }

    /// What a word becomes that may be an address: something else only if it points into a range
    /// that could not be placed.
    pub(super) fn moved_word(&self, word: u64) -> Option<u64> {
        let (low, high) = self.moved?;
        if word < low || word >= high {
            return None;
        }
        let range = self.find(word)?;
        match range.at {
            Where::Live(live) if live != range.start => Some(live.wrapping_add(word - range.start)),
            Where::Live(_) | Where::Dead(_) => None,
        }
    }

    /// The recorded addresses between which every range lies that is not at its recorded address;
    /// `None` if there is none.
    pub(super) fn moved_bounds(&self) -> Option<(u64, u64)> {
        self.moved
    }

    /// Ends the range that starts at an address, and its aliases: others may get their addresses.
    pub(super) fn end(&mut self, start: u64) -> Option<Range> {
        let range = self.ranges.remove(&start)?;
        self.retire(&range);
        self.ranges.retain(|_, other| other.alias_of != start);
        Some(range)
    }

    /// Ends every range and answers the starts of those that the engine had placed.
    pub(super) fn reset(&mut self) {
        for (_, range) in std::mem::take(&mut self.ranges) {
            self.retire(&range);
        }
        self.moved = None;
    }

    /// The starts of the ranges that the engine placed.
    pub(super) fn placed(&self) -> Vec<u64> {
        self.ranges.values().filter(|range| range.placed).map(|range| range.start).collect()
    }

    /// Notes that a copy brought bytes to the host.
    pub(super) fn mark_read(&mut self, address: u64, bytes: u64) {
        let Some(start) = self.find(address).map(|range| range.start) else { return };
        let Some(range) = self.ranges.get_mut(&start) else { return };
        let mut low = address - range.start;
        let mut high = low.saturating_add(bytes).min(range.bytes);
        while let Some((&start, &end)) = range.read.range(..=high).next_back() {
            if end < low {
                break;
            }
            low = low.min(start);
            high = high.max(end);
            range.read.remove(&start);
        }
        if low < high {
            range.read.insert(low, high);
        }
    }

    /// Bytes of device allocations, ended and present, that no copy brought to the host.
    pub(super) fn never_read(&self) -> u64 {
        let present = self.ranges.values().filter(|r| r.device() && matches!(r.at, Where::Live(_)));
        self.never_read + present.map(Range::unread).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAUSE: EventId = EventId { thread: 0, index: 3 };

    fn device(start: u64, bytes: u64, live: u64) -> Range {
        Range::new(start, bytes, Where::Live(live), Backing::Runtime(Space::Device))
    }

    #[test]
    fn ends_are_exclusive_and_the_innermost_range_wins() {
        let mut memory = Memory::default();
        memory.enter(device(0x1000, 0x1000, 0x9000));
        memory.enter(Range::new(0x1400, 0x10, Where::Live(0x5000), Backing::Part));
        let live = |memory: &Memory, address| memory.resolve(address).unwrap().map(|f| f.live);
        assert_eq!(live(&memory, 0x1000), Some(0x9000));
        assert_eq!(live(&memory, 0x1fff), Some(0x9fff));
        assert_eq!(live(&memory, 0x2000), None);
        assert_eq!(memory.past_end(0x2000), Some(0xa000));
        assert_eq!(memory.past_end(0x1800), None);
        assert_eq!(live(&memory, 0x1405), Some(0x5005));
        assert_eq!(live(&memory, 0x1410), Some(0x9410));
        assert_eq!(live(&memory, 0), None);
    }

    #[test]
    fn reused_addresses_are_the_newest_and_dead_ranges_never_hide_live_ones() {
        let mut memory = Memory::default();
        let dead = |start, bytes| Range::new(start, bytes, Where::Dead(CAUSE), Backing::Part);
        memory.enter(dead(0x1000, 0x1000));
        assert_eq!(memory.resolve(0x1800).unwrap_err().cause, Some(CAUSE));
        memory.enter(device(0x1800, 0x10, 0x7000));
        assert_eq!(memory.resolve(0x1808).unwrap().unwrap().live, 0x7008);
        memory.enter(device(0x1000, 0x100, 0x6000));
        assert_eq!(memory.resolve(0x1200), Ok(None));
        memory.end(0x1000);
        memory.enter(device(0x1000, 0x8, 0x5000));
        assert_eq!(memory.resolve(0x1010), Ok(None));
    }

    #[test]
    fn only_words_into_moved_ranges_change() {
        let mut memory = Memory::default();
        memory.enter(device(0x10000, 0x1000, 0x10000));
        assert_eq!(memory.moved_word(0x10008), None);
        assert_eq!(memory.moved_bounds(), None);
        memory.enter(device(0x30000, 0x1000, 0x50000));
        assert_eq!(memory.moved_word(0x30ff8), Some(0x50ff8));
        assert_eq!(memory.moved_word(0x31000), None);
        assert_eq!(memory.moved_word(0x20000), None);
    }

    #[test]
    fn bytes_that_reached_the_host_are_counted_once() {
        let mut memory = Memory::default();
        memory.enter(device(0x1000, 100, 0x1000));
        memory.mark_read(0x1000, 10);
        memory.mark_read(0x1005, 10);
        memory.mark_read(0x1020, 10);
        memory.mark_read(0x100f, 17);
        assert_eq!(memory.never_read(), 100 - 42);
        memory.end(0x1000);
        memory.enter(device(0x1000, 50, 0x1000));
        assert_eq!(memory.never_read(), 58 + 50);
    }

    #[test]
    fn an_alias_ends_with_its_memory() {
        let mut memory = Memory::default();
        memory.enter(device(0x1000, 0x100, 0x9000));
        let mut alias = Range::new(0x5000, 0x100, Where::Live(0x9000), Backing::Part);
        alias.alias_of = 0x1000;
        memory.enter(alias);
        assert_eq!(memory.resolve(0x5010).unwrap().unwrap().live, 0x9010);
        memory.end(0x1000);
        assert_eq!(memory.resolve(0x5010), Ok(None));
    }

    #[test]
    fn hostile_ranges_are_not_entered() {
        let mut memory = Memory::default();
        for (start, bytes) in [(0, 10), (10, 0), (u64::MAX, 2), (5, u64::MAX)] {
            memory.enter(device(start, bytes, 1));
        }
        assert_eq!(memory.resolve(7), Ok(None));
        assert_eq!(memory.resolve(u64::MAX), Ok(None));
    }
}

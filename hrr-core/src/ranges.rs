//! Ranges of addresses, by containment.

use std::collections::BTreeMap;

/// A map from ranges that do not overlap to values.
#[derive(Clone, Debug)]
pub struct Ranges<T> {
    by_start: BTreeMap<u64, (u64, T)>,
}

impl<T> Default for Ranges<T> {
    fn default() -> Self {
        Ranges { by_start: BTreeMap::new() }
    }
}

impl<T> Ranges<T> {
    /// Enters `bytes` bytes from `start`. What overlaps it is forgotten: an address that is handed
    /// out anew belongs to nobody else. A range without bytes, or past the end of the addresses,
    /// is not entered.
    pub fn insert(&mut self, start: u64, bytes: u64, value: T) {
        let Some(end) = start.checked_add(bytes).filter(|_| bytes > 0) else { return };
        let overlapping: Vec<u64> = self
            .by_start
            .range(..end)
            .rev()
            .take_while(|(other, (other_bytes, _))| *other + other_bytes > start)
            .map(|(other, _)| *other)
            .collect();
        for other in overlapping {
            self.by_start.remove(&other);
        }
        self.by_start.insert(start, (bytes, value));
    }

    /// The range that holds the address: where it begins, its size, its value. One past the end is
    /// outside.
    pub fn find(&self, address: u64) -> Option<(u64, u64, &T)> {
        let (start, (bytes, value)) = self.by_start.range(..=address).next_back()?;
        (address - start < *bytes).then_some((*start, *bytes, value))
    }

    /// As [`Ranges::find`], to change the value.
    pub fn find_mut(&mut self, address: u64) -> Option<(u64, u64, &mut T)> {
        let (start, (bytes, value)) = self.by_start.range_mut(..=address).next_back()?;
        (address - start < *bytes).then_some((*start, *bytes, value))
    }

    /// Forgets the range that begins here, and answers it.
    pub fn remove(&mut self, start: u64) -> Option<(u64, T)> {
        self.by_start.remove(&start)
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.by_start.clear();
    }

    /// All ranges, in the order of their addresses.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64, &T)> {
        self.by_start.iter().map(|(start, (bytes, value))| (*start, *bytes, value))
    }
}

/// The runs of bytes in which two contents differ.
pub(crate) fn differing(old: &[u8], new: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
    for (chunk, (old, new)) in old.chunks(64).zip(new.chunks(64)).enumerate() {
        if old == new {
            continue;
        }
        for (at, (old, new)) in old.iter().zip(new).enumerate() {
            let at = chunk * 64 + at;
            match runs.last_mut() {
                _ if old == new => {}
                Some(run) if run.end == at => run.end += 1,
                _ => runs.push(at..at + 1),
            }
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edges_of_a_range_are_exact() {
        let mut ranges = Ranges::default();
        ranges.insert(0x1000, 0x10, 'a');
        assert_eq!(ranges.find(0x1000), Some((0x1000, 0x10, &'a')));
        assert_eq!(ranges.find(0x100f), Some((0x1000, 0x10, &'a')));
        assert_eq!(ranges.find(0x1010), None);
        assert_eq!(ranges.find(0xfff), None);
        assert_eq!(ranges.find(0), None);
    }

    #[test]
    fn a_reused_address_belongs_to_the_newest() {
        let mut ranges = Ranges::default();
        ranges.insert(0x1000, 0x1000, 'a');
        ranges.insert(0x3000, 0x1000, 'c');
        ranges.insert(0x1800, 0x10, 'b');
        assert_eq!(ranges.find(0x1000), None);
        assert_eq!(ranges.find(0x1800), Some((0x1800, 0x10, &'b')));
        assert_eq!(ranges.find(0x3000), Some((0x3000, 0x1000, &'c')));
        ranges.insert(0x0, 0x4000, 'd');
        assert_eq!(ranges.iter().count(), 1);
    }

    #[test]
    fn nothing_and_too_much_are_not_entered() {
        let mut ranges = Ranges::default();
        ranges.insert(0x1000, 0, 'a');
        ranges.insert(u64::MAX - 1, 8, 'b');
        assert_eq!(ranges.iter().count(), 0);
    }
}

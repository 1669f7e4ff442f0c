//! The free parts of one window of addresses.

use std::collections::BTreeMap;

/// Disjoint, never adjacent free ranges.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    /// Start to end.
    free: BTreeMap<u64, u64>,
    /// Behind what was taken last. Taking goes on from here, so that an address comes back as
    /// late as possible: a stale pointer then hits nothing, and not somebody else's memory.
    next: u64,
}

impl Gaps {
    pub(super) fn new(base: u64, bytes: u64) -> Self {
        Self { free: BTreeMap::from([(base, base + bytes)]), next: base }
    }

    /// Takes the next free `bytes` at a multiple of `align`, starting over at the end.
    pub(super) fn take(&mut self, bytes: u64, align: u64) -> Option<u64> {
        let fit = |lowest: u64| {
            move |(&start, &end): (&u64, &u64)| {
                let address = start.max(lowest).checked_next_multiple_of(align)?;
                (address.checked_add(bytes)? <= end).then_some((start, address))
            }
        };
        let around = self.free.range(..self.next).next_back().into_iter();
        let ahead = around.chain(self.free.range(self.next..));
        let (start, address) = ahead
            .into_iter()
            .find_map(fit(self.next))
            .or_else(|| self.free.iter().find_map(fit(0)))?;
        self.split(start, address, bytes);
        self.next = address + bytes;
        Some(address)
    }

    /// Takes exactly the range, if all of it is free.
    pub(super) fn take_at(&mut self, address: u64, bytes: u64) -> bool {
        let Some((&start, &end)) = self.free.range(..=address).next_back() else {
            return false;
        };
        let fits = address.checked_add(bytes).is_some_and(|last| last <= end);
        if fits {
            self.split(start, address, bytes);
        }
        fits
    }

    /// Gives back a range that was taken.
    pub(super) fn give_back(&mut self, address: u64, bytes: u64) {
        let mut start = address;
        let mut end = address + bytes;
        if let Some((&before, &before_end)) = self.free.range(..address).next_back()
            && before_end == start
        {
            self.free.remove(&before);
            start = before;
        }
        if let Some(after_end) = self.free.remove(&end) {
            end = after_end;
        }
        self.free.insert(start, end);
    }

    fn split(&mut self, start: u64, address: u64, bytes: u64) {
        let Some(end) = self.free.remove(&start) else { return };
        if start < address {
            self.free.insert(start, address);
        }
        if address + bytes < end {
            self.free.insert(address + bytes, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Gaps;

    #[test]
    fn ranges_merge_when_given_back() {
        let mut gaps = Gaps::new(0x1000, 0x8000);
        let first = gaps.take(0x1000, 0x1000).unwrap();
        let second = gaps.take(0x1000, 0x1000).unwrap();
        let third = gaps.take(0x1000, 0x1000).unwrap();
        assert_eq!([first, second, third], [0x1000, 0x2000, 0x3000]);
        gaps.give_back(first, 0x1000);
        gaps.give_back(third, 0x1000);
        assert!(!gaps.take_at(second, 0x1000));
        gaps.give_back(second, 0x1000);
        assert_eq!(gaps.take(0x8000, 0x1000), Some(0x1000));
        assert_eq!(gaps.take(1, 1), None);
    }

    #[test]
    fn alignment_leaves_the_bytes_before_it_free() {
        let mut gaps = Gaps::new(0x1000, 0x10_0000);
        assert_eq!(gaps.take(0x1000, 0x4000), Some(0x4000));
        // On from there, not back to the bytes in front.
        assert_eq!(gaps.take(0x3000, 0x1000), Some(0x5000));
        assert!(gaps.take_at(0x3000, 1));
        assert!(!gaps.take_at(0x3000, 1));
        assert!(gaps.take_at(0x9000, 0x1000));
        assert!(!gaps.take_at(0x8000, 0x2000));
        assert!(!gaps.take_at(0, 0x1000));
        assert!(!gaps.take_at(u64::MAX, 2));
    }
}

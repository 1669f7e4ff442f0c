//! What a program has said of managed memory, page by page: advice and prefetches. Nothing here
//! depends on it, but programs ask for it.

use std::ops::Range;

use hrr_ffi::types::*;

/// `hipCpuDeviceId` of the header.
pub(crate) const CPU: i32 = -1;
/// `hipInvalidDeviceId` of the header.
pub(crate) const NOWHERE: i32 = -2;

const PAGE_BYTES: u64 = 4096;

/// What was said of a page, or what is true of all pages of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wishes {
    pub(crate) read_mostly: bool,
    /// A device, [`CPU`] or [`NOWHERE`].
    pub(crate) preferred: i32,
    /// Bit n: device n. The host always has access.
    pub(crate) accessed_by: u32,
    /// A device, [`CPU`] or [`NOWHERE`].
    pub(crate) prefetched: i32,
    pub(crate) coherency: hipMemRangeCoherencyMode,
}

/// What is so before anything was said (`hip_runtime_api.h`, 5.2: fine-grain is the default).
const UNSAID: Wishes = Wishes {
    read_mostly: false,
    preferred: NOWHERE,
    accessed_by: 0,
    prefetched: NOWHERE,
    coherency: hipMemRangeCoherencyModeFineGrain,
};

impl Wishes {
    /// Takes in advice about a device or [`CPU`].
    pub(crate) fn advise(&mut self, advice: hipMemoryAdvise, location: i32) {
        let device = u32::try_from(location).ok().and_then(|device| 1_u32.checked_shl(device));
        match advice {
            hipMemAdviseSetReadMostly => self.read_mostly = true,
            hipMemAdviseUnsetReadMostly => self.read_mostly = false,
            hipMemAdviseSetPreferredLocation => self.preferred = location,
            hipMemAdviseUnsetPreferredLocation => self.preferred = NOWHERE,
            hipMemAdviseSetAccessedBy => self.accessed_by |= device.unwrap_or(0),
            hipMemAdviseUnsetAccessedBy => self.accessed_by &= !device.unwrap_or(0),
            hipMemAdviseSetCoarseGrain => self.coherency = hipMemRangeCoherencyModeCoarseGrain,
            hipMemAdviseUnsetCoarseGrain => self.coherency = hipMemRangeCoherencyModeFineGrain,
            _unknown => {}
        }
    }

    /// What is true of both.
    fn and(self, other: Self) -> Self {
        let same = |one: i32, other: i32| if one == other { one } else { NOWHERE };
        Self {
            read_mostly: self.read_mostly && other.read_mostly,
            preferred: same(self.preferred, other.preferred),
            accessed_by: self.accessed_by & other.accessed_by,
            prefetched: same(self.prefetched, other.prefetched),
            coherency: if self.coherency == other.coherency {
                self.coherency
            } else {
                hipMemRangeCoherencyModeIndeterminate
            },
        }
    }
}

/// The wishes of one allocation.
#[derive(Debug)]
pub(crate) struct Advice {
    /// The page behind each run of equal pages, and what was said of them; the last run has no
    /// end.
    runs: Vec<(u64, Wishes)>,
}

impl Default for Advice {
    fn default() -> Self {
        Self { runs: vec![(u64::MAX, UNSAID)] }
    }
}

impl Advice {
    /// Changes what is said of all pages that the bytes touch.
    pub(crate) fn change(&mut self, bytes: Range<u64>, change: impl Fn(&mut Wishes)) {
        let pages = pages(bytes);
        let mut runs: Vec<(u64, Wishes)> = Vec::with_capacity(self.runs.len() + 2);
        let mut start = 0;
        for &(end, before) in &self.runs {
            let mut after = before;
            change(&mut after);
            let parts = [
                (start..end.min(pages.start), before),
                (start.max(pages.start)..end.min(pages.end), after),
                (start.max(pages.end)..end, before),
            ];
            for (part, wishes) in parts.into_iter().filter(|(part, _)| !part.is_empty()) {
                match runs.last_mut() {
                    Some((last, same)) if *same == wishes => *last = part.end,
                    Some(_) | None => runs.push((part.end, wishes)),
                }
            }
            start = end;
        }
        self.runs = runs;
    }

    /// What is true of all pages that the bytes, at least one, touch.
    pub(crate) fn of(&self, bytes: Range<u64>) -> Wishes {
        let pages = pages(bytes);
        let first = self.runs.partition_point(|(end, _)| *end <= pages.start);
        let mut all = self.runs[first].1;
        for (before, (_, wishes)) in self.runs[first..].iter().zip(&self.runs[first + 1..]) {
            if before.0 >= pages.end {
                break;
            }
            all = all.and(*wishes);
        }
        all
    }
}

fn pages(bytes: Range<u64>) -> Range<u64> {
    bytes.start / PAGE_BYTES..bytes.end.div_ceil(PAGE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u64 = PAGE_BYTES;

    #[test]
    fn pages_are_told_apart_and_together() {
        let mut advice = Advice::default();
        assert_eq!(advice.of(0..1), UNSAID);
        // A part of a page is the page.
        advice.change(PAGE + 100..PAGE + 200, |wishes| wishes.preferred = 3);
        let preferred = |advice: &Advice, bytes| advice.of(bytes).preferred;
        assert_eq!(preferred(&advice, PAGE..2 * PAGE), 3);
        assert_eq!(preferred(&advice, 2 * PAGE - 1..2 * PAGE), 3);
        assert_eq!(preferred(&advice, 2 * PAGE - 1..2 * PAGE + 1), NOWHERE);
        assert_eq!(preferred(&advice, 0..2 * PAGE), NOWHERE);
        advice.change(0..9 * PAGE, |wishes| wishes.preferred = 3);
        assert_eq!(preferred(&advice, 0..9 * PAGE), 3);
        assert_eq!(preferred(&advice, 0..9 * PAGE + 1), NOWHERE);
        assert_eq!(advice.runs.len(), 2, "equal neighbours are one run");
        advice.change(0..9 * PAGE, |wishes| wishes.preferred = NOWHERE);
        assert_eq!(advice.runs.len(), 1);
    }

    #[test]
    fn a_range_has_what_all_its_pages_have() {
        let mut advice = Advice::default();
        advice.change(0..2 * PAGE, |wishes| {
            wishes.advise(hipMemAdviseSetReadMostly, 0);
            wishes.advise(hipMemAdviseSetAccessedBy, 1);
            wishes.advise(hipMemAdviseSetAccessedBy, 2);
            wishes.advise(hipMemAdviseSetAccessedBy, CPU);
        });
        advice.change(PAGE..2 * PAGE, |wishes| {
            wishes.advise(hipMemAdviseUnsetAccessedBy, 2);
            wishes.advise(hipMemAdviseSetCoarseGrain, 0);
        });
        let both = advice.of(0..2 * PAGE);
        assert_eq!((both.read_mostly, both.accessed_by), (true, 0b10));
        assert_eq!(both.coherency, hipMemRangeCoherencyModeIndeterminate);
        assert_eq!(advice.of(0..PAGE).accessed_by, 0b110);
        assert_eq!(advice.of(PAGE..2 * PAGE).coherency, hipMemRangeCoherencyModeCoarseGrain);
        assert!(!advice.of(0..3 * PAGE).read_mostly);
    }
}

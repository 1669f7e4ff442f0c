//! What the recording says of host memory that the device reaches, and the stores of the program
//! that running work waits for.
//!
//! A recording holds what changed in such memory: before a launch (to be restored), when the work is
//! done (a check), and when a call that waits for the work began (seen). What was seen then is either
//! the work's, which writes it again at replay, or the program's, which is not there to write it. The
//! two are told apart by waiting: if a call does not return, and bytes that were seen still hold for
//! a while what they held before, then the device does not write them, and the replay does.
//!
//! Owns the contents; knows no addresses and touches no live memory.

use std::ops::Range;
use std::time::Duration;

/// How long bytes must stay as they are, at least, before they are taken for the program's.
const PATIENCE_MIN: Duration = Duration::from_millis(300);
/// How many times as long as the device had taken, at most, when they were seen.
const PATIENCE_FACTOR: u32 = 4;

/// The contents of one range.
#[derive(Default)]
pub(super) struct HostContent {
    /// As the recording last took it; empty: it has not taken all of it yet.
    taken: Vec<u8>,
    /// As a call last saw it since; empty: none did.
    seen: Vec<u8>,
    patience: Duration,
    /// The live content when a call began to be waited for.
    snapshot: Vec<u8>,
    /// What was stored since it was taken.
    stored: Vec<Range<usize>>,
}

/// The runs of bytes in which two contents differ.
fn differing(old: &[u8], new: &[u8]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
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

impl HostContent {
    /// The runs, relative to `offset`, in which a content differs from what was taken before: all of
    /// it if that is not known.
    pub(super) fn changed(&self, offset: usize, content: &[u8]) -> Vec<Range<usize>> {
        match self.taken.get(offset..offset + content.len()) {
            Some(taken) => differing(taken, content),
            None => Vec::from([Range { start: 0, end: content.len() }]),
        }
    }

    /// Says what a range of `bytes` bytes held from `offset` on when the recording took it.
    pub(super) fn take(&mut self, bytes: usize, offset: usize, content: &[u8]) {
        let end = offset + content.len();
        if self.taken.is_empty() && content.len() == bytes {
            self.taken = content.to_vec();
        } else if let Some(taken) = self.taken.get_mut(offset..end) {
            taken.copy_from_slice(content);
        }
        if let Some(seen) = self.seen.get_mut(offset..end) {
            seen.copy_from_slice(content);
        }
        self.stored.retain(|run| run.end <= offset || run.start >= end);
    }

    /// Says what a call found from `offset` on, when the device had worked for `age`.
    pub(super) fn see(&mut self, offset: usize, content: &[u8], age: Duration) {
        if self.seen.is_empty() {
            self.seen.clone_from(&self.taken);
        }
        if let Some(seen) = self.seen.get_mut(offset..offset + content.len()) {
            seen.copy_from_slice(content);
            self.patience = PATIENCE_MIN.max(age.saturating_mul(PATIENCE_FACTOR));
            self.snapshot.clear();
        }
    }

    /// How long to wait for the device to write what was seen; `None`: nothing is to be written.
    pub(super) fn patience(&self) -> Option<Duration> {
        (!self.seen.is_empty() && self.seen != self.taken).then_some(self.patience)
    }

    /// Keeps what the memory holds now.
    pub(super) fn look(&mut self, live: Vec<u8>) {
        self.snapshot = live;
    }

    /// The runs that were seen and that the device has not touched since [`HostContent::look`], with
    /// what was seen there: to be stored. `live` is what the memory holds now.
    pub(super) fn stores(&mut self, live: &[u8]) -> Vec<(usize, &[u8])> {
        if self.snapshot.len() != live.len() || self.seen.len() != live.len() {
            return Vec::new();
        }
        let mut found = Vec::new();
        for run in differing(&self.taken, &self.seen) {
            for part in differing(&live[run.clone()], &self.seen[run.clone()]) {
                let part = run.start + part.start..run.start + part.end;
                if self.snapshot[part.clone()] == live[part.clone()] {
                    found.push(part);
                }
            }
        }
        self.stored.extend(found.iter().cloned());
        found.into_iter().map(|run| (run.start, &self.seen[run])).collect()
    }

    /// How many of so many bytes from `offset` on were stored since they were last taken.
    pub(super) fn stored_in(&self, offset: usize, bytes: usize) -> u64 {
        let inside = |run: &Range<usize>| {
            run.end.min(offset + bytes).saturating_sub(run.start.max(offset)) as u64
        };
        self.stored.iter().map(inside).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: usize = 200;

    fn content() -> HostContent {
        let mut content = HostContent::default();
        content.take(BYTES, 0, &[0; BYTES]);
        content
    }

    #[test]
    fn only_what_changed_is_written() {
        let mut content = content();
        let mut now = [0; 100];
        (now[3], now[4], now[70]) = (1, 1, 1);
        assert_eq!(content.changed(50, &now), [3..5, 70..71]);
        content.take(BYTES, 50, &now);
        assert_eq!(content.changed(50, &now), []);
        assert_eq!(content.changed(120, &[0; 2]), [Range { start: 0, end: 1 }]);
    }

    #[test]
    fn all_is_written_as_long_as_not_all_is_known() {
        let mut content = HostContent::default();
        content.take(BYTES, 50, &[0; 10]);
        assert_eq!(content.changed(50, &[0; 10]), [Range { start: 0, end: 10 }]);
        content.see(50, &[1; 10], Duration::ZERO);
        assert_eq!(content.patience(), None);
    }

    #[test]
    fn what_the_device_does_not_write_is_stored() {
        let mut content = content();
        let mut seen = [0; 64];
        // The program's; the device's, at once; the device's, later; a counter of the device.
        (seen[0], seen[10], seen[20], seen[30]) = (7, 7, 7, 50);
        content.see(0, &seen, Duration::from_millis(1));
        assert_eq!(content.patience(), Some(PATIENCE_MIN));
        let mut live = vec![0; BYTES];
        (live[10], live[30]) = (7, 20);
        content.look(live.clone());
        (live[20], live[30]) = (7, 30);
        let stores: Vec<_> = content.stores(&live).iter().map(|s| (s.0, s.1.to_vec())).collect();
        assert_eq!(stores, [(0, vec![7])]);
        assert_eq!((content.stored_in(0, BYTES), content.stored_in(1, BYTES)), (1, 0));
        content.take(BYTES, 0, &[9; 64]);
        assert_eq!((content.stored_in(0, BYTES), content.patience()), (0, None));
    }

    #[test]
    fn patience_grows_with_the_age_of_the_work() {
        let mut content = content();
        content.see(0, &[1], Duration::from_secs(2));
        assert_eq!(content.patience(), Some(Duration::from_secs(8)));
        content.see(0, &[0], Duration::MAX);
        assert_eq!(content.patience(), None, "the program took it back");
    }
}

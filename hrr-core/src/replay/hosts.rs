//! What the recording says of host memory that the device reaches, and the stores of the program
//! that are among it.
//!
//! A recording holds what changed in such memory: while no work ran that reaches it (to be restored),
//! when all such work was done (a check), and while some ran (seen). What was seen is either the
//! work's, which writes it again at replay, or the program's, which is not there to write it. Replay
//! waits: what the work leaves alone for a while is taken for the program's, and is stored.
//!
//! Owns the contents; knows no addresses and touches no live memory.

use std::ops::Range;
use std::time::Duration;

use crate::ranges::differing;

/// How long bytes must stay as they are, at least, before they are taken for the program's.
const PATIENCE_MIN: Duration = Duration::from_millis(300);
/// And at most.
const PATIENCE_MAX: Duration = Duration::from_secs(10);
/// How many times as long as the device had taken, at most, when they were seen.
const PATIENCE_FACTOR: u32 = 4;

/// What the work wrote is told from what it left alone by whole words: a byte of a number that it wrote
/// may be as it was before.
const WORD_BYTES: usize = 4;

/// The contents of one range.
#[derive(Default)]
pub(super) struct HostContent {
    /// As the recording last took it; empty: it has not taken all of it yet.
    taken: Vec<u8>,
    /// As a call last saw it since; empty: none did.
    seen: Vec<u8>,
    /// As it was seen, or taken, before that.
    earlier: Vec<u8>,
    patience: Duration,
    /// The live content when the work began to be waited for.
    snapshot: Vec<u8>,
    /// What was stored since it was taken.
    stored: Vec<Range<usize>>,
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
        for known in [&mut self.seen, &mut self.earlier] {
            if let Some(known) = known.get_mut(offset..end) {
                known.copy_from_slice(content);
            }
        }
        self.stored.retain(|run| run.end <= offset || run.start >= end);
    }

    /// Says what a call found from `offset` on, when the device had worked for `age`.
    pub(super) fn see(&mut self, offset: usize, content: &[u8], age: Duration) {
        if self.seen.is_empty() {
            self.seen.clone_from(&self.taken);
            self.earlier.clone_from(&self.taken);
        }
        let place = offset..offset + content.len();
        if let (Some(seen), Some(earlier)) =
            (self.seen.get_mut(place.clone()), self.earlier.get_mut(place))
        {
            earlier.copy_from_slice(seen);
            seen.copy_from_slice(content);
            let patience = age.saturating_mul(PATIENCE_FACTOR);
            self.patience = patience.clamp(PATIENCE_MIN, PATIENCE_MAX);
        }
    }

    /// Keeps what the memory holds now.
    pub(super) fn look(&mut self, live: &[u8]) {
        self.snapshot = live.to_vec();
    }

    /// Whether something was seen that is not there.
    pub(super) fn lacks(&self, live: &[u8]) -> bool {
        !self.missing(live, live).is_empty()
    }

    /// Whether something was seen since it was last taken.
    pub(super) fn was_seen(&self) -> bool {
        !self.seen.is_empty() && self.seen != self.taken
    }

    /// How long to wait for work.
    pub(super) fn patience(&self) -> Duration {
        self.patience
    }

    /// What is to be stored, and where: what has not changed since [`HostContent::look`].
    pub(super) fn stores(&mut self, live: &[u8]) -> Vec<(usize, &[u8])> {
        let found = self.missing(live, &self.snapshot);
        self.stored.extend(found.iter().cloned());
        found.into_iter().map(|run| (run.start, &self.seen[run])).collect()
    }

    /// The runs that were seen and are not there, in words that are as they were in `snapshot` and
    /// hold what they held before they were seen: what holds something else is the work's.
    fn missing(&self, live: &[u8], snapshot: &[u8]) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        let (seen, earlier) = (self.seen.len(), self.earlier.len());
        if [seen, earlier, self.taken.len(), snapshot.len()] != [live.len(); 4] {
            return found;
        }
        for run in differing(&self.taken, &self.seen) {
            let words = run.start / WORD_BYTES..run.end.div_ceil(WORD_BYTES);
            for word in words.map(|word| word * WORD_BYTES) {
                let word = word..(word + WORD_BYTES).min(live.len());
                let same = |other: &[u8]| live[word.clone()] == other[word.clone()];
                if !same(snapshot) || !(same(&self.taken) || same(&self.earlier)) {
                    continue;
                }
                let inside = run.start.max(word.start)..run.end.min(word.end);
                for part in differing(&live[inside.clone()], &self.seen[inside.clone()]) {
                    let part = inside.start + part.start..inside.start + part.end;
                    match found.last_mut() {
                        Some(last) if last.end == part.start => last.end = part.end,
                        _ => found.push(part),
                    }
                }
            }
        }
        found
    }

    /// How many of so many bytes from `offset` on were stored since they were last taken.
    pub(super) fn stored_in(&self, offset: usize, bytes: usize) -> u64 {
        let inside = |run: &Range<usize>| {
            run.end.min(offset + bytes).saturating_sub(run.start.max(offset)) as u64
        };
        // The same may have been stored more than once.
        self.stored.iter().map(inside).sum::<u64>().min(bytes as u64)
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
        assert!(!content.was_seen());
    }

    /// The program's; the device's, at once; the device's, later; a counter of the device.
    fn seen() -> HostContent {
        let mut content = content();
        let mut seen = [0; 64];
        (seen[0], seen[10], seen[20], seen[30]) = (7, 7, 7, 50);
        content.see(0, &seen, Duration::from_millis(1));
        assert_eq!((content.was_seen(), content.patience()), (true, PATIENCE_MIN));
        content
    }

    fn stores(content: &mut HostContent, live: &[u8]) -> Vec<(usize, Vec<u8>)> {
        content.stores(live).into_iter().map(|(at, bytes)| (at, bytes.to_vec())).collect()
    }

    #[test]
    fn what_work_leaves_alone_while_it_runs_is_stored() {
        let mut content = seen();
        let mut live = vec![0; BYTES];
        (live[10], live[30]) = (7, 20);
        content.look(&live);
        assert!(content.lacks(&live));
        (live[20], live[30]) = (7, 30);
        assert_eq!(stores(&mut content, &live), [(0, vec![7])]);
        assert_eq!((content.stored_in(0, BYTES), content.stored_in(1, BYTES)), (1, 0));
        content.take(BYTES, 0, &[9; 64]);
        assert_eq!((content.stored_in(0, BYTES), content.was_seen()), (0, false));
    }

    #[test]
    fn what_the_work_had_written_further_is_its_own() {
        let mut content = seen();
        let mut live = vec![0; BYTES];
        (live[10], live[20], live[30]) = (7, 7, 100);
        content.look(&live);
        assert_eq!(stores(&mut content, &live), [(0, vec![7])]);
    }

    #[test]
    fn the_program_answers_in_the_place_of_what_the_work_wrote() {
        let mut content = content();
        let mut live = vec![0; BYTES];
        content.see(8, b"ask?", Duration::ZERO);
        live[8..12].copy_from_slice(b"ask?");
        content.look(&live);
        assert!(!content.lacks(&live));
        content.see(8, b"done", Duration::ZERO);
        content.see(40, b"elsewhere", Duration::ZERO);
        live[40..49].copy_from_slice(b"elsewhere");
        content.look(&live);
        assert!(content.lacks(&live));
        assert_eq!(stores(&mut content, &live), [(8, b"done".to_vec())]);
    }

    #[test]
    fn a_run_is_stored_around_what_the_work_wrote() {
        let mut content = content();
        content.see(10, &[1; 8], Duration::ZERO);
        let mut live = vec![0; BYTES];
        content.look(&live);
        live[13] = 2;
        assert_eq!(stores(&mut content, &live), [(10, vec![1; 2]), (16, vec![1; 2])]);
    }

    #[test]
    fn patience_grows_with_the_age_of_the_work() {
        let mut content = content();
        content.see(0, &[1], Duration::from_secs(2));
        assert_eq!(content.patience(), Duration::from_secs(8));
        content.see(0, &[0], Duration::MAX);
        assert_eq!(content.patience(), PATIENCE_MAX);
        assert!(!content.was_seen(), "the program took it back");
    }
}

//! When a replayed event may start.
//!
//! Each replay thread publishes when its next unfinished event returned in the recording. An event
//! with enter time `e` starts once every other thread has published a time of at least `e`: every
//! call that had returned before this one began has then returned again. Threads without further
//! events, and events that were in flight, publish the end of time.
//!
//! The waiting thread with the smallest enter time is never held up: a thread that held it up would
//! have an unfinished event that returned, and so began, still earlier. That argument needs
//! `leave >= enter`, which [`Gate::publish`] enforces for hostile archives.

use std::sync::{Condvar, Mutex, PoisonError};

/// The published time of a thread that holds nobody up.
pub(super) const NEVER: u64 = u64::MAX;

/// The order of all replay threads.
pub(super) struct Gate {
    state: Mutex<State>,
    /// One per thread: only the threads that may start are woken.
    wake: Vec<Condvar>,
}

struct State {
    /// When each thread's next unfinished event returned.
    published: Vec<u64>,
    /// When the event began that each waiting thread wants to start.
    waiting: Vec<Option<u64>>,
    stopped: bool,
}

impl State {
    /// The smallest published time of the threads other than `slot`.
    fn bound(&self, slot: usize) -> u64 {
        let before = self.published[..slot].iter();
        before.chain(&self.published[slot + 1..]).copied().min().unwrap_or(NEVER)
    }
}

impl Gate {
    /// A gate at which no thread has published yet, so that none may start.
    pub(super) fn new(threads: usize) -> Gate {
        Gate {
            state: Mutex::new(State {
                published: vec![0; threads],
                waiting: vec![None; threads],
                stopped: false,
            }),
            wake: (0..threads).map(|_| Condvar::new()).collect(),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // The state is whole between any two statements that can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes that the next unfinished event of thread `slot` runs from `enter` to `leave`.
    pub(super) fn publish(&self, slot: usize, enter: u64, leave: u64) {
        let mut state = self.lock();
        state.published[slot] = leave.max(enter);
        self.wake_ready(&state);
    }

    /// Publishes that thread `slot` has no further events.
    pub(super) fn finish(&self, slot: usize) {
        self.publish(slot, NEVER, NEVER);
    }

    /// Waits until thread `slot` may start its event that began at `enter`: `false` if replay ends.
    pub(super) fn wait(&self, slot: usize, enter: u64) -> bool {
        let mut state = self.lock();
        state.waiting[slot] = Some(enter);
        while !state.stopped && state.bound(slot) < enter {
            state = self.wake[slot].wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting[slot] = None;
        !state.stopped
    }

    /// Ends the replay: no thread starts another event.
    pub(super) fn stop(&self) {
        self.lock().stopped = true;
        self.wake.iter().for_each(Condvar::notify_all);
    }

    /// Whether the replay was ended.
    pub(super) fn stopped(&self) -> bool {
        self.lock().stopped
    }

    fn wake_ready(&self, state: &State) {
        let (mut first, mut second, mut argmin) = (NEVER, NEVER, usize::MAX);
        for (slot, &time) in state.published.iter().enumerate() {
            if time < first {
                (second, first, argmin) = (first, time, slot);
            } else if time < second {
                second = time;
            }
        }
        for (slot, waiting) in state.waiting.iter().enumerate() {
            let bound = if slot == argmin { second } else { first };
            if waiting.is_some_and(|enter| bound >= enter) {
                self.wake[slot].notify_one();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// Random intervals on random threads; a checker of the rule that shares no code with it.
    #[test]
    fn an_event_starts_after_all_that_returned_before_it() {
        for seed in 1..40u64 {
            let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut next = move |below: u64| {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                random % below
            };
            let threads = 2 + next(5) as usize;
            let plan: Vec<Vec<(u64, u64)>> = (0..threads)
                .map(|_| {
                    let mut now = next(20);
                    (0..next(30))
                        .map(|_| {
                            let enter = now + next(10);
                            now = enter + next(40);
                            (enter, now)
                        })
                        .collect()
                })
                .collect();
            let gate = Arc::new(Gate::new(threads));
            let clock = Arc::new(AtomicU64::new(0));
            let handles: Vec<_> = plan
                .iter()
                .cloned()
                .enumerate()
                .map(|(slot, events)| {
                    let (gate, clock) = (gate.clone(), clock.clone());
                    std::thread::spawn(move || {
                        let mut seen = Vec::new();
                        for (enter, leave) in events {
                            gate.publish(slot, enter, leave);
                            assert!(gate.wait(slot, enter));
                            let started = clock.fetch_add(1, Ordering::SeqCst);
                            std::thread::yield_now();
                            let ended = clock.fetch_add(1, Ordering::SeqCst);
                            seen.push((enter, leave, started, ended));
                        }
                        gate.finish(slot);
                        seen
                    })
                })
                .collect();
            let seen: Vec<_> = handles.into_iter().flat_map(|h| h.join().unwrap()).collect();
            for &(_, leave, _, ended) in &seen {
                for &(enter, _, started, _) in &seen {
                    assert!(leave >= enter || ended < started, "seed {seed}");
                }
            }
        }
    }

    #[test]
    fn times_that_run_backwards_do_not_lock_up() {
        let gate = Arc::new(Gate::new(2));
        let other = gate.clone();
        let thread = std::thread::spawn(move || {
            for (enter, leave) in [(50, 3), (10, 1)] {
                other.publish(1, enter, leave);
                assert!(other.wait(1, enter));
            }
            other.finish(1);
        });
        for (enter, leave) in [(40, 0), (5, 5)] {
            gate.publish(0, enter, leave);
            assert!(gate.wait(0, enter));
        }
        gate.finish(0);
        thread.join().unwrap();
    }

    #[test]
    fn a_stopped_gate_lets_nobody_start() {
        let gate = Gate::new(2);
        gate.publish(0, 5, 6);
        gate.stop();
        assert!(!gate.wait(0, 5));
        assert!(gate.stopped());
    }
}

//! The order across threads.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::api::*;
use crate::fake;
use crate::harness::*;

/// Numbers below a bound, from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

static CLOCK: AtomicU64 = AtomicU64::new(0);
static SEEN: std::sync::Mutex<Vec<(u64, u64, u64)>> = std::sync::Mutex::new(Vec::new());

/// Notes when it began and ended, by a clock that every call moves.
extern "C" fn timed(device: i32) -> Status {
    let began = CLOCK.fetch_add(1, Ordering::SeqCst);
    if device % 3 == 0 {
        std::thread::yield_now();
    }
    let ended = CLOCK.fetch_add(1, Ordering::SeqCst);
    SEEN.lock().unwrap().push((device as u64, began, ended));
    OK
}

#[test]
fn a_call_starts_after_all_that_had_returned_before_it() {
    let _fake = fake::start();
    API_tSetDevice.real.store(timed as *mut (), Ordering::Release);
    for seed in 1..20u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut script = Script::new();
        let mut spans = Vec::new();
        for thread in 0..2 + random.below(5) as u32 {
            let mut now = random.below(30);
            for _ in 0..random.below(40) {
                let enter = now + random.below(10);
                now = enter + random.below(50);
                let call = script.call_on(thread, &API_tSetDevice).at(enter, now);
                call.arg("device", spans.len() as u64).done();
                spans.push((thread, enter, now));
            }
        }
        SEEN.lock().unwrap().clear();
        let calls = spans.len() as u64;
        let report = script.replay();
        clean(&report);
        assert_eq!(report.reproduced, calls);
        let mut seen = SEEN.lock().unwrap().clone();
        seen.sort_unstable();
        for (a, (thread_a, _, leave)) in spans.iter().enumerate() {
            for (b, (thread_b, enter, _)) in spans.iter().enumerate() {
                if thread_a != thread_b && leave < enter {
                    assert!(seen[a].2 < seen[b].1, "seed {seed}: {a} before {b}");
                }
            }
        }
    }
}

#[test]
fn each_recorded_thread_has_a_thread_of_its_own() {
    static THREADS: std::sync::Mutex<Vec<(i32, std::thread::ThreadId)>> =
        std::sync::Mutex::new(Vec::new());
    extern "C" fn whose(device: i32) -> Status {
        THREADS.lock().unwrap().push((device, std::thread::current().id()));
        OK
    }
    let _fake = fake::start();
    API_tSetDevice.real.store(whose as *mut (), Ordering::Release);
    let mut script = Script::new();
    for round in 0..3u64 {
        for thread in 0..3u64 {
            script.call_on(thread as u32, &API_tSetDevice).arg("device", thread + round * 3).done();
        }
    }
    clean(&script.replay());
    let seen = THREADS.lock().unwrap().clone();
    assert_eq!(
        seen.iter().map(|(device, _)| *device).collect::<Vec<_>>(),
        (0..9).collect::<Vec<_>>()
    );
    for (device, id) in &seen {
        assert_eq!(*id, seen[(device % 3) as usize].1);
    }
    assert_ne!(seen[0].1, seen[1].1);
    assert_ne!(seen[1].1, seen[2].1);
}

#[test]
fn a_handle_of_one_thread_is_used_by_another_after_it_was_made() {
    let _fake = fake::start();
    let mut script = Script::new();
    for round in 0..50u64 {
        let handle = 0x100 + round * 8;
        script.call_on(0, &API_tStreamCreate).wrote("stream", handle).done();
        script.call_on(1, &API_tStreamUse).arg("stream", handle).done();
        script.call_on(2, &API_tStreamDestroy).arg("stream", handle).done();
    }
    clean(&script.replay());
}

#[test]
fn calls_that_overlapped_may_overlap_again() {
    // Each waits for the other: in order one after the other, neither would return.
    static INSIDE: AtomicU64 = AtomicU64::new(0);
    extern "C" fn meets(_: i32) -> Status {
        INSIDE.fetch_add(1, Ordering::SeqCst);
        while INSIDE.load(Ordering::SeqCst) < 2 {
            std::thread::yield_now();
        }
        OK
    }
    let _fake = fake::start();
    API_tSetDevice.real.store(meets as *mut (), Ordering::Release);
    let mut script = Script::new();
    script.call_on(0, &API_tSetDevice).at(10, 40).done();
    script.call_on(1, &API_tSetDevice).at(20, 30).done();
    clean(&script.replay());
}

#[test]
fn a_thread_in_flight_holds_nobody_up() {
    let _fake = fake::start();
    let mut script = Script::new();
    script.call_on(0, &API_tStreamUse).at(10, 20).in_flight().done();
    script.call_on(1, &API_tStreamUse).at(500, 510).done();
    let report = script.replay();
    assert_eq!((report.in_flight, report.reproduced), (1, 1));
}

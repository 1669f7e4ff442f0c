//! Events that nobody recorded: never a panic, never an allocation by an unchecked size.

use hrr_core::archive::event::{
    AbsentReason, Body, EventId, FIELD_CHECK, FIELD_CUSTOM, FIELD_HOST_WRITE, FIELD_RET, Field,
    Phase,
};

use crate::api::*;
use crate::fake;
use crate::harness::*;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    fn number(&mut self) -> u64 {
        let edge =
            [0, 1, 2, 7, 8, 64, 0x100, 1 << 20, 1 << 31, 1 << 32, 1 << 47, 1 << 63, u64::MAX];
        match self.below(3) {
            0 => self.next(),
            1 => self.pick(&edge).wrapping_sub(self.below(3)),
            _ => self.below(64),
        }
    }

    fn body(&mut self) -> Body {
        match self.below(6) {
            0 => Body::Null,
            1 => Body::Device,
            2 => Body::Absent(self.pick(AbsentReason::ALL)),
            3 => Body::Blob { hash: 0, bytes: self.number() },
            _ => {
                let bytes = self.pick(&[0, 1, 4, 8, 9, 16, 40, 80, 4096]);
                Body::Bytes((0..bytes).map(|_| self.next() as u8).collect())
            }
        }
    }

    fn field(&mut self) -> Field {
        let edge = [FIELD_CHECK, FIELD_HOST_WRITE, FIELD_CUSTOM, FIELD_RET, 0xfff0];
        let id = if self.below(4) == 0 { self.pick(&edge) } else { self.below(8) as u16 };
        let owner = EventId { thread: self.below(3) as u32, index: self.below(20) };
        let body = self.body();
        let original = match &body {
            Body::Bytes(bytes) if self.below(2) == 0 => bytes.len() as u64,
            _ => self.number(),
        };
        Field {
            id,
            depth: self.below(4) as u8,
            phase: self.pick(&[Phase::Before, Phase::After]),
            element: self.pick(&[0, 0, 0, 1, 2, u32::MAX]),
            original,
            recorded: if self.below(3) == 0 { self.number() } else { original },
            address: self.number(),
            owner: (self.below(2) == 0).then_some((owner, self.below(8) as u16)),
            body,
        }
    }
}

/// Answers success and touches nothing, so that only the engine's own doing is tried.
extern "C" fn inert() -> u64 {
    0
}

#[test]
fn random_events_end_in_outcomes_that_add_up() {
    let _fake = fake::start();
    for api in APIS {
        api.real.store(inert as *mut (), std::sync::atomic::Ordering::Release);
    }
    for seed in 1..400u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut script = Script::new();
        for _ in 0..20 {
            let desc = APIS[random.below(APIS.len() as u64) as usize];
            let call = script.call_on(random.below(3) as u32, desc).with(|event| {
                for byte in event.args.chunks_mut(8) {
                    let word = random.number().to_le_bytes();
                    byte.copy_from_slice(&word[..byte.len()]);
                }
                for _ in 0..random.below(8) {
                    event.fields.push(random.field());
                }
                // A recorder writes them in the order of the declaration, mostly.
                if random.below(3) > 0 {
                    event.fields.sort_by_key(|field| (field.phase == Phase::After, field.id));
                }
                if random.below(8) == 0 {
                    event.ret = random.number();
                }
                if random.below(30) == 0 {
                    event.args.truncate(random.below(16) as usize);
                }
                if random.below(30) == 0 {
                    event.leave = None;
                }
                if random.below(20) == 0 {
                    (event.enter, event.leave) = (random.number(), Some(random.number()));
                }
            });
            call.done();
        }
        let mut options = options();
        options.host_bytes_max = 1 << 24;
        let report = script.replay_with(options);
        assert_eq!(report.internal_error, None, "seed {seed}");
    }
}

#[test]
fn a_block_shorter_than_its_shape_is_damage() {
    let _fake = fake::start();
    for bytes in 0..8 {
        let mut script = Script::new();
        script.call(&API_tStreamUse).with(|event| event.args.truncate(bytes)).done();
        let report = script.replay();
        assert_eq!((report.refused, report.exit_code()), (1, 3));
        assert!(report.findings[0].reason.contains(&format!("has {bytes} of 8 bytes")));
    }
}

#[test]
fn counts_that_nobody_could_mean_are_refused() {
    let _fake = fake::start();
    let mut script = Script::new();
    for count in [u64::MAX, u64::MAX / 8 + 2, 1 << 60] {
        let ask = script.call(&API_tGetStreams).arg("streams", 0x10).arg("count", 0x20);
        ask.before("count", 1, &count.to_le_bytes()).done();
    }
    let name = script.call(&API_tGetName).arg("name", 0x10).arg("bytes", u64::MAX);
    name.done();
    let rows = script.call(&API_tMemcpy2D).arg("dst", 0x10).arg("dpitch", 1 << 63);
    let rows = rows.arg("src", 0x20).arg("spitch", 1 << 63).arg("width", 8).arg("height", 3);
    rows.before("src", 24, &[0; 24]).done();
    let report = script.replay();
    assert_eq!(report.refused, 5, "{report:#?}");
    fake::with(|state| assert!(state.log.is_empty()));
}

//! The state of the process: one runtime, made by the first `hsa_init`, never torn down.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use gfx_emu::memory::{AddressSpace, Config};

use crate::abi::{Answer, Status};
use crate::agent::Names;
use crate::code::Code;
use crate::copy::Copies;
use crate::handler::Handlers;
use crate::memory::Memory;
use crate::queue::Queues;
use crate::settings::Settings;
use crate::signal::Signals;
use crate::{log, needs, trace};

/// Everything that the API acts on.
pub(crate) struct Runtime {
    pub(crate) settings: Settings,
    pub(crate) names: Names,
    pub(crate) memory: Memory,
    pub(crate) signals: Signals,
    pub(crate) handlers: Handlers,
    pub(crate) copies: Copies,
    pub(crate) code: Code,
    pub(crate) queues: Queues,
}

static RUNTIME: OnceLock<Result<&'static Runtime, Status>> = OnceLock::new();
/// Calls of `hsa_init` without their `hsa_shut_down`.
static USERS: AtomicU32 = AtomicU32::new(0);

/// The runtime, if it is initialised and this process owns it.
pub(crate) fn runtime() -> Answer<&'static Runtime> {
    match RUNTIME.get() {
        Some(Ok(runtime)) if USERS.load(Ordering::Acquire) > 0 && runtime.memory.is_ours() => {
            Ok(runtime)
        }
        Some(Ok(_)) | Some(Err(_)) | None => Err(Status::ERROR_NOT_INITIALIZED),
    }
}

/// `hsa_init`.
pub(crate) fn init() -> Answer {
    RUNTIME.get_or_init(build).map(drop)?;
    let more = USERS.fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| n.checked_add(1));
    more.map(drop).map_err(|_| Status::ERROR_REFCOUNT_OVERFLOW)
}

/// `hsa_shut_down`. Later calls answer that the runtime is not initialised.
pub(crate) fn shut_down() -> Answer {
    let fewer = USERS.fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| n.checked_sub(1));
    fewer.map(drop).map_err(|_| Status::ERROR_NOT_INITIALIZED)
}

fn build() -> Answer<&'static Runtime> {
    let made = Settings::from_environment().and_then(|settings| {
        needs::check()?;
        Runtime::new(settings)
    });
    match made {
        Ok(runtime) => Ok(Box::leak(Box::new(runtime))),
        Err(what) => {
            log::warn(format_args!("{what}"));
            Err(Status::ERROR)
        }
    }
}

impl Runtime {
    fn new(settings: Settings) -> Result<Self, String> {
        if settings.verbose {
            log::set_verbose();
        }
        if let Some(path) = &settings.calls {
            trace::start(path)?;
        }
        log::detail(format_args!(
            "HIP_EMU_SEED={} HSA_EMU_TARGET={} HSA_EMU_GPUS={}",
            settings.seed, settings.target, settings.gpus
        ));
        let config = Config { seed: settings.seed, ..Config::default() };
        let space = AddressSpace::with_arena(config).map_err(|error| error.to_string())?;
        let memory = Memory::new(space, settings.gpus);
        let signals = Signals::new(&memory, settings.seed)?;
        Ok(Self {
            names: Names::new(&settings),
            copies: Copies::new(settings.gpus),
            handlers: Handlers::default(),
            code: Code::new(settings.seed),
            queues: Queues::default(),
            memory,
            signals,
            settings,
        })
    }
}

/// Values that look like handles and differ from seed to seed, but never collide: a bijection
/// of `index`. Bit 63 is clear and the value is even and not zero, as with a pointer.
pub(crate) fn handle_value(seed: u64, index: u64) -> u64 {
    // A Feistel network on 46 bits is a bijection whatever its round function is.
    const HALF: u64 = (1 << 23) - 1;
    let (mut left, mut right) = ((index >> 23) & HALF, index & HALF);
    for round in 0..4u64 {
        let mixed = (right ^ seed.rotate_left(round as u32 * 16))
            .wrapping_add(round)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (left, right) = (right, left ^ ((mixed >> 32) & HALF));
    }
    (1 << 47) | ((left << 23 | right) << 1)
}

/// Nanoseconds of `CLOCK_MONOTONIC`, the clock of all time stamps.
pub(crate) fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::handle_value;

    #[test]
    fn handle_values_are_distinct_and_change_with_the_seed() {
        let first: HashSet<u64> = (0..10_000).map(|index| handle_value(1, index)).collect();
        let second: HashSet<u64> = (0..10_000).map(|index| handle_value(2, index)).collect();
        assert_eq!((first.len(), second.len()), (10_000, 10_000));
        assert!(first.intersection(&second).count() < 100);
        assert!(first.iter().all(|value| value % 2 == 0 && *value != 0));
    }
}

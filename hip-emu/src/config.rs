//! What the environment says, read once.

use std::hash::{BuildHasher, RandomState};

use gfx_emu::loader::code::TargetId;

/// Devices more than any machine has are a mistake of the user.
const GPUS_MAX: usize = 16;

/// How the emulated machine looks.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// `HIP_EMU_SEED`: decides addresses and handle values. Random if not set.
    pub(crate) seed: u64,
    /// `HIP_EMU_GPUS`: number of devices, 1 if not set.
    pub(crate) gpus: usize,
    /// `HIP_EMU_TARGET`: the processor, gfx90a if not set, with the features of its boards.
    pub(crate) target: TargetId,
    /// What programs are told: the target with its features, or what was set, word for word.
    /// Some compilers do not understand features.
    pub(crate) arch_name: String,
    /// `HIP_EMU_LOG`: 0 faults only, 1 the seed too, 2 every call.
    pub(crate) log: u32,
}

impl Config {
    /// Reads the environment. A value that makes no sense is named on stderr and not used.
    pub(crate) fn from_environment() -> Self {
        let chosen = value("HIP_EMU_TARGET", |text| Some((parse_target(text)?, text.to_owned())));
        let (target, arch_name) = chosen.unwrap_or_else(|| {
            let target = default_target();
            let name = target.to_string();
            (target, name)
        });
        let config = Self {
            seed: value("HIP_EMU_SEED", parse_seed)
                .unwrap_or_else(|| RandomState::new().hash_one(std::process::id())),
            gpus: value("HIP_EMU_GPUS", |text| {
                text.parse().ok().filter(|&count: &usize| count <= GPUS_MAX)
            })
            .unwrap_or(1),
            target,
            arch_name,
            log: value("HIP_EMU_LOG", |text| text.parse().ok()).unwrap_or(0),
        };
        if config.log >= 1 {
            eprintln!("hip-emu: HIP_EMU_SEED={} {}", config.seed, config.target);
        }
        config
    }
}

fn value<T>(name: &str, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    let text = std::env::var(name).ok().filter(|text| !text.is_empty())?;
    let parsed = parse(&text);
    if parsed.is_none() {
        eprintln!("hip-emu: {name}={text:?} is not understood and not used");
    }
    parsed
}

fn parse_seed(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The target with the features that the boards have by default.
fn parse_target(text: &str) -> Option<TargetId> {
    let mut target = TargetId::parse(text)?;
    target.processor.parse::<gfx_emu::isa::Target>().ok()?;
    target.sramecc = target.sramecc.or(Some(true));
    target.xnack = target.xnack.or(Some(false));
    Some(target)
}

fn default_target() -> TargetId {
    TargetId { processor: "gfx90a".to_owned(), sramecc: Some(true), xnack: Some(false) }
}

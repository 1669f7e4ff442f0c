//! What the environment says about the machine to emulate.

use std::env;
use std::path::PathBuf;

use gfx_emu::isa::Target;

/// Most devices that HIP 5.2.3 is known to list here.
const GPUS_MAX: usize = 16;

/// Settings of the process, read once.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// `HSA_EMU_TARGET`.
    pub(crate) target: Target,
    /// `HSA_EMU_GPUS`.
    pub(crate) gpus: usize,
    /// `HIP_EMU_SEED`: decides addresses and handle values.
    pub(crate) seed: u64,
    /// `HSA_EMU_BLIT`: whether AMD's blit kernels are done natively.
    pub(crate) native_blit: bool,
    /// `HSA_EMU_LOG`.
    pub(crate) verbose: bool,
    /// `HSA_EMU_CALLS`: the file of the trace.
    pub(crate) calls: Option<PathBuf>,
}

impl Settings {
    /// Reads the environment of this process.
    pub(crate) fn from_environment() -> Result<Self, String> {
        Self::read(|name| env::var(name).ok())
    }

    fn read(get: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let value = |name: &str| get(name).filter(|text| !text.is_empty());
        let target = match value("HSA_EMU_TARGET") {
            None => Target::Gfx90a,
            Some(text) => match text.parse() {
                Ok(target @ (Target::Gfx90a | Target::Gfx906)) => target,
                Ok(Target::Gfx942) | Err(_) => {
                    return Err(format!(
                        "HSA_EMU_TARGET={text}: expected gfx90a or gfx906, as HIP 5.2.3 knows them"
                    ));
                }
            },
        };
        let gpus = match value("HSA_EMU_GPUS") {
            None => 1,
            Some(text) => text
                .parse()
                .ok()
                .filter(|count| (1..=GPUS_MAX).contains(count))
                .ok_or_else(|| format!("HSA_EMU_GPUS={text}: expected 1 to {GPUS_MAX}"))?,
        };
        let seed = match value("HIP_EMU_SEED") {
            None => random_seed()?,
            Some(text) => parse_integer(&text)
                .ok_or_else(|| format!("HIP_EMU_SEED={text}: expected an integer below 2^64"))?,
        };
        let native_blit = match value("HSA_EMU_BLIT").as_deref() {
            None | Some("native") => true,
            Some("isa") => false,
            Some(text) => return Err(format!("HSA_EMU_BLIT={text}: expected native or isa")),
        };
        let verbose = match value("HSA_EMU_LOG").as_deref() {
            None | Some("0") => false,
            Some("1") => true,
            Some(text) => return Err(format!("HSA_EMU_LOG={text}: expected 0 or 1")),
        };
        let calls = value("HSA_EMU_CALLS").map(PathBuf::from);
        Ok(Self { target, gpus, seed, native_blit, verbose, calls })
    }
}

fn parse_integer(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn random_seed() -> Result<u64, String> {
    let mut bytes = [0; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
        .map_err(|error| format!("no random numbers: {error}"))?;
    // Small enough to be typed again.
    Ok(u64::from_le_bytes(bytes) % 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::{Settings, Target};

    fn with(name: &str, text: &str) -> Result<Settings, String> {
        Settings::read(|asked| (asked == name).then(|| text.to_owned()))
    }

    #[test]
    fn each_setting_is_read() {
        assert_eq!(with("HSA_EMU_TARGET", "gfx906").unwrap().target, Target::Gfx906);
        assert_eq!(with("HSA_EMU_GPUS", "2").unwrap().gpus, 2);
        assert_eq!(with("HIP_EMU_SEED", "0x10").unwrap().seed, 16);
        assert!(!with("HSA_EMU_BLIT", "isa").unwrap().native_blit);
        assert!(with("HSA_EMU_LOG", "1").unwrap().verbose);
        assert_eq!(with("HSA_EMU_CALLS", "/a b").unwrap().calls, Some("/a b".into()));
        let plain = with("HSA_EMU_GPUS", "").unwrap();
        assert_eq!((plain.gpus, plain.target, plain.native_blit), (1, Target::Gfx90a, true));
    }

    #[test]
    fn a_wrong_value_is_named_with_what_was_expected() {
        for (name, text) in [
            ("HSA_EMU_TARGET", "gfx942"),
            ("HSA_EMU_TARGET", "vega"),
            ("HSA_EMU_GPUS", "0"),
            ("HSA_EMU_GPUS", "many"),
            ("HIP_EMU_SEED", "-1"),
            ("HSA_EMU_BLIT", "fast"),
            ("HSA_EMU_LOG", "2"),
        ] {
            let error = with(name, text).unwrap_err();
            assert!(error.starts_with(&format!("{name}={text}: expected ")), "{error}");
        }
    }
}

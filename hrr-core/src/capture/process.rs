//! What an archive says about the process that was recorded.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::recorder;
use super::state::ticks;
use crate::archive::facts::{Clock, ProcessInfo};

/// Variables that GPU runtimes read begin with one of these.
const VARIABLES: [&str; 7] = ["HIP_", "AMD_", "GPU_", "ROCR_", "HSA_", "ROCM_", "CUDA_VISIBLE_"];

/// Describes the calling process.
pub(crate) fn describe() -> ProcessInfo {
    let mut env: Vec<(String, String)> = std::env::vars_os()
        .map(|(name, value)| {
            (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned())
        })
        .filter(|(name, _)| VARIABLES.iter().any(|prefix| name.starts_with(prefix)))
        .collect();
    env.sort();
    let exe = std::fs::read_link("/proc/self/exe").unwrap_or_default();
    ProcessInfo {
        pid: std::process::id(),
        parent_pid: std::os::unix::process::parent_id(),
        started: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        exe: exe.to_string_lossy().into_owned(),
        args: arguments(),
        env,
        recorder: recorder::version(),
        clock: clock(),
    }
}

/// The arguments, from the system: in a preloaded library the standard library may not have them.
fn arguments() -> Vec<String> {
    let all = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let all = all.strip_suffix(b"\0").unwrap_or(&all);
    all.split(|byte| *byte == 0).map(|arg| String::from_utf8_lossy(arg).into_owned()).collect()
}

/// The time-stamp counter orders calls of different threads where the kernel itself trusts it as
/// its clock; elsewhere threads share a counter.
fn clock() -> Clock {
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let source = std::fs::read_to_string(source).unwrap_or_default();
    if source.trim() != "tsc" {
        return Clock::Counter;
    }
    let (start, first) = (Instant::now(), ticks());
    while start.elapsed() < Duration::from_micros(200) {
        core::hint::spin_loop();
    }
    let (elapsed, counted) = (start.elapsed(), ticks().wrapping_sub(first));
    let hz = u128::from(counted) * 1_000_000_000 / elapsed.as_nanos().max(1);
    Clock::Tsc { hz: hz as u64 }
}

//! LTTng-UST as the yardstick: a session in snapshot mode and a provider with one event of 30
//! bytes, compiled when the benchmark runs.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A provider with one event: 8 + 8 + 8 + 4 + 2 bytes.
const PROVIDER: &str = r#"
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER hrr_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./provider.h"
#if !defined(PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define PROVIDER_H
#include <lttng/tracepoint.h>
#include <stdint.h>
LTTNG_UST_TRACEPOINT_EVENT(hrr_bench, call,
    LTTNG_UST_TP_ARGS(uint64_t, a, uint64_t, b, uint64_t, c, uint32_t, d, uint16_t, e),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(uint64_t, a, a)
        lttng_ust_field_integer(uint64_t, b, b)
        lttng_ust_field_integer(uint64_t, c, c)
        lttng_ust_field_integer(uint32_t, d, d)
        lttng_ust_field_integer(uint16_t, e, e)))
#endif
#include <lttng/tracepoint-event.h>
"#;

const CALLER: &str = r#"
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "provider.h"
int bench_event(uint64_t a, uint64_t b, uint64_t c, uint32_t d, uint16_t e)
{
    lttng_ust_tracepoint(hrr_bench, call, a, b, c, d, e);
    return 0;
}
int bench_event_enabled(void)
{
    return lttng_ust_tracepoint_enabled(hrr_bench, call);
}
"#;

/// A session of the benchmark's own; ends when it is dropped.
pub(crate) struct Session {
    name: String,
    daemon: Option<Child>,
    /// The compiled provider.
    pub(crate) provider: PathBuf,
}

fn run(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("{name} is not installed"),
        _ => format!("{name}: {error}"),
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

fn lttng(args: &[&str]) -> Result<String, String> {
    run(Command::new("lttng").args(args))
}

impl Session {
    /// Compiles the provider in `dir` and starts a session that traces it.
    pub(crate) fn start(dir: &Path) -> Result<Session, String> {
        let provider = dir.join("provider.so");
        let write = |name: &str, text: &str| {
            std::fs::write(dir.join(name), text).map_err(|error| format!("{name}: {error}"))
        };
        write("provider.h", PROVIDER)?;
        write("provider.c", CALLER)?;
        run(Command::new("gcc")
            .args(["-O2", "-shared", "-fPIC", "-I.", "provider.c", "-llttng-ust", "-o"])
            .arg(&provider)
            .current_dir(dir))
        .map_err(|error| format!("LTTng-UST (liblttng-ust-dev): {error}"))?;
        let daemon = start_daemon()?;
        let name = format!("hrr-bench-{}", std::process::id());
        let session = Session { name, daemon, provider };
        let name = session.name.as_str();
        lttng(&["create", "--snapshot", &format!("--output={}", dir.display()), name])?;
        let channel = ["--subbuf-size=1M", "--num-subbuf=4", "calls"];
        let enable = ["enable-channel", "--userspace", "--session", name];
        lttng(&[&enable[..], &channel[..]].concat())?;
        let event = ["enable-event", "--userspace", "--session", name, "--channel=calls"];
        lttng(&[&event[..], &["hrr_bench:call"][..]].concat())?;
        lttng(&["start", name])?;
        Ok(session)
    }

    /// How many events the channel says it lost.
    pub(crate) fn lost(&self) -> Result<u64, String> {
        let text = lttng(&["list", &self.name])?;
        let lines = text
            .lines()
            .filter(|line| line.contains("Discarded events:") || line.contains("Lost packets:"));
        Ok(lines.filter_map(|line| line.rsplit(' ').next()?.trim().parse::<u64>().ok()).sum())
    }
}

fn start_daemon() -> Result<Option<Child>, String> {
    if lttng(&["list"]).is_ok() {
        return Ok(None);
    }
    let daemon = Command::new("lttng-sessiond")
        .arg("--no-kernel")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => "lttng-sessiond is not installed".to_owned(),
            _ => format!("lttng-sessiond: {error}"),
        })?;
    let start = Instant::now();
    while lttng(&["list"]).is_err() {
        if start.elapsed() > Duration::from_secs(15) {
            return Err("lttng-sessiond does not answer".to_owned());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(Some(daemon))
}

impl Drop for Session {
    fn drop(&mut self) {
        // The session is the benchmark's own; what cannot be removed ends with its daemon.
        let _ = lttng(&["destroy", &self.name]);
        if let Some(daemon) = &mut self.daemon {
            // SAFETY: a signal to a child that was not waited for.
            unsafe { libc::kill(daemon.id() as libc::pid_t, libc::SIGTERM) };
            let _ = daemon.wait();
        }
    }
}

//! What recording costs: ratios of times that are taken in turns within one run.
//!
//! C1: a call through the exported name of the preloaded library with recording compiled in and
//! off, against the same function through a plain pointer. C1-jump: the same call, against one jump
//! between the caller and the function: what any library in between costs at least, on some
//! processors more than C1 allows. C2: a recorded call of 36 bytes of
//! arguments, with both time stamps, against one LTTng-UST event of 30 bytes in the same process.
//! `--json` prints a list of objects. The exit status is 0 if every bound is met, 1 if one is not, 70
//! if something could not be measured. `--gate C1-jump` lets only that bound decide; the others are
//! still measured, and one that is not met is printed as `NOT MET`.

mod lttng;
mod measure;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::Duration;

use measure::Round;
use serde::Serialize;

/// The library that is measured.
const PRELOAD: &str = "libhrr_preload.so";
/// Rounds of each process; the median counts.
const ROUNDS: usize = 601;

/// One bound, and how it was met.
#[derive(Serialize)]
struct Verdict {
    id: &'static str,
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
    must: f64,
    aim: f64,
    pass: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    nanoseconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    against_nanoseconds: Option<f64>,
    /// What two time stamps cost on this processor: no recorded call is cheaper.
    #[serde(skip_serializing_if = "Option::is_none")]
    time_stamps_nanoseconds: Option<f64>,
    /// What a thread's ring holds: a batch stays within it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pool_bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lost_events: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// A process that is measured.
struct Measured {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    rounds: Vec<Round>,
}

impl Measured {
    fn start(
        setup: &Setup,
        record: Option<&Path>,
        provider: Option<&Path>,
    ) -> Result<Self, String> {
        let exe = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = Command::new(exe);
        command.arg("--measure").arg(&setup.runtime).args(provider);
        command.env("LD_PRELOAD", &setup.preload).env_remove("HRR_RECORD");
        if let Some(dir) = record {
            command.env("HRR_RECORD", dir);
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("the measured process: {error}"))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the measured process has no pipes".to_owned());
        };
        let stdout = BufReader::new(stdout);
        Ok(Measured { child, stdin: Some(stdin), stdout, rounds: Vec::new() })
    }

    fn round(&mut self) -> Result<(), String> {
        let mut line = String::new();
        let asked = self.stdin.as_mut().map_or(Ok(()), |stdin| stdin.write_all(b"\n"));
        asked.map_err(|error| error.to_string())?;
        self.stdout.read_line(&mut line).map_err(|error| error.to_string())?;
        let round = serde_json::from_str(&line)
            .map_err(|error| format!("the measured process answered {line:?}: {error}"))?;
        self.rounds.push(round);
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<Round>, String> {
        drop(self.stdin.take());
        let status = self.child.wait().map_err(|error| error.to_string())?;
        if status.success() {
            Ok(self.rounds)
        } else {
            Err(format!("the measured process ended with {status}"))
        }
    }
}

/// The libraries of a run.
struct Setup {
    preload: PathBuf,
    runtime: PathBuf,
}

/// Finds a library beside the executable, or in the folders of cargo and of an installation.
fn find_library(file: &str) -> Option<PathBuf> {
    let named = std::env::var_os("HRR_LIB_DIR").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    let exe = std::env::current_exe().ok()?;
    let beside = exe.parent()?;
    let folders = match named {
        Some(dir) => vec![dir],
        None => ["", "deps", "../deps", "../lib/hrr"].map(|dir| beside.join(dir)).to_vec(),
    };
    folders.into_iter().map(|dir| dir.join(file)).find(|path| path.exists())
}

/// Builds the library that is measured, where cargo and the workspace are at hand.
fn build_preload() -> Result<PathBuf, String> {
    let command = "cargo build --release -p hrr-preload";
    let missing = || format!("{PRELOAD} is missing: {command}");
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let cargo = std::env::var_os("CARGO").ok_or_else(missing)?;
    eprintln!("hrr-bench: {command}");
    let built = Command::new(cargo)
        .args(["build", "--release", "--quiet", "-p", "hrr-preload", "--manifest-path"])
        .arg(manifest)
        .status();
    match built {
        Ok(status) if status.success() => find_library(PRELOAD).ok_or_else(missing),
        Ok(status) => Err(format!("{command}: {status}")),
        Err(error) => Err(format!("{command}: {error}")),
    }
}

fn set_up(dir: &Path) -> Result<Setup, String> {
    let preload = match find_library(PRELOAD) {
        Some(found) => found,
        None => build_preload()?,
    };
    let library = find_library("libhrr_bench_runtime.so")
        .ok_or("libhrr_bench_runtime.so is missing: cargo build --release -p hrr-bench")?;
    let runtime = dir.join("libamdhip64.so");
    std::fs::copy(library, &runtime).map_err(|error| format!("libamdhip64.so: {error}"))?;
    Ok(Setup { preload, runtime })
}

fn median(rounds: &[Round], of: impl Fn(&Round) -> f64) -> f64 {
    let mut all: Vec<f64> = rounds.iter().map(of).collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

/// Both processes, in turns.
fn measure(setup: &Setup, dir: &Path, provider: Option<&Path>) -> Result<[Vec<Round>; 2], String> {
    let mut off = Measured::start(setup, None, None)?;
    let mut on = Measured::start(setup, Some(&dir.join("archive")), provider)?;
    for _ in 0..ROUNDS {
        off.round()?;
        on.round()?;
        // The helper thread empties the ring between the batches.
        std::thread::sleep(Duration::from_millis(1));
    }
    let rounds = [off.finish()?, on.finish()?];
    check_archive(&dir.join("archive"))?;
    Ok(rounds)
}

/// What was timed must have been recorded: every call of every round.
fn check_archive(dir: &Path) -> Result<(), String> {
    let archive =
        hrr_core::archive::reader::Archive::open(dir).map_err(|error| error.to_string())?;
    let expected = ROUNDS as u64 * measure::BATCH;
    let found: u64 = archive.processes().iter().map(|process| process.event_count()).sum();
    let complete = archive.processes().iter().all(|process| process.complete());
    if complete && found == expected {
        Ok(())
    } else {
        Err(format!("{found} of {expected} calls were recorded, complete: {complete}"))
    }
}

fn verdicts() -> Result<Vec<Verdict>, String> {
    let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
    let setup = set_up(dir.path())?;
    let session = lttng::Session::start(dir.path());
    let provider = session.as_ref().ok().map(|session| session.provider.as_path());
    let [off, on] = measure(&setup, dir.path(), provider)?;
    let exported = median(&off, |round| round.exported);
    // The ratio of each round, so that what slows both sides down cancels.
    let when_off = |id, what, must, aim, against: fn(&Round) -> f64| {
        let ratio = median(&off, |round| round.exported / against(round));
        Verdict {
            id,
            what,
            ratio: Some(ratio),
            must,
            aim,
            pass: ratio <= must,
            nanoseconds: Some(exported),
            against_nanoseconds: Some(median(&off, against)),
            time_stamps_nanoseconds: None,
            pool_bytes: None,
            lost_events: None,
            error: None,
        }
    };
    let mut all = vec![
        when_off("C1", "recording compiled in but off, against a plain call", 1.3, 1.1, |round| {
            round.plain
        }),
        when_off("C1-jump", "recording off, against one jump in between", 1.2, 1.0, |round| {
            round.jump
        }),
    ];
    let recorded = median(&on, |round| round.exported);
    let event = median(&on, |round| round.event.unwrap_or(f64::NAN));
    let (ratio, lost, error) = match &session {
        Ok(session) => {
            let ratio = median(&on, |round| round.exported / round.event.unwrap_or(f64::NAN));
            (Some(ratio), Some(session.lost()?), None)
        }
        Err(error) => (None, None, Some(error.clone())),
    };
    all.push(Verdict {
        id: "C2",
        what: "a recorded call of 36 bytes, against an LTTng-UST event of 30 bytes",
        ratio,
        must: 0.2,
        aim: 0.13,
        pass: ratio.is_some_and(|ratio| ratio <= 0.2),
        nanoseconds: Some(recorded),
        against_nanoseconds: ratio.map(|_| event),
        time_stamps_nanoseconds: Some(measure::time_stamps()),
        pool_bytes: Some(hrr_core::capture::CHUNKS * hrr_core::capture::CHUNK_BYTES),
        lost_events: lost,
        error,
    });
    Ok(all)
}

fn print(all: &[Verdict], json: bool) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    if json {
        return writeln!(out, "{}", serde_json::to_string_pretty(all)?);
    }
    for one in all {
        let verdict = if one.pass { "met" } else { "NOT met" };
        write!(out, "{} {}: ", one.id, one.what)?;
        match (one.ratio, &one.error) {
            (Some(ratio), _) => write!(out, "{ratio:.3}")?,
            (None, Some(error)) => write!(out, "not measured: {error}")?,
            (None, None) => write!(out, "not measured")?,
        }
        writeln!(out, " (bound {}, {verdict}; aim {})", one.must, one.aim)?;
        if let (Some(ns), Some(against)) = (one.nanoseconds, one.against_nanoseconds) {
            writeln!(out, "   {ns:.2} ns against {against:.2} ns")?;
        }
        if let Some(ns) = one.time_stamps_nanoseconds {
            writeln!(out, "   of which two time stamps take {ns:.2} ns on this processor")?;
        }
        if let Some(bytes) = one.pool_bytes {
            writeln!(out, "   within a ring of {} KiB", bytes >> 10)?;
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let args: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    if args.first().is_some_and(|arg| arg == "--measure") {
        let path = |at: usize| args.get(at).map(Path::new);
        measure::serve(path(1).unwrap_or(Path::new("")), path(2));
        return ExitCode::SUCCESS;
    }
    let (mut json, mut gates) = (false, Vec::new());
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match (arg.to_str(), rest.as_slice().first().and_then(|next| next.to_str())) {
            (Some("--json"), _) => json = true,
            (Some("--gate"), Some(id @ ("C1" | "C1-jump" | "C2"))) => {
                gates.push(id);
                rest.next();
            }
            _ => {
                eprintln!("hrr-bench: {arg:?}: the options are --json and --gate C1|C1-jump|C2");
                return ExitCode::from(64);
            }
        }
    }
    let all = match verdicts() {
        Ok(all) => all,
        Err(error) => {
            eprintln!("hrr-bench: {error}");
            return ExitCode::from(70);
        }
    };
    if print(&all, json).is_err() || all.iter().any(|one| one.ratio.is_none()) {
        return ExitCode::from(70);
    }
    let gated = |one: &&Verdict| gates.is_empty() || gates.contains(&one.id);
    for one in all.iter().filter(|one| !one.pass && !gated(one)) {
        eprintln!("NOT MET: {} is {:.3}, bound {}", one.id, one.ratio.unwrap_or(0.0), one.must);
    }
    match all.iter().filter(gated).all(|one| one.pass) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

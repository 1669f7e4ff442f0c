//! `hrr replay`: issues the recorded calls in this process and reports what came of them.
//!
//! A process of the archive is replayed in a process of its own, because a runtime has state per
//! process; an archive of several starts this command once for each.

use std::io::{IsTerminal, Write, stderr, stdout};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Duration;

use hrr_runtime::archive::reader::{Archive, Process};
use hrr_runtime::desc::Table;
use hrr_runtime::replay::{Progress, ReplayOptions, Report};
use hrr_runtime::select_runtime;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::archive::{open, processes};
use crate::args::ReplayArgs;
use crate::failure::{Failure, INTERNAL, NO_RUNTIME};
use crate::fault;
use crate::report;
use crate::runtime;
use crate::say::{note, warn};

pub(crate) fn run(
    args: &ReplayArgs,
    tables: &[Table],
    out: &mut impl Write,
) -> Result<ExitCode, Failure> {
    let archive = Arc::new(open(&args.archive)?);
    for finding in archive.findings() {
        warn(&finding.what);
    }
    match *processes(&archive, args.process.as_deref())? {
        [(index, process)] => one(args, tables, &archive, index, process, out),
        ref several => each(several),
    }
}

/// Replays one process here.
fn one(
    args: &ReplayArgs,
    tables: &[Table],
    archive: &Arc<Archive>,
    index: usize,
    process: &Process,
    out: &mut impl Write,
) -> Result<ExitCode, Failure> {
    let aside = OutputAside::put()?;
    let runtime = runtime::to_load(args.runtime.as_ref())?;
    note(&format!("runtime: {runtime}"));
    select_runtime(runtime.choice(args.runtime.as_ref()))
        .map_err(|error| Failure::new(NO_RUNTIME, error.to_string()))?;
    let options = ReplayOptions {
        place: !args.no_placement,
        tolerance: args.tolerance,
        device_map: args.device_map.clone().map(|map| map.0).unwrap_or_default(),
        strict: args.strict,
        limit: args.timeout.map(Duration::from_secs),
        ended: Some(fault::held),
        ..ReplayOptions::default()
    };
    fault::hold()?;
    let bar = progress_bar(process.event_count());
    let shown = bar.clone();
    let result = hrr_runtime::replay(tables, archive, index, options, move |progress| {
        tell(&shown, progress);
    });
    bar.finish_and_clear();
    aside.take_back()?;
    let result = result
        .ok_or_else(|| Failure::new(INTERNAL, "the process is not in the archive; open it anew"))?;
    show(args, process, &result, out)?;
    let code = u8::try_from(result.exit_code()).unwrap_or(INTERNAL);
    if fault::held().is_some() {
        out.flush()?;
        // SAFETY: ends the process. A runtime that has failed is not asked to end in order.
        unsafe { libc::_exit(code.into()) };
    }
    fault::let_go()?;
    Ok(ExitCode::from(code))
}

/// Standard output, put aside while a runtime is in use. What kernels print goes to it, and would
/// stand in the report: it goes to standard error instead.
struct OutputAside(OwnedFd);

impl OutputAside {
    fn put() -> Result<OutputAside, Failure> {
        let ours = stdout().as_fd().try_clone_to_owned()?;
        rustix::stdio::dup2_stdout(stderr()).map_err(std::io::Error::from)?;
        Ok(OutputAside(ours))
    }

    fn take_back(self) -> Result<(), Failure> {
        // SAFETY: null stands for all streams of the C library, which may always be written out.
        unsafe { libc::fflush(std::ptr::null_mut()) };
        rustix::stdio::dup2_stdout(self.0).map_err(std::io::Error::from)?;
        Ok(())
    }
}

fn show(
    args: &ReplayArgs,
    process: &Process,
    result: &Report,
    out: &mut impl Write,
) -> Result<(), Failure> {
    if args.json {
        serde_json::to_writer_pretty(&mut *out, result).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        report::print(process, result, out)?;
    }
    Ok(())
}

/// Events that have an outcome, on a terminal only.
fn progress_bar(events: u64) -> ProgressBar {
    let target = if stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} calls, {per_sec}, {eta} left")
        .expect("the template names what there is");
    ProgressBar::with_draw_target(Some(events), target).with_style(style)
}

fn tell(bar: &ProgressBar, progress: Progress<'_>) {
    match progress {
        Progress::Advanced { events } => bar.set_position(events),
        Progress::Stuck { event, function, running, given_up } => bar.suspend(|| {
            let end = if given_up { "; replay ends without it" } else { "" };
            warn(&format!(
                "{function} (event {}/{}) has not returned for {} s{end}",
                event.thread,
                event.index,
                running.as_secs()
            ));
        }),
    }
}

/// Replays several processes, each by this command again.
fn each(several: &[(usize, &Process)]) -> Result<ExitCode, Failure> {
    let mut worst = 0;
    for (_, process) in several {
        note(&format!("process {}: {}", process.name(), process.info().exe));
        let again = std::env::current_exe().and_then(|this| {
            Command::new(this)
                .args(std::env::args_os().skip(1))
                .args(["--process", process.name()])
                .status()
        });
        let status = again.map_err(|error| {
            Failure::new(
                INTERNAL,
                format!("cannot start this command again: {error}; use --process"),
            )
        })?;
        let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(INTERNAL);
        worst = worse(worst, code);
    }
    Ok(ExitCode::from(worst))
}

/// The worse of two exit codes: faults of the command first, then in the order of their meaning.
fn worse(one: u8, other: u8) -> u8 {
    let rank = |code: u8| match code {
        0 => 0,
        4 => 1,
        2 => 2,
        1 => 3,
        3 => 4,
        fault => u16::from(fault) + 5,
    };
    if rank(other) > rank(one) { other } else { one }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_code_wins() {
        let order = [0, 4, 2, 1, 3, 65, 70];
        for (index, code) in order.iter().enumerate() {
            for better in &order[..index] {
                assert_eq!((worse(*code, *better), worse(*better, *code)), (*code, *code));
            }
        }
    }
}

//! `hrr info`: what an archive holds.

use std::io::Write;
use std::process::ExitCode;

use hrr_runtime::archive::facts::{Clock, Note, ProcessInfo, RuntimeName, ThreadInfo};
use hrr_runtime::archive::reader::{Archive, Process};
use hrr_runtime::archive::{FORMAT_VERSION, Finding, FindingKind};
use hrr_runtime::library;
use serde::Serialize;

use crate::archive::{NoteText, bytes_text, open, verdict};
use crate::args::InfoArgs;
use crate::failure::Failure;
use crate::runtime::plural;

#[derive(Serialize)]
struct Shown<'a> {
    path: String,
    format_version: u32,
    complete: bool,
    events: u64,
    bytes: u64,
    processes: Vec<ShownProcess<'a>>,
    findings: Vec<ShownFinding>,
}

#[derive(Serialize)]
struct ShownProcess<'a> {
    name: &'a str,
    #[serde(flatten)]
    info: &'a ProcessInfo,
    sealed: bool,
    complete: bool,
    events: u64,
    bytes: u64,
    threads: &'a [ThreadInfo],
    functions: Vec<&'a str>,
    notes: Vec<ShownNote>,
    runtimes: Vec<ShownRuntime<'a>>,
    findings: Vec<ShownFinding>,
}

#[derive(Serialize)]
struct ShownRuntime<'a> {
    #[serde(flatten)]
    name: &'a RuntimeName,
    /// The major version of HIP that the names say.
    hip: Option<u32>,
}

impl<'a> From<&'a RuntimeName> for ShownRuntime<'a> {
    fn from(name: &'a RuntimeName) -> ShownRuntime<'a> {
        ShownRuntime { name, hip: library::major(name) }
    }
}

#[derive(Serialize)]
struct ShownNote {
    kind: &'static str,
    text: String,
}

#[derive(Serialize)]
struct ShownFinding {
    kind: &'static str,
    path: String,
    offset: u64,
    events_lost: Option<u64>,
    what: String,
}

impl From<&Note> for ShownNote {
    fn from(note: &Note) -> ShownNote {
        let (kind, text) = match note {
            Note::Runtime { path } => ("runtime", path),
            Note::NotRecorded { path } => ("not_recorded", path),
            Note::Stopped { reason } => ("stopped", reason),
            Note::Warning { text } => ("warning", text),
        };
        ShownNote { kind, text: text.clone() }
    }
}

impl From<&Finding> for ShownFinding {
    fn from(finding: &Finding) -> ShownFinding {
        ShownFinding {
            kind: match finding.kind {
                FindingKind::Cut => "cut",
                FindingKind::Stopped => "stopped",
                FindingKind::Damaged => "damaged",
                FindingKind::Unreadable => "unreadable",
            },
            path: finding.path.display().to_string(),
            offset: finding.offset,
            events_lost: finding.events_lost,
            what: finding.what.clone(),
        }
    }
}

fn shown_process(process: &Process, verify: bool) -> (ShownProcess<'_>, Option<u8>) {
    let findings = if verify { process.verify() } else { process.findings().to_vec() };
    let verdict = verdict(&findings, process.sealed());
    let shown = ShownProcess {
        name: process.name(),
        info: process.info(),
        sealed: process.sealed(),
        complete: process.complete() && findings.is_empty(),
        events: process.event_count(),
        bytes: process.bytes(),
        threads: process.threads(),
        functions: process.apis().iter().map(|api| api.name.as_str()).collect(),
        notes: process.notes().iter().map(ShownNote::from).collect(),
        runtimes: process.runtimes().iter().map(ShownRuntime::from).collect(),
        findings: findings.iter().map(ShownFinding::from).collect(),
    };
    (shown, verdict)
}

pub(crate) fn run(args: &InfoArgs, out: &mut impl Write) -> Result<ExitCode, Failure> {
    let archive = open(&args.archive)?;
    let (processes, verdicts): (Vec<_>, Vec<_>) =
        archive.processes().iter().map(|process| shown_process(process, args.verify)).unzip();
    let shown = Shown {
        path: archive.path().display().to_string(),
        format_version: FORMAT_VERSION,
        complete: archive.findings().is_empty() && processes.iter().all(|process| process.complete),
        events: processes.iter().map(|process| process.events).sum(),
        bytes: processes.iter().map(|process| process.bytes).sum(),
        findings: archive.findings().iter().map(ShownFinding::from).collect(),
        processes,
    };
    if args.json {
        serde_json::to_writer_pretty(&mut *out, &shown).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        print(&archive, &shown, out)?;
    }
    let code = verdicts.into_iter().flatten().chain(verdict(archive.findings(), true)).max();
    Ok(code.map_or(ExitCode::SUCCESS, ExitCode::from))
}

fn print(archive: &Archive, shown: &Shown<'_>, out: &mut impl Write) -> Result<(), Failure> {
    let state = if shown.complete { "complete" } else { "not complete" };
    writeln!(
        out,
        "{}: format {}, {} event{}, {}, {state}",
        shown.path,
        shown.format_version,
        shown.events,
        plural(shown.events),
        bytes_text(shown.bytes)
    )?;
    for finding in &shown.findings {
        writeln!(out, "  {}: {}", finding.kind, finding.what)?;
    }
    for (process, shown) in archive.processes().iter().zip(&shown.processes) {
        let info = shown.info;
        writeln!(out, "\nprocess {} (of {}): {}", info.pid, info.parent_pid, info.exe)?;
        writeln!(out, "  arguments   {}", info.args.join(" "))?;
        let seal = if shown.sealed { "sealed" } else { "not sealed" };
        writeln!(
            out,
            "  recorder    {}, {seal}, clock {}",
            info.recorder,
            clock_text(&info.clock)
        )?;
        writeln!(
            out,
            "  events      {} of {} function{}, {}",
            shown.events,
            shown.functions.len(),
            plural(shown.functions.len() as u64),
            bytes_text(shown.bytes)
        )?;
        for thread in shown.threads {
            writeln!(
                out,
                "  thread {:<4} {} events (tid {})",
                thread.ordinal, thread.events, thread.tid
            )?;
        }
        for (name, value) in &info.env {
            writeln!(out, "  variable    {name}={value}")?;
        }
        for runtime in &shown.runtimes {
            let hip = runtime.hip.map_or("of an unknown version".to_owned(), |hip| hip.to_string());
            writeln!(out, "  runtime     HIP {hip}, loaded as {}", runtime.name.loaded_as)?;
        }
        for note in process.notes() {
            writeln!(out, "  note        {}", NoteText(note))?;
        }
        for finding in &shown.findings {
            writeln!(out, "  {:11} {}", finding.kind, finding.what)?;
        }
        if !shown.functions.is_empty() {
            writeln!(out, "  functions   {}", shown.functions.join(" "))?;
        }
    }
    Ok(())
}

fn clock_text(clock: &Clock) -> String {
    match clock {
        Clock::Tsc { hz: 0 } => "time-stamp counter".to_owned(),
        Clock::Tsc { hz } => format!("time-stamp counter at {hz} Hz"),
        Clock::Counter => "shared counter".to_owned(),
    }
}

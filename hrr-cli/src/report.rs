//! What a replay found, for people. `--json` shows the report itself.

use std::io::Write;

use hrr_runtime::archive::reader::Process;
use hrr_runtime::replay::Report;
use hrr_runtime::replay::report::{Finding, FindingKind};

use crate::archive::bytes_text;
use crate::failure::Failure;
use crate::runtime::plural;

/// Findings that are printed; `--json` has the others.
const FINDINGS_MAX: usize = 20;

pub(crate) fn print(
    process: &Process,
    report: &Report,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let events = report.events;
    writeln!(
        out,
        "process {}: {events} call{} of {}",
        process.info().pid,
        plural(events),
        process.info().exe
    )?;
    let outcomes = [
        (report.reproduced, "reproduced"),
        (report.failed_as_recorded, "failed as recorded"),
        (report.ordering, "ordering (a callback, not run)"),
        (report.host, "host (by design not issued)"),
        (report.diverged, "DIVERGED"),
        (report.refused, "REFUSED"),
        (report.in_flight, "in flight when the recording ended, not issued"),
        (report.not_reached, "not reached"),
    ];
    for (count, outcome) in outcomes.into_iter().filter(|(count, _)| *count > 0) {
        writeln!(out, "{count:10} {outcome}")?;
    }
    checks(report, out)?;
    memory(report, out)?;
    for (function, reason) in &report.unknown_functions {
        writeln!(out, "  this hrr cannot issue {function}: {reason}")?;
    }
    for finding in report.findings.iter().take(FINDINGS_MAX) {
        writeln!(out, "  {}", text(finding))?;
    }
    let more = report.findings.len().saturating_sub(FINDINGS_MAX) as u64 + report.findings_left_out;
    if more > 0 {
        writeln!(out, "  and {more} more finding{}; --json has them", plural(more))?;
    }
    let stores = [
        (report.callback_bytes_stored, "in the place of its callbacks"),
        (report.host_bytes_stored, "because work ran that did not write them"),
    ];
    for (bytes, why) in stores.iter().filter(|(bytes, _)| *bytes > 0) {
        writeln!(out, "  {} of host memory stored for the program, {why}", bytes_text(*bytes))?;
    }
    writeln!(out, "{}", verdict(report))?;
    Ok(())
}

fn checks(report: &Report, out: &mut impl Write) -> Result<(), Failure> {
    let made = report.checks_passed + report.checks_failed;
    writeln!(
        out,
        "{made:10} check{} of what the device computed: {} passed, {} failed, {}",
        plural(made),
        report.checks_passed,
        report.checks_failed,
        bytes_text(report.bytes_checked)
    )?;
    if report.checks_missing > 0 {
        writeln!(out, "{:10} expectations that the recording lacks", report.checks_missing)?;
    }
    if report.checks_not_made > 0 {
        writeln!(out, "{:10} recorded checks that could NOT BE MADE", report.checks_not_made)?;
    }
    if report.machine_differs > 0 {
        let what = "facts of the machine that differ, no part of the verdict";
        writeln!(out, "{:10} {what}", report.machine_differs)?;
    }
    if report.outputs_unwritten > 0 {
        let what = "outputs that calls left as they were, not compared";
        writeln!(out, "{:10} {what}", report.outputs_unwritten)?;
    }
    if report.device_bytes_never_read > 0 {
        let bytes = bytes_text(report.device_bytes_never_read);
        writeln!(out, "  {bytes} of device memory were never brought to the host")?;
    }
    Ok(())
}

fn memory(report: &Report, out: &mut impl Write) -> Result<(), Failure> {
    for unplaced in &report.unplaced {
        let (event, function) = (unplaced.event, &unplaced.function);
        let bytes = bytes_text(unplaced.bytes);
        writeln!(
            out,
            "  {function} ({event}): {bytes} not at the recorded address {:#x}: {}",
            unplaced.address, unplaced.reason
        )?;
    }
    Ok(())
}

fn text(finding: &Finding) -> String {
    let kind = match finding.kind {
        FindingKind::Diverged => "diverged",
        FindingKind::CheckFailed => "check failed",
        FindingKind::CheckNotMade => "check not made",
        FindingKind::Canary => "written outside a buffer",
        FindingKind::Refused => "refused",
        FindingKind::Consequence => "refused, a consequence",
        FindingKind::Archive => "archive",
        FindingKind::Stuck => "stuck",
        FindingKind::Ended => "ended",
        FindingKind::Note => "note",
        FindingKind::Internal => "internal",
    };
    let place = match finding.event {
        Some(event) => format!("{} (event {event}): ", finding.function),
        None => String::new(),
    };
    format!("{kind}: {place}{}", finding.reason)
}

fn verdict(report: &Report) -> String {
    match report.exit_code() {
        0 => "reproduced".to_owned(),
        1 if report.ended.is_some() => "NOT REPRODUCED: the runtime ended the process".to_owned(),
        1 => "NOT REPRODUCED: a result differs".to_owned(),
        2 if report.ended.is_some() => "NOT COMPLETE: the runtime ended the process".to_owned(),
        2 if !report.complete => "NOT COMPLETE: the recording is not whole".to_owned(),
        2 if report.refused == 0 => {
            "NOT COMPLETE: a call had not returned when the recording ended".to_owned()
        }
        2 => "NOT COMPLETE: something was refused".to_owned(),
        3 => "DAMAGED: bytes of the archive are wrong".to_owned(),
        4 => "reproduced, but recorded checks could not be made".to_owned(),
        code => match &report.internal_error {
            Some(error) => format!("the replay itself failed: {error}"),
            None => format!("the replay ended with {code}"),
        },
    }
}

//! `hrr events`: the recorded calls, in the order of their beginning.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;

use hrr_runtime::archive::ReadError;
use hrr_runtime::archive::event::Event;
use hrr_runtime::archive::reader::{Archive, Process, ThreadReader};
use hrr_runtime::archive::shape::ApiShape;
use hrr_runtime::dump::EventDump;
use serde::Serialize;

use crate::archive::{failure, open, processes, verdict};
use crate::args::EventsArgs;
use crate::failure::{Failure, NO_PATH};
use crate::pattern;
use crate::say::{note, warn};

pub(crate) fn run(args: &EventsArgs, out: &mut impl Write) -> Result<ExitCode, Failure> {
    let archive = open(&args.archive)?;
    let mut listing =
        Listing { args, asked: 0, seen: 0, shown: 0, counts: BTreeMap::new(), code: None };
    let processes = processes(&archive, args.process.as_deref())?;
    for (_, process) in &processes {
        if processes.len() > 1 && !args.json && !args.count {
            writeln!(out, "process {}: {}", process.name(), process.info().exe)?;
        }
        listing.list(process, out)?;
        let sealed = verdict(process.findings(), process.sealed());
        listing.code = listing.code.max(sealed);
    }
    if args.count {
        listing.print_counts(out)?;
    }
    listing.nothing_matched(&archive)?;
    Ok(listing.code.map_or(ExitCode::SUCCESS, ExitCode::from))
}

/// An event, as `--json` shows it.
#[derive(Serialize)]
struct Shown {
    process: u32,
    #[serde(flatten)]
    event: EventDump,
}

/// Whether the call returned a status that is not success.
fn failed(api: &ApiShape, event: &Event) -> bool {
    api.ret.kind == "status" && event.leave.is_some() && event.ret != 0
}

struct Listing<'a> {
    args: &'a EventsArgs,
    /// Events of the threads and functions that are asked for.
    asked: u64,
    /// Of these the events that match.
    seen: u64,
    shown: u64,
    counts: BTreeMap<String, u64>,
    /// The exit code that what was read asks for.
    code: Option<u8>,
}

impl Listing<'_> {
    fn list(&mut self, process: &Process, out: &mut impl Write) -> Result<(), Failure> {
        for event in InOrder::of(process, self.args.thread) {
            if self.args.limit.is_some_and(|limit| self.shown >= limit) {
                return Ok(());
            }
            let event = match event {
                Ok(event) => event,
                Err(error) => {
                    // The rest can be read: say it, and let the exit code tell too.
                    let failure = failure(&error);
                    warn(&failure.to_string());
                    self.code = self.code.max(Some(failure.code));
                    continue;
                }
            };
            self.one(process, &event, out)?;
        }
        Ok(())
    }

    fn one(
        &mut self,
        process: &Process,
        event: &Event,
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        // The reader refuses an event of a function that is not in the table.
        let api = &process.apis()[event.api as usize];
        if !pattern::any(&self.args.function, &api.name) {
            return Ok(());
        }
        self.asked += 1;
        if self.args.failed && !failed(api, event) {
            return Ok(());
        }
        if self.args.count {
            self.seen += 1;
            *self.counts.entry(api.name.clone()).or_insert(0) += 1;
            return Ok(());
        }
        self.seen += 1;
        if self.seen <= self.args.skip {
            return Ok(());
        }
        self.shown += 1;
        if self.args.json {
            let shown = Shown { process: process.info().pid, event: EventDump::new(event, api) };
            serde_json::to_writer(&mut *out, &shown).map_err(std::io::Error::from)?;
            writeln!(out)?;
        } else {
            writeln!(out, "{}", EventDump::new(event, api))?;
        }
        Ok(())
    }

    /// Says that nothing was listed, and why. What was asked for by name and is not there is an
    /// error; calls that are all left out are an answer.
    fn nothing_matched(&self, archive: &Archive) -> Result<(), Failure> {
        let EventsArgs { thread, function, .. } = self.args;
        if self.asked == 0 && (thread.is_some() || !function.is_empty()) {
            let of_thread = thread.map(|thread| format!(" on thread {thread}")).unwrap_or_default();
            let of = if function.is_empty() {
                String::new()
            } else {
                format!(" of {}", function.join(", "))
            };
            let what = format!(
                "{}: no recorded call{of}{of_thread}; see `hrr info`",
                archive.path().display()
            );
            if self.code.is_none() {
                return Err(Failure::new(NO_PATH, what));
            }
            // What could not be read is the worse news, and may be why.
            warn(&what);
        } else if self.seen == 0 && self.asked > 0 {
            note(&format!("none of the {} calls failed", self.asked));
        } else if self.shown == 0 && self.seen > 0 && !self.args.count {
            note(&format!("{} calls match, and all are left out", self.seen));
        }
        Ok(())
    }

    fn print_counts(&self, out: &mut impl Write) -> Result<(), Failure> {
        if self.args.json {
            serde_json::to_writer_pretty(&mut *out, &self.counts).map_err(std::io::Error::from)?;
            writeln!(out)?;
            return Ok(());
        }
        let mut counts: Vec<_> = self.counts.iter().collect();
        counts.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
        for (name, count) in counts {
            writeln!(out, "{count:10} {name}")?;
        }
        Ok(())
    }
}

/// The events of several threads, merged by the time at which they began.
struct InOrder<'a> {
    threads: Vec<std::iter::Peekable<ThreadReader<'a>>>,
}

impl<'a> InOrder<'a> {
    fn of(process: &'a Process, thread: Option<u32>) -> InOrder<'a> {
        let ordinals = process.threads().iter().map(|thread| thread.ordinal);
        let wanted = ordinals.filter(|ordinal| thread.is_none_or(|thread| thread == *ordinal));
        InOrder { threads: wanted.map(|ordinal| process.thread(ordinal).peekable()).collect() }
    }
}

impl Iterator for InOrder<'_> {
    type Item = Result<Event, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let heads = self.threads.iter_mut().enumerate().filter_map(|(index, thread)| {
            let time = match thread.peek()? {
                Ok(event) => event.enter,
                Err(_) => 0, // told at once
            };
            Some((time, index))
        });
        let (_, first) = heads.min()?;
        self.threads[first].next()
    }
}

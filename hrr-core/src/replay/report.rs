//! What a replay says: outcomes, checks, findings and the exit code that follows from them.
//!
//! Knows nothing of how calls are issued. Every recorded event is counted under exactly one
//! [`Outcome`]; the counts sum to [`Report::events`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::archive::event::EventId;

/// How one event ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Issued, and as recorded.
    Reproduced,
    /// It failed when recorded and fails the same now.
    FailedAsRecorded,
    /// Issued with a callback that makes the stores which the recording saw; the program's own was
    /// not run.
    Ordering,
    /// By design not issued.
    Host,
    /// Issued, and not as recorded.
    Diverged,
    /// Not issued, with a reason.
    Refused,
    /// It had not returned when the recording ended: not issued.
    InFlight,
    /// Replay ended before it.
    NotReached,
}

/// What a finding is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The event diverged.
    Diverged,
    /// Bytes that the device produced differ from the recorded ones.
    CheckFailed,
    /// A check that the recording holds could not be made.
    CheckNotMade,
    /// The callee wrote outside a buffer that it was given.
    Canary,
    /// The event was refused.
    Refused,
    /// The event was refused because of an earlier finding, which `cause` names.
    Consequence,
    /// The archive is damaged or ends early.
    Archive,
    /// A call did not return in time.
    Stuck,
    /// The runtime ended the process: it called `abort`, or it crashed.
    Ended,
    /// Worth knowing; no part of the verdict.
    Note,
    /// The engine failed.
    Internal,
}

/// Names an event in a report.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct EventName {
    /// The recorded thread.
    pub thread: u32,
    /// The index on that thread.
    pub index: u64,
}

impl From<EventId> for EventName {
    fn from(id: EventId) -> EventName {
        EventName { thread: id.thread, index: id.index }
    }
}

impl std::fmt::Display for EventName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.thread, self.index)
    }
}

/// One thing to tell.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// The event, unless it concerns the whole recording.
    pub event: Option<EventName>,
    /// The function, or nothing.
    pub function: String,
    /// What it is.
    pub kind: FindingKind,
    /// Why, for people.
    pub reason: String,
    /// For a consequence, the event at fault.
    pub cause: Option<EventName>,
}

/// An allocation that is not at its recorded address.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Unplaced {
    /// The event that allocated it.
    pub event: EventName,
    /// The function.
    pub function: String,
    /// The recorded address.
    pub address: u64,
    /// Its size.
    pub bytes: u64,
    /// Why it could not be placed.
    pub reason: String,
}

/// Addresses and words that did not simply translate, by what became of them.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Untranslated {
    /// Values in pointer slots that are no addresses; passed unchanged.
    pub literals: u64,
    /// Addresses of no known allocation; a guard address was passed.
    pub unknown: u64,
    /// Addresses one past the end of an allocation.
    pub past_end: u64,
    /// Words inside by-value arguments and buffers that were rewritten, because they point into an
    /// allocation that could not be placed.
    pub rewritten_words: u64,
    /// Words at odd offsets that look like addresses of moved memory; left as they are.
    pub unaligned_words: u64,
}

/// An output that is a fact of the machine and differs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MachineDifference {
    /// The event.
    pub event: EventName,
    /// The function.
    pub function: String,
    /// Which output.
    pub what: String,
    /// The recorded value.
    pub recorded: String,
    /// The value now.
    pub live: String,
}

/// The live runtime, and the recorded one.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RuntimeIdentity {
    /// What the driver says of the live runtime.
    pub live: String,
    /// What the recording says of its own.
    pub recorded: String,
    /// Devices now.
    pub devices: Vec<String>,
}

/// The most findings, machine differences and unplaced allocations that a report lists, each.
pub const LISTED_MAX: usize = 10_000;

/// What a replay says.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The runtime.
    pub runtime: RuntimeIdentity,
    /// Recorded events that could be read.
    pub events: u64,
    /// See [`Outcome::Reproduced`].
    pub reproduced: u64,
    /// See [`Outcome::FailedAsRecorded`].
    pub failed_as_recorded: u64,
    /// See [`Outcome::Ordering`].
    pub ordering: u64,
    /// See [`Outcome::Host`].
    pub host: u64,
    /// See [`Outcome::Diverged`].
    pub diverged: u64,
    /// See [`Outcome::Refused`].
    pub refused: u64,
    /// See [`Outcome::InFlight`].
    pub in_flight: u64,
    /// See [`Outcome::NotReached`].
    pub not_reached: u64,
    /// Checks whose bytes were as recorded.
    pub checks_passed: u64,
    /// Checks whose bytes were not.
    pub checks_failed: u64,
    /// Expectations that the recording itself lacks.
    pub checks_missing: u64,
    /// Expectations that the recording holds and that could not be compared.
    pub checks_not_made: u64,
    /// Bytes compared by checks.
    pub bytes_checked: u64,
    /// Outputs that are facts of the machine and differ.
    pub machine_differs: u64,
    /// Outputs that calls left as they were, wholly or in part, and that differ from what was recorded
    /// there: not compared. The first of each function's output has a note.
    pub outputs_unwritten: u64,
    /// Whether the recording is whole: sealed, not cut, not damaged.
    pub complete: bool,
    /// Events that the recording held and the archive has lost, as far as it tells.
    pub events_lost: u64,
    /// Whether bytes of the archive are wrong.
    pub damaged: bool,
    /// What there is to tell, in the order of threads and events.
    pub findings: Vec<Finding>,
    /// Findings beyond [`LISTED_MAX`].
    pub findings_left_out: u64,
    /// Machine outputs that differ.
    pub machine: Vec<MachineDifference>,
    /// Addresses that did not simply translate.
    pub untranslated: Untranslated,
    /// Device allocations at their recorded addresses.
    pub placed: u64,
    /// Device allocations elsewhere.
    pub unplaced: Vec<Unplaced>,
    /// Functions of the archive that this build cannot issue, with the reason.
    pub unknown_functions: BTreeMap<String, String>,
    /// Bytes of device allocations that no copy brought to the host.
    pub device_bytes_never_read: u64,
    /// Host bytes restored into ranges that kernels reach.
    pub host_bytes_restored: u64,
    /// Host bytes that were stored in the place of the program's callbacks.
    pub callback_bytes_stored: u64,
    /// Host bytes that were stored while a call waited, because the recording saw them there, the
    /// device did not write them, and the call did not return without them: taken for stores of the
    /// program, on which nothing was checked.
    pub host_bytes_stored: u64,
    /// The signal by which the runtime ended the process, and with it the replay.
    pub ended: Option<String>,
    /// A fault of the engine itself.
    pub internal_error: Option<String>,
}

impl Report {
    /// Counts one event.
    pub(super) fn count(&mut self, outcome: Outcome) {
        self.events += 1;
        *match outcome {
            Outcome::Reproduced => &mut self.reproduced,
            Outcome::FailedAsRecorded => &mut self.failed_as_recorded,
            Outcome::Ordering => &mut self.ordering,
            Outcome::Host => &mut self.host,
            Outcome::Diverged => &mut self.diverged,
            Outcome::Refused => &mut self.refused,
            Outcome::InFlight => &mut self.in_flight,
            Outcome::NotReached => &mut self.not_reached,
        } += 1;
    }

    /// Adds a finding, or counts it where the list is full.
    pub(super) fn find(&mut self, finding: Finding) {
        if self.findings.len() < LISTED_MAX {
            self.findings.push(finding);
        } else {
            self.findings_left_out += 1;
        }
    }

    /// The sum of the outcomes: always [`Report::events`].
    pub fn outcomes(&self) -> u64 {
        self.reproduced
            + self.failed_as_recorded
            + self.ordering
            + self.host
            + self.diverged
            + self.refused
            + self.in_flight
            + self.not_reached
    }

    /// Whether the runtime ended the process where it had gone on when it was recorded.
    fn ended_early(&self) -> bool {
        self.ended.is_some() && self.not_reached > 0
    }

    /// The exit code, worst first: 70 the engine failed, 3 the archive is damaged, 1 something
    /// diverged, a check failed, or the runtime ended the process before the recording's end, 2
    /// something was refused or is incomplete, or the runtime ended the process at that end, 4 a check that the
    /// recording holds could not be made, 0.
    pub fn exit_code(&self) -> i32 {
        if self.internal_error.is_some() {
            70
        } else if self.damaged {
            3
        } else if self.diverged > 0 || self.checks_failed > 0 || self.ended_early() {
            1
        } else if self.refused > 0
            || self.in_flight > 0
            || self.not_reached > 0
            || !self.complete
            || self.ended.is_some()
        {
            2
        } else if self.checks_not_made > 0 {
            4
        } else {
            0
        }
    }
}

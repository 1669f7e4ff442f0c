//! Replay: issuing recorded calls and holding their results against the recording.
//!
//! Start at [`replay`]. [`source`] says where events come from, `bind` matches their functions to
//! this build's declarations, `order` says when each may start, `cx` issues one call, `rebuild`
//! makes its arguments and `finish` judges it; `world` is what the replayed process has. The engine
//! knows no function, type or constant of any runtime: all that it does follows from descriptors,
//! and what it must ask of a runtime itself goes through [`Driver`].

mod arena;
mod bind;
mod callbacks;
mod compare;
mod cx;
mod driver;
mod engine;
mod finish;
mod handles;
mod hosts;
mod memory;
mod order;
mod rebuild;
pub mod report;
mod run;
mod scope;
pub mod source;
mod tree;
mod world;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::archive::event::EventId;
use crate::desc::Table;

pub use compare::{FloatType, Tolerance};
pub use cx::{Issued, ReplayCx};
pub use driver::Driver;
pub(crate) use finish::scalar_text;
pub use report::Report;
pub use run::replay;
pub use source::{ArchivedProcess, Recording};

/// How to replay.
#[derive(Clone)]
pub struct ReplayOptions {
    /// The declarations.
    pub tables: Vec<Table>,
    /// What the engine asks of the live runtime; without it nothing is placed, and every device
    /// ordinal is taken to be there.
    pub driver: Option<Arc<dyn Driver>>,
    /// Whether device memory is put at its recorded address where that can be.
    pub place: bool,
    /// How far checked values may be from the recorded ones.
    pub tolerance: Option<Tolerance>,
    /// Recorded device ordinals and the live ones that stand for them.
    pub device_map: BTreeMap<u32, u32>,
    /// Whether calls that hand over a callback of the program are refused.
    pub strict: bool,
    /// How long a call may take before progress names it, and again after each such span.
    pub watchdog: Duration,
    /// How long a call may take before replay ends without it.
    pub limit: Option<Duration>,
    /// Answers the name of the signal by which the runtime has ended the process, once it has: the
    /// replay ends then, with a report. Asked again and again.
    pub ended: Option<fn() -> Option<&'static str>>,
    /// How many bytes of host memory the engine's buffers may hold together.
    pub host_bytes_max: u64,
}

impl Default for ReplayOptions {
    fn default() -> ReplayOptions {
        ReplayOptions {
            tables: Vec::new(),
            driver: None,
            place: true,
            tolerance: None,
            device_map: BTreeMap::new(),
            strict: false,
            watchdog: Duration::from_secs(10),
            limit: None,
            ended: None,
            host_bytes_max: 1 << 38,
        }
    }
}

/// What a running replay says.
#[derive(Clone, Debug)]
pub enum Progress<'a> {
    /// Events that have an outcome.
    Advanced {
        /// Their number.
        events: u64,
    },
    /// A call has not returned yet.
    Stuck {
        /// The event.
        event: EventId,
        /// The function.
        function: &'a str,
        /// For how long it has run.
        running: Duration,
        /// Whether replay ends without it.
        given_up: bool,
    },
}

/// Why a call is not issued.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// For people.
    pub reason: String,
    /// The event at fault, if it is another.
    pub cause: Option<EventId>,
    /// Whether bytes of the archive are wrong.
    pub damaged: bool,
}

impl Refusal {
    /// A refusal of its own.
    pub fn new(reason: impl Into<String>) -> Refusal {
        Refusal { reason: reason.into(), cause: None, damaged: false }
    }

    /// A consequence of another event.
    pub fn because(what: impl Into<String>, cause: EventId) -> Refusal {
        let reason = format!(
            "{}, because event {}/{} was not reproduced",
            what.into(),
            cause.thread,
            cause.index
        );
        Refusal { reason, cause: Some(cause), damaged: false }
    }

    /// Says which parameter or field is meant.
    fn within(self, param: &str) -> Refusal {
        Refusal { reason: format!("`{param}`: {}", self.reason), ..self }
    }
}

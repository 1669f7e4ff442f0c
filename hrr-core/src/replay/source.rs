//! Where recorded events come from.
//!
//! The engine reads a process through [`Recording`]; a reader of files is one implementation, a
//! list in memory another. Events are read as they are replayed, thread by thread.

use std::sync::Arc;

use crate::archive::event::{BlobHash, Event};
use crate::archive::facts::Note;
use crate::archive::reader::{Archive, Process};
use crate::archive::shape::ApiShape;
use crate::archive::{Finding, FindingKind, ReadError};

/// Something wrong with the recording itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Whether bytes are there and are wrong; else the recording ends early.
    pub damaged: bool,
    /// What, for people.
    pub what: String,
    /// How many events are known to be lost.
    pub events_lost: u64,
}

/// The events of one thread, in order.
pub type Events<'a> = Box<dyn Iterator<Item = Result<Event, Fault>> + 'a>;

/// One recorded process.
pub trait Recording: Send + Sync + 'static {
    /// The functions, as the recorder declared them; events name them by index.
    fn functions(&self) -> &[ApiShape];

    /// The ordinals of the recorded threads.
    fn threads(&self) -> Vec<u32>;

    /// The events of a thread, in order. A fault that is not the last item is one that reading
    /// could go on after.
    fn events(&self, thread: u32) -> Events<'_>;

    /// The bytes of a blob, verified.
    fn blob(&self, hash: BlobHash) -> Result<Arc<[u8]>, Fault>;

    /// What is wrong with the recording, after a look at every byte: nothing for a sealed one that
    /// is whole.
    fn faults(&self) -> Vec<Fault>;

    /// What the recording says of the runtime that it saw, for the report.
    fn runtime(&self) -> String;
}

/// A process of an archive on disk.
pub struct ArchivedProcess {
    archive: Arc<Archive>,
    process: usize,
}

impl ArchivedProcess {
    /// The process at an index of [`Archive::processes`], if there is one.
    pub fn new(archive: Arc<Archive>, process: usize) -> Option<ArchivedProcess> {
        (process < archive.processes().len()).then_some(ArchivedProcess { archive, process })
    }

    fn process(&self) -> &Process {
        &self.archive.processes()[self.process]
    }
}

impl From<ReadError> for Fault {
    fn from(error: ReadError) -> Fault {
        Fault::from(error.finding())
    }
}

impl From<Finding> for Fault {
    fn from(finding: Finding) -> Fault {
        let damaged = match finding.kind {
            FindingKind::Damaged | FindingKind::Unreadable => true,
            FindingKind::Cut | FindingKind::Stopped => false,
        };
        let events_lost = finding.events_lost.unwrap_or(0);
        Fault { damaged, what: finding.what, events_lost }
    }
}

impl Recording for ArchivedProcess {
    fn functions(&self) -> &[ApiShape] {
        self.process().apis()
    }

    fn threads(&self) -> Vec<u32> {
        self.process().threads().iter().map(|thread| thread.ordinal).collect()
    }

    fn events(&self, thread: u32) -> Events<'_> {
        Box::new(self.process().thread(thread).map(|event| event.map_err(Fault::from)))
    }

    fn blob(&self, hash: BlobHash) -> Result<Arc<[u8]>, Fault> {
        self.process().blob(hash).map_err(Fault::from)
    }

    fn faults(&self) -> Vec<Fault> {
        let process = self.process();
        let mut faults: Vec<Fault> = process.verify().into_iter().map(Fault::from).collect();
        if !process.complete() && faults.is_empty() {
            let what = "the recording was not sealed: its program did not end well".to_owned();
            faults.push(Fault { damaged: false, what, events_lost: 0 });
        }
        faults
    }

    fn runtime(&self) -> String {
        let runtimes = self.process().notes().iter().filter_map(|note| match note {
            Note::Runtime { path } => Some(path.as_str()),
            Note::NotRecorded { .. } | Note::Stopped { .. } | Note::Warning { .. } => None,
        });
        runtimes.collect::<Vec<_>>().join(", ")
    }
}

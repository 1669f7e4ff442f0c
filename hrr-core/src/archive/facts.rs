//! What an archive says about the recorded process and its threads.

use serde::{Deserialize, Serialize};

/// The clock of a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Clock {
    /// The time-stamp counter, which was the system's own clock source.
    Tsc {
        /// Ticks per second, measured at start; 0 if it was not measured.
        hz: u64,
    },
    /// A counter that all threads share: an order, not a time.
    Counter,
}

/// What was known about the process when its recording started.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProcessInfo {
    /// The process.
    pub pid: u32,
    /// Its parent.
    pub parent_pid: u32,
    /// Seconds since 1970 at the start.
    pub started: u64,
    /// The program's path.
    pub exe: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables that GPU runtimes read.
    pub env: Vec<(String, String)>,
    /// The version of the recorder.
    pub recorder: String,
    /// The clock.
    pub clock: Clock,
}

/// A recorded thread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ThreadInfo {
    /// Its ordinal in the archive.
    pub ordinal: u32,
    /// Its number in the system.
    pub tid: u32,
    /// Its events.
    pub events: u64,
}

/// A fact learnt while recording.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Note {
    /// The vendor's library that the calls went to.
    Runtime {
        /// Its path.
        path: String,
    },
    /// A second library that the program bound and whose calls are missing.
    NotRecorded {
        /// Its path.
        path: String,
    },
    /// The recorder stopped before the program ended.
    Stopped {
        /// Why.
        reason: String,
    },
    /// Something that people should know.
    Warning {
        /// What.
        text: String,
    },
}

/// The names of a library that calls went to. Its numbers may depend on them: a runtime may answer
/// each program as the version that the program was linked against.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RuntimeName {
    /// Its path, as in [`Note::Runtime`].
    pub path: String,
    /// The name of the file by which the program's loader found it: as it was linked or opened.
    pub loaded_as: String,
    /// The name that the library gives itself, if it does.
    pub soname: Option<String>,
}

/// A mark beside the events of a thread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Annotation {
    /// The thread.
    pub thread: u32,
    /// The index of the thread's next event when the mark was made.
    pub before: u64,
    /// When, in ticks of the recording's clock.
    pub time: u64,
    /// What it marks.
    pub mark: Mark,
}

/// What an annotation marks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Mark {
    /// A named range begins.
    Begin {
        /// Its name.
        name: String,
    },
    /// The range begun last on this thread, and not ended yet, ends.
    End,
    /// A callback of the program began to run.
    CallbackBegins {
        /// The thread of the call that handed it over.
        thread: u32,
        /// The index of that call.
        index: u64,
    },
    /// It returned.
    CallbackEnds,
}

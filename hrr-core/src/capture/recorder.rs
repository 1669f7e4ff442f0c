//! One recording: its folder, its threads, and how it starts, stops and fails.
//!
//! A recording belongs to one process. Where it lies is kept in a page that a forked child sees
//! wiped, so a child never touches a lock of its parent: it meets no recording, and starts its own
//! at its first call. Recordings are never freed: a thread may be inside a wrapper at any time.

use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use super::ring::{Ring, SLACK_BYTES};
use super::state::{self, State};
use super::track::Tracker;
use super::{call, process, say};
use crate::archive::event::Body;
use crate::archive::facts::{Clock, Note, RuntimeName};
use crate::archive::format::FORMAT_VERSION;
use crate::archive::raw::{RawItem, decode_chunks};
use crate::archive::shape::ApiShape;
use crate::archive::writer::{BlobStore, Writer, create_process_folder};
use crate::desc::{ApiDesc, HAS_SLOW_PATH};
use crate::loader;

/// What the process wants.
const UNDECIDED: u8 = 0;
const OFF: u8 = 1;
const ON: u8 = 2;
/// The recorder stopped by itself; children of this process do not record either.
const STOPPED: u8 = 3;

static MODE: AtomicU8 = AtomicU8::new(UNDECIDED);
/// Where recordings of this process and its children go.
static TARGET: Mutex<Option<PathBuf>> = Mutex::new(None);

/// The wiped page: the recording of this process.
static PAGE: AtomicPtr<AtomicPtr<Recorder>> = AtomicPtr::new(core::ptr::null_mut());

/// A recording.
pub(crate) struct Recorder {
    folder: PathBuf,
    recording: u64,
    clock: Clock,
    /// The order where there is no usable time.
    counter: AtomicU64,
    blobs: Arc<BlobStore>,
    drain: Mutex<Writer>,
    threads: Mutex<Vec<(Arc<Ring>, StatePtr)>>,
    /// Held while rings are given back: by the helper for threads that ended, by the seal for all.
    ending: Mutex<()>,
    helper: Helper,
    stopped: AtomicBool,
    stopped_why: OnceLock<String>,
    tracker: Mutex<Tracker>,
    /// Whether the tracker has stores of callbacks: looked at by every call that is not plain.
    pub(crate) callbacks_stored: AtomicBool,
}

struct StatePtr(*mut State);
// SAFETY: only `end` of a foreign state is written, atomically, while the state is registered.
unsafe impl Send for StatePtr {}

#[derive(Default)]
struct Helper {
    started: AtomicBool,
    wanted: Mutex<bool>,
    wake: Condvar,
}

/// Locks a mutex of the recorder. A fault while it was held has stopped the recording already.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn page() -> Option<&'static AtomicPtr<Recorder>> {
    // SAFETY: null, or a page that was mapped for good.
    unsafe { PAGE.load(Acquire).as_ref() }
}

/// The recording of this process; a forked child whose parent records begins its own here.
pub(crate) fn current() -> Option<&'static Recorder> {
    if MODE.load(Acquire) != ON {
        return None;
    }
    let found = page()?.load(Acquire);
    if found.is_null() {
        return start_in_child();
    }
    // SAFETY: set from a leaked box.
    Some(unsafe { &*found })
}

fn start_in_child() -> Option<&'static Recorder> {
    let _guard = loader::LOCK.lock();
    // SAFETY: set from a leaked box; another thread of the child may have been faster.
    if let Some(found) = unsafe { page()?.load(Acquire).as_ref() } {
        return Some(found);
    }
    let target = match TARGET.try_lock() {
        Ok(target) => target.clone(),
        // Held in the parent at the moment of the fork, which set it at its own start.
        Err(_) => None,
    };
    match target.ok_or_else(|| io::Error::other("its folder is not known")).and_then(begin) {
        Ok(recorder) => Some(recorder),
        Err(error) => {
            MODE.store(STOPPED, Release);
            say(&format!("a forked process is not recorded: {error}"));
            None
        }
    }
}

/// Starts at the first call if `HRR_RECORD` asks for it.
pub(crate) fn start_from_environment() {
    if MODE.load(Acquire) != UNDECIDED {
        return;
    }
    let asked = std::env::var_os("HRR_RECORD")
        .filter(|value| !value.to_string_lossy().trim().is_empty())
        .map(PathBuf::from);
    let decided = match &asked {
        Some(_) => ON,
        None => OFF,
    };
    let Some(target) = asked else {
        // Another thread may have started a recording meanwhile: its decision stays.
        let _ = MODE.compare_exchange(UNDECIDED, decided, AcqRel, Acquire);
        return;
    };
    // SAFETY: reads a word that the kernel handed to the process.
    if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
        if MODE.compare_exchange(UNDECIDED, OFF, AcqRel, Acquire).is_ok() {
            say("not recorded: the program runs with privileges of another user");
        }
        return;
    }
    if let Err(error) = start_at(&target, true) {
        MODE.store(OFF, Release);
        say(&format!("not recorded: {}: {error}", target.display()));
    }
}

/// Every recording of the process; none is ever freed, because late calls may still look at it.
static KEPT: Mutex<Vec<&Recorder>> = Mutex::new(Vec::new());

/// What holds for the process and not for one recording of it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Fact {
    Note(Note),
    /// The runtime that calls go to, by its names.
    Runtime(RuntimeName),
}

/// Every fact so far: written into each recording.
static FACTS: Mutex<Vec<Fact>> = Mutex::new(Vec::new());

/// Keeps a fact of the process, for the recording that runs and for every later one.
pub(crate) fn fact(fact: Fact) {
    let mut facts = lock(&FACTS);
    if facts.contains(&fact) {
        return;
    }
    facts.push(fact.clone());
    drop(facts);
    if let Some(recorder) = current() {
        recorder.fact(fact);
    }
}

/// Leaves the process to another copy of the recorder: the environment starts nothing here.
pub(crate) fn stand_back() {
    let _ = MODE.compare_exchange(UNDECIDED, OFF, AcqRel, Acquire);
}

/// Starts a recording below `dir`. `once`: only if nothing was decided before.
pub(crate) fn start_at(dir: &Path, once: bool) -> io::Result<()> {
    let _guard = loader::LOCK.lock();
    match MODE.load(Acquire) {
        UNDECIDED => {}
        _ if once => return Ok(()),
        ON => return Err(io::Error::other("a recording is running")),
        _ => {}
    }
    // An absolute path, since the program may change its folder before it forks.
    let dir = std::path::absolute(dir)?;
    if PAGE.load(Acquire).is_null() {
        let page = state::map_wiped_page();
        if page.is_null() {
            return Err(io::Error::last_os_error());
        }
        PAGE.store(page.cast(), Release);
    }
    *lock(&TARGET) = Some(dir.clone());
    begin(dir)?;
    MODE.store(ON, Release);
    for api in loader::bound() {
        loader::set_slot(api, api.header.load(Relaxed) != 0);
    }
    Ok(())
}

/// Makes the recording and tells it of every function that is bound. The caller holds the
/// loader's lock.
fn begin(dir: PathBuf) -> io::Result<&'static Recorder> {
    let folder = create_process_folder(&dir, std::process::id())?;
    let info = process::describe();
    let clock = info.clock;
    let writer = Writer::create(&folder, info)?;
    let recorder: &'static Recorder = Box::leak(Box::new(Recorder {
        folder,
        recording: writer.recording(),
        clock,
        counter: AtomicU64::new(1),
        blobs: writer.blobs(),
        drain: Mutex::new(writer),
        threads: Mutex::new(Vec::new()),
        ending: Mutex::new(()),
        helper: Helper::default(),
        stopped: AtomicBool::new(false),
        stopped_why: OnceLock::new(),
        tracker: Mutex::new(Tracker::default()),
        callbacks_stored: AtomicBool::new(false),
    }));
    // Reachable from a static, so that a leak checker in the program sees no leak.
    lock(&KEPT).push(recorder);
    for api in loader::bound() {
        recorder.declare(api)?;
    }
    // Held in the parent at the moment of a fork: the child's recording then lacks the facts.
    if let Ok(facts) = FACTS.try_lock() {
        facts.iter().cloned().for_each(|fact| recorder.fact(fact));
    }
    let page = page().ok_or_else(|| io::Error::other("no page"))?;
    page.store(core::ptr::from_ref(recorder).cast_mut(), Release);
    Ok(recorder)
}

/// Makes a function known to the running recording, if there is one, and answers whether its calls
/// are to be recorded. The caller holds the loader's lock.
pub(crate) fn declare(api: &'static ApiDesc) -> bool {
    if MODE.load(Acquire) != ON {
        return false;
    }
    // SAFETY: set from a leaked box.
    let Some(recorder) = page().and_then(|page| unsafe { page.load(Acquire).as_ref() }) else {
        // A forked child of a recorded process: its recording begins with its first recorded call,
        // which may be this one, and then declares all that is bound.
        return true;
    };
    match recorder.declare(api) {
        Ok(()) => true,
        Err(error) => {
            fault(&error.to_string());
            false
        }
    }
}

/// Stops the recording because it cannot go on: once, and with one line. The program goes on.
pub(crate) fn fault(reason: &str) {
    if MODE.swap(STOPPED, AcqRel) != ON {
        return;
    }
    for api in loader::bound() {
        loader::set_slot(api, false);
    }
    // SAFETY: set from a leaked box.
    let recorder = page().and_then(|page| unsafe { page.load(Acquire).as_ref() });
    if let Some(recorder) = recorder {
        let _ = recorder.stopped_why.set(reason.to_owned());
        recorder.halt();
        say(&format!("recording stopped: {reason}; {} is incomplete", recorder.folder.display()));
    } else {
        say(&format!("recording stopped: {reason}"));
    }
}

/// Stops and seals the recording of this process, if there is one.
pub(crate) fn stop() -> io::Result<()> {
    let _guard = loader::LOCK.lock();
    let Some(page) = page() else { return Ok(()) };
    let found = page.swap(core::ptr::null_mut(), AcqRel);
    // SAFETY: set from a leaked box.
    let Some(recorder) = (unsafe { found.as_ref() }) else {
        // A child that made no call of its own has nothing to seal.
        return Ok(());
    };
    let _ = MODE.compare_exchange(ON, OFF, AcqRel, Acquire);
    for api in loader::bound() {
        loader::set_slot(api, false);
    }
    recorder.halt();
    recorder.seal()
}

/// Whether a recording runs in this process.
pub(crate) fn is_running() -> bool {
    MODE.load(Acquire) == ON
}

impl Recorder {
    fn declare(&self, api: &'static ApiDesc) -> io::Result<()> {
        if (api.args_bytes + api.outs_bytes) as usize + 64 > SLACK_BYTES {
            say(&format!("{} has too many bytes to be recorded", api.name.to_string_lossy()));
            api.header.store(0, Release);
            return Ok(());
        }
        let place = lock(&self.drain).api(ApiShape::of(api))?;
        api.header.store(call::begun(api, place + 1), Release);
        Ok(())
    }

    /// What every call of a thread must do on top of its function's own needs.
    pub(crate) fn thread_flags(&self) -> u32 {
        match self.clock {
            Clock::Tsc { .. } => 0,
            Clock::Counter => HAS_SLOW_PATH,
        }
    }

    /// The time.
    pub(crate) fn now(&self) -> u64 {
        match self.clock {
            Clock::Tsc { .. } => state::ticks(),
            Clock::Counter => self.counter.fetch_add(1, AcqRel),
        }
    }

    /// The store of contents.
    pub(crate) fn blobs(&self) -> &BlobStore {
        &self.blobs
    }

    /// Keeps a content; a failure stops the recording.
    pub(crate) fn blob(&self, content: &[u8]) -> Option<Body> {
        match self.blobs().put(content) {
            Ok(body) => Some(body),
            Err(error) => {
                fault(&format!("a content cannot be written: {error}"));
                None
            }
        }
    }

    /// What is known of streams, events, graphs and ranges.
    pub(crate) fn tracker(&self) -> MutexGuard<'_, Tracker> {
        lock(&self.tracker)
    }

    /// Adds a note to the archive.
    pub(crate) fn note(&self, note: Note) {
        self.fact(Fact::Note(note));
    }

    /// Adds a fact to the archive.
    fn fact(&self, fact: Fact) {
        let mut writer = lock(&self.drain);
        let written = match fact {
            Fact::Note(note) => writer.note(note),
            Fact::Runtime(name) => {
                let note = Note::Runtime { path: name.path.clone() };
                writer.note(note).and_then(|()| writer.runtime(name))
            }
        };
        drop(writer);
        if let Err(error) = written {
            fault(&error.to_string());
        }
    }

    pub(crate) fn add_thread(&self, state: *mut State) -> io::Result<(Arc<Ring>, u32)> {
        // SAFETY: asks for the calling thread's number.
        let tid = unsafe { libc::gettid() } as u32;
        let ordinal = lock(&self.drain).thread(tid)?;
        let ring = Arc::new(Ring::create(&self.folder, self.recording, ordinal, tid)?);
        lock(&self.threads).push((Arc::clone(&ring), StatePtr(state)));
        Ok((ring, ordinal))
    }

    pub(crate) fn thread_ended(&'static self, state: *mut State) {
        for (_, known) in lock(&self.threads).iter_mut().filter(|(_, known)| known.0 == state) {
            known.0 = core::ptr::null_mut();
        }
        if !self.stopped.load(Relaxed) {
            self.wake_helper();
        }
    }

    /// The stop flag, for who waits.
    pub(crate) fn stopped(&self) -> &AtomicBool {
        &self.stopped
    }

    /// Sends every thread to the slow path, where it sees that recording is over.
    fn halt(&self) {
        self.stopped.store(true, Release);
        for (_, known) in lock(&self.threads).iter().filter(|(_, known)| !known.0.is_null()) {
            // SAFETY: a registered state is mapped; `end` is a word that its thread reads anew at
            // each call.
            unsafe { AtomicPtr::from_ptr(&raw mut (*known.0).end) }
                .store(core::ptr::null_mut(), Release);
        }
        self.helper.wake.notify_all();
    }

    /// Asks the helper to look at the rings, and starts it if it does not run.
    pub(crate) fn wake_helper(&'static self) {
        *lock(&self.helper.wanted) = true;
        self.helper.wake.notify_one();
        if self.helper.started.swap(true, AcqRel) {
            return;
        }
        // SAFETY: the sets are valid places; the old mask is restored below. A signal of the
        // program must never be delivered to the helper.
        let old = unsafe {
            let (mut all, mut old) = (core::mem::zeroed(), core::mem::zeroed());
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut old);
            old
        };
        let made = std::thread::Builder::new()
            .name("hrr-drain".to_owned())
            .stack_size(256 << 10)
            .spawn(move || self.help());
        // SAFETY: the mask that was read above.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const old, core::ptr::null_mut()) };
        if let Err(error) = made {
            fault(&format!("the helper thread cannot be started: {error}"));
        }
    }

    fn help(&self) {
        while !self.stopped.load(Acquire) {
            let drained =
                std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| self.drain_full()));
            let waiting = match drained {
                Ok(Ok(waiting)) => waiting,
                Ok(Err(error)) => return fault(&error.to_string()),
                Err(_) => return fault("a fault in the helper thread"),
            };
            let mut wanted = lock(&self.helper.wanted);
            if !*wanted {
                // An open call holds a chunk back: nothing will tell when it ends.
                let millis = if waiting { 2 } else { 1000 };
                let wait = std::time::Duration::from_millis(millis);
                let waited = self.helper.wake.wait_timeout(wanted, wait);
                wanted = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            *wanted = false;
        }
    }

    /// Drains every chunk that can be, and answers whether some must wait.
    fn drain_full(&self) -> io::Result<bool> {
        let rings: Vec<Arc<Ring>> =
            lock(&self.threads).iter().map(|(ring, _)| Arc::clone(ring)).collect();
        let mut waiting = false;
        for ring in rings {
            while !self.stopped.load(Acquire) {
                if !self.drain_oldest(&ring, false)? {
                    break;
                }
            }
            waiting |= ring.has_full();
            if ring.ended.load(Acquire) && !self.stopped.load(Acquire) {
                self.finish_ring(&ring)?;
            }
        }
        Ok(waiting)
    }

    /// Drains what an ended thread left, and gives its ring back.
    fn finish_ring(&self, ring: &Arc<Ring>) -> io::Result<()> {
        let _alone = lock(&self.ending);
        if self.stopped.load(Acquire) {
            // The seal takes what is left.
            return Ok(());
        }
        while self.drain_oldest(ring, true)? {}
        lock(&self.threads).retain(|(known, _)| !Arc::ptr_eq(known, ring));
        ring.remove_file()?;
        // SAFETY: the thread has ended and everything was drained; the recorder forgot the ring.
        unsafe { ring.unmap() };
        Ok(())
    }

    /// Moves the oldest chunk of a ring to the archive; whether it did is the answer.
    fn drain_oldest(&self, ring: &Ring, finish: bool) -> io::Result<bool> {
        let mut writer = lock(&self.drain);
        let Some(chunks) = ring.oldest(finish) else { return Ok(false) };
        let mut items = Vec::new();
        let functions = |id: u32| {
            let place = id.checked_sub(1)?;
            Some((place, writer.apis().get(place as usize)?))
        };
        let decoded =
            decode_chunks(&chunks, 1, ring.thread, &functions, &mut |item| items.push(item));
        for item in items {
            match item {
                RawItem::Event(event) => writer.event(&event)?,
                RawItem::Mark(mark) => writer.annotation(mark),
            }
        }
        decoded.map_err(|what| io::Error::other(format!("a record of our own: {what}")))?;
        writer.flush_thread(ring.thread)?;
        let keep = finish && !ring.ended.load(Acquire);
        ring.release_oldest(keep);
        Ok(true)
    }

    /// Drains everything and writes the index.
    fn seal(&self) -> io::Result<()> {
        let _alone = lock(&self.ending);
        let rings: Vec<Arc<Ring>> =
            lock(&self.threads).iter().map(|(ring, _)| Arc::clone(ring)).collect();
        for ring in &rings {
            while self.drain_oldest(ring, true)? {}
        }
        let mut writer = lock(&self.drain);
        if let Some(reason) = self.stopped_why.get() {
            writer.note(Note::Stopped { reason: reason.clone() })?;
        }
        writer.seal()?;
        drop(writer);
        for ring in &rings {
            ring.remove_file()?;
        }
        Ok(())
    }
}

/// The format and the recorder, for the archive.
pub(crate) fn version() -> String {
    format!("{} (format {FORMAT_VERSION})", env!("CARGO_PKG_VERSION"))
}

//! A recorded thread: how it joins a recording, and how it ends.

use std::sync::{Arc, Mutex, OnceLock};

use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::Relaxed;

use super::memory::Memory;
use super::recorder::{self, Recorder};
use super::ring::Ring;
use super::state::{self, State};
use super::track::{Copy, Follows, Pending};
use crate::archive::event::{BlobHash, EventId};

/// What a thread's slow paths need.
pub(crate) struct Thread {
    /// The recording that it belongs to.
    pub(crate) recorder: &'static Recorder,
    /// Its ring.
    pub(crate) ring: Arc<Ring>,
    /// Its ordinal.
    pub(crate) ordinal: u32,
    /// What it may read.
    pub(crate) memory: Memory,
    /// The fields that are being taken, in the live form.
    pub(crate) fields: Vec<u8>,
    /// What must be remembered of the open call.
    pub(crate) open: OpenCall,
    /// The call whose callback is running here.
    pub(crate) parent: Option<EventId>,
    /// Callbacks that are running here, one inside the other.
    pub(crate) callbacks: u32,
}

/// What the slow paths remember of a call between its begin and its end.
#[derive(Default)]
pub(crate) struct OpenCall {
    /// What the integers behind pointer parameters were before the call.
    pub(crate) before: Vec<(u16, u64)>,
    /// The host sides of the call's copies, as far as the walk has met them.
    pub(crate) copies: Vec<Copy>,
    /// The reachable host ranges that the arguments point into.
    pub(crate) reached: Vec<u64>,
    /// The kernel arguments are not known: they may reach any range.
    pub(crate) unknown_args: bool,
    /// The work is captured and does not run.
    pub(crate) capturing: bool,
    /// The image that the call loads.
    pub(crate) image: Option<BlobHash>,
    /// How much of each stream's work is done when the call returns success. Taken before the
    /// call: what other threads enqueue meanwhile is not waited for.
    pub(crate) completes: Follows,
    /// Destinations that the call writes anew.
    pub(crate) superseded: Vec<Pending>,
}

impl OpenCall {
    /// Forgets all, and keeps the room.
    pub(crate) fn clear(&mut self) {
        self.before.clear();
        self.copies.clear();
        self.reached.clear();
        (self.unknown_args, self.capturing, self.image) = (false, false, None);
        self.completes.clear();
        self.superseded.clear();
    }
}

/// Answers the state of the calling thread, joined to the running recording; null if there is none
/// or the thread cannot join.
pub(crate) fn join() -> *mut State {
    let mut state = state::current();
    if state.is_null() {
        if recorder::current().is_none() {
            return core::ptr::null_mut();
        }
        state = state::map_wiped_page().cast::<State>();
        if state.is_null() {
            recorder::fault("no memory for a thread's state");
            return state;
        }
        state::set_current(state);
        // SAFETY: the key is valid; the value is what its destructor expects.
        unsafe { libc::pthread_setspecific(exit_key(), state.cast()) };
    }
    // SAFETY: the thread's own page, which only this thread changes but for `end`.
    let known = unsafe { (*state).thread };
    let Some(recorder) = recorder::current() else { return core::ptr::null_mut() };
    if !known.is_null() {
        // SAFETY: set below from a box, by this thread, and dropped only by it.
        if core::ptr::eq(unsafe { (*known).recorder }, recorder) {
            return state;
        }
        leave_recording(state);
    }
    match recorder.add_thread(state) {
        Ok((ring, ordinal)) => {
            let thread = Box::new(Thread {
                recorder,
                ring,
                ordinal,
                memory: Memory::of_thread(),
                fields: Vec::new(),
                open: OpenCall::default(),
                parent: None,
                callbacks: 0,
            });
            // SAFETY: the thread's own page; nothing of another recording is in it.
            unsafe {
                core::ptr::write_bytes(state, 0, 1);
                (*state).thread = Box::into_raw(thread);
                (*state).flags = recorder.thread_flags();
                keep((*state).thread);
            }
            state
        }
        Err(error) => {
            recorder::fault(&format!("a thread cannot be recorded: {error}"));
            core::ptr::null_mut()
        }
    }
}

/// The threads of recordings, reachable from a static: their pages are mapped, where a leak checker
/// in the program does not look.
static KEPT: Mutex<Vec<AtomicPtr<Thread>>> = Mutex::new(Vec::new());

fn keep(thread: *mut Thread) {
    // Held by another thread at the moment of a fork: then it is not listed.
    if let Ok(mut kept) = KEPT.try_lock() {
        kept.push(AtomicPtr::new(thread));
    }
}

fn forget(thread: *mut Thread) {
    if let Ok(mut kept) = KEPT.try_lock() {
        kept.retain(|kept| kept.load(Relaxed) != thread);
    }
}

/// Ends the thread's part in its recording.
fn leave_recording(state: *mut State) {
    // SAFETY: the caller's own page; a thread that is set came from a box.
    let thread = unsafe {
        let thread = (*state).thread;
        core::ptr::write_bytes(state, 0, 1);
        forget(thread);
        (!thread.is_null()).then(|| Box::from_raw(thread))
    };
    if let Some(thread) = thread {
        thread.ring.ended.store(true, Relaxed);
        thread.recorder.thread_ended(state);
    }
}

fn exit_key() -> libc::pthread_key_t {
    static KEY: OnceLock<libc::pthread_key_t> = OnceLock::new();
    *KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: `key` is a valid place; the destructor has the right signature.
        let made = unsafe { libc::pthread_key_create(&raw mut key, Some(thread_exits)) };
        // Without a key the pages of ended threads stay: a leak, and nothing worse.
        if made == 0 { key } else { libc::pthread_key_t::MAX }
    })
}

/// Runs when a thread that joined ends. A destructor that calls the API after this one joins
/// again, as a new thread of the archive.
unsafe extern "C" fn thread_exits(state: *mut core::ffi::c_void) {
    let state = state.cast::<State>();
    let ended = std::panic::catch_unwind(|| {
        state::set_current(core::ptr::null_mut());
        leave_recording(state);
    });
    if ended.is_err() {
        recorder::fault("a fault at the end of a thread");
        return;
    }
    // SAFETY: the page came from `map_wiped_page`; the thread-local word no longer leads to it, and
    // the recorder has forgotten it.
    unsafe { state::unmap_page(state.cast()) };
}

//! Callbacks of the program, run through a trampoline of ours.
//!
//! The trampoline lets calls that the callback makes be recorded, with the call that handed the
//! callback over as their parent, and marks when it ran. It finds the program's function through
//! the user data, in whose place the runtime gets the address of a [`Node`]. In which argument the
//! user data comes depends on the function type, so the trampoline looks for the one that leads to
//! a node: a node names its own address, which no other memory does. What the callback stores in host
//! memory that the device reaches is taken around it ([`track`]).

use core::ffi::c_void;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::memory::Memory;
use super::state::{self, State};
use super::thread::{self, OpenCall, Thread};
use super::track::{self, Around};
use super::{call, recorder};
use crate::archive::event::EventId;
use crate::archive::raw::{MARK_CALLBACK, MARK_CALLBACK_END};
use crate::desc::{ApiDesc, HAS_SLOW_PATH, PayloadDesc, Role, Shape};
use crate::private::Call;

/// A callback that was handed over. Never freed: a runtime may call it again (a graph that is
/// launched again), and nothing says when was the last time.
#[repr(C)]
struct Node {
    /// [`Node::MARK`] and the node's own address, combined.
    mark: u64,
    function: *mut c_void,
    user_data: *mut c_void,
    owner: EventId,
    /// How often it was called.
    runs: AtomicU32,
}

impl Node {
    const MARK: u64 = 0x9e37_79b9_7f4a_7c15;

    /// The node at an address that may be anything.
    fn at(address: usize) -> Option<&'static Node> {
        if address < 4096 || !address.is_multiple_of(align_of::<Node>()) {
            return None;
        }
        let mark = Memory::foreign().read_word(address as u64, 8)?;
        // SAFETY: only a node of ours names its own address so; nodes are leaked boxes.
        (mark == Node::MARK ^ address as u64).then(|| unsafe { &*(address as *const Node) })
    }
}

/// Every function type for callbacks passes at most this many arguments, all of them words.
type AnyCallback = unsafe extern "C-unwind" fn(usize, usize, usize, usize) -> usize;

/// Puts the trampoline and a node in the place of a callback and its user data.
///
/// # Safety
/// `call` was committed on this thread; each pointer is null or leads to a pointer-sized local.
pub(crate) unsafe fn swap(
    _api: &'static ApiDesc,
    call: Call,
    callback: *mut *mut c_void,
    user_data: *mut *mut c_void,
) {
    // SAFETY: null, or the caller's locals.
    let (Some(callback), Some(user_data)) = (unsafe { (callback.as_mut(), user_data.as_mut()) })
    else {
        // Without user data nothing could lead the trampoline to its node.
        return;
    };
    let Some(owner) = call::open_id(call).filter(|_| !callback.is_null()) else { return };
    let (function, user_data_of) = (*callback, *user_data);
    let runs = AtomicU32::new(0);
    let node = Node { mark: 0, function, user_data: user_data_of, owner, runs };
    let node = Box::leak(Box::new(node));
    node.mark = Node::MARK ^ core::ptr::from_ref(node) as u64;
    *callback = trampoline as AnyCallback as *mut c_void;
    *user_data = core::ptr::from_mut(node).cast();
}

/// Copies the struct that a call reads through its parameter `index` to `room`, and puts the
/// trampoline and a node in the place of the callback and the user data in it; `false` if it holds none
/// or cannot be read.
///
/// # Safety
/// As [`swap`]; `room` is writable for the `bytes` bytes of the struct that the parameter's role
/// describes.
pub(crate) unsafe fn swap_inside(
    api: &'static ApiDesc,
    call: Call,
    index: usize,
    address: u64,
    room: *mut u8,
    bytes: usize,
) -> bool {
    let inside = api.params.get(index).and_then(|param| param.role.callback_inside());
    let Some((callback, user_data)) = inside else { return false };
    let mut content = Vec::new();
    if address == 0 || !Memory::of_thread().read(address, bytes, &mut content) {
        return false;
    }
    // SAFETY: the caller's room; the two words are fields of the struct.
    unsafe {
        core::ptr::copy_nonoverlapping(content.as_ptr(), room, bytes);
        let (callback, user_data) = (room.add(callback as usize), room.add(user_data as usize));
        swap(api, call, callback.cast(), user_data.cast());
    }
    true
}

/// Puts the program's callback back into a struct that the runtime has just filled, so that the
/// program does not see ours.
pub(crate) fn restore(memory: &Memory, payload: &PayloadDesc, address: u64) {
    let Shape::Struct(fields) = payload.shape else { return };
    let place = |wanted: fn(&Role) -> bool| {
        fields
            .iter()
            .find(|field| wanted(&field.role))
            .map(|field| address + u64::from(field.offset))
    };
    let callback = place(|role| matches!(role, Role::Callback));
    let user_data = place(|role| matches!(role, Role::UserData));
    let (Some(callback), Some(user_data)) = (callback, user_data) else { return };
    let node = memory.read_word(user_data, 8).and_then(|word| Node::at(word as usize));
    if let Some(node) = node.filter(|_| address != 0) {
        // SAFETY: the successful call has just written this struct.
        unsafe {
            (callback as *mut *mut c_void).write_unaligned(node.function);
            (user_data as *mut *mut c_void).write_unaligned(node.user_data);
        }
    }
}

/// What the thread's state was before the callback; restores it even if the callback throws.
struct Running {
    state: *mut State,
    open: *mut u8,
    frame: usize,
    moved_from: *mut u8,
    open_index: u64,
    flags: u32,
    call: OpenCall,
    parent: Option<EventId>,
    owner: EventId,
    run: u32,
    around: Around,
}

impl Running {
    fn begin(node: &Node) -> Option<Running> {
        let (owner, run) = (node.owner, node.runs.fetch_add(1, Relaxed));
        let joined = catch_unwind(thread::join).ok()?;
        // SAFETY: null, or the calling thread's own page and thread.
        let (state, thread) = unsafe {
            let state = joined.as_mut()?;
            let thread: &mut Thread = &mut *state.thread;
            (state, thread)
        };
        let running = Running {
            state: joined,
            open: state.open,
            frame: state.frame,
            moved_from: state.moved_from,
            open_index: state.open_index,
            flags: state.flags,
            call: core::mem::take(&mut thread.open),
            parent: thread.parent.replace(owner),
            owner,
            run,
            // A panic must not reach the runtime, which called us: then the memory was not looked at.
            around: catch_unwind(AssertUnwindSafe(|| {
                track::before_callback(thread.recorder, owner, node.user_data as u64)
            }))
            .unwrap_or_default(),
        };
        thread.callbacks += 1;
        state.open = core::ptr::null_mut();
        state.moved_from = core::ptr::null_mut();
        state.flags |= HAS_SLOW_PATH;
        call::mark(MARK_CALLBACK, owner.thread.into(), owner.index, &[]);
        Some(running)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if state::current() != self.state {
            // A forked child, or a recording that ended meanwhile.
            return;
        }
        call::mark(MARK_CALLBACK_END, 0, 0, &[]);
        // SAFETY: the calling thread's own page; its thread may be gone with a recording.
        unsafe {
            let Some(thread) = (*self.state).thread.as_mut() else { return };
            let around = self.around.take();
            let (recorder, owner, run) = (thread.recorder, self.owner, self.run);
            let taken = catch_unwind(AssertUnwindSafe(|| {
                track::after_callback(recorder, owner, run, around);
            }));
            if taken.is_err() {
                recorder::fault("what a callback stored could not be taken");
            }
            thread.open = core::mem::take(&mut self.call);
            thread.parent = self.parent;
            thread.callbacks -= 1;
            (*self.state).open = self.open;
            (*self.state).frame = self.frame;
            (*self.state).moved_from = self.moved_from;
            (*self.state).open_index = self.open_index;
            (*self.state).flags = self.flags;
        }
    }
}

unsafe extern "C-unwind" fn trampoline(a: usize, b: usize, c: usize, d: usize) -> usize {
    let mut args = [a, b, c, d];
    let node = args.iter().find_map(|word| Node::at(*word));
    let Some(node) = node else {
        recorder::fault("a callback came without its data");
        return 0;
    };
    for word in &mut args {
        if *word == core::ptr::from_ref(node) as usize {
            *word = node.user_data as usize;
        }
    }
    let _running = Running::begin(node);
    // SAFETY: the program handed this function over for these arguments; words beyond those that it
    // takes do no harm.
    unsafe {
        let function: AnyCallback = core::mem::transmute(node.function);
        function(args[0], args[1], args[2], args[3])
    }
}

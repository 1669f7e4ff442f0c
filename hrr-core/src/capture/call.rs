//! One recorded call: `enter`, `commit`, `leave`, and what happens when `leave` does not come.
//!
//! The short paths are inlined into every wrapper: a function whose parameters are all plain values
//! costs a bounds test, the stores of its arguments and two time stamps. Whatever has content
//! behind pointers, an effect, or a thread that needs more (a callback that is running, a clock
//! that is no counter of the processor) goes to the slow paths, which may lock and allocate.

use core::arch::asm;
use core::sync::atomic::Ordering::{Relaxed, Release};
use core::sync::atomic::{AtomicU8, AtomicU64};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::fields::{Fields, Meta};
use super::interpret::{self, Taking};
use super::ring::SLACK_BYTES;
use super::state::{self, State, stack_pointer, ticks};
use super::thread::{self, Thread};
use super::{custom, recorder, track};
use crate::archive::event::{EventId, Phase};
use crate::archive::raw::{
    FIELD_PACK, FIELD_PARENT, RECORD_HEADER_BYTES, STATE_BEGUN, STATE_DONE, STATE_HAS_TAIL,
    STATE_LEFT, STATE_MARK, STATE_TAIL, TAIL_HEADER_BYTES,
};
use crate::desc::{ApiDesc, HAS_INPUTS, HAS_OUTPUTS, HAS_SLOW_PATH, RetKind};
use crate::private::Call;

/// Fields of more bytes than this go to a blob as a whole.
const FIELDS_BYTES_MAX: usize = 64 << 10;

/// Size of what stands before the name of a mark.
const MARK_HEADER_BYTES: usize = 40;

const fn header_of(bytes: usize, id: u32, state: u8) -> u64 {
    bytes as u64 | (id as u64) << 32 | (state as u64) << 56
}

/// The first word of a record that has begun, of a function without inputs.
pub(super) fn begun(api: &ApiDesc, id: u32) -> u64 {
    let bytes = RECORD_HEADER_BYTES + args_room(api) + api.outs_bytes as usize;
    header_of(bytes, id, STATE_BEGUN)
}

/// Publishes the first word of a record: everything before it in the program's order is whole.
#[inline(always)]
unsafe fn publish(record: *mut u8, header: u64) {
    // SAFETY: the caller's record is 8-aligned room of the thread's chunk.
    unsafe { AtomicU64::from_ptr(record.cast()) }.store(header, Release);
}

/// Publishes the state of a record that was begun.
#[inline(always)]
unsafe fn publish_state(record: *mut u8, state: u8) {
    // SAFETY: as in `publish`; the last byte of the header.
    unsafe { AtomicU8::from_ptr(record.add(7)) }.store(state, Release);
}

#[inline(always)]
pub(crate) fn enter(_api: &'static ApiDesc) -> Call {
    let state = state::current();
    // SAFETY: null, or the calling thread's own page.
    unsafe {
        if state.is_null() || (*state).cur >= (*state).end || !(*state).open.is_null() {
            core::hint::cold_path();
            return Call(call_keeping(enter_kept as *const (), 0, 0) as *mut u8);
        }
        (*state).open = (*state).cur;
        (*state).frame = stack_pointer();
        Call((*state).cur)
    }
}

/// A call inside another, the first of a thread or of a process, or one that needs a new chunk.
#[cold]
#[inline(never)]
fn enter_slow() -> Call {
    let sp = stack_pointer();
    let entered = catch_unwind(|| {
        let state = thread::join();
        // SAFETY: null, or the calling thread's own page, joined to the running recording.
        let Some(state) = (unsafe { state.as_mut() }) else { return Call::NULL };
        if !state.open.is_null() {
            if sp < state.frame {
                // The vendor's library calls its own export: not the program's call.
                return Call::NULL;
            }
            abandon(state);
        }
        if state.cur >= state.end && !next_chunk(state) {
            return Call::NULL;
        }
        state.open = state.cur;
        state.frame = sp;
        Call(state.cur)
    });
    entered.unwrap_or_else(|_| {
        recorder::fault("a fault at the begin of a call");
        Call::NULL
    })
}

/// The open call will never come back: its frame is gone.
fn abandon(state: &mut State) {
    if !state.open.is_null() && is_published(state.open) {
        // SAFETY: a published record of this thread, which is still begun.
        unsafe { publish_state(state.open, STATE_LEFT) };
    }
    state.open = core::ptr::null_mut();
    state.moved_from = core::ptr::null_mut();
}

fn is_published(record: *mut u8) -> bool {
    // SAFETY: room of the thread's chunk.
    unsafe { AtomicU64::from_ptr(record.cast()) }.load(Relaxed) != 0
}

/// Moves the thread to its next chunk.
fn next_chunk(state: &mut State) -> bool {
    // SAFETY: a joined state has a thread, which is this one's own.
    let thread = unsafe { &*state.thread };
    let held = !state.open.is_null() || thread.callbacks > 0;
    let wake = || thread.recorder.wake_helper();
    match thread.ring.next_chunk(state.index, held, thread.recorder.stopped(), &wake) {
        Ok(chunk) => {
            state.cur = chunk.records();
            state.end = chunk.end();
            state.limit = chunk.limit();
            true
        }
        Err(error) => {
            recorder::fault(&error.to_string());
            false
        }
    }
}

#[inline(always)]
fn args_room(api: &ApiDesc) -> usize {
    (api.args_bytes as usize).next_multiple_of(8)
}

/// Calls a slow path from a wrapper without disturbing an integer register that may hold an
/// argument: the wrapper then hands its arguments on as it got them, and needs no room to keep
/// them.
///
/// In: the function in `r11`, its arguments in `r10` and `rax`. Out: its answer in `rax`.
///
/// # Safety
/// Called by the inline assembly of this module, with the stack aligned for a call.
#[unsafe(naked)]
unsafe extern "C" fn keeping_arguments() {
    core::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push r8",
        "push r9",
        "sub rsp, 8",
        "mov rdi, r10",
        "mov rsi, rax",
        "call r11",
        "add rsp, 8",
        "pop r9",
        "pop r8",
        "pop rcx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "ret",
    )
}

/// Calls `function` by [`keeping_arguments`].
///
/// # Safety
/// `function` takes two words and answers one.
#[inline(always)]
unsafe fn call_keeping(function: *const (), first: usize, second: usize) -> usize {
    let answer: usize;
    // SAFETY: the callee keeps everything but what is named here: every vector register is named,
    // in its whole width, since a build for a newer processor may have a struct in one. The stack
    // is aligned, since the block does not say `nostack`.
    unsafe {
        asm!(
            "call {keeping}",
            keeping = sym keeping_arguments,
            inout("r11") function => _,
            inout("r10") first => _,
            inout("rax") second => answer,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
            out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
            out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
            out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
            out("xmm16") _, out("xmm17") _, out("xmm18") _, out("xmm19") _,
            out("xmm20") _, out("xmm21") _, out("xmm22") _, out("xmm23") _,
            out("xmm24") _, out("xmm25") _, out("xmm26") _, out("xmm27") _,
            out("xmm28") _, out("xmm29") _, out("xmm30") _, out("xmm31") _,
            out("k0") _, out("k1") _, out("k2") _, out("k3") _, out("k4") _,
            out("k5") _, out("k6") _, out("k7") _,
            out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
            out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
        );
    }
    answer
}

unsafe extern "C" fn enter_kept(_: usize, _: usize) -> usize {
    enter_slow().0 as usize
}

unsafe extern "C" fn commit_kept(api: &'static ApiDesc, record: *mut u8) -> usize {
    // SAFETY: the obligations of `commit`.
    unsafe { commit_slow(api, record) };
    0
}

/// # Safety
/// `call` came from [`enter`] on this thread, is not null, and its argument block is written.
#[inline(always)]
pub(crate) unsafe fn commit(api: &'static ApiDesc, call: Call) {
    let state = state::current();
    let record = call.0;
    // SAFETY: `enter` answered a record, so there is a state; the record is room of its chunk for
    // everything of fixed size.
    unsafe {
        if (api.flags | (*state).flags) & (HAS_INPUTS | HAS_SLOW_PATH) != 0 {
            core::hint::cold_path();
            let slow = commit_kept as *const ();
            call_keeping(slow, &raw const *api as usize, record as usize);
            return;
        }
        let header = api.header.load(Relaxed);
        record.add(8).cast::<u64>().write(ticks());
        let next = record.add(header as u32 as usize);
        (*state).cur = next;
        (*state).open_index = (*state).index;
        (*state).index += 1;
        publish(record, header);
        prepare(next.wrapping_add(PREPARED_BYTES));
    }
}

/// How far before its use a line of the ring is asked for.
const PREPARED_BYTES: usize = 768;

/// Asks for a line of memory that will soon be written: the helper's core had it last. Past the end
/// of the chunk, or on a processor without the instruction, nothing happens.
#[inline(always)]
fn prepare(at: *const u8) {
    // SAFETY: a prefetch touches nothing and never faults.
    unsafe {
        core::arch::asm!("prefetchw byte ptr [{}]", in(reg) at,
            options(nostack, preserves_flags, readonly));
    }
}

/// Takes what hangs below the arguments, then publishes.
#[inline(never)]
unsafe fn commit_slow(api: &'static ApiDesc, record: *mut u8) {
    // SAFETY: as in `commit`.
    let state = unsafe { &mut *state::current() };
    // SAFETY: a joined state has a thread, which is this one's own.
    let thread = unsafe { &mut *state.thread };
    let id = EventId { thread: thread.ordinal, index: state.index };
    let taken = catch_unwind(AssertUnwindSafe(|| take_inputs(api, record, thread, id)));
    if taken.is_err() {
        recorder::fault("a fault while taking the inputs of a call");
        thread.fields.clear();
    }
    let fixed = RECORD_HEADER_BYTES + args_room(api);
    let bytes = fixed + thread.fields.len() + api.outs_bytes as usize;
    let mut to = record;
    if record as usize + bytes > state.limit as usize {
        // Nothing is published yet: the record begins again in a fresh chunk.
        if !next_chunk(state) {
            // Recording has stopped. The rest of the call finds a record that nobody reads.
            state.open = core::ptr::null_mut();
            return;
        }
        to = state.cur;
        // SAFETY: both are room of chunks of this thread, for the fixed part.
        unsafe { core::ptr::copy_nonoverlapping(record, to, fixed) };
        state.moved_from = record;
        state.open = to;
    }
    // SAFETY: `to` has room for `bytes` bytes before the limit of its chunk.
    unsafe {
        let fields = to.add(fixed);
        core::ptr::copy_nonoverlapping(thread.fields.as_ptr(), fields, thread.fields.len());
        to.add(8).cast::<u64>().write(thread.recorder.now());
        state.cur = to.add(bytes);
        state.open_index = state.index;
        state.index += 1;
        let without_inputs = api.header.load(Relaxed);
        publish(to, without_inputs + thread.fields.len() as u64);
    }
}

fn take_inputs(api: &'static ApiDesc, record: *mut u8, thread: &mut Thread, id: EventId) {
    thread.fields.clear();
    thread.open.clear();
    if let Some(parent) = thread.parent {
        let mut content = [0; 16];
        content[..8].copy_from_slice(&u64::from(parent.thread).to_le_bytes());
        content[8..].copy_from_slice(&parent.index.to_le_bytes());
        let meta = Meta { id: FIELD_PARENT, ..Meta::default() };
        Fields::new(&mut thread.fields, thread.recorder).inline_bytes(meta, &content);
    }
    // SAFETY: the record has the argument block behind its header.
    let args = unsafe { record.add(RECORD_HEADER_BYTES) }.cast_const();
    if api.flags & (HAS_INPUTS | HAS_SLOW_PATH) != 0 {
        interpret::read_before(api, args, thread);
        let mut taking = Taking::new(api, args, thread, id, Phase::Before, 0);
        match api.capture {
            Some(capture) => taking = custom::run(capture, taking),
            None => taking.parameters(),
        }
        track::before_call(&mut taking);
    }
    pack(thread);
}

/// Moves fields that are too many for a chunk to a blob.
fn pack(thread: &mut Thread) {
    if thread.fields.len() <= FIELDS_BYTES_MAX {
        return;
    }
    let all = core::mem::take(&mut thread.fields);
    let meta = Meta { id: FIELD_PACK, ..Meta::default() };
    Fields::new(&mut thread.fields, thread.recorder).blob(meta, &all);
}

/// # Safety
/// `call` was committed on this thread; `word` is what the real call returned, or `wide` leads to it
/// where it is more than a word.
#[inline(always)]
pub(crate) unsafe fn leave(api: &'static ApiDesc, call: Call, word: u64, wide: *const u8) {
    let state = state::current();
    // SAFETY: null (the thread's state went with a recording), or the thread's own page. A record
    // that is open is room of its chunk.
    unsafe {
        if state.is_null()
            || (*state).open != call.0
            || (api.flags | (*state).flags) & (HAS_OUTPUTS | HAS_SLOW_PATH) != 0
        {
            core::hint::cold_path();
            return leave_slow(api, call, word, wide);
        }
        call.0.add(24).cast::<u64>().write(word);
        call.0.add(16).cast::<u64>().write(ticks());
        publish_state(call.0, STATE_DONE);
        (*state).open = core::ptr::null_mut();
    }
}

/// The record that a wrapper began, if it still belongs to this process and thread.
fn open_record(call: Call) -> Option<(&'static mut State, *mut u8)> {
    // SAFETY: null, or the calling thread's own page.
    let state = unsafe { state::current().as_mut() }?;
    let mine = state.open == call.0 || (state.moved_from == call.0 && !call.0.is_null());
    // In a forked child, or after a frame was dropped, the record is not this call's.
    (mine && !state.open.is_null()).then(|| {
        let record = state.open;
        (state, record)
    })
}

#[inline(never)]
unsafe fn leave_slow(api: &'static ApiDesc, call: Call, word: u64, wide: *const u8) {
    let ret = if wide.is_null() { (&raw const word).cast() } else { wide };
    let Some((state, record)) = open_record(call) else { return };
    // SAFETY: a joined state has a thread, which is this one's own.
    let thread = unsafe { &mut *state.thread };
    let id = EventId { thread: thread.ordinal, index: state.open_index };
    // SAFETY: a record of this thread.
    unsafe { record.add(24).cast::<u64>().write(word) };
    let time = thread.recorder.now();
    let taken = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: `ret` leads to the returned value, of the size that the descriptor says.
        unsafe { take_outputs(api, record, thread, id, word, ret) }
    }));
    if taken.is_err() {
        recorder::fault("a fault while taking the outputs of a call");
        thread.fields.clear();
    }
    // SAFETY: a published record of this thread.
    unsafe {
        record.add(16).cast::<u64>().write(time);
        let done = store_outputs(api, state, record, id.index);
        publish_state(record, done);
    }
    state.open = core::ptr::null_mut();
    state.moved_from = core::ptr::null_mut();
}

/// Puts the outputs into the record's room, or into a tail; answers the state of the record.
unsafe fn store_outputs(
    api: &'static ApiDesc,
    state: &mut State,
    record: *mut u8,
    index: u64,
) -> u8 {
    // SAFETY: a joined state has a thread, which is this one's own.
    let thread = unsafe { &mut *state.thread };
    let bytes = thread.fields.len();
    if bytes == 0 {
        return STATE_DONE;
    }
    // SAFETY: the header of a published record says its length, whose last part is the room.
    unsafe {
        let length = AtomicU64::from_ptr(record.cast()).load(Relaxed) as u32 as usize;
        if bytes <= api.outs_bytes as usize {
            let room = record.add(length - api.outs_bytes as usize);
            core::ptr::copy_nonoverlapping(thread.fields.as_ptr(), room, bytes);
            return STATE_DONE;
        }
    }
    let need = TAIL_HEADER_BYTES + bytes;
    if state.cur as usize + need > state.limit as usize && !next_chunk(state) {
        return STATE_DONE;
    }
    let tail = state.cur;
    // SAFETY: `tail` has room before the limit of its chunk.
    unsafe {
        tail.add(8).cast::<u64>().write(index);
        let to = tail.add(TAIL_HEADER_BYTES);
        core::ptr::copy_nonoverlapping(thread.fields.as_ptr(), to, bytes);
        state.cur = tail.add(need);
        publish(tail, header_of(need, 0, STATE_TAIL));
    }
    STATE_DONE | STATE_HAS_TAIL
}

unsafe fn take_outputs(
    api: &'static ApiDesc,
    record: *mut u8,
    thread: &mut Thread,
    id: EventId,
    word: u64,
    ret: *const u8,
) {
    thread.fields.clear();
    if api.flags & (HAS_OUTPUTS | HAS_SLOW_PATH) == 0 {
        return;
    }
    // SAFETY: the record has the argument block behind its header.
    let args = unsafe { record.add(RECORD_HEADER_BYTES) }.cast_const();
    let mut taking = Taking::new(api, args, thread, id, Phase::After, word);
    match api.capture {
        Some(capture) => taking = custom::run(capture, taking),
        None => taking.parameters(),
    }
    if api.ret.bytes > 8 || matches!(api.ret.kind, RetKind::Str) {
        // SAFETY: the caller's obligation.
        unsafe { taking.returned(ret) };
    }
    track::after_call(&mut taking);
    pack(thread);
}

/// The name of a call that is open.
pub(crate) fn open_id(call: Call) -> Option<EventId> {
    let (state, _) = open_record(call)?;
    // SAFETY: a joined state has a thread, which is this one's own.
    let thread = unsafe { &*state.thread }.ordinal;
    Some(EventId { thread, index: state.open_index })
}

/// Stores a mark beside the calls of this thread, if it is recorded.
pub(crate) fn mark(kind: u64, a: u64, b: u64, name: &[u8]) {
    // SAFETY: null, or the calling thread's own page, joined to the running recording.
    let Some(state) = (unsafe { thread::join().as_mut() }) else { return };
    let name = &name[..name.len().min(SLACK_BYTES / 2)];
    let bytes = MARK_HEADER_BYTES + name.len().next_multiple_of(8);
    if state.cur >= state.end && !next_chunk(state) {
        return;
    }
    let record = state.cur;
    // SAFETY: below `end` a chunk has room for the slack, which is more than a mark takes; a
    // joined state has a thread.
    unsafe {
        let time = (*state.thread).recorder.now();
        for (at, word) in [time, kind, a, b].into_iter().enumerate() {
            record.add(8 + at * 8).cast::<u64>().write(word);
        }
        let to = record.add(MARK_HEADER_BYTES);
        core::ptr::copy_nonoverlapping(name.as_ptr(), to, name.len());
        state.cur = record.add(bytes);
        publish(record, header_of(bytes, 0, STATE_MARK));
    }
}

/// Ends the record of a call that an exception, a cancellation or a jump left.
pub(crate) fn left(call: Call) {
    if let Some((state, _)) = open_record(call) {
        abandon(state);
    }
}

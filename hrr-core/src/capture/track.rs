//! What a recording knows of images, kernels, ranges, streams, events and graphs, so that it can
//! tell when device work has become final in host memory.
//!
//! A copy to the host that may run after its call has returned leaves a [`Pending`]. The content is
//! taken inside the wrapper of the first call whose return implies that the copy is done, on the
//! program's own thread. Each stream counts its work; an event stands for a count of every stream
//! that it follows; completing a stream or event completes what it follows. The null stream and
//! blocking streams follow each other. Where this knows less than the runtime (streams that were made
//! before the recording began), it waits for a later call rather than take a content too early.
//!
//! Host memory that kernels reach (pinned, registered, managed) is compared with hashes of its
//! blocks: before a launch that can reach a range, the blocks that changed are a payload; when the
//! last work that reaches it is complete, the blocks that changed since are expectations. While such
//! work runs, what changed may be its own or the program's: a call that launches more, or is about to
//! wait, or asks whether it is done, takes that as seen, and replay tells the two apart. A kernel may
//! be waiting for what the program stored there. The price is one read of the reached ranges at each launch, at
//! each wait and at each completion; a program that asks again and again pays a tenth of its time.
//!
//! A callback of the program may store there as well. The memory that the work of its stream uses, and
//! that its user data leads to, is kept as it was before the callback, if it is not too much, and
//! compared afterwards; what differs is written with the next call. Other memory is left out: other threads may be storing there meanwhile.
//! A callback of a graph belongs to no stream: all memory is looked at if one thread enqueues work.

use core::sync::atomic::Ordering::Relaxed;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::fields::{INLINE_BYTES_MAX, Meta};
use super::graphs::{GraphCopy, Graphs, Launched};
use super::interpret::{Taking, read_rect, rect_bytes, value_at};
use super::memory::Memory;
use super::recorder::Recorder;
use crate::archive::blob_hash;
use crate::archive::event::{
    AbsentReason, BlobHash, Body, EventId, FIELD_CALLBACK_STORE, FIELD_CHECK, FIELD_HOST_SEEN,
    FIELD_HOST_WRITE, Phase,
};
use crate::code::{self, Identity, Image};
use crate::desc::{Class, Effect, ParamDesc, Rect, RetKind, Role, Scope, Side, Space};
use crate::ranges::{Ranges, differing};

/// Reachable host memory is compared in blocks of this size: small, since what changed in the same
/// block by another hand is taken with it.
const BLOCK_BYTES: usize = 256;
/// A program that asks again and again whether work is done has its host memory looked at for one
/// part in so many of its time.
const LOOK_SHARE: u32 = 10;

/// So much reachable memory is kept and compared around each callback, at most.
const CALLBACK_BYTES_MAX: u64 = 16 << 20;
/// So much of what a callback's user data points at is looked through for addresses.
const USER_DATA_BYTES: usize = 64;
/// Stores of a callback are one if so many bytes between them are as they were, at most: a field takes
/// as many.
const STORE_GAP_BYTES: usize = 16;

/// The host side of a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Copy {
    pub(crate) id: u16,
    pub(crate) element: u32,
    pub(crate) address: u64,
    pub(crate) rect: Rect,
    pub(crate) side: Side,
}

/// A stream, as a key: the null stream has one of its own, per-thread streams one per thread.
type Stream = u64;
/// How much of each stream's work something follows.
pub(crate) type Follows = HashMap<Stream, u64>;

#[derive(Default, Debug)]
struct StreamState {
    follows: Follows,
    capture: Option<u64>,
    /// Where the reachable ranges start that its work has used.
    uses: BTreeSet<u64>,
}

#[derive(Clone, Default, Debug)]
struct EventState {
    follows: Follows,
    capture: Option<u64>,
}

/// Host memory that becomes final when a stream has done this much.
#[derive(Debug)]
pub(crate) struct Pending {
    stream: Stream,
    count: u64,
    owner: EventId,
    since: Instant,
    what: What,
}

impl Pending {
    fn new(stream: Stream, count: u64, owner: EventId, what: What) -> Pending {
        Pending { stream, count, owner, since: Instant::now(), what }
    }
}

#[derive(Debug)]
enum What {
    /// The destination of a copy.
    Copy(Copy),
    /// A reachable range that the work may write to.
    Range(u64),
}

#[derive(Debug)]
struct Tracked {
    space: Space,
    /// Hashes of the blocks when they were last taken; empty: never.
    blocks: Vec<u64>,
    /// Hashes of the blocks when they were last looked at, since they were taken; empty: not since.
    looked: Vec<u64>,
}

impl Tracked {
    fn new(space: Space) -> Tracked {
        Tracked { space, blocks: Vec::new(), looked: Vec::new() }
    }
}

/// Compares blocks with their hashes, which become those of what they hold now, and answers the runs
/// of those that changed.
fn renew(known: &mut [u64], start: u64, content: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let mut runs: Vec<(u64, Vec<u8>)> = Vec::new();
    let mut last_changed = None;
    for (at, (known, block)) in known.iter_mut().zip(content.chunks(BLOCK_BYTES)).enumerate() {
        let hash = blob_hash(block) as u64;
        if core::mem::replace(known, hash) == hash {
            continue;
        }
        match runs.last_mut() {
            Some((_, run)) if last_changed == Some(at.wrapping_sub(1)) => {
                run.extend_from_slice(block);
            }
            _ => runs.push((start + (at * BLOCK_BYTES) as u64, block.to_vec())),
        }
        last_changed = Some(at);
    }
    runs
}

/// What is known.
#[derive(Default)]
pub(crate) struct Tracker {
    ranges: Ranges<Tracked>,
    /// Other addresses of reachable ranges, with their bytes and where the ranges start.
    aliases: BTreeMap<u64, (u64, u64)>,
    images: HashMap<u64, BlobHash>,
    parsed: HashMap<BlobHash, Option<Arc<Image>>>,
    kernels: HashMap<u64, Identity>,
    symbols: HashMap<u64, Identity>,
    streams: HashMap<Stream, StreamState>,
    /// The streams that wait for the null stream, and it for them.
    blocking: BTreeSet<Stream>,
    events: HashMap<u64, EventState>,
    last_capture: u64,
    graphs: Graphs,
    pending: Vec<Pending>,
    /// When reachable memory was last looked at for a call that does not wait, and for how long.
    last_look: Option<(Instant, Duration)>,
    /// What callbacks stored, as far as no call has written it yet.
    callback_stores: Vec<CallbackStore>,
    /// The streams of callbacks that have not run yet, by the calls that handed them over.
    callback_streams: HashMap<EventId, Stream>,
    /// Threads that enqueued work.
    threads: BTreeSet<u32>,
}

/// What one run of a callback stored in one place.
#[derive(Debug)]
struct CallbackStore {
    owner: EventId,
    run: u32,
    address: u64,
    bytes: u64,
    body: Body,
}

/// Memory before a callback: where, and what; `None`: it is too much to be kept, or whose it is cannot
/// be told.
pub(crate) type Around = Option<Vec<(u64, Vec<u8>)>>;

impl Tracker {
    pub(crate) fn image(&self, handle: u64) -> Option<BlobHash> {
        self.images.get(&handle).copied()
    }

    pub(crate) fn kernel(&self, handle: u64) -> Option<Identity> {
        self.kernels.get(&handle).cloned()
    }

    pub(crate) fn symbol(&self, address: u64) -> Option<Identity> {
        self.symbols.get(&address).cloned()
    }

    pub(crate) fn define_symbol(&mut self, address: u64, identity: Identity) {
        self.symbols.insert(address, identity);
    }

    pub(crate) fn define_kernel(&mut self, handle: u64, identity: Identity) {
        self.kernels.insert(handle, identity);
    }

    /// Remembers the image behind a handle.
    pub(crate) fn define_image(&mut self, handle: u64, hash: BlobHash) {
        self.images.insert(handle, hash);
    }

    /// Describes an image that a load hands over; the parser sees it once.
    pub(crate) fn add_image(&mut self, content: &[u8]) -> BlobHash {
        let hash = blob_hash(content);
        self.parsed.entry(hash).or_insert_with(|| {
            let image = (code::parser()?.parse)(content).ok()?;
            Some(Arc::new(image))
        });
        hash
    }

    /// What is inside an image.
    pub(crate) fn parsed(recorder: &Recorder, hash: BlobHash) -> Option<Arc<Image>> {
        recorder.tracker().parsed.get(&hash).cloned().flatten()
    }

    pub(crate) fn add_range(&mut self, start: u64, bytes: u64, space: Space) {
        if start != 0 {
            self.ranges.insert(start, bytes, Tracked::new(space));
        }
    }

    /// Enters a part of an allocation, or memory that the program did not allocate.
    pub(crate) fn add_part(&mut self, start: u64, bytes: u64) {
        let inside = self.ranges.find(start).is_some_and(|(from, size, _)| {
            start.checked_add(bytes).is_some_and(|end| end <= from + size)
        });
        if !inside {
            self.add_range(start, bytes, Space::Device);
        }
    }

    pub(crate) fn space_of(&self, address: u64) -> Option<Space> {
        self.ranges.find(address).map(|(_, _, tracked)| tracked.space)
    }

    /// Adds the reachable ranges into which a word of the value points, at any alignment.
    pub(crate) fn note_words(&self, reached: &mut Vec<u64>, value: &[u8]) {
        if self.reachable().next().is_none() {
            return;
        }
        for word in value.windows(8) {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(word);
            self.note_address(reached, u64::from_le_bytes(bytes));
        }
    }

    /// The device has another address for the rest of a reachable range.
    pub(crate) fn add_alias(&mut self, alias: u64, address: u64) {
        let Some((start, bytes, tracked)) = self.ranges.find(address) else { return };
        if alias != address && tracked.space != Space::Device {
            self.aliases.insert(alias, (start + bytes - address, start));
        }
    }

    /// The address by which the host knows what the device knows by this one.
    fn unaliased(&self, address: u64) -> u64 {
        match self.aliases.range(..=address).next_back() {
            Some((alias, (bytes, start))) if address - alias < *bytes => *start,
            _ => address,
        }
    }

    fn note_address(&self, reached: &mut Vec<u64>, address: u64) {
        let address = self.unaliased(address);
        let Some((start, _, tracked)) = self.ranges.find(address) else { return };
        if tracked.space != Space::Device && !reached.contains(&start) {
            reached.push(start);
        }
    }

    fn reachable(&self) -> impl Iterator<Item = u64> {
        self.ranges
            .iter()
            .filter(|(_, _, tracked)| tracked.space != Space::Device)
            .map(|(start, ..)| start)
    }

    /// Reads a reachable range and answers the runs of blocks that changed since it was last taken.
    fn changes(&mut self, memory: &Memory, start: u64) -> Vec<(u64, Vec<u8>)> {
        let Some((_, bytes, tracked)) = self.ranges.find_mut(start) else { return Vec::new() };
        let mut content = Vec::new();
        if !memory.read(start, bytes as usize, &mut content) {
            return Vec::new();
        }
        tracked.looked.clear();
        if tracked.blocks.is_empty() {
            let hashes = content.chunks(BLOCK_BYTES).map(|block| blob_hash(block) as u64);
            tracked.blocks.extend(hashes);
            return vec![(start, content)];
        }
        renew(&mut tracked.blocks, start, &content)
    }

    /// Reads the blocks of a reachable range in which an address range lies, and answers the runs of
    /// those that changed since they were last taken or looked at; they are not taken.
    fn look(&mut self, memory: &Memory, from: u64, end: u64) -> Vec<(u64, Vec<u8>)> {
        let Some((start, bytes, tracked)) = self.ranges.find_mut(from) else { return Vec::new() };
        let first = (from - start) as usize / BLOCK_BYTES;
        let end = (end.min(start + bytes) - start) as usize;
        let end = end.next_multiple_of(BLOCK_BYTES).min(bytes as usize);
        let from = start + (first * BLOCK_BYTES) as u64;
        let mut content = Vec::new();
        if tracked.blocks.is_empty() || !memory.read(from, end - first * BLOCK_BYTES, &mut content)
        {
            return Vec::new();
        }
        if tracked.looked.is_empty() {
            tracked.looked.clone_from(&tracked.blocks);
        }
        renew(&mut tracked.looked[first..], from, &content)
    }

    /// What earlier work may write where a copy reads tracked host memory: a range of it that kernels
    /// reach, and since when; or, without one, an earlier copy that covers all of it.
    pub(crate) fn earlier_writer(&self, copy: &Copy) -> Option<Option<Instant>> {
        let (from, end) = span(copy);
        let (start, _, tracked) = self.ranges.find(from)?;
        if tracked.space == Space::Device || from == end {
            return None;
        }
        let running = self.pending.iter().filter_map(|pending| match &pending.what {
            What::Range(range) if *range == start => Some(pending.since),
            What::Range(_) | What::Copy(_) => None,
        });
        if let Some(since) = running.min() {
            return Some(Some(since));
        }
        let covered = self.pending.iter().any(|pending| match &pending.what {
            What::Copy(older) => covers(older, copy),
            What::Range(_) => false,
        });
        covered.then_some(None)
    }

    /// The reachable ranges that work may be writing to, and since when.
    fn running(&self) -> BTreeMap<u64, Instant> {
        let mut ranges = BTreeMap::new();
        for pending in &self.pending {
            if let What::Range(start) = pending.what {
                let since = ranges.entry(start).or_insert(pending.since);
                *since = pending.since.min(*since);
            }
        }
        ranges
    }

    fn stream(&mut self, stream: Stream) -> &mut StreamState {
        self.streams.entry(stream).or_default()
    }

    /// Before work of the null stream or of a blocking stream: it waits for the other's.
    fn wait_for_null_stream(&mut self, stream: Stream) {
        let others: Vec<Stream> = match stream {
            0 => self.blocking.iter().copied().collect(),
            own if self.blocking.contains(&own) => vec![0],
            _ => return,
        };
        for other in others {
            let follows = self.streams.get(&other).map(|state| state.follows.clone());
            merge(&mut self.stream(stream).follows, follows.unwrap_or_default());
        }
    }

    /// What is done when the work of a stream is: waiting for the null stream is work of it.
    fn work_of(&mut self, stream: Stream) -> Follows {
        if stream == 0 {
            self.wait_for_null_stream(stream);
        }
        self.streams.get(&stream).map(|state| state.follows.clone()).unwrap_or_default()
    }

    /// Counts one more piece of work of a stream.
    fn advance(&mut self, stream: Stream) -> u64 {
        self.wait_for_null_stream(stream);
        let count = self.stream(stream).follows.entry(stream).or_default();
        *count += 1;
        *count
    }

    /// Adds a destination that becomes final later. One that it covers, of the same stream, has no
    /// check of its own; one of another stream, or one that it covers in part, loses its content.
    fn add_pending(&mut self, pending: Pending, lost: &mut Vec<(Pending, AbsentReason)>) {
        if let What::Copy(copy) = &pending.what {
            let mut kept = Vec::with_capacity(self.pending.len() + 1);
            for old in self.pending.drain(..) {
                let What::Copy(older) = &old.what else {
                    kept.push(old);
                    continue;
                };
                if !overlap(older, copy) {
                    kept.push(old);
                } else if old.stream != pending.stream || !covers(copy, older) {
                    lost.push((old, AbsentReason::Overwritten));
                }
            }
            self.pending = kept;
        }
        // Of one stream the last work counts: a program that never waits launches for ever.
        let same = self.pending.iter_mut().find(|old| match (&old.what, &pending.what) {
            (What::Range(old_start), What::Range(start)) => {
                old_start == start && old.stream == pending.stream
            }
            _ => false,
        });
        match same {
            Some(old) => *old = Pending { since: old.since, ..pending },
            None => self.pending.push(pending),
        }
    }

    /// Takes out the destinations that a copy of the same stream, which is about to be made, writes
    /// anew: their content may be either copy's from now on.
    fn supersede(&mut self, stream: Stream, copy: &Copy) -> Vec<Pending> {
        let anew = |pending: &Pending| match &pending.what {
            What::Copy(older) => {
                pending.stream == stream && overlap(older, copy) && covers(copy, older)
            }
            What::Range(_) => false,
        };
        self.pending.extract_if(.., |pending| anew(pending)).collect()
    }

    /// Takes out the destinations that are final before a copy, which is about to be made, writes them
    /// anew: no call lies between, in which their content could be taken.
    fn supersede_done(&mut self, follows: &Follows, copy: &Copy) -> Vec<Pending> {
        let anew = |pending: &Pending| match &pending.what {
            What::Copy(older) => {
                let done = follows.get(&pending.stream).is_some_and(|n| pending.count <= *n);
                done && overlap(older, copy) && covers(copy, older)
            }
            What::Range(_) => false,
        };
        self.pending.extract_if(.., |pending| anew(pending)).collect()
    }

    /// Takes out what is final once `follows` is done. A range that other work still reaches is final
    /// when that is done.
    fn complete(&mut self, follows: &Follows) -> Vec<Pending> {
        let done = |pending: &Pending| {
            follows.get(&pending.stream).is_some_and(|count| pending.count <= *count)
        };
        let mut over: Vec<Pending> = self.pending.extract_if(.., |pending| done(pending)).collect();
        let running = self.running();
        over.retain(|pending| match &pending.what {
            What::Range(start) => !running.contains_key(start),
            What::Copy(_) => true,
        });
        over
    }

    /// Everything that was enqueued so far.
    fn all_work(&self) -> Follows {
        let own = |(stream, state): (&Stream, &StreamState)| {
            state.follows.get(stream).map(|count| (*stream, *count))
        };
        self.streams.iter().filter_map(own).collect()
    }

    /// Forgets a handle of any kind.
    fn destroy(&mut self, handle: u64) {
        if let Some(state) = self.streams.remove(&handle)
            && let Some(count) = state.follows.get(&handle)
        {
            // Others may follow its work still: a stream that gets its handle counts on from there.
            let follows = Follows::from([(handle, *count)]);
            self.streams.insert(handle, StreamState { follows, ..StreamState::default() });
        }
        self.blocking.remove(&handle);
        self.events.remove(&handle);
        self.graphs.destroy(handle);
        self.images.remove(&handle);
        self.kernels.remove(&handle);
    }

    /// Ends an allocation; what was still to come into it is lost.
    fn free(&mut self, start: u64, lost: &mut Vec<(Pending, AbsentReason)>) {
        let Some((bytes, _)) = self.ranges.remove(start) else { return };
        self.aliases.retain(|_, (_, of)| *of != start);
        let inside = |pending: &Pending| match &pending.what {
            What::Copy(copy) => copy.address >= start && copy.address - start < bytes,
            What::Range(range) => *range == start,
        };
        let gone = self.pending.extract_if(.., |pending| inside(pending));
        lost.extend(
            gone.filter(|pending| matches!(pending.what, What::Copy(_)))
                .map(|pending| (pending, AbsentReason::Freed)),
        );
    }
}

/// What follows both.
fn merge(follows: &mut Follows, more: Follows) {
    for (stream, count) in more {
        let known = follows.entry(stream).or_default();
        *known = count.max(*known);
    }
}

fn span(copy: &Copy) -> (u64, u64) {
    let rect = &copy.rect;
    let start = copy.address.saturating_add(rect.offset);
    let rows = rect.pitch.saturating_mul(rect.height.saturating_sub(1));
    let slices = rect.slice.saturating_mul(rect.depth.saturating_sub(1));
    (start, start.saturating_add(rows).saturating_add(slices).saturating_add(rect.width))
}

fn overlap(a: &Copy, b: &Copy) -> bool {
    let ((a_start, a_end), (b_start, b_end)) = (span(a), span(b));
    a_start < b_end && b_start < a_end
}

/// Whether every byte of `older` is a byte of `newer`.
fn covers(newer: &Copy, older: &Copy) -> bool {
    let dense = newer.rect.pitch == newer.rect.width || newer.rect.height <= 1;
    let ((n_start, n_end), (o_start, o_end)) = (span(newer), span(older));
    let same = newer.address == older.address && newer.rect == older.rect;
    same || (dense && newer.rect.depth <= 1 && n_start <= o_start && o_end <= n_end)
}

/// The key of a stream handle. 0 and 1 both name the null stream, 2 the calling thread's own: these
/// are the values that such runtimes reserve.
fn stream_key(handle: u64, thread: u32) -> Stream {
    match handle {
        1 => 0,
        2 => u64::MAX - u64::from(thread),
        other => other,
    }
}

/// Reads the handle that the call wrote through a parameter.
fn written(taking: &Taking<'_>, scope: &Scope<'_>, index: u16) -> Option<u64> {
    let address = value_at(scope, index);
    (address != 0).then(|| taking.memory.read_word(address, 8)).flatten()
}

/// Before a callback of the program: what the memory holds that it may store in.
pub(crate) fn before_callback(recorder: &Recorder, owner: EventId, user_data: u64) -> Around {
    let memory = Memory::foreign();
    let mut tracker = recorder.tracker();
    let mut uses = match tracker.callback_streams.remove(&owner) {
        Some(stream) => tracker.streams.get(&stream).map(|s| s.uses.clone()).unwrap_or_default(),
        None if tracker.threads.len() <= 1 => tracker.reachable().collect(),
        None => return None,
    };
    let mut behind = user_data.to_le_bytes().to_vec();
    memory.read(user_data, USER_DATA_BYTES, &mut behind);
    let mut reached = Vec::new();
    for word in behind.chunks_exact(8) {
        tracker.note_address(&mut reached, u64::from_le_bytes(word.try_into().unwrap_or_default()));
    }
    uses.extend(reached);
    let ranges = uses.into_iter().filter_map(|start| {
        let (start, bytes, known) = tracker.ranges.find(start)?;
        (known.space != Space::Device).then_some((start, bytes))
    });
    let ranges: Vec<(u64, u64)> = ranges.collect();
    if ranges.iter().map(|(_, bytes)| bytes).sum::<u64>() > CALLBACK_BYTES_MAX {
        return None;
    }
    let mut around = Vec::new();
    for (start, bytes) in ranges {
        let mut content = Vec::new();
        if memory.read(start, bytes as usize, &mut content) {
            around.push((start, content));
        }
    }
    Some(around)
}

/// After it: what it stored there, on its `run`-th run.
pub(crate) fn after_callback(recorder: &Recorder, owner: EventId, run: u32, around: Around) {
    let Some(around) = around else {
        let body = Body::Absent(AbsentReason::RecorderLimit);
        let store = CallbackStore { owner, run, address: 0, bytes: 0, body };
        recorder.tracker().callback_stores.push(store);
        recorder.callbacks_stored.store(true, Relaxed);
        return;
    };
    let memory = Memory::foreign();
    let mut found = Vec::new();
    for (start, before) in around {
        let mut after = Vec::new();
        // What the callback freed is of no interest any more.
        if !memory.read(start, before.len(), &mut after) {
            continue;
        }
        let mut runs = differing(&before, &after);
        runs.dedup_by(|next, last| {
            let near = next.start - last.end <= STORE_GAP_BYTES;
            if near {
                last.end = next.end;
            }
            near
        });
        let stored = |run: std::ops::Range<usize>| (start + run.start as u64, after[run].to_vec());
        found.extend(runs.into_iter().map(stored));
    }
    for (address, content) in found {
        let body = match content.len() {
            ..=INLINE_BYTES_MAX => Some(Body::Bytes(Arc::from(content.as_slice()))),
            _ => recorder.blob(&content),
        };
        let body = body.unwrap_or(Body::Absent(AbsentReason::RecorderLimit));
        let store = CallbackStore { owner, run, address, bytes: content.len() as u64, body };
        recorder.tracker().callback_stores.push(store);
        // Under no lock: who reads it without the store finds it with the next call.
        recorder.callbacks_stored.store(true, Relaxed);
    }
}

/// Writes what callbacks stored since the last call.
fn take_callback_stores(taking: &mut Taking<'_>) {
    if !taking.recorder.callbacks_stored.swap(false, Relaxed) {
        return;
    }
    let stores = core::mem::take(&mut taking.recorder.tracker().callback_stores);
    for CallbackStore { owner, run, address, bytes, body } in stores {
        let phase = taking.phase;
        let owner = Some((owner, 0));
        let meta = Meta { id: FIELD_CALLBACK_STORE, depth: 0, phase, element: run, address, owner };
        let recorded = if matches!(body, Body::Absent(_)) { 0 } else { bytes };
        taking.fields().field(meta, bytes, recorded, body);
    }
}

/// Before the real call: what it waits for, and the content of host memory that its device work can
/// reach.
pub(crate) fn before_call(taking: &mut Taking<'_>) {
    let effects = taking.api.effects;
    take_callback_stores(taking);
    note_completions(taking);
    look_at_running(taking);
    supersede_waited_for(taking);
    let launches = effects.iter().any(|effect| {
        matches!(effect, Effect::Launches | Effect::LaunchesGraph { .. } | Effect::Enqueues { .. })
    });
    if !launches {
        return;
    }
    let thread = taking.id.thread;
    taking.with_scope(|taking, scope| {
        let mut tracker = taking.recorder.tracker();
        let mut reached = core::mem::take(&mut taking.thread.open.reached);
        let mut sources = Vec::new();
        let mut superseded = Vec::new();
        for effect in effects {
            match effect {
                Effect::Launches if taking.thread.open.unknown_args => {
                    reached.extend(tracker.reachable());
                }
                Effect::LaunchesGraph { exec, .. } => {
                    reached.extend(tracker.reachable());
                    sources.push(value_at(scope, *exec));
                }
                Effect::Enqueues { stream } => {
                    let stream = stream_key(value_at(scope, *stream), thread);
                    let state = tracker.streams.get(&stream);
                    if state.is_some_and(|state| state.capture.is_some()) {
                        // Captured work runs at the launches of its graph.
                        taking.thread.open.capturing = true;
                        continue;
                    }
                    if scope.params.iter().any(|param| matches!(param.role, Role::Callback)) {
                        // It may run before the call returns.
                        tracker.callback_streams.insert(taking.id, stream);
                    }
                    let copies = &taking.thread.open.copies;
                    for copy in copies.iter().filter(|copy| copy.side == Side::Destination) {
                        superseded.append(&mut tracker.supersede(stream, copy));
                    }
                }
                _ => {}
            }
        }
        for param in scope.params.iter().enumerate() {
            if let (index, Role::DevicePointer { frees: false }) = (param.0, &param.1.role) {
                tracker.note_address(&mut reached, value_at(scope, index as u16));
            }
        }
        drop(tracker);
        taking.thread.open.superseded.append(&mut superseded);
        reached.sort_unstable();
        reached.dedup();
        if !taking.thread.open.capturing {
            take_changes(taking, &reached);
            for exec in sources {
                take_sources(taking, exec);
            }
        }
        taking.thread.open.reached = reached;
    });
}

/// Notes the work that is done when the call returns success.
fn note_completions(taking: &mut Taking<'_>) {
    let thread = taking.id.thread;
    let mut completes = core::mem::take(&mut taking.thread.open.completes);
    taking.with_scope(|taking, scope| {
        let of_stream = |stream: Stream| taking.recorder.tracker().work_of(stream);
        for effect in taking.api.effects {
            let follows = match effect {
                Effect::CompletesDevice | Effect::ResetsDevice => {
                    taking.recorder.tracker().all_work()
                }
                Effect::CompletesStream { stream } => {
                    of_stream(stream_key(value_at(scope, *stream), thread))
                }
                // A copy within the device may return before it is done.
                Effect::CompletesNullStream if taking.thread.open.copies.is_empty() => continue,
                Effect::CompletesNullStream => of_stream(0),
                Effect::CompletesEvent { event } => {
                    let tracker = taking.recorder.tracker();
                    let event = tracker.events.get(&value_at(scope, *event));
                    event.map(|event| event.follows.clone()).unwrap_or_default()
                }
                Effect::MakesStream { .. }
                | Effect::Enqueues { .. }
                | Effect::Launches
                | Effect::RecordsEvent { .. }
                | Effect::WaitsEvent { .. }
                | Effect::BeginsCapture { .. }
                | Effect::EndsCapture { .. }
                | Effect::AddsToGraph { .. }
                | Effect::SetsNode { .. }
                | Effect::EnablesNode { .. }
                | Effect::ClonesGraph { .. }
                | Effect::Instantiates { .. }
                | Effect::UpdatesExec { .. }
                | Effect::LaunchesGraph { .. }
                | Effect::DefinesKernel { .. }
                | Effect::ExportsMemory
                | Effect::PeeksLastError
                | Effect::TakesLastError => continue,
            };
            merge(&mut completes, follows);
        }
    });
    taking.thread.open.completes = completes;
}

/// A copy that waits for work writes the places anew that this work wrote.
fn supersede_waited_for(taking: &mut Taking<'_>) {
    if !taking.api.effects.contains(&Effect::CompletesNullStream) {
        return;
    }
    let mut tracker = taking.recorder.tracker();
    let open = &mut taking.thread.open;
    for copy in open.copies.iter().filter(|copy| copy.side == Side::Destination) {
        open.superseded.append(&mut tracker.supersede_done(&open.completes, copy));
    }
}

/// Takes what changed in memory that running work reaches, if the call waits for work or asks for it:
/// the program may have stored there what the work waits for.
fn look_at_running(taking: &mut Taking<'_>) {
    let asks = matches!(taking.api.class, Class::Query { .. });
    let waits = |effect: &Effect| effect.waits() || *effect == Effect::ResetsDevice;
    let waits = taking.api.effects.iter().any(waits);
    if !asks && !waits {
        return;
    }
    let memory = taking.memory;
    let mut tracker = taking.recorder.tracker();
    let running = tracker.running();
    let began = Instant::now();
    let too_soon = tracker.last_look.is_some_and(|(at, took)| began - at < took * LOOK_SHARE);
    if running.is_empty() || (asks && too_soon) {
        return;
    }
    let mut seen = Vec::new();
    for (start, since) in running {
        seen.push((since, tracker.look(&memory, start, u64::MAX)));
    }
    if asks {
        tracker.last_look = Some((Instant::now(), began.elapsed()));
    }
    drop(tracker);
    for (since, runs) in seen {
        put_seen(taking, since, runs);
    }
}

/// Takes what changed where a copy reads memory that running work reaches.
pub(crate) fn look_at_source(taking: &mut Taking<'_>, copy: &Copy, since: Instant) {
    let (memory, (from, end)) = (taking.memory, span(copy));
    let runs = taking.recorder.tracker().look(&memory, from, end);
    put_seen(taking, since, runs);
}

fn put_seen(taking: &mut Taking<'_>, since: Instant, runs: Vec<(u64, Vec<u8>)>) {
    let age_ms = u32::try_from(since.elapsed().as_millis()).unwrap_or(u32::MAX);
    for (address, content) in runs {
        let meta = Meta { id: FIELD_HOST_SEEN, element: age_ms, address, ..Meta::default() };
        taking.fields().content(meta, content.len() as u64, &content);
    }
}

/// Takes what changed in reachable ranges before a launch.
fn take_changes(taking: &mut Taking<'_>, reached: &[u64]) {
    let running = taking.recorder.tracker().running();
    for start in reached {
        let memory = taking.memory;
        if let Some(since) = running.get(start) {
            let runs = taking.recorder.tracker().look(&memory, *start, u64::MAX);
            put_seen(taking, *since, runs);
            continue;
        }
        let runs = taking.recorder.tracker().changes(&memory, *start);
        for (address, content) in runs {
            let meta = Meta { id: FIELD_HOST_WRITE, address, ..Meta::default() };
            taking.fields().content(meta, content.len() as u64, &content);
        }
    }
}

/// Takes the sources of a graph's copies, as they are at this launch.
fn take_sources(taking: &mut Taking<'_>, exec: u64) {
    let launched = taking.recorder.tracker().graphs.launched(exec);
    for Launched { copy: of, .. } in launched {
        if of.copy.side != Side::Source {
            continue;
        }
        // What kernels reach has been looked at for this launch; the other is a copy's.
        if taking.recorder.tracker().earlier_writer(&of.copy).is_some() {
            continue;
        }
        let mut content = Vec::new();
        let meta = Meta {
            id: FIELD_HOST_WRITE,
            element: of.copy.element,
            address: of.copy.address,
            owner: Some((of.owner, of.copy.id)),
            ..Meta::default()
        };
        if !read_rect(&taking.memory, of.copy.address, &of.copy.rect, &mut content) {
            let total = rect_bytes(&of.copy.rect).unwrap_or(0);
            taking.fields().absent(meta, total, AbsentReason::Unreadable);
            continue;
        }
        if !taking.recorder.tracker().graphs.taken(&of, blob_hash(&content)) {
            continue;
        }
        taking.fields().content(meta, content.len() as u64, &content);
    }
}

/// After the real call: what it did to the order of work, and what became final by it.
pub(crate) fn after_call(taking: &mut Taking<'_>) {
    take_callback_stores(taking);
    let superseded = core::mem::take(&mut taking.thread.open.superseded);
    if !taking.succeeded {
        taking.recorder.tracker().pending.extend(superseded);
        return;
    }
    let not_ready = matches!(taking.api.ret.kind, RetKind::Status { .. }) && taking.status() != 0;
    taking.with_scope(|taking, scope| {
        let mut lost = Vec::new();
        define_handles(taking, scope);
        // Held until the contents are taken: another thread that waits for the same work may write
        // to these places as soon as its own call is over.
        let recorder = taking.recorder;
        let mut tracker = recorder.tracker();
        for effect in taking.api.effects {
            start_work(&mut tracker, taking, scope, effect, &mut lost);
        }
        if !not_ready {
            complete_own(&tracker, taking, scope);
            for pending in tracker.complete(&taking.thread.open.completes) {
                take_final(&mut tracker, taking, &pending);
            }
        }
        for (index, param) in scope.params.iter().enumerate() {
            let value = value_at(scope, index as u16);
            match param.role {
                Role::InHandle { destroys: true, .. } => tracker.destroy(value),
                Role::DevicePointer { frees: true } | Role::UnregistersHost => {
                    tracker.free(value, &mut lost);
                }
                _ => {}
            }
        }
        if taking.api.effects.contains(&Effect::ResetsDevice) {
            let gone = core::mem::take(&mut tracker.pending);
            lost.extend(gone.into_iter().map(|pending| (pending, AbsentReason::Freed)));
            let kept = Tracker {
                images: core::mem::take(&mut tracker.images),
                parsed: core::mem::take(&mut tracker.parsed),
                symbols: core::mem::take(&mut tracker.symbols),
                ..Tracker::default()
            };
            *tracker = kept;
        }
        drop(tracker);
        for (pending, reason) in lost {
            if let What::Copy(copy) = &pending.what {
                let meta = check_meta(&pending, copy.address);
                let total = rect_bytes(&copy.rect).unwrap_or(0);
                taking.fields().absent(meta, total, reason);
            }
        }
    });
    taking.thread.open.reached.clear();
    taking.thread.open.capturing = false;
}

/// A call that waits for the stream on which it has just put work has waited for that too.
fn complete_own(tracker: &Tracker, taking: &mut Taking<'_>, scope: &Scope<'_>) {
    let effects = taking.api.effects;
    for effect in effects {
        let Effect::CompletesStream { stream } = effect else { continue };
        if !effects.contains(&Effect::Enqueues { stream: *stream }) {
            continue;
        }
        let key = stream_key(value_at(scope, *stream), taking.id.thread);
        if let Some(state) = tracker.streams.get(&key) {
            merge(&mut taking.thread.open.completes, state.follows.clone());
        }
    }
}

/// Remembers images and kernels under the handles that the call made.
fn define_handles(taking: &mut Taking<'_>, scope: &Scope<'_>) {
    if let Some(hash) = taking.thread.open.image.take() {
        let out =
            scope.params.iter().position(|param| matches!(param.role, Role::OutHandle { .. }));
        let handle = match (out, taking.api.ret.kind) {
            (Some(index), _) => written(taking, scope, index as u16),
            (None, RetKind::Handle(_)) => Some(taking.ret),
            (None, _) => None,
        };
        if let Some(handle) = handle {
            taking.recorder.tracker().define_image(handle, hash);
        }
    }
    for effect in taking.api.effects {
        if let Effect::DefinesKernel { function, image, name } = effect {
            let handle = written(taking, scope, *function);
            let image = taking.recorder.tracker().image(value_at(scope, *image));
            let (mut text, place) = (Vec::new(), value_at(scope, *name));
            let read = place != 0 && taking.memory.read_string(place, None, &mut text);
            if let (Some(handle), Some(image), true, Ok(name)) =
                (handle, image, read, String::from_utf8(text))
            {
                taking.recorder.tracker().define_kernel(handle, Identity { image, name });
            }
        }
    }
}

/// The effects that add work or order it.
fn start_work(
    tracker: &mut Tracker,
    taking: &Taking<'_>,
    scope: &Scope<'_>,
    effect: &Effect,
    lost: &mut Vec<(Pending, AbsentReason)>,
) {
    let thread = taking.id.thread;
    let key = |index: u16| stream_key(value_at(scope, index), thread);
    let enqueues = taking.api.effects.iter().any(|effect| effect.defers());
    match effect {
        Effect::MakesStream { stream, flags } => {
            let waits = flags.is_none_or(|flags| value_at(scope, flags) & 1 == 0);
            if let (Some(stream), true) = (written(taking, scope, *stream), waits) {
                tracker.blocking.insert(stream);
            }
        }
        Effect::Enqueues { stream } => enqueue(tracker, taking, key(*stream), lost),
        Effect::Launches if !enqueues => enqueue(tracker, taking, 0, lost),
        Effect::RecordsEvent { event, stream } => {
            let stream = stream.map_or(0, key);
            tracker.wait_for_null_stream(stream);
            let state = tracker.stream(stream);
            let (follows, capture) = (state.follows.clone(), state.capture);
            tracker.events.insert(value_at(scope, *event), EventState { follows, capture });
        }
        Effect::WaitsEvent { stream, event } => {
            let event = tracker.events.get(&value_at(scope, *event)).cloned().unwrap_or_default();
            let state = tracker.stream(key(*stream));
            merge(&mut state.follows, event.follows);
            state.capture = state.capture.or(event.capture);
        }
        Effect::BeginsCapture { stream } => {
            tracker.last_capture += 1;
            let capture = tracker.last_capture;
            tracker.stream(key(*stream)).capture = Some(capture);
        }
        Effect::EndsCapture { stream, graph } => {
            let Some(capture) = tracker.stream(key(*stream)).capture.take() else { return };
            for state in tracker.streams.values_mut() {
                state.capture = state.capture.filter(|other| *other != capture);
            }
            tracker.events.retain(|_, event| event.capture != Some(capture));
            tracker.graphs.end_capture(capture, written(taking, scope, *graph));
        }
        Effect::AddsToGraph { graph } => {
            let makes = |param: &ParamDesc| matches!(param.role, Role::OutHandle { .. });
            let node = scope.params.iter().position(makes);
            let node = node.and_then(|node| written(taking, scope, node as u16));
            let child = child_graph(tracker, scope, &[*graph]);
            tracker.graphs.add(value_at(scope, *graph), node, graph_copies(taking), child);
        }
        Effect::SetsNode { node, exec } => {
            let child = child_graph(tracker, scope, &[*node, exec.unwrap_or(*node)]);
            let exec = exec.map(|exec| value_at(scope, exec));
            let node = value_at(scope, *node);
            let copies = tracker.graphs.set(exec, node, graph_copies(taking), child);
            lost.extend(copies.into_iter().map(unknown_node));
        }
        Effect::EnablesNode { exec, node, enabled } => {
            let enabled = value_at(scope, *enabled) as u32 != 0;
            tracker.graphs.enable(value_at(scope, *exec), value_at(scope, *node), enabled);
        }
        Effect::ClonesGraph { clone, graph } => {
            if let Some(clone) = written(taking, scope, *clone) {
                tracker.graphs.clone_graph(clone, value_at(scope, *graph));
            }
        }
        Effect::Instantiates { exec, graph } => {
            if let Some(exec) = written(taking, scope, *exec) {
                tracker.graphs.instantiate(exec, value_at(scope, *graph));
            }
        }
        Effect::UpdatesExec { exec, graph } => {
            tracker.graphs.update(value_at(scope, *exec), value_at(scope, *graph));
        }
        Effect::LaunchesGraph { exec, stream } => {
            launch_graph(tracker, taking, value_at(scope, *exec), key(*stream), lost);
        }
        Effect::Launches
        | Effect::CompletesDevice
        | Effect::CompletesStream { .. }
        | Effect::CompletesEvent { .. }
        | Effect::CompletesNullStream
        | Effect::DefinesKernel { .. }
        | Effect::ResetsDevice
        | Effect::ExportsMemory
        | Effect::PeeksLastError
        | Effect::TakesLastError => {}
    }
}

fn graph_copies(taking: &Taking<'_>) -> impl Iterator<Item = GraphCopy> {
    let owner = taking.id;
    taking.thread.open.copies.clone().into_iter().map(move |copy| GraphCopy::new(owner, copy))
}

/// A graph that the call is given beside the handles that it changes.
fn child_graph(tracker: &Tracker, scope: &Scope<'_>, changed: &[u16]) -> Option<u64> {
    let others = scope.params.iter().enumerate().filter_map(|(index, param)| {
        let index = index as u16;
        let given = matches!(param.role, Role::InHandle { .. }) && !changed.contains(&index);
        given.then(|| value_at(scope, index))
    });
    others.into_iter().find(|handle| tracker.graphs.contains(*handle))
}

/// A copy of which it is not known when it is made.
fn unknown_node(of: GraphCopy) -> (Pending, AbsentReason) {
    (Pending::new(0, 0, of.owner, What::Copy(of.copy)), AbsentReason::UnknownNode)
}

fn enqueue(
    tracker: &mut Tracker,
    taking: &Taking<'_>,
    stream: Stream,
    lost: &mut Vec<(Pending, AbsentReason)>,
) {
    if let Some(capture) = tracker.stream(stream).capture {
        tracker.graphs.capture(capture, graph_copies(taking));
        return;
    }
    let count = tracker.advance(stream);
    let owner = taking.id;
    if taking.thread.parent.is_none() {
        tracker.threads.insert(owner.thread);
    }
    let copied = taking.thread.open.copies.iter().filter_map(|copy| {
        let (start, _, known) = tracker.ranges.find(copy.address)?;
        (known.space != Space::Device).then_some(start)
    });
    let uses: Vec<u64> = copied.chain(taking.thread.open.reached.iter().copied()).collect();
    tracker.stream(stream).uses.extend(uses);
    for copy in taking.thread.open.copies.iter().filter(|copy| copy.side == Side::Destination) {
        let what = What::Copy(*copy);
        tracker.add_pending(Pending::new(stream, count, owner, what), lost);
    }
    for start in &taking.thread.open.reached {
        let what = What::Range(*start);
        tracker.add_pending(Pending::new(stream, count, owner, what), lost);
    }
}

fn launch_graph(
    tracker: &mut Tracker,
    taking: &Taking<'_>,
    exec: u64,
    stream: Stream,
    lost: &mut Vec<(Pending, AbsentReason)>,
) {
    if let Some(capture) = tracker.stream(stream).capture {
        tracker.graphs.capture_launch(capture, exec);
        return;
    }
    let launched = tracker.graphs.launched(exec);
    let count = tracker.advance(stream);
    for Launched { copy: of, certain, .. } in launched {
        if of.copy.side != Side::Destination {
            continue;
        }
        if certain {
            let what = What::Copy(of.copy);
            tracker.add_pending(Pending::new(stream, count, of.owner, what), lost);
        } else {
            lost.push(unknown_node(of));
        }
    }
    for start in &taking.thread.open.reached {
        let what = What::Range(*start);
        tracker.add_pending(Pending::new(stream, count, taking.id, what), lost);
    }
}

fn check_meta(pending: &Pending, address: u64) -> Meta {
    let (id, element) = match &pending.what {
        What::Copy(copy) => (copy.id, copy.element),
        What::Range(_) => (FIELD_HOST_WRITE, 0),
    };
    let owner = Some((pending.owner, id));
    Meta { id: FIELD_CHECK, depth: 0, phase: Phase::After, element, address, owner }
}

/// Takes a content that has become final.
fn take_final(tracker: &mut Tracker, taking: &mut Taking<'_>, pending: &Pending) {
    match &pending.what {
        What::Copy(copy) => {
            let meta = check_meta(pending, copy.address);
            let mut content = Vec::new();
            if read_rect(&taking.memory, copy.address, &copy.rect, &mut content) {
                taking.fields().content(meta, content.len() as u64, &content);
            } else {
                let total = rect_bytes(&copy.rect).unwrap_or(0);
                taking.fields().absent(meta, total, AbsentReason::Unreadable);
            }
        }
        What::Range(start) => {
            let memory = taking.memory;
            for (address, content) in tracker.changes(&memory, *start) {
                let meta = check_meta(pending, address);
                taking.fields().content(meta, content.len() as u64, &content);
            }
        }
    }
}

//! The interpreter that takes in what a call did, and the verdict on it.
//!
//! After a success it walks the roles again, beside the live block and the fields recorded after the
//! call: handles and ranges enter their maps, outputs are compared by the rule of their declaration,
//! checks compare what the device produced. After a failure nothing is entered and nothing compared
//! but the status, since a failed call defines no outputs.
//!
//! # Late errors
//! Runtimes report a fault of asynchronous work at the next call that happens to notice. If exactly
//! one of the recorded and the live status is success, and the call itself waits for nothing, the
//! verdict waits for the next call that does, on whatever thread: the event is as recorded if that
//! call returns the missing code (live, if it was recorded; recorded, if it came live). Else it
//! diverged. Either way its outputs are not entered.

use std::ffi::CStr;

use crate::archive::event::{AbsentReason, Body, Event, EventId, FIELD_CHECK, FIELD_RET, Field};
use crate::desc::{
    ApiDesc, Class, Compare, Direction, Effect, HandleDesc, ParamDesc, PayloadDesc, RetKind, Role,
    ScalarKind, Scope, Shape, Side, Space, SpaceOf,
};

use super::Refusal;
use super::arena::{unwritten, written};
use super::compare::{Rules, hex};
use super::engine::{Shared, in_handles};
use super::handles::{Entry, Handles};
use super::memory::{Backing, Range, Where};
use super::rebuild::{Call, recorded_param, word};
use super::report::{EventName, FindingKind, Outcome};
use super::scope;
use super::tree::{Node, Nodes, Tree};
use super::world::{HostOperand, Kept, Late, World, name, status_text};

/// Differences that a finding spells out.
const DIFFERENCES_SHOWN: usize = 4;

/// The status that a returned word is: `None` if the function returns none.
pub(super) fn status(desc: &ApiDesc, ret: u64) -> Option<i64> {
    match (&desc.ret.kind, desc.ret.bytes) {
        (RetKind::Status { .. }, 4) => Some(i64::from(ret as i32)),
        (RetKind::Status { .. }, _) => Some(ret as i64),
        (RetKind::Void | RetKind::Value(_) | RetKind::Str | RetKind::Handle(_), _) => None,
    }
}

fn not_ready(desc: &ApiDesc) -> Option<i64> {
    match desc.ret.kind {
        RetKind::Status { not_ready } => Some(not_ready),
        RetKind::Void | RetKind::Value(_) | RetKind::Str | RetKind::Handle(_) => None,
    }
}

/// Whether a call failed when recorded. Functions without a status never do, but one that returns a
/// handle, where null is the failure.
pub(super) fn failed(desc: &ApiDesc, event: &Event) -> bool {
    match desc.ret.kind {
        RetKind::Status { not_ready } => {
            status(desc, event.ret).is_some_and(|code| code != 0 && code != not_ready)
        }
        RetKind::Handle(_) => event.ret == 0,
        RetKind::Void | RetKind::Value(_) | RetKind::Str => false,
    }
}

/// Whether what a function returns is not its own status but that of calls before it.
fn answers_last_error(desc: &ApiDesc) -> bool {
    let answers =
        |effect: &Effect| matches!(effect, Effect::PeeksLastError | Effect::TakesLastError);
    desc.effects.iter().any(answers)
}

/// Whether a call that returned this status waited for work.
fn completes(desc: &ApiDesc) -> bool {
    desc.effects.iter().any(Effect::waits)
}

impl Call {
    /// The scope of the call's parameters.
    pub(super) fn scope(&self, desc: &'static ApiDesc, returned: bool) -> Scope<'_> {
        Scope {
            params: desc.params,
            base: self.args_const(),
            outer: None,
            before: &self.before,
            returned,
        }
    }
}

/// Enters a range that lives.
pub(super) fn enter_range(
    world: &mut World,
    recorded: u64,
    bytes: u64,
    live: u64,
    space: Option<Space>,
) {
    let backing = space.map_or(Backing::Part, Backing::Runtime);
    world.memory.enter(Range::new(recorded, bytes, Where::Live(live), backing));
}

// ---- what is not reproduced ----------------------------------------------------------------------

/// Refuses an event: a finding, and the end of what it should have made.
pub(super) fn refuse(
    shared: &Shared,
    world: &mut World,
    event: &Event,
    desc: &'static ApiDesc,
    refusal: &Refusal,
) -> Outcome {
    world.find_refusal(event.id, &name(desc), refusal);
    let cause = refusal.cause.unwrap_or(event.id);
    abandon(shared, world, event, desc, cause);
    world.last_errors.insert(event.id.thread, cause);
    if writes_memory(desc) && !failed(desc, event) {
        world.unwritten.get_or_insert(cause);
    }
    checks_not_made(world, event);
    Outcome::Refused
}

/// Whether a call, or the work that it enqueues, writes memory that a later check may read.
fn writes_memory(desc: &ApiDesc) -> bool {
    let copies = |role: &Role| matches!(role, Role::Operand { side: Side::Destination, .. });
    desc.params.iter().any(|param| copies(&param.role))
        || desc.effects.iter().any(|effect| {
            matches!(
                effect,
                Effect::Launches | Effect::LaunchesGraph { .. } | Effect::Enqueues { .. }
            )
        })
}

/// Refuses an event of a function that this build does not declare, or declares otherwise.
pub(super) fn refuse_unknown(
    world: &mut World,
    event: &Event,
    function: &str,
    refusal: &Refusal,
) -> Outcome {
    world.find_refusal(event.id, function, refusal);
    // What the function would have written is not known.
    world.unwritten.get_or_insert(event.id);
    world.last_errors.insert(event.id.thread, event.id);
    checks_not_made(world, event);
    Outcome::Refused
}

/// Says of everything that the event made when recorded that it does not exist, because of `cause`.
fn abandon(
    shared: &Shared,
    world: &mut World,
    event: &Event,
    desc: &'static ApiDesc,
    cause: EventId,
) {
    if failed(desc, event) {
        return;
    }
    let tree = Tree::of(event, desc.params);
    for (index, param) in desc.params.iter().enumerate() {
        let recorded = recorded_param(event, desc, index as u16);
        let written = tree.after[index].field;
        let content = written
            .and_then(|field| shared.content(&field.body).ok().flatten())
            .unwrap_or_default();
        match &param.role {
            Role::OutHandle { handle, .. } => {
                for chunk in content.chunks(8) {
                    world.handles.enter(handle, word(chunk, 0, 8), Entry::Dead(cause));
                }
            }
            Role::InHandle { handle, destroys: true } => world.handles.end(handle, recorded),
            Role::OutDevicePointer { bytes, .. } => {
                let bytes = bytes.as_ref().and_then(|len| recorded_len(event, desc, len));
                let start = word(&content, 0, 8);
                let dead = Where::Dead(cause);
                world.memory.enter(Range::new(start, bytes.unwrap_or(1), dead, Backing::Part));
            }
            Role::RegistersHost { bytes } => {
                let bytes = recorded_len(event, desc, bytes).unwrap_or(1);
                let dead = Where::Dead(cause);
                world.memory.enter(Range::new(recorded, bytes, dead, Backing::Part));
            }
            Role::DevicePointer { frees: true } | Role::UnregistersHost => {
                // The live memory stays: only its recorded address means something else now.
                world.memory.end(recorded);
            }
            Role::DefinesHostSymbol { .. } => world.symbols.kill(recorded, cause),
            Role::Scalar(_)
            | Role::Struct(_)
            | Role::InHandle { destroys: false, .. }
            | Role::Pointee { .. }
            | Role::Array { .. }
            | Role::String
            | Role::OutString { .. }
            | Role::DevicePointer { frees: false }
            | Role::DevicePointerArray { .. }
            | Role::HostIn { .. }
            | Role::HostOut { .. }
            | Role::Operand { .. }
            | Role::KernelArgs { .. }
            | Role::HostSymbol
            | Role::Image(_)
            | Role::Tagged { .. }
            | Role::JitOptions { .. }
            | Role::Callback
            | Role::UserData
            | Role::EntryPoint { .. }
            | Role::OsHandle { .. }
            | Role::Opaque { .. }
            | Role::Device => {}
        }
    }
    if let RetKind::Handle(handle) = desc.ret.kind {
        world.handles.enter(handle, event.ret, Entry::Dead(cause));
    }
    mark_incomplete(shared, world, event, desc, cause);
}

/// A length that needs only the integers of the recorded block.
fn recorded_len(event: &Event, desc: &'static ApiDesc, len: &crate::desc::Len) -> Option<u64> {
    use crate::desc::Len;
    match len {
        Len::Const(n) => Some(*n),
        Len::Param(index) => Some(recorded_param(event, desc, *index)),
        Len::Product(factors) => factors
            .iter()
            .try_fold(1u64, |product, len| product.checked_mul(recorded_len(event, desc, len)?)),
        Len::Min(terms) => {
            let terms: Option<Vec<u64>> =
                terms.iter().map(|len| recorded_len(event, desc, len)).collect();
            terms?.into_iter().min()
        }
        Len::Before(_) | Len::After(_) | Len::Call(_) => None,
    }
}

/// Marks the graph, capture or executable graph to which a part was not added or not set.
fn mark_incomplete(
    shared: &Shared,
    world: &mut World,
    event: &Event,
    desc: &'static ApiDesc,
    cause: EventId,
) {
    let (mut runs, mut named) = (false, false);
    for effect in desc.effects {
        match effect {
            Effect::Enqueues { stream } => {
                let stream = recorded_param(event, desc, *stream);
                if let Some(capture) = world.captures.get_mut(&stream) {
                    capture.get_or_insert(cause);
                }
            }
            Effect::BeginsCapture { stream } => {
                let stream = recorded_param(event, desc, *stream);
                world.captures.insert(stream, Some(cause));
            }
            Effect::EndsCapture { stream, .. } => {
                world.captures.remove(&recorded_param(event, desc, *stream));
            }
            Effect::AddsToGraph { graph: changed }
            | Effect::SetsNode { exec: Some(changed), .. }
            | Effect::SetsNode { node: changed, exec: None }
            | Effect::EnablesNode { exec: changed, .. }
            | Effect::UpdatesExec { exec: changed, .. } => {
                named = true;
                mark_handle(world, event, desc, *changed, cause);
            }
            Effect::ClonesGraph { .. }
            | Effect::Instantiates { .. }
            | Effect::LaunchesGraph { .. } => runs = true,
            Effect::Launches
            | Effect::CompletesDevice
            | Effect::CompletesStream { .. }
            | Effect::CompletesEvent { .. }
            | Effect::RecordsEvent { .. }
            | Effect::WaitsEvent { .. }
            | Effect::MakesStream { .. }
            | Effect::CompletesNullStream
            | Effect::DefinesKernel { .. }
            | Effect::ResetsDevice
            | Effect::ExportsMemory
            | Effect::PeeksLastError
            | Effect::TakesLastError => {}
        }
    }
    if runs {
        return;
    }
    // A function that makes a handle out of a graph adds a node to it, whether or not its
    // declaration says so; one that is given an executable graph sets something in it.
    let makes_node = desc.params.iter().any(|param| match &param.role {
        Role::OutHandle { handle, count: None } => !shared.graph_types.contains(&handle.name),
        _ => false,
    });
    for (index, handle, destroys) in in_handles(desc) {
        let node = makes_node && !named && shared.graph_types.contains(&handle.name);
        if !destroys && (node || shared.exec_types.contains(&handle.name)) {
            mark_handle(world, event, desc, index, cause);
        }
    }
}

fn mark_handle(
    world: &mut World,
    event: &Event,
    desc: &'static ApiDesc,
    index: u16,
    cause: EventId,
) {
    if let Some(ParamDesc { role: Role::InHandle { handle, .. }, .. }) =
        desc.params.get(usize::from(index))
    {
        world.handles.mark_incomplete(handle, recorded_param(event, desc, index), cause);
    }
}

/// Counts the checks of an event that was not issued, or not as recorded.
pub(super) fn checks_not_made(world: &mut World, event: &Event) {
    for field in event.fields.iter().filter(|field| field.id == FIELD_CHECK) {
        match expectation(field) {
            Some(0) => {}
            Some(_) => world.report.checks_not_made += 1,
            None => world.report.checks_missing += 1,
        }
    }
}

/// The bytes that a check expects: `None` if the recording lacks them.
fn expectation(field: &Field) -> Option<u64> {
    match &field.body {
        _ if field.original > field.recorded => None,
        Body::Bytes(bytes) => Some(bytes.len() as u64),
        Body::Blob { bytes, .. } => Some(*bytes),
        Body::Null | Body::Device | Body::Absent(_) => None,
    }
}

// ---- what was issued -----------------------------------------------------------------------------

/// What a list of parameters or fields is held against.
struct Frame<'f> {
    params: &'static [ParamDesc],
    recorded: &'f [u8],
    base: *const u8,
    after: &'f [Node<'f>],
    scope: Scope<'f>,
}

impl Frame<'_> {
    /// The live word of a parameter.
    fn live(&self, param: &ParamDesc) -> u64 {
        // SAFETY: a parameter lies inside its live block or struct.
        unsafe { scope::word_at(self.base.add(param.offset as usize), param.bytes.min(8)) }
            .unwrap_or(0)
    }

    fn recorded(&self, param: &ParamDesc) -> u64 {
        word(self.recorded, param.offset as usize, param.bytes as usize)
    }
}

/// The interpreter, for one event that was issued.
pub(super) struct Finisher<'a> {
    pub(super) shared: &'a Shared,
    pub(super) world: &'a mut World,
    pub(super) event: &'a Event,
    pub(super) desc: &'static ApiDesc,
    /// The rebuilt call; a hand-written half may have done without.
    pub(super) call: Option<&'a mut Call>,
    pub(super) ret: &'a [u128],
    /// The address at which the engine placed the allocation itself.
    pub(super) placed: Option<u64>,
    /// Calls that had returned when this one was issued.
    pub(super) started: u64,
    /// Whether recorded contents were put into host ranges while the call waited.
    pub(super) stored: bool,
    pub(super) differences: Vec<String>,
    /// Where the call's own buffers are: start and bytes.
    pub(super) buffers: Vec<(u64, u64)>,
}

impl Finisher<'_> {
    /// The outcome: `None` if a later synchronisation settles it.
    pub(super) fn run(mut self, after: &Nodes<'_>) -> Option<Outcome> {
        let function = name(self.desc);
        let recorded = status(self.desc, self.event.ret);
        let live = status(self.desc, self.ret[0] as u64);
        if let (Some(recorded), Some(live)) = (recorded, live) {
            if completes(self.desc) {
                self.world.settle_late(recorded, live);
            }
            let query = matches!(self.desc.class, Class::Query { .. });
            let ready_early = query && Some(recorded) == not_ready(self.desc) && live == 0;
            if ready_early {
                // Runtimes leave "not ready" as the last error, which is timing as well.
                self.world.ready_early.insert(self.event.id.thread);
            } else if live != 0 {
                self.world.ready_early.remove(&self.event.id.thread);
            }
            let timing = answers_last_error(self.desc)
                && Some(recorded) == not_ready(self.desc)
                && live == 0
                && self.world.ready_early.contains(&self.event.id.thread);
            if recorded != live && !ready_early && !timing {
                return self.status_differs(&function, recorded, live);
            }
        }
        self.last_error_agrees();
        let success = recorded.is_none_or(|code| code == 0) && !failed(self.desc, self.event);
        if success {
            self.results(after);
        } else if matches!(self.desc.ret.kind, RetKind::Handle(_)) {
            // Null was the failure, and must be again.
            self.returned();
        }
        self.settle_operands(success);
        self.checks();
        self.effects(success);
        self.inspect_arena();
        if !self.differences.is_empty() {
            let more = self.differences.len().saturating_sub(DIFFERENCES_SHOWN);
            self.differences.truncate(DIFFERENCES_SHOWN);
            let mut text = self.differences.join("; ");
            if more > 0 {
                text.push_str(&format!("; and {more} more"));
            }
            self.world.find(self.event.id, &function, FindingKind::Diverged, text);
            return Some(Outcome::Diverged);
        }
        let fine = success || recorded.is_some() && recorded == not_ready(self.desc);
        Some(match (&self.desc.class, fine) {
            (_, false) => Outcome::FailedAsRecorded,
            (Class::Ordering, true) => Outcome::Ordering,
            (
                Class::Replayed | Class::Query { .. } | Class::Host { .. } | Class::Refused { .. },
                true,
            ) => Outcome::Reproduced,
        })
    }

    /// Forgets what made the thread's last error differ, if the call says or makes it the recorded
    /// one.
    fn last_error_agrees(&mut self) {
        if answers_last_error(self.desc) || failed(self.desc, self.event) {
            self.world.last_errors.remove(&self.event.id.thread);
        }
    }

    /// What a last error is that is not the recorded one: a consequence, if a call before it was not
    /// issued or came to something else.
    fn last_error_differs(&mut self, recorded: i64, live: i64) -> Option<Outcome> {
        let thread = self.event.id.thread;
        let cause = answers_last_error(self.desc).then(|| self.world.last_errors.get(&thread))?;
        let refusal = Refusal::because(status_text(recorded, live), *cause?);
        self.world.find_refusal(self.event.id, &name(self.desc), &refusal);
        checks_not_made(self.world, self.event);
        if self.desc.effects.contains(&Effect::TakesLastError) {
            self.world.last_errors.remove(&thread);
        }
        Some(Outcome::Refused)
    }

    /// The verdict where the status is not the recorded one.
    fn status_differs(&mut self, function: &str, recorded: i64, live: i64) -> Option<Outcome> {
        if let Some(outcome) = self.last_error_differs(recorded, live) {
            return Some(outcome);
        }
        if !self.desc.effects.contains(&Effect::TakesLastError) {
            self.world.last_errors.insert(self.event.id.thread, self.event.id);
        }
        abandon(self.shared, self.world, self.event, self.desc, self.event.id);
        checks_not_made(self.world, self.event);
        self.settle_operands(false);
        let pending = Some(recorded) != not_ready(self.desc) && Some(live) != not_ready(self.desc);
        if pending && (recorded == 0) != (live == 0) && !completes(self.desc) {
            let (id, function) = (self.event.id, self.desc);
            self.world.late.push(Late { id, function, recorded, live });
            return None;
        }
        let text = status_text(recorded, live);
        self.world.find(self.event.id, function, FindingKind::Diverged, text);
        Some(Outcome::Diverged)
    }

    // ---- outputs -----------------------------------------------------------------------------------

    fn results(&mut self, after: &Nodes<'_>) {
        self.returned();
        let Some(call) = self.call.take() else { return };
        self.buffers = call.arena.iter().map(|b| (b.as_ptr() as u64, b.bytes())).collect();
        let frame = Frame {
            params: self.desc.params,
            recorded: &self.event.args,
            base: call.args_const(),
            after,
            scope: call.scope(self.desc, true),
        };
        self.frame(&frame);
        self.call = Some(call);
        self.operand_checks(after);
        self.ranges(after);
    }

    /// Compares what the function returned.
    fn returned(&mut self) {
        let bytes = self.desc.ret.bytes as usize;
        // SAFETY: the words hold `ret.bytes` initialised bytes.
        let live = unsafe { std::slice::from_raw_parts(self.ret.as_ptr().cast::<u8>(), bytes) };
        let field = self.event.fields.iter().find(|field| field.id == FIELD_RET);
        let content = field.and_then(|field| self.shared.content(&field.body).ok().flatten());
        let compare = self.desc.ret.compare;
        match self.desc.ret.kind {
            RetKind::Void | RetKind::Status { .. } => {}
            RetKind::Value(payload) => {
                let recorded =
                    content.unwrap_or_else(|| self.event.ret.to_le_bytes()[..bytes.min(8)].into());
                self.value("the returned value", payload, &recorded, live, compare);
            }
            RetKind::Str => {
                let pointer = word(live, 0, 8) as *const std::ffi::c_char;
                if let (Some(recorded), false) = (content, pointer.is_null()) {
                    // SAFETY: the runtime returned a string that it owns.
                    let live = unsafe { CStr::from_ptr(pointer) }.to_bytes();
                    self.text("the returned string", &recorded, live, compare);
                }
            }
            RetKind::Handle(handle) => {
                self.handle("the returned handle", handle, self.event.ret, word(live, 0, 8));
            }
        }
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        let none = Node::default();
        for (index, param) in frame.params.iter().enumerate() {
            let node = frame.after.get(index).unwrap_or(&none);
            self.param(frame, param, node);
        }
    }

    fn param(&mut self, frame: &Frame<'_>, param: &'static ParamDesc, node: &Node<'_>) {
        let what = format!("`{}`", param.name);
        let live = frame.live(param);
        let recorded = frame.recorded(param);
        match &param.role {
            Role::Struct(payload) => {
                let below = node.elements.get(&0).map_or(&[][..], Vec::as_slice);
                let offset = param.offset as usize;
                let bytes = frame.recorded.get(offset..).unwrap_or_default();
                // SAFETY: the struct lies inside the live block.
                let base = unsafe { frame.base.add(offset) };
                self.members(payload, bytes, base, below, frame);
            }
            Role::InHandle { handle, destroys: true } => self.world.handles.end(handle, recorded),
            Role::OutHandle { handle, count } => {
                let count = count.as_ref().map(|len| scope::len(len, &frame.scope));
                self.out_handles(&what, handle, count, live, node);
            }
            Role::Pointee { direction, payload, compare } => {
                self.elements(&what, payload, *direction, *compare, Some(1), live, node, frame);
            }
            Role::Array { direction, payload, count, compare } => {
                let count = scope::len(count, &frame.scope);
                self.elements(&what, payload, *direction, *compare, count, live, node, frame);
            }
            Role::OutString { bytes, compare } => {
                let room = scope::len(bytes, &frame.scope).unwrap_or(0);
                if let Some((recorded, live)) = self.written(node, live, Some(room)) {
                    self.text(&what, &recorded, &live, *compare);
                }
            }
            Role::HostOut { bytes, compare } => {
                let room = scope::len(bytes, &frame.scope);
                if let Some((recorded, live)) = self.written(node, live, room) {
                    let shorter = recorded.len().min(live.len());
                    if unwritten(&live) {
                        self.left_unwritten(&what);
                    } else if let Some(found) = Rules::EXACT.compare(&recorded[..shorter], &live) {
                        self.differ(&what, *compare, found.to_string(), &recorded, &live);
                    } else if shorter < recorded.len() {
                        let text = format!("{} bytes when recorded, {shorter} now", recorded.len());
                        self.differ(&what, *compare, text, &recorded, &live);
                    }
                }
            }
            Role::Tagged { by, table, behind: Some(Direction::Out | Direction::InOut) } => {
                let tag = scope::value(&frame.scope, *by);
                if let Some(row) = table.iter().find(|row| Some(row.tag) == tag)
                    && let Some((recorded, live)) =
                        self.written(node, live, Some(row.payload.bytes.into()))
                {
                    self.value(&what, row.payload, &recorded, &live, row.compare);
                }
            }
            Role::Scalar(_)
            | Role::InHandle { destroys: false, .. }
            | Role::String
            | Role::DevicePointer { .. }
            | Role::DevicePointerArray { .. }
            | Role::OutDevicePointer { .. }
            | Role::RegistersHost { .. }
            | Role::UnregistersHost
            | Role::HostIn { .. }
            | Role::Operand { .. }
            | Role::KernelArgs { .. }
            | Role::HostSymbol
            | Role::DefinesHostSymbol { .. }
            | Role::Image(_)
            | Role::Tagged { behind: None | Some(Direction::In), .. }
            | Role::JitOptions { .. }
            | Role::Callback
            | Role::UserData
            | Role::EntryPoint { .. }
            | Role::OsHandle { .. }
            | Role::Opaque { .. }
            | Role::Device => {}
        }
    }

    /// Walks the fields of a struct that the engine rebuilt: outputs may hang below them.
    fn members(
        &mut self,
        payload: &'static PayloadDesc,
        recorded: &[u8],
        base: *const u8,
        after: &[Node<'_>],
        outer: &Frame<'_>,
    ) {
        if let Shape::Struct(params) = payload.shape {
            let scope =
                Scope { params, base, outer: Some(&outer.scope), before: &[], returned: true };
            self.frame(&Frame { params, recorded, base, after, scope });
        }
    }

    /// The recorded bytes of an output, and what stands there now: as many, or fewer if the room is
    /// smaller.
    fn written(
        &self,
        node: &Node<'_>,
        live: u64,
        room: Option<u64>,
    ) -> Option<(std::sync::Arc<[u8]>, Vec<u8>)> {
        let field = node.field?;
        if live == 0 || field.original > field.recorded {
            return None;
        }
        let recorded = self.shared.content(&field.body).ok().flatten()?;
        let bytes = (recorded.len() as u64).min(room.unwrap_or(u64::MAX));
        let live = self.live_bytes(live, bytes)?;
        Some((recorded, live))
    }

    /// A copy of what stands in a buffer of this call, as far as the buffer reaches.
    fn live_bytes(&self, live: u64, bytes: u64) -> Option<Vec<u8>> {
        self.buffers.iter().find_map(|(start, room)| {
            let offset = live.checked_sub(*start).filter(|offset| offset <= room)?;
            let bytes = bytes.min(room - offset) as usize;
            // SAFETY: the bytes lie inside a buffer of this call, which lives and which the runtime
            // has finished with.
            Some(unsafe { std::slice::from_raw_parts(live as *const u8, bytes) }.to_vec())
        })
    }

    /// Compares the elements behind a pointer.
    #[expect(clippy::too_many_arguments, reason = "the parts of two roles that share one rule")]
    fn elements(
        &mut self,
        what: &str,
        payload: &'static PayloadDesc,
        direction: Direction,
        compare: Compare,
        count: Option<u64>,
        live: u64,
        node: &Node<'_>,
        frame: &Frame<'_>,
    ) {
        let size = u64::from(payload.bytes).max(1);
        if direction == Direction::In {
            for (index, below) in &node.elements {
                let offset = u64::from(*index) * size;
                let inside = self.live_bytes(live.wrapping_add(offset), size);
                if live != 0 && inside.is_some_and(|bytes| bytes.len() as u64 == size) {
                    self.members(payload, &[], (live + offset) as *const u8, below, frame);
                }
            }
            return;
        }
        if let Shape::Handle(handle) = payload.shape {
            self.out_handles(what, handle, Some(count), live, node);
            return;
        }
        let room = count.and_then(|count| count.checked_mul(size));
        let Some((recorded, bytes)) = self.written(node, live, room) else { return };
        if recorded.len() as u64 > bytes.len() as u64 || room != Some(recorded.len() as u64) {
            let (then, now) = (recorded.len() as u64 / size, count.unwrap_or(0));
            let text = format!("{then} elements when recorded, {now} now");
            self.differ(what, compare, text, &recorded, &bytes);
        }
        let size = size as usize;
        let pairs = recorded.chunks_exact(size).zip(bytes.chunks_exact(size));
        let several = recorded.len() > size;
        for (index, (recorded, live)) in pairs.enumerate() {
            if several {
                self.value(&format!("{what}[{index}]"), payload, recorded, live, compare);
            } else {
                self.value(what, payload, recorded, live, compare);
            }
        }
    }

    /// Compares an output, and enters the handles in it.
    fn value(
        &mut self,
        what: &str,
        payload: &'static PayloadDesc,
        recorded: &[u8],
        live: &[u8],
        compare: Compare,
    ) {
        match &payload.shape {
            Shape::Scalar(kind) => {
                let bytes = payload.bytes as usize;
                let (recorded, live) =
                    (recorded.get(..bytes).unwrap_or(recorded), live.get(..bytes).unwrap_or(live));
                let count = written(live);
                let same = recorded.get(..count) == live.get(..count);
                if recorded != live && same {
                    self.left_unwritten_from(what, count);
                } else if !same {
                    let (a, b) = (scalar_text(*kind, recorded), scalar_text(*kind, live));
                    self.differ_text(what, compare, format!("expected {a}, got {b}"), a, b);
                }
            }
            Shape::Handle(handle) => {
                self.handle(what, handle, word(recorded, 0, 8), word(live, 0, 8));
            }
            Shape::Struct(params) => {
                for param in *params {
                    let slot = param.offset as usize..(param.offset + param.bytes) as usize;
                    if let (Some(recorded), Some(live)) =
                        (recorded.get(slot.clone()), live.get(slot))
                    {
                        self.member(what, param, recorded, live, compare);
                    }
                }
            }
        }
    }

    /// Compares one field of a struct that the runtime wrote. Where the runtime wrote a pointer, the
    /// pointer is its own.
    fn member(
        &mut self,
        what: &str,
        param: &'static ParamDesc,
        recorded: &[u8],
        live: &[u8],
        compare: Compare,
    ) {
        let what = format!("{what}.{}", param.name);
        match &param.role {
            Role::Scalar(payload) | Role::Struct(payload) => {
                self.value(&what, payload, recorded, live, compare);
            }
            Role::InHandle { handle, .. } => {
                self.handle(&what, handle, word(recorded, 0, 8), word(live, 0, 8));
            }
            Role::Device => {
                let (then, now) = (word(recorded, 0, 4) as u32, word(live, 0, 4) as u32);
                let mapped = self.shared.options.device_map.get(&then).copied().unwrap_or(then);
                if mapped != now {
                    let (a, b) = (then.to_string(), now.to_string());
                    self.differ_text(&what, compare, format!("expected {a}, got {b}"), a, b);
                }
            }
            Role::OutHandle { .. }
            | Role::Pointee { .. }
            | Role::Array { .. }
            | Role::String
            | Role::OutString { .. }
            | Role::DevicePointer { .. }
            | Role::DevicePointerArray { .. }
            | Role::OutDevicePointer { .. }
            | Role::RegistersHost { .. }
            | Role::UnregistersHost
            | Role::HostIn { .. }
            | Role::HostOut { .. }
            | Role::Operand { .. }
            | Role::KernelArgs { .. }
            | Role::HostSymbol
            | Role::DefinesHostSymbol { .. }
            | Role::Image(_)
            | Role::Tagged { .. }
            | Role::JitOptions { .. }
            | Role::Callback
            | Role::UserData
            | Role::EntryPoint { .. }
            | Role::OsHandle { .. }
            | Role::Opaque { .. } => {}
        }
    }

    /// Enters a handle that the call wrote.
    fn handle(&mut self, what: &str, desc: &'static HandleDesc, recorded: u64, live: u64) {
        if unwritten(&live.to_le_bytes()) {
            return self.left_unwritten(what);
        }
        if Handles::passes(desc, recorded) || live == 0 {
            if recorded != live {
                let text = format!("{what}: expected {recorded:#x}, got {live:#x}");
                self.differences.push(text);
            }
            if live == 0 {
                self.world.handles.enter(desc, recorded, Entry::Dead(self.event.id));
            }
            return;
        }
        self.world.handles.enter(desc, recorded, Entry::Live(live));
    }

    /// Enters the handles that the call wrote: by identity where a recorded one is known and its
    /// live one is among those written, the rest in order.
    fn out_handles(
        &mut self,
        what: &str,
        desc: &'static HandleDesc,
        count: Option<Option<u64>>,
        live: u64,
        node: &Node<'_>,
    ) {
        let room = count.flatten().and_then(|count| count.checked_mul(8)).or(Some(8));
        let Some((recorded, _)) = self.written(node, live, None) else { return };
        let bytes = self.live_bytes(live, room.unwrap_or(8)).unwrap_or_default();
        let words = |bytes: &[u8]| bytes.chunks_exact(8).map(|c| word(c, 0, 8)).collect::<Vec<_>>();
        let (mut then, mut now) = (words(&recorded), words(&bytes));
        if count.is_none() {
            if let (Some(then), Some(now)) = (then.first(), now.first()) {
                self.handle(what, desc, *then, *now);
            }
            return;
        }
        if then.len() != now.len() {
            let text = format!("{what}: {} handles when recorded, {} now", then.len(), now.len());
            self.differences.push(text);
        }
        then.retain(|recorded| match self.world.handles.known(desc, *recorded) {
            Some(Entry::Live(known)) => match now.iter().position(|live| *live == known) {
                Some(at) => {
                    now.remove(at);
                    false
                }
                None => true,
            },
            Some(Entry::Dead(_)) | None => true,
        });
        for (recorded, live) in then.into_iter().zip(now) {
            self.handle(what, desc, recorded, live);
        }
    }

    /// Compares texts to their NUL.
    fn text(&mut self, what: &str, recorded: &[u8], live: &[u8], compare: Compare) {
        let to_nul = |bytes: &[u8]| {
            let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
            String::from_utf8_lossy(&bytes[..end]).into_owned()
        };
        let (a, b) = (to_nul(recorded), to_nul(live));
        if unwritten(live) {
            self.left_unwritten(what);
        } else if a != b {
            self.differ_text(what, compare, format!("expected {a:?}, got {b:?}"), a, b);
        }
    }

    fn left_unwritten(&mut self, what: &str) {
        let text = "nothing there: not compared";
        self.world.left_unwritten(self.event.id, self.desc, what, text);
    }

    fn left_unwritten_from(&mut self, what: &str, count: usize) {
        let text = match count {
            0 => return self.left_unwritten(what),
            1 => "one byte there: the others are not compared".to_owned(),
            _ => format!("{count} bytes there: the others are not compared"),
        };
        self.world.left_unwritten(self.event.id, self.desc, what, &text);
    }

    fn differ(&mut self, what: &str, compare: Compare, text: String, then: &[u8], now: &[u8]) {
        let shown = |bytes: &[u8]| hex(&bytes[..bytes.len().min(16)]);
        self.differ_text(what, compare, text, shown(then), shown(now));
    }

    fn differ_text(
        &mut self,
        what: &str,
        compare: Compare,
        text: String,
        then: String,
        now: String,
    ) {
        match compare {
            Compare::Exact => self.differences.push(format!("{what}: {text}")),
            Compare::Machine => {
                self.world.machine_differs(self.event.id, self.desc, what.to_owned(), then, now);
            }
        }
    }

    // ---- memory ------------------------------------------------------------------------------------

    /// Enters and ends ranges.
    fn ranges(&mut self, after: &Nodes<'_>) {
        for (index, param) in self.desc.params.iter().enumerate() {
            let recorded = recorded_param(self.event, self.desc, index as u16);
            match &param.role {
                Role::OutDevicePointer { bytes, allocates } => {
                    self.out_address(index, bytes.as_ref(), *allocates, &after[index]);
                }
                Role::RegistersHost { .. } => {
                    let registers = self.call.as_mut().and_then(|call| call.registers.take());
                    if let Some((start, buffer)) = registers {
                        let (bytes, live) = (buffer.bytes(), buffer.as_ptr() as u64);
                        let backing = Backing::Registered(buffer);
                        self.world.memory.enter(Range::new(
                            start,
                            bytes,
                            Where::Live(live),
                            backing,
                        ));
                    }
                }
                Role::DevicePointer { frees: true } => {
                    self.world.memory.end(recorded);
                }
                Role::UnregistersHost => {
                    if let Some(range) = self.world.memory.end(recorded)
                        && let Backing::Registered(buffer) = range.backing
                        && let Some(damage) = buffer.damage()
                    {
                        let function = name(self.desc);
                        self.world.find(self.event.id, &function, FindingKind::Canary, &*damage);
                        self.differences.push(damage);
                    }
                }
                // The other roles make and end no ranges.
                _ => {}
            }
        }
    }

    /// Enters the address that the call wrote.
    fn out_address(
        &mut self,
        index: usize,
        bytes: Option<&crate::desc::Len>,
        allocates: Option<SpaceOf>,
        node: &Node<'_>,
    ) {
        let (Some(field), Some(call)) = (node.field, self.call.as_ref()) else { return };
        let Some(recorded) = self.shared.content(&field.body).ok().flatten() else { return };
        let recorded = word(&recorded, 0, 8);
        let scope = call.scope(self.desc, true);
        let param = &self.desc.params[index];
        // SAFETY: the slot lies in the block, and holds a pointer.
        let slot = unsafe { call.args_const().add(param.offset as usize) };
        // SAFETY: as above.
        let at = unsafe { scope::word_at(slot, 8) }.unwrap_or(0);
        let Some(live) = self.live_bytes(at, 8).map(|bytes| word(&bytes, 0, 8)) else { return };
        if unwritten(&live.to_le_bytes()) {
            return self.left_unwritten(&format!("`{}`", param.name));
        }
        if recorded == 0 || live == 0 {
            if recorded != live {
                let text = format!("`{}`: expected {recorded:#x}, got {live:#x}", param.name);
                self.differences.push(text);
            }
            return;
        }
        match bytes {
            Some(len) => {
                let bytes = scope::len(len, &scope).unwrap_or(0);
                let space = allocates.map(|space| space.of(&scope));
                let backing = space.map_or(Backing::Part, Backing::Runtime);
                let mut range = Range::new(recorded, bytes, Where::Live(live), backing);
                range.placed = self.placed == Some(recorded);
                self.world.memory.enter(range);
            }
            None => self.alias(recorded, live),
        }
    }

    /// Enters an address that the call wrote of memory that the recording knows under another: the
    /// rest of the range that the call's own device pointer lies in.
    fn alias(&mut self, recorded: u64, live: u64) {
        if self.world.memory.find(recorded).is_some() {
            return;
        }
        let of = self.desc.params.iter().enumerate().find_map(|(index, param)| {
            matches!(param.role, Role::DevicePointer { .. }).then(|| {
                let address = recorded_param(self.event, self.desc, index as u16);
                let rest = self.world.memory.resolve(address).ok().flatten()?.rest;
                Some((rest, self.world.memory.find(address)?.start))
            })?
        });
        if let Some((rest, start)) = of {
            let mut range = Range::new(recorded, rest, Where::Live(live), Backing::Part);
            range.alias_of = start;
            self.world.memory.enter(range);
        }
    }

    // ---- checks ------------------------------------------------------------------------------------

    /// Compares destinations that were written when the call returned.
    fn operand_checks(&mut self, after: &Nodes<'_>) {
        let mut written = Vec::new();
        collect_destinations(self.desc.params, after, 0, &mut written);
        let operands = self.call.as_mut().map(|call| std::mem::take(&mut call.operands));
        let operands = operands.unwrap_or_default();
        for (id, element, field) in written {
            if field.body == Body::Absent(AbsentReason::Deferred) {
                // A later event carries its check.
                continue;
            }
            let named = |operand: &&HostOperand| {
                operand.destination && operand.id == id && operand.element == element
            };
            match operands.iter().find(named) {
                Some(operand) => self.check(field, Some(operand), self.event.id),
                None if expectation(field).is_some_and(|bytes| bytes > 0) => {
                    self.not_made("the copy has no such destination now", None);
                }
                None => {}
            }
        }
        if let Some(call) = self.call.as_mut() {
            call.operands = operands;
        }
    }

    /// Compares what became final with this call.
    fn checks(&mut self) {
        if self.stored {
            self.world.guessed.get_or_insert(self.event.id);
        }
        for field in self.event.fields.iter().filter(|field| field.id == FIELD_CHECK) {
            let owner = field.owner.map_or(self.event.id, |(owner, _)| owner);
            let operands = self.world.operands.remove(&owner).unwrap_or_default();
            let operand = operands.iter().find(|operand| {
                operand.destination
                    && operand.element == field.element
                    && field.owner.is_some_and(|(_, id)| id == operand.id)
            });
            let held = expectation(field).is_some_and(|bytes| bytes > 0);
            if self.stored && operand.is_none() && held {
                let what = "the call did not return until the engine had put what the recording \
                            found there into host memory: the program may have stored it";
                self.not_made(what, field.owner);
            } else {
                self.check(field, operand, owner);
            }
            if !operands.is_empty() {
                self.world.operands.insert(owner, operands);
            }
        }
    }

    /// Compares one expectation.
    fn check(&mut self, field: &Field, operand: Option<&HostOperand>, owner: EventId) {
        let function = operand.map_or(self.desc, |operand| operand.function);
        let Some(bytes) = expectation(field) else {
            self.world.report.checks_missing += 1;
            return;
        };
        if bytes == 0 {
            return;
        }
        let expected = match self.shared.content(&field.body) {
            Ok(Some(expected)) => expected,
            Ok(None) => return,
            Err(refusal) => {
                self.world.report.damaged |= refusal.damaged;
                return self.not_made(&refusal.reason, field.owner);
            }
        };
        let plain = crate::desc::Rect {
            offset: 0,
            width: bytes,
            height: 1,
            depth: 1,
            pitch: bytes,
            slice: bytes,
        };
        let rect = operand.map_or(plain, |operand| operand.rect);
        if scope::packed_bytes(&rect) != Some(bytes) {
            return self.not_made("the copy now has another size", field.owner);
        }
        let base = match operand {
            Some(operand) => self.world.operand_base(operand),
            None => self.world.host_base(field.address, bytes),
        };
        let base = match base {
            Ok(base) => base,
            Err(refusal) => return self.not_made(&refusal.reason, field.owner),
        };
        let rules =
            Rules { tolerance: self.shared.options.tolerance, memory: Some(&self.world.memory) };
        // SAFETY: the footprint lies in a buffer of ours, or in a host range that lives; the work
        // that writes it is done, since the recording took its own content here.
        let found = unsafe { rules.compare_rows(&expected, base, &rect) };
        let differs = found.is_some() || self.shared.options.tolerance.is_some();
        let range = match operand {
            Some(_) => None,
            None => self.world.memory.find_host(field.address),
        };
        // What the replay itself stored there says nothing.
        let stored = range.as_deref().map_or(0, |range| {
            range.content.stored_in((field.address - range.start) as usize, bytes as usize)
        });
        match (found, self.world.unwritten, self.world.exported) {
            (None, _, _) => {
                self.world.report.checks_passed += 1;
                self.world.report.bytes_checked += bytes - stored;
            }
            (Some(found), None, _) if self.world.guessed.is_some() => {
                let at = self.world.guessed.map(EventName::from).map(|at| at.to_string());
                let what = format!(
                    "{bytes} bytes cannot be held against the recording ({found}): before event {} \
                     stores were made that were taken for the program's",
                    at.unwrap_or_default()
                );
                self.not_made(&what, field.owner);
            }
            (Some(found), Some(cause), _) => {
                self.world.report.checks_not_made += 1;
                let what = format!("{bytes} bytes cannot be held against the recording ({found})");
                let refusal = Refusal::because(what, cause);
                self.world.find_refusal(owner, &name(function), &refusal);
            }
            (Some(found), None, Some((exported, by))) => {
                self.world.report.checks_not_made += 1;
                let what = format!(
                    "{bytes} bytes cannot be held against the recording ({found}): since {} ({}) \
                     another process, which is replayed alone, can write this one's memory",
                    EventName::from(exported),
                    name(by)
                );
                self.world.find(owner, &name(function), FindingKind::CheckNotMade, what);
            }
            (Some(found), None, None) => {
                self.world.report.checks_failed += 1;
                self.world.report.bytes_checked += bytes;
                let at = operand.map_or(field.address, |operand| operand.address);
                let text = format!("{bytes} bytes at host address {at:#x}: {found}");
                self.world.find(owner, &name(function), FindingKind::CheckFailed, text.clone());
                self.differences.push(format!("check of {} ({})", name(function), text));
            }
        }
        if operand.is_none() {
            // The recording's next launch found these bytes here, and holds only what changed since.
            let content = self.world.rewrite_words(&expected).into_owned();
            if differs {
                // SAFETY: the range holds this many bytes, as above.
                unsafe { std::ptr::copy_nonoverlapping(content.as_ptr(), base, content.len()) };
            }
            if let Some(range) = self.world.memory.find_host(field.address) {
                let offset = (field.address - range.start) as usize;
                range.content.take(range.bytes as usize, offset, &content);
            }
        }
    }

    fn not_made(&mut self, reason: &str, owner: Option<(EventId, u16)>) {
        self.world.report.checks_not_made += 1;
        let id = owner.map_or(self.event.id, |(id, _)| id);
        self.world.find(id, &name(self.desc), FindingKind::CheckNotMade, reason);
    }

    // ---- effects -----------------------------------------------------------------------------------

    /// Keeps the host operands whose work may still run, and looks at the canaries of the others.
    fn settle_operands(&mut self, success: bool) {
        let Some(call) = self.call.as_mut() else { return };
        let operands = std::mem::take(&mut call.operands);
        let reads = std::mem::take(&mut call.device_reads);
        if success && operands.iter().any(|operand| operand.destination) {
            for (address, rect) in reads {
                for row in scope::rows(&rect).take(1 << 16) {
                    self.world.memory.mark_read(address.wrapping_add(row), rect.width);
                }
            }
        }
        let asynchronous = self.desc.effects.iter().any(|effect| effect.defers());
        for mut operand in operands {
            if asynchronous {
                operand.since = self.world.calls;
                self.world.operands.entry(self.event.id).or_default().push(operand);
            } else if let Kept::Own(buffer) = &operand.kept
                && let Some(damage) = buffer.damage()
            {
                self.damaged(damage);
            }
        }
    }

    fn damaged(&mut self, damage: String) {
        self.world.find(self.event.id, &name(self.desc), FindingKind::Canary, damage.clone());
        self.differences.push(damage);
    }

    fn effects(&mut self, success: bool) {
        for effect in self.desc.effects {
            let recorded = |index: u16| recorded_param(self.event, self.desc, index);
            match effect {
                Effect::CompletesDevice if success => self.complete(|_| true),
                Effect::CompletesStream { stream } if success => {
                    let stream = recorded(*stream);
                    self.complete(|operand| operand.stream == Some(stream));
                }
                Effect::CompletesNullStream if success => {
                    self.complete(|operand| operand.stream.is_none_or(|stream| stream == 0));
                }
                Effect::CompletesEvent { event } if success => {
                    if let Some((stream, mark)) = self.world.marks.get(&recorded(*event)).copied() {
                        self.complete(|operand| {
                            operand.stream == Some(stream) && operand.since <= mark
                        });
                    }
                }
                Effect::RecordsEvent { event, stream } if success => {
                    let of = (stream.map_or(0, recorded), self.started);
                    self.world.marks.insert(recorded(*event), of);
                }
                Effect::BeginsCapture { stream } if success => {
                    self.world.captures.insert(recorded(*stream), None);
                }
                Effect::EndsCapture { stream, graph } => {
                    let cause = self.world.captures.remove(&recorded(*stream)).flatten();
                    if let (Some(cause), true) = (cause, success) {
                        self.mark_written(*graph, cause);
                    }
                }
                Effect::ResetsDevice if success => self.world.memory.reset(),
                Effect::ExportsMemory if success => {
                    self.world.exported.get_or_insert((self.event.id, self.desc));
                }
                Effect::Enqueues { .. }
                | Effect::Launches
                | Effect::CompletesDevice
                | Effect::CompletesStream { .. }
                | Effect::CompletesEvent { .. }
                | Effect::RecordsEvent { .. }
                | Effect::WaitsEvent { .. }
                | Effect::BeginsCapture { .. }
                | Effect::AddsToGraph { .. }
                | Effect::SetsNode { .. }
                | Effect::EnablesNode { .. }
                | Effect::ClonesGraph { .. }
                | Effect::Instantiates { .. }
                | Effect::UpdatesExec { .. }
                | Effect::LaunchesGraph { .. }
                | Effect::MakesStream { .. }
                | Effect::CompletesNullStream
                | Effect::DefinesKernel { .. }
                | Effect::ResetsDevice
                | Effect::ExportsMemory
                | Effect::PeeksLastError
                | Effect::TakesLastError => {}
            }
        }
    }

    /// Lets go of operands whose work is done: those enqueued by calls that had returned before
    /// this one was issued.
    fn complete(&mut self, of_this: impl Fn(&HostOperand) -> bool) {
        let started = self.started;
        self.world.release_operands(|operand| {
            !operand.graph && operand.since <= started && of_this(operand)
        });
    }

    /// Marks the graph that was written through an out parameter.
    fn mark_written(&mut self, index: u16, cause: EventId) {
        let tree = Tree::of(self.event, self.desc.params);
        let Some(param) = self.desc.params.get(usize::from(index)) else { return };
        if let Role::OutHandle { handle, .. } = &param.role
            && let Some(field) = tree.after[usize::from(index)].field
            && let Ok(Some(content)) = self.shared.content(&field.body)
        {
            self.world.handles.mark_incomplete(handle, word(&content, 0, 8), cause);
        }
    }

    /// Looks at the canaries of what the call was given, and keeps what the runtime may still use.
    fn inspect_arena(&mut self) {
        let Some(call) = self.call.as_mut() else { return };
        let arena = std::mem::take(&mut call.arena);
        let damages: Vec<String> = arena.iter().filter_map(|buffer| buffer.damage()).collect();
        // A function that answers nothing registers something when the program starts; the runtime
        // keeps what it was given, such as the place of a managed variable's address.
        let registers = self.desc.ret.bytes == 0;
        let kept = self.desc.params.iter().any(|param| {
            matches!(
                param.role,
                Role::DefinesHostSymbol { .. } | Role::Image(_) | Role::JitOptions { .. }
            )
        });
        if registers || kept {
            self.world.forever.extend(arena);
        }
        for damage in damages {
            self.damaged(damage);
        }
    }
}

/// The destinations of copies that were written when the call returned: id, element, content.
fn collect_destinations<'e>(
    params: &'static [ParamDesc],
    nodes: &[Node<'e>],
    element: u32,
    found: &mut Vec<(u16, u32, &'e Field)>,
) {
    for (id, (param, node)) in params.iter().zip(nodes).enumerate() {
        match &param.role {
            Role::Operand { side: Side::Destination, .. } => {
                found.extend(node.field.map(|field| (id as u16, element, field)));
            }
            Role::Struct(payload) | Role::Pointee { payload, .. } | Role::Array { payload, .. } => {
                if let Shape::Struct(members) = payload.shape {
                    let single = node.elements.len() == 1;
                    for (index, below) in &node.elements {
                        let element = if single && *index == 0 { element } else { *index };
                        collect_destinations(members, below, element, found);
                    }
                }
            }
            // The other roles hold no copies.
            _ => {}
        }
    }
}

/// A scalar, for people.
pub(crate) fn scalar_text(kind: ScalarKind, bytes: &[u8]) -> String {
    let unsigned = word(bytes, 0, bytes.len());
    match (kind, bytes.len()) {
        (ScalarKind::Signed, 1) => (unsigned as i8).to_string(),
        (ScalarKind::Signed, 2) => (unsigned as i16).to_string(),
        (ScalarKind::Signed, 4) => (unsigned as i32).to_string(),
        (ScalarKind::Signed, 8) => (unsigned as i64).to_string(),
        (ScalarKind::Unsigned, 1 | 2 | 4 | 8) => unsigned.to_string(),
        (ScalarKind::Float, 4) => f32::from_bits(unsigned as u32).to_string(),
        (ScalarKind::Float, 8) => f64::from_bits(unsigned).to_string(),
        (ScalarKind::Signed | ScalarKind::Unsigned | ScalarKind::Float | ScalarKind::Bytes, _) => {
            hex(&bytes[..bytes.len().min(32)])
        }
    }
}

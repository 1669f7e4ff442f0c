//! One call at replay: rebuild, issue, conclude. Hand-written halves work with the same three steps.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::archive::event::{
    Body, Event, EventId, FIELD_CHECK, FIELD_CUSTOM, FIELD_HOST_SEEN, FIELD_HOST_WRITE, Field,
    Phase,
};
use crate::arg::Ret;
use crate::desc::{ApiDesc, Class, Effect, HandleDesc, ParamDesc, RetKind, Role, Space, SpaceOf};

use super::Refusal;
use super::engine::Shared;
use super::finish::{self, Finisher};
use super::handles::Entry;
use super::rebuild::{Call, Rebuilder, recorded_param, word};
use super::report::{FindingKind, Outcome};
use super::scope;
use super::tree::Tree;
use super::world::name;

/// How a call was issued: what a half of replay answers.
#[must_use]
#[derive(Debug)]
pub struct Issued(Result<(), Refusal>);

impl From<Refusal> for Issued {
    fn from(refusal: Refusal) -> Issued {
        Issued(Err(refusal))
    }
}

/// What the engine serves itself instead of the runtime.
enum Served {
    /// An allocation, at its recorded address.
    Placed { address: u64 },
    /// The end of one.
    Unplaced,
}

/// What a half of replay works with: one recorded call, and the live process.
///
/// A half that only changes an argument calls [`ReplayCx::rebuild`], [`ReplayCx::set_arg`] and
/// [`ReplayCx::call`]; one that issues other functions passes them to [`ReplayCx::issue`]. Both end
/// with [`ReplayCx::issued`], after which the engine takes in and compares the results by the
/// declaration's roles, or with [`ReplayCx::refuse`].
pub struct ReplayCx<'a> {
    shared: &'a Shared,
    slot: usize,
    event: &'a Event,
    desc: &'static ApiDesc,
    tree: Tree<'a>,
    call: Option<Call>,
    /// What the call returned, aligned to 16; `None`: not issued.
    ret: Option<Vec<u128>>,
    served: Option<Served>,
    /// Calls that had returned when this one was issued.
    started: u64,
    /// Whether what the program may have stored was put into host memory while the call waited.
    stored: bool,
}

impl<'a> ReplayCx<'a> {
    pub(super) fn new(
        shared: &'a Shared,
        slot: usize,
        event: &'a Event,
        desc: &'static ApiDesc,
    ) -> ReplayCx<'a> {
        let tree = Tree::of(event, desc.params);
        ReplayCx {
            shared,
            slot,
            event,
            desc,
            tree,
            call: None,
            ret: None,
            served: None,
            started: 0,
            stored: false,
        }
    }

    // ---- what was recorded -----------------------------------------------------------------------

    /// The event's name.
    pub fn id(&self) -> EventId {
        self.event.id
    }

    /// The declaration.
    pub fn desc(&self) -> &'static ApiDesc {
        self.desc
    }

    /// What the call returned when recorded: its first 8 bytes.
    pub fn recorded_ret(&self) -> u64 {
        self.event.ret
    }

    /// Whether the call failed when recorded.
    pub fn failed(&self) -> bool {
        finish::failed(self.desc, self.event)
    }

    /// The recorded value of an integer, handle or pointer parameter.
    pub fn recorded_arg(&self, index: u16) -> u64 {
        recorded_param(self.event, self.desc, index)
    }

    /// The whole recorded content of a parameter; `None` for null.
    ///
    /// # Errors
    /// It is absent, truncated or damaged.
    pub fn field(&self, index: u16, phase: Phase) -> Result<Option<Arc<[u8]>>, Refusal> {
        let nodes = match phase {
            Phase::Before => &self.tree.before,
            Phase::After => &self.tree.after,
        };
        let field = nodes.get(usize::from(index)).and_then(|node| node.field);
        match field {
            Some(field) if field.original > field.recorded => {
                Err(Refusal::new("the recording does not hold all of it"))
            }
            Some(Field { body: Body::Absent(reason), .. }) => Err(Refusal::new(reason.text())),
            Some(field) => self.shared.content(&field.body),
            None => Ok(None),
        }
    }

    /// The data that the recording half kept under a number.
    ///
    /// # Errors
    /// It is damaged.
    pub fn custom(&self, element: u32) -> Result<Option<Arc<[u8]>>, Refusal> {
        let mut fields = self.event.fields.iter();
        match fields.find(|field| field.id == FIELD_CUSTOM && field.element == element) {
            Some(field) => self.shared.content(&field.body),
            None => Ok(None),
        }
    }

    // ---- the live process ------------------------------------------------------------------------

    /// The live handle of a recorded one, if some call made it.
    ///
    /// # Errors
    /// The call that should have made it did not.
    pub fn live_handle(&self, desc: &HandleDesc, recorded: u64) -> Result<Option<u64>, Refusal> {
        self.shared.world().handles.resolve(desc, recorded)
    }

    /// Says what a recorded handle stands for from now on.
    pub fn enter_handle(&self, desc: &'static HandleDesc, recorded: u64, live: u64) {
        self.shared.world().handles.enter(desc, recorded, Entry::Live(live));
    }

    /// Forgets a recorded handle.
    pub fn end_handle(&self, desc: &HandleDesc, recorded: u64) {
        self.shared.world().handles.end(desc, recorded);
    }

    /// The live address of a recorded one, if it lies in a known range.
    ///
    /// # Errors
    /// The call that should have allocated it did not.
    pub fn live_address(&self, recorded: u64) -> Result<Option<u64>, Refusal> {
        Ok(self.shared.world().memory.resolve(recorded)?.map(|found| found.live))
    }

    /// Says where a recorded range is from now on.
    pub fn enter_range(&self, recorded: u64, bytes: u64, live: u64, space: Option<Space>) {
        finish::enter_range(&mut self.shared.world(), recorded, bytes, live, space);
    }

    /// Forgets the recorded range that starts at an address.
    pub fn end_range(&self, recorded: u64) {
        self.shared.world().memory.end(recorded);
    }

    // ---- the call --------------------------------------------------------------------------------

    /// Rebuilds the argument block. In a hand-written half a path that names a code image
    /// ([`crate::desc::ImageForm::File`]) becomes a pointer to the image's bytes.
    ///
    /// # Errors
    /// Something that the call needs cannot be rebuilt.
    pub fn rebuild(&mut self) -> Result<(), Refusal> {
        let mut world = self.shared.world();
        self.shared.prepare(&mut world, self.event, self.desc)?;
        let (mut stream, mut graph) = (None, false);
        for effect in self.desc.effects {
            match effect {
                Effect::Enqueues { stream: index } => {
                    stream = Some(recorded_param(self.event, self.desc, *index));
                }
                Effect::AddsToGraph { .. } | Effect::SetsNode { .. } => graph = true,
                _ => {}
            }
        }
        graph |= stream.is_some_and(|stream| world.captures.contains_key(&stream));
        let mut rebuilder = Rebuilder {
            shared: self.shared,
            world: &mut world,
            event: self.event,
            desc: self.desc,
            failed: finish::failed(self.desc, self.event),
            stream,
            graph,
            by_hand: self.desc.replay.is_some(),
            call: Call::new(self.desc),
        };
        rebuilder.run(&self.tree)?;
        self.call = Some(rebuilder.call);
        drop(world);
        if self.event.fields.iter().any(|field| field.id == FIELD_HOST_SEEN) {
            self.shared.settle_hosts(self.event, self.desc);
        }
        Ok(())
    }

    fn param(&self, index: u16, bytes: usize) -> &'static ParamDesc {
        let param = &self.desc.params[usize::from(index)];
        assert!(
            param.bytes as usize == bytes,
            "`{}` of {} has {} bytes, not {bytes}",
            param.name,
            name(self.desc),
            param.bytes
        );
        param
    }

    /// A rebuilt argument.
    ///
    /// # Panics
    /// Before [`ReplayCx::rebuild`], or for a type of another size: mistakes of the half.
    pub fn arg<T: Copy>(&mut self, index: u16) -> T {
        let param = self.param(index, size_of::<T>());
        let call = self.call.as_mut().expect("`rebuild` comes first");
        let slot = call.slot(param).expect("a parameter lies in its block");
        // SAFETY: the slot holds `size_of::<T>()` initialised bytes; `T` is the plain C type of the
        // parameter, as the half's own declaration spells it.
        unsafe { slot.as_ptr().cast::<T>().read_unaligned() }
    }

    /// Changes a rebuilt argument.
    ///
    /// # Panics
    /// As [`ReplayCx::arg`].
    pub fn set_arg<T: Copy>(&mut self, index: u16, value: T) {
        let param = self.param(index, size_of::<T>());
        let call = self.call.as_mut().expect("`rebuild` comes first");
        let slot = call.slot(param).expect("a parameter lies in its block");
        // SAFETY: the slot holds `size_of::<T>()` bytes.
        unsafe { slot.as_mut_ptr().cast::<T>().write_unaligned(value) };
    }

    /// Issues the recorded function with the rebuilt arguments.
    ///
    /// # Panics
    /// Before [`ReplayCx::rebuild`].
    pub fn call(&mut self) {
        assert!(self.call.is_some(), "`rebuild` comes first");
        self.invoke(self.desc);
    }

    /// Issues something else of the runtime in the place of the recorded call.
    pub fn issue<R: Ret>(&mut self, call: impl FnOnce() -> R) {
        self.started = self.shared.world().calls;
        let (answer, stored) = self.watched(name(self.desc), call);
        self.stored |= stored;
        let mut ret = vec![0u128; size_of::<R>().div_ceil(16).max(1)];
        // SAFETY: the words hold at least `size_of::<R>()` bytes, aligned to 16.
        unsafe { ret.as_mut_ptr().cast::<R>().write_unaligned(answer) };
        self.ret = Some(ret);
    }

    /// Says that the call was issued: its results are taken in and compared.
    pub fn issued(&mut self) -> Issued {
        Issued(Ok(()))
    }

    /// Refuses the call.
    pub fn refuse(&mut self, reason: impl Into<String>) -> Issued {
        Issued(Err(Refusal::new(reason)))
    }

    /// Calls a function with the rebuilt block, which must be of its shape.
    fn invoke(&mut self, desc: &'static ApiDesc) {
        self.started = self.shared.world().calls;
        let mut ret = vec![0u128; (desc.ret.bytes as usize).div_ceil(16).max(1)];
        let args = self.call.as_ref().map_or(std::ptr::null(), Call::args_const);
        // SAFETY: a data pointer is as large as the function pointer that `F` stands for.
        let function = unsafe { crate::private::real_bound::<*const ()>(desc) };
        let ((), stored) = self.watched(name(desc), || {
            // SAFETY: the function was bound for this descriptor, the block was rebuilt by it (or
            // begins with the parameters that it has), the room for the answer is aligned to 16,
            // and the callee's contract holds as far as it held for the recorded program.
            unsafe { (desc.invoke)(function, args, ret.as_mut_ptr().cast()) };
        });
        self.stored |= stored;
        self.ret = Some(ret);
    }

    /// Runs something of the runtime for this event.
    fn watched<T>(&self, what: String, call: impl FnOnce() -> T) -> (T, bool) {
        self.shared.watched(self.slot, self.event.id, what, self.results(), call)
    }

    /// What the recording found in reachable host memory when the call had returned.
    fn results(&self) -> Vec<(u64, Arc<[u8]>)> {
        let ranges = self.event.fields.iter().filter(|field| {
            field.id == FIELD_CHECK && field.owner.is_none_or(|(_, id)| id == FIELD_HOST_WRITE)
        });
        ranges
            .filter_map(|field| Some((field.address, self.shared.content(&field.body).ok()??)))
            .collect()
    }

    /// The interpreter: what replays a call without a hand-written half.
    pub(super) fn interpret(&mut self) -> Issued {
        match self.try_interpret() {
            Ok(()) => self.issued(),
            Err(refusal) => refusal.into(),
        }
    }

    fn try_interpret(&mut self) -> Result<(), Refusal> {
        self.rebuild()?;
        // SAFETY: as in `invoke`.
        let function = unsafe { crate::private::real_bound::<*const ()>(self.desc) };
        if std::ptr::eq(function, self.desc.missing.0) && !self.failed() {
            return Err(Refusal::new("the runtime does not have it"));
        }
        if self.serve()? {
            return Ok(());
        }
        if let Class::Query { wait } = &self.desc.class
            && finish::status(self.desc, self.event.ret) == Some(0)
        {
            self.wait_for(*wait);
        }
        self.call();
        Ok(())
    }

    /// Waits for what a recorded query saw finished. Without a function that waits, the query is
    /// asked again until it says so, or until the watchdog's limit.
    fn wait_for(&mut self, wait: Option<&'static ApiDesc>) {
        if let Some(wait) = wait {
            self.invoke(wait);
            return;
        }
        let RetKind::Status { not_ready } = self.desc.ret.kind else { return };
        let end = Instant::now() + self.shared.options.limit.unwrap_or(Duration::MAX / 4);
        let mut pause = Duration::from_micros(100);
        loop {
            self.call();
            if self.live_status() != Some(not_ready) || Instant::now() > end {
                return;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    fn live_status(&self) -> Option<i64> {
        finish::status(self.desc, self.ret.as_ref()?[0] as u64)
    }

    // ---- memory that the engine serves itself ------------------------------------------------------

    /// Serves allocations that can be placed and frees of placed ones. `false`: the runtime serves.
    fn serve(&mut self) -> Result<bool, Refusal> {
        if finish::status(self.desc, self.event.ret) != Some(0) {
            return Ok(false);
        }
        if self.desc.effects.contains(&Effect::ResetsDevice) {
            self.unplace_all();
            return Ok(false);
        }
        for (index, param) in self.desc.params.iter().enumerate() {
            match &param.role {
                Role::OutDevicePointer { bytes: Some(_), allocates: Some(space) }
                    if self.allocates_in(space) == Some(Space::Device) =>
                {
                    return self.place(index, param);
                }
                Role::DevicePointer { frees: true } => {
                    return self.unplace(recorded_param(self.event, self.desc, index as u16));
                }
                _ => {}
            }
        }
        Ok(false)
    }

    fn allocates_in(&self, space: &SpaceOf) -> Option<Space> {
        Some(space.of(&self.call.as_ref()?.scope(self.desc, false)))
    }

    fn place(&mut self, index: usize, param: &'static ParamDesc) -> Result<bool, Refusal> {
        let Role::OutDevicePointer { bytes: Some(len), .. } = &param.role else { return Ok(false) };
        let address = match self.tree.after[index].field {
            Some(field) => match self.shared.content(&field.body)? {
                Some(content) => word(&content, 0, 8),
                None => return Ok(false),
            },
            None => return Ok(false),
        };
        self.fill_outputs(index, address);
        let Some(call) = &self.call else { return Ok(false) };
        let bytes = scope::len(len, &call.scope(self.desc, true)).unwrap_or(0);
        if address == 0 || bytes == 0 {
            return Ok(false);
        }
        let why_not = self.try_place(address, bytes);
        match why_not {
            Ok(()) => {
                self.started = self.shared.world().calls;
                self.ret = Some(vec![self.event.ret.into()]);
                self.served = Some(Served::Placed { address });
                Ok(true)
            }
            Err(reason) => {
                let mut world = self.shared.world();
                world.unplaced(self.event.id, self.desc, address, bytes, reason);
                Ok(false)
            }
        }
    }

    fn try_place(&self, address: u64, bytes: u64) -> Result<(), String> {
        if !self.shared.options.place {
            return Err("placement is off".to_owned());
        }
        let (Some(helper), Some(driver)) = (&self.shared.helper, &self.shared.options.driver)
        else {
            return Err("there is no driver that could place it".to_owned());
        };
        let end = address.saturating_add(bytes);
        if let Some((_, function)) = self.shared.own_memory.range(address..end).next() {
            return Err(format!("a call of {function} needs memory of the runtime's own"));
        }
        let pending = {
            let mut world = self.shared.world();
            if !world.captures.is_empty() {
                return Err("a stream was being captured".to_owned());
            }
            std::mem::take(&mut world.to_unplace)
        };
        for address in pending {
            helper.run(move |driver| driver.unplace(address))??;
        }
        let what = || format!("{} (placing its memory)", name(self.desc));
        let (placed, _) = self.watched(what(), || {
            let device = driver.current_device()?;
            helper.run(move |driver| driver.place(address, bytes, device))?
        });
        placed
    }

    /// Fills in what the recorded call wrote: the size of the allocation may be one of its outputs.
    fn fill_outputs(&mut self, index: usize, address: u64) {
        let Some(call) = &mut self.call else { return };
        for (other, param) in self.desc.params.iter().enumerate() {
            let content = match self.tree.after[other].field {
                _ if other == index => Some(address.to_le_bytes().to_vec()),
                Some(field) => {
                    self.shared.content(&field.body).ok().flatten().map(|content| content.to_vec())
                }
                None => None,
            };
            let Some(content) = content else { continue };
            let Some(slot) = call.slot(param) else { continue };
            let at = word(slot, 0, slot.len()) as *mut u8;
            // Only buffers of our own are written, and only as far as they reach.
            if let Some(buffer) = call.arena.iter().find(|buffer| buffer.as_ptr() == at) {
                buffer.fill(&content);
            }
        }
    }

    fn unplace(&mut self, address: u64) -> Result<bool, Refusal> {
        let (placed, capturing) = {
            let world = self.shared.world();
            let placed = world.memory.at(address).is_some_and(|range| range.placed);
            (placed, !world.captures.is_empty())
        };
        let (Some(helper), Some(driver)) = (&self.shared.helper, &self.shared.options.driver)
        else {
            return Ok(false);
        };
        if !placed {
            return Ok(false);
        }
        if capturing {
            self.shared.world().to_unplace.push(address);
        } else {
            let what = format!("{} (ending placed memory)", name(self.desc));
            let (ended, _) = self.watched(what, || {
                driver.current_device()?;
                helper.run(move |driver| driver.unplace(address))?
            });
            if let Err(reason) = ended {
                let mut world = self.shared.world();
                world.find(self.event.id, &name(self.desc), FindingKind::Note, reason);
            }
        }
        self.started = self.shared.world().calls;
        self.ret = Some(vec![self.event.ret.into()]);
        self.served = Some(Served::Unplaced);
        Ok(true)
    }

    fn unplace_all(&mut self) {
        let Some(helper) = &self.shared.helper else { return };
        let placed = self.shared.world().memory.placed();
        for address in placed {
            let ended = helper.run(move |driver| driver.unplace(address)).and_then(|ended| ended);
            if let Err(reason) = ended {
                let mut world = self.shared.world();
                world.find(self.event.id, &name(self.desc), FindingKind::Note, reason);
            }
        }
    }

    // ---- the end ---------------------------------------------------------------------------------

    /// Takes in what the call did and judges it.
    pub(super) fn conclude(mut self, issued: Issued) -> Option<Outcome> {
        let mut world = self.shared.world();
        if let Issued(Err(refusal)) = issued {
            return Some(finish::refuse(self.shared, &mut world, self.event, self.desc, &refusal));
        }
        let Some(ret) = self.ret.take() else {
            let refusal = Refusal::new("its hand-written half issued nothing");
            return Some(finish::refuse(self.shared, &mut world, self.event, self.desc, &refusal));
        };
        world.calls += 1;
        let placed = match self.served {
            Some(Served::Placed { address }) => {
                world.report.placed += 1;
                Some(address)
            }
            Some(Served::Unplaced) | None => None,
        };
        Finisher {
            shared: self.shared,
            world: &mut world,
            event: self.event,
            desc: self.desc,
            call: self.call.as_mut(),
            ret: &ret,
            placed,
            started: self.started,
            stored: self.stored,
            differences: Vec::new(),
            buffers: Vec::new(),
        }
        .run(&self.tree.after)
    }
}

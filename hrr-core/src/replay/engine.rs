//! What all replay threads share, and one event from its reading to its outcome.
//!
//! The world is locked while a call is rebuilt and while its results are taken in, never while the
//! runtime runs: calls that overlapped when recorded may overlap again.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::archive::event::{Body, Event, EventId, FIELD_HOST_SEEN, FIELD_HOST_WRITE, Field};
use crate::desc::{ApiDesc, Class, Effect, Role};

use super::bind::Binding;
use super::cx::ReplayCx;
use super::driver::Helper;
use super::order::Gate;
use super::rebuild::recorded_param;
use super::report::{FindingKind, Outcome};
use super::source::Recording;
use super::world::{World, name};
use super::{Progress, Refusal, ReplayOptions, callbacks, finish, scope};

/// A call that runs.
pub(super) struct Current {
    pub(super) id: EventId,
    pub(super) function: String,
    pub(super) since: Instant,
    /// After how long the next message about it is due.
    pub(super) next_word: Duration,
    /// It did not return in time, and replay goes on without its thread.
    pub(super) given_up: bool,
    /// What the recording found in reachable host memory when the call had returned: recorded
    /// address and content. The program may have stored a part of it while the call waited.
    pub(super) results: Vec<(u64, Arc<[u8]>)>,
    /// Whether that was put there, because the call did not return without it.
    pub(super) stored: bool,
}

/// What must be known of later events.
#[derive(Default)]
pub(super) struct Ahead {
    /// See [`Shared::own_memory`].
    pub(super) own_memory: BTreeMap<u64, String>,
    /// See [`Shared::callback_stores`].
    pub(super) callback_stores: callbacks::Stores,
}

/// What all replay threads share.
pub(super) struct Shared {
    pub(super) recording: Arc<dyn Recording>,
    pub(super) options: ReplayOptions,
    pub(super) devices: u32,
    pub(super) bindings: Vec<Binding>,
    pub(super) helper: Option<Helper>,
    pub(super) gate: Gate,
    pub(super) current: Vec<Mutex<Option<Current>>>,
    /// Events of each thread that have an outcome.
    pub(super) done: Vec<AtomicU64>,
    pub(super) progress: Box<dyn Fn(Progress<'_>) + Send + Sync>,
    /// Handle types of graphs and of executable graphs, by the effects of the declarations.
    pub(super) graph_types: Vec<&'static str>,
    pub(super) exec_types: Vec<&'static str>,
    /// Addresses that functions are given which need memory of the runtime's own, and the function.
    pub(super) own_memory: BTreeMap<u64, String>,
    /// What the program's callbacks stored.
    pub(super) callback_stores: callbacks::Stores,
    /// Itself, for what the runtime keeps longer than the replay lasts.
    pub(super) me: Weak<Shared>,
    world: Mutex<World>,
}

impl Shared {
    #[expect(clippy::too_many_arguments, reason = "called once, by the one who has the parts")]
    pub(super) fn new(
        recording: Arc<dyn Recording>,
        options: ReplayOptions,
        devices: u32,
        bindings: Vec<Binding>,
        helper: Option<Helper>,
        threads: usize,
        progress: Box<dyn Fn(Progress<'_>) + Send + Sync>,
        ahead: Ahead,
        world: World,
        me: Weak<Shared>,
    ) -> Shared {
        let (mut graph_types, mut exec_types) = (Vec::new(), Vec::new());
        for binding in &bindings {
            let Binding::Declared(desc) = binding else { continue };
            for effect in desc.effects {
                match effect {
                    Effect::Instantiates { graph, .. } => {
                        graph_types.extend(handle_name(desc, *graph));
                    }
                    Effect::LaunchesGraph { exec, .. } => {
                        exec_types.extend(handle_name(desc, *exec));
                    }
                    Effect::Enqueues { .. }
                    | Effect::Launches
                    | Effect::CompletesDevice
                    | Effect::CompletesStream { .. }
                    | Effect::CompletesEvent { .. }
                    | Effect::RecordsEvent { .. }
                    | Effect::WaitsEvent { .. }
                    | Effect::BeginsCapture { .. }
                    | Effect::EndsCapture { .. }
                    | Effect::AddsToGraph { .. }
                    | Effect::SetsNode { .. }
                    | Effect::EnablesNode { .. }
                    | Effect::ClonesGraph { .. }
                    | Effect::UpdatesExec { .. }
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
        Shared {
            recording,
            options,
            devices,
            bindings,
            helper,
            gate: Gate::new(threads),
            current: (0..threads).map(|_| Mutex::new(None)).collect(),
            done: (0..threads).map(|_| AtomicU64::new(0)).collect(),
            progress,
            graph_types,
            exec_types,
            own_memory: ahead.own_memory,
            callback_stores: ahead.callback_stores,
            me,
            world: Mutex::new(world),
        }
    }

    /// Locks the world.
    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        // A panic under the lock ends the replay as an internal error; the report is still wanted.
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The call that a thread is in.
    pub(super) fn current(&self, slot: usize) -> MutexGuard<'_, Option<Current>> {
        self.current[slot].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs something of the runtime under the watchdog's eye. Also answers whether `results` had to
    /// be put into host memory for it to return.
    pub(super) fn watched<T>(
        &self,
        slot: usize,
        id: EventId,
        function: String,
        results: Vec<(u64, Arc<[u8]>)>,
        call: impl FnOnce() -> T,
    ) -> (T, bool) {
        *self.current(slot) = Some(Current {
            id,
            function,
            since: Instant::now(),
            next_word: self.options.watchdog,
            given_up: false,
            results,
            stored: false,
        });
        let answer = call();
        let current = self.current(slot).take();
        (answer, current.is_some_and(|current| current.stored))
    }

    /// Makes the stores of the program that the recording saw in host memory while work ran, before
    /// the call is issued that saw them.
    pub(super) fn settle_hosts(&self, event: &Event, desc: &'static ApiDesc) {
        let Some(patience) = self.world().seen_and_missing() else { return };
        self.world().look_at_hosts();
        // No call asks whether work is done: runtimes hold up other callers while one waits, and the
        // work may be waiting for what this thread does next.
        let began = Instant::now();
        let mut pause = Duration::from_micros(100);
        while began.elapsed() < patience {
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
            if self.world().seen_and_missing().is_none() {
                return;
            }
        }
        let mut world = self.world();
        let Some((bytes, first)) = world.store_seen() else { return };
        world.guessed.get_or_insert(event.id);
        let text = format!(
            "{bytes} bytes of host memory, from {first:#x} on, were stored before it, while work ran \
             that did not write them: taken for stores of the program"
        );
        world.find(event.id, &name(desc), FindingKind::Note, text);
    }

    /// The bytes of a body: `None` for one without any.
    pub(super) fn content(&self, body: &Body) -> Result<Option<Arc<[u8]>>, Refusal> {
        match body {
            Body::Bytes(bytes) => Ok(Some(bytes.clone())),
            Body::Blob { hash, bytes } => {
                let content = self.recording.blob(*hash).map_err(|fault| Refusal {
                    damaged: fault.damaged,
                    ..Refusal::new(fault.what)
                })?;
                if content.len() as u64 != *bytes {
                    return Err(Refusal {
                        damaged: true,
                        ..Refusal::new(format!(
                            "the blob {hash:032x} has {} bytes, its event says {bytes}",
                            content.len()
                        ))
                    });
                }
                Ok(Some(content))
            }
            Body::Null | Body::Device | Body::Absent(_) => Ok(None),
        }
    }

    /// Replays one event of a thread and counts its outcome.
    pub(super) fn replay_event(&self, slot: usize, event: &Event) {
        if let Some(outcome) = self.outcome(slot, event) {
            self.world().report.count(outcome);
        }
        self.done[slot].fetch_add(1, Ordering::Relaxed);
    }

    /// The outcome of an event: `None` if a later synchronisation settles it.
    fn outcome(&self, slot: usize, event: &Event) -> Option<Outcome> {
        let binding = usize::try_from(event.api).ok().and_then(|api| self.bindings.get(api));
        let function = match binding {
            Some(Binding::Declared(desc)) => name(desc),
            Some(Binding::Unknown { name, .. }) => name.clone(),
            None => format!("function {}", event.api),
        };
        if event.leave.is_none() {
            let text = "it had not returned when the recording ended";
            self.world().find(event.id, &function, FindingKind::Note, text);
            return Some(Outcome::InFlight);
        }
        let desc: &'static ApiDesc = match binding {
            Some(Binding::Declared(desc)) => desc,
            Some(Binding::Unknown { reason, .. }) => {
                let refusal = Refusal::new(reason.clone());
                return Some(finish::refuse_unknown(&mut self.world(), event, &function, &refusal));
            }
            None => {
                let refusal = Refusal {
                    damaged: true,
                    ..Refusal::new("the archive's table has no such function")
                };
                return Some(finish::refuse_unknown(&mut self.world(), event, &function, &refusal));
            }
        };
        match &desc.class {
            Class::Host { .. } => {
                finish::checks_not_made(&mut self.world(), event);
                return Some(Outcome::Host);
            }
            Class::Refused { reason } => {
                let refusal = Refusal::new(*reason);
                return Some(finish::refuse(self, &mut self.world(), event, desc, &refusal));
            }
            Class::Ordering if self.options.strict => {
                let refusal = Refusal::new("the program's callback is not run (`--strict`)");
                return Some(finish::refuse(self, &mut self.world(), event, desc, &refusal));
            }
            Class::Replayed | Class::Query { .. } | Class::Ordering => {}
        }
        let mut cx = ReplayCx::new(self, slot, event, desc);
        let issued = match desc.replay {
            Some(by_hand) => by_hand(&mut cx),
            None => cx.interpret(),
        };
        cx.conclude(issued)
    }

    /// What must be so before a call is rebuilt, and the restoring of host memory.
    pub(super) fn prepare(
        &self,
        world: &mut World,
        event: &Event,
        desc: &'static ApiDesc,
    ) -> Result<(), Refusal> {
        if event.args.len() < desc.args_bytes as usize {
            return Err(Refusal {
                damaged: true,
                ..Refusal::new(format!(
                    "its argument block has {} of {} bytes",
                    event.args.len(),
                    desc.args_bytes
                ))
            });
        }
        self.refuse_incomplete(world, event, desc)?;
        for field in event.fields.iter().filter(|field| field.id == FIELD_HOST_SEEN) {
            // What lies in no range that lives, or is not all there, cannot be stored.
            if let (Some(content), true) =
                (self.content(&field.body)?, field.original == field.recorded)
            {
                world.see_host(field.address, &content, u64::from(field.element));
            }
        }
        for field in event.fields.iter().filter(|field| field.id == FIELD_HOST_WRITE) {
            self.restore(world, field).map_err(|refusal| Refusal {
                reason: format!("host memory at {:#x}: {}", field.address, refusal.reason),
                ..refusal
            })?;
        }
        Ok(())
    }

    /// Refuses calls that would run a graph, or build on one, that lacks a part.
    fn refuse_incomplete(
        &self,
        world: &World,
        event: &Event,
        desc: &'static ApiDesc,
    ) -> Result<(), Refusal> {
        let handles = || in_handles(desc);
        let of_type = |names: &[&str]| handles().any(|(_, handle, _)| names.contains(&handle.name));
        let runs = desc.effects.iter().any(|effect| {
            matches!(
                effect,
                Effect::ClonesGraph { .. }
                    | Effect::Instantiates { .. }
                    | Effect::LaunchesGraph { .. }
            )
        });
        let updates = of_type(&self.exec_types) && of_type(&self.graph_types);
        let added_to = desc.effects.iter().find_map(|effect| match effect {
            Effect::AddsToGraph { graph } => Some(*graph),
            _ => None,
        });
        for (index, handle, destroys) in handles() {
            let uses = runs || updates || added_to.is_some_and(|graph| graph != index);
            let recorded = recorded_param(event, desc, index);
            if let Some(cause) = world.handles.incomplete(handle, recorded)
                && uses
                && !destroys
            {
                let what = format!("the {} {recorded:#x} lacks a part", handle.name);
                return Err(Refusal::because(what, cause));
            }
        }
        Ok(())
    }

    /// Puts recorded bytes into a host range that the device reaches, or into a host buffer that a
    /// graph reads.
    fn restore(&self, world: &mut World, field: &Field) -> Result<(), Refusal> {
        if field.original > field.recorded {
            return Err(Refusal::new(format!(
                "the recording holds {} of {} bytes",
                field.recorded, field.original
            )));
        }
        let Some(content) = self.content(&field.body)? else {
            return Err(Refusal::new("the recording lacks its content"));
        };
        let bytes = content.len() as u64;
        let content = world.rewrite_words(&content).into_owned();
        let owned = field.owner.and_then(|owner| world.operand(owner, field.element, false));
        match owned {
            Some(operand) => {
                if scope::packed_bytes(&operand.rect) != Some(bytes) {
                    let what = "its content has another size than the copy that reads it";
                    return Err(Refusal::new(what));
                }
                let base = world.operand_base(operand)?;
                let width = (operand.rect.width as usize).max(1);
                for (row, bytes) in scope::rows(&operand.rect).zip(content.chunks(width)) {
                    // SAFETY: the operand's memory holds the footprint of its rectangle.
                    unsafe {
                        let to = base.add(row as usize);
                        std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
                    }
                }
            }
            None => {
                world.restore_host(field.address, &content)?;
            }
        }
        world.report.host_bytes_restored += bytes;
        Ok(())
    }
}

/// The handles that a call is given at its own level: index, type, whether it destroys them.
pub(super) fn in_handles(
    desc: &'static ApiDesc,
) -> impl Iterator<Item = (u16, &'static crate::desc::HandleDesc, bool)> {
    desc.params.iter().enumerate().filter_map(|(index, param)| match &param.role {
        Role::InHandle { handle, destroys } => Some((index as u16, *handle, *destroys)),
        _ => None,
    })
}

/// The handle type of a parameter.
pub(super) fn handle_name(desc: &'static ApiDesc, index: u16) -> Option<&'static str> {
    match &desc.params.get(usize::from(index))?.role {
        Role::InHandle { handle, .. } | Role::OutHandle { handle, .. } => Some(handle.name),
        _ => None,
    }
}

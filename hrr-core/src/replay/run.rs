//! A whole replay: its threads, their watchdog, and the report at the end.

use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::archive::event::{Event, EventId, FIELD_CALLBACK_STORE, FIELD_CHECK, Phase};
use crate::desc::{ApiDesc, Class, Role};

use super::arena::Budget;
use super::bind::{Binding, bind};
use super::driver::Helper;
use super::engine::{Ahead, Shared};
use super::finish;
use super::rebuild::recorded_param;
use super::report::{Finding, FindingKind, Outcome, Report, RuntimeIdentity};
use super::source::Recording;
use super::world::{World, name};
use super::{Progress, ReplayOptions};

/// How often the watchdog looks, at most.
const TICK: Duration = Duration::from_millis(50);

/// How long a call may take that was about to return when another began.
const OWNER_WAIT: Duration = Duration::from_millis(500);

/// How long the work that no recorded call waited for may take at the end.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// Which replay threads have ended.
struct Ended {
    slots: Mutex<Vec<bool>>,
    changed: Condvar,
}

/// Replays a recorded process.
///
/// One replay thread stands for each recorded one. Replay goes on after an event that diverged or
/// was refused; the report tells everything. `progress` is called from several threads.
pub fn replay(
    recording: impl Recording,
    options: ReplayOptions,
    progress: impl Fn(Progress<'_>) + Send + Sync + 'static,
) -> Report {
    let recording: Arc<dyn Recording> = Arc::new(recording);
    let mut world = World::new(Budget::new(options.host_bytes_max));
    let recorded = recording.runtime();
    let (helper, devices) = match start_driver(&options, &mut world.report) {
        Ok(started) => started,
        Err(reason) => return failed(world.report, &reason),
    };
    world.report.runtime.recorded = recorded;
    let bindings = bind(recording.functions(), &options.tables);
    for binding in &bindings {
        if let Binding::Unknown { name, reason } = binding {
            world.report.unknown_functions.insert(name.clone(), reason.clone());
        }
    }
    world.report.complete = true;
    for fault in recording.faults() {
        let lost = &mut world.report.events_lost;
        *lost = lost.saturating_add(fault.events_lost);
        archive_fault(&mut world.report, None, fault.damaged, fault.what);
    }
    let threads = recording.threads();
    let ahead = look_ahead(&*recording, &threads, &bindings, &options);
    let shared = Arc::new_cyclic(|me| {
        Shared::new(
            recording,
            options,
            devices,
            bindings,
            helper,
            threads.len(),
            Box::new(progress),
            ahead,
            world,
            me.clone(),
        )
    });
    run_threads(&shared, &threads);
    conclude(&shared, &threads)
}

/// Finds what replay must know of later events, which are read once more for it: the addresses that
/// functions are given which need memory of the runtime's own, and those that a failed copy was given
/// (what it went past may be there in placed memory); and what callbacks stored.
fn look_ahead(
    recording: &dyn Recording,
    threads: &[u32],
    bindings: &[Binding],
    options: &ReplayOptions,
) -> Ahead {
    let mut ahead = Ahead::default();
    let placing = options.driver.as_ref().filter(|_| options.place);
    let ordering = |binding: &Binding| match binding {
        Binding::Declared(desc) => matches!(desc.class, Class::Ordering),
        Binding::Unknown { .. } => false,
    };
    if placing.is_none() && !bindings.iter().any(ordering) {
        return ahead;
    }
    let needing: Vec<Option<(&'static ApiDesc, bool)>> = bindings
        .iter()
        .map(|binding| match (binding, placing) {
            (Binding::Declared(desc), Some(driver)) => {
                Some((*desc, driver.needs_own_memory(&name(desc))))
            }
            (Binding::Declared(_) | Binding::Unknown { .. }, _) => None,
        })
        .collect();
    let (mut handed_over, mut stores) = (HashMap::new(), Vec::new());
    for thread in threads {
        for event in recording.events(*thread).flatten() {
            if let Some(Some((desc, needs))) = needing.get(event.api as usize) {
                own_memory(&mut ahead.own_memory, desc, *needs, &event);
            }
            if bindings.get(event.api as usize).is_some_and(ordering) {
                handed_over.insert(event.id, event.enter);
            }
            for field in event.fields {
                if field.id == FIELD_CALLBACK_STORE {
                    let ran_by = match field.phase {
                        Phase::Before => event.enter,
                        Phase::After => event.leave.unwrap_or(u64::MAX),
                    };
                    stores.push((field, ran_by));
                }
            }
        }
    }
    for (field, ran_by) in stores {
        let owner = field.owner.and_then(|(owner, _)| handed_over.get(&owner).copied());
        ahead.callback_stores.enter(field, owner.unwrap_or(0), ran_by);
    }
    ahead.callback_stores.sort();
    ahead
}

fn own_memory(
    found: &mut BTreeMap<u64, String>,
    desc: &'static ApiDesc,
    needs: bool,
    event: &Event,
) {
    if !needs && !finish::failed(desc, event) {
        return;
    }
    for (index, param) in desc.params.iter().enumerate() {
        let address = recorded_param(event, desc, index as u16);
        let uses = match param.role {
            Role::DevicePointer { .. } => needs,
            Role::Operand { .. } => true,
            _ => false,
        };
        if uses && address != 0 {
            found.entry(address).or_insert_with(|| name(desc));
        }
    }
}

/// Starts the driver's thread and asks it what there is.
fn start_driver(
    options: &ReplayOptions,
    report: &mut Report,
) -> Result<(Option<Helper>, u32), String> {
    let Some(driver) = options.driver.clone() else { return Ok((None, u32::MAX)) };
    let helper = Helper::start(driver).map_err(|error| format!("no driver thread: {error}"))?;
    let (live, count, devices) = helper.run(|driver| {
        let count = driver.device_count();
        let shown = count.as_ref().map_or(0, |count| *count);
        let devices = (0..shown).map(|device| driver.device_name(device)).collect();
        (driver.identity(), count, devices)
    })?;
    report.runtime = RuntimeIdentity { live, recorded: String::new(), devices };
    Ok((Some(helper), count?))
}

fn failed(mut report: Report, reason: &str) -> Report {
    report.internal_error = Some(reason.to_owned());
    report
}

fn archive_fault(report: &mut Report, thread: Option<u32>, damaged: bool, what: String) {
    report.complete = false;
    report.damaged |= damaged;
    let reason = match thread {
        Some(thread) => format!("thread {thread}: {what}"),
        None => what,
    };
    report.find(Finding {
        event: None,
        function: String::new(),
        kind: FindingKind::Archive,
        reason,
        cause: None,
    });
}

/// Runs every thread to its end, or until the watchdog gives some up.
fn run_threads(shared: &Arc<Shared>, threads: &[u32]) {
    let ended =
        Arc::new(Ended { slots: Mutex::new(vec![false; threads.len()]), changed: Condvar::new() });
    for (slot, &thread) in threads.iter().enumerate() {
        let (of_thread, end, all) = (shared.clone(), ended.clone(), threads.to_vec());
        let spawned =
            std::thread::Builder::new().name(format!("hrr-replay-{thread}")).spawn(move || {
                replay_thread(&of_thread, slot, &all, thread);
                end.slots.lock().unwrap_or_else(PoisonError::into_inner)[slot] = true;
                end.changed.notify_all();
            });
        if let Err(error) = spawned {
            shared.gate.stop();
            shared.world().report.internal_error =
                Some(format!("no thread to replay thread {thread}: {error}"));
            let mut slots = ended.slots.lock().unwrap_or_else(PoisonError::into_inner);
            slots[slot..].fill(true);
            break;
        }
    }
    let tick = TICK.min(shared.options.watchdog / 4).max(Duration::from_millis(1));
    let mut slots = ended.slots.lock().unwrap_or_else(PoisonError::into_inner);
    let mut told = 0;
    while !slots.iter().enumerate().all(|(slot, ended)| *ended || watch(shared, slot)) {
        if has_ended(shared) {
            shared.gate.stop();
            // Those that the runtime still answers come to the end of their calls.
            let ends = |slots: &mut Vec<bool>| !slots.iter().all(|ended| *ended);
            let rest = ended.changed.wait_timeout_while(slots, LAST_WAIT, ends);
            drop(rest.unwrap_or_else(PoisonError::into_inner));
            break;
        }
        let done = shared.done.iter().map(|done| done.load(Ordering::Relaxed)).sum();
        if done != told {
            told = done;
            (shared.progress)(Progress::Advanced { events: done });
        }
        slots = ended.changed.wait_timeout(slots, tick).unwrap_or_else(PoisonError::into_inner).0;
    }
}

/// Whether the runtime has ended the process, of which a thread is held.
fn has_ended(shared: &Shared) -> bool {
    shared.options.ended.is_some_and(|ended| ended().is_some())
}

/// Takes what the recording found in host memory when a call had returned for stores of the program:
/// it does not return without them.
fn store_results(world: &mut World, results: &[(u64, Arc<[u8]>)]) -> bool {
    for (address, content) in results {
        world.see_host(*address, content, 0);
    }
    world.look_at_hosts();
    world.store_seen().is_some()
}

/// Looks at the call that a thread is in; `true` if it was given up.
fn watch(shared: &Shared, slot: usize) -> bool {
    let mut current = shared.current(slot);
    let Some(call) = current.as_mut() else { return false };
    let running = call.since.elapsed();
    if shared.options.limit.is_some_and(|limit| running >= limit) && !call.given_up {
        call.given_up = true;
        call.next_word = running;
        shared.gate.stop();
    }
    if running >= call.next_word {
        let results = std::mem::take(&mut call.results);
        call.stored |= store_results(&mut shared.world(), &results);
        call.next_word = running + shared.options.watchdog;
        (shared.progress)(Progress::Stuck {
            event: call.id,
            function: &call.function,
            running,
            given_up: call.given_up,
        });
    }
    call.given_up
}

/// Waits for the calls of other threads whose work became final with this one: it may have begun just
/// before they returned, so its time alone does not put it behind them.
fn wait_for_owners(shared: &Shared, threads: &[u32], thread: u32, event: &Event) {
    let owners = event.fields.iter().filter(|field| field.id == FIELD_CHECK);
    for (owner, _) in owners.filter_map(|field| field.owner).filter(|o| o.0.thread != thread) {
        let Some(slot) = threads.iter().position(|other| *other == owner.thread) else { continue };
        let began = Instant::now();
        // It runs now; an archive that names another one is not waited for, nor two for each other.
        while shared.done[slot].load(Ordering::Relaxed) == owner.index
            && began.elapsed() < OWNER_WAIT
            && !shared.gate.stopped()
        {
            std::thread::sleep(Duration::from_micros(50));
        }
    }
}

/// Replays the events of one recorded thread.
fn replay_thread(shared: &Shared, slot: usize, threads: &[u32], thread: u32) {
    let mut at = None;
    let finished = catch_unwind(AssertUnwindSafe(|| {
        let mut expected = 0;
        for event in shared.recording.events(thread) {
            let event = match event {
                Ok(event) => event,
                Err(fault) => {
                    let mut world = shared.world();
                    archive_fault(&mut world.report, Some(thread), fault.damaged, fault.what);
                    continue;
                }
            };
            at = Some((event.id, event.api));
            if event.id.index != expected {
                let what = format!("event {expected} is followed by event {}", event.id.index);
                let mut world = shared.world();
                archive_fault(&mut world.report, Some(thread), false, what);
            }
            expected = event.id.index.wrapping_add(1);
            if let Some(leave) = event.leave {
                shared.gate.publish(slot, event.enter, leave);
                if !shared.gate.wait(slot, event.enter) {
                    return;
                }
            }
            wait_for_owners(shared, threads, thread, &event);
            shared.replay_event(slot, &event);
        }
    }));
    shared.gate.finish(slot);
    if let Err(panic) = finished {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("a panic without a text");
        internal_error(shared, at, text);
    }
}

fn internal_error(shared: &Shared, at: Option<(EventId, u32)>, text: &str) {
    shared.gate.stop();
    let function = at.and_then(|(_, api)| shared.bindings.get(api as usize)).map(|b| match b {
        Binding::Declared(desc) => name(desc),
        Binding::Unknown { name, .. } => name.clone(),
    });
    let function = function.unwrap_or_default();
    let mut world = shared.world();
    world.report.find(Finding {
        event: at.map(|(id, _)| id.into()),
        function: function.clone(),
        kind: FindingKind::Internal,
        reason: text.to_owned(),
        cause: None,
    });
    let event =
        at.map_or("no event".to_owned(), |(id, _)| format!("event {}/{}", id.thread, id.index));
    world.report.internal_error.get_or_insert(format!("{event} {function}: {text}"));
}

/// Counts what is left, ends what the engine holds, and takes the report.
fn conclude(shared: &Arc<Shared>, threads: &[u32]) -> Report {
    let mut stuck = false;
    for slot in 0..threads.len() {
        let Some(call) = shared.current(slot).take() else { continue };
        stuck = true;
        shared.done[slot].fetch_add(1, Ordering::Relaxed);
        let mut world = shared.world();
        let text = format!("it had not returned after {:?}", call.since.elapsed());
        let text = if has_ended(shared) { "it had not returned".to_owned() } else { text };
        world.find(call.id, &call.function, FindingKind::Stuck, text);
        world.report.count(Outcome::Diverged);
    }
    if shared.gate.stopped() {
        for (slot, &thread) in threads.iter().enumerate() {
            let readable = shared.recording.events(thread).filter(|event| event.is_ok()).count();
            let done = shared.done[slot].load(Ordering::Relaxed);
            let mut world = shared.world();
            for _ in done..readable as u64 {
                world.report.count(Outcome::NotReached);
            }
        }
    }
    let stuck = stuck || has_ended(shared) || !end_driver(shared);
    let ended = shared.options.ended.and_then(|ended| ended());
    let mut world = shared.world();
    if let Some(signal) = ended {
        world.report.ended = Some(signal.to_owned());
        world.report.find(Finding {
            event: None,
            function: String::new(),
            kind: FindingKind::Ended,
            reason: format!("the runtime ended the process by {signal}; what it said stands above"),
            cause: None,
        });
    }
    for late in std::mem::take(&mut world.late) {
        world.count_late(&late, false);
    }
    if !stuck {
        world.release_operands(|_| true);
    }
    world.report.device_bytes_never_read = world.memory.never_read();
    // The runtime reads images and options until the process ends, and its own exit handlers may
    // still name symbols and registered memory.
    std::mem::forget(std::mem::take(&mut world.images));
    std::mem::forget(std::mem::take(&mut world.forever));
    std::mem::forget(std::mem::take(&mut world.symbols));
    std::mem::forget(std::mem::take(&mut world.memory));
    let mut report = std::mem::take(&mut world.report);
    report.findings.sort_by_key(|finding| (finding.event.is_some(), finding.event));
    report
}

/// Waits for all work, and ends placed memory: `false` if work does not end, as where the program
/// ended before its work did.
fn end_driver(shared: &Shared) -> bool {
    let Some(helper) = &shared.helper else { return true };
    let mut reasons = Vec::new();
    match helper.run_at_most(LAST_WAIT, |driver| driver.synchronize()) {
        Ok(Some(done)) => reasons.extend(done.err()),
        Ok(None) if has_ended(shared) => return false,
        Ok(None) => {
            let text = format!(
                "at the end: work that no recorded call waited for still runs after {LAST_WAIT:?}"
            );
            note(shared, text);
            return false;
        }
        Err(gone) => reasons.push(gone),
    }
    let placed = {
        let mut world = shared.world();
        let mut placed = world.memory.placed();
        placed.append(&mut world.to_unplace);
        placed
    };
    for address in placed {
        let ended = helper.run(move |driver| driver.unplace(address)).and_then(|ended| ended);
        reasons.extend(ended.err());
    }
    // Each of these waits, and so answers what ended the device's work.
    reasons.dedup();
    for reason in reasons {
        note(shared, format!("at the end: {reason}"));
    }
    true
}

fn note(shared: &Shared, reason: String) {
    shared.world().report.find(Finding {
        event: None,
        function: String::new(),
        kind: FindingKind::Note,
        reason,
        cause: None,
    });
}

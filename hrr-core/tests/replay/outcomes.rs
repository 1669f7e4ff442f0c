//! Every outcome, and the exit code that follows.

use std::mem::offset_of;
use std::time::Duration;

use hrr_core::replay::report::FindingKind;

use crate::api::*;
use crate::fake;
use crate::harness::*;

#[test]
fn a_call_as_recorded_is_reproduced() {
    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tStreamCreate).wrote("stream", 0x100).done();
    script.call(&API_tStreamUse).arg("stream", 0x100).done();
    let report = script.replay();
    clean(&report);
    assert_eq!(report.reproduced, 2);
    fake::with(|state| {
        let used = format!("stream_use({:x})", state.made[0]);
        assert_eq!(state.log[1], used, "the live handle, not the recorded one");
    });
}

#[test]
fn a_failure_that_fails_the_same_is_fidelity() {
    let _fake = fake::start();
    fake::with(|state| state.answers.insert("malloc", vec![OOM.0]));
    let mut script = Script::new();
    script.call(&API_tMalloc).arg("ptr", 1).arg("bytes", 1 << 40).returned(OOM.0 as u64).done();
    let report = script.replay();
    clean(&report);
    assert_eq!(report.failed_as_recorded, 1);
}

#[test]
fn another_failure_diverges() {
    let _fake = fake::start();
    fake::with(|state| state.answers.insert("malloc", vec![INVALID.0]));
    let mut script = Script::new();
    script.call(&API_tMalloc).arg("ptr", 1).arg("bytes", 8).returned(OOM.0 as u64).done();
    let report = script.replay();
    assert_eq!((report.diverged, report.exit_code()), (1, 1));
    let finding = only(&report, FindingKind::Diverged);
    assert_eq!(finding.function, "tMalloc");
    assert!(finding.reason.contains("returned 2 when recorded and returns 1 now"));
}

#[test]
fn a_success_that_fails_now_diverges_and_its_dependants_name_it_as_their_cause() {
    let _fake = fake::start();
    fake::with(|state| state.answers.insert("stream_create", vec![OOM.0]));
    let mut script = Script::new();
    let cause = script.call(&API_tStreamCreate).wrote("stream", 0x100).done();
    script.call(&API_tStreamUse).arg("stream", 0x100).done();
    script.call(&API_tStreamUse).arg("stream", 0).done();
    script.call(&API_tStreamDestroy).arg("stream", 0x100).done();
    script.call(&API_tStreamCreate).wrote("stream", 0x100).done();
    script.call(&API_tStreamUse).arg("stream", 0x100).done();
    let report = script.replay();
    assert_eq!((report.diverged, report.refused, report.reproduced), (1, 2, 3));
    assert_eq!(report.exit_code(), 1);
    assert_eq!(only(&report, FindingKind::Diverged).event, Some(cause.into()));
    let consequences: Vec<_> =
        report.findings.iter().filter(|f| f.kind == FindingKind::Consequence).collect();
    assert_eq!(consequences.len(), 2);
    assert!(consequences.iter().all(|finding| finding.cause == Some(cause.into())));
}

#[test]
fn a_failure_that_succeeds_now_diverges_and_enters_nothing() {
    let _fake = fake::start();
    let mut script = Script::new();
    let create = script.call(&API_tStreamCreate).wrote("stream", 0x100);
    create.returned(OOM.0 as u64).done();
    script.call(&API_tStreamUse).arg("stream", 0x100).done();
    let report = script.replay();
    assert_eq!((report.diverged, report.refused), (1, 1));
    assert!(only(&report, FindingKind::Diverged).reason.contains("succeeds now"));
    assert!(only(&report, FindingKind::Refused).reason.contains("no recorded call made"));
}

#[test]
fn a_late_error_matches_if_it_surfaces_by_the_next_synchronisation() {
    for (at_sync, diverged) in [(LAUNCH_FAILURE.0, 0), (INVALID.0, 2)] {
        let _fake = fake::start();
        fake::with(|state| state.answers.insert("synchronize", vec![at_sync]));
        let mut script = Script::new();
        script.call(&API_tStreamUse).returned(LAUNCH_FAILURE.0 as u64).done();
        script.call(&API_tSynchronize).returned(LAUNCH_FAILURE.0 as u64).done();
        let report = script.replay();
        assert_eq!(report.diverged, diverged, "{report:#?}");
        assert_eq!(report.failed_as_recorded, 2 - diverged);
    }
}

#[test]
fn an_error_that_surfaces_early_matches_if_it_was_recorded_later() {
    let _fake = fake::start();
    fake::with(|state| {
        state.answers.insert("stream_use", vec![LAUNCH_FAILURE.0]);
        state.answers.insert("synchronize", vec![LAUNCH_FAILURE.0]);
    });
    let mut script = Script::new();
    script.call(&API_tStreamUse).done();
    script.call(&API_tSynchronize).returned(LAUNCH_FAILURE.0 as u64).done();
    let report = script.replay();
    clean(&report);
    assert_eq!((report.reproduced, report.failed_as_recorded), (1, 1));
}

#[test]
fn callbacks_are_ordering_points_and_strict_refuses_them() {
    let _fake = fake::start();
    let script = || {
        let mut script = Script::new();
        script.call(&API_tAddCallback).arg("callback", 0x1234).arg("data", 0x5678).done();
        script.call(&API_tAddCallback).arg("callback", 0).done();
        script
    };
    let report = script().replay();
    clean(&report);
    assert_eq!(report.ordering, 2);
    fake::with(|state| assert_eq!(state.last_callback, Some(0), "null stays null"));
    let mut strict = options();
    strict.strict = true;
    let report = script().replay_with(strict);
    assert_eq!((report.refused, report.exit_code()), (2, 2));
}

#[test]
fn host_calls_are_not_issued_and_refused_ones_give_the_declared_reason() {
    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tCompile).arg("source", 0x1000).before("source", 3, b"abc").done();
    script.call(&API_tImport).arg("fd", 3).wrote("stream", 0x100).done();
    script.call(&API_tStreamUse).arg("stream", 0x100).done();
    let report = script.replay();
    assert_eq!((report.host, report.refused, report.exit_code()), (1, 2, 2));
    let refused = only(&report, FindingKind::Refused);
    assert_eq!(refused.function, "tImport");
    assert!(refused.reason.contains("belongs to the process that exported it"));
    assert_eq!(only(&report, FindingKind::Consequence).function, "tStreamUse");
    fake::with(|state| assert!(state.log.is_empty()));
}

#[test]
fn calls_in_flight_are_not_issued() {
    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tStreamUse).in_flight().done();
    let report = script.replay();
    assert_eq!((report.in_flight, report.exit_code()), (1, 2));
    fake::with(|state| assert!(state.log.is_empty()));
}

#[test]
fn a_query_that_saw_completion_waits_and_one_that_did_not_asks_once() {
    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tStreamQuery).returned(NOT_READY.0 as u64).done();
    script.call(&API_tStreamQuery).done();
    let report = script.replay();
    clean(&report);
    assert_eq!(report.reproduced, 2);
    fake::with(|state| {
        assert_eq!(state.log, ["stream_query(0)", "stream_synchronize(0)", "stream_query(0)"]);
    });
}

#[test]
fn the_last_error_that_not_ready_left_is_timing_and_any_other_is_not() {
    let _fake = fake::start();
    let not_ready = NOT_READY.0 as u64;
    let mut script = Script::new();
    script.call(&API_tStreamQuery).returned(not_ready).done();
    script.call(&API_tGetLastError).returned(not_ready).done();
    clean(&script.replay());
    // Another error than that, or the same without a query that is ready now.
    for (query, last) in [(true, 7), (false, not_ready)] {
        let mut script = Script::new();
        if query {
            script.call(&API_tStreamQuery).returned(not_ready).done();
        }
        script.call(&API_tGetLastError).returned(last).done();
        let report = script.replay();
        assert_eq!((report.diverged, report.exit_code()), (1, 1), "{last}");
    }
}

#[test]
fn a_query_that_nothing_can_wait_for_is_asked_until_it_answers() {
    let _fake = fake::start();
    let busy = NOT_READY.0;
    fake::with(|state| state.answers.insert("poll", vec![busy, busy, busy]));
    let mut script = Script::new();
    script.call(&API_tPoll).done();
    clean(&script.replay());
    fake::with(|state| assert_eq!(state.log.iter().filter(|l| l.starts_with("poll")).count(), 5));
}

#[test]
fn facts_of_the_machine_are_counted_and_shown_and_judge_nothing() {
    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tGetFree).wrote("free", 99).done();
    let name = script.call(&API_tGetName).arg("name", 0x1000).arg("bytes", 64);
    name.after("name", 9, b"then name").done();
    let report = script.replay();
    clean(&report);
    assert_eq!(report.machine_differs, 2);
    assert_eq!((&*report.machine[0].recorded, &*report.machine[0].live), ("99", "12345"));
    assert_eq!(report.machine[1].live, "live name");
}

#[test]
fn exact_outputs_that_differ_diverge_and_say_how() {
    let _fake = fake::start();
    fake::with(|state| state.number = 8);
    let mut script = Script::new();
    script
        .call(&API_tGetNumber)
        .arg("number", 0x1000)
        .after("number", 1, &7i32.to_le_bytes())
        .done();
    let report = script.replay();
    assert_eq!(report.diverged, 1);
    assert_eq!(only(&report, FindingKind::Diverged).reason, "`number`: expected 7, got 8");
}

#[test]
fn outputs_that_a_call_leaves_as_they_were_are_named_and_not_compared() {
    let _fake = fake::start();
    let leaving = ["get_number", "get_info", "get_luid", "get_name", "host_device"];
    fake::with(|state| state.answers.extend(leaving.map(|name| (name, vec![0]))));
    let mut script = Script::new();
    let garbage = [0x77; 64];
    script.call(&API_tStreamCreate).wrote("stream", 0x900).done();
    script.call(&API_tGetNumber).arg("number", 0x1000).after("number", 1, &garbage[..4]).done();
    // The variable of the program still held a stream.
    let mut info = garbage[..size_of::<Info>()].to_vec();
    info[offset_of!(Info, stream)..][..8].copy_from_slice(&0x900u64.to_le_bytes());
    script.call(&API_tGetInfo).arg("info", 0x1000).after("info", 1, &info).done();
    script.call(&API_tGetLuid).arg("luid", 0x1000).after("luid", 8, &garbage[..8]).done();
    let name = script.call(&API_tGetName).arg("name", 0x1000).arg("bytes", 64);
    name.after("name", 9, b"then name").done();
    script.call(&API_tHostGetDevicePointer).wrote("device", 0x7777_7777).done();
    script.call(&API_tStreamUse).arg("stream", 0x900).done();
    let report = script.replay();
    assert_eq!((report.reproduced, report.machine_differs, report.exit_code()), (7, 0, 0));
    let notes = report.findings.iter().filter(|finding| finding.kind == FindingKind::Note);
    let notes: Vec<String> =
        notes.map(|note| format!("{} {}", note.function, note.reason)).collect();
    let names = |one: &str| notes.iter().any(|note| note.contains(one));
    for one in
        ["tGetNumber `number`", "tGetInfo `info`.small", "tGetLuid `luid`", "tGetName `name`"]
    {
        assert!(names(one), "{one}: {notes:#?}");
    }
    assert!(names("tHostGetDevicePointer `device`: the call wrote nothing there"), "{notes:#?}");
}

#[test]
fn of_a_number_the_bytes_that_a_call_wrote_are_compared() {
    let _fake = fake::start();
    fake::with(|state| (state.number, state.number_bytes) = (7, 1));
    let mut script = Script::new();
    for recorded in [[7, 0, 0, 0], [7, 0x77, 0x77, 0x77], [8, 0, 0, 0]] {
        script.call(&API_tGetNumber).arg("number", 0x1000).after("number", 1, &recorded).done();
    }
    let report = script.replay();
    assert_eq!((report.reproduced, report.diverged), (2, 1));
    let diverged = only(&report, FindingKind::Diverged);
    assert_eq!(diverged.event.unwrap().index, 2, "{diverged:?}");
    let notes = report.findings.iter().filter(|finding| finding.kind == FindingKind::Note);
    let notes: Vec<&str> = notes.map(|note| &*note.reason).collect();
    // Each is counted, and the first of them named.
    assert_eq!(notes, ["`number`: the call wrote one byte there: the others are not compared"]);
    assert_eq!(report.outputs_unwritten, 2);
}

#[test]
fn a_runtime_without_the_function_refuses_unless_it_was_missing_then() {
    let _fake = fake::start();
    API_tStreamUse
        .real
        .store(API_tStreamUse.missing.0.cast_mut(), std::sync::atomic::Ordering::Release);
    let mut script = Script::new();
    script.call(&API_tStreamUse).done();
    script.call(&API_tStreamUse).returned(UNSUPPORTED.0 as u64).done();
    let report = script.replay();
    assert_eq!((report.refused, report.failed_as_recorded), (1, 1));
    assert!(only(&report, FindingKind::Refused).reason.contains("does not have it"));
}

#[test]
fn functions_that_are_unknown_or_have_changed_are_listed_and_refused_by_name() {
    let _fake = fake::start();
    let mut script = Script::new();
    for shape in &mut script.functions {
        match &*shape.name {
            "tPoll" => shape.name = "tGone".to_owned(),
            "tMemset" => shape.params[1].kind = "String".to_owned(),
            _ => {}
        }
    }
    script.call(&API_tPoll).done();
    script.call(&API_tMemset).done();
    script.call(&API_tStreamUse).with(|event| event.api = 9999).done();
    let report = script.replay();
    assert_eq!(report.refused, 3);
    assert!(report.unknown_functions["tGone"].contains("does not declare"));
    assert!(report.unknown_functions["tMemset"].contains("`value`: kind String, and now Scalar"));
    let refused: Vec<&str> = report.findings.iter().map(|f| &*f.function).collect();
    assert_eq!(refused, ["tGone", "tMemset", "function 9999"]);
    assert_eq!(report.exit_code(), 3, "an index outside the table is damage");
}

#[test]
fn a_damaged_or_cut_recording_is_told_and_replay_goes_on() {
    for (damaged, code) in [(true, 3), (false, 2)] {
        let _fake = fake::start();
        let mut script = Script::new();
        script.call(&API_tStreamUse).done();
        script.fault(0, damaged);
        script.call(&API_tStreamUse).done();
        let report = script.replay();
        assert_eq!((report.reproduced, report.exit_code(), report.complete), (2, code, false));
    }
}

#[test]
fn a_runtime_that_ends_the_process_leaves_a_report_of_what_was_reached() {
    let ending = |ended: fn() -> Option<&'static str>| {
        let mut options = options();
        options.ended = Some(ended);
        options
    };
    let _fake = fake::start();
    fake::with(|state| state.delays.insert("stream_use", Duration::from_secs(4)));
    let mut script = Script::new();
    script.call(&API_tPoll).done();
    script.call(&API_tStreamUse).done();
    script.call(&API_tPoll).done();
    let report = script.replay_with(ending(|| {
        let using = fake::with(|state| state.log.iter().any(|l| l.starts_with("stream_use")));
        using.then_some("SIGSEGV")
    }));
    assert_eq!((report.reproduced, report.diverged, report.not_reached), (1, 1, 1));
    assert_eq!((report.ended.as_deref(), report.exit_code()), (Some("SIGSEGV"), 1));
    assert_eq!(only(&report, FindingKind::Stuck).function, "tStreamUse");
    assert!(only(&report, FindingKind::Ended).reason.contains("by SIGSEGV"));
    drop(_fake);

    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tPoll).done();
    script.call(&API_tStreamUse).in_flight().done();
    let report = script.replay_with(ending(|| {
        let polled = fake::with(|state| state.log.iter().any(|l| l.starts_with("poll")));
        polled.then_some("SIGABRT")
    }));
    assert_eq!((report.reproduced, report.in_flight, report.not_reached), (1, 1, 0));
    assert_eq!(report.exit_code(), 2, "it went as far as when it was recorded");
}

#[test]
fn a_call_that_does_not_return_is_named_and_the_rest_is_not_reached() {
    use std::sync::{Arc, Mutex};
    let _fake = fake::start();
    fake::with(|state| state.delays.insert("stream_use", Duration::from_secs(4)));
    let mut script = Script::new();
    script.call(&API_tStreamUse).done();
    script.call(&API_tStreamUse).done();
    script.call_on(1, &API_tStreamChecked).done();
    let told = Arc::new(Mutex::new(Vec::new()));
    let progress = {
        let told = told.clone();
        move |progress: hrr_core::replay::Progress<'_>| {
            if let hrr_core::replay::Progress::Stuck { event, function, given_up, .. } = progress {
                told.lock().unwrap().push((event.index, function.to_owned(), given_up));
            }
        }
    };
    let mut limited = options();
    limited.watchdog = Duration::from_millis(60);
    limited.limit = Some(Duration::from_millis(300));
    let report = hrr_core::replay::replay(script, limited, progress);
    assert_eq!((report.diverged, report.not_reached, report.events), (1, 2, 3));
    assert_eq!(only(&report, FindingKind::Stuck).function, "tStreamUse");
    let told = told.lock().unwrap();
    assert_eq!(told[0], (0, "tStreamUse".to_owned(), false));
    assert!(told.last().unwrap().2, "the last word says that it was given up");
    // The fake is still in that call: let it end before the next test starts.
    std::thread::sleep(Duration::from_secs(4));
}

#[test]
fn an_empty_recording_and_its_report_in_json() {
    let _fake = fake::start();
    let report = Script::new().replay();
    clean(&report);
    let json = serde_json::to_value(&report).unwrap();
    for key in [
        "events",
        "reproduced",
        "failed_as_recorded",
        "ordering",
        "host",
        "diverged",
        "refused",
        "in_flight",
        "not_reached",
        "checks_passed",
        "checks_failed",
        "checks_missing",
        "bytes_checked",
        "machine_differs",
        "outputs_unwritten",
        "complete",
        "findings",
    ] {
        assert!(json.get(key).is_some(), "{key}");
    }
}

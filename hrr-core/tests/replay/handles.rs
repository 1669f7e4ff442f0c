//! Handles: identity, reuse, unknown ones, arrays of them.

use hrr_core::replay::report::FindingKind;

use crate::api::*;
use crate::fake;
use crate::harness::*;

#[test]
fn a_reused_value_is_the_newest_handle_and_a_destroyed_one_is_unknown() {
    let _fake = fake::start();
    let mut script = Script::new();
    for _ in 0..2 {
        script.call(&API_tStreamCreate).wrote("stream", 0x100).done();
        script.call(&API_tStreamUse).arg("stream", 0x100).done();
        script.call(&API_tStreamDestroy).arg("stream", 0x100).done();
    }
    script.call(&API_tStreamUse).arg("stream", 0x100).done();
    let report = script.replay();
    assert_eq!((report.reproduced, report.refused), (6, 1));
    let finding = only(&report, FindingKind::Refused);
    assert_eq!(finding.reason, "`stream`: no recorded call made the Stream 0x100 that it uses");
    fake::with(|state| {
        assert_ne!(state.made[0], state.made[1]);
        assert!(state.log.contains(&format!("stream_use({:x})", state.made[1])));
    });
}

#[test]
fn null_and_reserved_handles_pass_unchanged() {
    let _fake = fake::start();
    let mut script = Script::new();
    for value in [0, 1, 2] {
        script.call(&API_tStreamUse).arg("stream", value).done();
    }
    clean(&script.replay());
    fake::with(|state| {
        assert_eq!(state.log, ["stream_use(0)", "stream_use(1)", "stream_use(2)"]);
    });
}

#[test]
fn an_unknown_handle_is_poison_only_where_the_call_failed_and_is_checked() {
    let _fake = fake::start();
    let bad = BAD_HANDLE.0 as u64;
    fake::with(|state| state.answers.insert("stream_use", vec![BAD_HANDLE.0]));
    let mut script = Script::new();
    script.call(&API_tStreamChecked).arg("stream", 0x999).returned(bad).done();
    script.call(&API_tStreamUse).arg("stream", 0x999).returned(bad).done();
    script.call(&API_tStreamChecked).arg("stream", 0x999).done();
    let report = script.replay();
    assert_eq!((report.failed_as_recorded, report.refused), (1, 2));
    fake::with(|state| assert_eq!(state.log.len(), 1));
}

#[test]
fn enumerated_handles_match_by_identity_and_the_rest_in_order() {
    let _fake = fake::start();
    // Three streams are live; the fake enumerates them backwards. Two are known.
    let mut script = Script::new();
    script.call(&API_tStreamCreate).wrote("stream", 0x100).done();
    script.call(&API_tStreamCreate).wrote("stream", 0x200).done();
    script.call(&API_tGraphCreate).wrote("graph", 0x900).done();
    let all: Vec<u8> = [0x100u64, 0x300, 0x200].into_iter().flat_map(u64::to_le_bytes).collect();
    let ask = script.call(&API_tGetStreams).arg("streams", 0x1000).arg("count", 0x2000);
    let ask = ask.before("count", 1, &8u64.to_le_bytes()).after("streams", 3, &all);
    ask.after("count", 1, &3u64.to_le_bytes()).done();
    for stream in [0x100, 0x200, 0x300] {
        script.call(&API_tStreamUse).arg("stream", stream).done();
    }
    clean(&script.replay());
    fake::with(|state| {
        let used: Vec<String> = state.made.iter().map(|h| format!("stream_use({h:x})")).collect();
        assert_eq!(state.log[state.log.len() - 3..], used);
    });
}

#[test]
fn another_number_of_handles_diverges() {
    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tStreamCreate).wrote("stream", 0x100).done();
    let all: Vec<u8> = [0x100u64, 0x300].into_iter().flat_map(u64::to_le_bytes).collect();
    let ask = script.call(&API_tGetStreams).arg("streams", 0x1000).arg("count", 0x2000);
    let ask = ask.before("count", 1, &8u64.to_le_bytes()).after("streams", 2, &all);
    ask.after("count", 1, &2u64.to_le_bytes()).done();
    let ask = script.call(&API_tGetStreams).arg("count", 0x2000);
    let ask = ask.before("count", 1, &0u64.to_le_bytes());
    ask.after("count", 1, &1u64.to_le_bytes()).done();
    let report = script.replay();
    assert_eq!((report.diverged, report.reproduced), (1, 2));
    let reason = &only(&report, FindingKind::Diverged).reason;
    assert!(reason.contains("`streams`: 2 handles when recorded, 1 now"), "{reason}");
    assert!(reason.contains("`count`: expected 2, got 1"), "{reason}");
}

#[test]
fn handles_inside_written_structs_enter_the_map() {
    let _fake = fake::start();
    fake::with(|state| state.number = 5);
    let mut script = Script::new();
    script.call(&API_tStreamCreate).wrote("stream", 0x100).done();
    let mut info = vec![0xffu8; 16];
    info[0] = 3;
    info[4..8].copy_from_slice(&5u32.to_le_bytes());
    info[8..16].copy_from_slice(&0x400u64.to_le_bytes());
    script.call(&API_tGetInfo).arg("info", 0x1000).after("info", 1, &info).done();
    script.call(&API_tStreamUse).arg("stream", 0x400).done();
    info[4] = 6;
    script.call(&API_tGetInfo).arg("info", 0x1000).after("info", 1, &info).done();
    let report = script.replay();
    assert_eq!((report.reproduced, report.diverged), (3, 1), "padding is not compared");
    assert_eq!(only(&report, FindingKind::Diverged).reason, "`info`.number: expected 6, got 5");
}

#[test]
fn tagged_values_go_by_their_tag() {
    let _fake = fake::start();
    fake::with(|state| state.number = 5);
    let mut script = Script::new();
    script.call(&API_tStreamCreate).wrote("stream", 0x100).done();
    let get = |script: &mut Script, tag: u64, content: &[u8]| {
        let get = script.call(&API_tGetAttribute).arg("value", 0x10).arg("attribute", tag);
        get.after("value", 1, content).done();
    };
    get(&mut script, 1, &5u32.to_le_bytes());
    get(&mut script, 2, &0x500u64.to_le_bytes());
    get(&mut script, 3, &9u32.to_le_bytes());
    let set = |script: &mut Script, tag: u64, content: &[u8]| {
        let set = script.call(&API_tSetAttribute).arg("value", 0x10).arg("attribute", tag);
        set.before("value", 1, content).done();
    };
    set(&mut script, 1, &7u32.to_le_bytes());
    set(&mut script, 2, &0x500u64.to_le_bytes());
    set(&mut script, 99, &7u32.to_le_bytes());
    let report = script.replay();
    assert_eq!((report.reproduced, report.refused, report.machine_differs), (6, 1, 1));
    assert!(only(&report, FindingKind::Refused).reason.contains("the tag 99 is not in its table"));
    fake::with(|state| assert_eq!(state.launched, [vec![7], vec![state.made[0] as u64]]));
}

#[test]
fn devices_that_are_not_there_are_refused_unless_mapped() {
    use std::sync::Arc;
    let script = || {
        let mut script = Script::new();
        script.call(&API_tSetDevice).arg("device", 0).done();
        script.call(&API_tSetDevice).arg("device", 3).done();
        script.call(&API_tSetDevice).arg("device", u64::MAX).returned(INVALID.0 as u64).done();
        script
    };
    let mut with_driver = options();
    with_driver.driver = Some(Arc::new(FakeDriver { devices: 2, ..FakeDriver::default() }));
    for (map, refused, called) in [(None, 1, 2), (Some((3, 1)), 0, 3)] {
        let _fake = fake::start();
        let answers = if map.is_some() { vec![0, 0, INVALID.0] } else { vec![0, INVALID.0] };
        fake::with(|state| state.answers.insert("set_device", answers));
        let mut options = with_driver.clone();
        options.device_map = map.into_iter().collect();
        let report = script().replay_with(options);
        assert_eq!((report.refused, report.failed_as_recorded), (refused, 1));
        fake::with(|state| {
            assert_eq!(state.log.len(), called);
            assert_eq!(state.log.contains(&"set_device(1)".to_owned()), map.is_some());
        });
    }
}

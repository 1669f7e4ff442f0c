//! Copies: their host sides, and the checks of what they brought.

use hrr_core::archive::event::{AbsentReason, Body, EventId, Phase};
use hrr_core::replay::report::FindingKind;

use crate::api::*;
use crate::fake;
use crate::harness::*;

const DEVICE: u64 = 0x7f00_0000_0000;

fn bytes(body: &[u8]) -> Body {
    Body::Bytes(body.into())
}

/// Allocates 64 bytes at [`DEVICE`] and fills them from the host.
fn filled(script: &mut Script, content: &[u8]) {
    script.call(&API_tMalloc).arg("bytes", 64).wrote("ptr", DEVICE).done();
    let copy = script.call(&API_tMemcpy).arg("dst", DEVICE).arg("src", 0x1003);
    let copy = copy.arg("bytes", content.len() as u64).arg("kind", 1);
    copy.before("src", content.len() as u64, content)
        .content("dst", Phase::After, content.len() as u64, Body::Device)
        .done();
}

/// A copy to the host that brought `content`.
fn brought(script: &mut Script, from: u64, content: &[u8]) -> EventId {
    let copy = script.call(&API_tMemcpy).arg("dst", 0x2000).arg("src", from);
    let copy = copy.arg("bytes", content.len() as u64).arg("kind", 2);
    copy.content("src", Phase::Before, 0, Body::Device)
        .after("dst", content.len() as u64, content)
        .done()
}

/// The same, later.
fn brought_later(script: &mut Script, to: u64, count: u64) -> EventId {
    let copy = script.call(&API_tMemcpyAsync).arg("dst", to).arg("src", DEVICE);
    copy.arg("bytes", count)
        .arg("kind", 2)
        .content("src", Phase::Before, 0, Body::Device)
        .content("dst", Phase::After, count, absent(AbsentReason::Deferred))
        .done()
}

#[test]
fn what_a_copy_brings_is_checked_and_counted() {
    let _fake = fake::start();
    let mut script = Script::new();
    filled(&mut script, b"0123456789");
    brought(&mut script, DEVICE + 2, b"23456");
    let report = script.replay();
    clean(&report);
    assert_eq!((report.checks_passed, report.bytes_checked), (1, 5));
    assert_eq!(report.device_bytes_never_read, 59);
}

#[test]
fn bytes_that_differ_are_named_with_place_and_content() {
    let _fake = fake::start();
    fake::with(|state| state.corrupt = 1);
    let mut script = Script::new();
    filled(&mut script, b"0123456789");
    let copy = brought(&mut script, DEVICE, b"0123");
    let report = script.replay();
    assert_eq!((report.checks_failed, report.diverged, report.exit_code()), (1, 1, 1));
    let finding = only(&report, FindingKind::CheckFailed);
    assert_eq!((finding.event, &*finding.function), (Some(copy.into()), "tMemcpy"));
    assert!(finding.reason.contains("4 bytes differ, first at offset 0x0"));
    assert!(finding.reason.contains("expected 30 31 32 33, got 31 32 33 34"));
}

#[test]
fn a_tolerance_is_used_only_where_the_user_gives_it() {
    for (tolerance, failed) in [(None, 1), (Some("f32:1e-5"), 0), (Some("f32:1e-9"), 1)] {
        let _fake = fake::start();
        let mut script = Script::new();
        filled(&mut script, &1.0f32.to_le_bytes());
        brought(&mut script, DEVICE, &1.000_001f32.to_le_bytes());
        let mut options = options();
        options.tolerance = tolerance.map(|text| text.parse().unwrap());
        assert_eq!(script.replay_with(options).checks_failed, failed, "{tolerance:?}");
    }
}

#[test]
fn a_later_copy_is_checked_when_its_work_is_done() {
    let _fake = fake::start();
    let mut script = Script::new();
    filled(&mut script, b"abcdefgh");
    let copy = brought_later(&mut script, 0x2000, 8);
    let other = brought_later(&mut script, 0x3000, 4);
    let sync = script.call(&API_tStreamSynchronize);
    sync.check(Some((copy, 0)), 0x2000, bytes(b"abcdefgh"))
        .check(Some((other, 0)), 0x3000, absent(AbsentReason::Overwritten))
        .done();
    let report = script.replay();
    clean(&report);
    assert_eq!((report.checks_passed, report.checks_missing, report.bytes_checked), (1, 1, 8));
}

#[test]
fn a_later_copy_that_brought_other_bytes_is_found_and_names_the_copy() {
    let _fake = fake::start();
    fake::with(|state| state.corrupt = 1);
    let mut script = Script::new();
    filled(&mut script, b"abcdefgh");
    let copy = brought_later(&mut script, 0x2000, 8);
    script.call(&API_tSynchronize).check(Some((copy, 0)), 0x2000, bytes(b"abcdefgh")).done();
    let report = script.replay();
    assert_eq!((report.checks_failed, report.diverged, report.exit_code()), (1, 1, 1));
    assert_eq!(only(&report, FindingKind::CheckFailed).event, Some(copy.into()));
}

#[test]
fn a_check_of_a_refused_copy_cannot_be_made() {
    let _fake = fake::start();
    let mut script = Script::new();
    let copy = brought_later(&mut script, 0x2000, 8);
    script.call(&API_tSynchronize).check(Some((copy, 0)), 0x2000, bytes(b"abcdefgh")).done();
    let report = script.replay();
    assert_eq!((report.refused, report.checks_not_made), (1, 1));
    assert_eq!(report.exit_code(), 2);
    assert_eq!(only(&report, FindingKind::CheckNotMade).event, Some(copy.into()));
}

#[test]
fn checks_that_cannot_be_made_alone_give_exit_4_and_lacking_ones_do_not() {
    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tSynchronize).check(None, 0x2000, bytes(b"abcdefgh")).done();
    let report = script.replay();
    assert_eq!((report.checks_not_made, report.exit_code()), (1, 4));
    let mut script = Script::new();
    script.call(&API_tSynchronize).check(None, 0x2000, absent(AbsentReason::Freed)).done();
    let report = script.replay();
    assert_eq!((report.checks_missing, report.exit_code()), (1, 0));
}

/// Lets another process have the memory at [`DEVICE`], or tries to.
fn exported(script: &mut Script, status: u64) -> EventId {
    script.call(&API_tExport).wrote("handle", 7).arg("ptr", DEVICE).returned(status).done()
}

#[test]
fn what_another_process_may_have_stored_is_no_check() {
    let _fake = fake::start();
    let mut script = Script::new();
    filled(&mut script, b"0123456789");
    let export = exported(&mut script, 0);
    let first = brought(&mut script, DEVICE, b"CHILD");
    brought(&mut script, DEVICE + 5, b"56789");
    let later = brought_later(&mut script, DEVICE, 5);
    script.call(&API_tSynchronize).check(Some((later, 0)), 0x2000, bytes(b"child")).done();
    let report = script.replay();
    assert_eq!((report.checks_failed, report.checks_not_made, report.checks_passed), (0, 2, 1));
    assert_eq!((report.diverged, report.exit_code()), (0, 4), "{report:#?}");
    let found: Vec<_> =
        report.findings.iter().filter(|one| one.kind == FindingKind::CheckNotMade).collect();
    let events: Vec<_> = found.iter().map(|one| one.event).collect();
    assert_eq!(events, [Some(first.into()), Some(later.into())]);
    let by = format!("since {}/{} (tExport) another process", export.thread, export.index);
    assert!(found.iter().all(|one| one.reason.contains(&by)), "{found:#?}");
}

#[test]
fn what_differs_before_memory_is_shared_is_a_failed_check() {
    let _fake = fake::start();
    let mut script = Script::new();
    filled(&mut script, b"0123456789");
    // One that the runtime refused shares nothing.
    fake::with(|state| state.answers.insert("export", vec![1]));
    exported(&mut script, 1);
    brought(&mut script, DEVICE, b"CHILD");
    exported(&mut script, 0);
    let report = script.replay();
    assert_eq!((report.checks_failed, report.checks_not_made, report.exit_code()), (1, 0, 1));
}

#[test]
fn a_zero_length_copy_is_no_check() {
    let _fake = fake::start();
    let mut script = Script::new();
    let copy = script.call(&API_tMemcpy).arg("dst", 0x2000).arg("src", 0x3000).arg("kind", 0);
    copy.before("src", 0, b"").after("dst", 0, b"").done();
    script.call(&API_tMemcpy).arg("kind", 2).done();
    let report = script.replay();
    clean(&report);
    assert_eq!((report.checks_passed, report.checks_missing), (0, 0));
}

#[test]
fn only_the_rows_of_a_pitched_copy_are_written_and_compared() {
    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tMalloc).arg("bytes", 64).wrote("ptr", DEVICE).done();
    let up = script.call(&API_tMemcpy2D).arg("dst", DEVICE).arg("dpitch", 16).arg("src", 0x1000);
    let up = up.arg("spitch", 10).arg("width", 3).arg("height", 2).arg("kind", 1);
    up.before("src", 6, b"abcdef").content("dst", Phase::After, 6, Body::Device).done();
    let down = |script: &mut Script, content: &[u8]| {
        let down = script.call(&API_tMemcpy2D).arg("dst", 0x2000).arg("dpitch", 8);
        let down = down.arg("src", DEVICE).arg("spitch", 16).arg("width", 3).arg("height", 2);
        let down = down.arg("kind", 2).content("src", Phase::Before, 0, Body::Device);
        down.after("dst", 6, content).done()
    };
    down(&mut script, b"abcdef");
    down(&mut script, b"abcdeX");
    let report = script.replay();
    assert_eq!((report.checks_passed, report.checks_failed), (1, 1));
    let reason = &only(&report, FindingKind::CheckFailed).reason;
    assert!(reason.contains("1 bytes differ, first at offset 0x5"), "{reason}");
}

#[test]
fn a_copy_that_a_struct_describes_has_its_rows() {
    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tMalloc).arg("bytes", 64).wrote("ptr", DEVICE).done();
    let params: Vec<u8> =
        [0x1000u64, DEVICE, 5, 2, 2].into_iter().flat_map(u64::to_le_bytes).collect();
    let copy = script.call(&API_tMemcpyParams).arg("params", 0x500);
    let copy = copy.before("params", 1, &params).with(|event| {
        let mut source = event.fields[0].clone();
        (source.depth, source.id, source.address) = (1, 0, 0x1000);
        (source.original, source.recorded) = (4, 4);
        source.body = bytes(b"wxyz");
        event.fields.push(source);
    });
    copy.done();
    brought(&mut script, DEVICE, b"wxyz");
    clean(&script.replay());
}

/// A copy by [`Either`], of which nothing is recorded but that it failed.
fn failed_either(script: &mut Script, host: u64, device: u64, count: u64) {
    let copy: Vec<u8> = [host, device, count].into_iter().flat_map(u64::to_le_bytes).collect();
    let call = script.call(&API_tMemcpyEither).arg("copy", 0x500).before("copy", 1, &copy);
    call.returned(INVALID.0 as u64).done();
}

#[test]
fn a_refused_copy_gets_the_memory_that_its_struct_names() {
    let _fake = fake::start();
    fake::with(|state| state.number = INVALID.0 as u32);
    let mut script = Script::new();
    script.call(&API_tMalloc).arg("bytes", 64).wrote("ptr", DEVICE).done();
    failed_either(&mut script, 0, DEVICE, 6400);
    let address = DEVICE.to_le_bytes();
    let array = script.call(&API_tAddresses).arg("addresses", 0x10).arg("count", 1);
    array.before("addresses", 1, &address).done();
    failed_either(&mut script, 0x1000, DEVICE, 6400);
    failed_either(&mut script, 0x1000, 0, 6400);
    let report = script.replay();
    clean(&report);
    assert_eq!(report.failed_as_recorded, 3);
    fake::with(|state| {
        let [first, live, second, third] = &state.launched[..] else { panic!("four calls") };
        assert_eq!(*first, [0, live[0]]);
        // What the copy ignores is nowhere.
        assert_eq!(*second, [0x6b6b_0000_0000_0000, live[0]]);
        assert_ne!(third[0], second[0]);
        assert_eq!((third[0] % 4096, third[1]), (0, 0));
    });
}

#[test]
fn a_refused_copy_beyond_host_memory_gets_that_memory() {
    const PINNED: u64 = 0x7e00_0000_0000;
    let _fake = fake::start();
    fake::with(|state| state.answers.insert("memcpy_2d", vec![INVALID.0; 2]));
    let mut script = Script::new();
    script.call(&API_tMalloc).arg("bytes", 64).wrote("ptr", DEVICE).done();
    script.call(&API_tHostAlloc).arg("bytes", 64).wrote("ptr", PINNED).done();
    let addresses = [DEVICE, PINNED].map(u64::to_le_bytes);
    let array = script.call(&API_tAddresses).arg("addresses", 0x10).arg("count", 2);
    array.before("addresses", 2, addresses.as_flattened()).done();
    for (dst, src, kind) in [(PINNED, DEVICE, D2H), (DEVICE, PINNED, H2D)] {
        let copy = script.call(&API_tMemcpy2D).arg("dst", dst).arg("dpitch", 16).arg("src", src);
        let copy = copy.arg("spitch", 16).arg("width", 16).arg("height", 100);
        let copy = copy.arg("kind", kind.0 as u64);
        let absent = absent(AbsentReason::Unreadable);
        let copy =
            if kind == H2D { copy.content("src", Phase::Before, 1600, absent) } else { copy };
        copy.returned(INVALID.0 as u64).done();
    }
    let report = script.replay();
    clean(&report);
    assert_eq!(report.failed_as_recorded, 2);
    fake::with(|state| {
        let [device, pinned] = state.launched[0][..] else { panic!("two addresses") };
        let call = |to, from| format!("memcpy_2d({to:x}, 10, {from:x}, 10, 10, 64, ");
        let made = |to, from| state.log.iter().any(|one| one.starts_with(&call(to, from)));
        assert!(made(pinned, device) && made(device, pinned), "{:?}", state.log);
    });
}

#[test]
fn short_and_absent_sources_are_refused_with_the_reason() {
    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tMalloc).arg("bytes", 64).wrote("ptr", DEVICE).done();
    let mut copy = |body: Body, recorded: u64| {
        let copy = script.call(&API_tMemcpy).arg("dst", DEVICE).arg("src", 0x1000);
        let copy = copy.arg("bytes", 8).arg("kind", 1).content("src", Phase::Before, 8, body);
        copy.with(|event| event.fields[0].recorded = recorded).done();
    };
    copy(bytes(b"1234"), 4);
    copy(absent(AbsentReason::Unreadable), 0);
    copy(bytes(b"1234"), 8);
    let lacking = script.call(&API_tMemcpy).arg("dst", DEVICE).arg("src", 0x1000);
    lacking.arg("bytes", 8).arg("kind", 1).done();
    let report = script.replay();
    assert_eq!(report.refused, 4);
    let reasons: Vec<&str> = report.findings.iter().map(|finding| &*finding.reason).collect();
    assert!(reasons[0].contains("4 of 8 elements"));
    assert!(reasons[1].contains("could not be read"));
    assert!(reasons[2].contains("4 bytes, its rows 8"));
    assert!(reasons[3].contains("lacks its content"));
    fake::with(|state| assert_eq!(state.log.len(), 1, "{:?}", state.log));
}

#[test]
fn content_comes_from_blobs_and_a_lost_blob_is_damage() {
    let _fake = fake::start();
    let mut script = Script::new();
    let content = vec![9u8; 64];
    let blob = script.blob(&content);
    script.call(&API_tMalloc).arg("bytes", 64).wrote("ptr", DEVICE).done();
    for body in [blob, Body::Blob { hash: 1, bytes: 64 }] {
        let copy = script.call(&API_tMemcpy).arg("dst", DEVICE).arg("src", 0x1000);
        copy.arg("bytes", 64).arg("kind", 1).content("src", Phase::Before, 64, body).done();
    }
    brought(&mut script, DEVICE, &content);
    let report = script.replay();
    assert_eq!((report.refused, report.checks_passed, report.exit_code()), (1, 1, 3));
}

#[test]
fn an_unknown_way_of_copying_goes_by_what_was_recorded() {
    let _fake = fake::start();
    let mut script = Script::new();
    filled(&mut script, b"0123456789");
    let copy = script.call(&API_tMemcpy).arg("dst", 0x2000).arg("src", DEVICE);
    let copy = copy.arg("bytes", 4).arg("kind", 4).content("src", Phase::Before, 0, Body::Device);
    copy.after("dst", 4, b"0123").done();
    let report = script.replay();
    clean(&report);
    assert_eq!(report.checks_passed, 1);
}

#[test]
fn a_guard_around_a_buffer_finds_a_callee_that_writes_past_it() {
    let _fake = fake::start();
    fake::with(|state| state.luid_bytes = 11);
    let mut script = Script::new();
    script.call(&API_tGetLuid).arg("luid", 0x1000).after("luid", 8, &[7; 8]).done();
    let report = script.replay();
    assert_eq!((report.diverged, report.exit_code()), (1, 1));
    assert!(only(&report, FindingKind::Canary).reason.contains("after a buffer of 8 bytes"));
    fake::with(|state| state.luid_bytes = 8);
    let mut script = Script::new();
    script.call(&API_tGetLuid).arg("luid", 0x1000).after("luid", 8, &[7; 8]).done();
    script.call(&API_tGetLuid).arg("luid", 0x1000).after("luid", 8, &[6; 8]).done();
    let report = script.replay();
    assert_eq!((report.reproduced, report.diverged), (1, 1));
}

#[test]
fn bytes_that_differ_after_a_refused_write_are_its_consequence() {
    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tMalloc).arg("bytes", 64).wrote("ptr", DEVICE).done();
    brought(&mut script, DEVICE, &[0; 4]);
    let copy = script.call(&API_tMemcpy).arg("dst", DEVICE).arg("src", 0x10).arg("bytes", 4);
    let copy =
        copy.arg("kind", 1).content("src", Phase::Before, 4, absent(AbsentReason::Unreadable));
    let cause = copy.done();
    brought(&mut script, DEVICE, b"abcd");
    brought(&mut script, DEVICE + 8, &[0; 4]);
    let report = script.replay();
    assert_eq!((report.checks_passed, report.checks_failed, report.checks_not_made), (2, 0, 1));
    assert_eq!((report.diverged, report.exit_code()), (0, 2));
    assert_eq!(only(&report, FindingKind::Consequence).cause, Some(cause.into()));
}

#[test]
fn a_call_that_checks_a_copy_of_another_thread_comes_behind_it() {
    let _fake = fake::start();
    fake::with(|state| state.delays.insert("memcpy_async", std::time::Duration::from_millis(100)));
    let mut script = Script::new();
    filled(&mut script, b"0123456789");
    // The other thread's wait began when this copy was about to return.
    let copy = script.call(&API_tMemcpyAsync).at(1000, 1010).arg("dst", 0x2000).arg("src", DEVICE);
    let copy = copy
        .arg("bytes", 4)
        .arg("kind", 2)
        .content("src", Phase::Before, 0, Body::Device)
        .content("dst", Phase::After, 4, absent(AbsentReason::Deferred))
        .done();
    let sync = script.call_on(1, &API_tSynchronize).at(1009, 1020);
    sync.check(Some((copy, 0)), 0x2000, Body::Bytes((*b"0123").into())).done();
    let report = script.replay();
    clean(&report);
    assert_eq!(report.checks_passed, 1);
}

#[test]
fn a_copy_is_not_given_what_a_callback_stored_later() {
    const PINNED: u64 = 0x7e00_0000_0000;
    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tHostAlloc).arg("bytes", 16).wrote("ptr", PINNED).done();
    script.call(&API_tMalloc).arg("bytes", 16).wrote("ptr", DEVICE).done();
    let owner = script.call(&API_tAddCallback).arg("callback", 0x1234).done();
    // When recorded the callback had not run yet; at replay it has.
    let copy = script.call(&API_tMemcpyAsync).arg("dst", DEVICE).arg("src", PINNED);
    copy.arg("bytes", 8)
        .arg("kind", 1)
        .before("src", 8, b"old data")
        .content("dst", Phase::After, 8, Body::Device)
        .done();
    let stored = Body::Bytes((*b"new").into());
    script.call(&API_tSynchronize).callback_store(owner, 0, PINNED, stored).done();
    brought(&mut script, DEVICE, b"new data");
    let report = script.replay();
    clean(&report);
    assert_eq!(report.checks_passed, 1);
}

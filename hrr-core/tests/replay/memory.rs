//! Ranges: translation, placement, host memory that kernels reach.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hrr_core::archive::event::{AbsentReason, Body, Phase};
use hrr_core::replay::ReplayOptions;
use hrr_core::replay::report::FindingKind;

use crate::api::*;
use crate::fake;
use crate::harness::*;

const DEVICE: u64 = 0x7f00_0000_0000;
const PINNED: u64 = 0x7e00_0000_0000;

fn placing(driver: FakeDriver) -> (Arc<FakeDriver>, ReplayOptions) {
    let driver = Arc::new(driver);
    let options = ReplayOptions { driver: Some(driver.clone()), ..options() };
    (driver, options)
}

#[test]
fn interior_addresses_translate_and_others_are_refused_by_name() {
    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tMalloc).arg("bytes", 64).wrote("ptr", DEVICE).done();
    script.call(&API_tMemset).arg("ptr", DEVICE + 40).arg("bytes", 8).done();
    script.call(&API_tMemset).arg("ptr", DEVICE + 64).arg("bytes", 0).done();
    script.call(&API_tMemset).arg("ptr", 0).done();
    let addresses: Vec<u8> =
        [DEVICE + 1, 0, DEVICE + 63].into_iter().flat_map(u64::to_le_bytes).collect();
    let array = script.call(&API_tAddresses).arg("addresses", 0x10).arg("count", 3);
    array.before("addresses", 3, &addresses).done();
    let report = script.replay();
    assert_eq!((report.reproduced, report.refused), (4, 1));
    let reason = &only(&report, FindingKind::Refused).reason;
    assert!(reason.contains("`ptr`: the address 0x7f0000000040 is in no allocation"), "{reason}");
    fake::with(|state| {
        let base = state.launched[0][0] - 1;
        assert_eq!(state.launched[0], [base + 1, 0, base + 63]);
        assert!(state.log.contains(&format!("memset({:x}, 0, 8)", base + 40)));
    });
}

#[test]
fn freed_and_reused_addresses_are_those_of_the_newest_allocation() {
    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tMalloc).arg("bytes", 0x1000).wrote("ptr", DEVICE).done();
    script.call(&API_tFree).arg("ptr", DEVICE).done();
    script.call(&API_tMemset).arg("ptr", DEVICE).done();
    script.call(&API_tMalloc).arg("bytes", 16).wrote("ptr", DEVICE).done();
    script.call(&API_tMemset).arg("ptr", DEVICE + 8).done();
    script.call(&API_tMemset).arg("ptr", DEVICE + 16).done();
    script.call(&API_tFree).arg("ptr", 0).done();
    let report = script.replay();
    assert_eq!((report.reproduced, report.refused), (5, 2));
}

#[test]
fn a_failed_free_keeps_the_range() {
    let _fake = fake::start();
    fake::with(|state| state.answers.insert("free", vec![INVALID.0]));
    let mut script = Script::new();
    script.call(&API_tMalloc).arg("bytes", 64).wrote("ptr", DEVICE).done();
    script.call(&API_tFree).arg("ptr", DEVICE).returned(INVALID.0 as u64).done();
    script.call(&API_tMemset).arg("ptr", DEVICE).done();
    clean(&script.replay());
}

#[test]
fn placed_memory_is_served_by_the_driver_and_the_runtime_is_not_asked() {
    let _fake = fake::start();
    let (driver, options) = placing(FakeDriver { devices: 1, ..FakeDriver::default() });
    let mut script = Script::new();
    script.call(&API_tMalloc).arg("bytes", 64).wrote("ptr", DEVICE).done();
    script.call(&API_tStreamCreate).wrote("stream", 0x100).done();
    script.call(&API_tFree).arg("ptr", DEVICE).done();
    let pitched = script.call(&API_tMallocPitch).arg("pitch", 0x9000).arg("width", 100);
    let pitched = pitched.arg("height", 2).wrote("ptr", DEVICE + 0x10000);
    pitched.after("pitch", 1, &256u64.to_le_bytes()).done();
    let report = script.replay_with(options);
    clean(&report);
    assert_eq!((report.reproduced, report.placed, report.machine_differs), (4, 2, 0));
    assert!(report.unplaced.is_empty());
    assert_eq!(report.runtime.live, "the fake");
    assert_eq!(report.runtime.devices, ["fake 0"]);
    fake::with(|state| {
        assert_eq!(state.log.len(), 1, "only the stream: {:?}", state.log);
    });
    assert_eq!(driver.touched.load(Ordering::Relaxed), 3);
    assert_eq!(
        *driver.calls.lock().unwrap(),
        [
            "place 7f0000000000 40 0",
            "unplace 7f0000000000",
            "place 7f0000010000 200 0",
            "synchronize",
            "unplace 7f0000010000"
        ]
    );
}

#[test]
fn what_cannot_be_placed_is_translated_and_named() {
    let _fake = fake::start();
    let (_, options) = placing(FakeDriver { devices: 1, refuse: true, ..FakeDriver::default() });
    let mut script = Script::new();
    script.call(&API_tMalloc).arg("bytes", 64).wrote("ptr", DEVICE).done();
    script.call(&API_tMemset).arg("ptr", DEVICE).arg("bytes", 8).done();
    script.call(&API_tFree).arg("ptr", DEVICE).done();
    let report = script.replay_with(options);
    clean(&report);
    assert_eq!(report.placed, 0);
    assert_eq!(report.unplaced.len(), 1);
    assert_eq!((report.unplaced[0].address, report.unplaced[0].bytes), (DEVICE, 64));
    assert_eq!(report.unplaced[0].reason, "something else lies there");
}

#[test]
fn nothing_is_placed_or_ended_while_a_stream_is_captured() {
    let _fake = fake::start();
    let (driver, options) = placing(FakeDriver { devices: 1, ..FakeDriver::default() });
    let mut script = Script::new();
    script.call(&API_tMalloc).arg("bytes", 64).wrote("ptr", DEVICE).done();
    script.call(&API_tStreamCreate).wrote("stream", 0x100).done();
    script.call(&API_tBeginCapture).arg("stream", 0x100).done();
    script.call(&API_tMalloc).arg("bytes", 32).wrote("ptr", DEVICE + 0x1000).done();
    script.call(&API_tFree).arg("ptr", DEVICE).done();
    script.call(&API_tEndCapture).arg("stream", 0x100).wrote("graph", 0x200).done();
    script.call(&API_tMalloc).arg("bytes", 16).wrote("ptr", DEVICE).done();
    let report = script.replay_with(options);
    clean(&report);
    assert_eq!(report.placed, 2);
    assert_eq!(report.unplaced[0].reason, "a stream was being captured");
    let calls = driver.calls.lock().unwrap();
    assert_eq!(
        calls[..3],
        ["place 7f0000000000 40 0", "unplace 7f0000000000", "place 7f0000000000 10 0"]
    );
}

#[test]
fn a_reset_ends_every_range_and_placed_ones_first() {
    let _fake = fake::start();
    let (driver, options) = placing(FakeDriver { devices: 1, ..FakeDriver::default() });
    let mut script = Script::new();
    script.call(&API_tMalloc).arg("bytes", 64).wrote("ptr", DEVICE).done();
    script.call(&API_tHostAlloc).arg("bytes", 64).wrote("ptr", PINNED).done();
    script.call(&API_tReset).done();
    script.call(&API_tMemset).arg("ptr", DEVICE).done();
    script.call(&API_tHostAlloc).arg("bytes", 16).wrote("ptr", PINNED + 8).done();
    script.call(&API_tMemset).arg("ptr", PINNED + 8).arg("bytes", 4).done();
    script.call(&API_tMemset).arg("ptr", PINNED).arg("bytes", 4).done();
    let report = script.replay_with(options);
    assert_eq!((report.reproduced, report.refused), (5, 2));
    assert!(driver.calls.lock().unwrap().contains(&"unplace 7f0000000000".to_owned()));
}

#[test]
fn host_memory_that_kernels_reach_is_restored_and_checked() {
    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tHostAlloc).arg("bytes", 16).wrote("ptr", PINNED).done();
    let alias = script.call(&API_tHostGetDevicePointer).arg("host", PINNED + 4);
    alias.wrote("device", 0x6600_0000_0004).done();
    let set = script.call(&API_tMemset).arg("ptr", PINNED + 2).arg("value", 0x41).arg("bytes", 2);
    set.host_write(PINNED, b"0123456789abcdef").done();
    script
        .call(&API_tMemset)
        .arg("ptr", 0x6600_0000_0006)
        .arg("value", 0x42)
        .arg("bytes", 1)
        .done();
    let sync = script.call(&API_tSynchronize);
    sync.check(None, PINNED + 1, Body::Bytes((*b"1AA45B7").into())).done();
    let report = script.replay();
    clean(&report);
    assert_eq!((report.checks_passed, report.host_bytes_restored), (1, 16));
}

#[test]
fn restoring_what_is_not_there_is_refused() {
    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tHostAlloc).arg("bytes", 16).wrote("ptr", PINNED).done();
    script.call(&API_tStreamUse).host_write(PINNED + 10, b"1234567").done();
    script.call(&API_tStreamUse).host_write(0x1234_0000, b"1").done();
    script.call(&API_tMalloc).arg("bytes", 64).wrote("ptr", DEVICE).done();
    script.call(&API_tStreamUse).host_write(DEVICE, b"1").done();
    let report = script.replay();
    assert_eq!((report.reproduced, report.refused), (2, 3));
}

#[test]
fn registered_memory_is_ours_until_it_is_unregistered() {
    let _fake = fake::start();
    let mut script = Script::new();
    for bytes in [100u64, 40] {
        script.call(&API_tHostRegister).arg("ptr", 0x1_0010).arg("bytes", bytes).done();
        let set = script.call(&API_tMemset).arg("ptr", 0x1_0010 + bytes - 1).arg("value", 7);
        set.arg("bytes", 1).done();
        let sync = script.call(&API_tSynchronize);
        sync.check(None, 0x1_0010 + bytes - 1, Body::Bytes([7].into())).done();
        script.call(&API_tHostUnregister).arg("ptr", 0x1_0010).done();
    }
    script.call(&API_tHostUnregister).arg("ptr", 0x1_0010).done();
    let report = script.replay();
    assert_eq!((report.reproduced, report.refused, report.checks_passed), (8, 1, 2));
    fake::with(|state| {
        let live = u64::from_str_radix(&state.log[0]["host_register(".len()..][..12], 16).unwrap();
        assert_eq!(live % 4096, 0x10, "it lies in its page as the recorded memory did");
    });
}

#[test]
fn words_that_point_into_memory_that_moved_are_rewritten_and_compared_by_meaning() {
    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tMalloc).arg("bytes", 64).wrote("ptr", DEVICE).done();
    let words = [DEVICE + 8, 5, 0x1_2345_6789, DEVICE + 64];
    let content: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
    let copy = script.call(&API_tMemcpy).arg("dst", DEVICE).arg("src", 0x1000);
    let copy = copy.arg("bytes", 32).arg("kind", 1).before("src", 32, &content);
    copy.content("dst", Phase::After, 32, Body::Device).done();
    let copy = script.call(&API_tMemcpy).arg("dst", 0x2000).arg("src", DEVICE);
    let copy = copy.arg("bytes", 32).arg("kind", 2).content("src", Phase::Before, 0, Body::Device);
    copy.after("dst", 32, &content).done();
    let report = script.replay();
    clean(&report);
    assert_eq!(report.untranslated.rewritten_words, 1);
    assert_eq!(report.checks_passed, 1);
}

#[test]
fn a_refused_allocation_is_the_cause_of_what_uses_it() {
    let _fake = fake::start();
    fake::with(|state| state.answers.insert("malloc", vec![OOM.0]));
    let mut script = Script::new();
    let cause = script.call(&API_tMalloc).arg("bytes", 64).wrote("ptr", DEVICE).done();
    script.call(&API_tMemset).arg("ptr", DEVICE + 63).done();
    script.call(&API_tFree).arg("ptr", DEVICE).done();
    let report = script.replay();
    assert_eq!((report.diverged, report.refused), (1, 2));
    let mut consequences = report.findings.iter().filter(|f| f.kind == FindingKind::Consequence);
    assert!(consequences.all(|finding| finding.cause == Some(cause.into())));
}

#[test]
fn the_budget_of_host_memory_refuses_before_it_allocates() {
    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tHostRegister).arg("ptr", 0x1000).arg("bytes", u64::MAX - 5).done();
    script.call(&API_tHostRegister).arg("ptr", 0x1000).arg("bytes", 1 << 30).done();
    let mut options = options();
    options.host_bytes_max = 1 << 20;
    let report = script.replay_with(options);
    assert_eq!(report.refused, 2);
    assert!(report.findings[1].reason.contains("`host_bytes_max`"));
}

#[test]
fn memory_that_a_function_needs_of_the_runtime_is_not_placed() {
    let _fake = fake::start();
    let (_, options) = placing(FakeDriver { devices: 1, ..FakeDriver::default() });
    let mut script = Script::new();
    script.call(&API_tMalloc).arg("bytes", 64).wrote("ptr", DEVICE).done();
    script.call(&API_tMalloc).arg("bytes", 64).wrote("ptr", DEVICE + 64).done();
    let get = script.call(&API_tHostGetDevicePointer).arg("host", DEVICE + 63);
    get.wrote("device", DEVICE + 63).done();
    let report = script.replay_with(options);
    clean(&report);
    assert_eq!((report.placed, report.unplaced.len()), (1, 1));
    assert_eq!(report.unplaced[0].address, DEVICE);
    assert!(report.unplaced[0].reason.contains("a call of tHostGetDevicePointer needs"));
}

/// Pinned memory whose byte 0 the program stores; `tSynchronize` waits for it, then does what a
/// kernel would.
fn waiting(then: extern "C" fn(&mut [u8; 16])) -> Script {
    static THEN: AtomicUsize = AtomicUsize::new(0);
    static MEMORY: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn waits() -> Status {
        let address = MEMORY.load(Ordering::Acquire) as *mut [u8; 16];
        // SAFETY: the pinned memory of this test, which lives for ever.
        while unsafe { address.cast::<u8>().read_volatile() } == 0 {
            std::thread::yield_now();
        }
        // SAFETY: as above; the address is that of a function of this type.
        unsafe {
            let then = THEN.load(Ordering::Acquire) as *const ();
            core::mem::transmute::<*const (), extern "C" fn(&mut [u8; 16])>(then)(&mut *address);
        }
        OK
    }
    extern "C" fn allocates(ptr: *mut *mut u8, _bytes: usize) -> Status {
        let memory = Box::leak(vec![0u8; 16].into_boxed_slice()).as_mut_ptr();
        MEMORY.store(memory as usize, Ordering::Release);
        // SAFETY: the engine's room.
        unsafe { ptr.write(memory) };
        OK
    }
    THEN.store(then as usize, Ordering::Release);
    API_tHostAlloc.real.store(allocates as *mut (), Ordering::Release);
    API_tSynchronize.real.store(waits as *mut (), Ordering::Release);
    let mut script = Script::new();
    script.call(&API_tHostAlloc).arg("bytes", 16).wrote("ptr", PINNED).done();
    script.call(&API_tStreamUse).host_write(PINNED, &[0; 16]).done();
    script
}

#[test]
fn a_call_that_waits_for_what_was_seen_gets_it_and_the_rest_is_checked() {
    extern "C" fn then(memory: &mut [u8; 16]) {
        assert_eq!(*memory, *b"F\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
        memory[1..].copy_from_slice(b"lag and results");
    }
    let _fake = fake::start();
    let mut script = waiting(then);
    let sync = script.call(&API_tSynchronize).host_seen(PINNED, b"F\0\0\0", 2);
    sync.check(None, PINNED, Body::Bytes((*b"Flag and results").into())).done();
    let report = script.replay();
    clean(&report);
    assert_eq!((report.host_bytes_stored, report.bytes_checked), (1, 15));
    let note = &only(&report, FindingKind::Note).reason;
    assert!(note.contains("1 bytes of host memory, from 0x"), "{note}");
}

#[test]
fn what_was_seen_before_a_launch_is_there_when_it_is_issued() {
    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tHostAlloc).arg("bytes", 16).wrote("ptr", PINNED).done();
    script.call(&API_tStreamUse).host_write(PINNED, &[0; 16]).done();
    let set = script.call(&API_tMemset).arg("ptr", PINNED).arg("value", 0x41).arg("bytes", 4);
    set.done();
    // The work had written its first word half; the third word is the program's.
    script.call(&API_tStreamUse).host_seen(PINNED, b"AA\0\0\0\0\0\0prog", 1).done();
    let sync = script.call(&API_tSynchronize);
    sync.check(None, PINNED, Body::Bytes((*b"AAAA\0\0\0\0prog").into())).done();
    let report = script.replay();
    clean(&report);
    assert_eq!((report.host_bytes_stored, report.bytes_checked), (4, 8));
    assert!(only(&report, FindingKind::Note).reason.contains("taken for stores of the program"));
}

#[test]
fn a_callback_stores_what_it_stored_on_each_run() {
    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tHostAlloc).arg("bytes", 16).wrote("ptr", PINNED).done();
    let zero = script.call(&API_tMemset).arg("ptr", PINNED).arg("value", 0).arg("bytes", 16);
    zero.done();
    let mut owners = Vec::new();
    for data in [0x5678, 0] {
        let add = script.call(&API_tAddCallback).arg("callback", 0x1234).arg("data", data);
        owners.push(add.done());
    }
    let bytes = |bytes: &[u8]| Body::Bytes(bytes.into());
    let mut sync = script.call(&API_tSynchronize);
    sync = sync.callback_store(owners[1], 0, PINNED + 4, bytes(b"later"));
    sync = sync.callback_store(owners[0], 0, PINNED + 2, bytes(b"first"));
    // That run does not come.
    sync = sync.callback_store(owners[0], 1, PINNED, bytes(b"never"));
    sync.check(None, PINNED, bytes(b"\0\0fi" as &[u8])).done();
    let sync = script.call(&API_tSynchronize);
    sync.check(None, PINNED + 4, bytes(b"later\0" as &[u8])).done();
    let report = script.replay();
    clean(&report);
    assert_eq!((report.ordering, report.checks_passed, report.callback_bytes_stored), (2, 2, 10));
}

#[test]
fn where_a_callback_was_not_looked_at_what_differs_is_no_verdict() {
    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tHostAlloc).arg("bytes", 16).wrote("ptr", PINNED).done();
    let zero = script.call(&API_tMemset).arg("ptr", PINNED).arg("value", 0).arg("bytes", 16);
    zero.done();
    let owner = script.call(&API_tAddCallback).arg("callback", 0x1234).done();
    let absent = Body::Absent(AbsentReason::RecorderLimit);
    let sync = script.call(&API_tSynchronize).callback_store(owner, 0, 0, absent);
    sync.check(None, PINNED, Body::Bytes((*b"what it stored").into())).done();
    let report = script.replay();
    assert_eq!((report.checks_not_made, report.exit_code()), (1, 4), "{report:#?}");
    let note = &only(&report, FindingKind::Note).reason;
    assert!(note.contains("stored on run 0 is not there"), "{note}");
}

#[test]
fn what_was_seen_and_spoils_a_check_is_no_verdict() {
    extern "C" fn counts(memory: &mut [u8; 16]) {
        memory[4] += 5;
    }
    let _fake = fake::start();
    let mut script = waiting(counts);
    // The device had counted to 5 when the call began: the replay's device is not so far yet.
    let sync = script.call(&API_tSynchronize).host_seen(PINNED, &[1, 0, 0, 0, 5], 0);
    sync.check(None, PINNED, Body::Bytes([1, 0, 0, 0, 5].as_slice().into())).done();
    let report = script.replay();
    assert_eq!((report.checks_not_made, report.exit_code()), (1, 4), "{report:#?}");
    let reason = &only(&report, FindingKind::CheckNotMade).reason;
    assert!(reason.contains("taken for the program's"), "{reason}");
}

#[test]
fn what_is_restored_leaves_alone_what_did_not_change() {
    extern "C" fn then(_memory: &mut [u8; 16]) {}
    let _fake = fake::start();
    let mut script = waiting(then);
    let set = script.call(&API_tMemset).arg("ptr", PINNED + 3).arg("value", 0x41).arg("bytes", 2);
    set.done();
    script.call(&API_tStreamUse).host_write(PINNED, b"x\0\0\0\0\0\0z").done();
    let sync = script.call(&API_tSynchronize);
    sync.check(None, PINNED, Body::Bytes((*b"x\0\0AA\0\0z").into())).done();
    clean(&script.replay());
}

#[test]
fn what_was_seen_where_nothing_is_does_no_harm() {
    extern "C" fn then(_memory: &mut [u8; 16]) {}
    let _fake = fake::start();
    let mut script = waiting(then);
    script.call(&API_tStreamUse).host_seen(0x1234_0000, b"1", 0).done();
    script.call(&API_tStreamUse).host_seen(PINNED + 10, b"1234567", u32::MAX).done();
    script.call(&API_tMalloc).arg("bytes", 64).wrote("ptr", DEVICE).done();
    script.call(&API_tStreamUse).host_seen(DEVICE, b"1", 0).done();
    let report = script.replay();
    clean(&report);
    assert_eq!(report.host_bytes_stored, 0);
}

#[test]
fn a_call_that_waits_for_a_store_of_the_program_gets_it_and_its_range_is_not_checked() {
    extern "C" fn then(_memory: &mut [u8; 16]) {}
    let _fake = fake::start();
    let mut script = waiting(then);
    let sync = script.call(&API_tSynchronize);
    sync.check(None, PINNED, Body::Bytes((*b"flag and data...").into())).done();
    let sync = script.call(&API_tSynchronize);
    sync.check(None, PINNED, Body::Bytes((*b"flag and data...").into())).done();
    let mut options = options();
    options.watchdog = std::time::Duration::from_millis(50);
    let report = script.replay_with(options);
    assert_eq!((report.checks_not_made, report.checks_passed), (1, 1), "{report:#?}");
    assert_eq!((report.reproduced, report.exit_code()), (4, 4));
    let reason = &only(&report, FindingKind::CheckNotMade).reason;
    assert!(reason.contains("the program may have stored it"), "{reason}");
}

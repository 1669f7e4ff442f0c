//! Structs, arrays, strings, options: what stands behind pointers.

use hrr_core::archive::event::{AbsentReason, Body, Field, Phase};
use hrr_core::replay::report::FindingKind;

use crate::api::*;
use crate::fake;
use crate::harness::*;

const DEVICE: u64 = 0x7f00_0000_0000;

fn config(small: u8, stream: u64, address: u64, count: u16) -> Vec<u8> {
    let mut bytes = vec![0xee; 40];
    bytes[0] = small;
    bytes[8..16].copy_from_slice(&stream.to_le_bytes());
    bytes[16..24].copy_from_slice(&address.to_le_bytes());
    bytes[24..26].copy_from_slice(&count.to_le_bytes());
    bytes[32..40].copy_from_slice(&0x1234_5678u64.to_le_bytes());
    bytes
}

fn values(element: u32, content: &[u32]) -> Field {
    Field {
        id: 4,
        depth: 1,
        phase: Phase::Before,
        element,
        original: content.len() as u64,
        recorded: content.len() as u64,
        address: 0,
        owner: None,
        body: Body::Bytes(content.iter().flat_map(|v| v.to_le_bytes()).collect()),
    }
}

#[test]
fn structs_are_rebuilt_with_their_handles_addresses_and_arrays() {
    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tStreamCreate).wrote("stream", 0x100).done();
    script.call(&API_tMalloc).arg("bytes", 64).wrote("ptr", DEVICE).done();
    let one = script.call(&API_tConfigure).arg("config", 0x10);
    let one = one.before("config", 1, &config(3, 0x100, DEVICE + 4, 2));
    one.field(values(0, &[7, 8])).done();
    let mut all = config(1, 0, 0, 1);
    all.extend(config(2, 0x100, DEVICE, 3));
    let many = script.call(&API_tConfigureAll).arg("configs", 0x10).arg("count", 2);
    let many = many.before("configs", 2, &all);
    many.field(values(0, &[5])).field(values(1, &[9, 10, 11])).done();
    clean(&script.replay());
    fake::with(|state| {
        let stream = state.made[0];
        let seen: Vec<&String> = state.log.iter().filter(|line| line.contains('[')).collect();
        assert!(seen[0].starts_with(&format!("3 {stream:x} ")) && seen[0].ends_with(" [7, 8]"));
        assert_eq!(seen[1], "1 0 0 [5]");
        assert!(seen[2].starts_with(&format!("2 {stream:x} ")), "{}", seen[2]);
        assert!(seen[2].ends_with(" [9, 10, 11]"));
        assert!(!seen[0].contains(&format!("{:x}", DEVICE + 4)));
    });
}

#[test]
fn what_a_struct_lacks_refuses_the_call_and_says_where() {
    let _fake = fake::start();
    let mut script = Script::new();
    let lacking = script.call(&API_tConfigure).arg("config", 0x10);
    lacking.before("config", 1, &config(3, 0, 0, 2)).done();
    let unknown = script.call(&API_tConfigure).arg("config", 0x10);
    unknown.before("config", 1, &config(3, 0x999, 0, 0)).field(values(0, &[])).done();
    let torn = script.call(&API_tConfigure).arg("config", 0x10);
    torn.before("config", 1, &config(3, 0, 0, 0)[..39]).done();
    let report = script.replay();
    let reasons: Vec<&str> = report.findings.iter().map(|finding| &*finding.reason).collect();
    assert_eq!(report.refused, 3);
    assert_eq!(reasons[0], "`config`: `values`: the recording lacks its content");
    assert!(reasons[1].starts_with("`config`: `stream`: no recorded call made the Stream 0x999"));
    assert!(reasons[2].contains("39 bytes is no number of `Config` of 40 bytes"));
}

#[test]
fn strings_and_buffers_are_ours_and_null_stays_null() {
    let _fake = fake::start();
    let mut script = Script::new();
    let call = script.call(&API_tName).arg("name", 0x10).arg("data", 0x20).arg("bytes", 3);
    call.before("name", 5, b"hello").before("data", 3, &[1, 2, 3]).done();
    script.call(&API_tName).content("name", Phase::Before, 0, Body::Null).done();
    let call = script.call(&API_tName).arg("name", 0x10);
    call.content("name", Phase::Before, 0, absent(AbsentReason::Unreadable)).done();
    let report = script.replay();
    assert_eq!((report.reproduced, report.refused), (2, 1));
    assert!(only(&report, FindingKind::Refused).reason.contains("could not be read"));
    fake::with(|state| {
        assert!(state.log.contains(&"hello [1, 2, 3]".to_owned()));
        assert!(state.log.contains(&"null []".to_owned()));
    });
}

#[test]
fn options_keep_integers_get_buffers_of_ours_and_are_refused_if_unknown() {
    let _fake = fake::start();
    let link = |script: &mut Script, keys: &[i32], values: &[u64]| {
        let keys: Vec<u8> = keys.iter().flat_map(|key| key.to_le_bytes()).collect();
        let count = values.len() as u64;
        let values: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let link = script.call(&API_tLink).arg("options", 0x10).arg("values", 0x20);
        link.arg("count", count)
            .before("options", count, &keys)
            .before("values", count, &values)
            .done();
    };
    let mut script = Script::new();
    link(&mut script, &[0, 3, 4], &[32, 0x7777_0000, 256]);
    script.call(&API_tLink).done();
    link(&mut script, &[12345], &[1]);
    link(&mut script, &[3], &[0x7777_0000]);
    let report = script.replay();
    assert_eq!((report.reproduced, report.refused), (2, 2));
    assert!(report.findings[0].reason.contains("the option 12345 is not known"));
    assert!(report.findings[1].reason.contains("no option gives the size of `LOG`"));
    fake::with(|state| {
        assert_eq!((state.launched[0][0], state.launched[0][2]), (32, 256));
        assert_ne!(state.launched[0][1], 0x7777_0000);
    });
}

#[test]
fn the_address_of_an_entry_point_is_asked_again_and_not_compared() {
    let _fake = fake::start();
    let mut script = Script::new();
    let ask = script.call(&API_tGetProc).arg("name", 0x10).before("name", 7, b"tMalloc");
    ask.arg("f", 0x20).content("f", Phase::After, 1, absent(AbsentReason::NotKept)).done();
    clean(&script.replay());
    fake::with(|state| assert_eq!(state.made.len(), 1));
}

#[test]
fn a_null_output_is_passed_as_null() {
    let _fake = fake::start();
    fake::with(|state| state.answers.insert("get_number", vec![INVALID.0]));
    let mut script = Script::new();
    script.call(&API_tGetNumber).returned(INVALID.0 as u64).done();
    let report = script.replay();
    clean(&report);
    fake::with(|state| assert_eq!(state.log, ["get_number(0)"]));
}

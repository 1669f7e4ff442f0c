//! Images, symbols and the arguments of kernels.

use hrr_core::archive::event::{AbsentReason, Body, Field, ORIGINAL_UNKNOWN, Phase};
use hrr_core::code::{ELEMENT_IDENTITY, ELEMENT_WRAPPER, Identity, ValueKind, encode_arg};
use hrr_core::replay::report::FindingKind;

use crate::api::*;
use crate::fake;
use crate::harness::*;

const DEVICE: u64 = 0x7f00_0000_0000;
const STUB: u64 = 0x40_1000;

fn identity(image: u128, name: &str) -> Vec<u8> {
    Identity { image, name: name.to_owned() }.encode()
}

/// An argument of a launch: kind, offset and value.
struct Arg(ValueKind, u64, Vec<u8>);

fn pointer(offset: u64, value: u64) -> Arg {
    Arg(ValueKind::Pointer, offset, value.to_le_bytes().to_vec())
}

fn kernel_fields(id: u16, identity: &[u8], args: &[Arg]) -> Vec<Field> {
    let field = |element, address, bytes: u64, body: Vec<u8>| Field {
        id,
        depth: 0,
        phase: Phase::Before,
        element,
        original: bytes,
        recorded: bytes,
        address,
        owner: None,
        body: Body::Bytes(body.into()),
    };
    let mut fields = vec![field(ELEMENT_IDENTITY, 0, identity.len() as u64, identity.to_vec())];
    for (index, Arg(kind, offset, value)) in args.iter().enumerate() {
        let content = encode_arg(*kind, value);
        fields.push(field(index as u32, *offset, value.len() as u64, content));
    }
    fields
}

/// A registered binary with one kernel behind [`STUB`].
fn registered(script: &mut Script) {
    let image = script.blob(b"IMAGE of code");
    let binary = script.call(&API_tRegisterBinary).arg("wrapper", 0x1000);
    binary.content("wrapper", Phase::Before, 13, image).returned(0x800).done();
    let function = script.call(&API_tRegisterFunction).arg("module", 0x800).arg("stub", STUB);
    let function = function.arg("name", 0x2000).before("stub", 19, &identity(7, "add"));
    function.before("name", 3, b"add").done();
}

/// A launch of that kernel.
fn launch(script: &mut Script, args: &[Arg]) {
    fake::with(|state| state.arg_bytes.extend(args.iter().map(|arg| arg.2.len())));
    let launch = script.call(&API_tLaunch).arg("stub", STUB).arg("args", 0x3000);
    let launch = launch.before("stub", 19, &identity(7, "add"));
    launch.with(|event| event.fields.extend(kernel_fields(1, &identity(7, "add"), args))).done();
}

#[test]
fn a_registered_kernel_is_launched_through_its_stand_in() {
    let _fake = fake::start();
    let mut script = Script::new();
    registered(&mut script);
    script.call(&API_tMalloc).arg("bytes", 64).wrote("ptr", DEVICE).done();
    launch(&mut script, &[pointer(0, DEVICE + 8), Arg(ValueKind::ByValue, 8, vec![1, 2, 3, 4])]);
    clean(&script.replay());
    fake::with(|state| {
        assert!(state.log.iter().any(|line| line == "wrapper 148495046 [73, 77, 65, 71]"));
        assert_ne!(state.launched[0][0], DEVICE + 8);
        assert_eq!(state.launched[0][1], 0x0403_0201);
        let stubs: Vec<&String> = state.log.iter().filter(|l| l.contains("register_f")).collect();
        let stub = stubs[0].trim_start_matches("register_function(").trim_end_matches(')');
        assert!(state.log.last().unwrap().starts_with(&format!("launch({stub}, ")));
    });
}

#[test]
fn a_name_alone_is_no_kernel() {
    let _fake = fake::start();
    let mut script = Script::new();
    registered(&mut script);
    let launch = script.call(&API_tLaunch).arg("stub", STUB + 8).arg("args", 0);
    launch.before("stub", 19, &identity(8, "add")).done();
    let launch = script.call(&API_tLaunch).arg("stub", STUB + 8).arg("args", 0);
    launch.before("stub", 19, &identity(7, "add")).done();
    let report = script.replay();
    assert_eq!((report.refused, report.reproduced), (1, 3));
    let reason = &only(&report, FindingKind::Refused).reason;
    assert!(reason.contains("no recorded call registered `add` of the image 0000000000000000"));
}

#[test]
fn literals_pass_guard_addresses_stand_for_unknown_ones_and_ends_follow_their_range() {
    let _fake = fake::start();
    let mut script = Script::new();
    registered(&mut script);
    script.call(&API_tMalloc).arg("bytes", 64).wrote("ptr", DEVICE).done();
    let values = [0, 1, 0x10, u64::MAX, DEVICE + 64, DEVICE + (4 << 30)];
    let args: Vec<Arg> = values.iter().map(|value| pointer(0, *value)).collect();
    launch(&mut script, &args);
    let report = script.replay();
    clean(&report);
    assert_eq!(report.untranslated.literals, 3);
    assert_eq!((report.untranslated.unknown, report.untranslated.past_end), (1, 1));
    assert!(only(&report, FindingKind::Note).reason.contains("guard address"));
    fake::with(|state| {
        assert_eq!(state.launched[0][..4], [0, 1, 0x10, u64::MAX]);
        assert_ne!(state.launched[0][4], DEVICE + 64);
        assert_eq!(state.launched[0][5], 0x6b6b_0000_0000_0000);
    });
}

#[test]
fn words_of_arguments_by_value_change_only_where_they_point_into_moved_memory() {
    let _fake = fake::start();
    let mut script = Script::new();
    registered(&mut script);
    script.call(&API_tMalloc).arg("bytes", 64).wrote("ptr", DEVICE).done();
    let words = [DEVICE + 8, DEVICE + 64, 5, DEVICE + 63];
    let mut by_value: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
    // At an odd offset a word is no address.
    by_value.push(1);
    by_value.extend_from_slice(&DEVICE.to_le_bytes());
    by_value.extend_from_slice(&[0; 7]);
    launch(&mut script, &[Arg(ValueKind::ByValue, 0, by_value)]);
    // The same word at an offset of 4 in the segment.
    let shifted: Vec<u8> = DEVICE.to_le_bytes().to_vec();
    fake::with(|state| state.arg_bytes.clear());
    launch(&mut script, &[Arg(ValueKind::ByValue, 4, shifted)]);
    fake::with(|state| state.arg_bytes = vec![48]);
    let report = script.replay();
    clean(&report);
    assert_eq!(report.untranslated.rewritten_words, 2);
    fake::with(|state| {
        let seen = &state.launched[0];
        assert_eq!(seen[3] - seen[0], 55);
        assert_eq!((seen[1], seen[2]), (DEVICE + 64, 5));
        assert_eq!(seen[4], 1 | DEVICE << 8);
    });
}

#[test]
fn arguments_that_are_not_whole_refuse_the_launch() {
    let _fake = fake::start();
    let mut script = Script::new();
    registered(&mut script);
    let mut spoil = |change: &dyn Fn(&mut Vec<Field>)| {
        let args = [pointer(0, 0), Arg(ValueKind::ByValue, 8, vec![1, 2, 3, 4])];
        let mut fields = kernel_fields(1, &identity(7, "add"), &args);
        change(&mut fields);
        let launch = script.call(&API_tLaunch).arg("stub", STUB).arg("args", 0x3000);
        let launch = launch.before("stub", 19, &identity(7, "add"));
        launch.with(|event| event.fields.extend(fields)).done();
    };
    spoil(&|fields| fields[2].body = Body::Absent(AbsentReason::ShortBuffer));
    spoil(&|fields| fields[0].body = Body::Absent(AbsentReason::UnknownOrigin));
    spoil(&|fields| {
        fields.truncate(2);
        fields[1].body = Body::Absent(AbsentReason::NoMetadata);
        fields[1].recorded = 0;
    });
    spoil(&|fields| drop(fields.remove(1)));
    spoil(&|fields| fields[2].original = 8);
    spoil(&|fields| fields[1].body = Body::Bytes([2, 1, 2, 3, 4].into()));
    spoil(&|fields| {
        fields[1].body = Body::Bytes([2, 1, 2, 3, 4].into());
        (fields[1].original, fields[1].recorded) = (4, 4);
    });
    spoil(&|fields| fields.clear());
    let report = script.replay();
    let reasons: Vec<&str> = report.findings.iter().map(|finding| &*finding.reason).collect();
    assert_eq!(report.refused, 8, "{reasons:#?}");
    for (reason, part) in reasons.iter().zip([
        "argument 1: the recording lacks its content: the launch buffer ended",
        "the recorder did not see it being made",
        "no metadata for this kernel",
        "argument 0: the recording lacks it",
        "argument 1: the recording holds 4 of 8",
        "argument 0: 4 of 8 bytes were recorded",
        "argument 0: a pointer of 4 bytes cannot be translated",
        "lacks the kernel's arguments",
    ]) {
        assert!(reason.contains(part), "{reason}");
    }
}

#[test]
fn both_forms_and_none_of_handing_over_arguments() {
    let _fake = fake::start();
    let mut script = Script::new();
    let image = script.blob(b"IMAGE of code");
    let load = script.call(&API_tModuleLoadData).arg("image", 0x1000).wrote("module", 0x700);
    load.content("image", Phase::Before, 13, image).done();
    let get = script.call(&API_tModuleGetFunction).arg("module", 0x700).arg("name", 0x2000);
    get.before("name", 3, b"add").wrote("function", 0x710).done();
    let args = [Arg(ValueKind::ByValue, 0, vec![1; 8]), Arg(ValueKind::ByValue, 16, vec![2; 8])];
    for id in [2, 3] {
        let name = if id == 2 { "args" } else { "extra" };
        let launch = script.call(&API_tModuleLaunch).arg("function", 0x710).arg(name, 0x3000);
        let fields = kernel_fields(id, &identity(7, "add"), &args);
        launch.with(|event| event.fields.extend(fields)).done();
    }
    script.call(&API_tModuleLaunch).arg("function", 0x710).done();
    let launch = script.call(&API_tModuleLaunch).arg("function", 0x710).arg("args", 0x3000);
    launch.with(|event| event.fields.extend(kernel_fields(2, &identity(7, "add"), &[]))).done();
    fake::with(|state| state.arg_bytes = vec![8, 8]);
    clean(&script.replay());
    fake::with(|state| {
        let (one, two) = (0x0101_0101_0101_0101, 0x0202_0202_0202_0202);
        assert_eq!(state.launched, [vec![one, two], vec![one, 0, two], vec![], vec![]]);
    });
}

#[test]
fn paths_of_the_recorded_machine_are_never_opened() {
    let _fake = fake::start();
    let mut script = Script::new();
    let image = script.blob(b"IMAGE of code");
    let load = script.call(&API_tModuleLoadPath).arg("path", 0x1000).wrote("module", 0x700);
    load.content("path", Phase::Before, 13, image.clone()).done();
    let load = script.call(&API_tModuleLoad).arg("path", 0x1000).wrote("module", 0x710);
    load.content("path", Phase::Before, 13, image).done();
    let get = script.call(&API_tModuleGetFunction).arg("module", 0x710).arg("name", 0x2000);
    get.before("name", 3, b"add").wrote("function", 0x720).done();
    let report = script.replay();
    assert_eq!((report.refused, report.reproduced), (1, 2));
    assert!(only(&report, FindingKind::Refused).reason.contains("never opened"));
    fake::with(|state| {
        assert_eq!(state.log.iter().filter(|line| *line == "image [73, 77, 65, 71]").count(), 1);
    });
}

/// A load that failed is issued with what is known of its image; zeros stand for the rest.
#[test]
fn an_image_that_was_refused_is_refused_again() {
    let _fake = fake::start();
    let mut script = Script::new();
    for original in [4, 100, ORIGINAL_UNKNOWN] {
        let load = script.call(&API_tModuleLoadData).arg("image", 0x1000).returned(200);
        let load = load.before("image", 4, b"JUNK");
        load.with(|event| event.fields[0].original = original).done();
    }
    let report = script.replay();
    assert_eq!((report.failed_as_recorded, report.events), (3, 3), "{:?}", report.findings);
    fake::with(|state| {
        let tables = state.log.iter().filter(|line| *line == "table false");
        assert_eq!(tables.count(), 3, "{:?}", state.log);
    });
}

/// What was taken although it is not known whole is never replayed.
#[test]
fn an_image_of_unknown_length_that_was_taken_is_refused() {
    let _fake = fake::start();
    let mut script = Script::new();
    let load = script.call(&API_tModuleLoadData).arg("image", 0x1000).wrote("module", 0x700);
    let load = load.before("image", 4, b"JUNK");
    load.with(|event| {
        let image = event.fields.iter_mut().find(|field| field.phase == Phase::Before);
        image.expect("it has the image").original = ORIGINAL_UNKNOWN;
    })
    .done();
    let report = script.replay();
    assert_eq!((report.refused, report.events), (1, 1));
    let reason = &only(&report, FindingKind::Refused).reason;
    assert!(reason.contains("the first 4, of unknown length"), "{reason}");
}

/// A wrapper that is none is handed over as it was, but for its pointer; an image in a wrapper that
/// fails to be registered must fail again, and does not here.
#[test]
fn a_registration_that_failed_fails_for_its_own_reason() {
    let _fake = fake::start();
    let mut script = Script::new();
    let words = [7u64, 0x1234, 9].map(u64::to_le_bytes);
    let none = script.call(&API_tRegisterBinary).arg("wrapper", 0x1000).returned(0);
    let none = none.before("wrapper", 24, words.as_flattened());
    none.with(|event| {
        event.fields[0].element = ELEMENT_WRAPPER;
        event.fields[0].original = ORIGINAL_UNKNOWN;
    })
    .done();
    let other = script.call(&API_tRegisterBinary).arg("wrapper", 0x1000).returned(0);
    other.before("wrapper", 4, b"JUNK").done();
    let report = script.replay();
    assert_eq!((report.failed_as_recorded, report.diverged), (1, 1), "{:?}", report.findings);
    assert!(only(&report, FindingKind::Diverged).reason.contains("the returned handle"));
    fake::with(|state| {
        assert!(state.log.contains(&"no wrapper [7, 0, 9]".to_owned()), "{:?}", state.log);
    });
}

#[test]
fn an_image_that_was_not_recorded_refuses_its_load() {
    let _fake = fake::start();
    let mut script = Script::new();
    let load = script.call(&API_tModuleLoadData).arg("image", 0x1000).wrote("module", 0x700);
    load.content("image", Phase::Before, 0, absent(AbsentReason::UnknownLength)).done();
    let report = script.replay();
    assert_eq!(report.refused, 1);
}

//! Graphs: what lacks a part is not run, and host memory of captured copies stays.

use hrr_core::archive::event::{AbsentReason, Body, EventId, FIELD_HOST_WRITE, Field, Phase};
use hrr_core::replay::Report;
use hrr_core::replay::report::FindingKind;

use crate::api::*;
use crate::fake;
use crate::harness::*;

const DEVICE: u64 = 0x7f00_0000_0000;

/// A node whose value may be lacking.
fn node(script: &mut Script, handle: u64, after: &[u64], whole: bool) -> EventId {
    let dependencies: Vec<u8> = after.iter().flat_map(|node| node.to_le_bytes()).collect();
    let add = script.call(&API_tGraphAddNode).arg("graph", 0x100).arg("value", 0x20);
    let add = add.wrote("node", handle).arg("count", after.len() as u64);
    let add = match after {
        [] => add,
        _ => {
            add.arg("dependencies", 0x30).before("dependencies", after.len() as u64, &dependencies)
        }
    };
    match whole {
        true => add.before("value", 1, &[1, 0, 0, 0]).done(),
        false => add.content("value", Phase::Before, 1, absent(AbsentReason::Unreadable)).done(),
    }
}

fn run(script: &mut Script) {
    script.call(&API_tInstantiate).arg("graph", 0x100).wrote("exec", 0x300).done();
    script.call(&API_tGraphLaunch).arg("exec", 0x300).done();
}

fn consequences(report: &Report, cause: EventId) -> Vec<&str> {
    let found = report.findings.iter().filter(|f| f.kind == FindingKind::Consequence);
    found
        .inspect(|finding| assert_eq!(finding.cause, Some(cause.into()), "{finding:?}"))
        .map(|finding| &*finding.function)
        .collect()
}

#[test]
fn a_graph_is_rebuilt_with_all_its_edges() {
    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tGraphCreate).wrote("graph", 0x100).done();
    let nodes: Vec<u64> = (0..1000).map(|i| 0x1000 + i * 8).collect();
    for handle in &nodes {
        node(&mut script, *handle, &[], true);
    }
    node(&mut script, 0x200, &nodes, true);
    run(&mut script);
    clean(&script.replay());
    fake::with(|state| {
        let last = state.launched.last().unwrap();
        let made: Vec<u64> = state.made[1..1001].iter().map(|handle| *handle as u64).collect();
        assert_eq!(*last, made);
    });
}

#[test]
fn a_graph_that_lacks_a_node_is_not_run_and_names_the_node() {
    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tGraphCreate).wrote("graph", 0x100).done();
    node(&mut script, 0x200, &[], true);
    let cause = node(&mut script, 0x208, &[], false);
    node(&mut script, 0x210, &[0x208], true);
    run(&mut script);
    let report = script.replay();
    assert_eq!((report.reproduced, report.refused), (2, 4));
    let names = consequences(&report, cause);
    assert_eq!(names, ["tGraphAddNode", "tInstantiate", "tGraphLaunch"]);
    fake::with(|state| assert!(!state.log.iter().any(|line| line.starts_with("instantiate"))));
}

#[test]
fn an_edge_that_is_lacking_counts_as_a_part() {
    let _fake = fake::start();
    fake::with(|state| state.answers.insert("graph_add_edge", vec![INVALID.0]));
    let mut script = Script::new();
    script.call(&API_tGraphCreate).wrote("graph", 0x100).done();
    node(&mut script, 0x200, &[], true);
    node(&mut script, 0x208, &[], true);
    let edge = script.call(&API_tGraphAddEdge).arg("graph", 0x100).arg("from", 0x200);
    let cause = edge.arg("to", 0x208).done();
    run(&mut script);
    let report = script.replay();
    assert_eq!(consequences(&report, cause), ["tInstantiate", "tGraphLaunch"]);
}

#[test]
fn a_capture_that_lacks_a_call_makes_an_incomplete_graph() {
    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tStreamCreate).wrote("stream", 0x900).done();
    script.call(&API_tBeginCapture).arg("stream", 0x900).done();
    let copy = script.call(&API_tMemcpyAsync).arg("dst", DEVICE).arg("src", 0x10).arg("bytes", 4);
    let copy = copy.arg("kind", 1).arg("stream", 0x900);
    let cause = copy.before("src", 4, b"abcd").done();
    script.call(&API_tEndCapture).arg("stream", 0x900).wrote("graph", 0x100).done();
    run(&mut script);
    // Another graph at the same address is another graph.
    script.call(&API_tGraphCreate).wrote("graph", 0x100).done();
    run(&mut script);
    let report = script.replay();
    assert_eq!((report.reproduced, report.refused), (6, 3));
    assert_eq!(consequences(&report, cause), ["tInstantiate", "tGraphLaunch"]);
}

#[test]
fn an_executable_graph_that_lacks_a_setting_is_not_run() {
    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tGraphCreate).wrote("graph", 0x100).done();
    node(&mut script, 0x200, &[], true);
    run(&mut script);
    let set = script.call(&API_tExecSet).arg("exec", 0x300).arg("node", 0x200).arg("value", 0x10);
    let cause = set.content("value", Phase::Before, 1, absent(AbsentReason::Unreadable)).done();
    script.call(&API_tGraphLaunch).arg("exec", 0x300).done();
    let report = script.replay();
    assert_eq!((report.reproduced, report.refused), (4, 2));
    assert_eq!(consequences(&report, cause), ["tGraphLaunch"]);
}

#[test]
fn captured_copies_read_what_each_launch_recorded_and_are_checked_after_it() {
    let _fake = fake::start();
    let mut script = Script::new();
    script.call(&API_tMalloc).arg("bytes", 64).wrote("ptr", DEVICE).done();
    script.call(&API_tStreamCreate).wrote("stream", 0x900).done();
    script.call(&API_tBeginCapture).arg("stream", 0x900).done();
    let up = script.call(&API_tMemcpyAsync).arg("dst", DEVICE).arg("src", 0x10).arg("bytes", 4);
    let up = up.arg("kind", 1).arg("stream", 0x900).before("src", 4, b"----");
    let up = up.content("dst", Phase::After, 4, Body::Device).done();
    let down = script.call(&API_tMemcpyAsync).arg("dst", 0x40).arg("src", DEVICE).arg("bytes", 4);
    let down = down.arg("kind", 2).arg("stream", 0x900);
    let down = down.content("src", Phase::Before, 0, Body::Device);
    let down = down.content("dst", Phase::After, 4, absent(AbsentReason::Deferred)).done();
    script.call(&API_tEndCapture).arg("stream", 0x900).wrote("graph", 0x100).done();
    script.call(&API_tInstantiate).arg("graph", 0x100).wrote("exec", 0x300).done();
    // A synchronisation before the launch must not let go of the buffers.
    script.call(&API_tSynchronize).done();
    let source = |content: &[u8]| Field {
        id: FIELD_HOST_WRITE,
        depth: 0,
        phase: Phase::Before,
        element: 0,
        original: 4,
        recorded: 4,
        address: 0x10,
        owner: Some((up, 1)),
        body: Body::Bytes(content.into()),
    };
    for content in [b"abcd", b"efgh"] {
        let launch = script.call(&API_tGraphLaunch).arg("exec", 0x300).arg("stream", 0x900);
        launch.field(source(content)).done();
        let sync = script.call(&API_tSynchronize);
        sync.check(Some((down, 0)), 0x40, Body::Bytes((*content).into())).done();
    }
    let report = script.replay();
    clean(&report);
    assert_eq!((report.checks_passed, report.host_bytes_restored), (2, 8));
}

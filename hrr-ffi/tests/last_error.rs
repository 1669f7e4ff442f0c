//! Goal: what a call that was not issued leaves behind is no divergence of the function that tells
//! it, for every such function of the table.
//! Method: a recording in memory, in which a call that replay refuses had failed, replayed over a
//! runtime of the test's own without any error.

use std::sync::Arc;

use hrr_core::archive::event::{BlobHash, Event, EventId};
use hrr_core::archive::shape::ApiShape;
use hrr_core::desc::{ApiDesc, Class, Effect, RetKind};
use hrr_core::replay::report::{FindingKind, Report};
use hrr_core::replay::source::{Events, Fault};
use hrr_core::replay::{Recording, ReplayOptions, replay};
use hrr_core::{loader, testing};

/// `hipErrorOutOfMemory`, or any other status.
const ERROR: u64 = 2;

/// One thread's calls: the function, and what it returned.
struct Script(Vec<(&'static ApiDesc, u64)>, Vec<ApiShape>);

impl Recording for Script {
    fn functions(&self) -> &[ApiShape] {
        &self.1
    }
    fn threads(&self) -> Vec<u32> {
        vec![0]
    }
    fn events(&self, thread: u32) -> Events<'_> {
        Box::new(self.0.iter().enumerate().map(move |(index, (api, ret))| {
            Ok(Event {
                id: EventId { thread, index: index as u64 },
                api: index as u32,
                enter: index as u64 * 10,
                leave: Some(index as u64 * 10 + 5),
                parent: None,
                ret: *ret,
                args: vec![0; api.args_bytes as usize],
                fields: Vec::new(),
            })
        }))
    }
    fn blob(&self, hash: BlobHash) -> Result<Arc<[u8]>, Fault> {
        Err(Fault { damaged: true, what: format!("no blob {hash:x}"), events_lost: 0 })
    }
    fn faults(&self) -> Vec<Fault> {
        Vec::new()
    }
    fn runtime(&self) -> String {
        String::new()
    }
}

fn replayed(calls: &[(&'static ApiDesc, u64)]) -> Report {
    let shapes = calls.iter().map(|(api, _)| ApiShape::of(api)).collect();
    let options = ReplayOptions { tables: vec![hrr_ffi::ALL], ..ReplayOptions::default() };
    let report = replay(Script(calls.to_vec(), shapes), options, |_| {});
    assert_eq!(report.outcomes(), calls.len() as u64);
    report
}

fn has(api: &ApiDesc, wanted: Effect) -> bool {
    api.effects.contains(&wanted)
}

/// Functions that tell the last error, and whether they clear it.
fn tellers() -> Vec<(&'static ApiDesc, bool)> {
    let all = hrr_ffi::ALL.iter().copied();
    all.filter(|api| has(api, Effect::PeeksLastError) || has(api, Effect::TakesLastError))
        .map(|api| (api, has(api, Effect::TakesLastError)))
        .collect()
}

/// A function that replay refuses.
fn refused() -> &'static ApiDesc {
    let status = |api: &ApiDesc| matches!(api.ret.kind, RetKind::Status { .. });
    let mut all = hrr_ffi::ALL.iter().copied();
    all.find(|api| matches!(api.class, Class::Refused { .. }) && status(api)).expect("there is one")
}

/// A function that the runtime of the test answers with success, whatever it did when recorded.
fn issued() -> &'static ApiDesc {
    let mut all = hrr_ffi::ALL.iter().copied();
    all.find(|api| api.name == c"hipDeviceSynchronize").expect("it is declared")
}

#[test]
fn every_function_that_is_called_so_tells_the_last_error() {
    let called: Vec<_> = hrr_ffi::ALL
        .iter()
        .filter(|api| api.name.to_string_lossy().ends_with("LastError"))
        .map(|api| (api.name, !api.name.to_string_lossy().contains("Peek")))
        .collect();
    assert_eq!(called, tellers().iter().map(|(api, takes)| (api.name, *takes)).collect::<Vec<_>>());
    assert_eq!(called.len(), 3);
    // Programs ask after every call: what replay needs to know costs recording nothing.
    assert!(tellers().iter().all(|(api, _)| api.flags == 0));
}

#[test]
fn the_last_error_of_a_call_that_was_not_issued_is_its_consequence() {
    loader::set_resolver(|api| api.receive.0);
    testing::receive_everywhere(|_, _, _| ());
    for (teller, takes) in tellers() {
        for (fault, kind) in [(refused(), FindingKind::Refused), (issued(), FindingKind::Diverged)]
        {
            let report = replayed(&[(fault, ERROR), (teller, ERROR), (teller, ERROR)]);
            let found: Vec<_> = report.findings.iter().map(|finding| finding.kind).collect();
            // What was told and cleared is no reason for another error after it.
            let last = if takes { FindingKind::Diverged } else { FindingKind::Consequence };
            assert_eq!(found, [kind, FindingKind::Consequence, last], "{:?}", teller.name);
            let consequence = &report.findings[1];
            assert_eq!(consequence.cause, report.findings[0].event);
            assert_eq!(consequence.function, teller.name.to_string_lossy());
            assert!(consequence.reason.contains("returned 2"), "{}", consequence.reason);
        }
    }
}

/// A last error that the recording explains by no call is a divergence, and so is one after a call
/// that failed the same as when it was recorded.
#[test]
fn a_last_error_without_a_cause_diverges() {
    loader::set_resolver(|api| api.receive.0);
    for (teller, _) in tellers() {
        let report = replayed(&[(teller, 0), (teller, ERROR)]);
        assert_eq!((report.diverged, report.refused), (1, 0), "{:?}", teller.name);
        let report = replayed(&[(refused(), ERROR), (teller, 0), (teller, ERROR)]);
        assert_eq!((report.diverged, report.refused), (1, 1), "{:?}", teller.name);
    }
}

//! Builds recordings in memory and replays them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use hrr_core::archive::event::{
    AbsentReason, BlobHash, Body, Event, EventId, FIELD_CALLBACK_STORE, FIELD_CHECK,
    FIELD_HOST_SEEN, FIELD_HOST_WRITE, Field, Phase,
};
use hrr_core::archive::shape::ApiShape;
use hrr_core::desc::{ApiDesc, ParamDesc};
use hrr_core::replay::report::{Finding, FindingKind};
use hrr_core::replay::source::{Events, Fault};
use hrr_core::replay::{Driver, Progress, Recording, ReplayOptions, Report, replay};

use crate::api;

/// A recording in memory.
#[derive(Default)]
pub struct Script {
    pub functions: Vec<ApiShape>,
    threads: Vec<Vec<Result<Event, Fault>>>,
    blobs: HashMap<BlobHash, Arc<[u8]>>,
    pub faults: Vec<Fault>,
    time: u64,
}

impl Recording for Script {
    fn functions(&self) -> &[ApiShape] {
        &self.functions
    }
    fn threads(&self) -> Vec<u32> {
        (0..self.threads.len() as u32).collect()
    }
    fn events(&self, thread: u32) -> Events<'_> {
        Box::new(self.threads[thread as usize].iter().cloned())
    }
    fn blob(&self, hash: BlobHash) -> Result<Arc<[u8]>, Fault> {
        let missing = || Fault { damaged: true, what: format!("no blob {hash:x}"), events_lost: 0 };
        self.blobs.get(&hash).cloned().ok_or_else(missing)
    }
    fn faults(&self) -> Vec<Fault> {
        self.faults.clone()
    }
    fn runtime(&self) -> String {
        "the recorded runtime".to_owned()
    }
}

/// A call that is being written down.
pub struct Call<'s> {
    script: &'s mut Script,
    desc: &'static ApiDesc,
    event: Event,
}

impl Script {
    /// An empty recording of the test's declarations.
    pub fn new() -> Script {
        let functions = api::APIS.iter().map(|desc| ApiShape::of(desc)).collect();
        Script { functions, ..Script::default() }
    }

    /// A successful call on thread 0.
    pub fn call(&mut self, desc: &'static ApiDesc) -> Call<'_> {
        self.call_on(0, desc)
    }

    /// A successful call on a thread.
    pub fn call_on(&mut self, thread: u32, desc: &'static ApiDesc) -> Call<'_> {
        while self.threads.len() <= thread as usize {
            self.threads.push(Vec::new());
        }
        let index = self.threads[thread as usize].len() as u64;
        self.time += 10;
        let api = api::APIS.iter().position(|other| std::ptr::eq(*other, desc)).unwrap() as u32;
        let event = Event {
            id: EventId { thread, index },
            api,
            enter: self.time,
            leave: Some(self.time + 5),
            parent: None,
            ret: 0,
            args: vec![0; desc.args_bytes as usize],
            fields: Vec::new(),
        };
        Call { script: self, desc, event }
    }

    /// Puts a fault between the events of a thread.
    pub fn fault(&mut self, thread: u32, damaged: bool) {
        let fault = Fault { damaged, what: "a synthetic fault".to_owned(), events_lost: 0 };
        self.threads[thread as usize].push(Err(fault));
    }

    /// Stores a blob and answers its body.
    pub fn blob(&mut self, content: &[u8]) -> Body {
        let hash = hrr_core::archive::blob_hash(content);
        self.blobs.insert(hash, content.into());
        Body::Blob { hash, bytes: content.len() as u64 }
    }

    /// Replays with default options.
    pub fn replay(self) -> Report {
        self.replay_with(options())
    }

    /// Replays, and checks what is true of every report.
    pub fn replay_with(self, options: ReplayOptions) -> Report {
        let events: usize = self.threads.iter().flatten().filter(|event| event.is_ok()).count();
        let report = replay(self, options, |_: Progress<'_>| {});
        assert_eq!(report.events, events as u64, "{report:#?}");
        assert_eq!(report.outcomes(), report.events, "{report:#?}");
        report
    }
}

/// Options with this test's declarations.
pub fn options() -> ReplayOptions {
    ReplayOptions { tables: vec![api::APIS], ..ReplayOptions::default() }
}

impl Call<'_> {
    fn param(&self, name: &str) -> (u16, &'static ParamDesc) {
        let at = self.desc.params.iter().position(|param| param.name == name);
        let at = at.unwrap_or_else(|| panic!("no parameter `{name}`"));
        (at as u16, &self.desc.params[at])
    }

    /// Sets an argument.
    pub fn arg(mut self, name: &str, value: u64) -> Self {
        let (_, param) = self.param(name);
        let (start, bytes) = (param.offset as usize, (param.bytes as usize).min(8));
        self.event.args[start..start + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
        self
    }

    /// Adds a field of a parameter.
    pub fn content(mut self, name: &str, phase: Phase, elements: u64, body: Body) -> Self {
        let (id, param) = self.param(name);
        let address = u64::from_le_bytes(
            self.event.args[param.offset as usize..][..8].try_into().unwrap_or_default(),
        );
        let field = Field {
            id,
            depth: 0,
            phase,
            element: 0,
            original: elements,
            recorded: elements,
            address,
            owner: None,
            body,
        };
        self.event.fields.push(field);
        self
    }

    /// What stood behind a parameter before the call.
    pub fn before(self, name: &str, elements: u64, bytes: &[u8]) -> Self {
        self.content(name, Phase::Before, elements, Body::Bytes(bytes.into()))
    }

    /// What stood there after it.
    pub fn after(self, name: &str, elements: u64, bytes: &[u8]) -> Self {
        self.content(name, Phase::After, elements, Body::Bytes(bytes.into()))
    }

    /// A parameter behind which the call wrote one word: its argument is some address.
    pub fn wrote(self, name: &str, value: u64) -> Self {
        self.arg(name, 0xdead_0000).after(name, 1, &value.to_le_bytes())
    }

    /// Adds any field.
    pub fn field(mut self, field: Field) -> Self {
        self.event.fields.push(field);
        self
    }

    /// Adds an expectation about a copy of another event, or about a tracked range.
    pub fn check(self, owner: Option<(EventId, u16)>, address: u64, body: Body) -> Self {
        let bytes = match &body {
            Body::Bytes(bytes) => bytes.len() as u64,
            Body::Blob { bytes, .. } => *bytes,
            Body::Null | Body::Device | Body::Absent(_) => 0,
        };
        self.field(Field {
            id: FIELD_CHECK,
            depth: 0,
            phase: Phase::After,
            element: 0,
            original: bytes,
            recorded: bytes,
            address,
            owner,
            body,
        })
    }

    /// Adds content of a tracked host range.
    pub fn host_write(self, address: u64, bytes: &[u8]) -> Self {
        self.field(Field {
            id: FIELD_HOST_WRITE,
            depth: 0,
            phase: Phase::Before,
            element: 0,
            original: bytes.len() as u64,
            recorded: bytes.len() as u64,
            address,
            owner: None,
            body: Body::Bytes(bytes.into()),
        })
    }

    /// Host memory as the call found it when it began, while work ran for so long.
    pub fn host_seen(self, address: u64, bytes: &[u8], age_ms: u32) -> Self {
        self.field(Field {
            id: FIELD_HOST_SEEN,
            depth: 0,
            phase: Phase::Before,
            element: age_ms,
            original: bytes.len() as u64,
            recorded: bytes.len() as u64,
            address,
            owner: None,
            body: Body::Bytes(bytes.into()),
        })
    }

    /// What a run of the callback that an event handed over stored, before this call.
    pub fn callback_store(self, owner: EventId, run: u32, address: u64, body: Body) -> Self {
        let bytes = match &body {
            Body::Bytes(bytes) => bytes.len() as u64,
            Body::Blob { bytes, .. } => *bytes,
            Body::Null | Body::Device | Body::Absent(_) => 0,
        };
        self.field(Field {
            id: FIELD_CALLBACK_STORE,
            depth: 0,
            phase: Phase::Before,
            element: run,
            original: bytes,
            recorded: bytes,
            address,
            owner: Some((owner, 0)),
            body,
        })
    }

    /// Sets what the call returned.
    pub fn returned(mut self, value: u64) -> Self {
        self.event.ret = value;
        self
    }

    /// Sets when the call ran.
    pub fn at(mut self, enter: u64, leave: u64) -> Self {
        (self.event.enter, self.event.leave) = (enter, Some(leave));
        self
    }

    /// The call never returned.
    pub fn in_flight(mut self) -> Self {
        self.event.leave = None;
        self
    }

    /// Changes the event at will.
    pub fn with(mut self, change: impl FnOnce(&mut Event)) -> Self {
        change(&mut self.event);
        self
    }

    /// Writes the call down.
    pub fn done(self) -> EventId {
        let id = self.event.id;
        self.script.threads[id.thread as usize].push(Ok(self.event));
        id
    }
}

/// The field of an absent content.
pub fn absent(reason: AbsentReason) -> Body {
    Body::Absent(reason)
}

/// The only finding of a kind.
pub fn only(report: &Report, kind: FindingKind) -> &Finding {
    let mut found = report.findings.iter().filter(|finding| finding.kind == kind);
    let first = found.next().unwrap_or_else(|| panic!("no {kind:?} in {report:#?}"));
    assert!(found.next().is_none(), "several {kind:?} in {report:#?}");
    first
}

/// Asserts that everything was reproduced.
#[track_caller]
pub fn clean(report: &Report) {
    assert_eq!(report.exit_code(), 0, "{report:#?}");
}

/// A driver that places nothing or everything, and remembers.
#[derive(Default)]
pub struct FakeDriver {
    pub devices: u32,
    pub refuse: bool,
    pub calls: Mutex<Vec<String>>,
    pub touched: AtomicU64,
}

impl FakeDriver {
    pub fn log(&self, text: String) {
        self.calls.lock().unwrap().push(text);
    }
}

impl Driver for FakeDriver {
    fn identity(&self) -> String {
        "the fake".to_owned()
    }
    fn device_count(&self) -> Result<u32, String> {
        Ok(self.devices)
    }
    fn device_name(&self, device: u32) -> String {
        format!("fake {device}")
    }
    fn current_device(&self) -> Result<u32, String> {
        self.touched.fetch_add(1, Ordering::Relaxed);
        Ok(0)
    }
    fn place(&self, address: u64, bytes: u64, device: u32) -> Result<(), String> {
        if self.refuse {
            return Err("something else lies there".to_owned());
        }
        self.log(format!("place {address:x} {bytes:x} {device}"));
        Ok(())
    }
    fn unplace(&self, address: u64) -> Result<(), String> {
        self.log(format!("unplace {address:x}"));
        Ok(())
    }
    fn needs_own_memory(&self, function: &str) -> bool {
        function == "tHostGetDevicePointer"
    }
    fn synchronize(&self) -> Result<(), String> {
        self.log("synchronize".to_owned());
        Ok(())
    }
}

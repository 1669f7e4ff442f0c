//! A hash of everything that is serialised: it changes when the format does.
//!
//! When this test fails: if readers of the last release step over what is new (a kind of block or
//! item, bytes at the end of a field), renew the hash. In all other cases raise
//! [`super::FORMAT_VERSION`], keep reading the old one, and renew the hash. Either way describe the
//! change in `docs/format.md`.

use std::sync::Arc;

use super::encode::put_event;
use super::event::{AbsentReason, Body, Event, EventId, Field, Phase};
use super::facts::{Annotation, Clock, Mark, Note, ProcessInfo, RuntimeName, ThreadInfo};
use super::format::{
    BlobEntry, BlockEntry, BlockHeader, FileHeader, FileKind, Footer, Index, RuntimeNames,
    blob_hash,
};
use super::raw;
use super::shape::{ApiShape, Inside, ParamShape, PayloadShape, RetShape};

fn param(name: &str, offset: u32, bytes: u32, inside: Inside) -> ParamShape {
    ParamShape {
        name: name.into(),
        ty: format!("{name}_t"),
        offset,
        bytes,
        kind: "Scalar".into(),
        output: false,
        machine: true,
        payload: Some(PayloadShape { name: name.into(), bytes, inside }),
    }
}

fn shape() -> ApiShape {
    let inside = [
        Inside::Signed,
        Inside::Unsigned,
        Inside::Float,
        Inside::Bytes,
        Inside::Handle("stream".into()),
        Inside::Struct(vec![param("field", 0, 4, Inside::Signed)]),
    ];
    let params = inside.into_iter().enumerate().map(|(at, inside)| {
        param(&format!("p{at}"), at as u32 * 16, if at == 5 { 16 } else { 8 }, inside)
    });
    ApiShape {
        name: "function".into(),
        group: "group".into(),
        library: "library".into(),
        class: "replayed".into(),
        reason: "reason".into(),
        args_bytes: 96,
        params: params.collect(),
        ret: RetShape {
            ty: "status".into(),
            bytes: 4,
            kind: "status".into(),
            machine: false,
            payload: None,
        },
    }
}

fn fields() -> Vec<Field> {
    let bodies = [
        Body::Bytes(Arc::from(&b"some bytes"[..])),
        Body::Blob { hash: 5, bytes: 6 },
        Body::Null,
        Body::Device,
        Body::Absent(AbsentReason::Deferred),
    ];
    let field = |(at, body): (usize, Body)| Field {
        id: 0xfff0 + at as u16,
        depth: at as u8,
        phase: if at.is_multiple_of(2) { Phase::Before } else { Phase::After },
        element: at as u32,
        original: 10,
        recorded: 10 - at as u64,
        address: at as u64 * 0x1000,
        owner: (at == 3).then_some((EventId { thread: 1, index: 2 }, 3)),
        body,
    };
    bodies.into_iter().enumerate().map(field).collect()
}

fn index() -> Index {
    let header = BlockHeader { kind: 4, codec: 1, stored: 2, raw: 3, a: 4, b: 5, c: 6, sum: 7 };
    Index {
        process: ProcessInfo {
            pid: 1,
            parent_pid: 2,
            started: 3,
            exe: "exe".into(),
            args: vec!["arg".into()],
            env: vec![("name".into(), "value".into())],
            recorder: "recorder".into(),
            clock: Clock::Tsc { hz: 4 },
        },
        apis: vec![shape()],
        threads: vec![ThreadInfo { ordinal: 0, tid: 5, events: 6 }],
        notes: vec![
            Note::Runtime { path: "path".into() },
            Note::NotRecorded { path: "path".into() },
            Note::Stopped { reason: "reason".into() },
            Note::Warning { text: "text".into() },
        ],
        blocks: vec![BlockEntry { offset: 32, header }],
        blobs: vec![BlobEntry { hash: 1, offset: 2, bytes: 3 }],
        blobs_bytes: 4,
    }
}

fn annotations() -> Vec<Annotation> {
    let marks = [
        Mark::Begin { name: "name".into() },
        Mark::End,
        Mark::CallbackBegins { thread: 1, index: 2 },
        Mark::CallbackEnds,
    ];
    marks.into_iter().map(|mark| Annotation { thread: 1, before: 2, time: 3, mark }).collect()
}

fn runtimes() -> RuntimeNames {
    let name = |soname| RuntimeName { path: "path".into(), loaded_as: "name".into(), soname };
    vec![name(Some("soname".into())), name(None)]
}

#[test]
fn the_format_has_not_changed() {
    let mut all = Vec::new();
    all.extend(FileHeader { kind: FileKind::Events as u32, recording: 9 }.encode());
    all.extend(index().blocks[0].header.encode(32));
    all.extend(Footer { index: 100 }.encode(200));
    all.extend(postcard::to_stdvec(&index()).unwrap());
    all.extend(postcard::to_stdvec(&annotations()).unwrap());
    all.extend(postcard::to_stdvec(&runtimes()).unwrap());
    all.extend(AbsentReason::ALL.iter().map(|reason| *reason as u8));
    let event = Event {
        id: EventId { thread: 0, index: 0 },
        api: 0,
        enter: 1000,
        leave: Some(2000),
        parent: Some(EventId { thread: 3, index: 4 }),
        ret: 5,
        args: (0..96).collect(),
        fields: fields(),
    };
    put_event(&mut all, &mut Vec::new(), &event, &shape(), 10).unwrap();
    for field in fields() {
        raw::put_field(&mut all, &field);
    }
    assert_eq!(
        format!("{:032x}", blob_hash(&all)),
        "46e105fadea44f5e25fb1d1de7d08a21",
        "see the page of this test"
    );
}

#[test]
fn fields_of_a_ring_come_back() {
    let mut bytes = Vec::new();
    for field in fields() {
        raw::put_field(&mut bytes, &field);
    }
    for end in [0, 8, 16, 100] {
        let mut padded = bytes.clone();
        padded.resize(bytes.len() + end, 0);
        let mut back = Vec::new();
        raw::take_fields(&padded, &mut back).unwrap();
        assert_eq!(back, fields());
    }
    for cut in 1..bytes.len() {
        let mut back = Vec::new();
        // Whatever it answers, it reads nothing past the end and keeps what is whole.
        let _ = raw::take_fields(&bytes[..cut], &mut back);
        assert!(back.len() < fields().len());
        assert_eq!(back[..], fields()[..back.len()]);
    }
}

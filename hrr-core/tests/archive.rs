//! Archives that were cut, flipped, or written by somebody hostile.

#![allow(missing_docs, reason = "a test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hrr_core::archive::event::{AbsentReason, Body, Event, EventId, Field, Phase};
use hrr_core::archive::facts::{Annotation, Clock, Mark, Note, ProcessInfo, RuntimeName};
use hrr_core::archive::pack::pack;
use hrr_core::archive::reader::{Archive, Process};
use hrr_core::archive::shape::{ApiShape, Inside, ParamShape, PayloadShape, RetShape};
use hrr_core::archive::writer::Writer;
use hrr_core::archive::{FindingKind, ReadError};

fn info() -> ProcessInfo {
    ProcessInfo {
        pid: 7,
        parent_pid: 1,
        started: 0,
        exe: "/bin/test".into(),
        args: vec!["test".into()],
        env: vec![("HIP_VISIBLE_DEVICES".into(), "0".into())],
        recorder: "test".into(),
        clock: Clock::Tsc { hz: 1 },
    }
}

fn param(name: &str, offset: u32, bytes: u32) -> ParamShape {
    let inside = Inside::Unsigned;
    ParamShape {
        name: name.into(),
        ty: "u64".into(),
        offset,
        bytes,
        kind: "Scalar".into(),
        output: false,
        machine: false,
        payload: Some(PayloadShape { name: "u64".into(), bytes, inside }),
    }
}

fn shape(name: &str, args_bytes: u32, params: Vec<ParamShape>) -> ApiShape {
    ApiShape {
        name: name.into(),
        group: "test".into(),
        library: String::new(),
        class: "replayed".into(),
        reason: String::new(),
        args_bytes,
        params,
        ret: RetShape {
            ty: "status".into(),
            bytes: 4,
            kind: "status".into(),
            machine: false,
            payload: None,
        },
    }
}

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn wide(&mut self) -> u64 {
        let bits = self.below(64);
        self.next() >> bits
    }
}

fn random_field(numbers: &mut Numbers, blobs: &[Body]) -> Field {
    let body = match numbers.below(6) {
        0 => Body::Null,
        1 => Body::Device,
        2 => Body::Absent(AbsentReason::ALL[numbers.below(12) as usize]),
        3 => blobs[numbers.below(blobs.len() as u64) as usize].clone(),
        _ => Body::Bytes((0..numbers.below(40)).map(|_| numbers.next() as u8).collect()),
    };
    let original = numbers.wide();
    let thread = numbers.below(3) as u32;
    let owner = EventId { thread, index: numbers.wide() };
    Field {
        id: numbers.next() as u16,
        depth: numbers.below(3) as u8,
        phase: if numbers.below(2) == 0 { Phase::Before } else { Phase::After },
        element: numbers.wide() as u32,
        original,
        recorded: if numbers.below(2) == 0 { original } else { numbers.wide() },
        address: if numbers.below(2) == 0 { 0 } else { numbers.next() },
        owner: (numbers.below(4) == 0).then_some((owner, numbers.next() as u16)),
        body,
    }
}

fn random_event(numbers: &mut Numbers, id: EventId, blobs: &[Body]) -> Event {
    let api = numbers.below(3) as u32;
    let mut args = vec![0; [40, 8, 0][api as usize]];
    for byte in args.iter_mut().take(if api == 0 { 36 } else { 8 }) {
        *byte = if numbers.below(2) == 0 { 0 } else { numbers.next() as u8 };
    }
    let parent = EventId { thread: numbers.below(9) as u32, index: numbers.wide() };
    let enter = numbers.next();
    Event {
        id,
        api,
        enter,
        leave: (numbers.below(9) != 0).then(|| enter.wrapping_add(numbers.wide())),
        parent: (numbers.below(5) == 0).then_some(parent),
        ret: numbers.wide(),
        args,
        fields: (0..numbers.below(5)).map(|_| random_field(numbers, blobs)).collect(),
    }
}

fn runtime() -> RuntimeName {
    RuntimeName {
        path: "/lib/libfake.so".into(),
        loaded_as: "libfake.so.5".into(),
        soname: Some("libfake.so.6".into()),
    }
}

/// Writes a small archive with everything in it, and answers its events by thread.
fn write(folder: &Path, count: u64, seal: bool) -> Vec<Vec<Event>> {
    fs::create_dir_all(folder).unwrap();
    let mut numbers = Numbers(88_172_645_463_325_252);
    let mut writer = Writer::create(folder, info()).unwrap();
    let five = (0..5).map(|i| param(&format!("p{i}"), i * 8, if i == 4 { 4 } else { 8 }));
    writer.api(shape("five", 40, five.collect())).unwrap();
    writer.api(shape("one", 8, vec![param("a", 0, 8)])).unwrap();
    writer.api(shape("none", 0, vec![])).unwrap();
    let blobs: Vec<Body> =
        (0..3u8).map(|i| writer.blob(&vec![i; 100 + i as usize]).unwrap()).collect();
    assert_eq!(writer.blob(&[0; 100]).unwrap(), blobs[0]);
    let mut threads = vec![Vec::new(), Vec::new()];
    writer.thread(70).unwrap();
    writer.thread(71).unwrap();
    writer.note(Note::Runtime { path: "/lib/libfake.so".into() }).unwrap();
    writer.runtime(runtime()).unwrap();
    for i in 0..count {
        let thread = (i % 2) as u32;
        let events = &mut threads[thread as usize];
        let id = EventId { thread, index: events.len() as u64 };
        let event = random_event(&mut numbers, id, &blobs);
        writer.event(&event).unwrap();
        events.push(event);
        if i % 7 == 6 {
            writer.flush().unwrap();
        }
    }
    let mark = Mark::Begin { name: "phase".into() };
    writer.annotation(Annotation { thread: 0, before: 1, time: 5, mark });
    if seal {
        writer.seal().unwrap();
    } else {
        writer.flush().unwrap();
    }
    threads
}

fn read(process: &Process) -> Result<Vec<Vec<Event>>, ReadError> {
    let threads = process.threads();
    threads.iter().map(|thread| process.thread(thread.ordinal).collect()).collect()
}

fn open_one(folder: &Path) -> Result<Process, ReadError> {
    Archive::open(folder).map(|mut archive| archive.take_processes().remove(0))
}

#[test]
fn random_events_come_back() {
    for seal in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("7-0");
        let written = write(&folder, 5000, seal);
        let process = open_one(dir.path()).unwrap();
        assert_eq!(process.sealed(), seal);
        assert_eq!(process.complete(), seal);
        assert_eq!(read(&process).unwrap(), written);
        assert_eq!(process.info(), &info());
        assert_eq!(process.event_count(), 5000);
        assert_eq!(process.annotations().unwrap().len(), 1);
        assert_eq!(process.notes().len(), 1);
        assert_eq!(process.runtimes(), [runtime()]);
        if seal {
            assert_eq!(process.verify(), []);
        } else {
            let findings = process.verify();
            assert!(findings.iter().all(|finding| finding.kind == FindingKind::Cut));
        }
        for event in written.iter().flatten() {
            for field in &event.fields {
                if let Body::Blob { bytes, .. } = &field.body {
                    let content = process.content(&field.body).unwrap().unwrap();
                    assert_eq!(content.len() as u64, *bytes);
                }
            }
        }
    }
}

fn copy_of(folder: &Path, to: &Path, file: &str, change: impl FnOnce(&mut Vec<u8>)) {
    fs::create_dir_all(to).unwrap();
    for name in ["events", "blobs"] {
        let mut bytes = fs::read(folder.join(name)).unwrap();
        if name == file {
            bytes = {
                let mut changed = bytes;
                change(&mut changed);
                changed
            };
            fs::write(to.join(name), bytes).unwrap();
            return finish(folder, to, file);
        }
        fs::write(to.join(name), bytes).unwrap();
    }
}

fn finish(folder: &Path, to: &Path, file: &str) {
    if file == "events" {
        fs::copy(folder.join("blobs"), to.join("blobs")).unwrap();
    }
}

#[test]
fn every_cut_keeps_what_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("7-0");
    let written = write(&folder, 12, true);
    let cut = dir.path().join("cut");
    for file in ["events", "blobs"] {
        let whole = fs::metadata(folder.join(file)).unwrap().len();
        let mut most = 0;
        for length in 0..whole {
            copy_of(&folder, &cut, file, |bytes| bytes.truncate(length as usize));
            let process = match open_one(&cut) {
                Ok(process) => process,
                Err(ReadError::NotAnArchive { .. }) => {
                    assert!(file == "events" && length < 32, "{file} cut at {length}");
                    continue;
                }
                Err(ReadError::Cut { .. }) => {
                    assert_eq!(file, "events");
                    continue;
                }
                Err(other) => panic!("cut at {length}: {other}"),
            };
            assert!(!process.complete(), "{file} cut at {length}");
            let findings = process.verify();
            assert!(
                findings.iter().all(|finding| finding.kind == FindingKind::Cut),
                "{file} cut at {length}: {findings:?}"
            );
            assert!(findings.iter().any(|finding| finding.path.ends_with(file)));
            let events = read(&process).unwrap();
            for (some, all) in events.iter().zip(&written) {
                assert_eq!(some[..], all[..some.len()]);
            }
            let count = events.iter().map(Vec::len).sum::<usize>();
            assert!(count >= most, "a longer file holds no fewer events");
            most = count;
        }
        assert_eq!(most, 12);
    }
}

#[test]
fn every_flipped_byte_is_damage() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("7-0");
    write(&folder, 12, true);
    let flipped = dir.path().join("flipped");
    for file in ["events", "blobs"] {
        let whole = fs::metadata(folder.join(file)).unwrap().len() as usize;
        for at in 0..whole {
            copy_of(&folder, &flipped, file, |bytes| bytes[at] ^= 1 << (at % 8));
            let process = match open_one(&flipped) {
                Ok(process) => process,
                Err(ReadError::NotAnArchive { .. }) if at < 8 => continue,
                Err(ReadError::Damaged { path, offset, .. }) => {
                    assert!(path.ends_with(file) && offset <= at as u64);
                    continue;
                }
                Err(other) => panic!("{file} flipped at {at}: {other}"),
            };
            let findings = process.verify();
            let damage = findings.iter().find(|finding| finding.kind == FindingKind::Damaged);
            let damage = damage.unwrap_or_else(|| panic!("{file} at {at}: {findings:?}"));
            assert!(damage.path.ends_with(file), "{file} at {at}: {damage:?}");
            assert!(damage.offset <= at as u64, "{file} at {at}: {damage:?}");
            // Nothing panics, and what comes out is no more than what was there.
            for thread in process.threads() {
                process.thread(thread.ordinal).for_each(drop);
            }
        }
    }
}

#[test]
fn bytes_after_the_end_are_seen() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("7-0");
    write(&folder, 10, true);
    for file in ["events", "blobs"] {
        let longer = dir.path().join(file);
        copy_of(&folder, &longer, file, |bytes| bytes.extend([0; 100]));
        let process = open_one(&longer).unwrap();
        let findings = process.verify();
        let damaged = findings.iter().any(|finding| finding.kind == FindingKind::Damaged);
        assert!(damaged, "{file}: {findings:?}");
    }
}

#[test]
fn other_things_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let missing = Archive::open(&dir.path().join("none"));
    assert!(matches!(missing, Err(ReadError::Io { .. })));
    let empty = Archive::open(dir.path());
    assert!(matches!(empty, Err(ReadError::NotAnArchive { .. })));
    let file = dir.path().join("file");
    fs::write(&file, b"a text that is no archive, of more than one line\n").unwrap();
    assert!(matches!(Archive::open(&file), Err(ReadError::NotAnArchive { .. })));
    fs::write(&file, b"HRRE\x05\0\0\0 and so on, to some length or other").unwrap();
    assert!(matches!(Archive::open(&file), Err(ReadError::Upstream { .. })));
    assert!(matches!(Archive::open(dir.path()), Err(ReadError::Upstream { .. })));
    fs::remove_file(&file).unwrap();
    let folder = dir.path().join("7-0");
    write(&folder, 1, true);
    let mut bytes = fs::read(folder.join("events")).unwrap();
    bytes[8] = 7;
    let sum = xxhash_rust::xxh3::xxh3_64_with_seed(&bytes[..24], 0);
    bytes[24..32].copy_from_slice(&sum.to_le_bytes());
    fs::write(folder.join("events"), &bytes).unwrap();
    assert!(matches!(Archive::open(dir.path()), Err(ReadError::Newer { version: 7, .. })));
}

/// Writes a block as the format says, with any numbers in its header.
fn hostile_block(
    kind: u32,
    codec: u32,
    lengths: [u64; 2],
    abc: [u64; 3],
    at: u64,
    payload: &[u8],
) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(kind.to_le_bytes());
    out.extend(codec.to_le_bytes());
    for word in lengths.into_iter().chain(abc) {
        out.extend(word.to_le_bytes());
    }
    out.extend(xxhash_rust::xxh3::xxh3_64_with_seed(payload, 0).to_le_bytes());
    let sum = xxhash_rust::xxh3::xxh3_64_with_seed(&out, at);
    out.extend(sum.to_le_bytes());
    out.extend(payload);
    out
}

fn with_block(folder: &Path, to: &Path, block: impl FnOnce(u64) -> Vec<u8>) -> PathBuf {
    copy_of(folder, to, "events", |bytes| {
        let block = block(bytes.len() as u64);
        bytes.extend(block);
    });
    to.to_owned()
}

#[test]
fn hostile_lengths_allocate_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("7-0");
    write(&folder, 10, false);
    let to = dir.path().join("hostile");
    // A length of the payload past the end of all files.
    for stored in [u64::MAX, u64::MAX - 63, 1 << 62, 1 << 40] {
        with_block(&folder, &to, |at| hostile_block(4, 0, [stored, stored], [0, 5, 9], at, b""));
        let process = open_one(&to).unwrap();
        assert!(!process.verify().is_empty());
        assert!(read(&process).is_ok());
    }
    // An unpacked length that the payload does not have, and a count that it does not hold.
    let packed = zstd::bulk::compress(&[0; 1000], 1).unwrap();
    let stored = packed.len() as u64;
    for (raw, count) in [(u64::MAX, 1), (1 << 29, 1), (1000, u64::MAX), (999, 1)] {
        with_block(&folder, &to, |at| {
            hostile_block(4, 1, [stored, raw], [0, 5, count], at, &packed)
        });
        let process = open_one(&to).unwrap();
        let damaged = |finding: &hrr_core::archive::Finding| finding.kind == FindingKind::Damaged;
        assert!(process.verify().iter().any(damaged), "{raw} {count}");
        assert!(read(&process).is_err());
    }
    // Items whose own numbers are wrong, each as a block that is right.
    let varint_max = [0xff; 9].iter().copied().chain([1]).collect::<Vec<u8>>();
    let items: Vec<Vec<u8>> = vec![
        varint_max.clone(),
        vec![200, 1, 0],
        [&[12, 1, 8, 2, 0][..], &varint_max].concat(),
        vec![3, 1, 0, 99],
        vec![5, 1, 0, 1, 0, 0xff],
        vec![7, 1, 8, 2, 0, 2, 60, 60],
    ];
    for item in items {
        let bytes = item.len() as u64;
        with_block(&folder, &to, |at| hostile_block(4, 0, [bytes, bytes], [0, 5, 1], at, &item));
        let process = open_one(&to).unwrap();
        assert!(read(&process).is_err(), "{item:?}");
    }
    // A kind that nobody knows is stepped over, and a known block after it is read.
    with_block(&folder, &to, |at| {
        let mut both = hostile_block(77, 9, [3, 3], [1, 2, 3], at, b"abc");
        let next = at + both.len() as u64;
        // One event of the function "none" at the time 0, without a leave, then an unknown item.
        both.extend(hostile_block(4, 0, [8, 8], [0, 5, 1], next, &[2, 9, 9, 4, 1, 0, 2, 0]));
        both
    });
    let process = open_one(&to).unwrap();
    let threads = read(&process).unwrap();
    assert_eq!(threads[0].len(), 6);
    assert_eq!(threads[0][5].leave, None);
}

/// An archive of each version stays in the tree, and is read for ever. `HRR_WRITE_DATA=1` writes that
/// of the current version, once.
#[test]
fn archives_of_old_versions_are_read() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/version-6");
    if std::env::var_os("HRR_WRITE_DATA").is_some() && !kept.exists() {
        write(&kept.join("7-0"), 40, true);
    }
    let dir = tempfile::tempdir().unwrap();
    let written = write(&dir.path().join("7-0"), 40, true);
    let process = open_one(&kept).unwrap();
    assert_eq!(process.verify(), []);
    assert_eq!(read(&process).unwrap(), written);
    assert_eq!(process.info(), &info());
    assert_eq!(process.apis().len(), 3);
    assert_eq!(process.annotations().unwrap().len(), 1);
    assert_eq!(process.runtimes(), [], "its recorder kept no names");
}

#[test]
fn a_packed_archive_is_the_same() {
    for seal in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let written = write(&dir.path().join("archive/7-0"), 50, seal);
        write(&dir.path().join("archive/12-3"), 20, true);
        let packed = dir.path().join("packed");
        pack(&Archive::open(&dir.path().join("archive")).unwrap(), &packed).unwrap();
        let archive = Archive::open(&packed).unwrap();
        let names: Vec<&str> = archive.processes().iter().map(Process::name).collect();
        assert_eq!(names, ["7-0", "12-3"]);
        let process = &archive.processes()[0];
        assert_eq!(read(process).unwrap(), written);
        assert_eq!(process.complete(), seal, "{:?}", process.findings());
        let damage = process.verify();
        assert!(damage.iter().all(|finding| finding.kind == FindingKind::Stopped), "{damage:?}");
        assert_eq!(process.annotations().unwrap().len(), 1);
        assert_eq!(process.runtimes(), [runtime()]);
        let again = pack(&archive, &packed);
        assert!(again.is_err(), "a file that is there is not written over");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing else is left");
        let mut bytes = fs::read(&packed).unwrap();
        let middle = bytes.len() / 3;
        bytes[middle] ^= 1;
        fs::write(&packed, &bytes).unwrap();
        let verdict = Archive::open(&packed).map(|archive| {
            archive.processes().iter().flat_map(Process::verify).collect::<Vec<_>>()
        });
        match verdict {
            Ok(findings) => {
                let place = |offset: u64| offset <= middle as u64;
                let damaged = findings.iter().find(|f| f.kind == FindingKind::Damaged);
                assert!(place(damaged.unwrap().offset), "{findings:?}");
            }
            Err(ReadError::Damaged { offset, .. }) => assert!(offset <= middle as u64),
            Err(other) => panic!("{other}"),
        }
        bytes.truncate(middle);
        fs::write(&packed, &bytes).unwrap();
        let cut = Archive::open(&packed);
        assert!(matches!(cut, Err(ReadError::Cut { .. })), "{cut:?}");
    }
}

#[test]
fn a_shared_blob_is_one() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("7-0");
    write(&folder, 4, true);
    let size = fs::metadata(folder.join("blobs")).unwrap().len();
    assert_eq!(size, 32 + 3 * 64 + 100 + 101 + 102 + 64);
    let process = open_one(&folder).unwrap();
    let missing = process.blob(1);
    assert!(matches!(missing, Err(ReadError::NoSuchBlob { .. })));
    let absent: Arc<[u8]> = Arc::from([]);
    assert_eq!(process.content(&Body::Bytes(absent.clone())).unwrap(), Some(absent));
}

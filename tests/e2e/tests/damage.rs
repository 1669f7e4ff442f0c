//! Goal: an archive that is damaged, cut, changed or left by a killed program is told from a whole
//! one, by name and place, and what is whole in it still replays.
//! Method: flip, cut and rewrite real recordings, kill real programs, and read the verdict of
//! `hrr replay`; in-process for every byte, through the command for a sample.

use std::collections::HashMap;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use e2e::{
    Recording, copy_folder, ensure, files, hrr, program, record, replay, run_hrr, text, trial,
};
use hrr_core::archive::event::{Body, Event};
use hrr_core::archive::raw;
use hrr_core::archive::reader::{Archive, Process};
use hrr_core::archive::writer::{Writer, create_process_folder};
use hrr_core::code::Identity;
use libtest_mimic::{Arguments, Failed, Trial};

/// A small generator with a fixed start, so that a failure can be repeated.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

fn sealed_saxpy() -> Result<Recording, Failed> {
    let recording = record(&program("saxpy")?, "emu", 1)?;
    ensure(recording.output.status.success(), || text(&recording.output.stderr))?;
    Ok(recording)
}

/// What is wrong with an archive, by everything that the reader checks: 0 nothing, 2 cut, 3 damaged,
/// 65 not an archive.
fn verdict(archive: &Path) -> i32 {
    use hrr_core::archive::{FindingKind, ReadError};
    let worst = |kinds: Vec<FindingKind>| {
        if kinds.contains(&FindingKind::Damaged) {
            3
        } else if kinds.is_empty() {
            0
        } else {
            2
        }
    };
    match Archive::open(archive) {
        Ok(archive) => {
            let mut kinds: Vec<_> = archive.findings().iter().map(|f| f.kind).collect();
            for process in archive.processes() {
                kinds.extend(process.verify().iter().map(|f| f.kind));
                if !process.sealed() {
                    kinds.push(FindingKind::Cut);
                }
            }
            worst(kinds)
        }
        Err(ReadError::Damaged { .. }) => 3,
        Err(ReadError::Cut { .. }) => 2,
        Err(_) => 65,
    }
}

/// Every byte of every file flipped, in-process; a sample through the command, where the message
/// must name the file and the offset.
fn flipped_bytes() -> Result<(), Failed> {
    let recording = sealed_saxpy()?;
    ensure(verdict(&recording.archive) == 0, || "the recording is not whole".into())?;
    let mut numbers = Numbers(1);
    for file in files(&recording.archive)? {
        let whole = std::fs::read(&file)?;
        let mut sample: Vec<usize> =
            (0..24).map(|_| numbers.below(whole.len() as u64) as usize).collect();
        sample.extend([0, 9, 20, 40, whole.len() / 2, whole.len() - 20, whole.len() - 1]);
        let name = file.file_name().expect("listed").to_string_lossy().into_owned();
        let mut flipped = whole.clone();
        for at in 0..whole.len() {
            flipped[at] ^= 1 << numbers.below(8);
            std::fs::write(&file, &flipped)?;
            let found = verdict(&recording.archive);
            let allowed = found == 3 || (at < 12 && found == 65);
            ensure(allowed, || format!("{name} byte {at}: verdict {found}"))?;
            if sample.contains(&at) {
                let result = replay(&recording.archive, "emu", 1, &[])?;
                let allowed = result.status == 3 || (at < 12 && result.status == 65);
                let said = format!("{}{}", result.stderr, result.report);
                ensure(allowed && said.contains(&name), || {
                    format!("{name} byte {at}: exit {}\n{said}", result.status)
                })?;
                ensure(at < 12 || said.contains("byte "), || format!("no offset: {said}"))?;
            }
            flipped[at] = whole[at];
        }
        std::fs::write(&file, &whole)?;
    }
    replay(&recording.archive, "emu", 1, &[])?.assert_faithful()
}

/// Writes a process again through the writer, with every content hashed anew, after `change`.
fn rewrite(
    process: &Process,
    into: &Path,
    mut change_blob: impl FnMut(&[u8]) -> Vec<u8>,
    mut change_event: impl FnMut(&mut Event),
) -> Result<(), Failed> {
    let folder = create_process_folder(into, process.info().pid)?;
    let mut writer = Writer::create(&folder, process.info().clone())?;
    for shape in process.apis() {
        writer.api(shape.clone())?;
    }
    for thread in process.threads() {
        writer.thread(thread.tid)?;
    }
    let mut hashes: HashMap<u128, Body> = HashMap::new();
    for thread in process.threads() {
        for event in process.thread(thread.ordinal) {
            let mut event = event.map_err(|error| error.to_string())?;
            for field in &mut event.fields {
                if let Body::Blob { hash, .. } = field.body {
                    if let std::collections::hash_map::Entry::Vacant(place) = hashes.entry(hash) {
                        let content = process.blob(hash).map_err(|error| error.to_string())?;
                        place.insert(writer.blob(&change_blob(&content))?);
                    }
                    field.body = hashes[&hash].clone();
                } else if let Body::Bytes(bytes) = &field.body
                    && let Some(identity) = Identity::decode(bytes)
                    && let Some(Body::Blob { hash, .. }) = hashes.get(&identity.image)
                {
                    field.body = Body::Bytes(Identity { image: *hash, ..identity }.encode().into());
                }
            }
            change_event(&mut event);
            writer.event(&event)?;
        }
    }
    writer.seal()?;
    Ok(())
}

fn only_process(archive: &Archive) -> Result<&Process, Failed> {
    match archive.processes() {
        [process] => Ok(process),
        several => Err(format!("{} processes", several.len()).into()),
    }
}

/// The first finding must name the event, the function, the offset and both values.
fn assert_names_difference(report: &serde_json::Value, function: &str) -> Result<(), Failed> {
    let finding = report["findings"]
        .as_array()
        .and_then(|all| {
            all.iter()
                .find(|finding| finding["kind"] == "check_failed" || finding["kind"] == "diverged")
        })
        .cloned()
        .unwrap_or_default();
    let said = finding.to_string();
    ensure(finding["function"] == function, || format!("not {function}: {report}"))?;
    for word in ["offset", "expected", "got"] {
        ensure(said.contains(word), || format!("the finding lacks `{word}`: {said}"))?;
    }
    ensure(finding["event"]["index"].is_u64(), || format!("no event: {said}"))
}

/// One byte of what the device produced is changed in the archive, and everything hashed again.
fn changed_result() -> Result<(), Failed> {
    let recording = sealed_saxpy()?;
    let archive = Archive::open(&recording.archive).map_err(|error| error.to_string())?;
    let process = only_process(&archive)?;
    let changed = recording.folder.path().join("changed.hrr");
    let expected: Vec<u8> =
        (0..1000_u32).flat_map(|i| (2.0 * i as f32 + 1.0).to_le_bytes()).collect();
    let changes = std::cell::Cell::new(0);
    let change = |content: &[u8]| {
        let mut content = content.to_vec();
        if content == expected {
            content[1234] ^= 0x40;
            changes.set(changes.get() + 1);
        }
        content
    };
    rewrite(process, &changed, change, |event| {
        for field in &mut event.fields {
            if let Body::Bytes(bytes) = &field.body {
                field.body = Body::Bytes(change(bytes).into());
            }
        }
    })?;
    let changes = changes.get();
    ensure(changes == 1, || format!("the result stands {changes} times in the archive"))?;
    let result = replay(&changed, "emu", 2, &[])?;
    result.assert_status(1)?;
    result.assert_number("checks_failed", 1)?;
    assert_names_difference(&result.report, "hipMemcpy")?;
    ensure(result.report.to_string().contains("0x4d2"), || format!("{}", result.report))?;

    // The same rewriting without a change replays as the recording does.
    let same = recording.folder.path().join("same.hrr");
    rewrite(process, &same, <[u8]>::to_vec, |_| {})?;
    replay(&same, "emu", 2, &[])?.assert_faithful()
}

/// One constant of the code object is changed, and everything hashed again.
fn changed_code() -> Result<(), Failed> {
    let recording = record(&program("constant")?, "emu", 1)?;
    ensure(recording.output.status.success(), || text(&recording.output.stderr))?;
    let archive = Archive::open(&recording.archive).map_err(|error| error.to_string())?;
    let changed = recording.folder.path().join("changed.hrr");
    let literal = 1.2345_f32.to_le_bytes();
    let mut changes = 0;
    rewrite(
        only_process(&archive)?,
        &changed,
        |content| {
            let mut content = content.to_vec();
            let places: Vec<usize> = (0..content.len().saturating_sub(3))
                .filter(|at| content[*at..*at + 4] == literal)
                .collect();
            if content.len() > 4096 {
                for at in places {
                    content[at..at + 4].copy_from_slice(&1.25_f32.to_le_bytes());
                    changes += 1;
                }
            }
            content
        },
        |_| {},
    )?;
    ensure(changes == 1, || format!("the constant stands {changes} times in the image"))?;
    let result = replay(&changed, "emu", 2, &[])?;
    result.assert_status(1)?;
    result.assert_number("checks_failed", 1)?;
    assert_names_difference(&result.report, "hipMemcpy")
}

/// A kernel that the code object does not have: named, with what is there instead.
fn missing_kernel() -> Result<(), Failed> {
    let recording = sealed_saxpy()?;
    let archive = Archive::open(&recording.archive).map_err(|error| error.to_string())?;
    let changed = recording.folder.path().join("changed.hrr");
    let mut changes = 0;
    rewrite(
        only_process(&archive)?,
        &changed,
        |content| {
            let mut content = content.to_vec();
            let name = b"_Z5saxpyifPKfPf";
            for at in 0..content.len().saturating_sub(name.len()) {
                if content[at..].starts_with(name) {
                    content[at + 4] = b'z';
                    changes += 1;
                }
            }
            content
        },
        |_| {},
    )?;
    ensure(changes > 1, || "the kernel's name does not stand in the image".into())?;
    let result = replay(&changed, "emu", 2, &[])?;
    ensure([1, 2].contains(&result.status), || format!("exit {}", result.status))?;
    let findings = result.report["findings"].as_array().cloned().unwrap_or_default();
    let named = |finding: &&serde_json::Value| {
        finding["function"] == "hipLaunchKernel" && finding.to_string().contains("_Z5saxpyifPKfPf")
    };
    ensure(findings.iter().find(named).is_some(), || {
        format!("no finding names the kernel: {findings:?}\n{}", result.stderr)
    })
}

/// A sealed archive whose files end early anywhere after their header: incomplete, with the number
/// of lost events.
fn cut_sealed() -> Result<(), Failed> {
    let recording = sealed_saxpy()?;
    let archive = Archive::open(&recording.archive).map_err(|error| error.to_string())?;
    let total = only_process(&archive)?.event_count();
    drop(archive);
    let mut numbers = Numbers(2);
    for file in files(&recording.archive)? {
        let whole = std::fs::read(&file)?;
        let name = file.file_name().expect("listed").to_string_lossy().into_owned();
        let sample: Vec<u64> = (0..12).map(|_| numbers.below(whole.len() as u64)).collect();
        for end in (0..whole.len()).rev() {
            std::fs::OpenOptions::new().write(true).open(&file)?.set_len(end as u64)?;
            let found = verdict(&recording.archive);
            let allowed = if end < 32 { [65, 2].contains(&found) } else { found == 2 };
            ensure(allowed, || format!("{name} cut to {end}: verdict {found}"))?;
            if sample.contains(&(end as u64)) && end >= 32 {
                let result = replay(&recording.archive, "emu", 1, &[])?;
                result.assert_status(2)?;
                // Without the first block nothing says what the process was: no report.
                let told = name == "events" && !result.report.is_null();
                if told {
                    let lost = result.number("events_lost")?;
                    let replayed = result.number("events")?;
                    ensure(lost + replayed == total, || {
                        format!("cut to {end}: {replayed} events and {lost} lost of {total}")
                    })?;
                }
            }
        }
        std::fs::write(&file, &whole)?;
    }
    replay(&recording.archive, "emu", 1, &[])?.assert_faithful()
}

/// Offsets of the ends of all records of a ring, in the order of the file.
fn record_ends(ring: &[u8]) -> Vec<usize> {
    let chunk_bytes = u32::from_le_bytes(ring[32..36].try_into().expect("4 bytes")) as usize;
    let mut ends = Vec::new();
    let mut chunk = raw::RING_HEADER_BYTES;
    while chunk < ring.len() {
        let mut at = chunk + raw::CHUNK_HEADER_BYTES;
        while at + 8 <= (chunk + chunk_bytes).min(ring.len()) {
            let header = u64::from_le_bytes(ring[at..at + 8].try_into().expect("8 bytes"));
            let bytes = (header & 0xffff_ffff) as usize;
            if bytes == 0 {
                break;
            }
            at += bytes;
            ends.push(at);
        }
        chunk += chunk_bytes;
    }
    ends
}

fn unsealed_saxpy() -> Result<Recording, Failed> {
    let recording = record(&program("saxpy_killed")?, "emu", 1)?;
    ensure(recording.output.status.code() == Some(137), || {
        format!("not killed: {}\n{}", recording.output.status, text(&recording.output.stderr))
    })?;
    Ok(recording)
}

fn ring_of(archive: &Path) -> Result<PathBuf, Failed> {
    files(archive)?
        .into_iter()
        .find(|path| std::fs::read(path).is_ok_and(|bytes| bytes.len() > 16 && bytes[12] == 3))
        .ok_or_else(|| "the unsealed recording has no ring".into())
}

/// The file that holds the events of an unsealed recording, cut at each record's end and one byte
/// to each side; what is whole before the cut still replays.
fn cut_unsealed() -> Result<(), Failed> {
    let recording = unsealed_saxpy()?;
    let whole_replay = replay(&recording.archive, "emu", 2, &[])?;
    whole_replay.assert_status(2)?;
    whole_replay.assert_number("diverged", 0)?;
    whole_replay.assert_number("bytes_checked", 4000)?;
    let ring = ring_of(&recording.archive)?;
    let whole = std::fs::read(&ring)?;
    let ends = record_ends(&whole);
    ensure(ends.len() >= 10, || format!("only {} records", ends.len()))?;
    let mut last = 0;
    for end in ends {
        for cut in [end - 1, end, end + 1] {
            std::fs::write(&ring, &whole[..cut])?;
            let result = replay(&recording.archive, "emu", 2, &[])?;
            result.assert_status(2)?;
            result.assert_number("diverged", 0)?;
            let events = result.number("events")?;
            ensure(events >= last, || format!("cut at {cut}: {events} events after {last}"))?;
            last = events;
        }
    }
    ensure(last == whole_replay.number("events")?, || format!("{last} events at the end"))?;
    std::fs::write(&ring, &whole)?;
    // Inside the header of the file of events there is no archive any more.
    let events = ring.with_file_name("events");
    let whole = std::fs::read(&events)?;
    for cut in [0, 1, 7, 8, 12, 31] {
        std::fs::write(&events, &whole[..cut])?;
        replay(&recording.archive, "emu", 2, &[])?.assert_status(65)?;
    }
    Ok(())
}

/// In-process: the rings cut at every byte of their records; never a panic, and never fewer events
/// than the cut before it left whole.
fn cut_every_byte() -> Result<(), Failed> {
    let recording = unsealed_saxpy()?;
    let ring = ring_of(&recording.archive)?;
    let whole = std::fs::read(&ring)?;
    let end = *record_ends(&whole).last().expect("it has records");
    for cut in (0..=end).rev() {
        std::fs::OpenOptions::new().write(true).open(&ring)?.set_len(cut as u64)?;
        let archive = Archive::open(&recording.archive).map_err(|error| error.to_string())?;
        for process in archive.processes() {
            ensure(!process.sealed(), || "a killed program's archive is sealed".into())?;
            process.verify();
            for thread in process.threads() {
                for event in process.thread(thread.ordinal).flatten() {
                    for field in &event.fields {
                        // An error is an answer; a panic is not.
                        let _ = process.content(&field.body);
                    }
                }
            }
        }
    }
    Ok(())
}

/// 50 random kills of two threads that call without end: every call that returned is there, and at
/// most one per thread that had begun is not.
fn killed_at_random() -> Result<(), Failed> {
    let binary = program("two_threads")?;
    let mut numbers = Numbers(3);
    for round in 0..50 {
        let folder = tempfile::tempdir()?;
        let archive = folder.path().join("a.hrr");
        let counters = folder.path().join("counters");
        let mut child = Command::new(hrr())
            .args(["record", "--runtime", "emu", "-o"])
            .arg(&archive)
            .arg("--")
            .arg(&binary)
            .arg(&counters)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let count = |index: usize| -> u64 {
            std::fs::read(&counters).map_or(0, |bytes| match bytes.get(index * 8..index * 8 + 8) {
                Some(word) => u64::from_le_bytes(word.try_into().expect("8 bytes")),
                None => 0,
            })
        };
        let started = std::time::Instant::now();
        while count(1) == 0 || count(3) == 0 {
            ensure(started.elapsed() < Duration::from_secs(60), || {
                "the program does not call".into()
            })?;
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(numbers.below(60_000)));
        let pid = child_of(child.id())?;
        let status = Command::new("kill").args(["-9", &pid.to_string()]).status()?;
        ensure(status.success(), || format!("kill: {status}"))?;
        let status = child.wait()?;
        ensure(status.code() == Some(137) || status.signal() == Some(9), || format!("{status}"))?;
        let opened = Archive::open(&archive).map_err(|error| error.to_string())?;
        let process = only_process(&opened)?;
        let mut recorded: HashMap<&str, (u64, u64)> = HashMap::new();
        for thread in process.threads() {
            for event in process.thread(thread.ordinal) {
                let event = event.map_err(|error| error.to_string())?;
                let entry = recorded.entry(&process.apis()[event.api as usize].name).or_default();
                entry.0 += 1;
                entry.1 += u64::from(event.leave.is_some());
            }
        }
        for (name, index) in [("hipGetDevice", 0), ("hipPeekAtLastError", 2)] {
            let (begun, returned) = (count(index), count(index + 1));
            let (events, left) = recorded.get(name).copied().unwrap_or_default();
            ensure(events + 1 >= begun && events <= begun, || {
                format!("round {round}: {name}: {begun} begun, {events} recorded")
            })?;
            ensure(left >= returned && left <= returned + 1, || {
                format!("round {round}: {name}: {returned} returned, {left} recorded as returned")
            })?;
        }
        if round == 0 {
            let result = replay(&archive, "emu", 9, &[])?;
            result.assert_status(2)?;
            result.assert_number("diverged", 0)?;
            result.assert_sums()?;
            let shown = run_hrr(1, &["info".as_ref(), archive.as_os_str()])?;
            ensure(shown.status.success() || shown.status.code() == Some(2), || {
                text(&shown.stderr)
            })?;
        }
    }
    Ok(())
}

/// The program that `hrr record` started.
fn child_of(parent: u32) -> Result<u32, Failed> {
    let list = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"))?;
    let pid = list.split_whitespace().next().ok_or("hrr record has no child")?;
    Ok(pid.parse()?)
}

/// A whole archive, copied, is still whole: the tests above change what they mean to.
fn copies_are_whole() -> Result<(), Failed> {
    let recording = sealed_saxpy()?;
    let copy = recording.folder.path().join("copy.hrr");
    copy_folder(&recording.archive, &copy)?;
    ensure(verdict(&copy) == 0, || "the copy is not whole".into())
}

fn main() {
    let arguments = Arguments::from_args();
    let trials: Vec<Trial> = vec![
        trial("copies_are_whole", copies_are_whole),
        trial("flipped_bytes", flipped_bytes),
        trial("changed_result", changed_result),
        trial("changed_code", changed_code),
        trial("missing_kernel", missing_kernel),
        trial("cut_sealed", cut_sealed),
        trial("cut_unsealed", cut_unsealed),
        trial("cut_every_byte", cut_every_byte),
        trial("killed_at_random", killed_at_random),
    ];
    libtest_mimic::run(&arguments, trials).exit();
}

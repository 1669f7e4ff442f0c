//! What the built command prints and how it ends, where no runtime and no program is needed.

use std::path::Path;
use std::process::{Command, Output};

use hrr_runtime::archive::event::{Event, EventId};
use hrr_runtime::archive::facts::{Clock, ProcessInfo};
use hrr_runtime::archive::shape::ApiShape;
use hrr_runtime::archive::writer::Writer;
use serde_json::Value;

fn hrr(arguments: &[&str]) -> Output {
    let out = Command::new(env!("CARGO_BIN_EXE_hrr")).args(arguments).output();
    out.expect("the command was built for this test")
}

/// Status and the one line of a refusal; nothing may stand on stdout.
fn refusal(arguments: &[&str]) -> (Option<i32>, String) {
    let out = hrr(arguments);
    assert!(out.stdout.is_empty(), "{out:?}");
    let said = String::from_utf8(out.stderr).expect("messages are UTF-8");
    assert!(said.starts_with("hrr: ") && said.lines().count() == 1, "{said}");
    (out.status.code(), said)
}

#[test]
fn apis_lists_every_function_with_its_kinds() {
    let out = hrr(&["apis", "--json"]);
    let rows: Value = serde_json::from_slice(&out.stdout).expect("it is JSON");
    let rows = rows.as_array().expect("it is a list");
    assert_eq!(rows.len(), hrr_runtime::ALL.len());
    let row = rows.iter().find(|row| row["name"] == "hipMemcpy").expect("it is declared");
    assert_eq!((&row["group"], &row["class"]), (&"copy".into(), &"replayed".into()));
    assert_eq!((&row["reason"], &row["custom_replay"]), (&"".into(), &false.into()));
    assert_eq!(row["custom_capture"], Value::from(false));
    let params: Vec<_> = row["params"].as_array().expect("a list").iter().collect();
    assert_eq!(params.len(), 4);
    assert_eq!((&params[0]["name"], &params[0]["kind"]), (&"dst".into(), &"MemcpyOperand".into()));
    assert_eq!(params[2]["type"], Value::from("usize"));
    for row in rows {
        let refused = row["class"] == "refused" || row["class"] == "host";
        assert_eq!(refused, row["reason"] != "", "{row}");
    }
}

#[test]
fn apis_takes_names_and_lists_the_words() {
    let out = hrr(&["apis", "hipMalloc"]);
    let text = String::from_utf8(out.stdout).expect("names are ASCII");
    assert!(text.starts_with("hipMalloc ") && text.contains("OutDevicePointer"), "{text}");
    let out = hrr(&["apis", "--attributes"]);
    let text = String::from_utf8(out.stdout).expect("words are ASCII");
    assert!(text.contains("`out_handle`"), "{text}");
    let (status, said) = refusal(&["apis", "hipNoSuchFunction"]);
    assert_eq!(status, Some(66));
    assert!(said.contains("hipNoSuchFunction"), "{said}");
}

#[test]
fn usage_is_64_and_help_is_0() {
    for arguments in [&[][..], &["nothing"], &["replay"], &["replay", "a", "--tolerance", "f8:1"]] {
        assert_eq!(hrr(arguments).status.code(), Some(64), "{arguments:?}");
    }
    let out = hrr(&["--help"]);
    assert_eq!(out.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&out.stdout).contains("record"));
}

/// Makes a sealed archive of a process with one call, of the first function; the second is known.
fn archive(at: &Path) {
    let info = ProcessInfo {
        pid: 4711,
        parent_pid: 1,
        started: 0,
        exe: "/bin/nothing".to_owned(),
        args: vec!["nothing".to_owned()],
        env: Vec::new(),
        recorder: "test".to_owned(),
        clock: Clock::Counter,
    };
    let folder = at.join("4711-0");
    std::fs::create_dir_all(&folder).expect("there is room");
    let mut writer = Writer::create(&folder, info).expect("there is room");
    for api in [hrr_runtime::ALL[0], hrr_runtime::ALL[1]] {
        writer.api(ApiShape::of(api)).expect("there is room");
    }
    writer.thread(4711).expect("there is room");
    let one = Event {
        id: EventId { thread: 0, index: 0 },
        api: 0,
        enter: 1,
        leave: Some(2),
        parent: None,
        ret: 0,
        args: vec![0; hrr_runtime::ALL[0].args_bytes as usize],
        fields: Vec::new(),
    };
    writer.event(&one).expect("there is room");
    writer.seal().expect("there is room");
}

#[test]
fn an_archive_of_a_newer_format_is_refused() {
    let folder = tempfile::tempdir().expect("there is room");
    archive(folder.path());
    let path = folder.path().to_str().expect("it is UTF-8");
    assert_eq!(hrr(&["info", path]).status.code(), Some(0));
    // The version stands at byte 8, the checksum of the first 24 bytes behind them.
    let file = folder.path().join("4711-0/events");
    let mut bytes = std::fs::read(&file).expect("it was written");
    bytes[8..12].copy_from_slice(&7u32.to_le_bytes());
    let sum = xxhash_rust::xxh3::xxh3_64(&bytes[..24]);
    bytes[24..32].copy_from_slice(&sum.to_le_bytes());
    std::fs::write(&file, &bytes).expect("it is ours");
    for command in ["info", "events", "replay"] {
        let (status, said) = refusal(&[command, path]);
        assert_eq!(status, Some(65), "{said}");
        assert!(said.contains("version 7"), "{said}");
    }
}

#[test]
fn pack_makes_one_file_and_overwrites_none() {
    let folder = tempfile::tempdir().expect("there is room");
    archive(&folder.path().join("a"));
    let path = |name: &str| folder.path().join(name).to_str().expect("it is UTF-8").to_owned();
    let (from, to) = (path("a"), path("a.pack"));
    assert_eq!(hrr(&["pack", &from, "-o", &to]).status.code(), Some(0));
    let shown = |path: &str| -> Value {
        serde_json::from_slice(&hrr(&["info", "--json", path]).stdout).expect("it is JSON")
    };
    assert_eq!(shown(&from)["processes"], shown(&to)["processes"]);
    let (status, said) = refusal(&["pack", &from, "-o", &to]);
    assert_eq!(status, Some(66), "{said}");
    let (status, said) = refusal(&["info", &path("nothing")]);
    assert_eq!(status, Some(66), "{said}");
}

#[test]
fn a_process_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().expect("there is room");
    archive(folder.path());
    let path = folder.path().to_str().expect("it is UTF-8");
    let (status, said) = refusal(&["events", path, "--process", "1"]);
    assert_eq!(status, Some(66));
    assert!(said.contains("4711-0"), "{said}");
}

/// What is asked for by name and is not there is said, with the archive, and is an error; an answer
/// without a call is said too.
#[test]
fn events_that_are_not_there_are_told() {
    let folder = tempfile::tempdir().expect("there is room");
    archive(folder.path());
    let path = folder.path().to_str().expect("it is UTF-8");
    let [first, second] =
        [0, 1].map(|at: usize| hrr_runtime::ALL[at].name.to_str().expect("ASCII"));
    assert!(!hrr(&["events", path, "--function", first, "--thread", "0"]).stdout.is_empty());
    for asked in [
        &["--thread", "1"][..],
        &["--function", second],
        &["--function", "noSuch*"],
        &["--function", first, "--thread", "7"],
        &["--function", second, "--failed"],
        &["--thread", "1", "--json"],
    ] {
        let (status, said) = refusal(&[&["events", path][..], asked].concat());
        assert_eq!(status, Some(66), "{asked:?}: {said}");
        assert!(said.contains(path) && said.contains(asked[1]), "{asked:?}: {said}");
    }
    for asked in [&["--failed"][..], &["--function", first, "--failed"], &["--skip", "1"]] {
        let (status, said) = refusal(&[&["events", path][..], asked].concat());
        assert_eq!(status, Some(0), "{asked:?}: {said}");
    }
}

/// A folder that is no archive is named itself, whatever files lie in it.
#[test]
fn a_folder_that_is_no_archive_is_named() {
    let folder = tempfile::tempdir().expect("there is room");
    let make = |file: &str, content: &[u8]| {
        let file = folder.path().join(file);
        std::fs::create_dir_all(file.parent().expect("it is below")).expect("there is room");
        std::fs::write(file, content).expect("there is room");
    };
    make("deep/notes/events", b"not of a recording, and longer than a header");
    make("short/notes/events", b"x");
    make("own/events", b"not of a recording, and longer than a header");
    make("folders/notes/events/more", b"");
    make("files/some", b"text");
    for name in ["deep", "short", "own", "folders", "files"] {
        let path = folder.path().join(name);
        let path = path.to_str().expect("it is UTF-8");
        for command in ["info", "events", "replay"] {
            let (status, said) = refusal(&[command, path]);
            assert_eq!(status, Some(65), "{said}");
            let named = format!("hrr: {path}: not an HRR archive");
            assert!(said.starts_with(&named), "{said}");
        }
    }
}

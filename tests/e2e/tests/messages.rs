//! Goal: bad input gets one clear line (what, where, what to do next) and the documented exit
//! status, and leaves nothing half written.
//! Method: run `hrr` on each kind of bad input and read the line and the status.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use e2e::{ensure, hrr, program, record, replay, text, trial};
use libtest_mimic::{Arguments, Failed, Trial};

/// Runs `hrr`, expects this status, nothing on stdout, and one line on stderr with all of `words`.
fn refuse(arguments: &[OsString], status: i32, words: &[&str]) -> Result<(), Failed> {
    let output = Command::new(hrr()).args(arguments).output()?;
    let said = text(&output.stderr);
    let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("hrr: ")).collect();
    ensure(output.status.code() == Some(status), || {
        format!("{arguments:?}: {} instead of {status}\n{said}", output.status)
    })?;
    ensure(output.stdout.is_empty(), || format!("stdout: {}", text(&output.stdout)))?;
    ensure(lines.len() == 1 && said.lines().count() == 1, || format!("not one line: {said}"))?;
    for word in words {
        ensure(said.contains(word), || format!("the line lacks `{word}`: {said}"))?;
    }
    Ok(())
}

fn words(list: &[&str]) -> Vec<OsString> {
    list.iter().map(OsString::from).collect()
}

fn with(list: &[&str], path: &Path) -> Vec<OsString> {
    let mut all = words(list);
    all.push(path.into());
    all
}

fn archives() -> Result<(), Failed> {
    for command in ["replay", "info", "events"] {
        refuse(&words(&[command, "/no/such/archive"]), 66, &["/no/such/archive"])?;
        let folder = tempfile::tempdir()?;
        let plain = folder.path().join("plain.txt");
        std::fs::write(&plain, "this is a text of some length, and no archive at all\n")?;
        refuse(&with(&[command], &plain), 65, &["plain.txt", "not an HRR archive"])?;
        let empty = folder.path().join("empty");
        std::fs::create_dir(&empty)?;
        refuse(&with(&[command], &empty), 65, &["empty"])?;
        let mut upstream = b"HRRE\x06\x00\x00\x00".to_vec();
        upstream.extend([0; 64]);
        let file = folder.path().join("events.bin");
        std::fs::write(&file, &upstream)?;
        refuse(&with(&[command], &file), 65, &["AMD"])?;
        let theirs = folder.path().join("theirs");
        std::fs::create_dir_all(theirs.join("4711"))?;
        std::fs::write(theirs.join("4711/events.bin"), &upstream)?;
        refuse(&with(&[command], &theirs), 65, &["AMD"])?;
    }
    Ok(())
}

fn programs_and_outputs() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let output: PathBuf = folder.path().join("o.hrr");
    let out = output.to_str().expect("a temporary path is UTF-8");
    refuse(&words(&["record", "-o", out, "--", "/no/such/program"]), 127, &["/no/such/program"])?;
    refuse(&words(&["record", "-o", out, "--", "no-such-program-on-the-path"]), 127, &[])?;
    let plain = folder.path().join("plain");
    std::fs::write(&plain, "not executable")?;
    refuse(&with(&["record", "-o", out, "--"], &plain), 126, &["plain"])?;
    ensure(!output.exists(), || "a refused recording left a folder".into())?;
    std::fs::create_dir(&output)?;
    refuse(&words(&["record", "-o", out, "--", "/bin/true"]), 66, &["o.hrr", "exists"])?;
    ensure(std::fs::read_dir(&output)?.next().is_none(), || "something was written".into())?;
    refuse(&words(&["record", "-o", "/no/such/folder/o.hrr", "--", "/bin/true"]), 66, &[])?;
    let status = Command::new(hrr()).args(["replay"]).output()?.status;
    ensure(status.code() == Some(64), || format!("no argument: {status}"))?;
    let status = Command::new(hrr()).args(["no-such-command"]).output()?.status;
    ensure(status.code() == Some(64), || format!("no such command: {status}"))
}

fn missing_runtime() -> Result<(), Failed> {
    let recording = record(&program("saxpy")?, "emu", 1)?;
    let archive = recording.archive.to_str().expect("UTF-8");
    refuse(&words(&["replay", archive, "--runtime", "/no/lib.so"]), 69, &["/no/lib.so"])?;
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("o.hrr");
    let out = out.to_str().expect("UTF-8");
    let record = ["record", "-o", out, "--runtime", "/no/lib.so", "--", "/bin/true"];
    refuse(&words(&record), 69, &["/no/lib.so"])?;
    ensure(!Path::new(out).exists(), || "a refused recording left a folder".into())
}

/// The exit status of the program is the status of `hrr record`.
fn status_of_the_program() -> Result<(), Failed> {
    for (script, status) in
        [("exit 0", 0), ("exit 17", 17), ("kill -TERM $$", 143), ("kill -9 $$", 137)]
    {
        let folder = tempfile::tempdir()?;
        let output = Command::new(hrr())
            .args(["record", "--runtime", "emu", "-o"])
            .arg(folder.path().join("o.hrr"))
            .args(["--", "/bin/sh", "-c", script])
            .output()?;
        ensure(output.status.code() == Some(status), || format!("{script}: {}", output.status))?;
        let said = text(&output.stderr);
        ensure(said.contains("no HIP call was seen"), || format!("{script}: {said}"))?;
    }
    Ok(())
}

/// An archive of gfx90a code on a device of another target: diverged or refused by name, never run.
fn other_target() -> Result<(), Failed> {
    let recording = record(&program("saxpy")?, "emu", 1)?;
    let output = Command::new(hrr())
        .arg("replay")
        .arg(&recording.archive)
        .args(["--runtime", "emu", "--json"])
        .env("HIP_EMU_TARGET", "gfx906")
        .output()?;
    ensure(matches!(output.status.code(), Some(1 | 2)), || {
        format!("{}\n{}", output.status, text(&output.stderr))
    })?;
    let said = text(&output.stderr) + &text(&output.stdout);
    ensure(said.contains("gfx90a") && said.contains("gfx906"), || {
        format!("neither target is named: {said}")
    })?;
    let result = replay(&recording.archive, "emu", 1, &[])?;
    result.assert_faithful()
}

fn main() {
    let arguments = Arguments::from_args();
    let trials = vec![
        Trial::test("archives", archives),
        Trial::test("programs_and_outputs", programs_and_outputs),
        trial("missing_runtime", missing_runtime),
        Trial::test("status_of_the_program", status_of_the_program),
        trial("other_target", other_target),
    ];
    libtest_mimic::run(&arguments, trials).exit();
}

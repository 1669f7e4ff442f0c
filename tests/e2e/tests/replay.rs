//! Goal: an unmodified C++ HIP program is recorded under `hrr record` and replayed by `hrr replay`,
//! bit for bit, under other addresses and handles, without the program.
//! Method: programs of `tests/programs`, compiled by the stock compiler, on the emulated GPU with
//! several seeds per side, and on AMD's own runtime, which finds no GPU.

use std::path::Path;
use std::sync::Arc;

use e2e::{
    Recording, Replay, VENDOR, ensure, program, record, replay, run_hrr, text, trial, trial_unless,
};
use hrr_runtime::archive::reader::Archive;
use libtest_mimic::{Arguments, Failed, Trial};

/// What is known of a program: checks, the bytes that they compare, and whether it stores device
/// pointers in device memory (then only a placed replay can be exact).
struct Known {
    name: &'static str,
    checks: Option<(u64, u64)>,
    stores_pointers: bool,
}

const PROGRAMS: &[Known] = &[
    Known { name: "saxpy", checks: Some((1, 4000)), stores_pointers: false },
    Known { name: "symbol", checks: Some((2, 2004)), stores_pointers: false },
    Known { name: "graph", checks: Some((1, 1024)), stores_pointers: false },
    Known { name: "streams", checks: None, stores_pointers: true },
];

fn recorded(name: &str, runtime: &str, seed: u64) -> Result<Recording, Failed> {
    let recording = record(&program(name)?, runtime, seed)?;
    let printed = text(&recording.output.stdout);
    if runtime == "emu" {
        ensure(recording.output.status.success() && printed.contains("bad=0"), || {
            format!(
                "{name} under the recorder: {}\n{printed}\n{}",
                recording.output.status,
                text(&recording.output.stderr)
            )
        })?;
    }
    Ok(recording)
}

/// Three seeds per side; also the same archive from another place, without the program.
fn faithful(known: &'static Known) -> Result<(), Failed> {
    for seed in 1..=3 {
        let recording = recorded(known.name, "emu", seed)?;
        let moved = tempfile::tempdir()?;
        let archive = moved.path().join("carried.hrr");
        e2e::copy_folder(&recording.archive, &archive)?;
        drop(recording);
        for replay_seed in [seed, seed + 10, seed + 20] {
            let result = replay(&archive, "emu", replay_seed, &[])?;
            result.assert_faithful()?;
            if let Some((checks, bytes)) = known.checks {
                result.assert_number("checks_passed", checks)?;
                result.assert_number("bytes_checked", bytes)?;
            } else {
                ensure(result.number("checks_passed")? > 0, || "nothing was checked".into())?;
            }
            if !known.stores_pointers {
                replay(&archive, "emu", replay_seed, &["--no-placement"])?.assert_faithful()?;
            }
        }
    }
    Ok(())
}

/// The program that is recorded is deleted with its folder before the replay.
fn without_program() -> Result<(), Failed> {
    let built = program("saxpy")?;
    let folder = tempfile::tempdir()?;
    let copy = folder.path().join("prog");
    std::fs::copy(built, &copy)?;
    let recording = record(&copy, "emu", 7)?;
    drop(folder);
    ensure(!copy.exists(), || "the program is still there".into())?;
    let result = replay(&recording.archive, "emu", 8, &[])?;
    result.assert_faithful()?;
    result.assert_number("bytes_checked", 4000)
}

/// A replay whose kernel waits for what the recording does not hold ends at the limit, and says where.
fn timeout() -> Result<(), Failed> {
    let recording = record(&program("handshake")?, "emu", 3)?;
    let printed = text(&recording.output.stdout);
    ensure(printed.ends_with("handshake bad=0\n"), || printed.clone())?;
    let result = replay(&recording.archive, "emu", 4, &["--timeout", "2"])?;
    result.assert_status(1)?;
    let findings = result.report["findings"].as_array().ok_or("no findings")?;
    let stuck = findings.iter().find(|finding| finding["kind"] == "stuck");
    ensure(stuck.is_some_and(|stuck| stuck["function"] == "hipDeviceSynchronize"), || {
        result.report.to_string()
    })?;
    ensure(result.number("not_reached")? > 0, || result.report.to_string())
}

/// What kernels print is the program's output when recorded, and beside the report when replayed.
fn kernels_print() -> Result<(), Failed> {
    let said = |number: u32| format!("the device says {number} to the output\n");
    let output = format!("{}{}{}", said(1), said(2), said(3));
    for runtime in ["emu", "amd-emu"] {
        if runtime == "amd-emu" && !Path::new(VENDOR).exists() {
            eprintln!("NOT RUN: kernels_print on AMD's runtime, which is not installed");
            continue;
        }
        let recording = record(&program("speak")?, runtime, 3)?;
        let (printed, error) = (text(&recording.output.stdout), text(&recording.output.stderr));
        ensure(printed == format!("the program speaks\n{output}speak bad=0\n"), || printed)?;
        let errors = |text: &str| text.matches("the device says 0 to the error\n").count();
        ensure(errors(&error) == 3, || error)?;
        let archive = recording.archive.into_os_string();
        for report in [&["--json"][..], &[]] {
            let mut arguments = vec!["replay".into(), archive.clone()];
            arguments.extend(["--runtime", runtime].iter().chain(report).map(Into::into));
            let replayed = run_hrr(4, &arguments)?;
            let (report, beside) = (text(&replayed.stdout), text(&replayed.stderr));
            ensure(replayed.status.success(), || format!("{report}\n{beside}"))?;
            ensure(!report.contains("the device says"), || report.clone())?;
            // The program's own output is no call of HIP's.
            ensure(!report.contains("the program speaks"), || report.clone())?;
            ensure(errors(&beside) == 3, || beside.clone())?;
            let lines = beside.split_inclusive('\n').filter(|line| line.ends_with("the output\n"));
            ensure(lines.collect::<String>() == output, || beside.clone())?;
        }
    }
    Ok(())
}

/// AMD's runtime finds no GPU: what failed fails the same, and the emulated GPU, where it would
/// succeed, diverges at the first call that failed.
fn vendor_without_gpu(name: &'static str, first_failure: &'static str) -> Result<(), Failed> {
    let recording = recorded(name, VENDOR, 1)?;
    ensure(recording.output.status.code() == Some(1), || {
        format!("{name} on AMD's runtime without a GPU: {}", recording.output.status)
    })?;
    let same = replay(&recording.archive, VENDOR, 1, &[])?;
    same.assert_faithful()?;
    ensure(same.number("failed_as_recorded")? > 0, || {
        format!("nothing failed as recorded: {}", same.report)
    })?;
    let other = replay(&recording.archive, "emu", 1, &[])?;
    other.assert_status(1)?;
    other.assert_sums()?;
    let findings = other.report["findings"].as_array().cloned().unwrap_or_default();
    let first = findings.iter().find(|finding| finding["kind"] == "diverged");
    ensure(first.is_some_and(|finding| finding["function"] == first_failure), || {
        format!("the first divergence is not {first_failure}: {findings:?}")
    })
}

/// What a user sees of the recording by the other commands.
fn info_and_events() -> Result<(), Failed> {
    let recording = recorded("saxpy", "emu", 1)?;
    let archive: &Path = &recording.archive;
    let json = |command: &str| -> Result<String, Failed> {
        let out = run_hrr(1, &[command.as_ref(), archive.as_os_str(), "--json".as_ref()])?;
        ensure(out.status.success(), || format!("hrr {command}: {}", text(&out.stderr)))?;
        Ok(text(&out.stdout))
    };
    for function in ["hipMalloc", "hipMemcpy", "hipLaunchKernel", "__hipRegisterFatBinary"] {
        for command in ["info", "events"] {
            let said = json(command)?;
            ensure(said.contains(function), || format!("hrr {command} lacks {function}: {said}"))?;
        }
    }
    Ok(())
}

/// Images that were refused are refused again, whatever was recorded of them, and the listing says
/// how much that is.
fn junk() -> Result<(), Failed> {
    let recording = record(&e2e::compiled("workloads", "junk", &[])?, "emu", 1)?;
    let said = text(&recording.output.stderr);
    ensure(recording.output.status.success(), || format!("junk: {said}"))?;
    for more in [&[][..], &["--no-placement"]] {
        let result = replay(&recording.archive, "emu", 2, more)?;
        result.assert_faithful()?;
        ensure(result.number("failed_as_recorded")? >= 6 * 3, || result.report.to_string())?;
    }
    let archive = recording.archive.as_os_str();
    let events = run_hrr(1, &["events".as_ref(), archive, "--failed".as_ref()])?;
    let listed = text(&events.stdout);
    for bytes in [4, 1000, 4096] {
        let clipped = format!("(recorded: the first {bytes}, of unknown length)");
        ensure(listed.contains(&clipped), || format!("no `{clipped}`: {listed}"))?;
    }
    Ok(())
}

/// How a program that links hrr-runtime is told to replay this archive in its own process.
const IN_PROCESS: &str = "HRR_E2E_REPLAY";

/// Replays in this process, as a Rust program does, and prints the report.
fn in_process(path: &Path) -> std::process::ExitCode {
    let archive = Arc::new(Archive::open(path).expect("the archive is whole"));
    let report = hrr_runtime::replay(
        &[hrr_runtime::ALL],
        &archive,
        0,
        hrr_runtime::replay::ReplayOptions::default(),
        |_| (),
    );
    let report = report.expect("it holds a process");
    serde_json::to_writer(std::io::stdout(), &report).expect("a report is plain data");
    std::process::ExitCode::from(report.exit_code() as u8)
}

/// The emulated GPU answers as the version of HIP that the program was linked against, at replay
/// too, whoever replays; a version that was asked for is taken, and the report says so.
fn versions() -> Result<(), Failed> {
    let binary = e2e::compiled("workloads", "graphs", &[])?;
    let recording = record(&binary, "emu", 1)?;
    let info =
        run_hrr(1, &["info".as_ref(), recording.archive.as_os_str(), "--json".as_ref()])?.stdout;
    let info: serde_json::Value = serde_json::from_slice(&info)?;
    let runtime = &info["processes"][0]["runtimes"][0];
    ensure(runtime["loaded_as"] == "libamdhip64.so.5" && runtime["hip"] == 5, || info.to_string())?;

    let notes = |result: &Replay| {
        let findings = result.report["findings"].as_array().cloned().unwrap_or_default();
        let of_version = |finding: &serde_json::Value| {
            finding["kind"] == "note" && finding["reason"].to_string().contains("HIP")
        };
        findings.into_iter().filter(of_version).collect::<Vec<_>>()
    };
    for runtime in ["emu", "emu:5"] {
        let same = replay(&recording.archive, runtime, 1, &[])?;
        same.assert_faithful()?;
        ensure(notes(&same).is_empty(), || format!("{:?}", notes(&same)))?;
    }
    let other = replay(&recording.archive, "emu:6", 1, &[])?;
    other.assert_status(1)?;
    let said = notes(&other);
    ensure(said.len() == 1 && said[0]["reason"].to_string().contains("recorded on HIP 5"), || {
        format!("{said:?}")
    })?;

    for (runtime, status) in [("emu", 0), ("emu:6", 1)] {
        let this = std::env::current_exe()?;
        let folder = e2e::release_dir();
        let mut again = std::process::Command::new(this);
        again.env(IN_PROCESS, &recording.archive).env("HRR_LIB_DIR", folder);
        let out = again.env("HRR_RUNTIME", runtime).output()?;
        let (printed, said) = (text(&out.stdout), text(&out.stderr));
        ensure(out.status.code() == Some(status), || format!("{runtime}: {printed}\n{said}"))?;
        let told = printed.contains("recorded on HIP 5");
        ensure(told == (status == 1), || format!("{runtime}: {printed}"))?;
    }
    Ok(())
}

fn main() -> std::process::ExitCode {
    if let Some(archive) = std::env::var_os(IN_PROCESS) {
        return in_process(archive.as_ref());
    }
    let arguments = Arguments::from_args();
    let vendor = e2e::missing_compiler().or_else(|| {
        (!Path::new(VENDOR).exists())
            .then_some("AMD's runtime is not installed (apt: libamdhip64-5)")
    });
    let mut trials: Vec<Trial> = PROGRAMS
        .iter()
        .map(|known| trial(format!("faithful::{}", known.name), move || faithful(known)))
        .collect();
    trials.push(trial("without_program", without_program));
    trials.push(trial("kernels_print", kernels_print));
    trials.push(trial("timeout", timeout));
    trials.push(trial("info_and_events", info_and_events));
    trials.push(trial("versions", versions));
    trials.push(trial("junk", junk));
    for (name, first) in [
        ("saxpy", "hipGetDeviceCount"),
        ("symbol", "hipMemcpyToSymbol"),
        ("graph", "hipStreamCreate"),
    ] {
        trials.push(trial_unless(format!("vendor_without_gpu::{name}"), vendor, move || {
            vendor_without_gpu(name, first)
        }));
    }
    libtest_mimic::run(&arguments, trials).exit();
}

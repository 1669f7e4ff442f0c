//! What the end-to-end tests share: building the tools, compiling HIP programs, recording and
//! replaying them, and reading what the tools say.
//!
//! Goal: use the built `hrr` as a user does, on unmodified programs. A test whose tool is absent is
//! ignored and says `NOT RUN`; it never passes.

pub mod programs;

use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

/// The root of the workspace.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("two levels down").into()
}

/// The folder of the built release artefacts, built once per test run.
pub fn release_dir() -> &'static Path {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(|| {
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| workspace().join("target"), PathBuf::from);
        let status = Command::new(env!("CARGO"))
            .args([
                "build",
                "--release",
                "-q",
                "-p",
                "hrr-cli",
                "-p",
                "hrr-preload",
                "-p",
                "hip-emu",
                "-p",
                "hsa-emu",
            ])
            .current_dir(workspace())
            .status()
            .expect("cargo runs: it runs this test");
        assert!(status.success(), "the tools do not build");
        target.join("release")
    })
}

/// The `hrr` command.
pub fn hrr() -> PathBuf {
    release_dir().join("hrr")
}

/// AMD's own runtime, where Debian puts it.
pub const VENDOR: &str = "/usr/lib/x86_64-linux-gnu/libamdhip64.so.5";

/// Why a program cannot be compiled here, if it cannot.
pub fn missing_compiler() -> Option<&'static str> {
    let found = |program: &str| {
        Command::new(program).arg("--version").output().is_ok_and(|out| out.status.success())
    };
    if !found("clang++-15") {
        Some("clang++-15 is not installed (apt: clang-15)")
    } else if !Path::new("/usr/include/hip/hip_runtime.h").exists() {
        Some("the HIP headers are not installed (apt: libamdhip64-dev)")
    } else if !Path::new("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode").exists() {
        Some("the device libraries are not installed (apt: rocm-device-libs)")
    } else {
        None
    }
}

/// Compiles `tests/programs/NAME.hip.cpp` for gfx90a, once per change of its folder.
pub fn program(name: &str) -> Result<PathBuf, Failed> {
    compiled("programs", name, &[])
}

/// Compiles `tests/FOLDER/NAME.hip.cpp` for gfx90a with those libraries, once per change of its
/// folder.
pub fn compiled(folder: &str, name: &str, libraries: &[&str]) -> Result<PathBuf, Failed> {
    let sources = workspace().join("tests").join(folder);
    let built = release_dir().join("../e2e-programs").join(folder);
    std::fs::create_dir_all(&built)?;
    let binary = built.join(name);
    let age = |path: &Path| path.metadata().and_then(|m| m.modified());
    let mut newest = std::time::SystemTime::UNIX_EPOCH;
    for path in files(&sources)? {
        newest = newest.max(age(&path)?);
    }
    if age(&binary).is_ok_and(|age| newest < age) {
        return Ok(binary);
    }
    // Tests of one binary run in threads of one process.
    static COMPILED: AtomicU32 = AtomicU32::new(0);
    let one = COMPILED.fetch_add(1, Ordering::Relaxed);
    let unfinished = built.join(format!("{name}.{}.{one}", std::process::id()));
    let out = hip_compiler()
        .arg(sources.join(format!("{name}.hip.cpp")))
        .arg("-o")
        .arg(&unfinished)
        .arg("-lamdhip64")
        .args(libraries)
        .output()?;
    if !out.status.success() {
        return Err(format!("{name} does not compile:\n{}", text(&out.stderr)).into());
    }
    std::fs::rename(unfinished, &binary)?;
    Ok(binary)
}

/// The stock compiler with what any HIP program for gfx90a needs.
pub fn hip_compiler() -> Command {
    let mut command = Command::new("clang++-15");
    command
        .args(["-x", "hip", "--offload-arch=gfx90a", "--rocm-path=/usr", "-std=c++17"])
        .arg("--rocm-device-lib-path=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode")
        .args(["-D__HIP_PLATFORM_AMD__", "-O2", "-pthread"]);
    command
}

/// Bytes of a tool's output, for a message.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs `hrr` with `arguments` under a seed of the emulated GPU.
pub fn run_hrr<S: AsRef<OsStr>>(seed: u64, arguments: &[S]) -> Result<Output, Failed> {
    Machine { seed, gpus: 1 }.run_hrr(arguments)
}

/// The emulated machine that a command runs on.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// Decides addresses and handle values.
    pub seed: u64,
    /// How many devices it has.
    pub gpus: u32,
}

impl Machine {
    /// Runs `hrr` with `arguments`.
    pub fn run_hrr<S: AsRef<OsStr>>(self, arguments: &[S]) -> Result<Output, Failed> {
        let gpus = self.gpus.to_string();
        let mut command = Command::new(hrr());
        command.args(arguments).env("HIP_EMU_SEED", self.seed.to_string());
        Ok(command.env("HIP_EMU_GPUS", &gpus).env("HSA_EMU_GPUS", &gpus).output()?)
    }
}

/// A recording and the folder that holds it.
pub struct Recording {
    /// Holds the archive; removed at the end.
    pub folder: tempfile::TempDir,
    /// The archive.
    pub archive: PathBuf,
    /// What the program, under `hrr record`, printed and how it ended.
    pub output: Output,
}

/// Records `binary` with `runtime` into a fresh archive.
pub fn record(binary: &Path, runtime: &str, seed: u64) -> Result<Recording, Failed> {
    record_on(Machine { seed, gpus: 1 }, binary, None, runtime)
}

/// Records `binary`, maybe run with an argument, with `runtime` on a machine, into a fresh archive.
pub fn record_on(
    machine: Machine,
    binary: &Path,
    argument: Option<&str>,
    runtime: &str,
) -> Result<Recording, Failed> {
    let folder = tempfile::tempdir()?;
    let archive = folder.path().join("a.hrr");
    let mut arguments: Vec<OsString> = vec![
        "record".into(),
        "-o".into(),
        archive.clone().into(),
        "--runtime".into(),
        runtime.into(),
        "--".into(),
        binary.into(),
    ];
    arguments.extend(argument.map(OsString::from));
    let output = machine.run_hrr(&arguments)?;
    Ok(Recording { folder, archive, output })
}

/// What `hrr replay --json` said.
pub struct Replay {
    /// The exit status.
    pub status: i32,
    /// The report.
    pub report: Value,
    /// What was printed beside it.
    pub stderr: String,
}

impl Replay {
    /// A number of the report.
    pub fn number(&self, key: &str) -> Result<u64, Failed> {
        self.report[key].as_u64().ok_or_else(|| {
            format!("the report has no number `{key}`: {}\n{}", self.report, self.stderr).into()
        })
    }

    /// Fails unless the replay is perfect: exit 0, nothing diverged, refused or left out, and the
    /// outcomes sum to the events.
    pub fn assert_faithful(&self) -> Result<(), Failed> {
        self.assert_status(0)?;
        for key in ["diverged", "refused", "checks_failed", "in_flight", "not_reached"] {
            self.assert_number(key, 0)?;
        }
        self.assert_sums()
    }

    /// Fails unless the outcomes sum to the events.
    pub fn assert_sums(&self) -> Result<(), Failed> {
        let mut sum = 0;
        for key in [
            "reproduced",
            "failed_as_recorded",
            "ordering",
            "host",
            "diverged",
            "refused",
            "in_flight",
            "not_reached",
        ] {
            sum += self.number(key)?;
        }
        ensure(sum == self.number("events")? && sum > 0, || {
            format!("the outcomes do not sum to the events: {}", self.report)
        })
    }

    /// Fails unless the replay ended with this status.
    pub fn assert_status(&self, status: i32) -> Result<(), Failed> {
        ensure(self.status == status, || {
            format!("exit {} instead of {status}\n{}\n{}", self.status, self.report, self.stderr)
        })
    }

    /// Fails unless the report has this number.
    pub fn assert_number(&self, key: &str, number: u64) -> Result<(), Failed> {
        let found = self.number(key)?;
        ensure(found == number, || {
            format!("`{key}` is {found} instead of {number}\n{}\n{}", self.report, self.stderr)
        })
    }
}

/// Replays an archive of one process with `runtime` and reads the report.
pub fn replay(archive: &Path, runtime: &str, seed: u64, more: &[&str]) -> Result<Replay, Failed> {
    let mut all = replay_on(Machine { seed, gpus: 1 }, archive, runtime, more)?;
    ensure(all.len() == 1, || format!("{} reports instead of one", all.len()))?;
    Ok(all.remove(0))
}

/// Replays an archive with `runtime` on a machine and reads the report of each process; there is
/// one with no report where the command gave none.
pub fn replay_on(
    machine: Machine,
    archive: &Path,
    runtime: &str,
    more: &[&str],
) -> Result<Vec<Replay>, Failed> {
    let mut arguments: Vec<OsString> =
        vec!["replay".into(), archive.into(), "--runtime".into(), runtime.into(), "--json".into()];
    arguments.extend(more.iter().map(OsString::from));
    let output = machine.run_hrr(&arguments)?;
    let stderr = text(&output.stderr);
    // As a shell says it: a runtime may end the process that replays.
    let status = output.status.code().unwrap_or_else(|| 128 + output.status.signal().unwrap_or(0));
    let documents = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
    let mut reports: Vec<Value> = documents.map(|one| one.unwrap_or(Value::Null)).collect();
    if reports.is_empty() {
        reports.push(Value::Null);
    }
    let one = |report| Replay { status, report, stderr: stderr.clone() };
    Ok(reports.into_iter().map(one).collect())
}

/// Fails with `message` unless `condition` holds.
pub fn ensure(condition: bool, message: impl FnOnce() -> String) -> Result<(), Failed> {
    if condition { Ok(()) } else { Err(message().into()) }
}

/// A test that needs the HIP compiler; where it is absent the test is ignored and says so.
pub fn trial(
    name: impl Into<String>,
    body: impl FnOnce() -> Result<(), Failed> + Send + 'static,
) -> Trial {
    trial_unless(name, missing_compiler(), body)
}

/// A test that cannot run if `missing` says why.
pub fn trial_unless(
    name: impl Into<String>,
    missing: Option<&str>,
    body: impl FnOnce() -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let name = name.into();
    if let Some(reason) = missing {
        eprintln!("NOT RUN: {name}: {reason}");
    }
    Trial::test(name, body).with_ignored_flag(missing.is_some())
}

/// Every regular file below `folder`, in order.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>, Failed> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next)? {
            let path = entry?.path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    Ok(found)
}

/// Copies a folder.
pub fn copy_folder(from: &Path, to: &Path) -> Result<(), Failed> {
    for path in files(from)? {
        let target = to.join(path.strip_prefix(from).expect("listed below it"));
        std::fs::create_dir_all(target.parent().expect("a file has a folder"))?;
        std::fs::copy(&path, &target)?;
    }
    Ok(())
}

//! What the tests need: our library, AMD's, and the compiler; and how to run with them.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const LIBRARIES: &str = "/usr/lib/x86_64-linux-gnu";
const COMPILER: &str = "clang++-15";
/// A program that takes longer than this hangs.
const TIMEOUT: Duration = Duration::from_secs(240);

/// The tools, or why they cannot be used.
#[derive(Clone)]
pub(crate) struct Toolchain {
    /// This workspace.
    pub(crate) root: PathBuf,
    /// Folder for what is built.
    work: PathBuf,
    /// Our library.
    pub(crate) ours: PathBuf,
    built: Arc<Mutex<HashMap<PathBuf, Built>>>,
}

/// Whether a program was compiled; whoever comes first does it, and others wait.
type Built = Arc<Mutex<Option<Result<(), String>>>>;

/// What a program left behind.
pub(crate) struct Outcome {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Toolchain {
    pub(crate) fn find() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("amd_runtime");
        fs::create_dir_all(&work).expect("the target folder can be written");
        let ours = our_library();
        let folder = work.join("front");
        fs::create_dir_all(&folder).expect("the target folder can be written");
        let link = folder.join("libhsa-runtime64.so.1");
        if link.is_symlink() {
            fs::remove_file(&link).expect("the target folder can be written");
        }
        symlink(&ours, &link).expect("the target folder can be written");
        Self { root, work, ours, built: Arc::default() }
    }

    /// AMD's library of that name, in Debian's place for it.
    pub(crate) fn vendor(&self, name: &str) -> PathBuf {
        Path::new(LIBRARIES).join(name)
    }

    /// Why HIP programs cannot be compiled and run, if they cannot.
    pub(crate) fn missing(&self) -> Option<String> {
        self.missing_compiler().or_else(|| {
            let needed = [
                Path::new(LIBRARIES).join("libamdhip64.so.5"),
                Path::new(LIBRARIES).join("libamdhip64.so"),
                Path::new(LIBRARIES).join("amdgcn/bitcode/ockl.bc"),
                PathBuf::from("/usr/include/hip/hip_runtime.h"),
            ];
            let absent = needed.into_iter().find(|path| !path.exists())?;
            Some(format!("{} is not installed", absent.display()))
        })
    }

    /// Why nothing can be compiled, if nothing can.
    pub(crate) fn missing_compiler(&self) -> Option<String> {
        let found = Command::new(COMPILER)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        (!found).then(|| format!("{COMPILER} is not installed"))
    }

    /// Compiles a HIP program, once for all tests that use it.
    pub(crate) fn program(
        &self,
        source: &Path,
        processors: &[&str],
        libraries: &[&str],
    ) -> Result<PathBuf, String> {
        let name = source.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let program = self.work.join(name.trim_end_matches(".hip.cpp"));
        let cell = {
            let mut built = self.built.lock().expect("no test panics while it holds this");
            Arc::clone(built.entry(program.clone()).or_default())
        };
        let mut done = cell.lock().expect("no test panics while it holds this");
        let result = done.get_or_insert_with(|| {
            let folder = source.parent().unwrap_or(Path::new("."));
            if is_newer(&program, folder) {
                return Ok(());
            }
            let mut command = Command::new(COMPILER);
            command.args(["-x", "hip", "-std=c++17", "-O2", "-pthread", "-D__HIP_PLATFORM_AMD__"]);
            command.args(["--rocm-path=/usr", "-Wno-unused-command-line-argument"]);
            command.arg(format!("--rocm-device-lib-path={LIBRARIES}/amdgcn/bitcode"));
            command.args(processors.iter().map(|name| format!("--offload-arch={name}")));
            command.arg(source).arg("-o").arg(&program).arg("-lamdhip64");
            command.args(libraries);
            compiled(command)
        });
        result.clone().map(|()| program)
    }

    /// Compiles C, with those arguments, into a file of that name.
    pub(crate) fn compile(
        &self,
        name: &str,
        text: &str,
        arguments: &[&str],
    ) -> Result<PathBuf, String> {
        let source = self.work.join(format!("{name}.c"));
        fs::write(&source, text).map_err(|error| format!("{}: {error}", source.display()))?;
        let output = self.work.join(name);
        let mut command = Command::new(COMPILER);
        command.current_dir(&self.work).args(["-x", "c"]).arg(&source).args(["-x", "none"]);
        command.args(arguments).arg("-o").arg(&output);
        compiled(command).map(|()| output)
    }

    /// Runs a program with our library in front of AMD's.
    pub(crate) fn run(
        &self,
        program: &Path,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Result<Outcome, String> {
        let mut command = Command::new(program);
        command.args(arguments);
        // cargo's own folders would put whatever lies there in front of the vendor's library.
        command.env("LD_LIBRARY_PATH", self.work.join("front"));
        command.envs(environment.iter().copied());
        finished(command)
    }
}

/// The library that cargo built for this test.
fn our_library() -> PathBuf {
    let test = std::env::current_exe().expect("Linux knows it");
    test.parent().expect("a file has a folder").join("libhsa_emu.so")
}

/// Whether a program is newer than every file that it may be made of.
fn is_newer(program: &Path, folder: &Path) -> bool {
    let modified = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
    let Some(made) = modified(program) else { return false };
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().all(|entry| modified(&entry.path()).is_some_and(|source| source < made))
}

fn compiled(mut command: Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{COMPILER}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)))
}

fn finished(mut command: Command) -> Result<Outcome, String> {
    let fail = |error: std::io::Error| format!("{error}");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(fail)?;
    let stdout = child.stdout.take().map(read_all);
    let stderr = child.stderr.take().map(read_all);
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(fail)? {
            break status;
        }
        if start.elapsed() > TIMEOUT {
            child.kill().map_err(fail)?;
            child.wait().map_err(fail)?;
            return Err(format!("{command:?} hangs"));
        }
        thread::sleep(Duration::from_millis(2));
    };
    let text = |reader: Option<thread::JoinHandle<String>>| {
        reader.and_then(|reader| reader.join().ok()).unwrap_or_default()
    };
    Ok(Outcome { status, stdout: text(stdout), stderr: text(stderr) })
}

fn read_all(mut from: impl std::io::Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is what there is.
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

impl Outcome {
    /// Fails unless the program ended well and says so in its last line.
    pub(crate) fn expect_good(&self, name: &str) -> Result<(), String> {
        let last = self.stdout.lines().last().unwrap_or_default();
        if self.status.success() && last.starts_with(name) && last.contains("bad=0") {
            return Ok(());
        }
        Err(self.to_string())
    }

    /// The signal that ended the program.
    pub(crate) fn signal(&self) -> Option<i32> {
        self.status.signal()
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", self.status)?;
        let tail = |text: &str| {
            let lines: Vec<&str> = text.lines().collect();
            lines[lines.len().saturating_sub(20)..].join("\n")
        };
        writeln!(f, "stdout:\n{}", tail(&self.stdout))?;
        write!(f, "stderr:\n{}", tail(&self.stderr))
    }
}

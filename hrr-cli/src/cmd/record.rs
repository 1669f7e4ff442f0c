//! `hrr record`: starts the program with the recorder in front, and says what was recorded.
//!
//! The program's own output is untouched: everything here goes to stderr.

use std::ffi::{OsStr, OsString};
use std::fs::DirBuilder;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus};

use hrr_runtime::library;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::origin::WithOrigin;
use signal_hook::low_level::siginfo::Cause;

use crate::args::RecordArgs;
use crate::failure::{Failure, INTERNAL, NO_PATH, NO_PROGRAM, NO_RUNTIME, NOT_EXECUTABLE};
use crate::program::{self, Facts};
use crate::runtime::{self, Runtime};
use crate::say::{note, warn};
use crate::summary;

/// The names of the runtime compiler, which the emulated GPU has in the same library.
const COMPILER_NAMES: [&str; 4] =
    ["libhiprtc.so", "libhiprtc.so.5", "libhiprtc.so.6", "libhiprtc.so.7"];

pub(crate) fn run(args: &RecordArgs) -> Result<ExitCode, Failure> {
    let (name, arguments) = args.program.split_first().expect("clap requires a program");
    let path = program::find(name, std::env::var_os("PATH").as_deref())?;
    let facts = program::examine(&path);
    let output = Output::plan(args.output.as_deref(), &path)?;
    let preload = library::own(library::PRELOAD)
        .map_err(|missing| Failure::new(NO_RUNTIME, missing.to_string()))?;
    let front = runtime::to_put_in_front(args.runtime.as_ref(), &path)?;
    let folder = Folder::make(&preload, front.as_ref())?;
    let forward = Signals::catch()?;
    output.make()?;
    announce(&facts, front.as_ref());

    let mut command = Command::new(&path);
    command.args(arguments).env("HRR_RECORD", &output.path);
    use std::os::unix::process::CommandExt as _;
    command.arg0(name);
    folder.set(&mut command);
    if facts.address_sanitizer {
        allow_preloading_before_asan(&mut command);
    }
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            output.remove_if_empty();
            return Err(not_started(&path, &error));
        }
    };
    let status = forward.until_end_of(child)?;
    report(&output, &facts, front.as_ref());
    Ok(exit_code(status))
}

fn announce(facts: &Facts, front: Option<&Runtime>) {
    for obstacle in &facts.obstacles {
        warn(&format!("{obstacle}; its calls will not be recorded"));
    }
    match front {
        None => note("runtime: the program's own"),
        Some(front) => note(&format!("runtime: {front}")),
    }
}

fn not_started(path: &Path, error: &std::io::Error) -> Failure {
    let code = match error.kind() {
        std::io::ErrorKind::NotFound => NO_PROGRAM,
        _other => NOT_EXECUTABLE,
    };
    Failure::new(
        code,
        format!(
            "{}: cannot be started: {error}; check the program and its interpreter",
            path.display()
        ),
    )
}

/// AddressSanitizer's runtime stops a program in which another library was loaded before it.
fn allow_preloading_before_asan(command: &mut Command) {
    let mut options = std::env::var_os("ASAN_OPTIONS").unwrap_or_default();
    if !options.is_empty() {
        options.push(":");
    }
    options.push("verify_asan_link_order=0");
    command.env("ASAN_OPTIONS", options);
}

/// Where the archive will be.
struct Output {
    path: PathBuf,
}

impl Output {
    fn plan(asked: Option<&Path>, program: &Path) -> Result<Output, Failure> {
        let path = match asked {
            Some(path) => path.to_owned(),
            None => {
                let mut name = program.file_name().unwrap_or(OsStr::new("program")).to_owned();
                name.push(".hrr");
                PathBuf::from(name)
            }
        };
        if path.symlink_metadata().is_ok() {
            return Err(Failure::new(
                NO_PATH,
                format!("{}: exists already; remove it, or name another with -o", path.display()),
            ));
        }
        // The program may change its folder.
        let path = std::path::absolute(&path).map_err(|error| {
            Failure::new(NO_PATH, format!("{}: {error}; name a path with -o", path.display()))
        })?;
        Ok(Output { path })
    }

    fn make(&self) -> Result<(), Failure> {
        DirBuilder::new().mode(0o700).create(&self.path).map_err(|error| {
            let next = "name a path in a folder that exists and can be written with -o";
            Failure::new(
                NO_PATH,
                format!("{}: cannot be made: {error}; {next}", self.path.display()),
            )
        })
    }

    /// Whether nothing was recorded; an archive of nothing is not left behind.
    fn remove_if_empty(&self) -> bool {
        // The system refuses for a folder that holds something.
        std::fs::remove_dir(&self.path).is_ok()
    }
}

/// A private folder whose names lead to our libraries, for the time of the program.
struct Folder {
    // Held for its end, at which it removes the links.
    _links: tempfile::TempDir,
    preload: PathBuf,
    runtime: Option<PathBuf>,
}

impl Folder {
    fn make(preload: &Path, front: Option<&Runtime>) -> Result<Folder, Failure> {
        let failed = |error: std::io::Error| {
            let next = "set TMPDIR to a folder that can be written";
            Failure::new(INTERNAL, format!("cannot make a temporary folder: {error}; {next}"))
        };
        let links = tempfile::Builder::new().prefix("hrr-").tempdir().map_err(failed)?;
        // LD_PRELOAD is a list that spaces and colons divide, so the library gets a plain name.
        let link = links.path().join(library::PRELOAD);
        symlink(preload, &link).map_err(failed)?;
        if link.as_os_str().as_bytes().iter().any(|byte| matches!(byte, b' ' | b':')) {
            let next = "set TMPDIR to a folder without spaces and colons in its path";
            return Err(Failure::new(
                INTERNAL,
                format!("{} cannot be preloaded; {next}", link.display()),
            ));
        }
        let mut runtime = None;
        if let Some(front) = front {
            let folder = links.path().join("runtime");
            std::fs::create_dir(&folder).map_err(failed)?;
            let compiler: &[&str] = if front.emulated { &COMPILER_NAMES } else { &[] };
            let names = library::RUNTIME_NAMES.map(|(_, name)| name);
            for name in names.iter().chain(compiler) {
                symlink(&front.path, folder.join(name)).map_err(failed)?;
            }
            if let Some(hsa) = &front.hsa {
                symlink(hsa, folder.join(library::HSA_NAME)).map_err(failed)?;
            }
            runtime = Some(folder);
        }
        Ok(Folder { _links: links, preload: link, runtime })
    }

    fn set(&self, command: &mut Command) {
        command.env("LD_PRELOAD", in_front(&self.preload, "LD_PRELOAD"));
        if let Some(runtime) = &self.runtime {
            command.env("LD_LIBRARY_PATH", in_front(runtime, "LD_LIBRARY_PATH"));
        }
    }
}

/// A path in front of what a variable holds.
fn in_front(path: &Path, variable: &str) -> OsString {
    let mut list = path.as_os_str().to_owned();
    if let Some(rest) = std::env::var_os(variable).filter(|rest| !rest.is_empty()) {
        list.push(":");
        list.push(rest);
    }
    list
}

/// The signals that are passed on. Those of the terminal reach the program by themselves, since it
/// is in the same process group.
struct Signals {
    caught: SignalsInfo<WithOrigin>,
}

impl Signals {
    /// Catches signals from before the start, so that none ends this process alone.
    fn catch() -> Result<Signals, Failure> {
        let wanted = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];
        // An ignored signal stays ignored, for the program too: `nohup` relies on it.
        let caught: Vec<_> = wanted.into_iter().filter(|signal| !ignored(*signal)).collect();
        let caught = SignalsInfo::new(&caught).map_err(|error| {
            Failure::new(INTERNAL, format!("cannot catch signals: {error}; try again"))
        })?;
        Ok(Signals { caught })
    }

    fn until_end_of(mut self, mut child: Child) -> Result<ExitStatus, Failure> {
        let id = i32::try_from(child.id()).expect("the system's process numbers are an int");
        let pid = rustix::process::Pid::from_raw(id).expect("a child has a number above 0");
        let handle = self.caught.handle();
        let thread = std::thread::spawn(move || {
            for origin in &mut self.caught {
                let from_program = origin.process.as_ref().is_some_and(|from| from.pid == id);
                if matches!(origin.cause, Cause::Sent(_))
                    && !from_program
                    && let Some(signal) = rustix::process::Signal::from_named_raw(origin.signal)
                {
                    // A program that has just ended needs no signal.
                    let _ = rustix::process::kill_process(pid, signal);
                }
            }
        });
        let status = child.wait();
        handle.close();
        // The thread panics nowhere, and the status is known already.
        let _ = thread.join();
        status.map_err(|error| {
            Failure::new(INTERNAL, format!("cannot wait for the program: {error}; see `ps`"))
        })
    }
}

fn ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: a null action asks only; the struct is written if the call succeeds, and all bits
    // zero are a valid struct if it does not.
    let action = unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr());
        action.assume_init()
    };
    action.sa_sigaction == libc::SIG_IGN
}

/// As a shell says it.
fn exit_code(status: ExitStatus) -> ExitCode {
    let code = match (status.code(), status.signal()) {
        (Some(code), _) => code,
        (None, Some(signal)) => 128 + signal,
        (None, None) => i32::from(INTERNAL),
    };
    // A status is 8 bits wide, and signals end at 64.
    ExitCode::from(u8::try_from(code).unwrap_or(INTERNAL))
}

fn report(output: &Output, facts: &Facts, front: Option<&Runtime>) {
    if output.remove_if_empty() {
        warn("no HIP call was seen; nothing was recorded");
        for obstacle in &facts.obstacles {
            note(&format!("the reason may be: {obstacle}"));
        }
        return;
    }
    summary::after_recording(&output.path, front);
}

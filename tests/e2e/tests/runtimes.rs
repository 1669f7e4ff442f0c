//! Goal: a runtime that cannot be is refused by one clear line and exit status 69, before the
//! program starts, and nothing is written.
//! Method: stubs of `libamdhip64` with each defect are built, or put where the real one is, and
//! programs are recorded with them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use e2e::programs::PROGRAMS;
use e2e::{
    VENDOR, ensure, hip_compiler, hrr, missing_compiler, release_dir, replay, text, trial,
    trial_unless,
};
use libtest_mimic::{Arguments, Failed, Trial};

const NO_RUNTIME: i32 = 69;

/// What any stub has.
const STUB: &str = "
    int hipGetDeviceCount(int* count) { *count = 1; return 0; }
    int hipRuntimeGetVersion(int* version) { *version = 50221153; return 0; }";

/// Compiles C to a library of that name in a folder of its own.
fn stub(folder: &Path, name: &str, source: &str, arguments: &[&str]) -> Result<PathBuf, Failed> {
    std::fs::create_dir_all(folder)?;
    let code = folder.join("stub.c");
    std::fs::write(&code, source)?;
    let library = folder.join(name);
    let output = Command::new("clang-15")
        .args(["-shared", "-fPIC", &format!("-Wl,-soname,{name}")])
        .arg(&code)
        .args(arguments)
        .arg("-o")
        .arg(&library)
        .output()?;
    ensure(output.status.success(), || text(&output.stderr))?;
    Ok(library)
}

/// A HIP program.
fn program() -> Result<PathBuf, Failed> {
    PROGRAMS[0].compiled()
}

/// `hrr record` of a HIP program with a runtime.
fn record(output: &Path, runtime: &OsStr) -> Result<Command, Failed> {
    let mut command = Command::new(hrr());
    command.arg("record").arg("-o").arg(output).arg("--runtime").arg(runtime);
    command.arg("--").arg(program()?);
    Ok(command)
}

/// The program did not start, nothing was written, and the last of `lines` lines says why.
fn refused(output: &Output, archive: &Path, lines: usize, words: &[&str]) -> Result<(), Failed> {
    let said = text(&output.stderr);
    ensure(output.status.code() == Some(NO_RUNTIME), || format!("{}\n{said}", output.status))?;
    ensure(output.stdout.is_empty(), || format!("the program ran: {}", text(&output.stdout)))?;
    ensure(!archive.exists(), || "a refused recording left a folder".to_owned())?;
    ensure(said.lines().count() == lines, || format!("not {lines} lines: {said}"))?;
    let last = said.lines().last().unwrap_or_default();
    ensure(last.starts_with("hrr: "), || format!("not by hrr: {said}"))?;
    let lacks = words.iter().find(|word| !said.contains(**word));
    ensure(lacks.is_none(), || format!("it lacks {lacks:?}: {said}"))
}

/// Libraries by path that are none.
fn no_library() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let here = |name: &str| folder.path().join(name);
    let archive = here("o.hrr");
    std::fs::create_dir(here("folder"))?;
    std::fs::write(here("text"), "this is a text of some length, and no library at all\n")?;
    std::fs::write(here("empty"), "")?;
    let mut narrow = b"\x7fELF\x01\x01\x01".to_vec();
    narrow.resize(200, 0);
    std::fs::write(here("narrow"), narrow)?;
    std::fs::copy(program()?, here("program"))?;
    let cases = [
        ("folder", "it is a folder"),
        ("text", "it is no library"),
        ("empty", "it is no library"),
        ("narrow", "it is a 32-bit file"),
        ("absent", "No such file"),
    ];
    for (name, what) in cases {
        let output = record(&archive, here(name).as_os_str())?.output()?;
        refused(&output, &archive, 1, &[name, what, "`emu` for the emulated GPU"])?;
    }
    let math = OsStr::new("/lib/x86_64-linux-gnu/libm.so.6");
    let output = record(&archive, math)?.output()?;
    refused(&output, &archive, 1, &["libm.so.6", "it has no function of HIP"])?;
    // The user may be one whom no file is closed to.
    let closed = here("closed");
    std::fs::write(&closed, "")?;
    let mut mode = closed.metadata()?.permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0);
    std::fs::set_permissions(&closed, mode)?;
    let what = match std::fs::read(&closed) {
        Ok(_) => "it is no library",
        Err(_) => "Permission denied",
    };
    let output = record(&archive, closed.as_os_str())?.output()?;
    refused(&output, &archive, 1, &["closed", what])
}

/// A library of other versions is refused by the version; one of none is taken, and what it lacks
/// is named.
fn versions() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let archive = folder.path().join("o.hrr");
    let map = folder.path().join("other.map");
    std::fs::write(&map, "other_1 { global: *; };")?;
    let script = format!("-Wl,--version-script={}", map.display());
    let name = "libamdhip64.so.5";
    let other = stub(&folder.path().join("other"), name, STUB, &[&script])?;
    let output = record(&archive, other.as_os_str())?.output()?;
    refused(&output, &archive, 1, &[name, "it lacks the version hip_4.2", "saxpy asks for"])?;
    let plain = stub(&folder.path().join("plain"), name, STUB, &[])?;
    let output = record(&archive, plain.as_os_str())?.output()?;
    let said = text(&output.stderr);
    // The program's own status: its first call that the stub lacks fails.
    ensure(output.status.code() == Some(1), || format!("{}\n{said}", output.status))?;
    ensure(said.contains("the runtime has no hipMalloc\n"), || said.clone())
}

/// A vendor's runtime that asks for more of HSA than there is, and one that asks for nothing of it.
fn needs() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let archive = folder.path().join("o.hrr");
    // The newest is looked for first.
    let name = "libamdhip64.so.7";
    let source = "
        int hsa_init(void); void hsa_amd_vmem_map(void); void hsa_amd_not_yet(void);
        void never(void) { hsa_amd_vmem_map(); hsa_amd_not_yet(); }
        int hipGetDeviceCount(int* count) {
            *count = hsa_init() == 0;
            return *count ? 0 : 100;
        }";
    let hsa = release_dir().join("libhsa_emu.so");
    let hsa = hsa.to_str().ok_or("a path is UTF-8")?;
    let lazy = [hsa, "-Wl,-z,lazy", "-Wl,--unresolved-symbols=ignore-all"];
    let newer = folder.path().join("newer");
    stub(&newer, name, source, &lazy)?;
    let output = record(&archive, "amd-emu".as_ref())?.env("LD_LIBRARY_PATH", &newer).output()?;
    let words =
        [name, "needs HSA functions that are missing here", "hsa_amd_vmem_map", "hsa_amd_not_yet"];
    refused(&output, &archive, 2, &words)
}

/// Where AMD's library is not installed at all: its folder is shown without it, to this command
/// alone.
fn absent() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let archive = folder.path().join("o.hrr");
    let libraries = Path::new(VENDOR).parent().ok_or("a file has a folder")?;
    let (original, shown) = (folder.path().join("original"), folder.path().join("shown"));
    std::fs::create_dir(&original)?;
    std::fs::create_dir(&shown)?;
    for entry in std::fs::read_dir(libraries)? {
        let name = entry?.file_name();
        if !name.to_string_lossy().starts_with("libamdhip64") {
            std::os::unix::fs::symlink(original.join(&name), shown.join(&name))?;
        }
    }
    let command = record(&archive, "amd-emu".as_ref())?;
    let output = Command::new("unshare")
        // cargo's own folders have a libamdhip64 too, which is ours.
        .env_remove("LD_LIBRARY_PATH")
        .args(["--mount", "/bin/sh", "-c", HIDE, "sh"])
        .args([libraries, &original, &shown])
        .arg(command.get_program())
        .args(command.get_args())
        .output()?;
    refused(&output, &archive, 1, &["there is no libamdhip64 on this machine", "`emu`"])
}

/// Shows the third folder in the place of the first, which is seen in the second.
const HIDE: &str = r#"
    mount --bind "$1" "$2" && mount --bind "$3" "$1" && shift 3 && exec "$@""#;

/// Why nothing can be hidden here, if so.
fn cannot_hide() -> Option<&'static str> {
    let made = Command::new("unshare")
        .args(["--mount", "/bin/sh", "-c", "mount --bind /tmp /mnt"])
        .output();
    let made = made.is_ok_and(|output| output.status.success());
    (!made).then_some("this user may not mount, so AMD's library cannot be hidden")
}

/// A runtime that ends the process under a replay: there is a report of what was reached.
fn crashes() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let archive = folder.path().join("o.hrr");
    let recorded = record(&archive, "emu".as_ref())?.output()?;
    ensure(recorded.status.success(), || text(&recorded.stderr))?;
    for (name, signal, how) in [
        ("null", "SIGSEGV", "*(volatile int*)0 = 1;"),
        ("abort", "SIGABRT", "abort();"),
        ("elsewhere", "SIGABRT", "pthread_t t; pthread_create(&t, 0, die, 0); for (;;) sleep(1);"),
    ] {
        let source = format!(
            "#include <pthread.h>
            #include <stdlib.h>
            #include <unistd.h>
            {STUB}
            static void* die(void* data) {{ abort(); }}
            int hipMalloc(void** at, size_t bytes) {{ {how} return 0; }}"
        );
        let runtime = stub(&folder.path().join(name), "libamdhip64.so", &source, &["-lpthread"])?;
        let runtime = runtime.to_str().ok_or("a path is UTF-8")?;
        let replayed = replay(&archive, runtime, 1, &[])?;
        let shown = || replayed.report.to_string();
        replayed.assert_status(1)?;
        ensure(replayed.report["ended"] == signal, shown)?;
        ensure(replayed.number("not_reached")? > 0, shown)?;
        let findings = replayed.report["findings"].as_array().ok_or_else(shown)?;
        let stuck = findings.iter().find(|finding| finding["kind"] == "stuck");
        ensure(stuck.is_some_and(|stuck| stuck["function"] == "hipMalloc"), shown)?;
    }
    Ok(())
}

/// Launches a kernel of its own, and loads the module that it is given.
const NEWER: &str = r#"
    #include <hip/hip_runtime.h>
    #include <cstdio>
    __global__ void one(int* to) { *to = 1; }
    int main(int, char** arguments) {
        hipModule_t module;
        printf("load %d\n", hipModuleLoad(&module, arguments[1]));
        int* memory;
        if (hipMalloc((void**)&memory, 4)) return 5;
        one<<<1, 1>>>(memory);
        printf("launch %d\n", hipGetLastError());
        int value = 0;
        hipMemcpy(&value, memory, 4, hipMemcpyDeviceToHost);
        return value == 1 ? 0 : 17;
    }"#;

/// Code objects that AMD's loader refuses: the program gets its answer and keeps its status, and
/// the recording and a replay say why.
fn newer_code() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let source = folder.path().join("newer.hip.cpp");
    std::fs::write(&source, NEWER)?;
    let compile = |name: &str, more: &[&str]| -> Result<PathBuf, Failed> {
        let built = folder.path().join(name);
        let mut command = hip_compiler();
        command.arg("-mcode-object-version=5").arg(&source).args(more).arg("-o").arg(&built);
        let output = command.output()?;
        ensure(output.status.success(), || text(&output.stderr))?;
        Ok(built)
    };
    let program = compile("newer", &["-lamdhip64"])?;
    let module = compile("newer.co", &["--cuda-device-only", "--no-gpu-bundle-output"])?;
    let why = "a code object of version 5 is recorded, and HIP 5.2 loads none newer than version 4";
    let record = |runtime: &str| -> Result<(PathBuf, Output), Failed> {
        let archive = folder.path().join(format!("{runtime}.hrr"));
        let mut command = Command::new(hrr());
        command.args(["record", "--runtime", runtime, "-o"]).arg(&archive).arg("--");
        let output = command.arg(&program).arg(&module).output()?;
        Ok((archive, output))
    };
    let (archive, output) = record("amd-emu")?;
    let said = text(&output.stderr);
    ensure(output.status.code() == Some(17), || format!("{}\n{said}", output.status))?;
    ensure(output.stdout == b"load 303\nlaunch 98\n", || text(&output.stdout))?;
    ensure(said.lines().filter(|line| line.contains(why)).count() == 1, || said.clone())?;
    replay(&archive, "amd-emu", 1, &[])?.assert_faithful()?;
    let (archive, output) = record("emu")?;
    let said = text(&output.stderr);
    ensure(output.status.code() == Some(0), || format!("{}\n{said}", output.status))?;
    ensure(!said.contains(why), || said.clone())?;
    let replayed = replay(&archive, "amd-emu", 1, &[])?;
    replayed.assert_status(1)?;
    let first = replayed.report["findings"][0]["reason"].as_str().unwrap_or_default();
    ensure(first.starts_with(why), || replayed.report.to_string())
}

fn main() {
    let arguments = Arguments::from_args();
    let vendor = (!Path::new(VENDOR).exists())
        .then_some("AMD's runtime is not installed (apt: libamdhip64-5)");
    let trials: Vec<Trial> = vec![
        trial("no_library", no_library),
        trial("versions", versions),
        trial("crashes", crashes),
        trial_unless("needs", missing_compiler().or(vendor), needs),
        trial_unless("newer_code", missing_compiler().or(vendor), newer_code),
        trial_unless("absent", missing_compiler().or(vendor).or_else(cannot_hide), absent),
    ];
    libtest_mimic::run(&arguments, trials).exit();
}

//! Goal: programs built by a real HIP compiler run, unchanged, with any seed. Method: each
//! program of tests/programs checks its own results; it is compiled with Debian's clang and run
//! with this library in the place of AMD's.

mod hip;

use std::path::{Path, PathBuf};
use std::process::Command;

const COMPILER: &str = "clang++-15";
const BITCODE: &str = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode";

/// A folder with the library under the names that programs ask for.
fn library_folder(scratch: &Path) -> PathBuf {
    let folder = scratch.join("lib");
    std::fs::create_dir_all(&folder).unwrap();
    for name in ["libamdhip64.so", "libamdhip64.so.5", "libamdhip64.so.6", "libamdhip64.so.7"] {
        let link = folder.join(name);
        // One that leads nowhere is of a build that was moved.
        if !link.exists() {
            let _ = std::fs::remove_file(&link);
            std::os::unix::fs::symlink(hip::library_path(), link).unwrap();
        }
    }
    folder
}

/// The program, or `None`, said aloud, where there is no compiler for it.
fn build(what: &Built, scratch: &Path, library: &Path) -> Option<PathBuf> {
    let Built { folder, name, version } = what;
    if !Path::new(BITCODE).exists() || Command::new(COMPILER).arg("--version").output().is_err() {
        eprintln!("skipped: {COMPILER} and the device libraries are needed to build {name}");
        return None;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests").join(folder);
    let program = scratch.join(what.to_string());
    let output = Command::new(COMPILER)
        .args(["-x", "hip", "--offload-arch=gfx90a", "--rocm-path=/usr", "-std=c++17", "-O2"])
        .arg(format!("-mcode-object-version={version}"))
        .arg(format!("--rocm-device-lib-path={BITCODE}"))
        .arg("-D__HIP_PLATFORM_AMD__")
        .arg(source.join(format!("{name}.hip.cpp")))
        .arg("-o")
        .arg(&program)
        .arg(format!("-L{}", library.display()))
        .arg("-lamdhip64")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}

/// A program of ours, and the version of code objects that it is built for.
struct Built {
    folder: &'static str,
    name: &'static str,
    version: u32,
}

impl std::fmt::Display for Built {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-v{}", self.name, self.version)
    }
}

fn run(name: &'static str) {
    run_built(&Built { folder: "programs", name, version: 4 });
}

/// Kernels of version 5 find what the runtime does for them elsewhere. What is only run so here,
/// the end-to-end tests run with version 4.
fn run_version_5(folder: &'static str, name: &'static str) {
    run_built(&Built { folder, name, version: 5 });
}

fn run_built(what: &Built) {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("programs-{what}"));
    std::fs::create_dir_all(&scratch).unwrap();
    let library = library_folder(&scratch);
    let Some(program) = build(what, &scratch, &library) else { return };
    for seed in ["1", "77", "123456789"] {
        let output = Command::new(&program)
            .env("LD_LIBRARY_PATH", &library)
            .env("HIP_EMU_SEED", seed)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("bad=0"), "{what}, seed {seed}: {text}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{what}, seed {seed}");
    }
}

#[test]
fn saxpy() {
    run("saxpy");
}

#[test]
fn symbol() {
    run("symbol");
}

#[test]
fn graph() {
    run("graph");
}

#[test]
fn managed() {
    run("managed");
}

#[test]
fn streams() {
    run("streams");
}

#[test]
fn what_is_missing_is_named() {
    run("missing");
}

#[test]
fn kernels_print() {
    run_version_5("workloads", "printf_streams");
}

#[test]
fn kernels_assert() {
    run_version_5("workloads", "assert");
}

#[test]
fn kernels_allocate() {
    run_version_5("workloads", "malloc");
}

#[test]
fn kernels_call_the_host() {
    run("hostcall");
    run_version_5("programs", "hostcall");
}

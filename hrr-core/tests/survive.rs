//! What a recording survives: the death of the program, forks, full disks, limits.

#![allow(
    clippy::undocumented_unsafe_blocks,
    clippy::missing_safety_doc,
    missing_docs,
    non_snake_case,
    unreachable_pub,
    unsafe_op_in_unsafe_fn,
    reason = "the fake runtime and its calls are this file's own"
)]

#[macro_use]
mod support;

use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};

use hrr_core::archive::FindingKind;
use hrr_core::archive::reader::Archive;
use hrr_core::arg::Payload;
use hrr_core::desc::{ApiDesc, Compare, Len, Role};
use hrr_core::{capture, loader};

const U64: Role = Role::Scalar(<u64 as Payload>::PAYLOAD);

declare!(API_COUNT, fakeCount(thread: u64 = U64, call: u64 = U64) -> i32);
declare!(API_FILL, fakeFill(
    out: *mut u8 = Role::HostOut { bytes: Len::Param(1), compare: Compare::Exact },
    bytes: u64 = U64,
    first: u64 = U64) -> i32);

/// Where the fake runtime of the killed test counts, in memory that outlives its process.
static COUNTERS: AtomicU64 = AtomicU64::new(0);

unsafe extern "C-unwind" fn real_count(thread: u64, call: u64) -> i32 {
    let counters = COUNTERS.load(Ordering::Relaxed) as *const AtomicU64;
    if !counters.is_null() {
        unsafe { &*counters.add(thread as usize) }.store(call + 1, Ordering::Relaxed);
    }
    0
}
unsafe extern "C-unwind" fn real_fill(out: *mut u8, bytes: u64, first: u64) -> i32 {
    for i in 0..bytes as usize {
        unsafe { *out.add(i) = (first as usize + i) as u8 };
    }
    unsafe { out.cast::<u64>().write_unaligned(first) };
    0
}

fn resolve(api: &'static ApiDesc) -> *const () {
    match api.name.to_str() {
        Ok("fakeCount") => real_count as *const (),
        Ok("fakeFill") => real_fill as *const (),
        _ => core::ptr::null(),
    }
}

fn start_inside(dir: &Path) -> capture::Recording {
    loader::set_resolver(resolve);
    capture::start(dir).unwrap()
}

/// Maps the file in which the killed process counts the calls that reached the runtime.
fn map_counters(path: &Path) -> *const AtomicU64 {
    use std::os::fd::AsRawFd;
    let file = fs::File::options().read(true).write(true).create(true).truncate(false).open(path);
    let file = file.unwrap();
    file.set_len(4096).unwrap();
    let flags = libc::MAP_SHARED;
    let prot = libc::PROT_READ | libc::PROT_WRITE;
    let mapped =
        unsafe { libc::mmap(core::ptr::null_mut(), 4096, prot, flags, file.as_raw_fd(), 0) };
    assert_ne!(mapped, libc::MAP_FAILED);
    mapped.cast()
}

#[test]
fn a_kill_loses_at_most_one_call_of_each_thread() {
    const TEST: &str = "a_kill_loses_at_most_one_call_of_each_thread";
    if let Some(dir) = support::inside() {
        COUNTERS.store(map_counters(&dir.join("counters")) as u64, Ordering::Relaxed);
        let recording = start_inside(&dir.join("archive"));
        let threads = [0u64, 1].map(|thread| {
            std::thread::spawn(move || {
                for call in 0.. {
                    unsafe { fakeCount(thread, call) };
                }
            })
        });
        writeln!(std::io::stdout(), "counting").unwrap();
        for thread in threads {
            thread.join().unwrap();
        }
        drop(recording);
        return;
    }
    for round in 0..12u64 {
        let dir = tempfile::tempdir().unwrap();
        let mut child = support::again(TEST, dir.path()).stdout(Stdio::piped()).spawn().unwrap();
        let mut seen = Vec::new();
        let mut stdout = child.stdout.take().unwrap();
        while !String::from_utf8_lossy(&seen).contains("counting") {
            let mut byte = [0];
            stdout.read_exact(&mut byte).unwrap();
            seen.push(byte[0]);
        }
        std::thread::sleep(std::time::Duration::from_micros(300 + round * round * 900));
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
        let counters = map_counters(&dir.path().join("counters"));
        let archive = Archive::open(&dir.path().join("archive")).unwrap();
        let process = &archive.processes()[0];
        assert!(!process.complete());
        let kinds: Vec<FindingKind> = process.verify().iter().map(|finding| finding.kind).collect();
        assert!(kinds.iter().all(|kind| *kind == FindingKind::Cut), "{:?}", process.verify());
        let mut seen = [0u64; 2];
        for thread in process.threads() {
            let mut in_flight = 0;
            for (index, event) in process.thread(thread.ordinal).enumerate() {
                let event = event.unwrap();
                assert_eq!(event.id.index, index as u64, "none is lost or doubled");
                let of = u64::from_le_bytes(event.args[..8].try_into().unwrap()) as usize;
                let call = u64::from_le_bytes(event.args[8..].try_into().unwrap());
                assert_eq!(call, index as u64);
                seen[of] = call + 1;
                in_flight += u64::from(event.leave.is_none());
            }
            assert!(in_flight <= 1);
        }
        for (thread, seen) in seen.into_iter().enumerate() {
            let reached = unsafe { &*counters.add(thread) }.load(Ordering::Relaxed);
            assert!(seen >= reached, "thread {thread}: {reached} reached the runtime, {seen} read");
            assert!(seen <= reached + 1);
        }
    }
}

#[test]
fn a_forked_child_has_a_recording_of_its_own() {
    const TEST: &str = "a_forked_child_has_a_recording_of_its_own";
    if let Some(dir) = support::inside() {
        let recording = start_inside(&dir);
        // Another thread records all the time, so that locks may be held at the fork.
        let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let busy = {
            let stop = stop.clone();
            std::thread::spawn(move || {
                let mut out = [0u8; 4000];
                for first in 0.. {
                    unsafe { fakeFill(out.as_mut_ptr(), 4000, first) };
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                }
            })
        };
        unsafe { fakeCount(7, 0) };
        for child in 0..5u64 {
            let pid = unsafe { libc::fork() };
            if pid == 0 {
                if child != 3 {
                    for call in 0..1000 {
                        unsafe { fakeCount(child, call) };
                    }
                }
                // As a program that returns from main: the library's destructor runs.
                unsafe { libc::exit(0) };
            }
            let mut status = 0;
            assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
            assert_eq!(status, 0);
        }
        stop.store(true, Ordering::Relaxed);
        busy.join().unwrap();
        unsafe { fakeCount(7, 1) };
        recording.stop().unwrap();
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let status = support::again(TEST, dir.path()).status().unwrap();
    assert!(status.success(), "{status}");
    let archive = Archive::open(dir.path()).unwrap();
    assert_eq!(archive.findings(), []);
    assert_eq!(archive.processes().len(), 5, "the parent, and four children that made calls");
    for process in archive.processes() {
        assert_eq!(process.verify(), [], "{}", process.name());
        let events = support::events(process);
        let counts = events.iter().filter(|event| support::name(process, event) == "fakeCount");
        let of: Vec<u64> =
            counts.map(|event| u64::from_le_bytes(event.args[..8].try_into().unwrap())).collect();
        if of[0] == 7 {
            assert_eq!(of, [7, 7]);
            assert!(events.len() > 2);
        } else {
            assert_eq!(of, vec![of[0]; 1000]);
            assert_eq!(events.len(), 1000);
        }
    }
}

/// Records until the recorder stops by itself, and a while longer.
fn record_much(dir: &Path) {
    let recording = start_inside(dir);
    let mut out = vec![0u8; 100_000];
    for first in 0..200 {
        unsafe { fakeFill(out.as_mut_ptr(), 100_000, first) };
        assert_eq!(u64::from_le_bytes(out[..8].try_into().unwrap()), first, "the program goes on");
    }
    assert!(!capture::is_running(), "it did not stop");
    drop(recording);
}

fn check_stopped(dir: &Path, stderr: &[u8]) {
    let stderr = String::from_utf8_lossy(stderr);
    let lines = stderr.lines().filter(|line| line.starts_with("hrr: recording stopped")).count();
    assert_eq!(lines, 1, "{stderr}");
    let archive = Archive::open(dir).unwrap();
    let process = &archive.processes()[0];
    assert!(!process.complete());
    assert!(!process.findings().is_empty());
    let events = support::events(process);
    assert!(!events.is_empty() && events.len() < 200, "{}", events.len());
}

#[test]
fn a_limit_on_file_sizes_stops_the_recording_only() {
    const TEST: &str = "a_limit_on_file_sizes_stops_the_recording_only";
    if let Some(dir) = support::inside() {
        let limit = libc::rlimit { rlim_cur: 4 << 20, rlim_max: 4 << 20 };
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) }, 0);
        return record_much(&dir);
    }
    let dir = tempfile::tempdir().unwrap();
    let output = support::again(TEST, dir.path()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    check_stopped(dir.path(), &output.stderr);
}

#[test]
fn a_limit_too_small_for_anything_records_nothing() {
    const TEST: &str = "a_limit_too_small_for_anything_records_nothing";
    if let Some(dir) = support::inside() {
        let limit = libc::rlimit { rlim_cur: 100_000, rlim_max: 100_000 };
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) }, 0);
        let recording = start_inside(&dir);
        assert_eq!(unsafe { fakeCount(1, 2) }, 0);
        assert!(!capture::is_running());
        drop(recording);
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let output = support::again(TEST, dir.path()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("hrr: recording stopped"));
}

#[test]
fn a_full_disk_stops_the_recording_only() {
    const TEST: &str = "a_full_disk_stops_the_recording_only";
    if let Some(dir) = support::inside() {
        return record_much(&dir);
    }
    let dir = tempfile::tempdir().unwrap();
    let path = std::ffi::CString::new(dir.path().to_str().unwrap()).unwrap();
    let mounted = unsafe {
        libc::mount(
            c"none".as_ptr(),
            path.as_ptr(),
            c"tmpfs".as_ptr(),
            0,
            c"size=6m".as_ptr().cast(),
        )
    };
    if mounted != 0 {
        // Only the superuser may mount; the limit on file sizes shows the same without it.
        assert_ne!(unsafe { libc::geteuid() }, 0, "{}", std::io::Error::last_os_error());
        return;
    }
    let output = support::again(TEST, dir.path()).output().unwrap();
    let checked = std::panic::catch_unwind(|| {
        assert!(output.status.success(), "{output:?}");
        check_stopped(dir.path(), &output.stderr);
    });
    unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH) };
    checked.unwrap();
}

#[test]
fn threads_that_come_and_go_leave_their_events() {
    const TEST: &str = "threads_that_come_and_go_leave_their_events";
    if let Some(dir) = support::inside() {
        let recording = start_inside(&dir);
        for thread in 0..40 {
            let body = move || {
                for call in 0..thread {
                    unsafe { fakeCount(thread, call) };
                }
            };
            std::thread::spawn(body).join().unwrap();
        }
        return recording.stop().unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    assert!(support::again(TEST, dir.path()).status().unwrap().success());
    let archive = Archive::open(dir.path()).unwrap();
    let process = &archive.processes()[0];
    assert_eq!(process.verify(), []);
    assert_eq!(process.event_count(), (0..40).sum::<u64>());
    assert_eq!(support::events(process).len() as u64, process.event_count());
}

#[test]
fn nothing_happens_without_a_call() {
    const TEST: &str = "nothing_happens_without_a_call";
    if support::inside().is_some() {
        loader::set_resolver(resolve);
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("none");
    let run = |value: &Path| {
        let mut command = support::again(TEST, dir.path());
        let output = command.env("HRR_RECORD", value).output().unwrap();
        assert!(output.status.success());
        assert_eq!(output.stderr, b"");
    };
    run(&target);
    assert!(!target.exists());
}

#[test]
fn the_environment_asks_for_a_recording() {
    const TEST: &str = "the_environment_asks_for_a_recording";
    if support::inside().is_some() {
        loader::set_resolver(resolve);
        unsafe { fakeCount(1, 2) };
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    for blank in ["", " "] {
        let mut command = support::again(TEST, dir.path());
        assert!(command.env("HRR_RECORD", blank).status().unwrap().success());
        assert!(!dir.path().join(blank.trim()).join("events").exists());
    }
    let target = dir.path().join("deep/archive");
    let mut command = support::again(TEST, dir.path());
    assert!(command.env("HRR_RECORD", &target).status().unwrap().success());
    let archive = Archive::open(&target).unwrap();
    let process = &archive.processes()[0];
    assert!(process.complete(), "sealed by the destructor: {:?}", process.findings());
    assert_eq!(support::events(process).len(), 1);
    use std::os::unix::fs::PermissionsExt;
    let folder = target.join(process.name());
    assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    for file in support::folders(&folder) {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}

/// The program closes every descriptor, as a daemon does, and opens a file of its own under the
/// numbers that the recorder had: its file stays as it is, and the recording goes on.
#[test]
fn closed_descriptors_are_not_taken_from_the_program() {
    const TEST: &str = "closed_descriptors_are_not_taken_from_the_program";
    const CALLS: u64 = 100_000;
    if let Some(dir) = support::inside() {
        let recording = start_inside(&dir);
        unsafe { fakeCount(1, 1) };
        let victim = fs::File::create(dir.join("victim")).unwrap();
        use std::os::fd::AsRawFd;
        let taken: Vec<i32> = fs::read_dir("/proc/self/fd")
            .unwrap()
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|fd| *fd > 2 && *fd != victim.as_raw_fd())
            .collect();
        for fd in taken {
            unsafe { libc::dup2(victim.as_raw_fd(), fd) };
        }
        for call in 1..CALLS {
            unsafe { fakeCount(1, call) };
        }
        return recording.stop().unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    assert!(support::again(TEST, dir.path()).status().unwrap().success());
    assert_eq!(fs::read(dir.path().join("victim")).unwrap(), b"");
    let archive = Archive::open(dir.path()).unwrap();
    let process = &archive.processes()[0];
    assert_eq!(process.verify(), []);
    assert_eq!(process.event_count(), CALLS);
}

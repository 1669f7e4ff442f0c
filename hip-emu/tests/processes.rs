//! Goal: the library does not disturb the life of a process: it starts nothing before it is
//! used, a forked child gets errors, and exit never hangs. Method: this test runs itself again
//! as a child, with a task.

mod hip;

use std::process::{Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use hip::*;
use hrr_ffi::types::*;

const TASK: &str = "HIP_EMU_TEST_TASK";
/// A child that takes longer hangs. Generous: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs one task in a process of its own.
fn run(task: &str, environment: &[(&str, &str)]) -> Output {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env(TASK, task)
        .envs(environment.iter().copied())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < PATIENCE, "{task} hangs");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

fn code(status: ExitStatus) -> Option<i32> {
    status.code()
}

/// What the children do; nothing when the tests run.
#[test]
fn child() {
    match std::env::var(TASK).as_deref() {
        Ok("exit") => exit_with_work_pending(),
        Ok("load") => load_only(),
        Ok("fork") => fork_and_call(),
        Ok("addresses") => print_addresses(),
        Ok("devices") => count_devices(),
        Ok("target") => load_for_target(),
        Ok("fault") => fault(),
        Ok("share") => use_shared_memory(),
        Ok("event") => use_shared_event(),
        Ok(task) => panic!("unknown task {task}"),
        Err(_) => {}
    }
}

fn exit_with_work_pending() {
    let words = pinned(1);
    // Waits for ever.
    for stream in [stream(), non_blocking_stream(), NULL_STREAM] {
        gate(stream, &mut words[0]);
    }
    std::process::exit(7);
}

#[test]
fn exit_does_not_wait_for_work() {
    let output = run("exit", &[]);
    assert_eq!(code(output.status), Some(7));
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

fn load_only() {
    let before = threads();
    let binary = __hipRegisterFatBinary(std::ptr::null());
    ok(hipGetLastError());
    assert_eq!(threads(), before);
    __hipUnregisterFatBinary(binary);
    ok(hipDeviceSynchronize());
    std::process::exit(0);
}

#[test]
fn loading_and_registering_start_nothing_and_say_nothing() {
    let output = run("load", &[]);
    assert_eq!(code(output.status), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

fn fork_and_call() {
    let memory = device_memory(64);
    let stream = stream();
    // SAFETY: the child calls HIP, which must refuse, and leaves by `_exit`.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let mut other = std::ptr::null_mut();
        let answers = [
            hipMalloc(&raw mut other, 64),
            hipMemset(memory, 0, 64),
            hipStreamSynchronize(stream),
            hipDeviceSynchronize(),
            hipFree(memory),
        ];
        let refused = answers.iter().all(|answer| *answer == hipErrorNotInitialized);
        // SAFETY: ends the child without running what belongs to the parent.
        unsafe { libc::_exit(if refused { 0 } else { 1 }) };
    }
    let mut status = 0;
    // SAFETY: the pid is a child of this process; `status` is a live local.
    unsafe { libc::waitpid(pid, &raw mut status, 0) };
    assert_eq!(status, 0);
    ok(hipMemset(memory, 0, 64));
    ok(hipDeviceSynchronize());
    std::process::exit(0);
}

#[test]
fn a_forked_child_gets_errors_and_the_parent_goes_on() {
    let output = run("fork", &[]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(code(output.status), Some(0), "{errors}");
}

fn print_addresses() {
    eprintln!("{:?} {:?}", device_memory(64), stream().0);
    std::process::exit(0);
}

#[test]
fn seeds_decide_addresses_and_handles() {
    let of = |seed: &[(&str, &str)]| run("addresses", seed).stderr;
    let (first, second) = ([("HIP_EMU_SEED", "1")], [("HIP_EMU_SEED", "2")]);
    assert_eq!(of(&first), of(&first));
    assert_ne!(of(&first), of(&second));
    assert_ne!(of(&[]), of(&[]), "random without a seed");
}

fn count_devices() {
    let mut count = -1;
    let answer = hipGetDeviceCount(&raw mut count);
    eprintln!("{answer:?} {count}");
    std::process::exit(0);
}

#[test]
fn the_environment_decides_how_many_devices_there_are() {
    let of = |gpus| run("devices", &[("HIP_EMU_GPUS", gpus)]).stderr;
    assert_eq!(of("3"), b"hipSuccess 3\n");
    assert_eq!(of("0"), b"hipErrorNoDevice 0\n");
}

fn load_for_target() {
    let mut module = hipModule_t::NULL;
    let answers =
        [KERNELS, FOREIGN].map(|image| hipModuleLoadData(&raw mut module, image.as_ptr().cast()));
    eprintln!("{answers:?}");
    std::process::exit(0);
}

#[test]
fn the_environment_decides_the_target() {
    let of = |target| run("target", &[("HIP_EMU_TARGET", target)]).stderr;
    assert_eq!(of("gfx90a"), b"[hipSuccess, hipErrorNoBinaryForGpu]\n");
    assert_eq!(of("gfx906"), b"[hipErrorNoBinaryForGpu, hipSuccess]\n");
    let unknown = String::from_utf8(of("gfx1")).unwrap();
    assert!(unknown.contains("HIP_EMU_TARGET=\"gfx1\" is not understood"), "{unknown}");
}

const HANDLE: &str = "HIP_EMU_TEST_HANDLE";

/// The bytes that the parent handed down.
fn handle() -> [std::ffi::c_char; 64] {
    let text = std::env::var(HANDLE).unwrap();
    let mut bytes = [0; 64];
    for (slot, number) in bytes.iter_mut().zip(text.split(',')) {
        *slot = number.parse().unwrap();
    }
    bytes
}

fn use_shared_memory() {
    let handle = hipIpcMemHandle_t { reserved: handle() };
    let mut memory = std::ptr::null_mut();
    ok(hipIpcOpenMemHandle(&raw mut memory, handle, hipIpcMemLazyEnablePeerAccess));
    assert_eq!(read_words(memory, 16), [40; 16]);
    let module = module(KERNELS);
    ok(launch_add(function(module, c"add"), memory, 2, 16, NULL_STREAM));
    ok(hipDeviceSynchronize());
    assert_eq!(hipFree(memory), hipErrorInvalidValue, "not ours to free");
    ok(hipIpcCloseMemHandle(memory));
    assert_eq!(hipIpcCloseMemHandle(memory), hipErrorInvalidHandle);
    // Handles of no memory.
    for word in [0, 8] {
        let mut wrong = handle;
        wrong.reserved[word] ^= 0x55;
        let answer = hipIpcOpenMemHandle(&raw mut memory, wrong, hipIpcMemLazyEnablePeerAccess);
        assert_eq!(answer, hipErrorInvalidDevicePointer);
    }
    std::process::exit(0);
}

#[test]
fn memory_is_shared_between_processes() {
    let _one = exclusive();
    let memory = device_memory(64);
    ok(hipMemsetD32(memory, 40, 16));
    let mut handle = hipIpcMemHandle_t { reserved: [0; 64] };
    ok(hipIpcGetMemHandle(&raw mut handle, memory));
    let mut other = std::ptr::null_mut();
    let own = hipIpcOpenMemHandle(&raw mut other, handle, hipIpcMemLazyEnablePeerAccess);
    assert_eq!(own, hipErrorInvalidContext, "not in the process that has it already");
    let text: Vec<String> = handle.reserved.iter().map(i8::to_string).collect();
    let output = run("share", &[(HANDLE, &text.join(","))]);
    assert_eq!(code(output.status), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(read_words(memory, 16), [42; 16]);
    ok(hipFree(memory));
}

const SIGN: &str = "HIP_EMU_TEST_SIGN";

fn use_shared_event() {
    let handle = hipIpcEventHandle_t { reserved: handle() };
    let mut event = hipEvent_t::NULL;
    ok(hipIpcOpenEventHandle(&raw mut event, handle));
    let stream = stream();
    ok(hipStreamWaitEvent(stream, event, 0));
    // The other process's work goes on when it sees the sign.
    assert_eq!(hipEventQuery(event), hipErrorNotReady);
    assert_eq!(hipStreamQuery(stream), hipErrorNotReady);
    std::fs::write(std::env::var(SIGN).unwrap(), "").unwrap();
    ok(hipEventSynchronize(event));
    ok(hipEventQuery(event));
    ok(hipStreamSynchronize(stream));
    // An event that was opened can be handed on, and stands for the same.
    let mut again = hipIpcEventHandle_t { reserved: [0; 64] };
    ok(hipIpcGetEventHandle(&raw mut again, event));
    assert_eq!(again.reserved, handle.reserved);
    let mut second = hipEvent_t::NULL;
    ok(hipIpcOpenEventHandle(&raw mut second, again));
    let words = pinned(1);
    gate(stream, &mut words[0]);
    ok(hipEventRecord(event, stream));
    assert_eq!(hipEventQuery(second), hipErrorNotReady);
    open(&mut words[0]);
    ok(hipEventSynchronize(second));
    ok(hipEventDestroy(second));
    ok(hipEventQuery(event));
    let mut milliseconds = 0.0;
    let time = hipEventElapsedTime(&raw mut milliseconds, event, event);
    assert_eq!(time, hipErrorInvalidHandle);
    ok(hipEventDestroy(event));
    // Handles of no event.
    for word in [0, 8] {
        let mut wrong = handle;
        wrong.reserved[word] ^= 0x55;
        assert_eq!(hipIpcOpenEventHandle(&raw mut event, wrong), hipErrorInvalidValue);
    }
    assert_eq!(hipIpcOpenEventHandle(std::ptr::null_mut(), handle), hipErrorInvalidValue);
    std::process::exit(0);
}

#[test]
fn an_event_is_known_in_two_processes() {
    let _one = exclusive();
    let (mut plain, mut event) = (hipEvent_t::NULL, hipEvent_t::NULL);
    let flags = hipEventInterprocess | hipEventDisableTiming;
    assert_eq!(hipEventCreateWithFlags(&raw mut event, hipEventInterprocess), hipErrorInvalidValue);
    ok(hipEventCreateWithFlags(&raw mut event, flags));
    ok(hipEventCreateWithFlags(&raw mut plain, hipEventDisableTiming));
    let mut handle = hipIpcEventHandle_t { reserved: [0; 64] };
    let refused = hipIpcGetEventHandle(&raw mut handle, plain);
    assert_eq!(refused, hipErrorInvalidConfiguration);
    assert_eq!(hipIpcGetEventHandle(std::ptr::null_mut(), event), hipErrorInvalidValue);
    ok(hipIpcGetEventHandle(&raw mut handle, event));
    let own = hipIpcOpenEventHandle(&raw mut plain, handle);
    assert_eq!(own, hipErrorInvalidContext, "not in the process that has it already");
    // Never recorded: nothing to wait for.
    ok(hipEventQuery(event));
    ok(hipEventSynchronize(event));
    let (stream, words) = (stream(), pinned(1));
    gate(stream, &mut words[0]);
    ok(hipEventRecord(event, stream));
    assert_eq!(hipEventQuery(event), hipErrorNotReady);
    let sign = std::env::temp_dir().join(format!("hip-emu-event-{}", std::process::id()));
    let waiting = sign.clone();
    let opener = std::thread::spawn(move || {
        let start = Instant::now();
        while !waiting.exists() && start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
        open(&mut words[0]);
    });
    let text: Vec<String> = handle.reserved.iter().map(i8::to_string).collect();
    let sign_text = sign.to_string_lossy();
    let output = run("event", &[(HANDLE, &text.join(",")), (SIGN, &sign_text)]);
    std::fs::remove_file(&sign).unwrap();
    opener.join().unwrap();
    assert_eq!(code(output.status), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    // The other process recorded it too, and that is complete.
    ok(hipEventQuery(event));
    ok(hipEventSynchronize(event));
    ok(hipEventDestroy(event));
}

fn fault() {
    let module = module(KERNELS);
    let poke = function(module, c"poke");
    ok(launch_one(poke, std::ptr::without_provenance_mut(0x1000), NULL_STREAM));
    assert_eq!(hipDeviceSynchronize(), hipErrorIllegalAddress);
    std::process::exit(0);
}

#[test]
fn a_fault_is_one_line_that_says_where() {
    let output = run("fault", &[("HIP_EMU_SEED", "5")]);
    let line = String::from_utf8(output.stderr).unwrap();
    assert_eq!(code(output.status), Some(0), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
    for part in ["gfx90a", "kernel poke", "0x1000", "pc 0x", "lane 0", "HIP_EMU_SEED=5"] {
        assert!(line.contains(part), "{part} is not in {line}");
    }
}

//! Goal: recording adds nothing that AMD's runtime can see. No call of HSA comes from a thread of
//! the recorder, nor from a wrapper other than by the real call that it wraps; and what a program
//! changes through HSA is the same, in the same order, with and without recording.
//! Method: hsa-emu writes every call with its stack, and every packet (`HSA_EMU_CALLS`). Each
//! program runs once without the recorder and once under it, with one seed. Of the stacks, each
//! frame of `libhrr_preload.so` that AMD's runtime returns to must be the wrapper of the very
//! function that was entered there, called by something else than the recorder. So a call that
//! the recorder made itself is found wherever it makes it; one of the function's own name, from
//! its own wrapper, shows in the order of what it changes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use e2e::programs::{PROGRAMS, Program};
use e2e::{VENDOR, ensure, hrr, release_dir, text, trial_unless};
use libtest_mimic::{Arguments, Failed, Trial};
use object::{Object as _, ObjectSymbol as _};

const PRELOAD: &str = "libhrr_preload.so";
const RUNTIME: &str = "libamdhip64.so.5";
/// The recorder's thread.
const HELPER: &str = "hrr-drain";
const SEED: &str = "1";
/// Even so HIP's calls differ a little from run to run where devices and program race. The
/// recording must be the same as one of this many runs without it; what the recorder adds itself is
/// in none of them.
const RUNS_MAX: usize = 4;

/// What differs between runs of a program so often, with or without recording, that it is left out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Varies {
    Nothing,
    /// The program ends without waiting for its kernels: which packets a queue comes to.
    Packets,
    /// Streams wait for each other while their kernels run: HIP asks to be told of the end of what
    /// has not ended yet, by a barrier, a signal and a handler, or not.
    Flushes,
}

fn varies(program: &Program) -> Varies {
    match program.key().as_str() {
        "workloads/exit" => Varies::Packets,
        "workloads/streams" => Varies::Flushes,
        _other => Varies::Nothing,
    }
}

/// A line of the trace.
#[derive(Debug)]
struct Line {
    process: u32,
    thread: u32,
    name: String,
    call: String,
    /// Innermost first.
    stack: Vec<Frame>,
}

#[derive(Debug)]
struct Frame {
    file: String,
    /// Offset in the file of where the function begins.
    function: u64,
}

impl Line {
    fn parse(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split('\t').collect();
        let [process, thread, name, call, stack] = fields[..] else { return None };
        Some(Self {
            process: process.parse().ok()?,
            thread: thread.parse().ok()?,
            name: name.to_owned(),
            call: call.to_owned(),
            stack: stack.split_whitespace().map(Frame::parse).collect::<Option<_>>()?,
        })
    }
}

impl Frame {
    fn parse(text: &str) -> Option<Self> {
        if text == "?" {
            return Some(Self { file: String::new(), function: 0 });
        }
        let (file, at) = text.rsplit_once('+')?;
        let (_, function) = at.split_once("@0x")?;
        let function = u64::from_str_radix(function, 16).ok()?;
        Some(Self { file: file.to_owned(), function })
    }
}

/// Runs the program, maybe under the recorder, and reads the trace of its processes.
fn trace(program: &Program, is_recorded: bool) -> Result<Vec<Line>, Failed> {
    let folder = tempfile::tempdir()?;
    let calls = folder.path().join("calls");
    let binary = program.compiled()?;
    let mut command = if is_recorded {
        let mut command = Command::new(hrr());
        command.arg("record").arg("-o").arg(folder.path().join("a.hrr"));
        command.args(["--runtime", "amd-emu", "--"]).arg(binary);
        command
    } else {
        symlink(release_dir().join("libhsa_emu.so"), folder.path().join("libhsa-runtime64.so.1"))?;
        let mut command = Command::new(binary);
        // cargo's own folders would put whatever lies there in front of the vendor's library.
        command.env("LD_LIBRARY_PATH", folder.path());
        command
    };
    let gpus = program.gpus.to_string();
    command.env("HIP_EMU_SEED", SEED).env("HSA_EMU_GPUS", gpus).env("HSA_EMU_CALLS", &calls);
    let output = command.output()?;
    let written = std::fs::read_to_string(&calls)
        .map_err(|error| format!("no trace: {error}\n{}", text(&output.stderr)))?;
    let parse = |line| Line::parse(line).ok_or_else(|| format!("not a line of a trace: {line}"));
    let mut lines = written.lines().map(parse).collect::<Result<Vec<_>, _>>()?;
    // `hrr record` looks at the runtime before it starts the program.
    let is_hrr = |line: &Line| line.stack.iter().any(|frame| frame.file == "hrr");
    let ours: BTreeSet<u32> =
        lines.iter().filter(|line| is_hrr(line)).map(|line| line.process).collect();
    lines.retain(|line| !ours.contains(&line.process));
    ensure(lines.len() > 10, || format!("{} lines of a trace", lines.len()))?;
    Ok(lines)
}

/// The functions of a library by where they begin; all their names.
fn functions(path: &Path, exported: bool) -> HashMap<u64, Vec<String>> {
    let bytes = std::fs::read(path).expect("the library is there");
    let file = object::File::parse(&*bytes).expect("it is an ELF file");
    let symbols = if exported { file.dynamic_symbols() } else { file.symbols() };
    let mut found: HashMap<u64, Vec<String>> = HashMap::new();
    for symbol in symbols.filter(|symbol| symbol.is_definition()) {
        let Ok(name) = symbol.name() else { continue };
        found.entry(symbol.address()).or_default().push(name.to_owned());
    }
    found
}

/// Which function of HIP each wrapper of the recorder wraps, by where the wrapper begins.
fn wrappers() -> &'static HashMap<u64, String> {
    static FOUND: OnceLock<HashMap<u64, String>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let all = functions(&release_dir().join(PRELOAD), false);
        let wrapped = |name: &String| {
            let (_, rest) = name.split_once("API_")?;
            Some(rest.split_once("9__wrapper")?.0.to_owned())
        };
        let all = all.into_iter();
        all.filter_map(|(at, names)| Some((at, names.iter().find_map(wrapped)?))).collect()
    })
}

/// What AMD's runtime exports, by where it begins.
fn exports() -> &'static HashMap<u64, Vec<String>> {
    static FOUND: OnceLock<HashMap<u64, Vec<String>>> = OnceLock::new();
    FOUND.get_or_init(|| functions(Path::new(VENDOR), true))
}

/// What is wrong with where a call came from.
fn misplaced(line: &Line) -> Option<String> {
    let stack = &line.stack;
    let file = |index: usize| stack.get(index).map_or("", |frame: &Frame| frame.file.as_str());
    if line.name == HELPER {
        return Some("on the recorder's thread".to_owned());
    }
    if file(0) != RUNTIME {
        return Some("not from AMD's runtime".to_owned());
    }
    let outermost = stack.iter().rfind(|one| !one.file.is_empty() && one.file != "libc.so.6");
    if outermost.is_some_and(|frame| frame.file == PRELOAD) {
        return Some("the stack begins in the recorder".to_owned());
    }
    for index in (1..stack.len()).filter(|index| file(*index) == PRELOAD) {
        if file(index - 1) != RUNTIME {
            // A callback of the program that the recorder calls: whatever is inside of it is
            // looked at by itself. The recorder itself calls nothing that leads to HSA.
            if file(index - 1).starts_with("lib") || file(index - 1).starts_with("ld-") {
                return Some(format!("by way of {}", file(index - 1)));
            }
            continue;
        }
        let Some(wrapped) = wrappers().get(&stack[index].function) else {
            return Some("from the recorder outside of a wrapper".to_owned());
        };
        let entered = exports().get(&stack[index - 1].function);
        if !entered.is_some_and(|names| names.contains(wrapped)) {
            return Some(format!("from the wrapper of {wrapped}, by way of {entered:?}"));
        }
        if file(index + 1) == PRELOAD {
            return Some(format!("the recorder called {wrapped}"));
        }
    }
    None
}

/// Functions of HSA that change nothing, or whose effect is that of a packet: what only looks or
/// waits differs between any two runs.
fn only_looks(call: &str) -> bool {
    let name = call.split('(').next().unwrap_or_default();
    ["_get_info", "_get_info_alt", "_extension_table", "_extension_supported", "_attributes_get"]
        .iter()
        .chain(&["_by_name", "_value_pointer", "_pointer_info", "_status_string", "_time"])
        .any(|end| name.ends_with(end))
        || ["hsa_signal_load_", "hsa_signal_wait_", "hsa_signal_store_", "hsa_signal_silent_"]
            .iter()
            .chain(&["hsa_signal_subtract_", "hsa_signal_add_", "hsa_queue_load_"])
            .chain(&["hsa_queue_add_write_index_", "hsa_agent_iterate_", "hsa_iterate_agents"])
            .chain(&["hsa_amd_agent_iterate_"])
            .any(|begin| name.starts_with(begin))
}

/// What a line changes, without what differs between any two runs of HIP 5.2.3.
///
/// HIP leaves out the wait for a signal that it has seen complete, which is a matter of time:
/// how many signals a copy or a barrier waits for, and barriers that do nothing but wait. And it
/// locks whole pages around memory of the program, so that size and offset say where in its page
/// that memory lies, which is the heap's matter.
fn change(call: &str) -> Option<String> {
    if only_looks(call) {
        return None;
    }
    let words =
        |text: &str, at: &str| text.split_once(at).map(|(a, b)| (a.to_owned(), b.to_owned()));
    if let Some((before, after)) = words(call, " barrier-and ") {
        let (_, completes) = words(&after, " ").unwrap_or_default();
        let is_idle = completes == "completes none";
        return (!is_idle).then(|| format!("{before} barrier-and {completes}"));
    }
    let (name, rest) = words(call, "(")?;
    let (arguments, answer) = words(&rest, ") = ")?;
    let mut arguments: Vec<&str> = arguments.split(", ").collect();
    let named = |argument: &str| argument.starts_with("locked#");
    match name.as_str() {
        // Both end with how many signals they wait for, the signals, and their completion.
        "hsa_amd_memory_async_copy" | "hsa_amd_memory_async_copy_rect" => {
            let end = arguments.len() - 1;
            arguments.drain(end - 2..end);
        }
        "hsa_amd_memory_lock_to_pool" => drop(arguments.remove(1)),
        _other => {}
    }
    let arguments: Vec<String> = arguments
        .iter()
        .map(|argument| match argument.split_once('+') {
            Some((memory, offset)) if named(argument) => {
                let rest = offset.trim_start_matches(|digit: char| digit.is_ascii_digit());
                format!("{memory}{rest}")
            }
            Some(_) | None => (*argument).to_owned(),
        })
        .collect();
    Some(format!("{name}({}) = {answer}", arguments.join(", ")))
}

/// The text without the numbers of signals.
fn without_signals(text: &str) -> String {
    let mut parts = text.split("signal#");
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part.trim_start_matches(|digit: char| digit.is_ascii_digit()));
    rest.fold(first, |text, part| text + "signal" + part)
}

/// What is in order: a thread's calls, or a queue's packets. Threads by when they first appear.
fn changes(program: &Program, lines: &[Line]) -> Vec<Vec<String>> {
    let varies = varies(program);
    let mut found: BTreeMap<(u32, String), usize> = BTreeMap::new();
    let mut all: Vec<Vec<String>> = Vec::new();
    for line in lines {
        let (place, what) = match line.call.strip_prefix("packet ") {
            None => (line.thread.to_string(), change(&line.call)),
            Some(packet) => {
                let queue = packet.split(' ').next().unwrap_or_default().to_owned();
                let is_barrier = packet.contains(" barrier-and ");
                (queue, if is_barrier { change(packet) } else { Some(packet.to_owned()) })
            }
        };
        let what = match varies {
            Varies::Nothing => what,
            Varies::Packets => what.filter(|_| !line.call.starts_with("packet ")),
            Varies::Flushes => what
                .filter(|what| !what.contains("_async_handler(") && !what.contains(" barrier-and "))
                .map(|what| without_signals(&what)),
        };
        let Some(what) = what else { continue };
        let index = *found.entry((line.process, place)).or_insert_with(|| {
            all.push(Vec::new());
            all.len() - 1
        });
        all[index].push(what);
    }
    // Which queue comes to a packet first is a matter of time.
    all.sort_by(|one, other| one.first().cmp(&other.first()));
    all
}

/// Where two runs part.
fn compare(without: &[Vec<String>], with: &[Vec<String>]) -> Result<(), Failed> {
    for (one, other) in without.iter().zip(with) {
        let length = one.len().max(other.len());
        if let Some(at) = (0..length).find(|at| one.get(*at) != other.get(*at)) {
            let show = |all: &[String]| {
                let from = at.saturating_sub(2);
                let to = all.len().min(at + 3);
                all.get(from..to).unwrap_or_default().join("\n  ")
            };
            let (without, with) = (show(one), show(other));
            return Err(format!("without recording:\n  {without}\nwith:\n  {with}").into());
        }
    }
    ensure(without.len() == with.len(), || {
        format!("{} threads and queues without recording, {} with", without.len(), with.len())
    })
}

fn check(program: &Program) -> Result<(), Failed> {
    let with = trace(program, true)?;
    for line in &with {
        // Packets come from the emulated queue.
        if line.call.starts_with("packet ") {
            continue;
        }
        if let Some(what) = misplaced(line) {
            return Err(format!("{what}: {line:?}").into());
        }
    }
    let wrapped = with.iter().filter(|line| line.stack.iter().any(|one| one.file == PRELOAD));
    ensure(wrapped.count() > 10, || "no call came through the recorder".to_owned())?;
    if not_ordered(program).is_some() {
        return Ok(());
    }
    let with = changes(program, &with);
    let mut parted = Ok(());
    for _ in 0..RUNS_MAX {
        parted = compare(&changes(program, &trace(program, false)?), &with);
        if parted.is_ok() {
            break;
        }
    }
    parted
}

/// Why two runs of a program differ in the order of their calls.
fn not_ordered(program: &Program) -> Option<&'static str> {
    if program.has_threads {
        // They race for HIP's signals and queues.
        return Some("several threads");
    }
    // How many slabs HIP's listener hands out depends on which lanes ask first.
    (program.name == "malloc").then_some("kernels allocate")
}

fn trials_of(program: &'static Program) -> Trial {
    let name = match not_ordered(program) {
        Some(why) => format!("{} (order not compared: {why})", program.key()),
        None => program.key(),
    };
    trial_unless(name, program.missing().or(program.hangs), move || check(program))
}

fn main() {
    let arguments = Arguments::from_args();
    libtest_mimic::run(&arguments, PROGRAMS.iter().map(trials_of).collect()).exit();
}

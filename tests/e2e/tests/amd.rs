//! Goal: what is recorded on AMD's own runtime replays on it and on hip-emu, and the other way
//! round, bit for bit, whatever addresses and handles are.
//! Method: AMD's `libamdhip64` runs on the emulated GPU (`--runtime amd-emu`). The programs of
//! `tests/programs` and `tests/workloads` check their own results; each is recorded on both
//! runtimes, and each archive is replayed on both. What is known not to replay is in the table of
//! `tests/oracle/README.md` and must fail as it says; a pair that is not there must be perfect.
//! The two recordings of a program must hold the same calls with the same results, but for what the
//! second table there explains.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use e2e::programs::{FAULTS, PROGRAMS, Program};
use e2e::{
    Machine, Recording, Replay, ensure, hrr, record_on, replay_on, text, trial_unless, workspace,
};
use hrr_runtime::archive::shape::ApiShape;
use hrr_runtime::desc::{ApiDesc, Role};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

/// Runtimes to record on.
const RECORDED: [&str; 2] = ["amd-emu", "emu"];
/// Runtimes to replay on, with a further argument. AMD's 5.2.3 places nothing.
const REPLAYED: [&str; 3] = ["amd-emu", "emu", "emu --no-placement"];
/// What stands for the recording itself in the column of replays.
const RECORDING: &str = "recording";
const RECORD_SEED: u64 = 1;
/// AMD's runtime under three seeds; other pairs, and what fails as the table says, under one.
const REPLAY_SEEDS: [u64; 3] = [11, 12, 13];

/// The heading of what differs between the recordings of a program.
const SECOND_TABLE: &str = "\n## What differs between the recordings";
/// How a cause of such a difference may begin.
const CAUSES: [&str; 4] = ["AMD: ", "a difference of versions: ", "by design: ", "the machine: "];
/// What polls for the end of work, and what it answers until then: how often depends on time.
const POLLS: [&str; 2] = ["hipStreamQuery", "hipEventQuery"];
const NOT_READY: &str = "600";
/// What stands in a row for a thread or process that ends earlier on one of both.
const EVERY: &str = "all";
const END: &str = "end";
/// How notes begin that tell of results; the others tell of times.
const CHECK: &str = "check of ";

/// What differs between the recordings of each program: a function, and which value of it.
type Differences = BTreeMap<String, BTreeSet<(String, String)>>;

/// A row of the table: what does not work, and how that shows.
#[derive(Clone, Debug)]
struct Known {
    cells: [String; 3],
    shows: Shows,
    cause: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Shows {
    /// Nothing that is the same each time, so it is not run.
    Waiting,
    /// An exit code, and the kind and the function of a finding, if there is one.
    Exit(i32, Option<(String, String)>),
}

/// Reads the tables; whatever is not understood fails the test.
fn tables() -> (Vec<Known>, Differences) {
    let path = workspace().join("tests/oracle/README.md");
    let page = std::fs::read_to_string(&path).expect("the tables are in the tree");
    let (first, second) = page.split_once(SECOND_TABLE).expect("the second table has its heading");
    let (mut all, mut differences) = (Vec::new(), Differences::new());
    for line in first.lines().filter(|line| line.starts_with("| `")) {
        all.push(row(line).unwrap_or_else(|| panic!("{}: {line}", path.display())));
    }
    for line in second.lines().filter(|line| line.starts_with("| `")) {
        let row: Result<[String; 4], _> = cells(line).try_into();
        let Ok([program, function, value, cause]) = row else {
            panic!("{}: {line}", path.display())
        };
        let mut programs = PROGRAMS.iter().chain(FAULTS);
        let known = programs.any(|one| one.key() == program && !one.has_threads);
        let explained = CAUSES.iter().any(|whose| cause.starts_with(whose));
        let new = differences.entry(program).or_default().insert((function, value));
        assert!(known && explained && new, "{}: {line}", path.display());
    }
    (all, differences)
}

fn cells(line: &str) -> Vec<String> {
    line.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect()
}

fn row(line: &str) -> Option<Known> {
    let [program, recorded, replayed, shows, cause]: [String; 5] = cells(line).try_into().ok()?;
    let known = PROGRAMS.iter().chain(FAULTS).any(|one| one.key() == program)
        && RECORDED.contains(&recorded.as_str())
        && (REPLAYED.contains(&replayed.as_str()) || replayed == RECORDING);
    let shows = match shows.strip_prefix("exit ") {
        None => (shows == "waiting").then_some(Shows::Waiting)?,
        Some(rest) => match rest.split_once(": ") {
            None => Shows::Exit(rest.parse().ok()?, None),
            Some((code, finding)) => {
                let (kind, function) = finding.split_once(' ')?;
                Shows::Exit(code.parse().ok()?, Some((kind.to_owned(), function.to_owned())))
            }
        },
    };
    (known && !cause.is_empty()).then_some(Known {
        cells: [program, recorded, replayed],
        shows,
        cause,
    })
}

/// A program's recording on one runtime, made by whichever test comes first.
struct Subject {
    program: &'static Program,
    recorded: &'static str,
    recording: Mutex<Option<Result<Recording, String>>>,
}

impl Subject {
    fn with<T>(&self, use_it: impl FnOnce(&Recording) -> Result<T, Failed>) -> Result<T, Failed> {
        let mut held = self.recording.lock().unwrap_or_else(PoisonError::into_inner);
        let made = held.get_or_insert_with(|| self.record().map_err(|error| format!("{error:?}")));
        match made {
            Ok(recording) => use_it(recording),
            Err(error) => Err(format!("not recorded: {error}").into()),
        }
    }

    fn record(&self) -> Result<Recording, Failed> {
        let program = self.program;
        let machine = self.machine(RECORD_SEED);
        record_on(machine, &program.compiled()?, program.argument, self.recorded)
    }

    fn machine(&self, seed: u64) -> Machine {
        Machine { seed, gpus: self.program.gpus }
    }

    /// The program, under the recorder, says that all its results are right.
    fn recording_ends(&self, expected: i32) -> Result<(), Failed> {
        self.with(|recording| {
            let printed = text(&recording.output.stdout);
            let last = printed.lines().last().unwrap_or_default();
            let good = last.starts_with(self.program.name) && last.contains(" bad=0");
            let status = recording.output.status.code();
            ensure(status == Some(expected) && good == (expected == 0), || {
                let said = text(&recording.output.stderr);
                format!("{}\n{printed}\n{said}", recording.output.status)
            })
        })
    }

    fn replays(&self, replayed: &str, shows: Option<&Shows>) -> Result<(), Failed> {
        let (runtime, more) = match replayed.split_once(' ') {
            Some((runtime, argument)) => (runtime, vec![argument]),
            None => (replayed, vec![]),
        };
        let thorough = self.recorded == "amd-emu" && replayed == "amd-emu" && shows.is_none();
        let seeds = if thorough { &REPLAY_SEEDS[..] } else { &REPLAY_SEEDS[..1] };
        for seed in seeds {
            let archive = self.with(|recording| Ok(recording.archive.clone()))?;
            let all = replay_on(self.machine(*seed), &archive, runtime, &more)?;
            match shows {
                None => all.iter().try_for_each(Replay::assert_faithful)?,
                Some(shows) => assert_shows(&all, shows)?,
            }
        }
        Ok(())
    }
}

/// What a call came to, without what differs between any two machines: its function, and its values
/// by their names.
type Came = (String, BTreeMap<String, String>);

/// The calls that returned, in order, of each thread of each process.
fn calls(archive: &Path) -> Result<Vec<Vec<Came>>, Failed> {
    let output = Command::new(hrr()).args(["events", "--json"]).arg(archive).output()?;
    let declared: BTreeMap<&str, &ApiDesc> =
        hrr_runtime::ALL.iter().filter_map(|api| Some((api.name.to_str().ok()?, *api))).collect();
    let mut threads: Vec<((u64, u64), Vec<Came>)> = Vec::new();
    for line in text(&output.stdout).lines() {
        let event: Value = serde_json::from_str(line)?;
        let of = |key: &str| event[key].as_u64().ok_or_else(|| format!("no `{key}`: {line}"));
        let thread = (of("process")?, of("thread")?);
        let function = event["function"].as_str().unwrap_or_default();
        let polls = POLLS.contains(&function) && event["result"] == NOT_READY;
        if polls || event["leave"].is_null() {
            continue;
        }
        let desc = declared.get(function).ok_or_else(|| format!("not declared: {line}"))?;
        let came = (function.to_owned(), values(&event, desc));
        match threads.iter_mut().find(|(one, _)| *one == thread) {
            Some((_, calls)) => calls.push(came),
            None => threads.push((thread, vec![came])),
        }
    }
    ensure(!threads.is_empty(), || text(&output.stderr))?;
    Ok(threads.into_iter().map(|(_, calls)| calls).collect())
}

/// The result of a call, its outputs, and what it checks; facts of the machine are left out.
fn values(event: &Value, desc: &ApiDesc) -> BTreeMap<String, String> {
    let texts = |list: &Value| -> Vec<String> {
        let texts = list.as_array().into_iter().flatten().filter_map(Value::as_str);
        texts.map(without_addresses).collect()
    };
    let shape = ApiShape::of(desc);
    let mut values = BTreeMap::new();
    if !shape.ret.machine {
        let result = event["result"].as_str().map(without_addresses);
        values.insert("result".to_owned(), result.unwrap_or_default());
    }
    let params = desc.params.iter().zip(shape.params).enumerate();
    for (index, (param, shape)) in params.filter(|(_, (_, shape))| !shape.machine) {
        // What it is depends on a tag.
        let name = match param.role {
            Role::Tagged { by, .. } => {
                let tag = event["args"][usize::from(by)]["value"].as_str().unwrap_or("?");
                format!("{} of {tag}", shape.name)
            }
            _ => shape.name,
        };
        values.insert(name, texts(&event["args"][index]["after"]).join(", "));
    }
    let notes = texts(&event["notes"]).into_iter().filter(|note| note.starts_with(CHECK));
    values.insert("checks".to_owned(), notes.collect::<Vec<_>>().join(", "));
    values
}

/// The text with every address and handle as `0x`.
fn without_addresses(text: &str) -> String {
    let mut parts = text.split("0x");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + "0x" + part.trim_start_matches(|digit: char| digit.is_ascii_hexdigit())
    })
}

/// Fails unless both recordings of a program came to the same, but for what the table explains.
fn came_to_the_same(
    subjects: &[Arc<Subject>],
    known: &BTreeSet<(String, String)>,
) -> Result<(), Failed> {
    let [amd, emu] = subjects else { return Err("there are two recordings".into()) };
    let [amd, emu] = [amd, emu].map(|one| one.with(|recording| calls(&recording.archive)));
    let (amd, emu) = (amd?, emu?);
    let mut found: BTreeMap<(String, String), String> = BTreeMap::new();
    ensure(amd.len() == emu.len(), || format!("{} and {} threads", amd.len(), emu.len()))?;
    for (amd, emu) in amd.iter().zip(&emu) {
        for (index, (amd, emu)) in amd.iter().zip(emu).enumerate() {
            let names = amd.1.keys().eq(emu.1.keys());
            ensure(amd.0 == emu.0 && names, || format!("call {index}: {amd:?}, and {emu:?}"))?;
            for (name, amd_value) in &amd.1 {
                let emu_value = &emu.1[name];
                if emu_value != amd_value {
                    let said = format!("call {index}: {amd_value} on amd-emu, {emu_value} on emu");
                    found.entry((amd.0.clone(), name.clone())).or_insert(said);
                }
            }
        }
        if amd.len() != emu.len() {
            let said = format!("{} calls on amd-emu, {} on emu", amd.len(), emu.len());
            found.insert((EVERY.to_owned(), END.to_owned()), said);
        }
    }
    let outdated = known.iter().find(|one| !found.contains_key(*one));
    ensure(outdated.is_none(), || format!("this row is out of date: {outdated:?}"))?;
    found.retain(|name, _| !known.contains(name));
    ensure(found.is_empty(), || format!("{found:#?}"))
}

/// Fails unless the replay failed as the table says.
fn assert_shows(all: &[Replay], shows: &Shows) -> Result<(), Failed> {
    let Shows::Exit(code, finding) = shows else {
        return Err("what waits is not run".into());
    };
    let first = all.first().ok_or("there is no report")?;
    first.assert_status(*code)?;
    let Some((kind, function)) = finding else { return Ok(()) };
    let found = all.iter().flat_map(|one| one.report["findings"].as_array().into_iter().flatten());
    let mut found = found.filter(|one| one["kind"] == kind.as_str());
    ensure(found.any(|one| one["function"] == function.as_str()), || {
        let reports: Vec<String> = all.iter().map(|one| one.report.to_string()).collect();
        format!("no finding `{kind} {function}`: {}\n{}", reports.join("\n"), first.stderr)
    })
}

fn trials_of(program: &'static Program, table: &[Known], differences: &Differences) -> Vec<Trial> {
    let mut trials = Vec::new();
    let subjects = RECORDED
        .map(|recorded| Arc::new(Subject { program, recorded, recording: Mutex::new(None) }));
    let missing = |cells: &[String; 3]| {
        let known = table.iter().find(|known| known.cells == *cells);
        let waiting = known.filter(|known| known.shows == Shows::Waiting);
        let waiting = waiting.map(|known| format!("waiting: {}", known.cause));
        program.missing().map(str::to_owned).or(waiting)
    };
    let cells =
        |recorded: &str, replayed: &str| [program.key(), recorded.to_owned(), replayed.to_owned()];
    if !program.has_threads {
        let known = differences.get(&program.key()).cloned().unwrap_or_default();
        let absent = RECORDED.iter().find_map(|recorded| missing(&cells(recorded, RECORDING)));
        let (name, subjects) = (format!("{}::same", program.key()), subjects.clone());
        let same = move || came_to_the_same(&subjects, &known);
        trials.push(trial_unless(name, absent.as_deref(), same));
    }
    for (recorded, subject) in RECORDED.into_iter().zip(subjects) {
        for replayed in [RECORDING].into_iter().chain(REPLAYED) {
            let cells = cells(recorded, replayed);
            let known = table.iter().find(|known| known.cells == cells).cloned();
            let missing = missing(&cells);
            let subject = Arc::clone(&subject);
            let name = cells.join("::");
            trials.push(trial_unless(name, missing.as_deref(), move || {
                let shows = known.map(|known| known.shows);
                match (replayed, &shows) {
                    (RECORDING, Some(Shows::Exit(code, _))) => subject.recording_ends(*code),
                    (RECORDING, _) => subject.recording_ends(0),
                    (_, shows) => subject.replays(replayed, shows.as_ref()),
                }
            }));
        }
    }
    trials
}

fn main() {
    let arguments = Arguments::from_args();
    let (table, differences) = tables();
    let distinct: BTreeSet<&[String; 3]> = table.iter().map(|known| &known.cells).collect();
    assert_eq!(distinct.len(), table.len(), "a pair has two rows");
    let programs = PROGRAMS.iter().chain(FAULTS);
    let trials = programs.flat_map(|program| trials_of(program, &table, &differences)).collect();
    libtest_mimic::run(&arguments, trials).exit();
}

//! Goal: what is recorded on AMD's own runtime replays on it and on hip-emu, and the other way
//! round, bit for bit, whatever addresses and handles are.
//! Method: AMD's `libamdhip64` runs on the emulated GPU (`--runtime amd-emu`). The programs of
//! `tests/programs` and `tests/workloads` check their own results; each is recorded on both
//! runtimes, and each archive is replayed on both. What is known not to replay is in the table of
//! `tests/oracle/README.md` and must fail as it says; a pair that is not there must be perfect.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use e2e::programs::{FAULTS, PROGRAMS, Program};
use e2e::{
    Machine, Recording, Replay, ensure, record_on, replay_on, text, trial_unless, workspace,
};
use libtest_mimic::{Arguments, Failed, Trial};

/// Runtimes to record on.
const RECORDED: [&str; 2] = ["amd-emu", "emu"];
/// Runtimes to replay on, with a further argument. AMD's 5.2.3 places nothing.
const REPLAYED: [&str; 3] = ["amd-emu", "emu", "emu --no-placement"];
/// What stands for the recording itself in the column of replays.
const RECORDING: &str = "recording";
const RECORD_SEED: u64 = 1;
/// AMD's runtime under three seeds; other pairs, and what fails as the table says, under one.
const REPLAY_SEEDS: [u64; 3] = [11, 12, 13];

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

/// Reads the table; whatever is not understood fails the test.
fn table() -> Vec<Known> {
    let path = workspace().join("tests/oracle/README.md");
    let page = std::fs::read_to_string(&path).expect("the table is in the tree");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    rows.map(|line| row(line).unwrap_or_else(|| panic!("{}: {line}", path.display()))).collect()
}

fn row(line: &str) -> Option<Known> {
    let cells: Vec<String> =
        line.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect();
    let [program, recorded, replayed, shows, cause]: [String; 5] = cells.try_into().ok()?;
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

fn trials_of(program: &'static Program, table: &[Known]) -> Vec<Trial> {
    let mut trials = Vec::new();
    for recorded in RECORDED {
        let subject = Subject { program, recorded, recording: Mutex::new(None) };
        let subject = Arc::new(subject);
        for replayed in [RECORDING].into_iter().chain(REPLAYED) {
            let cells = [program.key(), recorded.to_owned(), replayed.to_owned()];
            let known = table.iter().find(|known| known.cells == cells).cloned();
            let waiting = known.as_ref().filter(|known| known.shows == Shows::Waiting);
            let waiting = waiting.map(|known| format!("waiting: {}", known.cause));
            let missing = program.missing().map(str::to_owned).or(waiting);
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
    let table = table();
    let distinct: BTreeSet<&[String; 3]> = table.iter().map(|known| &known.cells).collect();
    assert_eq!(distinct.len(), table.len(), "a pair has two rows");
    let programs = PROGRAMS.iter().chain(FAULTS);
    let trials = programs.flat_map(|program| trials_of(program, &table)).collect();
    libtest_mimic::run(&arguments, trials).exit();
}

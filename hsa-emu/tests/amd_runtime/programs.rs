//! Unmodified HIP programs.

use std::path::PathBuf;

use libtest_mimic::Trial;

use crate::toolchain::{Outcome, Toolchain};
use crate::trial;

const SEEDS: [&str; 3] = ["1", "2", "3"];
const BOTH: &[&str] = &["gfx90a", "gfx906"];
const ONE: &[&str] = &["gfx90a"];

/// A program whose last line is `NAME bad=0` if all is well.
struct Program {
    name: &'static str,
    folder: &'static str,
    gpus: &'static str,
    processors: &'static [&'static str],
    libraries: &'static [&'static str],
}

const fn workload(name: &'static str) -> Program {
    Program { name, folder: "tests/workloads", gpus: "1", processors: ONE, libraries: &[] }
}

const fn sample(name: &'static str) -> Program {
    Program { folder: "tests/programs", processors: BOTH, ..workload(name) }
}

const PROGRAMS: [Program; 23] = [
    sample("saxpy"),
    sample("graph"),
    sample("symbol"),
    workload("memcpy"),
    workload("memset"),
    Program { processors: BOTH, ..workload("threads") },
    workload("streams"),
    Program { processors: BOTH, ..workload("graphs") },
    Program { processors: BOTH, ..workload("modules") },
    workload("hiprtc"),
    workload("pools"),
    workload("hostmem"),
    workload("reuse"),
    workload("ipc"),
    workload("stream_values"),
    Program { gpus: "2", ..workload("peers") },
    workload("cooperative"),
    Program { processors: BOTH, ..workload("printf") },
    workload("assert"),
    workload("errors"),
    workload("exit"),
    workload("fork"),
    Program { libraries: &["-lrocrand"], processors: ONE, ..workload("philox") },
];

const BLIT: Program = workload("blit");
const FAULT: Program = workload("fault");
const PROPERTIES: Program = workload("properties");

impl Program {
    fn source(&self, tools: &Toolchain) -> PathBuf {
        tools.root.join(self.folder).join(format!("{}.hip.cpp", self.name))
    }

    fn missing(&self, tools: &Toolchain) -> Option<String> {
        let rocrand = "/usr/include/rocrand/rocrand.h";
        let lacks = !self.libraries.is_empty() && !std::path::Path::new(rocrand).exists();
        tools.missing().or_else(|| lacks.then(|| format!("{rocrand} is not installed")))
    }

    fn run(
        &self,
        tools: &Toolchain,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Result<Outcome, String> {
        let built = tools.program(&self.source(tools), self.processors, self.libraries)?;
        let all = [&[("HSA_EMU_GPUS", self.gpus)], environment].concat();
        tools.run(&built, arguments, &all)
    }
}

pub(crate) fn trials(tools: &Toolchain) -> Vec<Trial> {
    let mut trials = Vec::new();
    for program in &PROGRAMS {
        for seed in SEEDS {
            let of_test = tools.clone();
            let name = format!("{}/seed={seed}", program.name);
            trials.push(trial(name, program.missing(tools), move || {
                program.run(&of_test, &[], &[("HIP_EMU_SEED", seed)])?.expect_good(program.name)
            }));
        }
        if program.processors.contains(&"gfx906") {
            let of_test = tools.clone();
            let name = format!("{}/gfx906", program.name);
            trials.push(trial(name, program.missing(tools), move || {
                program
                    .run(&of_test, &[], &[("HSA_EMU_TARGET", "gfx906")])?
                    .expect_good(program.name)
            }));
        }
    }
    trials.extend(blit_trials(tools));
    trials.extend(fault_trials(tools));
    trials.push(seed_trial(tools));
    trials.extend(properties_trials(tools));
    trials
}

/// AMD's blit kernels as instructions and done natively: the same bytes.
fn blit_trials(tools: &Toolchain) -> Vec<Trial> {
    let one = |seed: &'static str| {
        let of_test = tools.clone();
        trial(format!("blit/seed={seed}"), BLIT.missing(tools), move || {
            let mut outputs = Vec::new();
            for way in ["isa", "native"] {
                let ran = BLIT.run(&of_test, &[seed], &[("HSA_EMU_BLIT", way)])?;
                ran.expect_good("blit")?;
                outputs.push(ran.stdout);
            }
            if outputs[0] == outputs[1] && outputs[0].starts_with("hash ") {
                Ok(())
            } else {
                Err(format!("isa: {}\nnative: {}", outputs[0], outputs[1]))
            }
        })
    };
    SEEDS.map(one).into()
}

/// What must not be done ends the program, and is named with kernel and place.
fn fault_trials(tools: &Toolchain) -> Vec<Trial> {
    let illegal = "illegal address ";
    let cases = [
        ("null", libc_signal::ABORT, illegal),
        ("beyond", libc_signal::ABORT, illegal),
        ("freed", libc_signal::ABORT, illegal),
        ("host", libc_signal::ABORT, illegal),
        ("trap", libc_signal::ABORT, "trap 2"),
        ("read", libc_signal::SEGMENT, ""),
    ];
    let one = |(way, signal, said): (&'static str, i32, &'static str)| {
        let of_test = tools.clone();
        trial(format!("fault/{way}"), FAULT.missing(tools), move || {
            let ran = FAULT.run(&of_test, &[way], &[])?;
            let line = ran.stderr.lines().find(|line| line.starts_with("hsa-emu: "));
            let line = line.unwrap_or_default();
            let named = said.is_empty()
                || [said, "kernel _Z", ", pc 0x", "workgroup (0,0,0)", "HIP_EMU_SEED="]
                    .iter()
                    .all(|part| line.contains(part));
            let ended = ran.signal() == Some(signal) && !ran.stdout.contains("bad=");
            if ended && named { Ok(()) } else { Err(ran.to_string()) }
        })
    };
    cases.map(one).into()
}

/// A seed decides where device memory lies.
fn seed_trial(tools: &Toolchain) -> Trial {
    let of_test = tools.clone();
    trial("seed/addresses".to_owned(), FAULT.missing(tools), move || {
        let place = |seed| {
            let ran = FAULT.run(&of_test, &["null"], &[("HIP_EMU_SEED", seed)])?;
            let start = ran.stderr.find(", pc 0x").ok_or_else(|| ran.to_string())?;
            Ok::<String, String>(ran.stderr[start..].chars().take(24).collect())
        };
        let (first, again, other) = (place("5")?, place("5")?, place("6")?);
        if first == again && first != other {
            Ok(())
        } else {
            Err(format!("seed 5: {first} and {again}, seed 6: {other}"))
        }
    })
}

/// Numbers of signals on Linux.
mod libc_signal {
    pub(super) const ABORT: i32 = 6;
    pub(super) const SEGMENT: i32 = 11;
}

/// Devices are as many and of the kind that the environment says; a wrong word is named.
fn properties_trials(tools: &Toolchain) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (gpus, processor) in [("1", "gfx90a"), ("3", "gfx906")] {
        let of_test = tools.clone();
        let name = format!("properties/{gpus}x{processor}");
        trials.push(trial(name, PROPERTIES.missing(tools), move || {
            let environment = [("HSA_EMU_GPUS", gpus), ("HSA_EMU_TARGET", processor)];
            PROPERTIES.run(&of_test, &[gpus, processor], &environment)?.expect_good("properties")
        }));
    }
    for (variable, value) in [
        ("HSA_EMU_TARGET", "gfx942"),
        ("HSA_EMU_GPUS", "none"),
        ("HIP_EMU_SEED", "dice"),
        ("HSA_EMU_BLIT", "fast"),
        ("HSA_EMU_LOG", "loud"),
    ] {
        let of_test = tools.clone();
        let name = format!("properties/{variable}={value}");
        trials.push(trial(name, PROPERTIES.missing(tools), move || {
            let ran = PROPERTIES.run(&of_test, &[], &[(variable, value)])?;
            let lines: Vec<&str> =
                ran.stderr.lines().filter(|line| line.starts_with("hsa-emu:")).collect();
            let expected = format!("hsa-emu: {variable}={value}: expected ");
            let named = lines.len() == 1 && lines[0].starts_with(&expected);
            if named && !ran.status.success() { Ok(()) } else { Err(ran.to_string()) }
        }));
    }
    trials
}

//! The HIP programs of `tests/programs` and `tests/workloads`, and what each needs.

use std::path::{Path, PathBuf};

use libtest_mimic::Failed;

use crate::{VENDOR, compiled, missing_compiler};

/// A program whose last line is `NAME bad=0`, maybe with more, if all is well.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// The source is `NAME.hip.cpp`.
    pub name: &'static str,
    /// The folder below `tests`.
    pub folder: &'static str,
    /// What it is run with.
    pub argument: Option<&'static str>,
    /// How many devices it needs.
    pub gpus: u32,
    /// What it is linked with.
    pub libraries: &'static [&'static str],
    /// Whether several of its threads call HIP, so that the order of calls differs between runs.
    pub has_threads: bool,
    /// Why it does not end on AMD's runtime, if it does not.
    pub hangs: Option<&'static str>,
}

const fn workload(name: &'static str) -> Program {
    Program {
        name,
        folder: "workloads",
        argument: None,
        gpus: 1,
        libraries: &[],
        has_threads: false,
        hangs: None,
    }
}

const fn sample(name: &'static str) -> Program {
    Program { folder: "programs", ..workload(name) }
}

const fn fault(way: &'static str) -> Program {
    Program { argument: Some(way), ..workload("fault") }
}

/// Those that end by a mistake which the runtime must notice, once for each.
pub const FAULTS: &[Program] =
    &[fault("null"), fault("beyond"), fault("freed"), fault("host"), fault("trap"), fault("read")];

/// Those that end well.
pub const PROGRAMS: &[Program] = &[
    sample("saxpy"),
    sample("symbol"),
    sample("graph"),
    sample("streams"),
    workload("assert"),
    workload("blit"),
    workload("callbacks"),
    workload("cooperative"),
    workload("errors"),
    workload("exit"),
    workload("fork"),
    workload("graphs"),
    workload("hiprtc"),
    workload("host_nodes"),
    workload("hostmem"),
    workload("reuse"),
    workload("ipc"),
    workload("malloc"),
    workload("memcpy"),
    workload("memset"),
    workload("modules"),
    Program { gpus: 2, ..workload("peers") },
    Program { libraries: &["-lrocrand"], ..workload("philox") },
    workload("pools"),
    workload("printf"),
    Program {
        hangs: Some("AMD's runtime listens to one queue only of those whose kernels print"),
        ..workload("printf_streams")
    },
    workload("properties"),
    workload("stream_values"),
    workload("streams"),
    Program { has_threads: true, ..workload("threads") },
];

impl Program {
    /// How tables name it.
    pub fn key(&self) -> String {
        let argument = self.argument.map(|argument| format!(" {argument}")).unwrap_or_default();
        format!("{}/{}{argument}", self.folder, self.name)
    }

    /// Why it cannot be compiled and run on both runtimes here, if it cannot.
    pub fn missing(&self) -> Option<&'static str> {
        let rocrand = !self.libraries.is_empty() && !Path::new("/usr/include/rocrand").exists();
        missing_compiler()
            .or_else(|| {
                let absent = !Path::new(VENDOR).exists();
                absent.then_some("AMD's runtime is not installed (apt: libamdhip64-5)")
            })
            .or_else(|| rocrand.then_some("rocRAND is not installed (apt: librocrand-dev)"))
    }

    /// Compiles it.
    pub fn compiled(&self) -> Result<PathBuf, Failed> {
        compiled(self.folder, self.name, self.libraries)
    }
}

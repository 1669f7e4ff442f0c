//! AMD's own HIP runtime on this crate's library.
//!
//! Goal: unmodified HIP programs give right results under Debian's `libamdhip64.so.5`, whatever
//! addresses and handles are; mistakes are named; the library is exactly what AMD's asks for.
//! Method: the programs of `tests/workloads` and `tests/programs` are compiled with the stock
//! compiler and run with a folder in front that has our library under AMD's name.
//!
//! What a machine lacks is said as `NOT RUN: …` and counts as ignored.

mod headers;
mod library;
mod programs;
mod toolchain;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use toolchain::Toolchain;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let toolchain = Toolchain::find();
    let mut trials = Vec::new();
    trials.extend(library::trials(&toolchain));
    trials.extend(headers::trials(&toolchain));
    trials.extend(programs::trials(&toolchain));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A test, or the reason why it cannot run here.
fn trial(
    name: String,
    missing: Option<String>,
    test: impl FnOnce() -> Result<(), String> + Send + 'static,
) -> Trial {
    if let Some(reason) = &missing {
        eprintln!("NOT RUN: {name}: {reason}");
    }
    Trial::test(name, move || test().map_err(Into::into)).with_ignored_flag(missing.is_some())
}

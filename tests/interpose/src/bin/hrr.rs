//! The `hrr` command, as the tests run it.

use std::process::ExitCode;

fn main() -> ExitCode {
    hrr_cli::run(&[hrr_runtime::ALL])
}

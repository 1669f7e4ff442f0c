//! The `hrr` command, for the functions that hrr-ffi declares.

use std::process::ExitCode;

fn main() -> ExitCode {
    hrr_cli::run(&[hrr_runtime::ALL])
}

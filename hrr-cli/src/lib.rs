//! The `hrr` command, over any tables of declarations: a crate with functions of its own makes a
//! command that knows them by `hrr_cli::run(&[hrr_runtime::ALL, mine::APIS])`.
//!
//! This is the only crate that reads the command line or writes to stdout. It links no HIP name: a
//! runtime is loaded by path. Start reading at [`run`], then `cmd/`, one file per command.

use std::io::{BufWriter, Write, stdout};
use std::process::ExitCode;

use clap::Parser;
use hrr_runtime::desc::Table;

mod archive;
mod args;
mod cmd;
mod failure;
mod fault;
mod front;
mod pattern;
mod program;
mod report;
mod runtime;
mod say;
mod summary;

use args::{Cli, Command};
use failure::{Failure, USAGE};

/// Runs the command that the process's arguments name, for the functions of `tables`.
pub fn run(tables: &[Table]) -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // The text goes where clap sends it; a closed stream is nobody's loss.
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(USAGE) } else { ExitCode::SUCCESS };
        }
    };
    let mut out = BufWriter::new(stdout().lock());
    let outcome = dispatch(&cli.command, tables, &mut out)
        .and_then(|code| out.flush().map(|()| code).map_err(Failure::from));
    match outcome {
        Ok(code) => code,
        Err(failure) => {
            if failure.code != 0 {
                say::error(&failure);
            }
            failure.exit()
        }
    }
}

fn dispatch(
    command: &Command,
    tables: &[Table],
    out: &mut impl Write,
) -> Result<ExitCode, Failure> {
    match command {
        Command::Record(args) => cmd::record::run(args),
        Command::Replay(args) => cmd::replay::run(args, tables, out),
        Command::Pack(args) => cmd::pack::run(args),
        Command::Info(args) => cmd::info::run(args, out),
        Command::Events(args) => cmd::events::run(args, out),
        Command::Apis(args) => cmd::apis::run(args, tables, out),
    }
}

//! `hrr pack`: puts the process folders of an archive into one file.

use std::process::ExitCode;

use hrr_runtime::archive::pack::{PackError, pack};

use crate::archive::{bytes_text, failure, open};
use crate::args::PackArgs;
use crate::failure::{Failure, NO_PATH};
use crate::say::{note, warn};

pub(crate) fn run(args: &PackArgs) -> Result<ExitCode, Failure> {
    let archive = open(&args.archive)?;
    let to = &args.output;
    if to.symlink_metadata().is_ok() {
        let next = "remove it, or name another with -o";
        return Err(Failure::new(NO_PATH, format!("{}: exists already; {next}", to.display())));
    }
    for finding in archive.findings() {
        warn(&format!("left out: {}", finding.what));
    }
    pack(&archive, to).map_err(|error| match error {
        PackError::Read(error) => failure(&error),
        PackError::Write { path, source } => {
            let next = "name a file in a folder that exists and has room with -o";
            Failure::new(NO_PATH, format!("{}: {source}; {next}", path.display()))
        }
    })?;
    let bytes = to.metadata()?.len();
    note(&format!(
        "packed {} into {}, {}",
        args.archive.display(),
        to.display(),
        bytes_text(bytes)
    ));
    Ok(ExitCode::SUCCESS)
}

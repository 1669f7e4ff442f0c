//! What the examples share: the kernel, and showing and replaying what was recorded.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use hrr_runtime::archive::reader::Archive;

/// `kernels/saxpy.hip`, compiled for gfx90a; the source says by which command.
pub static SAXPY: &[u8] = include_bytes!("../kernels/saxpy.gfx90a.co");

/// A path for an archive that does not exist yet, in a folder that is removed with the value.
pub struct Place {
    folder: PathBuf,
}

impl Place {
    /// Makes the folder.
    ///
    /// # Errors
    /// As the system.
    pub fn new(name: &str) -> Result<Place, Box<dyn Error>> {
        let folder = std::env::temp_dir().join(format!("hrr-{name}-{}", std::process::id()));
        std::fs::create_dir(&folder)?;
        Ok(Place { folder })
    }

    /// The archive's path.
    pub fn archive(&self) -> PathBuf {
        self.folder.join("own.hrr")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.folder) {
            eprintln!("{}: {error}", self.folder.display());
        }
    }
}

/// What an archive holds, one line.
///
/// # Errors
/// If it cannot be read.
pub fn held(path: &Path) -> Result<String, Box<dyn Error>> {
    if is_elsewhere(path) {
        return Ok("by `hrr record`, which has the archive".to_owned());
    }
    let archive = Archive::open(path)?;
    let mut lines = Vec::new();
    for process in archive.processes() {
        let names: Vec<_> = process.apis().iter().map(|api| api.name.as_str()).collect();
        let state = if process.complete() { "complete" } else { "not complete" };
        let bytes = process.bytes();
        let events = process.event_count();
        lines.push(format!("{events} calls, {bytes} bytes, {state}: {}", names.join(", ")));
    }
    Ok(lines.join("\n"))
}

/// Replays an archive in a process of its own: this program again, as [`answers_as_hrr`] sees it.
///
/// # Errors
/// If the process cannot be started, or the replay is not perfect.
pub fn replay_in_another_process(archive: &Path) -> Result<(), Box<dyn Error>> {
    if is_elsewhere(archive) {
        return Ok(());
    }
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("replay").arg(archive).args(["--runtime", "emu"]);
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(format!("the replay ended with {status}").into()) }
}

/// Whether this program runs under `hrr record`, and so was not recorded into its own archive.
fn is_elsewhere(archive: &Path) -> bool {
    std::env::var_os("HRR_RECORD").is_some() && !archive.exists()
}

/// Whether this process was started to replay, as the `hrr` command would.
pub fn answers_as_hrr() -> bool {
    std::env::args_os().nth(1).is_some_and(|first| first == "replay")
}

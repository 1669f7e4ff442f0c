//! What `hrr record` says after the program has ended.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use hrr_runtime::archive::facts::Note;
use hrr_runtime::archive::reader::Archive;
use hrr_runtime::too_new;

use crate::archive::{self, NoteText, bytes_text};
use crate::runtime::{Runtime, plural};
use crate::say::{note, warn};

pub(crate) fn after_recording(path: &Path, front: Option<&Runtime>) {
    let archive = match archive::open(path) {
        Ok(archive) => archive,
        Err(failure) => {
            warn(&format!("the archive cannot be read back: {failure}"));
            return;
        }
    };
    note(&totals(&archive));
    for finding in archive.findings() {
        warn(&finding.what);
    }
    let many = archive.processes().len() > 1;
    for process in archive.processes() {
        let of = if many { format!("process {}: ", process.info().pid) } else { String::new() };
        for fact in process.notes() {
            match fact {
                Note::Runtime { path } => {
                    if let Some(front) = front.filter(|front| !same_file(&front.path, path)) {
                        let asked = front.path.display();
                        warn(&format!("{of}the program took {path} by its own path, not {asked}"));
                    }
                }
                // The findings below say it.
                Note::Stopped { .. } => (),
                Note::NotRecorded { .. } | Note::Warning { .. } => {
                    warn(&format!("{of}{}", NoteText(fact)));
                }
            }
        }
        for finding in process.findings() {
            warn(&format!("{of}{}", finding.what));
        }
        let runtime = process.runtimes().first();
        if let Some(why) = runtime.and_then(|runtime| too_new(process, runtime)) {
            warn(&format!("{of}{why}"));
        }
    }
    note(&format!("replay it with: hrr replay {}", path.display()));
}

fn totals(archive: &Archive) -> String {
    let processes = archive.processes();
    let events: u64 = processes.iter().map(|process| process.event_count()).sum();
    let bytes: u64 = processes.iter().map(|process| process.bytes()).sum();
    let functions: BTreeSet<&str> = processes
        .iter()
        .flat_map(|process| process.apis().iter().map(|api| api.name.as_str()))
        .collect();
    let sealed = processes.iter().filter(|process| process.sealed()).count();
    let state = if sealed == processes.len() {
        "sealed".to_owned()
    } else {
        format!("{} not sealed", processes.len() - sealed)
    };
    format!(
        "recorded {events} event{} of {} function{} in {} process{}, {}, {state}: {}",
        plural(events),
        functions.len(),
        plural_of(functions.len()),
        processes.len(),
        if processes.len() == 1 { "" } else { "es" },
        bytes_text(bytes),
        archive.path().display(),
    )
}

fn plural_of(count: usize) -> &'static str {
    plural(count as u64)
}

fn same_file(one: &Path, other: &str) -> bool {
    let file = |path: &Path| path.metadata().map(|file| (file.dev(), file.ino()));
    match (file(one), file(Path::new(other))) {
        (Ok(one), Ok(other)) => one == other,
        // A library that was removed meanwhile is another one.
        (Err(_), _) | (_, Err(_)) => false,
    }
}

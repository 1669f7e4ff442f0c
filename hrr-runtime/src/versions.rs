//! Names the reason where the runtime here is another version of HIP than the recorded one.

use hrr_core::archive::facts::RuntimeName;
use hrr_core::archive::reader::Process;
use hrr_core::replay::Report;
use hrr_core::replay::report::{Finding, FindingKind};
use hrr_ffi::families::targets;

use crate::library;

/// Adds a line to the report if the two are known to be of different major versions.
pub(crate) fn explain(
    report: &mut Report,
    recorded: Option<&RuntimeName>,
    live: Option<&RuntimeName>,
) {
    let (Some(recorded), Some(live)) = (recorded, live) else { return };
    let (Some(then), Some(now)) = (library::major(recorded), library::major(live)) else { return };
    if then != now {
        let reason = format!(
            "recorded on HIP {then} ({}) and replayed on HIP {now} ({}), \
             which may give constants other numbers",
            recorded.loaded_as, live.loaded_as
        );
        let kind = FindingKind::Note;
        let finding = Finding { event: None, function: String::new(), kind, reason, cause: None };
        // Before its consequences.
        report.findings.insert(0, finding);
    }
}

/// The newest code objects that HIP 5.2 loads: its compiler library refuses others (observed on
/// 5.2.3).
const OBJECTS_OF_5_2: u8 = 4;

/// Says that code of the process is too new for a runtime, if that is so. Which code objects it
/// loads is known of AMD's HIP up to 5.2, by the number in the name of its file.
pub fn too_new(process: &Process, runtime: &RuntimeName) -> Option<String> {
    let version = version_of_file(&runtime.path)?;
    if version > (5, 2) {
        return None;
    }
    let newest = targets::newest_version(crate::targets::images(process))?;
    (newest > OBJECTS_OF_5_2).then(|| {
        format!(
            "a code object of version {newest} is recorded, and HIP {}.{} loads none newer than \
             version {OBJECTS_OF_5_2}: compile with -mcode-object-version={OBJECTS_OF_5_2}, or use \
             --runtime emu",
            version.0, version.1
        )
    })
}

/// Major and minor version in the name of a runtime's file, `libamdhip64.so.5.2.21153`.
fn version_of_file(path: &str) -> Option<(u32, u32)> {
    let mut numbers = path.rsplit_once("libamdhip64.so.")?.1.split('.');
    let major = numbers.next()?.parse().ok()?;
    Some((major, numbers.next()?.parse().ok()?))
}

/// Adds the reason to a report that is not good.
pub(crate) fn explain_code(report: &mut Report, process: &Process, live: Option<&RuntimeName>) {
    if report.diverged == 0 && report.refused == 0 {
        return;
    }
    if let Some(reason) = live.and_then(|live| too_new(process, live)) {
        let kind = FindingKind::Note;
        let finding = Finding { event: None, function: String::new(), kind, reason, cause: None };
        report.findings.insert(0, finding);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_from_the_name_of_a_file() {
        assert_eq!(version_of_file("/a/libamdhip64.so.5.2.21153"), Some((5, 2)));
        assert_eq!(version_of_file("/a/libamdhip64.so.5"), None);
        assert_eq!(version_of_file("/a/libamdhip64.so"), None);
    }

    #[test]
    fn only_versions_that_are_known_and_differ_are_told() {
        let name = |loaded_as: &str| RuntimeName {
            path: "/lib/libamdhip64.so".into(),
            loaded_as: loaded_as.into(),
            soname: None,
        };
        let (five, six) = (name("libamdhip64.so.5"), name("libamdhip64.so.6"));
        let unknown = name("libamdhip64.so");
        let told = |recorded, live| {
            let mut report = Report::default();
            explain(&mut report, recorded, live);
            report.findings.into_iter().map(|finding| finding.reason).collect::<Vec<_>>()
        };
        let said = told(Some(&five), Some(&six));
        assert_eq!(said.len(), 1);
        assert!(said[0].contains("HIP 5 (libamdhip64.so.5)"), "{said:?}");
        assert!(said[0].contains("HIP 6 (libamdhip64.so.6)"), "{said:?}");
        for same in [(Some(&five), Some(&five)), (Some(&five), Some(&unknown)), (None, Some(&six))]
        {
            assert!(told(same.0, same.1).is_empty());
        }
    }
}

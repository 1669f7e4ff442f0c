//! Names the reason where the runtime here is another version of HIP than the recorded one.

use hrr_core::archive::facts::RuntimeName;
use hrr_core::replay::Report;
use hrr_core::replay::report::{Finding, FindingKind};

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

#[cfg(test)]
mod tests {
    use super::*;

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

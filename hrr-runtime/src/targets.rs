//! Names the reason where recorded code is for another device than the one here.

use std::sync::Arc;

use hrr_core::archive::reader::Process;
use hrr_core::replay::Report;
use hrr_core::replay::report::{Finding, FindingKind};
use hrr_ffi::families::targets;

/// Adds the reason to a report that is not good.
pub(crate) fn explain(report: &mut Report, process: &Process) {
    if report.diverged == 0 && report.refused == 0 {
        return;
    }
    if let Some(reason) = targets::mismatch(images(process)) {
        let finding = Finding {
            event: None,
            function: String::new(),
            kind: FindingKind::Note,
            reason,
            cause: None,
        };
        // Before its consequences.
        report.findings.insert(0, finding);
    }
}

/// The code images that the recorded process loaded.
pub(crate) fn images(process: &Process) -> impl Iterator<Item = Arc<[u8]>> {
    let events = process.threads().iter().flat_map(|thread| process.thread(thread.ordinal));
    events.filter_map(Result::ok).filter_map(|event| {
        let api = process.apis().get(event.api as usize)?;
        let field = event.fields.iter().find(|field| {
            let param = api.params.get(usize::from(field.id));
            field.depth == 0 && param.is_some_and(|param| param.kind == "Image")
        })?;
        // What is damaged has a finding of its own.
        process.content(&field.body).ok().flatten()
    })
}

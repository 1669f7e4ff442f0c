//! Every declaration, recorded and replayed over a runtime of the test's own: random arguments go
//! through the wrapper to a receiver, the archive is read back and replayed to the same receiver,
//! and what it saw both times must agree.
//!
//! The recording happens once, with every function in it; each case then looks at its own part.

mod args;
mod fake;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use hrr_core::archive::reader::Archive;
use hrr_core::code::{Image, Kernel, KernelArg, Parser, Symbol, ValueKind};
use hrr_core::desc::{ApiDesc, Class, Effect, ImageForm, Role, Table};
use hrr_core::replay::report::{FindingKind, Report};
use hrr_core::replay::{ArchivedProcess, ReplayOptions};
use hrr_core::{capture, code, loader, replay, testing};

use args::Maker;
use fake::{Call, Fake};

/// What both passes saw, and what replay says.
struct Trip {
    recorded: HashMap<&'static str, Vec<Call>>,
    replayed: HashMap<&'static str, Vec<Call>>,
    report: Report,
}

/// The content of the one image of the test.
pub(crate) const IMAGE: &[u8; 16] = b"the test's image";
/// The one kernel and the one variable in it.
pub(crate) const KERNEL: &core::ffi::CStr = c"kernel";

/// The test's own format: an image is 16 bytes, and has one kernel of a pointer and a number.
static PARSER: Parser = Parser { copy: copy_image, parse: parse_image };

unsafe fn copy_image(image: *const u8) -> Option<Vec<u8>> {
    // SAFETY: the test hands over pointers to `IMAGE` alone.
    (!image.is_null()).then(|| unsafe { std::slice::from_raw_parts(image, IMAGE.len()) }.to_vec())
}

fn parse_image(_image: &[u8]) -> Result<Image, String> {
    let arg = |offset, bytes, kind| KernelArg { offset, bytes, kind };
    let args = vec![arg(0, 8, ValueKind::Pointer), arg(8, 4, ValueKind::ByValue)];
    let name = KERNEL.to_string_lossy().into_owned();
    let symbols = vec![Symbol { name: name.clone(), bytes: 64 }];
    Ok(Image { kernels: vec![Kernel { name, kernarg_bytes: 16, args }], symbols })
}

fn trip() -> &'static Trip {
    static TRIP: OnceLock<Trip> = OnceLock::new();
    TRIP.get_or_init(|| {
        let dir = tempfile::tempdir().expect("a folder");
        take(dir.path())
    })
}

static TABLES: &[Table] = &[hrr_ffi::ALL];

fn take(dir: &Path) -> Trip {
    loader::set_resolver(|api| api.receive.0);
    loader::set_tables(TABLES);
    code::set_parser(&PARSER);
    let fake = Arc::new(Fake::new());
    let answering = Arc::clone(&fake);
    testing::receive_everywhere(move |api, args, ret| answering.answer(api, args, ret));

    let recording = capture::start(dir).expect("the recording starts");
    let mut maker = Maker::new(dir);
    for api in in_order() {
        maker.call(api);
    }
    recording.stop().expect("the recording ends");
    let recorded = fake.take_calls();

    let archive = Arc::new(Archive::open(dir).expect("the archive opens"));
    let process = ArchivedProcess::new(archive, 0).expect("one process");
    let options = ReplayOptions { tables: vec![hrr_ffi::ALL], ..ReplayOptions::default() };
    let report = replay::replay(process, options, |_| {});
    Trip { recorded, replayed: fake.take_calls(), report }
}

/// The functions: after the others those with a hand-written half, then those that load a file and
/// so issue another function, which is then called more often in one pass; last those that end
/// everything.
fn in_order() -> Vec<&'static ApiDesc> {
    let loads_file = |api: &ApiDesc| {
        api.params.iter().any(|param| matches!(param.role, Role::Image(ImageForm::File)))
    };
    let mut all = hrr_ffi::ALL.to_vec();
    all.sort_by_key(|api| {
        (api.effects.contains(&Effect::ResetsDevice), loads_file(api), api.replay.is_some())
    });
    all
}

/// Looks at one function's part.
pub(crate) fn check(api: &'static ApiDesc) -> Result<(), String> {
    let trip = trip();
    let name = api.name.to_str().expect("a C identifier is UTF-8");
    let recorded = trip.recorded.get(name).map_or(&[][..], Vec::as_slice);
    if recorded.is_empty() {
        return Err("the wrapper did not reach the runtime".to_owned());
    }
    let told: Vec<_> = trip.report.findings.iter().filter(|found| found.function == name).collect();
    let refused = matches!(api.class, Class::Refused { .. }) || args::has_os_handle(api);
    if refused {
        return match told.iter().find(|found| found.kind == FindingKind::Refused) {
            Some(_) => Ok(()),
            None => Err(format!("replay does not refuse it: {told:?}")),
        };
    }
    if let Some(found) = told.first() {
        return Err(format!("{:?}: {}", found.kind, found.reason));
    }
    let replayed = trip.replayed.get(name).map_or(&[][..], Vec::as_slice);
    match &api.class {
        Class::Host { .. } if replayed.is_empty() => Ok(()),
        Class::Host { .. } => Err("replay issued it".to_owned()),
        // The hand-written half issues another function, whose own case covers it.
        _ if replayed.is_empty() && api.replay.is_some() => Ok(()),
        _ => equal(recorded, replayed),
    }
}

/// The runtime saw the same calls. One pass may have more of them: a query that waits issues the
/// function that waits as well, and the recorder asks for sizes.
fn equal(recorded: &[Call], replayed: &[Call]) -> Result<(), String> {
    let lost = recorded.iter().find(|then| replayed.iter().all(|now| now.seen != then.seen));
    match lost {
        Some(then) => Err(format!("lost {:?}\n  among {replayed:#?}", then.seen)),
        None => Ok(()),
    }
}

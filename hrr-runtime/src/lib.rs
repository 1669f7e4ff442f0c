//! The one dependency of a Rust GPU application that records.
//!
//! It has every HIP function, recorded, and the guard that starts a recording:
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let recording = hrr_runtime::Recording::start("app.hrr")?;
//! let mut pointer = std::ptr::null_mut();
//! // SAFETY: the out parameter is a local.
//! let status = unsafe { hrr_runtime::hipMalloc(&raw mut pointer, 4096) };
//! recording.finish()?;
//! # Ok(()) }
//! ```
//!
//! Without the guard, a program records if `HRR_RECORD` names a folder. New functions are declared
//! with [`api`]. This crate joins the engine, the HIP ABI and the resolver ([`runtime`]); it must
//! not print, but for the one line that says why there is no runtime. Start reading at
//! [`Recording`].

mod export;
pub mod library;
#[doc(hidden)]
pub mod objects;
mod recording;
pub mod runtime;
mod targets;
mod versions;

use std::sync::Arc;

#[doc(hidden)]
pub use hrr_core::__private;
pub use hrr_core::{archive, capture, desc, dump, loader, replay};
pub use hrr_ffi::types::*;
pub use hrr_ffi::{ALL, for_each_api_group};
pub use hrr_macros::{Payload, api};

pub use capture::{Annotation as RangeGuard, annotate};
pub use recording::{Recording, StartError, hrr_recorder_v1, names_are_ours};
pub use runtime::{RuntimeChoice, RuntimeError, select_runtime};
pub use versions::too_new;

/// Puts the functions of all groups into this module.
macro_rules! flat {
    ($($segment:tt)::+ ,; $($entries:tt)*) => { flat! { @all [$($segment)::+] $($entries)* } };
    (@all $path:tt $($name:ident $($symbol:literal)? => $api:ident,)*) => {
        $(flat! { @one $path $name $($symbol)? })*
    };
    (@one $path:tt alias $symbol:literal) => {};
    (@one [$($path:tt)*] $name:ident) => { pub use $($path)*::$name; };
}
for_each_api_group! { flat, }

use archive::reader::Archive;
use desc::Table;
use replay::{ArchivedProcess, Progress, ReplayOptions, Report};

/// Replays a process of an archive in this process, with the runtime that was selected. The
/// emulated GPU, if it was not in use before, answers as the version of HIP that was recorded.
///
/// `None` if the archive does not have a process at this index.
pub fn replay(
    tables: &[Table],
    archive: &Arc<Archive>,
    process: usize,
    options: ReplayOptions,
    progress: impl Fn(Progress<'_>) + Send + Sync + 'static,
) -> Option<Report> {
    let recording = ArchivedProcess::new(Arc::clone(archive), process)?;
    let recorded = archive.processes()[process].runtimes().first();
    runtime::expect(recorded);
    let options = ReplayOptions {
        tables: tables.to_vec(),
        driver: Some(Arc::new(hrr_ffi::families::driver::HipDriver::default())),
        ..options
    };
    let mut report = replay::replay(recording, options, progress);
    targets::explain(&mut report, &archive.processes()[process]);
    let live = runtime::in_use();
    versions::explain(&mut report, recorded, live.as_ref());
    versions::explain_code(&mut report, &archive.processes()[process], live.as_ref());
    Some(report)
}

/// Runs when the program, or the library that links this crate, is loaded: before any call.
extern "C" fn install() {
    hrr_core::code::set_parser(&hrr_ffi::families::code::PARSER);
    runtime::install();
    recording::stand_back();
}

#[used]
#[unsafe(link_section = ".init_array")]
static INSTALL: extern "C" fn() = install;

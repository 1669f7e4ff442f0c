//! Images that a program names by a path. The recording holds the file's content; replay hands that
//! to the function that takes an image in memory, and opens no path that an archive names.

use core::ffi::c_void;

use hrr_core::archive::event::Phase;
use hrr_core::replay::{Issued, Refusal, ReplayCx};

use crate::api::{link, module};
use crate::types::*;

/// A path of our own at which there is no file: it stands for one that was not there when the call
/// was recorded.
const NO_FILE: &core::ffi::CStr = c"/proc/self/hrr-no-such-file";

/// `hipModuleLoad`, as `hipModuleLoadData`. A load that failed because there was no file fails for
/// the same reason.
pub fn load(cx: &mut ReplayCx<'_>) -> Issued {
    if cx.failed() && cx.field(1, Phase::Before).is_err() {
        let mut module = hipModule_t::NULL;
        // SAFETY: room for a handle, and a string.
        cx.issue(|| unsafe { module::raw::hipModuleLoad(&raw mut module, NO_FILE.as_ptr()) });
        return cx.issued();
    }
    issue(cx, |cx| {
        let (module, image) = (cx.arg::<*mut hipModule_t>(0), cx.arg::<*const c_void>(1));
        // SAFETY: the engine rebuilt both: room for a handle, and the recorded image.
        cx.issue(|| unsafe { module::raw::hipModuleLoadData(module, image) });
        Ok(())
    })
}

/// `hipLibraryLoadFromFile`, as `hipLibraryLoadData`.
pub fn load_library(cx: &mut ReplayCx<'_>) -> Issued {
    issue(cx, |cx| {
        let (library, image) = (cx.arg::<*mut hipLibrary_t>(0), cx.arg::<*const c_void>(1));
        let (keys, values, count) = (cx.arg(2), cx.arg(3), cx.arg(4));
        let (library_keys, library_values, library_count) = (cx.arg(5), cx.arg(6), cx.arg(7));
        // SAFETY: the engine rebuilt every argument; the two functions differ in the image alone.
        cx.issue(|| unsafe {
            module::raw::hipLibraryLoadData(
                library,
                image,
                keys,
                values,
                count,
                library_keys,
                library_values,
                library_count,
            )
        });
        Ok(())
    })
}

/// `hipLinkAddFile`, as `hipLinkAddData`.
pub fn link_file(cx: &mut ReplayCx<'_>) -> Issued {
    issue(cx, |cx| {
        let content = cx.field(2, Phase::Before)?;
        let bytes = content.map_or(0, |content| content.len());
        let (state, kind) = (cx.arg::<hipLinkState_t>(0), cx.arg::<hipJitInputType>(1));
        let image = cx.arg::<*mut c_void>(2);
        let (count, keys, values) = (cx.arg(3), cx.arg(4), cx.arg(5));
        // SAFETY: the engine rebuilt every argument, and the image has `bytes` bytes. The name is
        // for messages and may be null.
        cx.issue(|| unsafe {
            link::raw::hipLinkAddData(
                state,
                kind,
                image,
                bytes,
                core::ptr::null(),
                count,
                keys,
                values,
            )
        });
        Ok(())
    })
}

/// Rebuilds the arguments, then issues another function with them.
fn issue(
    cx: &mut ReplayCx<'_>,
    call: impl FnOnce(&mut ReplayCx<'_>) -> Result<(), Refusal>,
) -> Issued {
    match cx.rebuild().and_then(|()| call(cx)) {
        Ok(()) => cx.issued(),
        Err(refusal) => refusal.into(),
    }
}

//! Texture references that are variables of the program: it sets their fields itself, and the
//! runtime reads them when it binds.

use core::mem::offset_of;

use hrr_core::archive::event::Phase;
use hrr_core::capture::CaptureCx;
use hrr_core::desc::{ApiDesc, Role};
use hrr_core::replay::{Issued, Refusal, ReplayCx};

use crate::types::{hipTextureObject_t, textureReference};

/// The number under which the content is kept.
const CONTENT: u32 = 0;

/// The parameter that is the texture reference.
fn reference(api: &ApiDesc) -> Option<u16> {
    let at = api.params.iter().position(|param| matches!(param.role, Role::HostSymbol))?;
    u16::try_from(at).ok()
}

/// Takes a call as the interpreter does, and the content of its texture reference before it.
pub fn capture(cx: &mut CaptureCx<'_>) {
    cx.interpret();
    if cx.phase() == Phase::Before
        && let Some(index) = reference(cx.api())
    {
        let address = cx.word(index);
        if let Some(content) = cx.read(address, size_of::<textureReference>()) {
            cx.add_custom(CONTENT, &content);
        }
    }
}

/// Puts the recorded content into the live texture reference and issues the call.
pub fn replay(cx: &mut ReplayCx<'_>) -> Issued {
    match try_replay(cx) {
        Ok(()) => cx.issued(),
        Err(refusal) => refusal.into(),
    }
}

fn try_replay(cx: &mut ReplayCx<'_>) -> Result<(), Refusal> {
    cx.rebuild()?;
    let index = reference(cx.desc()).ok_or_else(|| Refusal::new("no texture reference"))?;
    let live = cx.arg::<*mut u8>(index);
    if !live.is_null() {
        let content = cx.custom(CONTENT)?.filter(|it| it.len() == size_of::<textureReference>());
        let content =
            content.ok_or_else(|| Refusal::new("the recording lacks the texture reference"))?;
        // The texture object is the runtime's, and another one now.
        let object = offset_of!(textureReference, textureObject);
        let rest = object + size_of::<hipTextureObject_t>();
        for part in [0..object, rest..content.len()] {
            // SAFETY: the live reference was registered by the engine with room for a texture
            // reference, and each part lies inside one.
            unsafe {
                let at = live.add(part.start);
                core::ptr::copy_nonoverlapping(content[part.clone()].as_ptr(), at, part.len());
            }
        }
    }
    cx.call();
    Ok(())
}

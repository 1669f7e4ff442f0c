//! From an image, whatever it is, to the code object for a device.

use std::borrow::Cow;

use crate::{Bundle, CodeError, CodeObject, CompressedBundle, TargetId};

/// The code object that was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected<'a> {
    /// The target that it was built for.
    pub target: TargetId,
    /// The ELF object: part of the image, or decompressed from it.
    pub object: Cow<'a, [u8]>,
}

/// Takes the code object for `device` out of an ELF object, a bundle or a compressed bundle.
///
/// Among several that run, the one that fixes the most features is taken, then the first.
pub fn select<'a>(image: &'a [u8], device: &TargetId) -> Result<Selected<'a>, CodeError> {
    if CompressedBundle::is_compressed(image) {
        let bundle = CompressedBundle::parse_header(image)?.decompress(image)?;
        let chosen = from_bundle(&bundle, device)?;
        return Ok(Selected {
            target: chosen.target,
            object: Cow::Owned(chosen.object.into_owned()),
        });
    }
    if Bundle::is_bundle(image) {
        return from_bundle(image, device);
    }
    let target = CodeObject::parse(image)?.target;
    if target.runs_on(device) {
        Ok(Selected { target, object: Cow::Borrowed(image) })
    } else {
        Err(no_code(device, target.to_string()))
    }
}

fn from_bundle<'a>(image: &'a [u8], device: &TargetId) -> Result<Selected<'a>, CodeError> {
    let bundle = Bundle::parse(image)?;
    let best = bundle
        .entries
        .iter()
        .filter_map(|entry| Some((entry.target()?, entry.data)))
        .filter(|(target, _)| target.runs_on(device))
        .reduce(|best, next| if next.0.specificity() > best.0.specificity() { next } else { best });
    match best {
        Some((target, data)) => Ok(Selected { target, object: Cow::Borrowed(data) }),
        None => {
            let offered: Vec<&str> = bundle.entries.iter().map(|entry| entry.id).collect();
            Err(no_code(device, offered.join(", ")))
        }
    }
}

fn no_code(device: &TargetId, offered: String) -> CodeError {
    CodeError::NoCodeForDevice { device: device.to_string(), offered }
}

//! Whether recorded code is for the device that is here: the commonest reason why a replay on
//! another machine fails, and the one that a status of the runtime names worst.

use core::ffi::{CStr, c_char, c_int};
use core::mem::zeroed;

use hip_code::{Bundle, CodeObject, CompressedBundle, TargetId};

use crate::api::device;
use crate::types::*;

/// The targets that an image has code for; nothing for what is no image.
fn of_image(image: &[u8]) -> Vec<TargetId> {
    if CompressedBundle::is_compressed(image) {
        let bundle = CompressedBundle::parse_header(image).and_then(|it| it.decompress(image));
        bundle.map(|bundle| of_bundle(&bundle)).unwrap_or_default()
    } else if Bundle::is_bundle(image) {
        of_bundle(image)
    } else {
        CodeObject::parse(image).map(|object| vec![object.target]).unwrap_or_default()
    }
}

fn of_bundle(bundle: &[u8]) -> Vec<TargetId> {
    let entries = Bundle::parse(bundle).map(|bundle| bundle.entries).unwrap_or_default();
    entries.iter().filter_map(|entry| entry.target()).collect()
}

/// The targets of the live devices, by what the runtime calls their architecture.
fn of_devices() -> Vec<TargetId> {
    let mut count: c_int = 0;
    // SAFETY: the callee writes one int.
    if unsafe { device::raw::hipGetDeviceCount(&raw mut count) } != hipSuccess {
        return Vec::new();
    }
    (0..count).filter_map(of_device).collect()
}

fn of_device(ordinal: c_int) -> Option<TargetId> {
    // SAFETY: the struct is numbers and characters, for which zeros are values.
    let mut properties: hipDeviceProp_tR0600 = unsafe { zeroed() };
    // SAFETY: the callee writes the struct of this very name.
    let status = unsafe { device::raw::hipGetDevicePropertiesR0600(&raw mut properties, ordinal) };
    if status == hipSuccess {
        return parse(&properties.gcnArchName);
    }
    // Runtimes before HIP 6 have the older struct only.
    // SAFETY: as above.
    let mut properties: hipDeviceProp_tR0000 = unsafe { zeroed() };
    // SAFETY: as above.
    let status = unsafe { device::raw::hipGetDeviceProperties(&raw mut properties, ordinal) };
    (status == hipSuccess).then(|| parse(&properties.gcnArchName)).flatten()
}

fn parse(name: &[c_char]) -> Option<TargetId> {
    let bytes: Vec<u8> = name.iter().map(|byte| *byte as u8).collect();
    TargetId::parse(CStr::from_bytes_until_nul(&bytes).ok()?.to_str().ok()?)
}

/// Says that no live device runs the code of one of these images, if that is so.
pub fn mismatch<I: AsRef<[u8]>>(images: impl IntoIterator<Item = I>) -> Option<String> {
    let devices = of_devices();
    if devices.is_empty() {
        return None;
    }
    let list = |targets: &[TargetId]| {
        targets.iter().map(TargetId::to_string).collect::<Vec<_>>().join(", ")
    };
    images.into_iter().find_map(|image| {
        let code = of_image(image.as_ref());
        let runs = code.iter().any(|code| devices.iter().any(|device| code.runs_on(device)));
        (!code.is_empty() && !runs).then(|| {
            format!(
                "the recorded code is for {}, and the device here is {}: replay on such a device, \
                 or on the emulated GPU with --runtime emu",
                list(&code),
                list(&devices)
            )
        })
    })
}

/// The newest version of code object among the code of these images.
pub fn newest_version<I: AsRef<[u8]>>(images: impl IntoIterator<Item = I>) -> Option<u8> {
    images.into_iter().filter_map(|image| version_of_image(image.as_ref())).max()
}

fn version_of_image(image: &[u8]) -> Option<u8> {
    if CompressedBundle::is_compressed(image) {
        let bundle = CompressedBundle::parse_header(image).and_then(|it| it.decompress(image));
        return version_of_bundle(&bundle.ok()?);
    }
    if Bundle::is_bundle(image) {
        return version_of_bundle(image);
    }
    CodeObject::parse(image).ok().map(|object| object.version)
}

fn version_of_bundle(bundle: &[u8]) -> Option<u8> {
    let entries = Bundle::parse(bundle).ok()?.entries;
    // Entries for the host are no code objects.
    let objects = entries.iter().filter_map(|entry| CodeObject::parse(entry.data).ok());
    objects.map(|object| object.version).max()
}

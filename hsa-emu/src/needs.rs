//! Whether this library has what the HIP runtime that loaded it asks for.
//!
//! A runtime that is newer than the one this crate is made for asks for more functions. The
//! dynamic linker would end the program at the first call of one that is missing; instead the
//! first `hsa_init` names all of them and fails, so that HIP finds no device.

use std::ffi::{CStr, OsStr, c_int, c_void};
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::ptr;

use object::{Object as _, ObjectSymbol as _};

use crate::exports;

/// Names the functions that are missing, if any.
pub(crate) fn check() -> Result<(), String> {
    for library in loaded_libraries() {
        let missing = match missing_in(&library) {
            Ok(missing) => missing,
            Err(error) => return Err(format!("cannot read {}: {error}", library.display())),
        };
        if !missing.is_empty() {
            return Err(format!(
                "{} needs HSA functions that are missing here: {}",
                library.display(),
                missing.join(", ")
            ));
        }
    }
    Ok(())
}

/// The HIP runtimes that are loaded.
fn loaded_libraries() -> Vec<PathBuf> {
    unsafe extern "C" fn each(
        info: *mut libc::dl_phdr_info,
        _bytes: libc::size_t,
        found: *mut c_void,
    ) -> c_int {
        // SAFETY: the linker passes a description, whose name is a C string or null, and our
        // own pointer, which is the list below.
        let (name, found) = unsafe { ((*info).dlpi_name, &mut *found.cast::<Vec<PathBuf>>()) };
        if !name.is_null() {
            // SAFETY: as above.
            let name = unsafe { CStr::from_ptr(name) };
            let path = Path::new(OsStr::from_bytes(name.to_bytes()));
            let file = path.file_name().unwrap_or_default();
            if file.as_bytes().starts_with(b"libamdhip64") {
                found.push(path.to_owned());
            }
        }
        0
    }
    let mut found = Vec::new();
    // SAFETY: the callback has the type that the function asks for, and the pointer is the
    // list that it expects.
    unsafe { libc::dl_iterate_phdr(Some(each), ptr::from_mut(&mut found).cast()) };
    found
}

/// The functions of HSA that a library imports and this one does not have.
fn missing_in(library: &Path) -> Result<Vec<String>, String> {
    let file = File::open(library).map_err(|error| error.to_string())?;
    // SAFETY: a read-only mapping of a library that is loaded; whoever changes the file of a
    // loaded library breaks the program anyway.
    let bytes = unsafe { memmap2::Mmap::map(&file) }.map_err(|error| error.to_string())?;
    let object = object::File::parse(&*bytes).map_err(|error| error.to_string())?;
    let names = object.dynamic_symbols().filter(|symbol| symbol.is_undefined());
    Ok(names
        .filter_map(|symbol| symbol.name().ok())
        .filter(|name| name.starts_with("hsa_") && !exports::is_exported(name))
        .map(str::to_owned)
        .collect())
}

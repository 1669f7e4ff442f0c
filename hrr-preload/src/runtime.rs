//! The runtime that the program chose: which of its functions a call goes to.

use std::ffi::{CStr, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use hrr_runtime::capture;
use hrr_runtime::desc::ApiDesc;
use hrr_runtime::objects;
use hrr_runtime::runtime::not_recorded;

/// What the file names of the vendor's libraries begin with; wheels put a hash behind it.
const RUNTIME: &[u8] = b"libamdhip64";
const COMPILER: &[u8] = b"libhiprtc";

/// Whether an address lies in a vendor's library: what that looks up is for itself.
pub(crate) fn holds(address: usize) -> bool {
    objects::holder_of(address).is_some_and(|(_, path)| {
        let file = path.file_name().unwrap_or_default().as_bytes();
        file.starts_with(RUNTIME) || file.starts_with(COMPILER)
    })
}

/// Finds the function in the runtime that the program has loaded.
pub(crate) fn find(api: &ApiDesc) -> *mut c_void {
    // Older runtimes have the compiler's functions in the main library.
    let files: &[&[u8]] = if api.library.is_empty() { &[RUNTIME] } else { &[COMPILER, RUNTIME] };
    let names = || std::iter::once(&api.name).chain(api.aliases);
    files
        .iter()
        .flat_map(|file| names().map(|name: &&CStr| objects::definition(file, name)))
        .find(|found| !found.is_null())
        .unwrap_or(ptr::null_mut())
}

/// What the loader asks for at the first call of a function: the address that the program's own
/// look-up found, else the one in the runtime that is loaded.
pub(crate) fn resolve(api: &'static ApiDesc) -> *const () {
    let adopted = api.real.load(Ordering::Acquire);
    let real = if adopted.is_null() { find(api) } else { adopted.cast() };
    if adopted.is_null() {
        // Without us a library that was loaded later might have bound a runtime of its own.
        for other in objects::paths(RUNTIME).iter().skip(1) {
            not_recorded(other, "calls of libraries that are linked to it go to the first runtime");
        }
    }
    if !real.is_null()
        && is_home(api, real)
        && api.library.is_empty()
        && let Some((_, path)) = objects::holder_of(real.addr())
    {
        capture::runtime(objects::names_of(&path));
    }
    real.cast_const().cast()
}

/// Takes the function that the program's own look-up found as the real one. False: it is another
/// runtime's, and its calls are not recorded. Nothing starts here: a look-up is no call.
pub(crate) fn adopt(api: &'static ApiDesc, real: *mut c_void) -> bool {
    if !is_home(api, real) {
        return false;
    }
    let none = ptr::null_mut();
    match api.real.compare_exchange(none, real.cast(), Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => true,
        Err(bound) => ptr::eq(bound.cast(), real),
    }
}

/// Where the library begins whose calls are recorded: the first that was bound. The compiler may be
/// a library of its own.
static HOMES: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

fn is_home(api: &ApiDesc, real: *mut c_void) -> bool {
    let (base, path) = objects::holder_of(real.addr()).unwrap_or((0, PathBuf::new()));
    let home = &HOMES[usize::from(!api.library.is_empty())];
    match home.compare_exchange(0, base, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => true,
        Err(home) if home == base => true,
        Err(_) => {
            not_recorded(&path, "the program's calls go to another runtime already");
            false
        }
    }
}

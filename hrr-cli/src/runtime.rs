//! Which runtime a command works with: the vendor's if it has a device, else the emulated one.
//!
//! Loads libraries by path and asks them one question. No HIP name is linked: the one function that
//! is called is looked up by its string.

use std::ffi::c_int;
use std::fmt;
use std::path::{Path, PathBuf};

use hrr_runtime::runtime::vendor_on_emulated;
use hrr_runtime::{RuntimeChoice, library};

use crate::failure::{Failure, NO_RUNTIME, USAGE};
use crate::front;

/// A runtime that a command works with.
#[derive(Debug)]
pub(crate) struct Runtime {
    /// The library; absolute, if it is a file that was named.
    pub(crate) path: PathBuf,
    /// Whether it is the emulated GPU.
    pub(crate) emulated: bool,
    /// Our HSA library, if the runtime is the vendor's and runs on it.
    pub(crate) hsa: Option<PathBuf>,
    /// Why it was taken, for people.
    pub(crate) why: String,
}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.emulated, &self.hsa) {
            (true, _) => write!(f, "the emulated GPU ({})", self.why),
            (false, Some(_)) => {
                write!(f, "{} on the emulated GPU ({})", self.path.display(), self.why)
            }
            (false, None) => write!(f, "{} ({})", self.path.display(), self.why),
        }
    }
}

impl Runtime {
    /// What is selected in this process to have it. Which HIP the emulated GPU is, is left to the
    /// replay unless it was asked for.
    pub(crate) fn choice(&self, asked: Option<&RuntimeChoice>) -> RuntimeChoice {
        match asked {
            Some(choice @ (RuntimeChoice::Emulated | RuntimeChoice::EmulatedAs(_))) => {
                choice.clone()
            }
            None if self.emulated => RuntimeChoice::Emulated,
            Some(RuntimeChoice::VendorOnEmulated | RuntimeChoice::Library(_)) | None => {
                RuntimeChoice::Library(self.path.clone())
            }
        }
    }
}

/// Finds the runtime that this process shall load: the one asked for, or the default.
pub(crate) fn to_load(asked: Option<&RuntimeChoice>) -> Result<Runtime, Failure> {
    match asked {
        Some(RuntimeChoice::Emulated) => emulated("as asked"),
        Some(RuntimeChoice::EmulatedAs(major)) => emulated(&format!("as HIP {major}, as asked")),
        Some(RuntimeChoice::VendorOnEmulated) => on_emulated(),
        Some(RuntimeChoice::Library(path)) => {
            let runtime = named(path)?;
            match devices(&runtime.path) {
                Ok(_) => Ok(runtime),
                Err(what) => Err(no_runtime(path, &what)),
            }
        }
        None => match vendor_with_device() {
            Ok(runtime) => Ok(runtime),
            Err(why) => emulated(&why),
        },
    }
}

/// Finds the runtime that shall be put in front of the program's own; `None`: the program's own.
pub(crate) fn to_put_in_front(
    asked: Option<&RuntimeChoice>,
    program: &Path,
) -> Result<Option<Runtime>, Failure> {
    let found = in_front(asked)?;
    if let Some(runtime) = found.as_ref().filter(|runtime| !runtime.emulated) {
        front::check(&runtime.path, program).map_err(|what| no_runtime(&runtime.path, &what))?;
    }
    Ok(found)
}

fn in_front(asked: Option<&RuntimeChoice>) -> Result<Option<Runtime>, Failure> {
    match asked {
        Some(RuntimeChoice::Emulated) => emulated("as asked").map(Some),
        Some(RuntimeChoice::EmulatedAs(_)) => {
            let what = "the name by which the program loads its runtime says which HIP it gets";
            Err(Failure::new(USAGE, format!("{what}; use `emu` without a version")))
        }
        Some(RuntimeChoice::VendorOnEmulated) => on_emulated().map(Some),
        Some(RuntimeChoice::Library(path)) => named(path).map(Some),
        // A program may bring a runtime that only it can find, so the device alone decides.
        None if Path::new(DEVICE_NODE).exists() => Ok(None),
        None => match vendor_with_device() {
            Ok(_) => Ok(None),
            Err(why) => emulated(&why).map(Some),
        },
    }
}

/// The kernel driver of AMD's GPUs.
const DEVICE_NODE: &str = "/dev/kfd";

fn emulated(why: &str) -> Result<Runtime, Failure> {
    match library::own(library::EMULATED) {
        Ok(path) => Ok(Runtime { path, emulated: true, hsa: None, why: why.to_owned() }),
        Err(missing) => Err(Failure::new(NO_RUNTIME, missing.to_string())),
    }
}

/// The vendor's runtime on the emulated GPU. It is loaded and asked here, for `hrr record` too:
/// what cannot work is said before the program starts.
fn on_emulated() -> Result<Runtime, Failure> {
    let found = vendor_on_emulated().map_err(|error| {
        Failure::new(NO_RUNTIME, format!("{error}; use `emu` for the emulated GPU alone"))
    })?;
    let path = found.runtime.canonicalize().unwrap_or(found.runtime);
    match devices(&path) {
        Ok(0) => Err(no_runtime(&path, "it has no device on the emulated GPU")),
        Ok(_) => {
            let why = format!("HIP {}, as asked", version(&path));
            Ok(Runtime { path, emulated: false, hsa: Some(found.hsa), why })
        }
        Err(what) => Err(no_runtime(&path, &what)),
    }
}

fn no_runtime(path: &Path, what: &str) -> Failure {
    let next = "name a libamdhip64.so, or `emu` for the emulated GPU";
    Failure::new(NO_RUNTIME, format!("{}: no runtime: {what}; {next}", path.display()))
}

/// A library that the user named, as a path that stays true in other folders.
fn named(path: &Path) -> Result<Runtime, Failure> {
    let path = path.canonicalize().map_err(|error| no_runtime(path, &error.to_string()))?;
    let emulated = library::own(library::EMULATED).is_ok_and(|own| own == path);
    Ok(Runtime { path, emulated, hsa: None, why: "as asked".to_owned() })
}

/// The vendor's runtime if it has a device, else why it is not taken.
fn vendor_with_device() -> Result<Runtime, String> {
    let mut without_device = None;
    for path in library::vendor("amdhip64") {
        match devices(&path) {
            Ok(0) => without_device = without_device.or(Some(path)),
            Ok(count) => {
                let why = format!("the vendor's, with {count} device{}", plural(count));
                return Ok(Runtime { path, emulated: false, hsa: None, why });
            }
            Err(_) => (), // not on this machine; the next name may be
        }
    }
    Err(match without_device {
        Some(path) => format!("{} has no device", path.display()),
        None => "there is no libamdhip64 on this machine".to_owned(),
    })
}

/// How many devices a runtime says it has; an error if it cannot be loaded, or is no runtime.
fn devices(path: &Path) -> Result<u32, String> {
    number(path, b"hipGetDeviceCount\0").map(|count| count.unwrap_or(0))
}

/// The version of HIP that a runtime says it is.
fn version(path: &Path) -> String {
    match number(path, b"hipRuntimeGetVersion\0") {
        Ok(Some(version)) => {
            let (major, minor) = (version / 10_000_000, version / 100_000 % 100);
            format!("{major}.{minor}.{}", version % 100_000)
        }
        Ok(None) | Err(_) => "of an unknown version".to_owned(),
    }
}

/// What a runtime's function says that has one parameter, a place for a number. `None`: it failed.
fn number(path: &Path, function: &[u8]) -> Result<Option<u32>, String> {
    // SAFETY: loading runs the library's initialisers: it is the runtime that the user named, or
    // that programs on this machine load themselves.
    let library = unsafe { libloading::Library::new(path) }.map_err(|error| error.to_string())?;
    // It is used in a moment, or has started threads that must not lose their code.
    let library = std::mem::ManuallyDrop::new(library);
    type GetNumber = unsafe extern "C" fn(*mut c_int) -> c_int;
    // SAFETY: every runtime exports the functions that are asked for with this signature.
    let get_number =
        unsafe { library.get::<GetNumber>(function) }.map_err(|error| error.to_string())?;
    let mut number = 0;
    // SAFETY: the function takes a pointer to an int that it may write.
    let status = unsafe { get_number(&raw mut number) };
    Ok((status == 0).then(|| u32::try_from(number).unwrap_or(0)))
}

/// The ending of a noun.
pub(crate) fn plural<T: PartialEq + From<u8>>(count: T) -> &'static str {
    if count == T::from(1) { "" } else { "s" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_runtime_is_named() {
        let to_load = |path: &str| to_load(Some(&RuntimeChoice::Library(path.into())));
        let failure = to_load("/no/such/libamdhip64.so").expect_err("it is not there");
        assert_eq!(failure.code, NO_RUNTIME);
        assert!(failure.to_string().contains("/no/such/libamdhip64.so"), "{failure}");
        let failure = to_load("/lib/x86_64-linux-gnu/libm.so.6").expect_err("it is no runtime");
        assert!(failure.to_string().contains("hipGetDeviceCount"), "{failure}");
        let failure = to_load("/etc/passwd").expect_err("it is no library");
        assert_eq!(failure.code, NO_RUNTIME);
    }
}

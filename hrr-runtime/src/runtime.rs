//! Which runtime the calls of this program go to, and how its functions are found.
//!
//! The resolver of a program that links the recorder: it opens libraries itself. (The preloaded
//! recorder has another, because there the program has opened them.)

use std::collections::HashMap;
use std::ffi::{CStr, OsStr};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hrr_core::archive::facts::{Note, RuntimeName};
use hrr_core::capture;
use hrr_core::desc::{ApiDesc, Table};
use hrr_core::loader;
use libloading::Library;

use crate::{library, objects};

/// A library of the vendor, `emu`, `emu:` with a major version of HIP, or `amd-emu`: what this
/// process shall call.
pub const VARIABLE: &str = "HRR_RUNTIME";

/// The runtime that calls shall go to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RuntimeChoice {
    /// The emulated GPU, which answers as the major version of HIP on which the archive that is
    /// replayed was recorded; as HIP 6 if it names none that is known.
    Emulated,
    /// The emulated GPU as this major version of HIP: 5, 6 or 7.
    EmulatedAs(u32),
    /// The vendor's library, with the emulated GPU under it.
    VendorOnEmulated,
    /// A library, by its path or by a name that the dynamic loader finds.
    Library(PathBuf),
}

impl RuntimeChoice {
    /// What a text names: `emu`, `emu:` with a major version, `amd-emu`, or a library.
    ///
    /// # Errors
    /// If there is no text, or no such version.
    pub fn parse(text: &OsStr) -> Result<RuntimeChoice, RuntimeError> {
        let version = text.to_str().and_then(|text| text.strip_prefix("emu:"));
        if text.is_empty() {
            Err(RuntimeError::NotNamed)
        } else if text == "emu" {
            Ok(RuntimeChoice::Emulated)
        } else if text == "amd-emu" {
            Ok(RuntimeChoice::VendorOnEmulated)
        } else if let Some(version) = version {
            let known =
                version.parse().ok().filter(|major| library::runtime_name(*major).is_some());
            let unknown = || RuntimeError::NoSuchVersion(version.to_owned());
            known.map(RuntimeChoice::EmulatedAs).ok_or_else(unknown)
        } else {
            Ok(RuntimeChoice::Library(PathBuf::from(text)))
        }
    }
}

impl FromStr for RuntimeChoice {
    type Err = RuntimeError;

    fn from_str(text: &str) -> Result<RuntimeChoice, RuntimeError> {
        RuntimeChoice::parse(text.as_ref())
    }
}

/// Why there is no runtime.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// A call was made already, and so a library is in use.
    #[error("the runtime is in use already ({}); choose one before the first call", .0.display())]
    InUse(PathBuf),
    /// Nothing is named.
    #[error("expected a library, `emu` or `amd-emu`")]
    NotNamed,
    /// The emulated GPU is not the version that was asked for.
    #[error("`{0}` is no version of HIP that the emulated GPU can be; expected 5, 6 or 7")]
    NoSuchVersion(String),
    /// The folder for the name of a version cannot be made.
    #[error("cannot make a temporary folder: {0}; set TMPDIR to a folder that can be written")]
    NoFolder(#[source] std::io::Error),
    /// A library of ours is nowhere.
    #[error(transparent)]
    Missing(#[from] library::Missing),
    /// The vendor's library is nowhere.
    #[error("there is no libamdhip64 on this machine (Debian: libamdhip64-5); looked for {looked}")]
    NoVendor {
        /// The names that the loader was asked for.
        looked: String,
    },
    /// A library has the vendor's name, and does not ask for the library that is put under it.
    #[error("{}: does not ask for {}, so no GPU can be put under it", .0.display(), library::HSA_NAME)]
    NoHsa(PathBuf),
    /// The library cannot be loaded.
    #[error("{}: {what}", path.display())]
    NotLoaded {
        /// The library.
        path: PathBuf,
        /// What the loader says.
        what: String,
    },
}

/// A library that was opened.
struct Loaded {
    library: Library,
    /// Its path as the loader has it; it may be a link that is gone.
    path: PathBuf,
    names: RuntimeName,
}

/// The libraries that were opened. They are never closed: slots lead into them.
#[derive(Default)]
struct Opened {
    /// By the name that declarations use. `None`: it was tried, said, and is not there.
    libraries: HashMap<&'static str, Option<Loaded>>,
    /// What was selected and is opened at the first call.
    selected: Option<RuntimeChoice>,
    /// The version of HIP that the emulated GPU shall be, where the choice leaves it open.
    recorded: Option<u32>,
}

static OPENED: Mutex<Option<Opened>> = Mutex::new(None);

fn opened() -> MutexGuard<'static, Option<Opened>> {
    // A panic while the table was held left it whole: entries are inserted at once.
    OPENED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The name of the main library in [`ApiDesc::library`].
const MAIN: &str = "";

/// Chooses the runtime of this process and opens it, before the first call. The emulated GPU is
/// opened by the first call, or by the replay that tells which version it shall be.
///
/// Without it `HRR_RUNTIME` decides, else the vendor's runtime, else the emulated GPU.
///
/// # Errors
/// If a runtime is in use, or this one cannot be opened.
pub fn select_runtime(choice: RuntimeChoice) -> Result<(), RuntimeError> {
    let mut guard = opened();
    let opened = guard.get_or_insert_default();
    if let Some(Some(main)) = opened.libraries.get(MAIN) {
        return Err(RuntimeError::InUse(main.path.clone()));
    }
    if choice == RuntimeChoice::Emulated {
        library::own(library::EMULATED)?;
        opened.selected = Some(choice);
    } else {
        opened.libraries.insert(MAIN, Some(open_chosen(&choice, None)?));
    }
    Ok(())
}

/// Says on which runtime the archive was recorded that is replayed from now on.
pub(crate) fn expect(recorded: Option<&RuntimeName>) {
    opened().get_or_insert_default().recorded = recorded.and_then(library::major);
}

/// The names of the runtime in use.
pub(crate) fn in_use() -> Option<RuntimeName> {
    let guard = opened();
    let main = guard.as_ref()?.libraries.get(MAIN)?.as_ref()?;
    Some(main.names.clone())
}

/// Whether this resolver opened the library at the path.
pub(crate) fn opened_by_us(path: &Path) -> bool {
    let guard = opened();
    let mut all = guard.iter().flat_map(|opened| opened.libraries.values().flatten());
    all.any(|opened| opened.path == path)
}

/// Answers the loader: the address of the function, or null.
pub(crate) fn resolve(api: &'static ApiDesc) -> *const () {
    let mut guard = opened();
    let opened = guard.get_or_insert_default();
    let first = std::iter::once(api.library);
    // Older runtimes, and the emulated one, have the compiler's functions in the main library.
    let names = first.chain((api.library != MAIN).then_some(MAIN));
    for name in names {
        if !opened.libraries.contains_key(name) {
            let library = match open(name, opened) {
                Ok(library) => Some(library),
                Err(error) => {
                    loader_says(&error);
                    None
                }
            };
            opened.libraries.insert(name, library);
        }
        if let Some(Some(loaded)) = opened.libraries.get(name)
            && let Some(found) = look_up(&loaded.library, api)
        {
            if name == MAIN {
                capture::runtime(loaded.names.clone());
            }
            return found;
        }
    }
    std::ptr::null()
}

fn loader_says(what: &dyn fmt::Display) {
    eprintln!("hrr: {what}");
}

/// Says, once for each library, that the calls of a second runtime are not recorded, and keeps it
/// in the archive.
#[doc(hidden)]
pub fn not_recorded(path: &Path, why: &str) {
    static SAID: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.iter().all(|known| known != path) {
        said.push(path.to_owned());
        drop(said);
        eprintln!("hrr: not recorded: {}: {why}", path.display());
        capture::fact(Note::NotRecorded { path: path.display().to_string() });
    }
}

fn look_up(library: &Library, api: &ApiDesc) -> Option<*const ()> {
    let names = std::iter::once(&api.name).chain(api.aliases);
    names.into_iter().find_map(|name: &&CStr| {
        // SAFETY: the symbol is only taken as an address here; the declaration gives its type.
        let symbol = unsafe { library.get::<*const ()>(name.to_bytes_with_nul()) };
        symbol.ok().map(|symbol| *symbol)
    })
}

fn open(name: &'static str, opened: &Opened) -> Result<Loaded, RuntimeError> {
    if name == MAIN {
        return open_main(opened);
    }
    let file = format!("lib{name}.so");
    if let Ok(path) = library::own(&file) {
        return load(&path);
    }
    // The compiler that belongs to a runtime lies beside it.
    let main = opened.libraries.get(MAIN).and_then(Option::as_ref);
    let beside = main.and_then(|main| main.path.parent()).map(|folder| folder.join(&file));
    first_of(beside.into_iter().chain(library::vendor(name)))
}

fn open_main(opened: &Opened) -> Result<Loaded, RuntimeError> {
    if let Some(selected) = &opened.selected {
        return open_chosen(selected, opened.recorded);
    }
    if let Some(named) = std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        return open_chosen(&RuntimeChoice::parse(&named)?, opened.recorded);
    }
    match first_of(library::vendor("amdhip64")) {
        Ok(opened) => Ok(opened),
        Err(_) => open_chosen(&RuntimeChoice::Emulated, opened.recorded),
    }
}

fn open_chosen(choice: &RuntimeChoice, recorded: Option<u32>) -> Result<Loaded, RuntimeError> {
    match choice {
        RuntimeChoice::Emulated => load_emulated(recorded.and_then(library::runtime_name)),
        RuntimeChoice::EmulatedAs(major) => {
            let name = library::runtime_name(*major);
            let unknown = || RuntimeError::NoSuchVersion(major.to_string());
            load_emulated(Some(name.ok_or_else(unknown)?))
        }
        RuntimeChoice::VendorOnEmulated => load(&vendor_on_emulated()?.runtime),
        RuntimeChoice::Library(path) => load(path),
    }
}

/// Loads the emulated GPU, which takes its version from the name by which it is loaded.
fn load_emulated(name: Option<&str>) -> Result<Loaded, RuntimeError> {
    let own = library::own(library::EMULATED)?;
    let Some(name) = name else { return load(&own) };
    // The loader keeps the name of the link, which may be gone when the library is in use.
    let folder = tempfile::Builder::new().prefix("hrr-").tempdir();
    let folder = folder.map_err(RuntimeError::NoFolder)?;
    let link = folder.path().join(name);
    std::os::unix::fs::symlink(own, &link).map_err(RuntimeError::NoFolder)?;
    load(&link)
}

/// The vendor's runtime and what is under it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VendorOnEmulated {
    /// The vendor's library.
    pub runtime: PathBuf,
    /// Our HSA library.
    pub hsa: PathBuf,
}

/// Loads our HSA library into this process, and the vendor's runtime, which then takes it.
///
/// # Errors
/// If one of them is nowhere, or cannot be loaded.
pub fn vendor_on_emulated() -> Result<VendorOnEmulated, RuntimeError> {
    let hsa = library::own(library::HSA)?;
    // The loader meets the vendor's request by a loaded library of that soname, so this one comes
    // first, wherever another may lie. It stays: the vendor's runtime never lets it go.
    // SAFETY: the library's initialisers are ours, and do nothing but what Rust's library does.
    let loaded = unsafe { Library::new(&hsa) }
        .map_err(|error| RuntimeError::NotLoaded { path: hsa.clone(), what: error.to_string() })?;
    std::mem::forget(loaded);
    let names = library::vendor("amdhip64");
    let mut refused = None;
    for name in &names {
        match load(name) {
            Ok(Loaded { library, path: runtime, .. }) => {
                // It is used in a moment, and a runtime's threads must not lose their code.
                std::mem::forget(library);
                if objects::asks_for(&runtime, library::HSA_NAME) {
                    return Ok(VendorOnEmulated { runtime, hsa });
                }
                refused = refused.or(Some(RuntimeError::NoHsa(runtime)));
            }
            Err(error) => {
                if !is_absent(name, &error) {
                    refused = refused.or(Some(error));
                }
            }
        }
    }
    let looked = || names.iter().map(|name| name.display().to_string()).collect::<Vec<_>>();
    Err(refused.unwrap_or_else(|| RuntimeError::NoVendor { looked: looked().join(", ") }))
}

/// Whether the loader found no library of that name; one of whose own needs is missing is there.
fn is_absent(name: &Path, error: &RuntimeError) -> bool {
    let absent = format!("{}: cannot open shared object file", name.display());
    matches!(error, RuntimeError::NotLoaded { what, .. } if what.starts_with(&absent))
}

fn first_of(paths: impl IntoIterator<Item = PathBuf>) -> Result<Loaded, RuntimeError> {
    let mut first_error = None;
    for path in paths {
        match load(&path) {
            Ok(opened) => return Ok(opened),
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    Err(first_error.expect("there is a name to try"))
}

fn load(path: &Path) -> Result<Loaded, RuntimeError> {
    let not_loaded = |what: String| RuntimeError::NotLoaded { path: path.to_owned(), what };
    // SAFETY: loading runs the library's initialisers: it is the runtime that the user named, or
    // the one that programs on this machine load.
    let library = unsafe { Library::new(path) }.map_err(|error| not_loaded(error.to_string()))?;
    // The name that was asked for may be a link, or found along the loader's path.
    // SAFETY: the symbol is only taken as an address.
    let any = [c"hipGetDeviceCount", c"hiprtcVersion"].iter().find_map(|name| unsafe {
        library.get::<*const std::ffi::c_void>(name.to_bytes_with_nul()).ok().map(|found| *found)
    });
    let place = any.and_then(|symbol| objects::holder_of(symbol.addr())).map(|(_, path)| path);
    let path = place.unwrap_or_else(|| path.to_owned());
    let names = objects::names_of(&path);
    Ok(Loaded { library, path, names })
}

/// What entry points are looked up in by name.
static TABLES: &[Table] = &[crate::ALL];

/// Installs the resolver and the tables, before any call can be made.
pub(crate) fn install() {
    loader::set_resolver(resolve);
    loader::set_tables(TABLES);
}

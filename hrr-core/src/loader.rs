//! Finds the real function behind each declaration, when it is first called.
//!
//! Where a vendor's library lies is not known here: a resolver is installed from outside. Owns the
//! slots of [`ApiDesc`]: a slot holds the binder, then the real function or the recorded wrapper.

use core::ffi::CStr;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicPtr, AtomicUsize};
use std::sync::OnceLock;

use crate::capture::lock::ForkLock;
use crate::capture::{self, say};
use crate::desc::{ApiDesc, STATE_BOUND, STATE_MISSING, Table};

/// Answers the address of the real function, or null if the runtime does not have it.
pub type Resolver = fn(&'static ApiDesc) -> *const ();

static RESOLVER: OnceLock<Resolver> = OnceLock::new();
static TABLES: OnceLock<&'static [Table]> = OnceLock::new();

/// How many functions can be bound: far more than any runtime has.
const BOUND_MAX: usize = 8192;
static BOUND: [AtomicPtr<ApiDesc>; BOUND_MAX] =
    [const { AtomicPtr::new(core::ptr::null_mut()) }; BOUND_MAX];
static BOUND_COUNT: AtomicUsize = AtomicUsize::new(0);
/// Orders binding against starting and stopping.
pub(crate) static LOCK: ForkLock = ForkLock::new();

/// Installs the resolver. The first one stays; without any, `HRR_RUNTIME` names the library.
pub fn set_resolver(resolver: Resolver) {
    RESOLVER.get_or_init(|| resolver);
}

/// Installs the tables in which entry points are looked up by name. The first ones stay.
pub fn set_tables(tables: &'static [Table]) {
    TABLES.get_or_init(|| tables);
}

/// The declaration of a function, by its C name or an alias.
pub fn find(name: &CStr) -> Option<&'static ApiDesc> {
    let tables = TABLES.get()?;
    let mut all = tables.iter().copied().flatten().copied();
    all.find(|api| api.name == name || api.aliases.contains(&name))
}

/// Looks the function up in the library that `HRR_RUNTIME` names.
fn resolve_by_variable(api: &'static ApiDesc) -> *const () {
    static LIBRARY: OnceLock<Option<libloading::Library>> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| {
        let path = std::env::var_os("HRR_RUNTIME").filter(|path| !path.is_empty())?;
        // SAFETY: loading the vendor's runtime runs its initialisers; naming it in the variable is
        // the user's wish that they run in this process.
        match unsafe { libloading::Library::new(&path) } {
            Ok(library) => Some(library),
            Err(error) => {
                say(&format!("{}: {error}", path.display()));
                None
            }
        }
    });
    let Some(library) = library else { return core::ptr::null() };
    let names = core::iter::once(&api.name).chain(api.aliases);
    for name in names {
        // SAFETY: the symbol is only taken as an address here; whoever calls it knows its type.
        if let Ok(symbol) = unsafe { library.get::<*const ()>(name.to_bytes_with_nul()) } {
            return *symbol;
        }
    }
    core::ptr::null()
}

/// Binds a function: afterwards its slot leads to the real function or to the wrapper. Starts the
/// recording if the environment asks for one and this is the first call.
pub fn bind(api: &'static ApiDesc) {
    capture::start_from_environment();
    if api.state.load(Acquire) & STATE_BOUND != 0 {
        return;
    }
    // Outside of the lock: loading a library runs code that may call back into us.
    let resolver = RESOLVER.get().copied().unwrap_or(resolve_by_variable);
    let found = resolver(api);
    let real = if found.is_null() {
        if api.state.fetch_or(STATE_MISSING, AcqRel) & STATE_MISSING == 0 {
            say(&format!("the runtime has no {}", api.name.to_string_lossy()));
        }
        api.missing.0
    } else {
        found
    };
    bind_to(api, real);
}

/// Binds a function to the address that the program itself found. The first address stays; whether
/// `real` is the one in use is the answer.
pub fn bind_to(api: &'static ApiDesc, real: *const ()) -> bool {
    capture::start_from_environment();
    let _guard = LOCK.lock();
    if api.state.load(Relaxed) & STATE_BOUND == 0 {
        api.real.store(real.cast_mut(), Release);
        let at = BOUND_COUNT.load(Relaxed);
        if at < BOUND_MAX {
            BOUND[at].store(core::ptr::from_ref(api).cast_mut(), Release);
            BOUND_COUNT.store(at + 1, Release);
        }
        api.state.fetch_or(STATE_BOUND, AcqRel);
        // A function beyond the list runs, unrecorded; the list is far longer than any table.
        let recorded = at < BOUND_MAX && capture::declare(api);
        set_slot(api, recorded);
    }
    core::ptr::eq(api.real.load(Relaxed), real)
}

/// Points the slot at the wrapper or at the real function. The caller holds [`LOCK`].
pub(crate) fn set_slot(api: &'static ApiDesc, recorded: bool) {
    let to = if recorded { api.wrapper.0.cast_mut() } else { api.real.load(Relaxed) };
    api.slot.store(to, Release);
}

/// The functions that are bound. The caller holds [`LOCK`] or accepts to miss the newest.
pub(crate) fn bound() -> impl Iterator<Item = &'static ApiDesc> {
    BOUND[..BOUND_COUNT.load(Acquire)].iter().filter_map(|entry| {
        // SAFETY: entries are stored once, from `&'static` references, before the count covers
        // them.
        unsafe { entry.load(Acquire).as_ref() }
    })
}

/// The address to hand to a program that asks for this function's entry point: calls through it
/// are recorded whenever a recording runs.
pub fn entry_point(api: &'static ApiDesc) -> *const () {
    bind(api);
    api.wrapper.0
}

/// What the naked binder calls.
///
/// # Safety
/// `api` comes from a `static`.
pub(crate) unsafe extern "C" fn bind_from_asm(api: *const ApiDesc) {
    // SAFETY: the caller's obligation: a static descriptor.
    let api: &'static ApiDesc = unsafe { &*api };
    if std::panic::catch_unwind(|| bind(api)).is_err() {
        say("a fault while binding a function; it is answered as missing");
        if api.real.load(Relaxed).is_null() {
            api.real.store(api.missing.0.cast_mut(), Release);
        }
        set_slot(api, false);
    }
}

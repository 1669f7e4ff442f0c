//! The runtime compiler, which is not ours: AMD's, where it is installed.
//!
//! `HIP_EMU_HIPRTC` names its library; without it the usual places are tried. It needs no GPU.
//! Where there is none, every function answers an error and the first one says why.

use std::ffi::{CStr, CString, OsString, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

use hrr_ffi::types::*;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::runtime;

/// Where ROCm and Debian put the compiler.
const PLACES: [&str; 2] =
    ["/opt/rocm/lib/libhiprtc.so", "/usr/lib/x86_64-linux-gnu/libamdhip64.so.5"];
/// Debian's compiler crashes for targets that it has no device libraries for.
const DEBIAN: &str = PLACES[1];
const DEBIAN_TARGETS: [&str; 3] = ["gfx906", "gfx90a", "gfx1030"];

/// Defines functions that pass their arguments on.
macro_rules! delegates {
    ($table:ident; $(fn $name:ident($($arg:ident: $ty:ty),* $(,)?);)*) => {
        $(
            pub(crate) unsafe extern "C" fn $name($($arg: $ty),*) -> hiprtcResult {
                type Function = unsafe extern "C" fn($($ty),*) -> hiprtcResult;
                let Some(found) = symbol(stringify!($name)) else {
                    return HIPRTC_ERROR_INTERNAL_ERROR;
                };
                // SAFETY: the compiler's function of that name has the type of HIP's header.
                let function = unsafe { std::mem::transmute::<*const c_void, Function>(found) };
                // SAFETY: the arguments are the caller's own.
                unsafe { function($($arg),*) }
            }
            export!($name);
        )*
        /// The functions of this group.
        pub(crate) static $table: &[crate::api::Entry] = &[$(crate::api::Entry {
            name: stringify!($name),
            address: crate::api::Address($name as *const ()),
        }),*];
    };
}

delegates! { TABLE;
    fn hiprtcVersion(major: *mut c_int, minor: *mut c_int);
    fn hiprtcCreateProgram(
        program: *mut hiprtcProgram,
        source: *const c_char,
        name: *const c_char,
        headers: c_int,
        contents: *const *const c_char,
        names: *const *const c_char,
    );
    fn hiprtcDestroyProgram(program: *mut hiprtcProgram);
    fn hiprtcAddNameExpression(program: hiprtcProgram, expression: *const c_char);
    fn hiprtcGetLoweredName(
        program: hiprtcProgram,
        expression: *const c_char,
        lowered: *mut *const c_char,
    );
    fn hiprtcGetProgramLog(program: hiprtcProgram, log: *mut c_char);
    fn hiprtcGetProgramLogSize(program: hiprtcProgram, bytes: *mut usize);
    fn hiprtcGetCode(program: hiprtcProgram, code: *mut c_char);
    fn hiprtcGetCodeSize(program: hiprtcProgram, bytes: *mut usize);
    fn hiprtcGetBitcode(program: hiprtcProgram, bitcode: *mut c_char);
    fn hiprtcGetBitcodeSize(program: hiprtcProgram, bytes: *mut usize);
    fn hiprtcLinkCreate(
        count: c_uint,
        options: *mut hipJitOption,
        values: *mut *mut c_void,
        state: *mut hiprtcLinkState,
    );
    fn hiprtcLinkAddFile(
        state: hiprtcLinkState,
        kind: hipJitInputType,
        path: *const c_char,
        count: c_uint,
        options: *mut hipJitOption,
        values: *mut *mut c_void,
    );
    fn hiprtcLinkAddData(
        state: hiprtcLinkState,
        kind: hipJitInputType,
        image: *mut c_void,
        bytes: usize,
        name: *const c_char,
        count: c_uint,
        options: *mut hipJitOption,
        values: *mut *mut c_void,
    );
    fn hiprtcLinkComplete(state: hiprtcLinkState, image: *mut *mut c_void, bytes: *mut usize);
    fn hiprtcLinkDestroy(state: hiprtcLinkState);
}

hip_api_unchecked! { OTHER;
    /// Compiles for the emulated target, unless the options name another.
    fn hiprtcCompileProgram(
        program: hiprtcProgram,
        count: c_int,
        options: *const *const c_char
    ) -> hiprtcResult {
        let Some(found) = symbol("hiprtcCompileProgram") else {
            return HIPRTC_ERROR_COMPILATION;
        };
        let Ok(length) = usize::try_from(count) else { return HIPRTC_ERROR_INVALID_INPUT };
        // SAFETY: HIP's contract: there are as many options as the count says.
        let Ok(given) = (unsafe { crate::api::In::new(options) }).slice(length) else {
            return HIPRTC_ERROR_INVALID_INPUT;
        };
        let mut all = given.clone();
        let wanted = given.iter().find_map(|option| target_of(*option));
        let own = match (&wanted, own_target()) {
            (None, Some(target)) => {
                CString::new(format!("--gpu-architecture={target}")).unwrap_or_default()
            }
            (Some(_), _) | (None, None) => CString::default(),
        };
        if !own.is_empty() {
            all.push(own.as_ptr());
        }
        let processor = wanted.or_else(own_target).unwrap_or_default();
        if !can_compile_for(&processor) {
            eprintln!("hip-emu: the installed compiler has no support for {processor}");
            return HIPRTC_ERROR_COMPILATION;
        }
        type Function =
            unsafe extern "C" fn(hiprtcProgram, c_int, *const *const c_char) -> hiprtcResult;
        // SAFETY: the compiler's function of that name has the type of HIP's header.
        let function = unsafe { std::mem::transmute::<*const c_void, Function>(found) };
        // SAFETY: the options live until the call returns; the program is the caller's own.
        unsafe { function(program, all.len() as c_int, all.as_ptr()) }
    }

    /// What a status of the compiler means.
    fn hiprtcGetErrorString(status: hiprtcResult) -> *const c_char {
        match status {
            HIPRTC_SUCCESS => c"HIPRTC_SUCCESS",
            HIPRTC_ERROR_OUT_OF_MEMORY => c"HIPRTC_ERROR_OUT_OF_MEMORY",
            HIPRTC_ERROR_PROGRAM_CREATION_FAILURE => c"HIPRTC_ERROR_PROGRAM_CREATION_FAILURE",
            HIPRTC_ERROR_INVALID_INPUT => c"HIPRTC_ERROR_INVALID_INPUT",
            HIPRTC_ERROR_INVALID_PROGRAM => c"HIPRTC_ERROR_INVALID_PROGRAM",
            HIPRTC_ERROR_INVALID_OPTION => c"HIPRTC_ERROR_INVALID_OPTION",
            HIPRTC_ERROR_COMPILATION => c"HIPRTC_ERROR_COMPILATION",
            HIPRTC_ERROR_LINKING => c"HIPRTC_ERROR_LINKING",
            HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE => c"HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE",
            HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION => {
                c"HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION"
            }
            HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION => {
                c"HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION"
            }
            HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID => c"HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
            HIPRTC_ERROR_INTERNAL_ERROR => c"HIPRTC_ERROR_INTERNAL_ERROR",
            _unknown => c"unknown HIPRTC status",
        }
        .as_ptr()
    }
}

struct Compiler {
    library: Library,
    path: OsString,
}

/// AMD's compiler; never unloaded, like everything here.
fn compiler() -> Option<&'static Compiler> {
    static COMPILER: OnceLock<Option<Compiler>> = OnceLock::new();
    let load = || {
        let set = std::env::var_os("HIP_EMU_HIPRTC");
        let places: Vec<OsString> =
            set.map_or_else(|| PLACES.map(OsString::from).to_vec(), |path| vec![path]);
        let found = places.iter().find_map(|path| {
            // SAFETY: AMD's library may be loaded by any program; its own HIP functions stay
            // unused, and local to it.
            let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.ok()?;
            Some(Compiler { library, path: path.clone() })
        });
        if found.is_none() {
            eprintln!("hip-emu: no compiler for device code: none of {places:?} can be loaded");
        }
        found
    };
    COMPILER.get_or_init(load).as_ref()
}

fn symbol(name: &str) -> Option<*const c_void> {
    // SAFETY: only the address is taken.
    let found = unsafe { compiler()?.library.get::<*const c_void>(name) };
    match found {
        Ok(symbol) => Some(*symbol),
        Err(error) => {
            eprintln!("hip-emu: the installed compiler lacks a function: {error}");
            None
        }
    }
}

/// The processor that an option asks for.
fn target_of(option: *const c_char) -> Option<String> {
    if option.is_null() {
        return None;
    }
    // SAFETY: HIP's contract: options are texts with a NUL.
    let text = unsafe { CStr::from_ptr(option) }.to_str().ok()?;
    let value = ["--gpu-architecture=", "--offload-arch="]
        .iter()
        .find_map(|prefix| text.strip_prefix(prefix))?;
    value.split(':').next().map(str::to_owned)
}

fn own_target() -> Option<String> {
    runtime::runtime().ok().map(|runtime| runtime.config.target.processor.clone())
}

fn can_compile_for(processor: &str) -> bool {
    let is_debian = compiler().is_some_and(|compiler| compiler.path == DEBIAN);
    !is_debian || DEBIAN_TARGETS.contains(&processor)
}

//! The hooks of `dlsym`, `dlvsym` and `dlopen`.
//!
//! A program that loads its runtime itself asks `dlsym` for each function. The hook lets the real
//! one answer, and where the answer is a function of the table it hands out the recorded name.
//! Everything else is a tail jump, so that the caller stays the program: `RTLD_NEXT` and the
//! caller's own RUNPATH keep their meaning.
//!
//! The test of the name comes first, and nothing here uses thread-local storage: AddressSanitizer
//! calls `dlsym` before it can serve either.

use std::arch::naked_asm;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use hrr_runtime::{loader, objects};

use crate::runtime;

type Dlsym = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;
type Dlvsym = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void;

static REAL_DLSYM: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static REAL_DLVSYM: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static REAL_DLOPEN: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// The version of every base symbol of the C library on x86-64, for ever.
const BASE: &CStr = c"GLIBC_2.2.5";

/// Finds the functions behind the hooks, before the program has a second thread.
#[cold]
pub(crate) fn find_real() {
    // The one look-up that cannot go by name, because all the names are ours here.
    let dlvsym = objects::first_definition_unlocked(c"dlvsym");
    if dlvsym.is_null() {
        // No program that uses the dynamic loader runs without it, so nothing can go on.
        std::process::abort();
    }
    // SAFETY: the C library defines `dlvsym` with this signature.
    let look_up = unsafe { std::mem::transmute::<*mut c_void, Dlvsym>(dlvsym) };
    // SAFETY: the names are strings. RTLD_NEXT means the next library after the caller, and that is
    // this one: there a hook of someone else may stand.
    let (dlopen, dlsym) = unsafe {
        (
            look_up(libc::RTLD_NEXT, c"dlopen".as_ptr(), BASE.as_ptr()),
            look_up(libc::RTLD_NEXT, c"dlsym".as_ptr(), BASE.as_ptr()),
        )
    };
    REAL_DLVSYM.store(dlvsym, Ordering::Release);
    REAL_DLOPEN.store(dlopen, Ordering::Release);
    REAL_DLSYM.store(dlsym, Ordering::Release);
}

/// The function behind a hook. A sanitizer asks before this library is initialised.
fn real(function: &AtomicPtr<c_void>) -> *mut c_void {
    if function.load(Ordering::Acquire).is_null() {
        find_real();
    }
    function.load(Ordering::Acquire)
}

/// What a hook answers: returned in two registers, which the jumps below read.
#[repr(C)]
struct Answer {
    value: *mut c_void,
    /// Not 0: `value` is the answer; 0: the real function shall answer.
    decided: usize,
}

const JUMP: Answer = Answer { value: ptr::null_mut(), decided: 0 };

/// Decides about one look-up from `caller`, with the real `dlsym` or `dlvsym` in `look_up`.
fn decide(
    handle: *mut c_void,
    name: *const c_char,
    caller: usize,
    look_up: impl Fn(*mut c_void) -> *mut c_void,
) -> Answer {
    // SAFETY: the program passes a string, or what the real function would read as one too.
    let name = unsafe { CStr::from_ptr(name) };
    let bytes = name.to_bytes();
    let candidate =
        bytes.starts_with(b"hip") || bytes.starts_with(b"__hip") || bytes.starts_with(b"_Z");
    if !candidate || runtime::holds(caller) {
        return JUMP;
    }
    let ours = objects::here(name);
    let Some(api) = loader::find(name).filter(|_| !ours.is_null()) else { return JUMP };
    if handle == libc::RTLD_NEXT {
        // What is next depends on the caller, and may be this library; but where nothing stands
        // behind it there is nothing next for anyone.
        let behind = look_up(handle);
        return Answer { value: behind, decided: usize::from(behind.is_null()) };
    }
    let mut real = if handle == libc::RTLD_DEFAULT { ours } else { look_up(handle) };
    if real == ours {
        // The global scope begins with this library: what the program would have got without it
        // stands behind it, or in a library of the caller's own scope.
        real = look_up(libc::RTLD_NEXT);
        if real.is_null() {
            real = runtime::find(api);
        }
        if real.is_null() {
            return Answer { value: real, decided: 1 };
        }
    }
    if real.is_null() {
        // The real function shall fail again, and leave its message.
        return JUMP;
    }
    if objects::in_program(real.addr()) {
        // The program has a recorder of its own linked in, whose calls come back to this one.
        return Answer { value: real, decided: 1 };
    }
    Answer { value: if runtime::adopt(api, real) { ours } else { real }, decided: 1 }
}

unsafe extern "C" fn on_dlsym(handle: *mut c_void, name: *const c_char, caller: usize) -> Answer {
    // SAFETY: the C library's function, or a hook of the same signature.
    let real = unsafe { std::mem::transmute::<*mut c_void, Dlsym>(real(&REAL_DLSYM)) };
    // SAFETY: the arguments are the program's, or a constant of the loader.
    decide(handle, name, caller, |handle| unsafe { real(handle, name) })
}

unsafe extern "C" fn on_dlvsym(
    handle: *mut c_void,
    name: *const c_char,
    version: *const c_char,
    caller: usize,
) -> Answer {
    // SAFETY: as in `on_dlsym`.
    let real = unsafe { std::mem::transmute::<*mut c_void, Dlvsym>(real(&REAL_DLVSYM)) };
    // SAFETY: as in `on_dlsym`.
    decide(handle, name, caller, |handle| unsafe { real(handle, name, version) })
}

/// Clears RTLD_DEEPBIND, under which a library binds the runtime's names past everyone in front.
unsafe extern "C" fn on_dlopen(flags: c_int) -> c_int {
    real(&REAL_DLOPEN);
    flags & !libc::RTLD_DEEPBIND
}

#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn dlsym(_handle: *mut c_void, _name: *const c_char) -> *mut c_void {
    naked_asm!(
        "mov rdx, [rsp]; push rdi; push rsi; sub rsp, 8",
        "call {decide}",
        "add rsp, 8; pop rsi; pop rdi",
        "test rdx, rdx; jz 2f; ret",
        "2: jmp qword ptr [rip + {real}]",
        decide = sym on_dlsym,
        real = sym REAL_DLSYM,
    )
}

#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn dlvsym(
    _handle: *mut c_void,
    _name: *const c_char,
    _version: *const c_char,
) -> *mut c_void {
    naked_asm!(
        "mov rcx, [rsp]; push rdi; push rsi; push rdx",
        "call {decide}",
        "mov rcx, rdx; pop rdx; pop rsi; pop rdi",
        "test rcx, rcx; jz 2f; ret",
        "2: jmp qword ptr [rip + {real}]",
        decide = sym on_dlvsym,
        real = sym REAL_DLVSYM,
    )
}

#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn dlopen(_path: *const c_char, _flags: c_int) -> *mut c_void {
    naked_asm!(
        "push rdi; sub rsp, 16; mov edi, esi",
        "call {clear}",
        "add rsp, 16; pop rdi; mov esi, eax",
        "jmp qword ptr [rip + {real}]",
        clear = sym on_dlopen,
        real = sym REAL_DLOPEN,
    )
}

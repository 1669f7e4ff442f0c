//! What expansions of the declaration macro name. Not a public interface.
//!
//! The signatures here are the joint between `hrr-macros` and the recorder: an expansion contains
//! no logic of its own, only typed calls of these functions.

use core::ffi::c_void;

pub use crate::__hrr_receiver as receiver;
pub use crate::arg::{CopyKind, Count, Handle, JitOption, Payload, Ret, counts};
pub use crate::desc::*;
pub use core::sync::atomic::{AtomicPtr, AtomicU32};

use core::sync::atomic::Ordering;

/// A call that a wrapper is recording; null if the call is not recorded.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Call(pub *mut u8);

impl Call {
    /// The call that is not recorded.
    pub const NULL: Call = Call(core::ptr::null_mut());

    /// Whether the call is not recorded.
    #[inline]
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }
}

/// Begins a call: null if it is not to be recorded, else room for its arguments.
#[inline]
pub fn enter(_api: &'static ApiDesc) -> Call {
    Call::NULL
}

/// The argument block of a call.
///
/// # Safety
/// `call` came from [`enter`], is not null, and `T` is the argument block of its descriptor.
#[inline]
pub unsafe fn args<T>(call: Call) -> *mut T {
    call.0.cast()
}

/// Publishes the arguments, together with what the roles say hangs below them.
///
/// # Safety
/// `call` came from [`enter`] of the same descriptor, is not null, and its argument block is
/// written.
pub unsafe fn commit(_api: &'static ApiDesc, _call: Call) {}

/// Ends a call with what it returned.
///
/// # Safety
/// As [`commit`], which was called before; the real function has returned `ret`.
pub unsafe fn leave<R: Ret>(_api: &'static ApiDesc, _call: Call, _ret: &R) {}

/// Puts the recorder's trampolines in the place of the program's callback and its data.
///
/// # Safety
/// As [`commit`], which was called before; each pointer is null or leads to a local copy of the
/// pointer-sized parameter with the role [`Role::Callback`] or [`Role::UserData`].
pub unsafe fn swap_callback(
    _api: &'static ApiDesc,
    _call: Call,
    _callback: *mut *mut c_void,
    _user_data: *mut *mut c_void,
) {
}

/// The bound function. Only for wrappers, which run after the binding.
///
/// # Safety
/// `F` is the type of a function pointer with the signature of the descriptor, and the descriptor
/// is bound.
#[inline]
pub unsafe fn real<F: Copy>(api: &'static ApiDesc) -> F {
    let real = api.real.load(Ordering::Acquire);
    // SAFETY: the caller says that `F` is a function pointer, which is as large as `real`.
    unsafe { core::mem::transmute_copy::<*mut (), F>(&real) }
}

/// The function of the live runtime, bound first if needed.
///
/// # Safety
/// `F` is the type of a function pointer with the signature of the descriptor.
#[inline]
pub unsafe fn real_bound<F: Copy>(api: &'static ApiDesc) -> F {
    if api.real.load(Ordering::Acquire).is_null() {
        bind_real(api);
    }
    // SAFETY: the caller vouches for `F`; the descriptor is bound.
    unsafe { real(api) }
}

/// Binds a descriptor and answers where the first call goes.
extern "C" fn bind_real(api: &'static ApiDesc) -> *mut () {
    if api.real.load(Ordering::Acquire).is_null() {
        api.real.store(api.missing.0.cast_mut(), Ordering::Release);
    }
    let real = api.real.load(Ordering::Acquire);
    api.slot.store(real, Ordering::Release);
    real
}

/// Binds the descriptor in `r11` at its first call and jumps to what the binder answers; every
/// register that may hold an argument survives.
///
/// # Safety
/// Jumped to, never called, with `r11` a `&'static ApiDesc` and the call's arguments in place.
#[unsafe(naked)]
pub unsafe extern "C" fn bind() {
    core::arch::naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push r8",
        "push r9",
        "push rax",
        "push r10",
        "sub rsp, 128",
        "movups [rsp], xmm0",
        "movups [rsp + 16], xmm1",
        "movups [rsp + 32], xmm2",
        "movups [rsp + 48], xmm3",
        "movups [rsp + 64], xmm4",
        "movups [rsp + 80], xmm5",
        "movups [rsp + 96], xmm6",
        "movups [rsp + 112], xmm7",
        "mov rdi, r11",
        "call {bind_real}",
        "mov r11, rax",
        "movups xmm0, [rsp]",
        "movups xmm1, [rsp + 16]",
        "movups xmm2, [rsp + 32]",
        "movups xmm3, [rsp + 48]",
        "movups xmm4, [rsp + 64]",
        "movups xmm5, [rsp + 80]",
        "movups xmm6, [rsp + 96]",
        "movups xmm7, [rsp + 112]",
        "add rsp, 128",
        "pop r10",
        "pop rax",
        "pop r9",
        "pop r8",
        "pop rcx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "pop rbp",
        "jmp r11",
        bind_real = sym bind_real,
    )
}

/// Answers for a function that the runtime does not have. It looks at no argument, so it serves
/// every signature that returns `R`.
///
/// # Safety
/// None: it touches nothing.
pub unsafe extern "C-unwind" fn missing<R: Ret>() -> R {
    R::MISSING
}

/// The stand-in for the real function, `receiver!(API_name, Args, (a: A, b: B) -> R)`: null unless
/// the recorder is built for its own tests.
#[doc(hidden)]
#[macro_export]
macro_rules! __hrr_receiver {
    ($api:ident, $args:ident, ($($name:ident : $ty:ty),* $(,)?) -> $ret:ty) => {
        $crate::desc::CodePtr(::core::ptr::null())
    };
}

//! What expansions of the declaration macro name. Not a public interface.
//!
//! The signatures here are the joint between `hrr-macros` and the recorder: an expansion contains
//! no logic of its own, only typed calls of these functions.

pub use crate::arg::{CopyKind, Count, Handle, JitOption, Payload, Ret};
pub use crate::desc::*;
use core::ffi::c_void;
use core::mem::MaybeUninit;
pub use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};

use crate::capture::call;
use crate::loader;

/// A call that a wrapper is recording; null if the call is not recorded.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Call(pub *mut u8);

impl Call {
    /// The call that is not recorded.
    pub const NULL: Call = Call(core::ptr::null_mut());

    /// Whether the call is not recorded.
    #[inline(always)]
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }
}

/// Begins a call: null if it is not to be recorded, else room for its arguments.
#[inline(always)]
pub fn enter(api: &'static ApiDesc) -> Call {
    call::enter(api)
}

/// Where the argument block of the record stands.
///
/// # Safety
/// `call` came from [`enter`], is not null, and `T` is the argument block of its descriptor.
#[inline(always)]
pub unsafe fn args<T>(call: Call) -> *mut T {
    // SAFETY: a record has room for the argument block behind its header.
    unsafe { call.0.add(crate::archive::raw::RECORD_HEADER_BYTES).cast() }
}

/// Takes the inputs and publishes the record as begun.
///
/// # Safety
/// `call` came from [`enter`] of the same descriptor, is not null, and its argument block is
/// written.
#[inline(always)]
pub unsafe fn commit(api: &'static ApiDesc, call: Call) {
    // SAFETY: the caller's obligation is the callee's.
    unsafe { call::commit(api, call) }
}

/// Takes the outputs and publishes the record as done.
///
/// # Safety
/// As [`commit`], which was called before; the real function has returned `ret`.
#[inline(always)]
pub unsafe fn leave<R>(api: &'static ApiDesc, call: Call, ret: &R) {
    let from = (&raw const *ret).cast::<u8>();
    // SAFETY: as many bytes as `ret` has are read, and handed on where they are more than a word.
    // Whole reads, since bytes that are stored one way and read another stall the processor.
    unsafe {
        let (word, wide) = match size_of::<R>() {
            0 => (0, core::ptr::null()),
            4 => (u64::from(from.cast::<u32>().read_unaligned()), core::ptr::null()),
            8 => (from.cast::<u64>().read_unaligned(), core::ptr::null()),
            bytes => {
                let mut word = [0; 8];
                core::ptr::copy_nonoverlapping(from, word.as_mut_ptr(), bytes.min(8));
                (u64::from_le_bytes(word), if bytes > 8 { from } else { core::ptr::null() })
            }
        };
        call::leave(api, call, word, wide);
    }
}

/// Ends the record of a call through which an exception passes. The wrapper forgets it when the
/// real call returns.
pub struct Unwound(pub Call);

impl Drop for Unwound {
    fn drop(&mut self) {
        call::left(self.0);
    }
}

/// The real function.
///
/// # Safety
/// `F` is the function pointer type of the descriptor, which is bound.
#[inline(always)]
pub unsafe fn real<F: Copy>(api: &'static ApiDesc) -> F {
    const { assert!(size_of::<F>() == size_of::<*mut ()>()) };
    let real = api.real.load(core::sync::atomic::Ordering::Relaxed);
    // SAFETY: `F` is a function pointer (the caller's obligation) of a pointer's size.
    unsafe { core::mem::transmute_copy(&real) }
}

/// The real function, bound if need be.
///
/// # Safety
/// `F` is the function pointer type of the descriptor.
#[inline]
pub unsafe fn real_bound<F: Copy>(api: &'static ApiDesc) -> F {
    if api.real.load(core::sync::atomic::Ordering::Acquire).is_null() {
        loader::bind(api);
    }
    // SAFETY: the caller's obligation, and it is bound now.
    unsafe { real(api) }
}

/// Binds the function whose descriptor is in `r11`, then goes on to where its slot leads. Keeps
/// every register that may hold an argument.
///
/// # Safety
/// Reached by a jump in place of the function, with the address of its descriptor in `r11`.
#[unsafe(naked)]
pub unsafe extern "C" fn bind() {
    core::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push r8",
        "push r9",
        "push rax",
        "push r11",
        "sub rsp, 136",
        "movups [rsp], xmm0",
        "movups [rsp + 16], xmm1",
        "movups [rsp + 32], xmm2",
        "movups [rsp + 48], xmm3",
        "movups [rsp + 64], xmm4",
        "movups [rsp + 80], xmm5",
        "movups [rsp + 96], xmm6",
        "movups [rsp + 112], xmm7",
        "mov rdi, r11",
        "call {bind}",
        "movups xmm0, [rsp]",
        "movups xmm1, [rsp + 16]",
        "movups xmm2, [rsp + 32]",
        "movups xmm3, [rsp + 48]",
        "movups xmm4, [rsp + 64]",
        "movups xmm5, [rsp + 80]",
        "movups xmm6, [rsp + 96]",
        "movups xmm7, [rsp + 112]",
        "add rsp, 136",
        "pop r11",
        "pop rax",
        "pop r9",
        "pop r8",
        "pop rcx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "jmp qword ptr [r11]",
        bind = sym loader::bind_from_asm,
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

/// Puts the recorder's trampolines in the place of the program's callback and its data.
///
/// # Safety
/// As [`commit`], which was called before; each pointer is null or leads to a local copy of the
/// pointer-sized parameter with the role [`Role::Callback`] or [`Role::UserData`].
pub unsafe fn swap_callback(
    api: &'static ApiDesc,
    call: Call,
    callback: *mut *mut c_void,
    user_data: *mut *mut c_void,
) {
    // SAFETY: the caller's obligation is the callee's.
    unsafe { crate::capture::callback::swap(api, call, callback, user_data) }
}

/// Answers what a call gets instead of its parameter `index`, a pointer to a struct that it reads:
/// where the struct holds a callback, a copy of it with the recorder's trampolines, else the pointer
/// itself.
///
/// # Safety
/// As [`commit`], which was called before; `pointer` is the parameter as the program passed it, and
/// leads to what its role describes.
#[inline(always)]
pub unsafe fn swap_pointee<P: Pointer>(
    api: &'static ApiDesc,
    call: Call,
    index: usize,
    pointer: P,
    copy: &mut MaybeUninit<P::Pointee>,
) -> P {
    if api.flags & HOLDS_CALLBACK == 0 {
        return pointer;
    }
    let room = copy.as_mut_ptr();
    // SAFETY: the caller's obligation; `room` is as large and aligned as the struct.
    let swapped = unsafe {
        let bytes = size_of::<P::Pointee>();
        crate::capture::callback::swap_inside(
            api,
            call,
            index,
            pointer.address(),
            room.cast(),
            bytes,
        )
    };
    if swapped { P::to(room) } else { pointer }
}

/// A raw pointer, const or not.
pub trait Pointer: Copy {
    /// What it leads to.
    type Pointee;
    /// Its address.
    fn address(self) -> u64;
    /// A pointer to something else.
    fn to(place: *mut Self::Pointee) -> Self;
}

impl<T> Pointer for *const T {
    type Pointee = T;
    fn address(self) -> u64 {
        self as u64
    }
    fn to(place: *mut T) -> Self {
        place
    }
}

impl<T> Pointer for *mut T {
    type Pointee = T;
    fn address(self) -> u64 {
        self as u64
    }
    fn to(place: *mut T) -> Self {
        place
    }
}

#[cfg(feature = "testing")]
pub use crate::testing::received;

/// Expands to a receiver with the `testing` feature, and to a null address without it.
///
/// `receiver!(API_name, Args, (a: A, b: B) -> R)`, inside an initialiser in which `Args` is the
/// argument block.
#[cfg(feature = "testing")]
#[doc(hidden)]
#[macro_export]
macro_rules! __hrr_receiver {
    ($api:ident, $args:ident, ($($name:ident : $ty:ty),* $(,)?) -> $ret:ty) => {{
        unsafe extern "C-unwind" fn receive($($name: $ty),*) -> $ret {
            let args = $args { $($name),* };
            let mut ret = ::core::mem::MaybeUninit::<$ret>::uninit();
            // SAFETY: `args` is the block of this descriptor; `ret` has room for what it returns,
            // and the callee initialises it.
            unsafe {
                $crate::testing::received(
                    &$api,
                    (&raw const args).cast(),
                    ret.as_mut_ptr().cast(),
                );
                ret.assume_init()
            }
        }
        $crate::desc::CodePtr(receive as *const ())
    }};
}

/// Expands to a receiver with the `testing` feature, and to a null address without it.
#[cfg(not(feature = "testing"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __hrr_receiver {
    ($($tokens:tt)*) => {
        $crate::desc::CodePtr(::core::ptr::null())
    };
}

pub use crate::__hrr_receiver as receiver;

//! The border to C: exported names, pointers that callers pass, panics, the last error.

use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use hrr_ffi::types::*;

use crate::thread;

/// What a HIP function comes to; the error is its return code.
pub(crate) type Answer<T = ()> = Result<T, hipError_t>;

/// A function that can be asked for by name.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) address: Address,
}

/// The address of a function.
#[derive(Clone, Copy)]
pub(crate) struct Address(pub(crate) *const ());

// SAFETY: the address of code, which any thread may have.
unsafe impl Send for Address {}
// SAFETY: as above.
unsafe impl Sync for Address {}

/// Defines HIP functions: bodies are closures that return an [`Answer`].
///
/// Each becomes a function with a Rust name, which the table and the crate itself use, and an
/// exported C name that jumps there. A program that exports the same C name thus cannot come
/// between this library and itself.
macro_rules! hip_api {
    ($table:ident; $($(#[$meta:meta])* fn $name:ident($($arg:ident : $ty:ty),* $(,)?) $body:block)*) => {
        $(
            $(#[$meta])*
            pub(crate) unsafe extern "C" fn $name($($arg: $ty),*) -> hipError_t {
                $crate::api::call(stringify!($name), move || $body)
            }
            export!($name);
        )*
        /// The functions of this group.
        pub(crate) static $table: &[$crate::api::Entry] = &[$($crate::api::Entry {
            name: stringify!($name),
            address: $crate::api::Address($name as *const ()),
        }),*];
    };
}

/// Defines HIP functions that answer something else than a status, or that must not touch the
/// last error. Their bodies cannot panic.
macro_rules! hip_api_unchecked {
    ($table:ident; $($(#[$meta:meta])* fn $name:ident($($arg:ident : $ty:ty),* $(,)?) -> $ret:ty $body:block)*) => {
        $(
            $(#[$meta])*
            pub(crate) unsafe extern "C" fn $name($($arg: $ty),*) -> $ret $body
            export!($name);
        )*
        /// The functions of this group.
        pub(crate) static $table: &[$crate::api::Entry] = &[$($crate::api::Entry {
            name: stringify!($name),
            address: $crate::api::Address($name as *const ()),
        }),*];
    };
}

/// Exports the C name of a function of this module.
macro_rules! export {
    ($name:ident) => {
        const _: () = {
            // SAFETY: the name is HIP's; the jump leaves arguments and return address as they are.
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C" fn $name() {
        core::arch::naked_asm!("jmp {}", sym self::$name)
            }
        };
    };
}

/// Runs the body of a HIP function: the one place that stops panics and sets the last error.
pub(crate) fn call(name: &'static str, body: impl FnOnce() -> Answer) -> hipError_t {
    let answer = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => hipSuccess,
        Ok(Err(error)) => error,
        Err(_reported_by_the_hook) => {
            eprintln!("hip-emu: {name} panicked: hipErrorUnknown");
            hipErrorUnknown
        }
    };
    thread::set_last_error(answer);
    thread::log_call(name, answer);
    answer
}

/// A pointer that the caller gave for one value or several to be written to.
#[repr(transparent)]
pub(crate) struct Out<T>(*mut T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T: Copy> Out<T> {
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Writes the value; a null pointer is an invalid value.
    pub(crate) fn set(self, value: T) -> Answer {
        if self.0.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: HIP's contract: the caller gives a pointer that is good for a write, or null.
        unsafe { self.0.write_unaligned(value) };
        Ok(())
    }

    /// Writes the value if the caller wants it.
    pub(crate) fn set_if_wanted(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: as in `set`.
            unsafe { self.0.write_unaligned(value) };
        }
    }

    /// Reads what is there.
    pub(crate) fn get(self) -> Answer<T> {
        In(self.0.cast_const()).get()
    }

    /// Writes as many values as there are; the caller gave room for them.
    pub(crate) fn fill(self, values: &[T]) -> Answer {
        for (index, value) in values.iter().enumerate() {
            Self(self.0.wrapping_add(index)).set_checked(self.0.is_null(), *value)?;
        }
        Ok(())
    }

    fn set_checked(self, null: bool, value: T) -> Answer {
        if null { Err(hipErrorInvalidValue) } else { self.set(value) }
    }
}

impl Out<c_char> {
    /// Writes as much of the text as fits, and a NUL.
    pub(crate) fn set_text(self, text: &str, room: usize) -> Answer {
        if room == 0 {
            return Err(hipErrorInvalidValue);
        }
        let fits = text.len().min(room - 1);
        let bytes: Vec<c_char> =
            text.as_bytes()[..fits].iter().map(|byte| byte.cast_signed()).chain([0]).collect();
        self.fill(&bytes)
    }
}

/// A pointer that the caller gave for one value or several to be read.
#[repr(transparent)]
pub(crate) struct In<T>(*const T);

impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<T> {}

impl<T: Copy> In<T> {
    /// # Safety
    ///
    /// The pointer is null or good for as many reads as are asked for.
    pub(crate) unsafe fn new(pointer: *const T) -> Self {
        Self(pointer)
    }

    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub(crate) fn pointer(self) -> *const T {
        self.0
    }

    /// Reads the value; a null pointer is an invalid value.
    pub(crate) fn get(self) -> Answer<T> {
        self.optional().ok_or(hipErrorInvalidValue)
    }

    /// Reads the value if there is one.
    pub(crate) fn optional(self) -> Option<T> {
        // SAFETY: HIP's contract: the caller gives a pointer that is good for a read, or null.
        (!self.0.is_null()).then(|| unsafe { self.0.read_unaligned() })
    }

    /// Reads several values; none may come from a null pointer.
    pub(crate) fn slice(self, count: usize) -> Answer<Vec<T>> {
        if count != 0 && self.0.is_null() {
            return Err(hipErrorInvalidValue);
        }
        (0..count).map(|index| Self(self.0.wrapping_add(index)).get()).collect()
    }
}

/// A text that the caller gave.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Text(*const c_char);

impl Text {
    /// A copy of the text; null and what is not UTF-8 are invalid values.
    pub(crate) fn get(self) -> Answer<String> {
        if self.0.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: HIP's contract: the caller gives a text that ends with a NUL, or null.
        let text = unsafe { CStr::from_ptr(self.0) };
        text.to_str().map(str::to_owned).map_err(|_| hipErrorInvalidValue)
    }
}

impl<T: Copy> Out<T> {
    /// Lets a function of ours write to a variable of ours.
    pub(crate) fn to(place: &mut T) -> Self {
        Self(place)
    }
}

impl<T> Out<T> {
    /// # Safety
    ///
    /// The pointer is null or good for the writes that are made.
    pub(crate) unsafe fn new(pointer: *mut T) -> Self {
        Self(pointer)
    }
}

/// The answer of a function that is not supported, as its last error too.
pub(crate) fn call_refused() -> hipError_t {
    thread::set_last_error(hipErrorNotSupported);
    hipErrorNotSupported
}

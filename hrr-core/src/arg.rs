//! The traits at the border between typed declarations and the erased engine.
//!
//! They carry associated constants only. Expansions read them while building a `static`
//! [`crate::desc::ApiDesc`]; nothing generic runs behind them.

use crate::desc::{
    CodePtr, CopyKinds, HandleDesc, PayloadDesc, RetDesc, RetKind, ScalarKind, Shape,
};

/// A type that crosses the ABI by value or behind a pointer, and whose content can be described.
///
/// Derive it for a `#[repr(C)]` struct (`#[derive(Payload)]`); pointer and handle fields need
/// roles there. Raw pointers do not have it: a pointer has a meaning only with a role.
///
/// # Safety
/// `PAYLOAD` describes the type truly: size, alignment, and every field's offset, size and role.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot cross the ABI without a description",
    label = "has no `Payload`",
    note = "derive `Payload` on the `#[repr(C)]` struct; a pointer needs a role such as `#[deref]` or `#[device_ptr]`"
)]
pub unsafe trait Payload: Copy + 'static {
    /// The description.
    const PAYLOAD: &'static PayloadDesc;
}

/// A handle of the runtime: a pointer-sized value that only the runtime may look into.
///
/// # Safety
/// The type is `#[repr(transparent)]` over a pointer or an integer of 8 bytes, and `HANDLE` names
/// this type and no other, so that a map of one kind of handle never answers for another.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handle",
    label = "not a handle type",
    note = "`#[out_handle]` and `#[destroys]` take a handle declared with `handle!`; for other outputs use `#[out]`"
)]
pub unsafe trait Handle: Payload {
    /// The kind of handle.
    const HANDLE: &'static HandleDesc;
}

/// A type that a function returns.
///
/// # Safety
/// `RET` describes the type truly.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be returned by a recorded function",
    label = "no `Ret` for this type",
    note = "implement `Ret`, or return a status, an integer, a handle or a described struct"
)]
pub unsafe trait Ret: Copy + 'static {
    /// The description, with `ty` as the type's own name.
    const RET: RetDesc;
    /// What a call answers if the runtime does not have the function.
    const MISSING: Self;
    /// The function that gives this answer, whatever its arguments.
    #[doc(hidden)]
    const MISSING_FN: CodePtr = CodePtr(crate::private::missing::<Self> as *const ());
}

/// An enum that says which sides of a copy are host and device.
///
/// # Safety
/// The type is `#[repr(transparent)]` over a 4-byte integer.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which way a copy goes",
    label = "not a copy kind",
    note = "`kind = ...` names a parameter or field whose type implements `CopyKind`"
)]
pub unsafe trait CopyKind: Payload {
    /// The meanings of the values.
    const KINDS: &'static CopyKinds;
}

/// An enum of just-in-time compiler options.
///
/// # Safety
/// The type is `#[repr(transparent)]` over a 4-byte integer, and `OPTIONS` says truly which values
/// are integers and which are pointers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what its options' values are",
    label = "not an enum of just-in-time options",
    note = "`keys = ...` names a `*const` or `*mut` parameter whose pointee implements `JitOption`"
)]
pub unsafe trait JitOption: Payload {
    /// The meanings of the options.
    const OPTIONS: &'static [crate::desc::JitOptionDesc];
}

/// An integer that can be a count or a number of bytes.
///
/// # Safety
/// The type is an unsigned or signed integer of 1, 2, 4 or 8 bytes, or transparent over one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot count elements or bytes",
    label = "not an integer",
    note = "`count` and `bytes` name integer parameters, or pointers to integers with `before(..)`/`after(..)`"
)]
pub unsafe trait Count: Payload {
    /// Named by declarations: a type that cannot count does not have it.
    #[doc(hidden)]
    const COUNTS: () = ();
}

macro_rules! scalar {
    ($($ty:ty => $kind:ident $(, $count:ident)?;)*) => { $(
        // SAFETY: size and alignment are the compiler's; a scalar has no fields.
        unsafe impl Payload for $ty {
            const PAYLOAD: &'static PayloadDesc = &PayloadDesc {
                name: stringify!($ty),
                bytes: size_of::<$ty>() as u32,
                align: align_of::<$ty>() as u32,
                shape: Shape::Scalar(ScalarKind::$kind),
            };
        }
        // SAFETY: the description is the one above.
        unsafe impl Ret for $ty {
            const RET: RetDesc = RetDesc {
                ty: stringify!($ty),
                bytes: size_of::<$ty>() as u32,
                kind: RetKind::Value(<$ty as Payload>::PAYLOAD),
                compare: crate::desc::Compare::Exact,
            };
            const MISSING: Self = 0 as $ty;
        }
        $(
            // SAFETY: a primitive integer.
            unsafe impl $count for $ty {}
        )?
    )* };
}
scalar! {
    u8 => Unsigned, Count; u16 => Unsigned, Count; u32 => Unsigned, Count; u64 => Unsigned, Count;
    usize => Unsigned, Count;
    i8 => Signed, Count; i16 => Signed, Count; i32 => Signed, Count; i64 => Signed, Count;
    isize => Signed, Count;
    f32 => Float; f64 => Float;
}

// SAFETY: size and alignment are the compiler's; the bytes have no meaning of their own here.
unsafe impl<T: Payload, const N: usize> Payload for [T; N] {
    const PAYLOAD: &'static PayloadDesc = &PayloadDesc {
        name: "array",
        bytes: size_of::<[T; N]>() as u32,
        align: align_of::<[T; N]>() as u32,
        shape: match T::PAYLOAD.shape {
            Shape::Scalar(_) => Shape::Scalar(ScalarKind::Bytes),
            Shape::Handle(_) | Shape::Struct(_) => {
                panic!("an array inside a struct must be of scalars; give the others fields")
            }
        },
    };
}

// SAFETY: nothing is returned.
unsafe impl Ret for () {
    const RET: RetDesc =
        RetDesc { ty: "()", bytes: 0, kind: RetKind::Void, compare: crate::desc::Compare::Exact };
    const MISSING: Self = ();
}

// SAFETY: a pointer to a NUL-terminated string that the runtime owns.
unsafe impl Ret for *const core::ffi::c_char {
    const RET: RetDesc = RetDesc {
        ty: "*const c_char",
        bytes: 8,
        kind: RetKind::Str,
        compare: crate::desc::Compare::Machine,
    };
    const MISSING: Self = core::ptr::null();
}

/// Declares handle types: `handle! { /// docs pub struct hipStream_t, reserved = [1, 2]; }`.
#[macro_export]
macro_rules! handle {
    ($($(#[$meta:meta])* pub struct $name:ident $(, reserved = [$($reserved:expr),*])? ;)*) => { $(
        $(#[$meta])*
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct $name(pub *mut ::core::ffi::c_void);

        impl $name {
            /// The null handle.
            pub const NULL: Self = Self(::core::ptr::null_mut());
            /// Whether this is the null handle.
            pub fn is_null(self) -> bool { self.0.is_null() }
        }
        impl Default for $name {
            fn default() -> Self { Self::NULL }
        }
        // SAFETY: a handle is an opaque word; using it is the runtime's contract.
        unsafe impl Send for $name {}
        // SAFETY: as above.
        unsafe impl Sync for $name {}
        // SAFETY: transparent over a pointer, described as the handle it is.
        unsafe impl $crate::arg::Payload for $name {
            const PAYLOAD: &'static $crate::desc::PayloadDesc = &$crate::desc::PayloadDesc {
                name: stringify!($name),
                bytes: 8,
                align: 8,
                shape: $crate::desc::Shape::Handle(<$name as $crate::arg::Handle>::HANDLE),
            };
        }
        // SAFETY: transparent over a pointer; the name is the type's own.
        unsafe impl $crate::arg::Handle for $name {
            const HANDLE: &'static $crate::desc::HandleDesc = &$crate::desc::HandleDesc {
                name: stringify!($name),
                reserved: &[$($($reserved),*)?],
            };
        }
    )* };
}

/// Declares a C enum as a transparent integer with constants, so that a value that we do not know
/// is not undefined behaviour: `c_enum! { pub enum hipMemcpyKind: u32 { hipMemcpyHostToHost = 0, } }`.
#[macro_export]
macro_rules! c_enum {
    ($($(#[$meta:meta])* pub enum $name:ident : $repr:ty { $($(#[$vmeta:meta])* $variant:ident = $value:expr),* $(,)? })*) => { $(
        $(#[$meta])*
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
        pub struct $name(pub $repr);

        $($(#[$vmeta])* #[allow(non_upper_case_globals, missing_docs, reason = "the header's spelling")]
        pub const $variant: $name = $name($value);)*

        impl $name {
            /// The constants of this enum and their names.
            pub const NAMES: &'static [($repr, &'static str)] = &[$(($value, stringify!($variant))),*];
        }
        impl ::core::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match Self::NAMES.iter().find(|(value, _)| *value == self.0) {
                    Some((_, name)) => f.write_str(name),
                    None => write!(f, "{}({})", stringify!($name), self.0),
                }
            }
        }
        // SAFETY: transparent over a primitive integer.
        unsafe impl $crate::arg::Payload for $name {
            const PAYLOAD: &'static $crate::desc::PayloadDesc = &$crate::desc::PayloadDesc {
                name: stringify!($name),
                bytes: ::core::mem::size_of::<$repr>() as u32,
                align: ::core::mem::align_of::<$repr>() as u32,
                shape: <$repr as $crate::arg::Payload>::PAYLOAD.shape_of_scalar(),
            };
        }
        // SAFETY: transparent over a primitive integer.
        unsafe impl $crate::arg::Count for $name {}
    )* };
}

impl PayloadDesc {
    /// The shape of a scalar description, for transparent wrappers.
    pub const fn shape_of_scalar(&self) -> Shape {
        match self.shape {
            Shape::Scalar(kind) => Shape::Scalar(kind),
            Shape::Handle(_) | Shape::Struct(_) => panic!("not a scalar"),
        }
    }
}

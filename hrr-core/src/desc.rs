//! What a declaration says, as constant data.
//!
//! One [`ApiDesc`] per function is all that the recorder, the archive, the replayer and the tools
//! know of it. The macro writes these values; nothing else may. This module holds no behaviour but
//! look-ups, and knows no HIP name. Start reading at [`ApiDesc`], then [`Role`].

use core::ffi::CStr;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};

use crate::capture::CaptureCx;
use crate::replay::ReplayCx;

/// The table of one block of declarations, in the order of the source.
pub type Table = &'static [&'static ApiDesc];

/// One function of the API.
///
/// `slot` is the first field: the exported name of the function is `jmp *[API_name]`.
#[repr(C)]
pub struct ApiDesc {
    /// Where a call of the exported name goes: the binder, the real function, or the recorded
    /// wrapper.
    pub slot: AtomicPtr<()>,
    /// The function of the vendor's runtime; null until it is bound.
    pub real: AtomicPtr<()>,
    /// The first word of a live record of this function, begun and without inputs, with the id that
    /// the running recording gave it; 0 until its first recorded call. See
    /// [`crate::archive::raw`].
    pub header: AtomicU64,
    /// Bit set of the `STATE_*` constants: what was already said about this function.
    pub state: AtomicU32,
    /// Size of the `#[repr(C)]` argument block.
    pub args_bytes: u32,
    /// Room that a record keeps for outputs of fixed size, headers included: a multiple of 8.
    pub outs_bytes: u32,
    /// What the hot path must know, folded into one word; see [`flags_of`].
    pub flags: u32,
    /// The C name, as exported.
    pub name: &'static CStr,
    /// C++-mangled names under which old runtimes export the same function.
    pub aliases: &'static [&'static CStr],
    /// The group of the header that declares the function.
    pub group: &'static str,
    /// The library that has the function, without prefix and suffix: the block says it where it is
    /// not the main one; empty for the main one.
    pub library: &'static str,
    /// Whether the function checks its handles and answers an error for a bad one, so that a call
    /// that failed when recorded may be issued with a poison handle.
    pub validated: bool,
    /// The documentation comment.
    pub docs: &'static str,
    /// The parameters, in order.
    pub params: &'static [ParamDesc],
    /// What the function returns.
    pub ret: RetDesc,
    /// How replay treats the function.
    pub class: Class,
    /// What the call does to the order of work and to host memory.
    pub effects: &'static [Effect],
    /// The hand-written half of recording, if there is one.
    pub capture: Option<CaptureFn>,
    /// The hand-written half of replay, if there is one.
    pub replay: Option<ReplayFn>,
    /// The recorded wrapper, with the C signature of the function.
    pub wrapper: CodePtr,
    /// Binds the real function at the first call, then jumps through `slot`.
    pub bind: CodePtr,
    /// Answers for a runtime that lacks the function, with the C signature of the function.
    pub missing: CodePtr,
    /// A stand-in for the real function that hands its arguments to
    /// `crate::testing`; null unless the `testing` feature is on.
    pub receive: CodePtr,
    /// Calls a function of this signature.
    pub invoke: InvokeFn,
}

// An exported name jumps to what stands at the descriptor's own address.
const _: () = assert!(core::mem::offset_of!(ApiDesc, slot) == 0);

/// The address of a function whose signature the descriptor describes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct CodePtr(pub *const ());

// SAFETY: an address of code; calling it is the unsafe act, and states its own obligations.
unsafe impl Sync for CodePtr {}
// SAFETY: as above.
unsafe impl Send for CodePtr {}

/// Calls `function` with the arguments in the `#[repr(C)]` block at `args` and stores what it
/// returns, `ret.bytes` bytes, at `ret`.
///
/// # Safety
/// `function` has the C signature of the descriptor that this function came from; `args` points at
/// an initialised argument block of that descriptor; `ret` is writable for `ret.bytes` bytes and
/// aligned to 16; and the callee's own contract holds for these arguments.
pub type InvokeFn = unsafe fn(function: *const (), args: *const u8, ret: *mut u8);

/// A hand-written half of recording: called once before and once after the real call
/// ([`CaptureCx::phase`]), in place of the interpreter for this call's deep fields.
pub type CaptureFn = fn(&mut CaptureCx<'_>);

/// A hand-written half of replay: issues the call in place of the interpreter.
pub type ReplayFn = fn(&mut ReplayCx<'_>) -> crate::replay::Issued;

/// [`ApiDesc::state`]: the warning of an unreplayable function was printed.
pub const STATE_WARNED: u32 = 1;
/// [`ApiDesc::state`]: that the runtime lacks the function was printed.
pub const STATE_MISSING: u32 = 2;
/// [`ApiDesc::state`]: the descriptor is in the list of bound ones.
pub const STATE_BOUND: u32 = 4;

/// [`ApiDesc::flags`]: some parameter has content to take before the call.
pub const HAS_INPUTS: u32 = 1;
/// [`ApiDesc::flags`]: some parameter, or the returned value, has content to take after the call.
pub const HAS_OUTPUTS: u32 = 2;
/// [`ApiDesc::flags`]: there is a hand-written half, an effect that recording follows, or a class to
/// warn about.
pub const HAS_SLOW_PATH: u32 = 4;

/// [`ApiDesc::flags`]: some struct that the call reads holds a callback.
pub const HOLDS_CALLBACK: u32 = 8;

/// Folds the facts that the hot path tests into [`ApiDesc::flags`].
pub const fn flags_of(
    params: &'static [ParamDesc],
    ret: &RetDesc,
    effects: &'static [Effect],
    class: &Class,
    capture: &Option<CaptureFn>,
) -> u32 {
    let mut flags = 0;
    let mut i = 0;
    while i < params.len() {
        if params[i].role.has_input() {
            flags |= HAS_INPUTS;
        }
        if params[i].role.has_output() {
            flags |= HAS_OUTPUTS;
        }
        if params[i].role.callback_inside().is_some() {
            flags |= HOLDS_CALLBACK;
        }
        i += 1;
    }
    if ret.bytes > 8 || matches!(ret.kind, RetKind::Str) {
        flags |= HAS_OUTPUTS;
    }
    let mut i = 0;
    while i < effects.len() {
        if !matches!(effects[i], Effect::PeeksLastError | Effect::TakesLastError) {
            flags |= HAS_SLOW_PATH;
        }
        i += 1;
    }
    if capture.is_some() || matches!(class, Class::Refused { .. }) {
        flags |= HAS_SLOW_PATH;
    }
    flags
}

/// Size of the header that stands before each deep field in a live record; see
/// [`crate::archive::raw`].
pub const FIELD_HEADER_BYTES: u32 = 24;

/// Sums the room for outputs whose size the descriptor fixes. Longer or variable ones go to a tail
/// record.
pub const fn outs_bytes_of(params: &'static [ParamDesc], ret: &RetDesc) -> u32 {
    let mut bytes = 0;
    let mut i = 0;
    while i < params.len() {
        if let Some(n) = params[i].role.fixed_output_bytes() {
            bytes += FIELD_HEADER_BYTES + n.next_multiple_of(8);
        }
        i += 1;
    }
    if ret.bytes > 8 {
        bytes += FIELD_HEADER_BYTES + ret.bytes.next_multiple_of(8);
    }
    bytes
}

/// One parameter of a function, or one field of a struct that crosses.
pub struct ParamDesc {
    /// The name in the header.
    pub name: &'static str,
    /// The type, as the declaration spells it.
    pub ty: &'static str,
    /// Offset in the argument block or in the struct.
    pub offset: u32,
    /// Size in the argument block or in the struct.
    pub bytes: u32,
    /// What the parameter means.
    pub role: Role,
}

/// What a value is made of: the description of a type that crosses the ABI.
pub struct PayloadDesc {
    /// The type's name in the header.
    pub name: &'static str,
    /// `size_of`.
    pub bytes: u32,
    /// `align_of`.
    pub align: u32,
    /// What is inside.
    pub shape: Shape,
}

/// The inside of a [`PayloadDesc`].
pub enum Shape {
    /// An integer, enum, float or byte array: recorded and compared as its bytes.
    Scalar(ScalarKind),
    /// A handle of the runtime.
    Handle(&'static HandleDesc),
    /// Fields; what lies between them is padding, neither recorded nor compared.
    Struct(&'static [ParamDesc]),
}

/// How a scalar is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScalarKind {
    /// Two's complement.
    Signed,
    /// Unsigned.
    Unsigned,
    /// IEEE 754 of 4 or 8 bytes.
    Float,
    /// Bytes without a meaning of their own (an id, a union whose tag is elsewhere).
    Bytes,
}

/// A type of handle.
pub struct HandleDesc {
    /// The type's name in the header: the name of its map.
    pub name: &'static str,
    /// Values that every runtime reserves (such as the legacy stream 1); they pass unchanged. Null
    /// always passes.
    pub reserved: &'static [u64],
}

/// A number of elements or bytes that a declaration computes.
///
/// Indices name parameters of the function, or fields of the struct, in which the length stands.
pub enum Len {
    /// A literal.
    Const(u64),
    /// The value of an integer parameter or field.
    Param(u16),
    /// The integer behind a pointer parameter, as it was before the call: the capacity of a
    /// count-then-fill call.
    Before(u16),
    /// The integer behind a pointer parameter, as the call left it. Before the call it stands for
    /// [`Len::Before`]; after it, for the smaller of both.
    After(u16),
    /// The product; an overflow makes the payload unsupported.
    Product(&'static [Len]),
    /// The smallest.
    Min(&'static [Len]),
    /// A function of the call.
    Call(LenFn),
}

/// Computes a length from the arguments of a call: `None` if it cannot be known.
pub type LenFn = fn(&Scope<'_>) -> Option<u64>;

/// The values among which a length, a rectangle or a tag is looked up: an argument block, or a
/// struct, together with its description.
pub struct Scope<'a> {
    /// The parameters or fields.
    pub params: &'a [ParamDesc],
    /// The argument block or the struct: readable for the extent of `params`.
    pub base: *const u8,
    /// The scope around a struct: the call in which it was passed.
    pub outer: Option<&'a Scope<'a>>,
    /// What the integers behind pointer parameters were before the call, by parameter index.
    pub before: &'a [(u16, u64)],
    /// Whether the real call has returned.
    pub returned: bool,
}

/// Which way the content behind a pointer travels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Read by the call.
    In,
    /// Written by the call.
    Out,
    /// Both.
    InOut,
}

/// How a replayed output is held against the recorded one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compare {
    /// Bit for bit.
    Exact,
    /// A fact of the machine: shown, counted as `machine_differs`, never part of the verdict.
    Machine,
}

/// Where an allocation lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Space {
    /// Only the device can reach it.
    Device,
    /// Host memory that kernels can reach, allocated by the runtime.
    Pinned,
    /// Memory that both reach at one address.
    Managed,
}

/// In which space a call allocates.
#[derive(Clone, Copy)]
pub enum SpaceOf {
    /// Fixed by the function.
    Fixed(Space),
    /// A function of the scope, as where a flag decides.
    Call(fn(&Scope<'_>) -> Space),
}

impl SpaceOf {
    /// The space in which the call allocates that has these arguments.
    pub fn of(&self, scope: &Scope<'_>) -> Space {
        match self {
            SpaceOf::Fixed(space) => *space,
            SpaceOf::Call(function) => function(scope),
        }
    }
}

/// Which side of a copy an operand is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The copy reads it.
    Source,
    /// The copy writes it.
    Destination,
}

/// On which side of the bus one operand of a copy lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Host memory.
    Host,
    /// Device memory.
    Device,
    /// Found by the tracked ranges: device if one holds the address, else host.
    Tracked,
}

/// What the values of a copy-kind enum mean.
pub struct CopyKinds {
    /// (value, place of the source, place of the destination).
    pub rows: &'static [(i64, Place, Place)],
}

/// Where the operand of a copy lies.
pub enum OperandPlace {
    /// Fixed by the function.
    Fixed(Place),
    /// Given by the enum in this parameter or field.
    Kind(u16, &'static CopyKinds),
    /// A function of the scope: `None` refuses.
    Call(fn(&Scope<'_>) -> Option<Place>),
}

/// What part of memory an operand of a copy covers.
pub enum Extent {
    /// One run of bytes.
    Bytes(Len),
    /// `height` rows of `width` bytes, `pitch` bytes apart.
    Rows {
        /// Bytes from row to row.
        pitch: Len,
        /// Bytes of a row.
        width: Len,
        /// Rows.
        height: Len,
    },
    /// A function of the scope: `None` if it cannot be known.
    Call(fn(&Scope<'_>) -> Option<Rect>),
}

/// A region of rows in slices, relative to the operand's pointer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rect {
    /// Bytes from the operand's pointer to the first row.
    pub offset: u64,
    /// Bytes of a row.
    pub width: u64,
    /// Rows of a slice.
    pub height: u64,
    /// Slices.
    pub depth: u64,
    /// Bytes from row to row.
    pub pitch: u64,
    /// Bytes from slice to slice.
    pub slice: u64,
}

/// One meaning of a tagged value.
pub struct TagDesc {
    /// The tag.
    pub tag: i64,
    /// The constant's name in the header.
    pub name: &'static str,
    /// What the value is under this tag.
    pub payload: &'static PayloadDesc,
    /// How an output is compared.
    pub compare: Compare,
}

/// One option of a just-in-time compiler call.
pub struct JitOptionDesc {
    /// The option.
    pub option: i64,
    /// The constant's name in the header.
    pub name: &'static str,
    /// What the `void*` beside it is.
    pub value: JitValue,
}

/// What the value of a just-in-time compiler option is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JitValue {
    /// An integer in the pointer's place.
    Integer,
    /// A float in the pointer's low half.
    Float,
    /// A buffer that the call writes; its size is the value of this other option.
    OutBuffer {
        /// The option that holds the size.
        bytes_option: i64,
    },
}

/// How a code image is handed over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImageForm {
    /// A pointer to the image itself: its length is found in its own headers.
    Data,
    /// A pointer to the compiler's wrapper {magic, version, pointer to the image}.
    Wrapper,
    /// The path of a file that holds the image. Its content is recorded; replay never opens it.
    File,
}

/// How the arguments of a kernel are handed over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KernelArgsForm {
    /// `void**`: one pointer to each argument.
    Pointers,
    /// `extra`: a list of (key, value) that names one packed buffer.
    Extra,
}

/// What a parameter, or a field of a struct, means. One policy each for recording, replay and
/// printing: [`crate::capture`], [`crate::replay`], [`crate::dump`].
pub enum Role {
    /// An integer, enum or float.
    Scalar(&'static PayloadDesc),
    /// A struct by value.
    Struct(&'static PayloadDesc),
    /// A handle that the runtime made earlier. `destroys`: it is gone when the call succeeds.
    InHandle {
        /// The handle's type.
        handle: &'static HandleDesc,
        /// Whether a successful call ends the handle.
        destroys: bool,
    },
    /// Where the call writes one handle, or `count` of them.
    OutHandle {
        /// The handle's type.
        handle: &'static HandleDesc,
        /// Elements, for an array.
        count: Option<Len>,
    },
    /// One struct or scalar behind a pointer (`StructByPointer`).
    Pointee {
        /// Which way it travels.
        direction: Direction,
        /// What it is.
        payload: &'static PayloadDesc,
        /// How an output is compared.
        compare: Compare,
    },
    /// `count` elements behind a pointer (`ArrayByCount`).
    Array {
        /// Which way they travel.
        direction: Direction,
        /// What an element is.
        payload: &'static PayloadDesc,
        /// Elements.
        count: Len,
        /// How outputs are compared.
        compare: Compare,
    },
    /// A string that the call reads, to its NUL.
    String,
    /// A string that the call writes into a buffer of this size.
    OutString {
        /// Size of the buffer.
        bytes: Len,
        /// How it is compared.
        compare: Compare,
    },
    /// An address that the device uses. `frees`: the allocation ends when the call succeeds.
    DevicePointer {
        /// Whether a successful call ends the allocation.
        frees: bool,
    },
    /// `count` addresses that the device uses.
    DevicePointerArray {
        /// Elements.
        count: Len,
    },
    /// Where the call writes an address that the device uses. With `bytes` it becomes a tracked
    /// range.
    OutDevicePointer {
        /// Size of what lies there; `None`: inside a range that is known already.
        bytes: Option<Len>,
        /// Whether the call makes an allocation of its own, which replay may place.
        allocates: Option<SpaceOf>,
    },
    /// Host memory that the call makes reachable for the device.
    RegistersHost {
        /// Its size.
        bytes: Len,
    },
    /// Host memory whose registration a successful call ends.
    UnregistersHost,
    /// Bytes that the call reads (`HostInputBuffer`).
    HostIn {
        /// Their number.
        bytes: Len,
    },
    /// Bytes that the call writes (`HostOutputBuffer`): `#[out_buffer]`, `#[host_out]`.
    HostOut {
        /// Their number.
        bytes: Len,
        /// How they are compared.
        compare: Compare,
    },
    /// One side of a copy (`MemcpyOperand`).
    Operand {
        /// Which side.
        side: Side,
        /// Where it lies.
        place: OperandPlace,
        /// What it covers.
        extent: Extent,
    },
    /// The arguments of a kernel.
    KernelArgs {
        /// The parameter or field that names the kernel: a [`Role::HostSymbol`] or a handle of a
        /// kernel.
        function: u16,
        /// How they are handed over.
        form: KernelArgsForm,
    },
    /// A host address that stands for a kernel or a device variable.
    HostSymbol,
    /// A host address that names a kernel or variable from now on. The registering call's other
    /// parameters say which.
    DefinesHostSymbol {
        /// The parameter that holds the registered image's handle.
        image: u16,
        /// The parameter that holds the name.
        name: u16,
    },
    /// A code object or bundle.
    Image(ImageForm),
    /// A value whose meaning another parameter gives.
    Tagged {
        /// The parameter or field that holds the tag.
        by: u16,
        /// The meanings.
        table: &'static [TagDesc],
        /// Whether the value lies behind a pointer, and which way it then travels; `None`: the
        /// value itself (a union by value).
        behind: Option<Direction>,
    },
    /// The values of just-in-time compiler options.
    JitOptions {
        /// The parameter that holds the keys.
        keys: u16,
        /// Their number.
        count: Len,
        /// What is known of them.
        table: &'static [JitOptionDesc],
    },
    /// A function of the program that the runtime will call.
    Callback,
    /// What the runtime hands to such a function.
    UserData,
    /// Where the call writes the address of an API function; the program gets ours.
    EntryPoint {
        /// The parameter that holds the function's name.
        name: u16,
    },
    /// Something of the operating system that another process cannot use.
    OsHandle {
        /// Bytes, where it lies behind a pointer.
        bytes: Option<Len>,
    },
    /// A pointer whose value is only an identity or is ignored, with the reason.
    Opaque {
        /// Why nothing behind it matters.
        reason: &'static str,
    },
    /// The ordinal of a device.
    Device,
}

impl Role {
    /// The role of a parameter without an attribute: its type decides.
    pub const fn of_value(payload: &'static PayloadDesc) -> Role {
        match payload.shape {
            Shape::Scalar(_) => Role::Scalar(payload),
            Shape::Struct(_) => Role::Struct(payload),
            Shape::Handle(handle) => Role::InHandle { handle, destroys: false },
        }
    }

    /// The kind's name, as `hrr apis` prints it.
    pub const fn kind(&self) -> &'static str {
        match self {
            Role::Scalar(_) => "Scalar",
            Role::Struct(_) => "Struct",
            Role::InHandle { .. } => "InHandle",
            Role::OutHandle { .. } => "OutputHandle",
            Role::Pointee { .. } => "StructByPointer",
            Role::Array { .. } => "ArrayByCount",
            Role::String => "String",
            Role::OutString { .. } => "OutString",
            Role::DevicePointer { .. } => "DevicePointer",
            Role::DevicePointerArray { .. } => "DevicePointerArray",
            Role::OutDevicePointer { .. } => "OutDevicePointer",
            Role::RegistersHost { .. } => "RegistersHost",
            Role::UnregistersHost => "UnregistersHost",
            Role::HostIn { .. } => "HostInputBuffer",
            Role::HostOut { .. } => "HostOutputBuffer",
            Role::Operand { .. } => "MemcpyOperand",
            Role::KernelArgs { .. } => "KernelArgs",
            Role::HostSymbol => "HostSymbol",
            Role::DefinesHostSymbol { .. } => "DefinesHostSymbol",
            Role::Image(_) => "Image",
            Role::Tagged { .. } => "Tagged",
            Role::JitOptions { .. } => "JitOptionValueArray",
            Role::Callback => "CallbackFunction",
            Role::UserData => "UserData",
            Role::EntryPoint { .. } => "EntryPoint",
            Role::OsHandle { .. } => "OsHandle",
            Role::Opaque { .. } => "Opaque",
            Role::Device => "Device",
        }
    }

    /// Where the one struct that the call reads through this parameter holds a callback and its user
    /// data: the offsets of both.
    pub const fn callback_inside(&self) -> Option<(u32, u32)> {
        let Role::Pointee { direction: Direction::In, payload, .. } = self else { return None };
        let Shape::Struct(fields) = payload.shape else { return None };
        let (mut callback, mut user_data, mut at) = (None, None, 0);
        while at < fields.len() {
            match fields[at].role {
                Role::Callback => callback = Some(fields[at].offset),
                Role::UserData => user_data = Some(fields[at].offset),
                _ => {}
            }
            at += 1;
        }
        match (callback, user_data) {
            (Some(callback), Some(user_data)) => Some((callback, user_data)),
            (_, _) => None,
        }
    }

    /// Whether there is content to take before the call.
    pub const fn has_input(&self) -> bool {
        match self {
            Role::Scalar(_)
            | Role::InHandle { .. }
            | Role::OutHandle { .. }
            | Role::OutString { .. }
            | Role::DevicePointer { .. }
            | Role::UnregistersHost
            | Role::HostOut { .. }
            | Role::Callback
            | Role::UserData
            | Role::EntryPoint { .. }
            | Role::OsHandle { .. }
            | Role::Opaque { .. }
            | Role::Device => false,
            Role::OutDevicePointer { .. } | Role::RegistersHost { .. } => false,
            Role::Struct(payload) => payload.has_input(),
            Role::Pointee { direction, .. } | Role::Array { direction, .. } => {
                !matches!(direction, Direction::Out)
            }
            Role::Tagged { behind, .. } => !matches!(behind, Some(Direction::Out)),
            Role::String
            | Role::DevicePointerArray { .. }
            | Role::HostIn { .. }
            | Role::Operand { .. }
            | Role::KernelArgs { .. }
            | Role::HostSymbol
            | Role::DefinesHostSymbol { .. }
            | Role::Image(_)
            | Role::JitOptions { .. } => true,
        }
    }

    /// Whether there is content to take, or a map to keep, after the call.
    pub const fn has_output(&self) -> bool {
        match self {
            Role::Scalar(_)
            | Role::String
            | Role::DevicePointerArray { .. }
            | Role::HostIn { .. }
            | Role::KernelArgs { .. }
            | Role::HostSymbol
            | Role::Callback
            | Role::UserData
            | Role::Opaque { .. }
            | Role::Device => false,
            Role::Struct(payload) => payload.has_output(),
            Role::InHandle { destroys, .. } => *destroys,
            Role::DevicePointer { frees } => *frees,
            Role::Pointee { direction, payload, .. } => {
                !matches!(direction, Direction::In) || payload.has_output()
            }
            Role::Array { direction, payload, .. } => {
                !matches!(direction, Direction::In) || payload.has_output()
            }
            Role::Tagged { behind, .. } => {
                matches!(behind, Some(Direction::Out | Direction::InOut))
            }
            Role::OutHandle { .. }
            | Role::OutString { .. }
            | Role::OutDevicePointer { .. }
            | Role::RegistersHost { .. }
            | Role::UnregistersHost
            | Role::HostOut { .. }
            | Role::Operand { .. }
            | Role::DefinesHostSymbol { .. }
            | Role::Image(_)
            | Role::JitOptions { .. }
            | Role::EntryPoint { .. }
            | Role::OsHandle { .. } => true,
        }
    }

    /// The bytes of an output whose size the descriptor fixes and that a record keeps room for.
    pub const fn fixed_output_bytes(&self) -> Option<u32> {
        match self {
            Role::OutHandle { count: None, .. } | Role::OutDevicePointer { .. } => Some(8),
            Role::Pointee { direction: Direction::Out | Direction::InOut, payload, .. }
                if payload.bytes <= 256 =>
            {
                Some(payload.bytes)
            }
            Role::HostOut { bytes: Len::Const(n), .. } if *n <= 256 => Some(*n as u32),
            _ => None,
        }
    }
}

impl PayloadDesc {
    /// Whether content hangs below this value that must be taken before a call.
    pub const fn has_input(&self) -> bool {
        if let Shape::Struct(fields) = self.shape {
            let mut i = 0;
            while i < fields.len() {
                if fields[i].role.has_input() {
                    return true;
                }
                i += 1;
            }
        }
        false
    }

    /// Whether content hangs below this value that must be taken after a call.
    pub const fn has_output(&self) -> bool {
        if let Shape::Struct(fields) = self.shape {
            let mut i = 0;
            while i < fields.len() {
                if fields[i].role.has_output() {
                    return true;
                }
                i += 1;
            }
        }
        false
    }
}

/// What a function returns.
#[derive(Clone, Copy)]
pub struct RetDesc {
    /// The type, as the declaration spells it.
    pub ty: &'static str,
    /// Its size; 0 for nothing.
    pub bytes: u32,
    /// What it means.
    pub kind: RetKind,
    /// How it is compared.
    pub compare: Compare,
}

impl RetDesc {
    /// The description as a declaration spells it. `machine`: the value is a fact of the machine; a
    /// status is compared all the same.
    pub const fn declared(mut self, ty: &'static str, machine: bool) -> RetDesc {
        self.ty = ty;
        if machine && !matches!(self.kind, RetKind::Status { .. }) {
            self.compare = Compare::Machine;
        }
        self
    }
}

/// What a returned value means.
#[derive(Clone, Copy)]
pub enum RetKind {
    /// Nothing.
    Void,
    /// A status: 0 is success.
    Status {
        /// The status that says "not finished yet".
        not_ready: i64,
    },
    /// A value, shown and compared by its payload.
    Value(&'static PayloadDesc),
    /// A string that the runtime owns.
    Str,
    /// A pointer that is a handle.
    Handle(&'static HandleDesc),
}

/// How replay treats a function.
pub enum Class {
    /// Issued, and its results compared.
    Replayed,
    /// Asks whether work is finished: replay waits with `wait` where the recording saw success.
    Query {
        /// The function of the same first parameter that waits; `None`: issued as it is.
        wait: Option<&'static ApiDesc>,
    },
    /// Hands over a callback: issued with one that does nothing; the program's is not run.
    Ordering,
    /// Recorded, by design not issued.
    Host {
        /// Why.
        reason: &'static str,
    },
    /// Recorded and flagged; replay refuses it by name.
    Refused {
        /// Why.
        reason: &'static str,
    },
}

impl Class {
    /// The class's name, as `hrr apis` prints it.
    pub const fn name(&self) -> &'static str {
        match self {
            Class::Replayed => "replayed",
            Class::Query { .. } => "query",
            Class::Ordering => "ordering",
            Class::Host { .. } => "host",
            Class::Refused { .. } => "refused",
        }
    }

    /// The reason that the declaration gives, or nothing.
    pub const fn reason(&self) -> &'static str {
        match self {
            Class::Replayed | Class::Query { .. } | Class::Ordering => "",
            Class::Host { reason } | Class::Refused { reason } => reason,
        }
    }
}

/// What a successful call does to the order of work and to memory. Indices are parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// A new stream. It and the null stream wait for each other's earlier work, unless bit 0 of the
    /// flags is set: the value that such runtimes give to streams that do not.
    MakesStream {
        /// The out parameter.
        stream: u16,
        /// The flags; `None`: it has none.
        flags: Option<u16>,
    },
    /// The call's copies and kernels run on this stream, after it may have returned.
    Enqueues {
        /// The stream.
        stream: u16,
    },
    /// The call starts kernels that may read and write every reachable host range.
    Launches,
    /// When the call returns, all work of the device is done.
    CompletesDevice,
    /// When the call returns success, all work of the stream is done.
    CompletesStream {
        /// The stream.
        stream: u16,
    },
    /// When the call returns success, the work before the event is done.
    CompletesEvent {
        /// The event.
        event: u16,
    },
    /// The event stands for the work of the stream so far.
    RecordsEvent {
        /// The event.
        event: u16,
        /// The stream; `None`: the null stream.
        stream: Option<u16>,
    },
    /// Later work of the stream waits for the event.
    WaitsEvent {
        /// The stream.
        stream: u16,
        /// The event.
        event: u16,
    },
    /// From here on the stream's work is captured.
    BeginsCapture {
        /// The stream.
        stream: u16,
    },
    /// The captured work becomes the graph written through this out parameter.
    EndsCapture {
        /// The stream.
        stream: u16,
        /// The out parameter.
        graph: u16,
    },
    /// The call's copies, or those of another graph that it is given, belong to this graph and run at
    /// its launches. The handle that the call writes is the node that makes them.
    AddsToGraph {
        /// The graph.
        graph: u16,
    },
    /// The node makes the call's copies from here on, or those of a graph that it is given.
    SetsNode {
        /// The node.
        node: u16,
        /// The executable graph in which it does; `None`: in its graph.
        exec: Option<u16>,
    },
    /// The node of an executable graph runs, or does not, at its launches.
    EnablesNode {
        /// The executable graph.
        exec: u16,
        /// The node.
        node: u16,
        /// Zero: it does not run.
        enabled: u16,
    },
    /// The graph written through `clone` holds what `graph` holds now, with nodes of its own.
    ClonesGraph {
        /// The out parameter.
        clone: u16,
        /// The graph.
        graph: u16,
    },
    /// The executable graph written through `exec` runs what `graph` holds now.
    Instantiates {
        /// The out parameter.
        exec: u16,
        /// The graph.
        graph: u16,
    },
    /// The executable graph runs what `graph` holds now.
    UpdatesExec {
        /// The executable graph.
        exec: u16,
        /// The graph.
        graph: u16,
    },
    /// The executable graph runs on the stream.
    LaunchesGraph {
        /// The executable graph.
        exec: u16,
        /// The stream.
        stream: u16,
    },
    /// When the call returns, and one of its copies has a side in host memory, the work of the null
    /// stream, and what it waited for, is done.
    CompletesNullStream,
    /// The handle written through `function` is this kernel of the loaded image.
    DefinesKernel {
        /// The out parameter.
        function: u16,
        /// The handle of the image.
        image: u16,
        /// The kernel's name.
        name: u16,
    },
    /// Every handle, allocation and range of the device ends.
    ResetsDevice,
    /// From here on another process can write memory of this one.
    ExportsMemory,
    /// Answers the last error of the calling thread, which stays.
    PeeksLastError,
    /// Answers the last error of the calling thread, which is none afterwards.
    TakesLastError,
}

impl Effect {
    /// Whether the copies of a call with this effect may run after it has returned.
    pub const fn defers(&self) -> bool {
        matches!(
            self,
            Effect::Enqueues { .. } | Effect::AddsToGraph { .. } | Effect::SetsNode { .. }
        )
    }

    /// Whether a call with this effect has waited for work when it returns success.
    pub const fn waits(&self) -> bool {
        matches!(
            self,
            Effect::CompletesDevice
                | Effect::CompletesStream { .. }
                | Effect::CompletesEvent { .. }
                | Effect::CompletesNullStream
        )
    }
}

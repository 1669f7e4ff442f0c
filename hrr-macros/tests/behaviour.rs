//! What a block of declarations does: calls reach the function behind the slot with every argument
//! in place, and the descriptor tells the truth about the layout.
//!
//! Method: fakes with the same signatures are put behind the slots by hand, as the loader would.

use core::ffi::{c_char, c_int, c_void};
use core::mem::{offset_of, size_of};
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use hrr_macros::{Payload, api};
use hrr_runtime::arg::{CopyKind, JitOption, Payload, Ret};
use hrr_runtime::desc::{
    ApiDesc, Class, Compare, CopyKinds, Effect, Extent, JitOptionDesc, JitValue, Len, OperandPlace,
    Place, Rect, RetDesc, RetKind, Role, Scope, Shape, Side, TagDesc,
};

hrr_runtime::handle! {
    /// Ordered work.
    pub struct Stream;
    /// Work to be launched.
    pub struct Graph;
    /// A kernel.
    pub struct Kernel;
}
hrr_runtime::c_enum! {
    /// What a call answers.
    pub enum Status: u32 { OK = 0, UNSUPPORTED = 801, }
    /// Which way a copy goes.
    pub enum Kind: c_int { TO_HOST = 2, }
    /// An option.
    pub enum Opt: c_int { LOG = 3, }
}
// SAFETY: a 4-byte status, 0 for success.
unsafe impl Ret for Status {
    const RET: RetDesc = RetDesc {
        ty: "Status",
        bytes: 4,
        kind: RetKind::Status { not_ready: 600 },
        compare: Compare::Exact,
    };
    const MISSING: Status = UNSUPPORTED;
}
// SAFETY: transparent over `c_int`.
unsafe impl CopyKind for Kind {
    const KINDS: &'static CopyKinds = &CopyKinds { rows: &[(2, Place::Device, Place::Host)] };
}
// SAFETY: transparent over `c_int`; option 3 is an integer.
unsafe impl JitOption for Opt {
    const OPTIONS: &'static [JitOptionDesc] =
        &[JitOptionDesc { option: 3, name: "LOG", value: JitValue::Integer }];
}

/// Three sizes, as `hipExtent`: too large for registers.
#[repr(C)]
#[derive(Clone, Copy, Payload, PartialEq, Debug)]
pub struct Extent3 {
    width: usize,
    height: usize,
    depth: usize,
}

/// Twelve bytes, as `dim3`: two registers.
#[repr(C)]
#[derive(Clone, Copy, Payload, PartialEq, Debug)]
pub struct Dim3 {
    x: u32,
    y: u32,
    z: u32,
}

/// Padding, a handle, a pointer and a counted array.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct Config {
    small: u8,
    stream: Stream,
    #[device_ptr]
    address: *mut c_void,
    count: u16,
    #[deref(count = count)]
    values: *const u32,
    at: Dim3,
    text: [c_char; 3],
}

// SAFETY: a struct of integers.
unsafe impl Ret for Extent3 {
    const RET: RetDesc = RetDesc {
        ty: "Extent3",
        bytes: size_of::<Extent3>() as u32,
        kind: RetKind::Value(<Extent3 as Payload>::PAYLOAD),
        compare: Compare::Exact,
    };
    const MISSING: Extent3 = Extent3 { width: 0, height: 0, depth: 0 };
}

/// A function pointer behind an alias.
pub type HostFn = Option<unsafe extern "C" fn(*mut c_void)>;
/// A pointer behind an alias.
pub type DevicePtr = *mut c_void;

static TAGS: &[TagDesc] =
    &[TagDesc { tag: 1, name: "ONE", payload: <u32 as Payload>::PAYLOAD, compare: Compare::Exact }];

fn length_of(scope: &Scope<'_>) -> Option<u64> {
    Some(scope.params.len() as u64)
}

fn rect_of(_: &Scope<'_>) -> Option<Rect> {
    None
}

fn place_of(_: &Scope<'_>) -> Option<Place> {
    Some(Place::Device)
}

/// The declarations of this test. No library has them.
pub mod declared {
    use super::*;

    #[api(group = "synthetic", library = "hrr_test_library_that_does_not_exist")]
    unsafe extern "C" {
        /// Many arguments, in both kinds of registers and on the stack.
        pub fn hrrMany(
            a: u8,
            extent: Extent3,
            b: f32,
            dim: Dim3,
            c: u64,
            d: i16,
            e: f64,
            f: u32,
            g: u64,
            stream: Stream,
        ) -> Status;

        /// Neither arguments nor an answer.
        pub fn hrrNothing();

        /// An explicit unit.
        pub fn hrrUnit(a: u32) -> ();

        /// A struct in memory that the caller provides.
        pub fn hrrStruct(a: usize) -> Extent3;

        /// A string.
        #[machine]
        #[alias("_Z7hrrNamei")]
        #[alias("_Z7hrrNamej")]
        pub fn hrrName(a: c_int) -> *const c_char;

        /// A callback and its data.
        #[ordering]
        #[effect(enqueues = stream)]
        pub fn hrrCallback(
            stream: Stream,
            #[callback] func: HostFn,
            #[user_data] data: *mut c_void,
        ) -> Status;

        /// Asks.
        #[query(wait = self::hrrWait)]
        pub fn hrrQuery(stream: Stream) -> Status;

        /// Waits.
        #[validated]
        #[effect(completes_stream = stream)]
        pub fn hrrWait(stream: Stream) -> Status;

        /// Every way of giving a length, and a pointer to a pointer.
        #[unreplayable(reason = "only for its types")]
        pub fn hrrLengths(
            n: u16,
            #[inout] count: *mut u32,
            #[deref(count = min(n, before(count)) * 2)] a: *const u32,
            #[out(count = "after(count)", machine)] b: *mut Config,
            #[host_in(bytes = crate::length_of)] c: *const c_void,
            #[out_buffer(bytes = 24)] d: *mut Extent3,
            #[out_alloc(bytes = n, space = pinned)] e: *mut DevicePtr,
            #[deref(count = n, each = device_ptr)] f: *const *mut c_void,
        ) -> Status;

        /// Both sides of a copy.
        pub fn hrrCopy(
            #[operand(kind = kind, rows(pitch = pitch, width = width, height = 2))]
            dst: *mut c_void,
            #[operand(place = crate::place_of, rect = rect_of, side = source)] src: DevicePtr,
            pitch: usize,
            width: usize,
            kind: Kind,
            #[tagged(by = kind, table = TAGS, inout)] tagged: *mut c_void,
            #[deref(count = 1)] options: *mut Opt,
            #[jit_options(keys = options, count = 1)] values: *mut *mut c_void,
        ) -> Status;
    }
}

/// Declarations that are there or not.
pub mod conditional {
    use super::*;

    #[api(group = "conditional")]
    unsafe extern "C" {
        /// Always there.
        #[cfg(not(any()))]
        pub fn hrrPresent() -> Status;

        /// Never there.
        #[cfg(any())]
        pub fn hrrAbsent(missing: ATypeThatDoesNotExist);

        /// One of two with the same name.
        #[cfg(target_pointer_width = "64")]
        pub fn hrrEither(a: u64) -> Status;

        /// The other.
        #[cfg(not(target_pointer_width = "64"))]
        pub fn hrrEither(a: u32) -> Status;
    }
}

use declared::*;

/// Puts a fake behind a declaration, as binding does. The wrapper stands in front of it.
fn bind(api: &ApiDesc, fake: *const (), recorded: bool) {
    api.real.store(fake.cast_mut(), Ordering::Release);
    let front = if recorded { api.wrapper.0 } else { fake };
    api.slot.store(front.cast_mut(), Ordering::Release);
}

static SEEN: AtomicU64 = AtomicU64::new(0);

extern "C" fn fake_many(
    a: u8,
    extent: Extent3,
    b: f32,
    dim: Dim3,
    c: u64,
    d: i16,
    e: f64,
    f: u32,
    g: u64,
    stream: Stream,
) -> Status {
    assert_eq!((a, b, c, d, e, f, g), (1, 2.5, 3, -4, 5.25, 6, 7));
    assert_eq!(extent, Extent3 { width: 10, height: 20, depth: 30 });
    assert_eq!(dim, Dim3 { x: 1, y: 2, z: 3 });
    assert_eq!(stream.0 as usize, 0x5ea);
    SEEN.fetch_add(1, Ordering::Relaxed);
    Status(77)
}

#[test]
fn every_way_of_calling_passes_every_argument() {
    let extent = Extent3 { width: 10, height: 20, depth: 30 };
    let dim = Dim3 { x: 1, y: 2, z: 3 };
    let stream = Stream(0x5ea as *mut c_void);
    for recorded in [false, true] {
        bind(&API_hrrMany, fake_many as *const (), recorded);
        // SAFETY: the fake has this signature.
        let status = unsafe { hrrMany(1, extent, 2.5, dim, 3, -4, 5.25, 6, 7, stream) };
        assert_eq!(status, Status(77));
    }
    // SAFETY: as above.
    let status = unsafe { raw::hrrMany(1, extent, 2.5, dim, 3, -4, 5.25, 6, 7, stream) };
    assert_eq!(status, Status(77));

    let block = args_of(&API_hrrMany, |name, at| match name {
        // SAFETY: `at` is the place of the parameter with this name, whose type this is.
        "a" => unsafe { at.write(1) },
        // SAFETY: as above.
        "extent" => unsafe { at.cast::<Extent3>().write(extent) },
        // SAFETY: as above.
        "b" => unsafe { at.cast::<f32>().write(2.5) },
        // SAFETY: as above.
        "dim" => unsafe { at.cast::<Dim3>().write(dim) },
        // SAFETY: as above.
        "c" => unsafe { at.cast::<u64>().write(3) },
        // SAFETY: as above.
        "d" => unsafe { at.cast::<i16>().write(-4) },
        // SAFETY: as above.
        "e" => unsafe { at.cast::<f64>().write(5.25) },
        // SAFETY: as above.
        "f" => unsafe { at.cast::<u32>().write(6) },
        // SAFETY: as above.
        "g" => unsafe { at.cast::<u64>().write(7) },
        // SAFETY: as above.
        "stream" => unsafe { at.cast::<Stream>().write(stream) },
        other => panic!("no argument for `{other}`"),
    });
    let mut ret = 0u128;
    // SAFETY: the fake has the signature, the block is filled, `ret` is 16 aligned bytes.
    unsafe {
        (API_hrrMany.invoke)(fake_many as *const (), block.as_ptr().cast(), (&raw mut ret).cast());
    }
    assert_eq!(ret, 77);
    assert_eq!(SEEN.load(Ordering::Relaxed), 4);
}

/// An argument block, filled by name through the descriptor alone.
fn args_of(api: &ApiDesc, mut fill: impl FnMut(&str, *mut u8)) -> Vec<u128> {
    let mut block = vec![0u128; (api.args_bytes as usize).div_ceil(16)];
    for param in api.params {
        assert!(param.offset + param.bytes <= api.args_bytes);
        // SAFETY: inside the block.
        fill(param.name, unsafe { block.as_mut_ptr().cast::<u8>().add(param.offset as usize) });
    }
    block
}

#[test]
fn answers_of_every_shape_come_back() {
    extern "C" fn nothing() {}
    extern "C" fn unit(a: u32) {
        assert_eq!(a, 9);
    }
    extern "C" fn extent(a: usize) -> Extent3 {
        Extent3 { width: a, height: a + 1, depth: a + 2 }
    }
    extern "C" fn name(_: c_int) -> *const c_char {
        c"name".as_ptr()
    }
    let filled = Extent3 { width: 4, height: 5, depth: 6 };
    for recorded in [false, true] {
        bind(&API_hrrNothing, nothing as *const (), recorded);
        bind(&API_hrrUnit, unit as *const (), recorded);
        bind(&API_hrrStruct, extent as *const (), recorded);
        bind(&API_hrrName, name as *const (), recorded);
        // SAFETY: the fakes have these signatures.
        unsafe {
            hrrNothing();
            raw::hrrNothing();
            hrrUnit(9);
            assert_eq!(hrrStruct(4), filled);
            assert_eq!(raw::hrrStruct(4), filled);
            assert_eq!(hrrName(1), c"name".as_ptr());
        }
    }
    let mut ret = [0u128; 2];
    // SAFETY: no arguments are read; `ret` has room for nothing.
    unsafe {
        (API_hrrNothing.invoke)(nothing as *const (), ret.as_ptr().cast(), ret.as_mut_ptr().cast())
    };
    assert_eq!(ret, [0; 2]);
    // SAFETY: the block is one `usize`, `ret` has room for the 24 bytes.
    unsafe {
        (API_hrrStruct.invoke)(
            extent as *const (),
            (&raw const filled.width).cast(),
            ret.as_mut_ptr().cast(),
        );
        assert_eq!(ret.as_ptr().cast::<Extent3>().read(), filled);
    }
}

#[test]
fn a_callback_reaches_a_runtime_that_is_not_recorded() {
    static DATA: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
    extern "C" fn fake(_: Stream, func: HostFn, data: *mut c_void) -> Status {
        // SAFETY: the test's own function.
        unsafe { func.unwrap()(data) };
        Status::default()
    }
    unsafe extern "C" fn program(data: *mut c_void) {
        DATA.store(data, Ordering::Relaxed);
    }
    bind(&API_hrrCallback, fake as *const (), true);
    // SAFETY: the fake has this signature.
    let status = unsafe { hrrCallback(Stream::NULL, Some(program), 0x77 as *mut c_void) };
    assert_eq!(status, OK);
    assert_eq!(DATA.load(Ordering::Relaxed) as usize, 0x77);
}

/// No library has the functions of this test: a call of one that was never bound is answered by
/// what its type says.
#[test]
fn a_missing_function_answers() {
    assert_eq!(API_hrrQuery.slot.load(Ordering::Relaxed).cast_const(), API_hrrQuery.bind.0);
    assert!(API_hrrQuery.real.load(Ordering::Relaxed).is_null());
    // SAFETY: it touches nothing.
    assert_eq!(unsafe { hrrQuery(Stream::NULL) }, UNSUPPORTED);
    // SAFETY: as above.
    assert_eq!(unsafe { hrrQuery(Stream::NULL) }, UNSUPPORTED);
    // SAFETY: as above.
    assert_eq!(unsafe { raw::hrrWait(Stream::NULL) }, UNSUPPORTED);

    // SAFETY: what stands in for a missing function has its signature.
    let missing = unsafe {
        core::mem::transmute::<*const (), unsafe extern "C" fn(usize) -> Extent3>(
            API_hrrStruct.missing.0,
        )
    };
    // SAFETY: as above.
    assert_eq!(unsafe { missing(3) }, Extent3 { width: 0, height: 0, depth: 0 });
}

#[test]
fn the_table_has_every_function_in_order() {
    let names: Vec<&str> = APIS.iter().map(|api| api.name.to_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "hrrMany",
            "hrrNothing",
            "hrrUnit",
            "hrrStruct",
            "hrrName",
            "hrrCallback",
            "hrrQuery",
            "hrrWait",
            "hrrLengths",
            "hrrCopy"
        ]
    );
    for api in APIS {
        assert_eq!(api.group, "synthetic");
        assert_eq!(api.library, "hrr_test_library_that_does_not_exist");
        assert!(!api.docs.is_empty());
        assert_eq!(core::ptr::from_ref(&api.slot).cast(), core::ptr::from_ref(*api));
    }
    assert_eq!(API_hrrName.aliases, [c"_Z7hrrNamei", c"_Z7hrrNamej"]);
    assert_eq!(API_hrrName.ret.ty, "*const c_char");
    assert_eq!(API_hrrName.ret.compare, Compare::Machine);
    assert_eq!(API_hrrUnit.ret.bytes, 0);
    assert_eq!(API_hrrStruct.ret.bytes, 24);
    assert_eq!(API_hrrNothing.args_bytes, 0);
    assert!(API_hrrWait.validated && !API_hrrQuery.validated);
    assert!(
        matches!(API_hrrQuery.class, Class::Query { wait: Some(wait) } if core::ptr::eq(wait, &API_hrrWait))
    );
    assert!(matches!(API_hrrCallback.class, Class::Ordering));
    assert_eq!(API_hrrCallback.effects, [Effect::Enqueues { stream: 0 }]);
    assert_eq!(API_hrrLengths.class.reason(), "only for its types");
}

#[test]
fn conditions_hold_for_every_item() {
    assert_eq!(conditional::APIS.len(), 2);
    assert_eq!(conditional::API_hrrEither.args_bytes, 8);
    let _: [unsafe extern "C" fn() -> Status; 1] = [conditional::hrrPresent];
    let _: [unsafe fn(u64) -> Status; 1] = [conditional::raw::hrrEither];
}

#[test]
fn layouts_are_those_of_c() {
    #[repr(C)]
    struct Copy {
        dst: *mut c_void,
        src: DevicePtr,
        pitch: usize,
        width: usize,
        kind: Kind,
        tagged: *mut c_void,
        options: *mut Opt,
        values: *mut *mut c_void,
    }
    assert_eq!(API_hrrCopy.args_bytes as usize, size_of::<Copy>());
    let offsets: Vec<usize> =
        API_hrrCopy.params.iter().map(|param| param.offset as usize).collect();
    assert_eq!(
        offsets,
        [
            offset_of!(Copy, dst),
            offset_of!(Copy, src),
            offset_of!(Copy, pitch),
            offset_of!(Copy, width),
            offset_of!(Copy, kind),
            offset_of!(Copy, tagged),
            offset_of!(Copy, options),
            offset_of!(Copy, values)
        ]
    );

    let config = <Config as Payload>::PAYLOAD;
    assert_eq!((config.name, config.bytes, config.align), ("Config", 56, 8));
    let Shape::Struct(fields) = &config.shape else { panic!("a struct") };
    let seen: Vec<(&str, &str, u32, u32, &str)> = fields
        .iter()
        .map(|field| (field.name, field.ty, field.offset, field.bytes, field.role.kind()))
        .collect();
    assert_eq!(
        seen,
        [
            ("small", "u8", 0, 1, "Scalar"),
            ("stream", "Stream", 8, 8, "InHandle"),
            ("address", "*mut c_void", 16, 8, "DevicePointer"),
            ("count", "u16", 24, 2, "Scalar"),
            ("values", "*const u32", 32, 8, "ArrayByCount"),
            ("at", "Dim3", 40, 12, "Struct"),
            ("text", "[c_char; 3]", 52, 3, "Scalar"),
        ]
    );
}

#[test]
fn roles_carry_what_the_words_say() {
    let [n, count, a, b, c, d, e, f] = API_hrrLengths.params else { panic!("eight parameters") };
    assert_eq!(n.role.kind(), "Scalar");
    assert_eq!(count.role.kind(), "StructByPointer");
    let Role::Array {
        count: Len::Product([Len::Min([Len::Param(0), Len::Before(1)]), Len::Const(2)]),
        ..
    } = &a.role
    else {
        panic!("a product of a minimum")
    };
    let Role::Array { count: Len::After(1), compare: Compare::Machine, payload, .. } = &b.role
    else {
        panic!("what the call left")
    };
    assert_eq!(payload.name, "Config");
    let Role::HostIn { bytes: Len::Call(call) } = &c.role else { panic!("a function") };
    let scope =
        Scope { params: &[], base: core::ptr::null(), outer: None, before: &[], returned: false };
    assert_eq!(call(&scope), Some(0));
    assert!(matches!(d.role, Role::HostOut { bytes: Len::Const(24), .. }));
    assert!(matches!(
        e.role,
        Role::OutDevicePointer { bytes: Some(Len::Param(0)), allocates: Some(_) }
    ));
    assert!(matches!(f.role, Role::DevicePointerArray { count: Len::Param(0) }));

    let [dst, src, _, _, _, tagged, _, values] = API_hrrCopy.params else { panic!("eight") };
    let Role::Operand { side: Side::Destination, place: OperandPlace::Kind(4, kinds), extent } =
        &dst.role
    else {
        panic!("the destination")
    };
    assert_eq!(kinds.rows.len(), 1);
    assert!(matches!(
        extent,
        Extent::Rows { pitch: Len::Param(2), width: Len::Param(3), height: Len::Const(2) }
    ));
    assert!(matches!(
        src.role,
        Role::Operand { side: Side::Source, place: OperandPlace::Call(_), .. }
    ));
    assert!(
        matches!(tagged.role, Role::Tagged { by: 4, behind: Some(_), table } if table.len() == 1)
    );
    assert!(matches!(values.role, Role::JitOptions { keys: 6, table, .. } if table.len() == 1));
}

/// What a library that exports the names does with them: an alias is `alias "symbol"`.
macro_rules! collect {
    ($group:path; $($name:ident $($symbol:literal)? => $api:ident,)*) => {
        use $group as group;
        const NAMES: &[&str] = &[$(concat!(stringify!($name), $(" ", $symbol)?)),*];
        static ROWS: &[&ApiDesc] = &[$(&group::$api),*];
    };
}
mod exported {
    use super::*;
    __hrr_names_synthetic!(collect, super::declared);

    #[test]
    fn names_and_aliases_lead_to_their_descriptors() {
        assert_eq!(NAMES.len(), 12);
        assert_eq!(ROWS.len(), 12);
        let at = NAMES.iter().position(|name| *name == "alias _Z7hrrNamej").unwrap();
        assert!(core::ptr::eq(ROWS[at], &API_hrrName));
    }
}

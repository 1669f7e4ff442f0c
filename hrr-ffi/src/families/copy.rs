//! Rectangles of copies whose parameters stand in a struct: which side lies where, and which bytes
//! of it the copy touches.

use core::ffi::{c_int, c_void};
use core::mem::offset_of;
use std::sync::OnceLock;

use hrr_core::arg::{Handle, Payload};
use hrr_core::desc::{
    Extent, OperandPlace, ParamDesc, PayloadDesc, Place, Rect, Role, Scope, Shape, Side,
};

use crate::types::*;

macro_rules! field {
    ($name:literal: $ty:ty, $at:expr, $role:expr) => {
        ParamDesc {
            name: $name,
            ty: stringify!($ty),
            offset: $at as u32,
            bytes: size_of::<$ty>() as u32,
            role: $role,
        }
    };
}

macro_rules! value {
    ($name:literal: $ty:ty, $at:expr) => {
        field!($name: $ty, $at, Role::of_value(<$ty as Payload>::PAYLOAD))
    };
}

/// Where a field of a nested struct lies in [`hipMemcpy3DParms`].
macro_rules! at {
    ($field:ident) => {
        offset_of!(hipMemcpy3DParms, $field)
    };
    ($field:ident.$inner:ident) => {
        offset_of!(hipMemcpy3DParms, $field) + offset_of!(hipPitchedPtr, $inner)
    };
}

/// The index of `kind` in [`PARMS_FIELDS`].
const KIND: u16 = 13;

const fn operand(side: Side, rect: fn(&Scope<'_>) -> Option<Rect>) -> Role {
    Role::Operand {
        side,
        place: OperandPlace::Kind(KIND, <hipMemcpyKind as hrr_core::arg::CopyKind>::KINDS),
        extent: Extent::Call(rect),
    }
}

const ARRAY: Role = Role::InHandle { handle: <hipArray_t as Handle>::HANDLE, destroys: false };

static PARMS_FIELDS: &[ParamDesc] = &[
    field!("srcArray": hipArray_t, at!(srcArray), ARRAY),
    value!("srcPos": hipPos, at!(srcPos)),
    field!("srcPtr.ptr": *mut c_void, at!(srcPtr.ptr), operand(Side::Source, source_rect)),
    value!("srcPtr.pitch": usize, at!(srcPtr.pitch)),
    value!("srcPtr.xsize": usize, at!(srcPtr.xsize)),
    value!("srcPtr.ysize": usize, at!(srcPtr.ysize)),
    field!("dstArray": hipArray_t, at!(dstArray), ARRAY),
    value!("dstPos": hipPos, at!(dstPos)),
    field!(
        "dstPtr.ptr": *mut c_void, at!(dstPtr.ptr), operand(Side::Destination, destination_rect)
    ),
    value!("dstPtr.pitch": usize, at!(dstPtr.pitch)),
    value!("dstPtr.xsize": usize, at!(dstPtr.xsize)),
    value!("dstPtr.ysize": usize, at!(dstPtr.ysize)),
    value!("extent": hipExtent, at!(extent)),
    value!("kind": hipMemcpyKind, at!(kind)),
];
const _: () = assert!(PARMS_FIELDS.len() == KIND as usize + 1, "`kind` is the last field");

// SAFETY: size, alignment and offsets are the compiler's. The two pitched pointers are given field
// by field because their addresses are operands here, which they are nowhere else.
unsafe impl Payload for hipMemcpy3DParms {
    const PAYLOAD: &'static PayloadDesc = &PayloadDesc {
        name: "hipMemcpy3DParms",
        bytes: size_of::<Self>() as u32,
        align: align_of::<Self>() as u32,
        shape: Shape::Struct(PARMS_FIELDS),
    };
}

/// The struct that a scope describes.
///
/// # Safety
/// The scope is that of a `T`.
unsafe fn view<T: Copy>(scope: &Scope<'_>) -> T {
    // SAFETY: `base` is readable for the extent of the struct (the contract of `Scope`), which the
    // caller says is a `T`, whose fields are integers, addresses and handles: any bits will do.
    unsafe { scope.base.cast::<T>().read_unaligned() }
}

/// The source of a [`hipMemcpy3DParms`].
fn source_rect(scope: &Scope<'_>) -> Option<Rect> {
    // SAFETY: named only by the description of this struct.
    let parms = unsafe { view::<hipMemcpy3DParms>(scope) };
    parms_rect(&parms, parms.srcArray, parms.srcPtr, parms.srcPos)
}

/// The destination of a [`hipMemcpy3DParms`].
fn destination_rect(scope: &Scope<'_>) -> Option<Rect> {
    // SAFETY: named only by the description of this struct.
    let parms = unsafe { view::<hipMemcpy3DParms>(scope) };
    parms_rect(&parms, parms.dstArray, parms.dstPtr, parms.dstPos)
}

/// One side of a [`hipMemcpy3DParms`]: nothing if the side is an array. If the *other* side is one,
/// the extent counts elements, whose size only the array knows: the rectangle is then unknown.
fn parms_rect(
    parms: &hipMemcpy3DParms,
    array: hipArray_t,
    memory: hipPitchedPtr,
    position: hipPos,
) -> Option<Rect> {
    if !array.is_null() {
        return Some(Rect::default());
    }
    if !parms.srcArray.is_null() || !parms.dstArray.is_null() {
        return None;
    }
    box_rect(Box3D {
        start: [position.x, position.y, position.z],
        size: [parms.extent.width, parms.extent.height, parms.extent.depth],
        pitch: memory.pitch,
        rows: memory.ysize,
    })
}

/// A box inside memory of rows and slices; sizes and starts are in bytes, rows and slices.
struct Box3D {
    start: [usize; 3],
    size: [usize; 3],
    /// Bytes from row to row; 0: rows without gaps.
    pitch: usize,
    /// Rows from slice to slice; 0: slices without gaps.
    rows: usize,
}

fn box_rect(shape: Box3D) -> Option<Rect> {
    let [x, y, z] = shape.start.map(|value| value as u64);
    let [width, height, depth] = shape.size.map(|value| value as u64);
    let pitch = if shape.pitch == 0 { width } else { shape.pitch as u64 };
    let rows = if shape.rows == 0 { height } else { shape.rows as u64 };
    let slice = pitch.checked_mul(rows)?;
    let offset = x.checked_add(y.checked_mul(pitch)?)?.checked_add(z.checked_mul(slice)?)?;
    Some(Rect { offset, width, height, depth, pitch, slice })
}

/// Where one side of a driver copy lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Located {
    Host,
    Device,
    Array,
    /// At the address in the device field, which may be anyone's.
    Unified,
}

/// One side of a [`hip_Memcpy2D`] or [`HIP_MEMCPY3D`].
struct DriverSide {
    memory_type: hipMemoryType,
    host: bool,
    device: bool,
    array: bool,
}

impl DriverSide {
    /// Reads the memory type, whose numbers changed with HIP 6.0. Where the two lists disagree, the
    /// pointer that is set decides; if that does not, nothing is known.
    fn located(&self) -> Option<Located> {
        match self.memory_type.0 {
            // 5: host. 6: unregistered, which a copy takes for host memory.
            0 => Some(Located::Host),
            // 5: device. 6: host.
            1 if self.device && self.host => None,
            1 if self.device => Some(Located::Device),
            1 => Some(Located::Host),
            // 5: array. 6: device.
            2 if self.device && self.array => None,
            2 if self.array => Some(Located::Array),
            2 => Some(Located::Device),
            // 5: unified. 6: managed.
            3 => Some(Located::Unified),
            // 5: managed. 6: not in the list.
            4 => Some(Located::Unified),
            10 => Some(Located::Array),
            11 => Some(Located::Unified),
            _ => None,
        }
    }
}

/// Whether the runtime is older than HIP 6.0, whose [`HIP_MEMCPY3D`] is another struct: 128 bytes,
/// with 32-bit sizes. What a program hands to such a runtime is then not understood, and no
/// operand of it is.
///
/// Asked once, before the call that is being recorded: no program can see it, because that call
/// leaves a last error of its own.
fn runtime_is_old() -> bool {
    static OLD: OnceLock<bool> = OnceLock::new();
    *OLD.get_or_init(|| {
        let mut version: c_int = 0;
        // SAFETY: the callee writes one int.
        let status = unsafe { crate::api::device::raw::hipRuntimeGetVersion(&raw mut version) };
        status == hipSuccess && version < VERSION_6_0
    })
}

/// The number of HIP 6.0: major * 10000000 + minor * 100000 + patch.
const VERSION_6_0: c_int = 60_000_000;

/// What both structs of driver copies say about one side.
trait DriverCopy: Copy {
    /// Whether the runtime reads this struct with the layout that we know.
    fn is_known() -> bool;
    fn source(&self) -> (DriverSide, Box3D);
    fn destination(&self) -> (DriverSide, Box3D);
}

impl DriverCopy for hip_Memcpy2D {
    fn is_known() -> bool {
        true
    }

    fn source(&self) -> (DriverSide, Box3D) {
        let side = DriverSide {
            memory_type: self.srcMemoryType,
            host: !self.srcHost.is_null(),
            device: !self.srcDevice.is_null(),
            array: !self.srcArray.is_null(),
        };
        let shape = Box3D {
            start: [self.srcXInBytes, self.srcY, 0],
            size: [self.WidthInBytes, self.Height, 1],
            pitch: self.srcPitch,
            rows: 0,
        };
        (side, shape)
    }

    fn destination(&self) -> (DriverSide, Box3D) {
        let side = DriverSide {
            memory_type: self.dstMemoryType,
            host: !self.dstHost.is_null(),
            device: !self.dstDevice.is_null(),
            array: !self.dstArray.is_null(),
        };
        let shape = Box3D {
            start: [self.dstXInBytes, self.dstY, 0],
            size: [self.WidthInBytes, self.Height, 1],
            pitch: self.dstPitch,
            rows: 0,
        };
        (side, shape)
    }
}

impl DriverCopy for HIP_MEMCPY3D {
    fn is_known() -> bool {
        !runtime_is_old()
    }

    fn source(&self) -> (DriverSide, Box3D) {
        let side = DriverSide {
            memory_type: self.srcMemoryType,
            host: !self.srcHost.is_null(),
            device: !self.srcDevice.is_null(),
            array: !self.srcArray.is_null(),
        };
        let shape = Box3D {
            start: [self.srcXInBytes, self.srcY, self.srcZ],
            size: [self.WidthInBytes, self.Height, self.Depth],
            pitch: self.srcPitch,
            rows: self.srcHeight,
        };
        (side, shape)
    }

    fn destination(&self) -> (DriverSide, Box3D) {
        let side = DriverSide {
            memory_type: self.dstMemoryType,
            host: !self.dstHost.is_null(),
            device: !self.dstDevice.is_null(),
            array: !self.dstArray.is_null(),
        };
        let shape = Box3D {
            start: [self.dstXInBytes, self.dstY, self.dstZ],
            size: [self.WidthInBytes, self.Height, self.Depth],
            pitch: self.dstPitch,
            rows: self.dstHeight,
        };
        (side, shape)
    }
}

/// The host field of one side: an operand of no bytes where the side is not host memory.
fn host_rect((side, shape): (DriverSide, Box3D)) -> Option<Rect> {
    match side.located()? {
        Located::Host => box_rect(shape),
        Located::Device | Located::Array | Located::Unified => Some(Rect::default()),
    }
}

/// The device field of one side: an operand of no bytes where the side is not there.
fn device_rect((side, shape): (DriverSide, Box3D)) -> Option<Rect> {
    match side.located()? {
        Located::Device | Located::Unified => box_rect(shape),
        Located::Host | Located::Array => Some(Rect::default()),
    }
}

/// Where the device field of one side leads. A field that the copy ignores counts as host memory of
/// no bytes, so that nobody asks what its address means.
fn device_place(side: &DriverSide) -> Option<Place> {
    Some(match side.located()? {
        Located::Device => Place::Device,
        Located::Unified => Place::Tracked,
        Located::Host | Located::Array => Place::Host,
    })
}

/// The struct that a scope describes, if the runtime reads it as we do.
///
/// # Safety
/// The scope is that of a `T`.
unsafe fn driver_copy<T: DriverCopy>(scope: &Scope<'_>) -> Option<T> {
    // SAFETY: the caller's.
    T::is_known().then(|| unsafe { view::<T>(scope) })
}

macro_rules! driver_copies {
    ($($ty:ident {
        $from_host:ident, $from_device:ident, $from_place:ident,
        $to_host:ident, $to_device:ident, $to_place:ident,
    })*) => { $(
        #[doc = concat!("What `srcHost` of a [`", stringify!($ty), "`] covers.")]
        pub fn $from_host(scope: &Scope<'_>) -> Option<Rect> {
            // SAFETY: named only by the fields of this struct.
            host_rect(unsafe { driver_copy::<$ty>(scope) }?.source())
        }
        #[doc = concat!("What `srcDevice` of a [`", stringify!($ty), "`] covers.")]
        pub fn $from_device(scope: &Scope<'_>) -> Option<Rect> {
            // SAFETY: as above.
            device_rect(unsafe { driver_copy::<$ty>(scope) }?.source())
        }
        #[doc = concat!("Where `srcDevice` of a [`", stringify!($ty), "`] leads.")]
        pub fn $from_place(scope: &Scope<'_>) -> Option<Place> {
            // SAFETY: as above.
            device_place(&unsafe { driver_copy::<$ty>(scope) }?.source().0)
        }
        #[doc = concat!("What `dstHost` of a [`", stringify!($ty), "`] covers.")]
        pub fn $to_host(scope: &Scope<'_>) -> Option<Rect> {
            // SAFETY: as above.
            host_rect(unsafe { driver_copy::<$ty>(scope) }?.destination())
        }
        #[doc = concat!("What `dstDevice` of a [`", stringify!($ty), "`] covers.")]
        pub fn $to_device(scope: &Scope<'_>) -> Option<Rect> {
            // SAFETY: as above.
            device_rect(unsafe { driver_copy::<$ty>(scope) }?.destination())
        }
        #[doc = concat!("Where `dstDevice` of a [`", stringify!($ty), "`] leads.")]
        pub fn $to_place(scope: &Scope<'_>) -> Option<Place> {
            // SAFETY: as above.
            device_place(&unsafe { driver_copy::<$ty>(scope) }?.destination().0)
        }
    )* };
}
driver_copies! {
    hip_Memcpy2D {
        from_host_2d, from_device_2d, from_place_2d,
        to_host_2d, to_device_2d, to_place_2d,
    }
    HIP_MEMCPY3D {
        from_host_3d, from_device_3d, from_place_3d,
        to_host_3d, to_device_3d, to_place_3d,
    }
}

#[cfg(test)]
mod tests {
    use core::ptr::null_mut;

    use super::*;

    const ADDRESS: *mut c_void = core::ptr::dangling_mut::<u64>().cast();

    fn parms() -> hipMemcpy3DParms {
        let memory = hipPitchedPtr { ptr: ADDRESS, pitch: 64, xsize: 48, ysize: 5 };
        hipMemcpy3DParms {
            srcArray: hipArray_t::NULL,
            srcPos: hipPos { x: 8, y: 1, z: 2 },
            srcPtr: memory,
            dstArray: hipArray_t::NULL,
            dstPos: hipPos::default(),
            dstPtr: hipPitchedPtr { pitch: 0, ysize: 0, ..memory },
            extent: hipExtent { width: 16, height: 3, depth: 2 },
            kind: hipMemcpyHostToDevice,
        }
    }

    fn scope(parms: &hipMemcpy3DParms) -> Scope<'_> {
        let base = core::ptr::from_ref(parms).cast();
        Scope { params: PARMS_FIELDS, base, outer: None, before: &[], returned: false }
    }

    #[test]
    fn a_box_starts_at_its_position_and_pitch_zero_means_without_gaps() {
        let parms = parms();
        let source = Rect {
            offset: 8 + 64 + 2 * 320,
            width: 16,
            height: 3,
            depth: 2,
            pitch: 64,
            slice: 320,
        };
        assert_eq!(source_rect(&scope(&parms)), Some(source));
        let destination = Rect { offset: 0, width: 16, height: 3, depth: 2, pitch: 16, slice: 48 };
        assert_eq!(destination_rect(&scope(&parms)), Some(destination));
    }

    #[test]
    fn the_memory_side_of_a_copy_with_an_array_is_unknown() {
        let parms = hipMemcpy3DParms { dstArray: hipArray_t(ADDRESS), ..parms() };
        assert_eq!(destination_rect(&scope(&parms)), Some(Rect::default()));
        assert_eq!(source_rect(&scope(&parms)), None);
    }

    #[test]
    fn sizes_that_overflow_give_no_rectangle() {
        let parms = hipMemcpy3DParms {
            srcPtr: hipPitchedPtr { pitch: usize::MAX, ..parms().srcPtr },
            ..parms()
        };
        assert_eq!(source_rect(&scope(&parms)), None);
    }

    #[test]
    fn memory_types_of_both_numberings_are_told_apart_by_the_pointer_that_is_set() {
        let located = |number, host, device, array| {
            DriverSide { memory_type: hipMemoryType(number), host, device, array }.located()
        };
        assert_eq!(located(0, true, false, false), Some(Located::Host));
        assert_eq!(located(1, true, false, false), Some(Located::Host));
        assert_eq!(located(1, false, true, false), Some(Located::Device));
        assert_eq!(located(1, true, true, false), None);
        assert_eq!(located(2, false, true, false), Some(Located::Device));
        assert_eq!(located(2, false, false, true), Some(Located::Array));
        assert_eq!(located(2, false, true, true), None);
        assert_eq!(located(11, false, true, false), Some(Located::Unified));
        assert_eq!(located(5, true, true, true), None);
    }

    #[test]
    fn the_field_that_a_driver_copy_ignores_has_no_bytes() {
        let copy = hip_Memcpy2D {
            srcXInBytes: 4,
            srcY: 1,
            srcMemoryType: hipMemoryTypeHost,
            srcHost: ADDRESS,
            srcDevice: null_mut(),
            srcArray: hipArray_t::NULL,
            srcPitch: 32,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: hipMemoryTypeDevice,
            dstHost: null_mut(),
            dstDevice: ADDRESS,
            dstArray: hipArray_t::NULL,
            dstPitch: 0,
            WidthInBytes: 8,
            Height: 2,
        };
        let Shape::Struct(params) = &<hip_Memcpy2D as Payload>::PAYLOAD.shape else {
            panic!("a struct")
        };
        let base = core::ptr::from_ref(&copy).cast();
        let scope = Scope { params, base, outer: None, before: &[], returned: false };
        let source = Rect { offset: 36, width: 8, height: 2, depth: 1, pitch: 32, slice: 64 };
        assert_eq!(from_host_2d(&scope), Some(source));
        assert_eq!(from_device_2d(&scope), Some(Rect::default()));
        assert_eq!(from_place_2d(&scope), Some(Place::Host));
        assert_eq!(to_place_2d(&scope), Some(Place::Device));
        assert_eq!(to_host_2d(&scope), Some(Rect::default()));
    }
}

use core::ffi::{c_char, c_uint, c_void};
use hrr_macros::{Payload, api};
use hrr_runtime::arg::{Payload, Ret};

hrr_runtime::handle! { pub struct Stream; pub struct Graph; }
hrr_runtime::c_enum! { pub enum Status: u32 { OK = 0, } }
unsafe impl Ret for Status {
    const RET: hrr_runtime::desc::RetDesc = hrr_runtime::desc::RetDesc {
        ty: "Status",
        bytes: 4,
        kind: hrr_runtime::desc::RetKind::Status { not_ready: 600 },
        compare: hrr_runtime::desc::Compare::Exact,
    };
    const MISSING: Status = Status(801);
}
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct Extent {
    x: usize,
    y: usize,
    z: usize,
    #[device_ptr]
    p: *mut c_void,
    s: Stream,
}

#[api(group = "synthetic")]
unsafe extern "C" {
    /// A.
    pub fn hrrPlain(a: u32, b: Extent) -> Status;
    pub fn hrrNothing();
    pub fn hrrOut(
        #[out_handle] g: *mut Graph,
        #[out] n: *mut u32,
        #[deref(count = "k * 2")] p: *const Graph,
        k: usize,
        #[string] s: *const c_char,
        #[out_buffer(bytes = 8)] b: *mut [c_char; 8],
    ) -> Status;
    #[query(wait = hrrWait)]
    #[effect(completes_stream = s)]
    pub fn hrrQuery(s: Stream) -> Status;
    pub fn hrrWait(#[destroys] s: Stream) -> Status;
}
#[test]
fn t() {
    assert_eq!(APIS.len(), 5);
    let _ = <Extent as Payload>::PAYLOAD;
    let s = unsafe { hrrQuery(Stream::NULL) };
    assert_eq!(s, Status(801));
}

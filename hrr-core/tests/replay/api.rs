//! The declarations of this test. No library has them.

use core::ffi::{c_char, c_int, c_void};

use hrr_core::arg::{CopyKind, JitOption, Payload, Ret};
use hrr_core::desc::{
    Compare, CopyKinds, JitOptionDesc, JitValue, Place, Rect, RetDesc, RetKind, Scope, TagDesc,
};
use hrr_core::replay::{Issued, ReplayCx};
use hrr_macros::{Payload, api};

hrr_core::handle! {
    /// Ordered work.
    pub struct Stream, reserved = [1, 2];
    /// Work to be launched.
    pub struct Graph;
    /// A part of it.
    pub struct GraphNode;
    /// Work that can be launched.
    pub struct Exec;
    /// Loaded code.
    pub struct Module;
    /// A kernel of it.
    pub struct Function;
}
hrr_core::c_enum! {
    /// What a call answers.
    pub enum Status: c_int {
        OK = 0, INVALID = 1, OOM = 2, BAD_HANDLE = 400, NOT_READY = 600, LAUNCH_FAILURE = 719,
        UNSUPPORTED = 801,
    }
    /// Which way a copy goes.
    pub enum Kind: c_int { H2H = 0, H2D = 1, D2H = 2, D2D = 3, AUTO = 4, }
    /// An option of the linker.
    pub enum Opt: c_int { MAX_REGISTERS = 0, LOG = 3, LOG_BYTES = 4, }
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
// SAFETY: a pointer-sized handle.
unsafe impl Ret for Module {
    const RET: RetDesc = RetDesc {
        ty: "Module",
        bytes: 8,
        kind: RetKind::Handle(<Module as hrr_core::arg::Handle>::HANDLE),
        compare: Compare::Exact,
    };
    const MISSING: Module = Module::NULL;
}
// SAFETY: transparent over `c_int`.
unsafe impl CopyKind for Kind {
    const KINDS: &'static CopyKinds = &CopyKinds {
        rows: &[
            (0, Place::Host, Place::Host),
            (1, Place::Host, Place::Device),
            (2, Place::Device, Place::Host),
            (3, Place::Device, Place::Device),
            (4, Place::Tracked, Place::Tracked),
        ],
    };
}
// SAFETY: transparent over `c_int`.
unsafe impl JitOption for Opt {
    const OPTIONS: &'static [JitOptionDesc] = &[
        JitOptionDesc { option: 0, name: "MAX_REGISTERS", value: JitValue::Integer },
        JitOptionDesc { option: 3, name: "LOG", value: JitValue::OutBuffer { bytes_option: 4 } },
        JitOptionDesc { option: 4, name: "LOG_BYTES", value: JitValue::Integer },
    ];
}

/// Padding, a handle, a device pointer, and an array with its length.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct Config {
    pub small: u8,
    pub stream: Stream,
    #[device_ptr]
    pub address: *mut c_void,
    pub count: u16,
    #[deref(count = count)]
    pub values: *const u32,
}

/// A copy that a struct describes.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct CopyParams {
    #[operand(place = host, rows(pitch = pitch, width = width, height = height))]
    pub src: *const c_void,
    #[operand(place = device, bytes = width)]
    pub dst: *mut c_void,
    pub pitch: usize,
    pub width: usize,
    pub height: usize,
}

/// A copy that goes where a pointer is set: to the host if `host` is, else to the device.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct Either {
    #[operand(side = destination, place = host, rect = self::host_rect)]
    pub host: *mut c_void,
    #[operand(side = destination, place = self::device_place, rect = self::device_rect)]
    pub device: *mut c_void,
    pub bytes: usize,
}

/// The struct, and whether its copy goes to the host.
fn either(scope: &Scope<'_>) -> (Either, bool) {
    // SAFETY: named only by the fields of this struct.
    let copy = unsafe { scope.base.cast::<Either>().read_unaligned() };
    (copy, copy.device.is_null())
}

fn row(bytes: usize) -> Option<Rect> {
    let width = bytes as u64;
    Some(Rect { offset: 0, width, height: 1, depth: 1, pitch: width, slice: width })
}

pub fn host_rect(scope: &Scope<'_>) -> Option<Rect> {
    let (copy, host) = either(scope);
    row(if host { copy.bytes } else { 0 })
}

pub fn device_rect(scope: &Scope<'_>) -> Option<Rect> {
    let (copy, host) = either(scope);
    row(if host { 0 } else { copy.bytes })
}

pub fn device_place(scope: &Scope<'_>) -> Option<Place> {
    Some(if either(scope).1 { Place::Host } else { Place::Device })
}

/// What a query of attributes writes.
#[repr(C)]
#[derive(Clone, Copy, Payload)]
pub struct Info {
    pub small: u8,
    pub number: u32,
    pub stream: Stream,
}

pub static ATTRIBUTES: &[TagDesc] = &[
    TagDesc { tag: 1, name: "NUMBER", payload: <u32 as Payload>::PAYLOAD, compare: Compare::Exact },
    TagDesc {
        tag: 2,
        name: "STREAM",
        payload: <Stream as Payload>::PAYLOAD,
        compare: Compare::Exact,
    },
    TagDesc {
        tag: 3,
        name: "SPEED",
        payload: <u32 as Payload>::PAYLOAD,
        compare: Compare::Machine,
    },
];

/// A function of the program.
pub type HostFn = Option<unsafe extern "C" fn(*mut c_void)>;

#[api(group = "test", library = "hrr_test_library_that_does_not_exist")]
unsafe extern "C" {
    /// Makes a stream.
    pub fn tStreamCreate(#[out_handle] stream: *mut Stream) -> Status;

    /// Ends a stream.
    #[validated]
    pub fn tStreamDestroy(#[destroys] stream: Stream) -> Status;

    /// Takes a stream, and does not check it.
    pub fn tStreamUse(stream: Stream) -> Status;

    /// Takes a stream, and checks it.
    #[validated]
    pub fn tStreamChecked(stream: Stream) -> Status;

    /// Whether a stream's work is done.
    #[query(wait = self::tStreamSynchronize)]
    pub fn tStreamQuery(stream: Stream) -> Status;

    /// Whether something is done for which nothing waits.
    #[query]
    pub fn tPoll(stream: Stream) -> Status;

    /// Waits for a stream.
    #[effect(completes_stream = stream)]
    pub fn tStreamSynchronize(stream: Stream) -> Status;

    /// Waits for all.
    #[effect(completes_device)]
    pub fn tSynchronize() -> Status;

    /// The last error.
    #[effect(takes_last_error)]
    pub fn tGetLastError() -> Status;

    /// Allocates device memory.
    pub fn tMalloc(
        #[out_alloc(bytes = bytes, space = device)] ptr: *mut *mut c_void,
        bytes: usize,
    ) -> Status;

    /// Allocates rows of device memory.
    pub fn tMallocPitch(
        #[out_alloc(bytes = after(pitch) * height, space = device)] ptr: *mut *mut c_void,
        #[out(machine)] pitch: *mut usize,
        width: usize,
        height: usize,
    ) -> Status;

    /// Frees device memory.
    pub fn tFree(#[frees] ptr: *mut c_void) -> Status;

    /// Allocates host memory that kernels reach.
    pub fn tHostAlloc(
        #[out_alloc(bytes = bytes, space = pinned)] ptr: *mut *mut c_void,
        bytes: usize,
    ) -> Status;

    /// The device's address of host memory.
    pub fn tHostGetDevicePointer(
        #[out_device_ptr] device: *mut *mut c_void,
        #[device_ptr] host: *mut c_void,
    ) -> Status;

    /// Makes host memory reachable.
    pub fn tHostRegister(#[registers_host(bytes = bytes)] ptr: *mut c_void, bytes: usize)
    -> Status;

    /// Ends that.
    pub fn tHostUnregister(#[unregisters_host] ptr: *mut c_void) -> Status;

    /// Lets another process have memory.
    #[effect(exports_memory)]
    pub fn tExport(#[out(machine)] handle: *mut u64, #[device_ptr] ptr: *mut c_void) -> Status;

    /// Resets everything.
    #[effect(resets_device)]
    pub fn tReset() -> Status;

    /// Fills device memory.
    pub fn tMemset(#[device_ptr] ptr: *mut c_void, value: c_int, bytes: usize) -> Status;

    /// Copies.
    pub fn tMemcpy(
        #[operand(kind = kind, bytes = bytes)] dst: *mut c_void,
        #[operand(kind = kind, bytes = bytes)] src: *const c_void,
        bytes: usize,
        kind: Kind,
    ) -> Status;

    /// Copies rows.
    pub fn tMemcpy2D(
        #[operand(kind = kind, rows(pitch = dpitch, width = width, height = height))]
        dst: *mut c_void,
        dpitch: usize,
        #[operand(kind = kind, rows(pitch = spitch, width = width, height = height))]
        src: *const c_void,
        spitch: usize,
        width: usize,
        height: usize,
        kind: Kind,
    ) -> Status;

    /// Copies later.
    #[effect(enqueues = stream)]
    pub fn tMemcpyAsync(
        #[operand(kind = kind, bytes = bytes)] dst: *mut c_void,
        #[operand(kind = kind, bytes = bytes)] src: *const c_void,
        bytes: usize,
        kind: Kind,
        stream: Stream,
    ) -> Status;

    /// Copies as a struct says.
    pub fn tMemcpyParams(#[deref] params: *const CopyParams) -> Status;

    /// Copies to where a pointer of a struct is set.
    pub fn tMemcpyEither(#[deref] copy: *const Either) -> Status;

    /// Takes a struct with contents below it.
    pub fn tConfigure(#[deref] config: *const Config) -> Status;

    /// Takes an array of structs.
    pub fn tConfigureAll(#[deref(count = count)] configs: *const Config, count: u32) -> Status;

    /// Takes strings.
    pub fn tName(
        #[string] name: *const c_char,
        #[host_in(bytes = bytes)] data: *const c_void,
        bytes: usize,
    ) -> Status;

    /// Takes addresses.
    pub fn tAddresses(
        #[deref(count = count, each = device_ptr)] addresses: *const *mut c_void,
        count: usize,
    ) -> Status;

    /// Writes eight bytes.
    pub fn tGetLuid(#[out_buffer(bytes = 8)] luid: *mut [c_char; 8]) -> Status;

    /// Writes a name.
    pub fn tGetName(#[out_str(bytes = bytes, machine)] name: *mut c_char, bytes: c_int) -> Status;

    /// Writes a number.
    pub fn tGetNumber(#[out] number: *mut c_int) -> Status;

    /// Writes a fact of the machine.
    pub fn tGetFree(#[out(machine)] free: *mut usize) -> Status;

    /// Writes a struct.
    pub fn tGetInfo(#[out] info: *mut Info) -> Status;

    /// Writes as many streams as there are, up to the capacity.
    pub fn tGetStreams(
        #[out_handle(count = after(count))] streams: *mut Stream,
        #[inout] count: *mut usize,
    ) -> Status;

    /// Writes an attribute.
    pub fn tGetAttribute(
        #[tagged(by = attribute, table = ATTRIBUTES, out)] value: *mut c_void,
        attribute: c_int,
    ) -> Status;

    /// Takes an attribute.
    pub fn tSetAttribute(
        attribute: c_int,
        #[tagged(by = attribute, table = ATTRIBUTES)] value: *const c_void,
    ) -> Status;

    /// Takes the options of a linker.
    pub fn tLink(
        count: u32,
        #[deref(count = count)] options: *const Opt,
        #[jit_options(keys = options, count = count)] values: *mut *mut c_void,
    ) -> Status;

    /// Takes a device.
    pub fn tSetDevice(#[device] device: c_int) -> Status;

    /// Takes a callback.
    #[ordering]
    pub fn tAddCallback(
        stream: Stream,
        #[callback] callback: HostFn,
        #[user_data] data: *mut c_void,
    ) -> Status;

    /// Compiles on the host.
    #[host(reason = "the code arrives with the load")]
    pub fn tCompile(#[string] source: *const c_char) -> Status;

    /// Takes a handle of the system.
    #[unreplayable(reason = "the handle belongs to the process that exported it")]
    pub fn tImport(#[os_handle] fd: c_int, #[out_handle] stream: *mut Stream) -> Status;

    /// Hands out a function.
    pub fn tGetProc(
        #[string] name: *const c_char,
        #[out_entry_point(name = name)] f: *mut *mut c_void,
    ) -> Status;

    /// Loads code.
    pub fn tModuleLoadData(
        #[out_handle] module: *mut Module,
        #[code_image] image: *const c_void,
    ) -> Status;

    /// Loads code from a file.
    #[replay(with = self::load_bytes)]
    pub fn tModuleLoad(
        #[out_handle] module: *mut Module,
        #[code_image(file)] path: *const c_char,
    ) -> Status;

    /// Loads code from a file, without a hand-written half.
    pub fn tModuleLoadPath(
        #[out_handle] module: *mut Module,
        #[code_image(file)] path: *const c_char,
    ) -> Status;

    /// Registers code.
    pub fn tRegisterBinary(#[code_image(wrapper)] wrapper: *const c_void) -> Module;

    /// Registers a kernel of it.
    pub fn tRegisterFunction(
        module: Module,
        #[defines_host_symbol(image = module, name = name)] stub: *const c_void,
        #[string] name: *const c_char,
    );

    /// A kernel of loaded code.
    #[effect(defines_kernel = (function, module, name))]
    pub fn tModuleGetFunction(
        #[out_handle] function: *mut Function,
        module: Module,
        #[string] name: *const c_char,
    ) -> Status;

    /// Launches a registered kernel.
    #[effect(enqueues = stream)]
    #[effect(launches)]
    pub fn tLaunch(
        #[host_symbol] stub: *const c_void,
        #[kernel_args(of = stub)] args: *mut *mut c_void,
        stream: Stream,
    ) -> Status;

    /// Launches a loaded kernel.
    #[effect(enqueues = stream)]
    #[effect(launches)]
    pub fn tModuleLaunch(
        function: Function,
        stream: Stream,
        #[kernel_args(of = function)] args: *mut *mut c_void,
        #[kernel_args(of = function, form = extra)] extra: *mut *mut c_void,
    ) -> Status;

    /// Begins a capture.
    #[effect(begins_capture = stream)]
    pub fn tBeginCapture(stream: Stream) -> Status;

    /// Ends it.
    #[effect(ends_capture = (stream, graph))]
    pub fn tEndCapture(stream: Stream, #[out_handle] graph: *mut Graph) -> Status;

    /// Makes a graph.
    pub fn tGraphCreate(#[out_handle] graph: *mut Graph) -> Status;

    /// Adds a node that names nothing, so that nothing but its handles tells what it does.
    pub fn tGraphAddNode(
        #[out_handle] node: *mut GraphNode,
        graph: Graph,
        #[deref(count = count)] dependencies: *const GraphNode,
        count: usize,
        #[deref] value: *const u32,
    ) -> Status;

    /// Adds an edge.
    #[effect(adds_to_graph = graph)]
    pub fn tGraphAddEdge(graph: Graph, from: GraphNode, to: GraphNode) -> Status;

    /// Makes an executable graph.
    #[effect(instantiates = (exec, graph))]
    pub fn tInstantiate(#[out_handle] exec: *mut Exec, graph: Graph) -> Status;

    /// Sets something in it.
    pub fn tExecSet(exec: Exec, node: GraphNode, #[deref] value: *const u32) -> Status;

    /// Runs it.
    #[effect(launches_graph = (exec, stream))]
    pub fn tGraphLaunch(exec: Exec, stream: Stream) -> Status;
}

/// Replays a load from a file as one from bytes.
fn load_bytes(cx: &mut ReplayCx<'_>) -> Issued {
    if let Err(refusal) = cx.rebuild() {
        return refusal.into();
    }
    let (module, image) = (cx.arg::<*mut Module>(0), cx.arg::<*const c_void>(1));
    // SAFETY: both lead to buffers that the engine made for this call.
    cx.issue(|| unsafe { raw::tModuleLoadData(module, image) });
    cx.issued()
}

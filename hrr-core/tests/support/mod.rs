//! Declarations as the macro would expand them, and a runtime of the test's own behind them.

#![allow(dead_code, unused_macros, reason = "each test uses a part")]

use std::path::{Path, PathBuf};

use hrr_core::archive::event::Event;
use hrr_core::archive::reader::{Archive, Process};

/// Expands to a descriptor and an exported function, as `hrr-macros` does, but written out, so
/// that a fault of the macro cannot hide one of the engine.
macro_rules! declare {
    ($api:ident, $name:ident ( $($arg:ident : $ty:ty = $role:expr),* $(,)? ) -> $ret:ty
     $(, class = $class:expr)? $(, effects = $effects:expr)? $(, callback = $cb:ident, $ud:ident)?) => {
        pub static $api: ::hrr_core::desc::ApiDesc = {
            use ::hrr_core::private as p;
            #[repr(C)]
            #[derive(Clone, Copy)]
            struct Args { $($arg: $ty),* }
            type Fn = unsafe extern "C-unwind" fn($($ty),*) -> $ret;
            #[allow(unused_mut, reason = "only callbacks are swapped")]
            unsafe extern "C-unwind" fn wrapper($(mut $arg: $ty),*) -> $ret {
                unsafe {
                    let call = p::enter(&$api);
                    if call.is_null() {
                        return p::real::<Fn>(&$api)($($arg),*);
                    }
                    p::args::<Args>(call).write(Args { $($arg),* });
                    p::commit(&$api, call);
                    $(p::swap_callback(&$api, call, (&raw mut $cb).cast(), (&raw mut $ud).cast());)?
                    let unwound = p::Unwound(call);
                    let ret = p::real::<Fn>(&$api)($($arg),*);
                    core::mem::forget(unwound);
                    p::leave(&$api, call, &ret);
                    ret
                }
            }
            unsafe fn invoke(f: *const (), args: *const u8, ret: *mut u8) {
                unsafe {
                    let f: Fn = core::mem::transmute(f);
                    let a = args.cast::<Args>().read_unaligned();
                    let _ = &a;
                    ret.cast::<$ret>().write_unaligned(f($(a.$arg),*));
                }
            }
            #[unsafe(naked)]
            unsafe extern "C" fn bind() {
                core::arch::naked_asm!(
                    "lea r11, [rip + {api}]", "jmp {bind}", api = sym $api, bind = sym p::bind
                )
            }
            const PARAMS: &[p::ParamDesc] = &[$(p::ParamDesc {
                name: stringify!($arg),
                ty: stringify!($ty),
                offset: core::mem::offset_of!(Args, $arg) as u32,
                bytes: size_of::<$ty>() as u32,
                role: $role,
            }),*];
            const EFFECTS: &[p::Effect] = { #[allow(unused_mut, unused_assignments, reason = "without effects")] let mut e: &[p::Effect] = &[]; $(e = $effects;)? e };
            const CLASS: p::Class = { #[allow(unused_mut, unused_assignments, reason = "without a class")] let mut c = p::Class::Replayed; $(c = $class;)? c };
            const RET: p::RetDesc = <$ret as support::Returned>::RET;
            p::ApiDesc {
                slot: p::AtomicPtr::new(bind as *const () as *mut ()),
                real: p::AtomicPtr::new(core::ptr::null_mut()),
                header: p::AtomicU64::new(0),
                state: p::AtomicU32::new(0),
                args_bytes: size_of::<Args>() as u32,
                outs_bytes: p::outs_bytes_of(PARAMS, &RET),
                flags: p::flags_of(PARAMS, &RET, EFFECTS, &CLASS, &None),
                name: match core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!("a name with a NUL"),
                },
                aliases: &[],
                group: "test",
                library: "",
                validated: false,
                docs: "",
                params: PARAMS,
                ret: RET,
                class: CLASS,
                effects: EFFECTS,
                capture: None,
                replay: None,
                wrapper: p::CodePtr(wrapper as *const ()),
                bind: p::CodePtr(bind as *const ()),
                missing: p::CodePtr(p::missing::<$ret> as *const ()),
                receive: p::CodePtr(core::ptr::null()),
                invoke,
            }
        };
        /// # Safety
        /// As the runtime of the test says.
        #[unsafe(naked)]
        pub unsafe extern "C-unwind" fn $name($($arg: $ty),*) -> $ret {
            core::arch::naked_asm!("jmp qword ptr [rip + {api}]", api = sym $api)
        }
    };
}

/// What a test function returns: an `i32` is a status here.
pub trait Returned {
    /// Its description.
    const RET: hrr_core::desc::RetDesc;
}

impl Returned for i32 {
    const RET: hrr_core::desc::RetDesc = hrr_core::desc::RetDesc {
        ty: "status",
        bytes: 4,
        kind: hrr_core::desc::RetKind::Status { not_ready: 600 },
        compare: hrr_core::desc::Compare::Exact,
    };
}

impl Returned for u64 {
    const RET: hrr_core::desc::RetDesc = <u64 as hrr_core::arg::Ret>::RET;
}

/// Opens the one process below a folder.
pub fn open(dir: &Path) -> Archive {
    Archive::open(dir).unwrap()
}

/// Reads every event of a process, in the order of its threads.
pub fn events(process: &Process) -> Vec<Event> {
    let threads = process.threads();
    threads.iter().flat_map(|thread| process.thread(thread.ordinal)).map(Result::unwrap).collect()
}

/// The name of an event's function.
pub fn name<'a>(process: &'a Process, event: &Event) -> &'a str {
    &process.apis()[event.api as usize].name
}

/// The folders of processes below a folder.
pub fn folders(dir: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        dir.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

/// Runs the test function `name` of this test binary again, in a process of its own.
pub fn again(name: &str, dir: &Path) -> std::process::Command {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--nocapture", "--test-threads=1"]).env("HRR_TEST_DIR", dir);
    command
}

/// The folder, in the process that [`again`] started.
pub fn inside() -> Option<PathBuf> {
    std::env::var_os("HRR_TEST_DIR").map(PathBuf::from)
}

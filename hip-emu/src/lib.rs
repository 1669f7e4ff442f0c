//! The emulated GPU behind the HIP API: a `libamdhip64` that needs no GPU.
//!
//! [`functions`] holds HIP's functions by group, each a few lines over the parts below;
//! [`api`] is the border to C: no panic crosses it, and it keeps the last error. Work goes
//! through [`streams`], which defer it to the queues of `gfx_emu`, or, while they capture, into
//! [`graphs`]. What kernels ask the host for ([`hostcall`]) is done on the thread that runs them.
//! The crate knows nothing of recording.
//!
//! | environment | meaning |
//! |---|---|
//! | `HIP_EMU_SEED` | decides addresses and handle values; random if not set, and named by faults |
//! | `HIP_EMU_GPUS` | number of devices, 1 if not set |
//! | `HIP_EMU_TARGET` | the processor: gfx90a if not set, gfx906, gfx942 |
//! | `HIP_EMU_LOG` | 1: says the seed on stderr; 2: says every call |
//! | `HIP_EMU_HIPRTC` | library of the runtime compiler that `hiprtc*` functions use |
//!
//! All state is leaked: workers may still run while the program's destructors do.
#![allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    reason = "HIP's names keep HIP's spelling"
)]

#[macro_use]
mod api;
mod abi;
mod advice;
mod allocations;
mod config;
mod copies;
mod events;
mod functions;
mod graphs;
mod handles;
mod hostcall;
mod launches;
mod modules;
mod ops;
mod printf;
mod runtime;
mod shared_events;
mod streams;
mod thread;

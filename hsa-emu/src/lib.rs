//! The HSA runtime API over the emulated GPU: a `libhsa-runtime64.so.1` on which AMD's own
//! `libamdhip64.so.5` (5.2.3) runs unmodified.
//!
//! `exports` is the table of C functions; every other module owns one subject of the API and
//! returns `Result`s. `runtime` holds the state of the process. Device memory, instructions and
//! launches are gfx-emu's; this crate knows HSA and nothing of HIP, except the names of the
//! blit kernels in `blit`.
//!
//! Nothing is ever torn down: AMD's runtime neither shuts HSA down nor destroys its queues, and
//! its threads and ours run while static destructors do. So all state is leaked, and threads
//! are never joined at exit.

mod abi;
mod agent;
mod blit;
mod code;
mod copy;
mod exports;
mod handler;
mod image;
mod ipc;
mod log;
mod memory;
mod needs;
mod pool;
mod queue;
mod runtime;
mod settings;
mod signal;
mod svm;
mod system;
#[cfg(test)]
mod tests;
mod thread;
mod trace;

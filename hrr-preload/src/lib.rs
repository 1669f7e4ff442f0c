//! The library that stands in front of an unmodified HIP program.
//!
//! It exports every name of the table, and the loader binds the program's calls to these names
//! before it looks in the vendor's library. Programs that look names up by themselves meet the
//! `hooks`. Which runtime is called stays the program's choice (`runtime`). Until the first
//! call nothing is written, printed or started. The recorder itself is hrr-runtime's.

mod hooks;
mod runtime;

/// Runs before every other initialiser of this library and of the program's libraries.
extern "C" fn install() {
    hooks::find_real();
    hrr_runtime::loader::set_resolver(runtime::resolve);
}

#[used]
#[unsafe(link_section = ".init_array.00001")]
static INSTALL: extern "C" fn() = install;

hrr_runtime::for_each_api_group! { hrr_runtime::export_names, }

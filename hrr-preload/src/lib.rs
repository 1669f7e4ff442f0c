//! The library that stands in front of an unmodified HIP program.
//!
//! It exports every name of the table, and the loader binds the program's calls to these names
//! before it looks in the vendor's library. Programs that look names up by themselves meet the
//! [`hooks`]. Which runtime is called stays the program's choice ([`runtime`]). Until the first
//! call nothing is written, printed or started. The recorder itself is hrr-runtime's.

mod hooks;
mod runtime;

use hrr_runtime::desc::Table;
use hrr_runtime::loader;

/// The functions that this library exports.
static TABLES: &[Table] = &[hrr_runtime::ALL];

/// Runs before every other initialiser of this library and of the program's libraries.
extern "C" fn install() {
    hooks::find_real();
    loader::set_resolver(runtime::resolve);
    loader::set_tables(TABLES);
}

#[used]
#[unsafe(link_section = ".init_array.00001")]
static INSTALL: extern "C" fn() = install;

hrr_runtime::for_each_api_group! { hrr_runtime::export_names, }

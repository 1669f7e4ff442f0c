//! The recorded functions under their C names, for a Rust program to link.
//!
//! A program that keeps the HIP binding it has adds one line, `use hrr_interpose as _;`, and the
//! linker binds the binding's names to the recorder's. There is nothing to call here.

/// Says at the start of the program that its names are ours.
extern "C" fn announce() {
    hrr_runtime::names_are_ours();
}

#[used]
#[unsafe(link_section = ".init_array")]
static ANNOUNCE: extern "C" fn() = announce;

hrr_runtime::for_each_api_group! { hrr_runtime::export_names, }

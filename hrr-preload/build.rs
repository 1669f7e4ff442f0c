//! Tells the linker what makes this library one to preload.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // A name that no program asks for, so that the loader still loads the vendor's library.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libhrr_preload.so");
    // Initialised before the libraries of the program: their constructors register kernels.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,initfirst");
}

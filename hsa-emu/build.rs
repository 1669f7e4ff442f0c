//! Gives the library the name that AMD's HIP runtime asks the dynamic linker for.

use std::env;
use std::path::Path;

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let versions = Path::new(&root).join("versions.map");
    println!("cargo:rerun-if-changed=versions.map");
    for argument in [
        "-Wl,-soname,libhsa-runtime64.so.1".to_owned(),
        // Our threads outlive any dlclose.
        "-Wl,-z,nodelete".to_owned(),
        format!("-Wl,--version-script={}", versions.display()),
    ] {
        println!("cargo:rustc-cdylib-link-arg={argument}");
    }
}

//! Gives the library the soname and the symbol versions of AMD's own.
//!
//! Programs ask for `hip_4.2` and later versions of symbols. The nodes are defined without
//! symbols: glibc then takes any version silently. Without nodes it warns at each start; with a
//! node missing the program does not start.

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| ".".to_owned());
    println!("cargo:rerun-if-changed=versions.map");
    println!("cargo:rustc-cdylib-link-arg=-Wl,--version-script={folder}/versions.map");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libamdhip64.so.6");
}

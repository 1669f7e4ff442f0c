//! The recorded functions under their C names, for a Rust program to link

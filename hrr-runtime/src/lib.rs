//! The one dependency of a Rust GPU application that records

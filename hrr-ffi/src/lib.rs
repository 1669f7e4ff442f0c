//! The HIP ABI, by hand: the types, the annotated declarations, and the hand-written halves.
//!
//! [`types`] and [`api`] hold data and no logic; [`families`] holds every function body. Adding a
//! function of the API is one declaration in `api/<group>.rs`.
#![allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    reason = "HIP's names keep HIP's spelling"
)]

extern crate hrr_core as hrr_runtime;

pub mod api;
pub mod families;
pub mod types;

pub use api::ALL;

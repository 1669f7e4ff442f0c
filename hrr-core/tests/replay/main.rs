//! The replay engine without any runtime: synthetic events, declarations of this test's own, and
//! fakes behind them that really copy, defer, fail and write.

#![allow(unreachable_pub, reason = "declarations are public, and this crate has one user")]

extern crate hrr_core as hrr_runtime;

#[allow(dead_code, reason = "replay calls them through their descriptors")]
mod api;
mod fake;
mod harness;

mod arguments;
mod copies;
mod graphs;
mod handles;
mod hostile;
mod kernels;
mod memory;
mod outcomes;
mod threads;

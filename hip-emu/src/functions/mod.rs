//! HIP's functions by group. What each group does not implement stands in [`unsupported`].

pub(crate) mod compiler;
pub(crate) mod context;
pub(crate) mod copy;
pub(crate) mod device;
pub(crate) mod error;
pub(crate) mod event;
pub(crate) mod graph;
pub(crate) mod graph_exec;
pub(crate) mod graph_node;
pub(crate) mod launch;
pub(crate) mod lookup;
pub(crate) mod managed;
pub(crate) mod memory;
pub(crate) mod module;
pub(crate) mod occupancy;
pub(crate) mod pointer;
pub(crate) mod pool;
pub(crate) mod properties;
pub(crate) mod register;
pub(crate) mod sharing;
pub(crate) mod stream;
pub(crate) mod symbol;
pub(crate) mod unsupported;
pub(crate) mod virtual_memory;

use crate::api::Entry;

/// Every function by group, for look-ups by name.
pub(crate) static TABLES: [&[Entry]; 30] = [
    compiler::TABLE,
    compiler::OTHER,
    context::TABLE,
    copy::TABLE,
    device::TABLE,
    error::TABLE,
    error::CHECKED,
    event::TABLE,
    graph::TABLE,
    graph_exec::TABLE,
    graph_node::TABLE,
    launch::TABLE,
    launch::NAMES,
    lookup::TABLE,
    managed::TABLE,
    memory::TABLE,
    module::TABLE,
    occupancy::TABLE,
    pool::TABLE,
    pointer::TABLE,
    properties::TABLE,
    register::TABLE,
    register::CALLS,
    sharing::TABLE,
    stream::TABLE,
    stream::UNCHECKED,
    symbol::TABLE,
    unsupported::TABLE,
    unsupported::OTHER,
    virtual_memory::TABLE,
];

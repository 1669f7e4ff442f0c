//! One file per command.

pub(crate) mod apis;
pub(crate) mod events;
pub(crate) mod info;
pub(crate) mod pack;
pub(crate) mod record;
pub(crate) mod replay;

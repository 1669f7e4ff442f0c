//! The types of the HIP ABI, in HIP's spelling and by hand. No logic: what a field means to the
//! recorder stands on the field. Layouts are asserted in `layout` and held against two
//! independent bindings in `tests/abi`.
#![allow(missing_docs, reason = "fields have the names of the header, whose text describes them")]

mod device;
mod error;
mod external;
mod flags;
mod graph;
mod handle;
mod layout;
mod memory;
mod module;
mod rtc;
mod stream;
mod texture;

pub use device::*;
pub use error::*;
pub use external::*;
pub use flags::*;
pub use graph::*;
pub use handle::*;
pub use memory::*;
pub use module::*;
pub use rtc::*;
pub use stream::*;
pub use texture::*;

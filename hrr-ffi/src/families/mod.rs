//! Every hand-written half: what the declarations name by path, and what the engine asks of HIP.
//!
//! A family calls the live runtime only as `raw::hipX`, which is never recorded, and the engine
//! only through its contexts.

pub mod code;
pub mod copy;
pub mod driver;
pub mod memory;
pub mod module;
pub mod sharing;
pub mod tags;
pub mod targets;
pub mod texture;

use hrr_core::desc::Scope;

/// The value of an integer parameter or field by its name: `None` if there is none of this name or
/// it is no integer.
fn integer(scope: &Scope<'_>, name: &str) -> Option<u64> {
    let param = scope.params.iter().find(|param| param.name == name)?;
    let mut bytes = [0; 8];
    let value = bytes.get_mut(..param.bytes as usize)?;
    // SAFETY: `base` is readable for the extent of `params` (the contract of `Scope`), and the
    // slice is as long as the parameter.
    unsafe {
        core::ptr::copy_nonoverlapping(
            scope.base.add(param.offset as usize),
            value.as_mut_ptr(),
            value.len(),
        );
    }
    Some(u64::from_le_bytes(bytes))
}

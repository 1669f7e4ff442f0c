//! Lengths, rectangles and tags, computed over a rebuilt argument block.
//!
//! The block holds live values, and pointers to the engine's own copies; pointers that are not
//! rebuilt yet are null, and operands hold their recorded addresses, which are never followed.

use crate::desc::{Extent, Len, ParamDesc, PayloadDesc, Rect, Role, ScalarKind, Scope, Shape};

/// The integer that a value of this payload is: `None` if it is none, or negative.
fn unsigned(payload: &PayloadDesc, at: *const u8) -> Option<u64> {
    match integer(payload, at)? {
        value if value < 0 && matches!(payload.shape, Shape::Scalar(ScalarKind::Signed)) => None,
        value => Some(value as u64),
    }
}

/// The integer at `at`, sign-extended where the payload is signed.
fn integer(payload: &PayloadDesc, at: *const u8) -> Option<i64> {
    let Shape::Scalar(kind) = payload.shape else { return None };
    // SAFETY: callers pass the address of a value of this payload inside a live block; reads are
    // unaligned.
    let word = unsafe { word_at(at, payload.bytes)? };
    Some(match (kind, payload.bytes) {
        (ScalarKind::Signed, 1) => word as i8 as i64,
        (ScalarKind::Signed, 2) => word as i16 as i64,
        (ScalarKind::Signed, 4) => word as i32 as i64,
        (ScalarKind::Signed | ScalarKind::Unsigned, _) => word as i64,
        (ScalarKind::Float | ScalarKind::Bytes, _) => return None,
    })
}

/// The little-endian word of 1 to 8 bytes at `at`.
///
/// # Safety
/// `at` is readable for `bytes` bytes.
pub(super) unsafe fn word_at(at: *const u8, bytes: u32) -> Option<u64> {
    let bytes = bytes as usize;
    if bytes == 0 || bytes > 8 {
        return None;
    }
    let mut word = [0; 8];
    // SAFETY: the caller vouches for the source; the destination holds 8 bytes.
    unsafe { std::ptr::copy_nonoverlapping(at, word.as_mut_ptr(), bytes) };
    Some(u64::from_le_bytes(word))
}

fn slot(scope: &Scope<'_>, index: u16) -> Option<(&'static ParamDesc, *const u8)> {
    // SAFETY: descriptors are static; `Scope` ties them to a shorter life only by its signature.
    let params: &'static [ParamDesc] = unsafe { &*std::ptr::from_ref(scope.params) };
    let param = params.get(usize::from(index))?;
    // SAFETY: the base of a scope is readable for the extent of its parameters.
    Some((param, unsafe { scope.base.add(param.offset as usize) }))
}

/// The value of an integer parameter or field.
pub(super) fn value(scope: &Scope<'_>, index: u16) -> Option<i64> {
    let (param, at) = slot(scope, index)?;
    let Role::Scalar(payload) = &param.role else { return None };
    integer(payload, at)
}

/// The integer behind a pointer parameter: `None` for null.
pub(super) fn behind(scope: &Scope<'_>, index: u16) -> Option<u64> {
    let (param, at) = slot(scope, index)?;
    let (Role::Pointee { payload, .. } | Role::Array { payload, .. }) = &param.role else {
        return None;
    };
    // SAFETY: the slot of a pointer parameter holds 8 bytes.
    let pointer = unsafe { word_at(at, 8)? } as *const u8;
    if pointer.is_null() {
        return None;
    }
    unsigned(payload, pointer)
}

/// Evaluates a length.
pub(super) fn len(len: &Len, scope: &Scope<'_>) -> Option<u64> {
    let before = |index: u16| scope.before.iter().find(|(i, _)| *i == index).map(|(_, v)| *v);
    match len {
        Len::Const(n) => Some(*n),
        Len::Param(index) => {
            let (param, at) = slot(scope, *index)?;
            let Role::Scalar(payload) = &param.role else { return None };
            unsigned(payload, at)
        }
        Len::Before(index) => before(*index),
        Len::After(index) if scope.returned => {
            let after = behind(scope, *index)?;
            Some(before(*index).map_or(after, |before| after.min(before)))
        }
        Len::After(index) => before(*index),
        Len::Product(factors) => factors
            .iter()
            .try_fold(1u64, |product, factor| product.checked_mul(self::len(factor, scope)?)),
        Len::Min(terms) => {
            let values: Option<Vec<u64>> =
                terms.iter().map(|term| self::len(term, scope)).collect();
            values?.into_iter().min()
        }
        Len::Call(function) => function(scope),
    }
}

/// Evaluates an extent.
pub(super) fn rect(extent: &Extent, scope: &Scope<'_>) -> Option<Rect> {
    match extent {
        Extent::Bytes(bytes) => {
            let width = len(bytes, scope)?;
            Some(Rect { offset: 0, width, height: 1, depth: 1, pitch: width, slice: width })
        }
        Extent::Rows { pitch, width, height } => {
            let (pitch, height) = (len(pitch, scope)?, len(height, scope)?);
            Some(Rect {
                offset: 0,
                width: len(width, scope)?,
                height,
                depth: 1,
                pitch,
                slice: pitch.checked_mul(height)?,
            })
        }
        Extent::Call(function) => function(scope),
    }
}

/// Bytes of the rows of a rectangle, without the gaps.
pub(super) fn packed_bytes(rect: &Rect) -> Option<u64> {
    rect.width.checked_mul(rect.height)?.checked_mul(rect.depth)
}

/// Bytes from the operand's pointer to the end of the last row; 0 for an empty rectangle.
pub(super) fn footprint(rect: &Rect) -> Option<u64> {
    if packed_bytes(rect)? == 0 {
        return Some(0);
    }
    let slices = rect.slice.checked_mul(rect.depth - 1)?;
    let rows = rect.pitch.checked_mul(rect.height - 1)?;
    rect.offset.checked_add(slices)?.checked_add(rows)?.checked_add(rect.width)
}

/// The offsets of the rows, in order. The caller has checked the footprint.
pub(super) fn rows(rect: &Rect) -> impl Iterator<Item = u64> {
    let rect = *rect;
    (0..rect.depth).flat_map(move |z| {
        (0..rect.height).map(move |y| rect.offset + z * rect.slice + y * rect.pitch)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn footprints_do_not_wrap() {
        let rect = Rect { offset: 8, width: 48, height: 3, depth: 2, pitch: 160, slice: 1000 };
        assert_eq!(footprint(&rect), Some(8 + 1000 + 320 + 48));
        assert_eq!(packed_bytes(&rect), Some(288));
        assert_eq!(rows(&rect).last(), Some(8 + 1000 + 320));
        let huge = Rect { pitch: 1 << 63, height: 3, width: 1, depth: 1, offset: 0, slice: 0 };
        assert_eq!(footprint(&huge), None);
        let empty = Rect { pitch: 1 << 63, height: 0, width: 5, depth: 9, offset: 7, slice: 0 };
        assert_eq!(footprint(&empty), Some(0));
    }
}

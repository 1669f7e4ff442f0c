//! The library that has the function; it knows nothing of the recorder.

/// Multiplies the floats at `data` by `factor`. 0 is success, 1 a null pointer.
///
/// # Safety
/// `data` is null or leads to `count` floats.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "a C name")]
pub unsafe extern "C" fn ownScale(data: *mut f32, count: usize, factor: f32) -> i32 {
    if data.is_null() {
        return 1;
    }
    // SAFETY: the caller's obligation.
    for value in unsafe { std::slice::from_raw_parts_mut(data, count) } {
        *value *= factor;
    }
    0
}

//! The declaration: all that there is to write for a function to be recorded and replayed.

use hrr_runtime::hipError_t;

#[hrr_runtime::api(group = "own", library = "own_gpu")]
unsafe extern "C" {
    /// Multiplies the floats at `data` by `factor`, in place.
    pub fn ownScale(
        #[inout(count = count)] data: *mut f32,
        count: usize,
        factor: f32,
    ) -> hipError_t;
}

//! Recording: what a wrapper does around the real call.

/// What a hand-written half of recording works with.
pub struct CaptureCx<'a> {
    _call: core::marker::PhantomData<&'a ()>,
}

//! Replay: issuing recorded calls and holding their results against the recording.

/// What a hand-written half of replay works with.
pub struct ReplayCx<'a> {
    _call: core::marker::PhantomData<&'a ()>,
}

/// How a call was issued.
pub struct Issued {}

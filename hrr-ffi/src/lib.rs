//! The HIP ABI: types, annotated declarations and the hand-written families

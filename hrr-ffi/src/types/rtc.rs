//! The runtime compiler.

use hrr_core::arg::{Payload, Ret};
use hrr_core::desc::{Compare, RetDesc, RetKind};

hrr_core::c_enum! {
    /// What a call of the runtime compiler came to.
    pub enum hiprtcResult: u32 {
        HIPRTC_SUCCESS = 0,
        HIPRTC_ERROR_OUT_OF_MEMORY = 1,
        HIPRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
        HIPRTC_ERROR_INVALID_INPUT = 3,
        HIPRTC_ERROR_INVALID_PROGRAM = 4,
        HIPRTC_ERROR_INVALID_OPTION = 5,
        HIPRTC_ERROR_COMPILATION = 6,
        HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
        HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
        HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
        HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
        HIPRTC_ERROR_INTERNAL_ERROR = 11,
        HIPRTC_ERROR_LINKING = 100,
    }
}

// SAFETY: transparent over the 4 bytes of the C enum; the bits are a status.
unsafe impl Ret for hiprtcResult {
    const RET: RetDesc = RetDesc {
        ty: "hiprtcResult",
        bytes: <Self as Payload>::PAYLOAD.bytes,
        // No value of the enum says "not finished".
        kind: RetKind::Status { not_ready: i64::MIN },
        compare: Compare::Exact,
    };
    const MISSING: Self = HIPRTC_ERROR_INTERNAL_ERROR;
}

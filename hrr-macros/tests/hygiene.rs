//! An expansion needs nothing of its surroundings, and brings no warning into them.
//!
//! Method: a module without a prelude, with names that an expansion could trip over, under the lints
//! that a careful crate denies.
#![deny(warnings, missing_docs, unused_qualifications, unsafe_op_in_unsafe_fn)]
#![deny(unreachable_pub, clippy::undocumented_unsafe_blocks)]

/// Types, outside the module without a prelude: their macros are not the ones under test.
pub mod types {
    hrr_runtime::handle! {
        /// Ordered work.
        pub struct Stream;
    }
    hrr_runtime::c_enum! {
        /// Which way a copy goes.
        pub enum Kind: i32 {
            /// To the host.
            TO_HOST = 2,
        }
    }
    // SAFETY: transparent over 4 bytes.
    unsafe impl hrr_runtime::arg::CopyKind for Kind {
        const KINDS: &'static hrr_runtime::desc::CopyKinds =
            &hrr_runtime::desc::CopyKinds { rows: &[] };
    }
}

/// Names that shadow what an expansion could mean by a short path.
pub mod bare {
    #![no_implicit_prelude]

    use super::types::{Kind, Stream};

    /// Not the `Option` of the prelude.
    pub enum Option {}
    /// Not the `Some` of the prelude.
    pub enum Some {}
    /// Not the crate.
    pub mod core {}
    /// Not the crate.
    pub mod hrr_runtime {}
    /// Not the argument block.
    #[repr(C)]
    #[derive(::core::clone::Clone, ::core::marker::Copy, ::hrr_macros::Payload)]
    pub struct Args {
        /// A pointer.
        #[device_ptr]
        pub address: *mut u8,
        /// A counted array.
        #[deref(count = count)]
        pub values: *const u32,
        /// Its length.
        pub count: u32,
    }
    /// Not the type of the function's pointer.
    pub type Fn = u32;

    #[::hrr_macros::api(group = "hygiene")]
    unsafe extern "C" {
        /// Parameters named like everything that an expansion names.
        pub fn hrrNames(
            call: u32,
            ret: u64,
            function: Fn,
            args: Args,
            api: Stream,
            real: u8,
            #[deref(count = 2)] _unused: *const self::Args,
            r#type: super::types::Stream,
        ) -> u32;

        /// The words that bring code of their own.
        #[effect(enqueues = stream)]
        #[query(wait = hrrWait)]
        pub fn hrrQuery(stream: Stream) -> i32;

        /// Waits.
        pub fn hrrWait(stream: Stream) -> i32;

        /// Every kind of assertion.
        pub fn hrrAsserts(
            #[callback] callback: unsafe extern "C" fn(),
            #[user_data] data: *mut u8,
            #[out_buffer(bytes = 16)] buffer: *mut [u64; 2],
            #[operand(kind = kind, bytes = size)] operand: *mut u8,
            size: usize,
            kind: Kind,
            #[device] device: i32,
        );
    }
}

#[test]
fn it_compiles_and_has_every_name() {
    assert_eq!(bare::APIS.len(), 4);
    let names: Vec<&str> = bare::API_hrrNames.params.iter().map(|param| param.name).collect();
    assert_eq!(names, ["call", "ret", "function", "args", "api", "real", "_unused", "type"]);
}

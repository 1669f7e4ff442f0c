//! The declarations, one file for each group of functions. Each file is one annotated block and
//! holds no logic.
//!
//! After a function's description stands where its signature is from: the C headers of HIP 7.1, the
//! bindings of HIP 7.14, or the CUDA function of the same name for the few that neither has. What a
//! callee writes is from the headers' text, and from AMD's runtime where a comment says so.

/// Declares the groups: the one list of them.
///
/// `$d` is a dollar sign, for the macro that this one defines.
macro_rules! groups {
    ($d:tt $($group:ident: $names:ident;)*) => {
        $(pub mod $group;)*

        /// The functions of all groups.
        pub static ALL: hrr_core::desc::Table = &JOINED;

        const COUNT: usize = 0 $(+ $group::APIS.len())*;

        static JOINED: [&hrr_core::desc::ApiDesc; COUNT] = {
            let groups: &[hrr_core::desc::Table] = &[$($group::APIS),*];
            let mut joined = [groups[0][0]; COUNT];
            let (mut group, mut at) = (0, 0);
            while group < groups.len() {
                let mut i = 0;
                while i < groups[group].len() {
                    joined[at] = groups[group][i];
                    at += 1;
                    i += 1;
                }
                group += 1;
            }
            joined
        };

        /// Calls `callback! { module, rest ; name => descriptor, alias "symbol" => descriptor, }`
        /// once for each group, for the libraries that export the names.
        #[macro_export]
        macro_rules! for_each_api_group {
            ($d callback:path, $d($d rest:tt)*) => {
                $($d crate::$names! { $d callback, $d crate::api::$group, $d($d rest)* })*
            };
        }
    };
}

groups! { $
    batch: __hrr_names_batch;
    capture: __hrr_names_capture;
    context: __hrr_names_context;
    copy: __hrr_names_copy;
    device: __hrr_names_device;
    entry_point: __hrr_names_entry_point;
    error: __hrr_names_error;
    event: __hrr_names_event;
    execution: __hrr_names_execution;
    external: __hrr_names_external;
    graph: __hrr_names_graph;
    graph_node: __hrr_names_graph_node;
    ipc: __hrr_names_ipc;
    launch: __hrr_names_launch;
    link: __hrr_names_link;
    managed: __hrr_names_managed;
    memory: __hrr_names_memory;
    module: __hrr_names_module;
    occupancy: __hrr_names_occupancy;
    peer: __hrr_names_peer;
    pinned: __hrr_names_pinned;
    pool: __hrr_names_pool;
    register: __hrr_names_register;
    rtc: __hrr_names_rtc;
    stream: __hrr_names_stream;
    stream_memory: __hrr_names_stream_memory;
    symbol: __hrr_names_symbol;
    texture: __hrr_names_texture;
    texture_reference: __hrr_names_texture_reference;
    vmm: __hrr_names_vmm;
}

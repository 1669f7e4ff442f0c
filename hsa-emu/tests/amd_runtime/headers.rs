//! The types and constants of `abi` against AMD's headers.

use std::fmt::Write as _;
use std::mem::offset_of;
use std::path::Path;

use libtest_mimic::Trial;

use crate::toolchain::Toolchain;
use crate::trial;

#[path = "../../src/abi.rs"]
#[allow(dead_code, reason = "most of the file is functions, which are not compared")]
mod abi;

use abi::{
    Dim3, HdpFlush, HsaQueue, IpcMemory, LinkInfo, PitchedPtr, PointerInfo, ProfilingTime, Status,
    SvmPair,
};

const HEADERS: &str = "/usr/include/hsa/hsa_ext_amd.h";

pub(crate) fn trials(tools: &Toolchain) -> Vec<Trial> {
    let absent = (!Path::new(HEADERS).exists()).then(|| format!("{HEADERS} is not installed"));
    let missing = tools.missing_compiler().or(absent);
    let of_test = tools.clone();
    vec![trial("headers".to_owned(), missing, move || {
        let text = assertions();
        of_test.compile("headers.o", &text, &["-c", "-I/usr/include/hsa"]).map(drop)
    })]
}

/// C that only compiles if both sides agree.
fn assertions() -> String {
    let mut text = String::from(
        "#include <hsa.h>\n#include <hsa_ext_amd.h>\n#include <hsa_ext_image.h>\n\
         #include <stddef.h>\n",
    );
    let mut equal = |what: &str, value: u64| {
        writeln!(text, "_Static_assert({what} == {value}, \"{what}\");").expect("memory is enough");
    };
    macro_rules! layout {
        ($rust:ty = $c:literal { $($field:ident = $c_field:literal),* $(,)? }) => {
            equal(concat!("sizeof(", $c, ")"), size_of::<$rust>() as u64);
            $(equal(
                concat!("offsetof(", $c, ", ", $c_field, ")"),
                offset_of!($rust, $field) as u64,
            );)*
        };
    }
    layout!(Dim3 = "hsa_dim3_t" { x = "x", y = "y", z = "z" });
    layout!(PitchedPtr = "hsa_pitched_ptr_t" { base = "base", pitch = "pitch", slice = "slice" });
    layout!(HsaQueue = "hsa_queue_t" {
        kind = "type", features = "features", base_address = "base_address",
        doorbell_signal = "doorbell_signal", size = "size", id = "id",
    });
    layout!(LinkInfo = "hsa_amd_memory_pool_link_info_t" {
        atomic_support_32bit = "atomic_support_32bit", coherent_support = "coherent_support",
        link_type = "link_type", numa_distance = "numa_distance",
    });
    layout!(PointerInfo = "hsa_amd_pointer_info_t" {
        kind = "type", agent_base_address = "agentBaseAddress",
        host_base_address = "hostBaseAddress", size_in_bytes = "sizeInBytes",
        user_data = "userData", agent_owner = "agentOwner", global_flags = "global_flags",
    });
    layout!(ProfilingTime = "hsa_amd_profiling_dispatch_time_t" { start = "start", end = "end" });
    layout!(SvmPair = "hsa_amd_svm_attribute_pair_t" { attribute = "attribute", value = "value" });
    layout!(IpcMemory = "hsa_amd_ipc_memory_t" { handle = "handle" });
    layout!(HdpFlush = "hsa_amd_hdp_flush_t" {
        memory = "HDP_MEM_FLUSH_CNTL", registers = "HDP_REG_FLUSH_CNTL",
    });
    for number in (0..0x3010).map(Status) {
        let Some(name) = number.text().and_then(|text| text.to_str().ok()) else { continue };
        let name = name.split(':').next().unwrap_or_default();
        let name = if (0x3000..0x3004).contains(&number.0) {
            name.replace("HSA_STATUS", "HSA_EXT_STATUS")
        } else {
            name.to_owned()
        };
        equal(&name, number.0.into());
    }
    text
}

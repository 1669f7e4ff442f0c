#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    #[effect(enqueues = size)]
    #[effect(ends_capture = (stream, graph))]
    #[effect(defines_kernel = (kernel, module, size))]
    #[effect(begins_capture = kernel)]
    #[effect(enables_node = (stream, graph, module))]
    pub fn hrrFoo(stream: hipStream_t, size: usize, graph: hipGraph_t, #[out_handle] kernel: *mut hipFunction_t, module: hipModule_t) -> hipError_t;
}

fn main() {}

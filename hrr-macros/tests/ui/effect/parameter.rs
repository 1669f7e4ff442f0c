#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    #[effect(enqueues = size)]
    #[effect(ends_capture = (stream, graph))]
    #[effect(defines_kernel = (kernel, module, size))]
    #[effect(begins_capture = kernel)]
    pub fn hrrFoo(stream: Stream, size: usize, graph: Graph, #[out_handle] kernel: *mut Kernel, module: Module) -> Status;
}

fn main() {}

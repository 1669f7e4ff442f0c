#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    #[effect(enqueue = stream)]
    #[effect(enqueues = straem)]
    #[effect(launches = stream)]
    #[effect(enqueues)]
    #[effect(waits_event = stream)]
    #[effect(records_event = ())]
    #[effect(completes_stream = (stream, stream))]
    pub fn hrrFoo(stream: hipStream_t) -> hipError_t;
}

fn main() {}

#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "g")]
unsafe extern "C" {
    #[query(wait = hrrWait)]
    pub fn hrrQuery(stream: Stream) -> Status;
    pub fn hrrWait(event: Event) -> Status;
}

fn main() {}

#[path = "../support.rs"]
mod support;
use support::*;

#[api(group = "Graph Nodes", libary = "hiprtc", group = "g")]
unsafe extern "C" {
    pub fn hrrFoo();
}

fn main() {}

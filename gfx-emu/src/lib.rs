//! An emulated AMD GPU: device memory, instruction set, workgroups, queues

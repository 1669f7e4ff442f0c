//! Parser of offload bundles, AMDGPU ELF objects, kernel metadata and kernel descriptors

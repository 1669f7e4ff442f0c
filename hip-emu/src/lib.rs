//! The emulated GPU behind the HIP API: a libamdhip64 that needs no GPU

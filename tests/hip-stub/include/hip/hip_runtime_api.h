/* Stands in for a HIP installation: build scripts of binding crates look for this file. */

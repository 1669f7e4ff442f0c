//! The compiler for annotated HIP declarations

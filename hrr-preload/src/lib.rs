//! The library that stands in front of an unmodified HIP program

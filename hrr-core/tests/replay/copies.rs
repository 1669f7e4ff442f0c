//! Part of the replay tests.

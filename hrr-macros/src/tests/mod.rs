//! Tests of the macro as a function on tokens.

mod expansions;
mod table;
mod totality;

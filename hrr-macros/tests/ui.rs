//! Every wrong use of a word has an error that says what was expected, on the smallest wrong thing.
//!
//! Method: trybuild compiles each case and compares the errors with the file beside it;
//! `TRYBUILD=overwrite` writes those. One topic for each folder.

#[test]
fn ui() {
    trybuild::TestCases::new().compile_fail("tests/ui/*/*.rs");
}

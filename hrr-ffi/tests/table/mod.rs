//! Tables of facts: tab-separated values with comments and a heading.

/// Every function of the API, and how AMD's own recorder treats it.
pub(crate) const NAMES: &str = include_str!("../data/hip_api.tsv");

/// The rows of a table, without comments and the heading.
pub(crate) fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let content = table.lines().filter(|line| !line.starts_with('#'));
    content.skip(1).map(|line| line.split('\t').collect())
}

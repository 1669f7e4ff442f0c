//! Collects errors, so that every mistake of a block is told in one compile, and holds the texts
//! that several rules share.

use proc_macro2::TokenStream;
use quote::ToTokens;

/// The errors of one input.
///
/// Dropping a collector that was not asked for its errors is a bug of the macro and panics: no path
/// through the macro may forget what was wrong.
#[derive(Default)]
pub(crate) struct Errors {
    list: Vec<syn::Error>,
    finished: bool,
}

impl Errors {
    pub(crate) fn new() -> Errors {
        Errors::default()
    }

    /// Records an error on these tokens: the smallest wrong thing.
    pub(crate) fn at(&mut self, wrong: impl ToTokens, text: impl std::fmt::Display) {
        self.list.push(syn::Error::new_spanned(wrong, text));
    }

    /// Records an error of the parser.
    pub(crate) fn push(&mut self, error: syn::Error) {
        self.list.push(error);
    }

    /// The value of a parse, or nothing and its error recorded.
    pub(crate) fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.push(error);
                None
            }
        }
    }

    /// How many errors there are so far.
    pub(crate) fn count(&self) -> usize {
        self.list.len()
    }

    /// One `compile_error!` for each error.
    pub(crate) fn finish(mut self) -> Result<(), TokenStream> {
        self.finished = true;
        if self.list.is_empty() {
            return Ok(());
        }
        Err(self.list.iter().map(syn::Error::to_compile_error).collect())
    }
}

impl Drop for Errors {
    fn drop(&mut self) {
        assert!(self.finished || std::thread::panicking(), "errors were collected and not told");
    }
}

/// `expected one of ..` for a list of words.
pub(crate) fn expected_one_of<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match words.as_slice() {
        [] => "expected nothing here".to_owned(),
        [word] => format!("expected {word}"),
        words => format!("expected one of {}", words.join(", ")),
    }
}

/// ` (did you mean ..?)` if one of the candidates is close to what was written.
pub(crate) fn did_you_mean<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> String {
    let limit = (written.chars().count() / 3).min(4);
    candidates
        .into_iter()
        .map(|candidate| (edit_distance(written, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| format!(" (did you mean `{candidate}`?)"))
        .unwrap_or_default()
}

/// Edits (insert, remove, replace, swap of neighbours) that turn one word into the other, ignoring
/// case.
fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replace = previous[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(previous[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut previous, row);
    }
    previous[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_are_close_or_absent() {
        let names = ["numDependencies", "pDependencies", "graph"];
        assert_eq!(did_you_mean("numDepndencies", names), " (did you mean `numDependencies`?)");
        assert_eq!(did_you_mean("grpah", names), " (did you mean `graph`?)");
        assert_eq!(did_you_mean("stream", names), "");
        assert_eq!(did_you_mean("g", ["n"]), "");
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("abc", ""), 3);
    }

    #[test]
    fn forgotten_errors_are_a_panic() {
        let dropped = std::panic::catch_unwind(|| drop(Errors::new()));
        assert!(dropped.is_err());
        assert!(Errors::new().finish().is_ok());
    }
}

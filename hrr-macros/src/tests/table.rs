//! The table of words is sound, and everything that must repeat it does.
//!
//! Method: loops over the rows, and the reference made from them compared with the file that the
//! documentation includes.

use expect_test::expect_file;

use crate::attr::{Place, ROWS, Row, Shape, Takes, form_of};

#[test]
fn rows_are_sound() {
    for (i, row) in ROWS.iter().enumerate() {
        assert!(!row.doc.is_empty() && row.doc.ends_with('.'), "{}", row.name);
        assert!(!row.places.is_empty(), "{}", row.name);
        for other in &ROWS[..i] {
            assert!(other.name != row.name && other.word != row.word, "{} twice", row.name);
        }
        let on_function = row.places.contains(&Place::Function);
        assert_eq!(on_function, row.takes == Takes::Nothing, "{}", row.name);
        for (j, arg) in row.args.iter().enumerate() {
            assert!(row.args[..j].iter().all(|other| other.key != arg.key), "{}", row.name);
            if let Shape::Effect(effect) = arg.shape
                && let [first @ .., _] = effect.slots
            {
                assert!(first.iter().all(|slot| !slot.optional), "{}", arg.key);
                assert!(!effect.slots[0].optional, "{}", arg.key);
            }
        }
    }
}

/// `#[proc_macro_derive]` takes its words as literals.
#[test]
fn the_derive_lists_the_words_of_fields() {
    let source = include_str!("../lib.rs");
    let list = source.split("attributes(").nth(1).and_then(|rest| rest.split(')').next()).unwrap();
    let mut listed: Vec<&str> = list.split(',').map(str::trim).collect();
    let mut words: Vec<&str> =
        ROWS.iter().filter(|row| row.places.contains(&Place::Field)).map(|row| row.name).collect();
    listed.sort_unstable();
    words.sort_unstable();
    assert_eq!(listed, words);
}

/// A place that must never blame the whole attribute: errors of `parse` and `check` stand on the
/// smallest wrong thing.
#[test]
fn no_error_points_at_the_call_site() {
    for source in [
        include_str!("../parse.rs"),
        include_str!("../check.rs"),
        include_str!("../args.rs"),
        include_str!("../attr.rs"),
        include_str!("../length.rs"),
        include_str!("../errors.rs"),
    ] {
        assert!(!source.contains("call_site"));
    }
}

#[test]
fn the_reference_is_the_table() {
    let mut text = String::new();
    let functions = ROWS.iter().filter(|row| row.places.contains(&Place::Function));
    text.push_str("On functions:\n\n| word | arguments | meaning |\n|---|---|---|\n");
    for row in functions {
        text.push_str(&format!("| `{}` | {} | {} |\n", row.name, forms_of(row), row.doc));
    }
    text.push_str("\nOn parameters, and on fields where no other place is given:\n\n");
    text.push_str("| word | on | arguments | meaning |\n|---|---|---|---|\n");
    for row in ROWS.iter().filter(|row| !row.places.contains(&Place::Function)) {
        let mut on = match row.takes {
            Takes::Nothing | Takes::Anything => "anything",
            Takes::MutPointer => "`*mut`",
            Takes::Pointer => "`*const`, `*mut`",
            Takes::Address => "a pointer or an alias of one",
            Takes::Value => "a value",
            Takes::Function => "a function pointer or an alias of one",
        }
        .to_owned();
        if !row.places.contains(&Place::Field) {
            on.push_str(", a parameter");
        }
        text.push_str(&format!("| `{}` | {on} | {} | {} |\n", row.name, forms_of(row), row.doc));
    }
    expect_file!["../words.md"].assert_eq(&text);
}

fn forms_of(row: &Row) -> String {
    let forms: Vec<String> = row.args.iter().map(|arg| form_of(arg).replace('|', "\\|")).collect();
    forms.join(", ")
}

/// No word without a case of its wrong use.
#[test]
fn every_word_has_an_error_in_the_cases() {
    let cases = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui");
    let mut errors = String::new();
    for topic in std::fs::read_dir(cases).unwrap() {
        let topic = topic.unwrap().path();
        for file in topic.read_dir().into_iter().flatten() {
            let file = file.unwrap().path();
            if file.extension().is_some_and(|extension| extension == "stderr") {
                errors.push_str(&std::fs::read_to_string(file).unwrap());
            }
        }
    }
    for row in ROWS {
        // In the message, not only in a list of the words that exist.
        let told = format!("#[{}", row.name);
        assert!(errors.contains(&told), "no case tells an error about `{}`", row.name);
        for arg in row.args.iter().filter(|arg| !arg.key.is_empty()) {
            assert!(errors.contains(arg.key), "`{}` of `{}`", arg.key, row.name);
        }
    }
}

//! Our class of each function against that of AMD's own recorder: no declared function is worse
//! than there, and none does nothing. The other side is a table of facts, `data/hip_api.tsv`.

mod table;

use std::collections::HashMap;

use hrr_core::desc::{ApiDesc, Class};

/// How good a class is. To refuse by name is better than to do nothing and say success.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Rank {
    DoesNothing,
    Refused,
    /// Replayed, or deliberately not.
    Handled,
}

fn ours(class: &Class) -> Rank {
    match class {
        Class::Replayed | Class::Query { .. } | Class::Ordering | Class::Host { .. } => {
            Rank::Handled
        }
        Class::Refused { .. } => Rank::Refused,
    }
}

/// The class column of the table: `-` stands for a function that the other recorder lacks.
fn theirs(class: &str) -> Rank {
    match class {
        "REAL" => Rank::Handled,
        "UNREPLAYABLE" => Rank::Refused,
        "NOOP" | "ERROR_STUB" | "-" => Rank::DoesNothing,
        other => panic!("unknown class `{other}` in the table"),
    }
}

fn declared() -> HashMap<&'static str, &'static ApiDesc> {
    hrr_ffi::ALL.iter().map(|api| (api.name.to_str().expect("a C identifier"), *api)).collect()
}

#[test]
fn no_function_is_worse_than_in_amds_recorder() {
    let declared = declared();
    let worse: Vec<String> = table::rows(table::NAMES)
        .filter_map(|row| {
            let api = declared.get(row[0])?;
            let (ours, theirs) = (ours(&api.class), theirs(row[3]));
            (ours < theirs).then(|| format!("{}: {ours:?}, there {theirs:?}", row[0]))
        })
        .collect();
    assert!(worse.is_empty(), "{worse:#?}");
}

#[test]
fn the_table_is_the_whole_api() {
    let declared = declared();
    let known: Vec<&str> = table::rows(table::NAMES).map(|row| row[0]).collect();
    assert_eq!(known.len(), 575);
    let unknown: Vec<_> = declared.keys().filter(|name| !known.contains(name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    let missing: Vec<_> = known.iter().filter(|name| !declared.contains_key(*name)).collect();
    assert!(missing.is_empty(), "not declared: {missing:?}");
}

#[test]
fn at_most_sixteen_functions_are_refused() {
    let refused: Vec<_> = hrr_ffi::ALL
        .iter()
        .filter(|api| matches!(api.class, Class::Refused { .. }))
        .map(|api| api.name)
        .collect();
    assert!(refused.len() <= 16, "{refused:?}");
}

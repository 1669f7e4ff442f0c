//! The archive's functions, matched to the declarations of this build.
//!
//! By name; then the shapes must lay arguments out alike and give them the same meaning, down to the
//! fields of structs. What does not match is listed with the reason, and its events are refused.

use std::collections::HashMap;

use crate::archive::shape::{ApiShape, Inside, ParamShape, PayloadShape};
use crate::desc::{ApiDesc, Table};

/// What stands behind a function of the archive.
pub(super) enum Binding {
    /// This declaration.
    Declared(&'static ApiDesc),
    /// None, for this reason.
    Unknown {
        /// The archive's name.
        name: String,
        /// Why.
        reason: String,
    },
}

/// Matches every function.
pub(super) fn bind(functions: &[ApiShape], tables: &[Table]) -> Vec<Binding> {
    let declared: HashMap<&[u8], &'static ApiDesc> =
        tables.iter().flat_map(|table| table.iter()).map(|d| (d.name.to_bytes(), *d)).collect();
    functions
        .iter()
        .map(|function| {
            let unknown = |reason: String| Binding::Unknown { name: function.name.clone(), reason };
            match declared.get(function.name.as_bytes()) {
                None => unknown("this build does not declare it".to_owned()),
                Some(desc) => match difference(function, &ApiShape::of(desc)) {
                    None => Binding::Declared(desc),
                    Some(what) => unknown(format!("its declaration has changed: {what}")),
                },
            }
        })
        .collect()
}

/// How a recorded shape differs from the declared one, if the difference matters.
fn difference(recorded: &ApiShape, declared: &ApiShape) -> Option<String> {
    if recorded.ret.bytes != declared.ret.bytes || recorded.ret.kind != declared.ret.kind {
        return Some(format!(
            "it returned {} ({}), and now {} ({})",
            recorded.ret.ty, recorded.ret.kind, declared.ret.ty, declared.ret.kind
        ));
    }
    params("parameter", &recorded.params, &declared.params).or_else(|| {
        (recorded.args_bytes != declared.args_bytes).then(|| {
            format!("{} bytes of arguments, and now {}", recorded.args_bytes, declared.args_bytes)
        })
    })
}

fn params(what: &str, recorded: &[ParamShape], declared: &[ParamShape]) -> Option<String> {
    if recorded.len() != declared.len() {
        return Some(format!("{} {what}s, and now {}", recorded.len(), declared.len()));
    }
    recorded.iter().zip(declared).find_map(|(recorded, declared)| {
        let fact = |name: &str, a: &dyn std::fmt::Display, b: &dyn std::fmt::Display| {
            Some(format!("{what} `{}`: {name} {a}, and now {b}", recorded.name))
        };
        if recorded.name != declared.name {
            return fact("name", &recorded.name, &declared.name);
        }
        if recorded.kind != declared.kind {
            return fact("kind", &recorded.kind, &declared.kind);
        }
        if recorded.offset != declared.offset {
            return fact("offset", &recorded.offset, &declared.offset);
        }
        if recorded.bytes != declared.bytes {
            return fact("bytes", &recorded.bytes, &declared.bytes);
        }
        match (&recorded.payload, &declared.payload) {
            (Some(recorded), Some(declared)) => payload(recorded, declared),
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => Some("only one side has a payload".to_owned()),
        }
        .map(|text| format!("{what} `{}`: {text}", recorded.name))
    })
}

fn payload(recorded: &PayloadShape, declared: &PayloadShape) -> Option<String> {
    if recorded.bytes != declared.bytes {
        let (a, b) = (recorded.bytes, declared.bytes);
        return Some(format!("`{}` of {a} bytes, and now of {b}", recorded.name));
    }
    match (&recorded.inside, &declared.inside) {
        (Inside::Struct(recorded), Inside::Struct(declared)) => params("field", recorded, declared),
        (Inside::Handle(recorded), Inside::Handle(declared)) if recorded != declared => {
            Some(format!("a handle `{recorded}`, and now `{declared}`"))
        }
        (Inside::Handle(_), Inside::Handle(_)) => None,
        (Inside::Struct(_), _)
        | (_, Inside::Struct(_))
        | (Inside::Handle(_), _)
        | (_, Inside::Handle(_)) => Some("another inside".to_owned()),
        // How a scalar is printed does not change what it is.
        (
            Inside::Signed | Inside::Unsigned | Inside::Float | Inside::Bytes,
            Inside::Signed | Inside::Unsigned | Inside::Float | Inside::Bytes,
        ) => None,
    }
}

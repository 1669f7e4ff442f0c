//! Names of functions that the user asks for.

/// Whether `name` is one of `patterns`, each a name or a beginning that ends with `*`; no pattern
/// asks for everything.
pub(crate) fn any(patterns: &[String], name: &str) -> bool {
    patterns.is_empty()
        || patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => pattern == name,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_beginnings_match() {
        let any = |patterns: &[&str], name| {
            any(&patterns.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>(), name)
        };
        assert!(any(&[], "hipMalloc"));
        assert!(any(&["hipFree", "hipMalloc"], "hipMalloc"));
        assert!(any(&["hipM*"], "hipMalloc"));
        assert!(!any(&["hipM"], "hipMalloc"));
        assert!(!any(&["hipMallocAsync"], "hipMalloc"));
    }
}

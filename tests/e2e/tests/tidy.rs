//! Goal: the rules of DESIGN.md and CONTRIBUTING.md that a compiler does not know hold everywhere.
//! Method: read the tracked sources and manifests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

fn tracked(suffix: &str) -> Vec<PathBuf> {
    let root = e2e::workspace();
    let out = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
        .current_dir(&root)
        .output()
        .expect("git lists the sources");
    assert!(out.status.success(), "git: {}", e2e::text(&out.stderr));
    let list = String::from_utf8(out.stdout).expect("paths are UTF-8");
    let found: Vec<PathBuf> = list
        .split('\0')
        .filter(|name| name.ends_with(suffix))
        .map(|name| root.join(name))
        .filter(|path| path.exists())
        .collect();
    assert!(!found.is_empty(), "no *{suffix} in the tree");
    found
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Lines of tracked Rust sources, without this file and expected outputs.
fn each_line(mut visit: impl FnMut(&Path, usize, &str)) {
    for path in tracked(".rs") {
        let name = path.to_string_lossy().into_owned();
        if name.ends_with("/tidy.rs") || name.contains("/expected/") || name.contains("/tests/ui/")
        {
            continue;
        }
        for (number, line) in read(&path).lines().enumerate() {
            visit(&path, number + 1, line);
        }
    }
}

#[test]
fn no_unfinished_places() {
    let mut found = Vec::new();
    each_line(|path, number, line| {
        for word in ["TODO", "todo!(", "unimplemented!(", "#[ignore", "#[should_panic", "FIXME(?)"]
        {
            if line.contains(word) {
                found.push(format!("{}:{number}: {word}", path.display()));
            }
        }
    });
    assert!(found.is_empty(), "unfinished places:\n{}", found.join("\n"));
}

/// The engine knows no HIP name: none stands in its code outside comments and string literals of
/// tests.
#[test]
fn core_knows_no_hip_name() {
    let mut found = Vec::new();
    for path in tracked(".rs") {
        if !path.starts_with(e2e::workspace().join("hrr-core/src")) {
            continue;
        }
        let text = read(&path);
        let code = text.split("#[cfg(test)]").next().expect("split yields one part");
        for (number, line) in code.lines().enumerate() {
            let code = line.split("//").next().expect("split yields one part");
            let named = code.match_indices("hip").any(|(at, _)| {
                let before = code[..at].chars().next_back();
                let after = code[at + 3..].chars().next();
                !before.is_some_and(|c| c.is_alphanumeric())
                    && after.is_some_and(|c| c.is_ascii_uppercase() || c == '_')
            });
            if named {
                found.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "HIP names in the engine:\n{}", found.join("\n"));
}

#[test]
fn the_macro_points_at_code() {
    for path in tracked(".rs") {
        let name = path.to_string_lossy().into_owned();
        if name.contains("hrr-macros/src/parse") || name.contains("hrr-macros/src/check") {
            assert!(!read(&path).contains("Span::call_site"), "{name} points at nothing");
        }
    }
}

/// Which crates of ours a crate may depend on, in any section but dev-dependencies.
const EDGES: &[(&str, &[&str])] = &[
    ("hrr-macros", &[]),
    ("hrr-core", &[]),
    ("hip-code", &[]),
    ("hrr-ffi", &["hrr-core", "hrr-macros", "hip-code"]),
    ("hrr-runtime", &["hrr-ffi", "hrr-core", "hrr-macros"]),
    ("hrr-cli", &["hrr-runtime"]),
    ("hrr-preload", &["hrr-runtime"]),
    ("hrr-interpose", &["hrr-runtime"]),
    ("gfx-emu", &["hip-code"]),
    ("hip-emu", &["gfx-emu", "hrr-ffi"]),
    ("hsa-emu", &["gfx-emu"]),
];

#[test]
fn crates_know_only_what_the_design_allows() {
    let root = e2e::workspace();
    let ours: BTreeMap<&str, &[&str]> = EDGES.iter().copied().collect();
    let mut wrong = Vec::new();
    for (name, allowed) in EDGES {
        let manifest = root.join(name).join("Cargo.toml");
        if !manifest.exists() {
            continue;
        }
        let mut section = String::new();
        for line in read(&manifest).lines() {
            if let Some(header) = line.strip_prefix('[') {
                section = header.trim_end_matches(']').to_string();
                continue;
            }
            let Some((key, _)) = line.split_once('=') else { continue };
            let dependency = key.trim().trim_matches('"').split('.').next().expect("one part");
            if section.ends_with("dependencies")
                && !section.contains("dev-dependencies")
                && ours.contains_key(dependency)
                && !allowed.contains(&dependency)
            {
                wrong.push(format!("{name} -> {dependency}"));
            }
        }
    }
    assert!(wrong.is_empty(), "edges that DESIGN.md does not have: {wrong:?}");
}

/// Every crate that the tree has is in the table of edges, or is a test, bench or example crate.
#[test]
fn every_crate_has_its_edges() {
    let root = e2e::workspace();
    for path in tracked("Cargo.toml") {
        let folder = path.parent().expect("a manifest has a folder");
        let Ok(name) = folder.strip_prefix(&root) else { continue };
        let top = name.components().next().map(|part| part.as_os_str().to_string_lossy());
        let Some(top) = top else { continue };
        let known = EDGES.iter().any(|(crate_name, _)| *crate_name == top)
            || ["tests", "benches", "examples", "fuzz"].contains(&top.as_ref());
        assert!(known, "{} is not in the table of crate edges", path.display());
    }
}

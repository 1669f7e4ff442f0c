//! Where libraries are: ours by one rule, the vendor's by the loader's own search.
//!
//! Knows file names and variables; opens nothing.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use hrr_core::archive::facts::RuntimeName;

/// The folder of our own libraries, before all others.
pub const LIB_DIR: &str = "HRR_LIB_DIR";
/// The library of the emulated GPU, as cargo names it.
pub const EMULATED: &str = "libamdhip64.so";
/// The names under which programs of every ROCm look for the runtime, each with the major version
/// of HIP that it stands for. No other name of a runtime is ever made, whatever an archive says.
pub const RUNTIME_NAMES: [(Option<u32>, &str); 4] = [
    (None, EMULATED),
    (Some(5), "libamdhip64.so.5"),
    (Some(6), "libamdhip64.so.6"),
    (Some(7), "libamdhip64.so.7"),
];
/// The emulated GPU's HSA library, on which the vendor's runtime runs, as cargo names it.
pub const HSA: &str = "libhsa_emu.so";
/// The name under which the vendor's runtime asks for its HSA library: the soname of [`HSA`].
pub const HSA_NAME: &str = "libhsa-runtime64.so.1";
/// The library that is preloaded, as cargo names it.
pub const PRELOAD: &str = "libhrr_preload.so";

/// A library of ours that is nowhere.
#[derive(Debug, PartialEq, Eq)]
pub struct Missing {
    /// The file.
    pub file: String,
    /// The folders that were looked in, in order.
    pub looked: Vec<PathBuf>,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is missing: looked in ", self.file)?;
        for (index, folder) in self.looked.iter().enumerate() {
            write!(f, "{}{}", if index > 0 { ", " } else { "" }, folder.display())?;
        }
        write!(f, "; build the whole workspace, or name its folder in {LIB_DIR}")
    }
}

impl std::error::Error for Missing {}

/// The name of the runtime of a major version of HIP, if there is a known one.
pub fn runtime_name(major: u32) -> Option<&'static str> {
    RUNTIME_NAMES.iter().find(|(of, _)| *of == Some(major)).map(|(_, name)| *name)
}

/// The major version of HIP as which a runtime answered: that of the file itself, else the one that
/// it was loaded as (a library that serves several is a file without), else the one that it says.
pub fn major(name: &RuntimeName) -> Option<u32> {
    let of = |file: &str| file.rsplit_once(".so.")?.1.split('.').next()?.parse().ok();
    let file = Path::new(&name.path).file_name().unwrap_or_default().to_string_lossy();
    of(&file).or_else(|| of(&name.loaded_as)).or_else(|| of(name.soname.as_deref()?))
}

/// Finds a library of ours: in `$HRR_LIB_DIR`, else beside the executable, in `deps/`, `../deps/`
/// and `../lib/hrr` from there. The path is absolute.
///
/// # Errors
/// If it is in none of them; the error names all.
pub fn own(file: &str) -> Result<PathBuf, Missing> {
    let executable = std::env::current_exe().unwrap_or_default();
    search(file, std::env::var_os(LIB_DIR), &executable)
}

fn search(file: &str, named: Option<OsString>, executable: &Path) -> Result<PathBuf, Missing> {
    let named = named.filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let beside = executable.parent().unwrap_or(Path::new("/"));
    // A folder that is named is meant: a library of another build elsewhere is no substitute.
    let looked = match named {
        Some(folder) => vec![folder],
        None => ["", "deps", "../deps", "../lib/hrr"].map(|folder| beside.join(folder)).to_vec(),
    };
    match looked.iter().find_map(|folder| folder.join(file).canonicalize().ok()) {
        Some(path) => Ok(path),
        None => Err(Missing { file: file.to_owned(), looked }),
    }
}

/// What to ask the dynamic loader for to get the vendor's library, the best first.
///
/// `library` is the name without prefix and suffix, such as `amdhip64`.
pub fn vendor(library: &str) -> Vec<PathBuf> {
    let file = format!("lib{library}.so");
    let mut names = Vec::new();
    if let Some(rocm) = std::env::var_os("ROCM_PATH").filter(|path| !path.is_empty()) {
        names.push(PathBuf::from(rocm).join("lib").join(&file));
    }
    names.extend([".7", ".6", ".5", ""].map(|version| PathBuf::from(format!("{file}{version}"))));
    names.push(Path::new("/opt/rocm/lib").join(&file));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(path: &Path) {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder is made");
        std::fs::write(path, "").expect("the file is written");
    }

    #[test]
    fn folders_are_tried_in_order() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path().canonicalize().expect("it is there");
        let executable = root.join("release/hrr");
        let find = || search("libx.so", None, &executable);
        let missing = find().expect_err("nothing is there");
        assert_eq!(missing.looked.len(), 4);
        assert!(missing.to_string().contains("libx.so is missing"), "{missing}");
        std::fs::create_dir_all(root.join("release")).expect("the folder is made");
        for place in ["lib/hrr/libx.so", "deps/libx.so", "release/deps/libx.so", "release/libx.so"]
        {
            touch(&root.join(place));
            assert_eq!(find(), Ok(root.join(place)));
        }
    }

    #[test]
    fn the_file_then_the_loaded_name_then_the_soname_tell_the_version() {
        let major = |path: &str, loaded_as: &str, soname: Option<&str>| {
            let (path, loaded_as) = (path.to_owned(), loaded_as.to_owned());
            major(&RuntimeName { path, loaded_as, soname: soname.map(str::to_owned) })
        };
        let (five, six) = ("libamdhip64.so.5", Some("libamdhip64.so.6"));
        assert_eq!(major("/lib/libamdhip64.so.5.2.21153", "libamdhip64.so.6", six), Some(5));
        assert_eq!(major("/hrr/libamdhip64.so", five, six), Some(5));
        assert_eq!(major("/hrr/libamdhip64.so", "libamdhip64.so", six), Some(6));
        assert_eq!(major("/x.so.7/libamdhip64.so", "libamdhip64.so", None), None);
        assert_eq!(major("/lib/libamdhip64-1a2b.so", "libamdhip64.so.x", None), None);
    }

    #[test]
    fn names_are_made_of_known_versions_only() {
        for (major, name) in RUNTIME_NAMES {
            let known = major.map_or(Some(EMULATED), runtime_name);
            assert_eq!(known, Some(name));
        }
        assert_eq!([0, 4, 8, u32::MAX].map(runtime_name), [None; 4]);
    }

    #[test]
    fn a_named_folder_is_the_only_one() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path().canonicalize().expect("it is there");
        touch(&root.join("bin/libx.so"));
        touch(&root.join("named/libx.so"));
        let find =
            |named: &str| search("libx.so", Some(root.join(named).into()), &root.join("bin/hrr"));
        assert_eq!(find("named"), Ok(root.join("named/libx.so")));
        assert_eq!(find("other").map_err(|e| e.looked), Err(vec![root.join("other")]));
        let blank = search("libx.so", Some(OsString::new()), &root.join("bin/hrr"));
        assert_eq!(blank, Ok(root.join("bin/libx.so")));
    }
}

//! Goal: every program finds the functions that it was linked against. Method: the dynamic
//! symbols of the library are compared with the list of HIP's functions.

mod hip;

use std::collections::BTreeSet;

use object::read::elf::{ElfFile64, FileHeader as _};
use object::{LittleEndian, Object as _, ObjectSymbol as _};

const API: &str = include_str!("../../hrr-ffi/tests/data/hip_api.tsv");

fn names() -> BTreeSet<&'static str> {
    let rows = API.lines().filter(|line| !line.starts_with('#') && !line.starts_with("name\t"));
    rows.filter_map(|line| line.split('\t').next()).collect()
}

#[test]
fn dynamic_symbols_are_the_functions_of_the_api() {
    let bytes = std::fs::read(hip::library_path()).unwrap();
    let file = ElfFile64::<LittleEndian>::parse(&*bytes).unwrap();
    let exported: BTreeSet<String> = file
        .dynamic_symbols()
        .filter(|symbol| symbol.is_definition())
        .map(|symbol| symbol.name().unwrap().to_owned())
        .filter(|name| !name.starts_with("hip_"))
        .collect();
    let wanted: BTreeSet<String> = names().into_iter().map(str::to_owned).collect();
    assert_eq!(wanted.len(), 575);
    let missing: Vec<_> = wanted.difference(&exported).collect();
    let foreign: Vec<_> = exported.difference(&wanted).collect();
    assert!(missing.is_empty() && foreign.is_empty(), "missing {missing:?}, foreign {foreign:?}");
}

#[test]
fn any_symbol_version_of_hip_is_satisfied_by_an_unversioned_symbol() {
    let bytes = std::fs::read(hip::library_path()).unwrap();
    let file = ElfFile64::<LittleEndian>::parse(&*bytes).unwrap();
    let header = file.elf_header();
    let sections = header.sections(LittleEndian, &*bytes).unwrap();
    let versions = sections.versions(LittleEndian, &*bytes).unwrap().unwrap();
    let mut defined = BTreeSet::new();
    for index in 2..200 {
        if let Ok(Some(version)) = versions.version(object::elf::VersionIndex(index)) {
            defined.insert(String::from_utf8(version.name().to_vec()).unwrap());
        }
    }
    for wanted in ["hip_4.2", "hip_5.2", "hip_6.0", "hip_7.1"] {
        assert!(defined.contains(wanted), "{wanted} is not among {defined:?}");
    }
}

#[test]
fn functions_are_found_by_name_as_they_are_exported() {
    let _one = hip::exclusive();
    for name in names() {
        let text = std::ffi::CString::new(name).unwrap();
        let mut found = std::ptr::null_mut();
        let mut status = hrr_ffi::types::HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
        let answer =
            hip::hipGetProcAddress(text.as_ptr(), &raw mut found, 60000000, 0, &raw mut status);
        hip::ok(answer);
        assert_eq!(status, hrr_ffi::types::HIP_GET_PROC_ADDRESS_SUCCESS, "{name}");
        assert!(!found.is_null() && !hip::symbol(name).is_null(), "{name}");
    }
    let mut found = std::ptr::dangling_mut();
    let answer = hip::hipGetProcAddress(
        c"hipNotThere".as_ptr(),
        &raw mut found,
        60000000,
        0,
        std::ptr::null_mut(),
    );
    assert_eq!(answer, hrr_ffi::types::hipErrorInvalidValue);
    assert!(found.is_null());
}

//! The program that shall be recorded: where it is, and what keeps a library from being preloaded
//! into it. Reads files only; starts nothing.

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use object::elf;
use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _};

use crate::failure::{Failure, NO_PROGRAM, NOT_EXECUTABLE};

/// Finds a program as a shell does: along `path` unless the name has a slash.
pub(crate) fn find(name: &OsStr, path: Option<&OsStr>) -> Result<PathBuf, Failure> {
    let mut candidates = Vec::new();
    if name.as_bytes().contains(&b'/') {
        candidates.push(PathBuf::from(name));
    } else if !name.is_empty() {
        let path = path.unwrap_or(OsStr::new("/usr/bin:/bin"));
        candidates.extend(std::env::split_paths(path).map(|folder| folder.join(name)));
    }
    let mut there = None;
    for candidate in candidates {
        let Ok(metadata) = std::fs::metadata(&candidate) else { continue };
        if metadata.is_file() && rustix::fs::access(&candidate, rustix::fs::Access::EXEC_OK).is_ok()
        {
            return Ok(candidate);
        }
        there.get_or_insert((candidate, metadata.is_dir()));
    }
    let name = Path::new(name).display();
    match there {
        Some((_, true)) => {
            Err(Failure::new(NOT_EXECUTABLE, format!("{name}: is a folder; name a program")))
        }
        Some((path, false)) => Err(Failure::new(
            NOT_EXECUTABLE,
            format!("{}: not executable; `chmod +x` it, or name its interpreter", path.display()),
        )),
        None => Err(Failure::new(NO_PROGRAM, format!("{name}: no such program; check its path"))),
    }
}

/// What was read of a program before its start.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Why nothing can be preloaded; empty if something can.
    pub(crate) obstacles: Vec<String>,
    /// Whether the program needs AddressSanitizer's runtime as a library.
    pub(crate) address_sanitizer: bool,
}

/// How many scripts may name each other as interpreters; the kernel's own limit is 4.
const INTERPRETERS_MAX: usize = 5;

/// Reads what matters of the program, and of its interpreter if it is a script.
pub(crate) fn examine(program: &Path) -> Facts {
    let mut facts = Facts::default();
    let mut path = program.to_owned();
    for _ in 0..INTERPRETERS_MAX {
        let mut head = Vec::new();
        let read =
            std::fs::File::open(&path).and_then(|file| file.take(256).read_to_end(&mut head));
        if let Err(error) = read {
            // A program may be executable without being readable; the start will tell more.
            facts.obstacles.push(format!("{}: cannot be examined: {error}", path.display()));
            return facts;
        }
        let Some(next) = interpreter(&head) else { break };
        path = next;
    }
    privileges(&path, &mut facts);
    match std::fs::read(&path) {
        Ok(bytes) => image(&path, &bytes, &mut facts),
        Err(error) => {
            facts.obstacles.push(format!("{}: cannot be examined: {error}", path.display()));
        }
    }
    facts
}

/// The interpreter of a script; through `env`, the program that it will find.
fn interpreter(head: &[u8]) -> Option<PathBuf> {
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let mut words = line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    let first = Path::new(OsStr::from_bytes(words.next()?));
    if first.file_name() == Some(OsStr::new("env"))
        && let Some(name) = words.find(|word| !word.starts_with(b"-") && !word.contains(&b'='))
    {
        return find(OsStr::from_bytes(name), std::env::var_os("PATH").as_deref()).ok();
    }
    Some(first.to_owned())
}

/// Programs that gain rights at their start ignore LD_PRELOAD.
fn privileges(path: &Path, facts: &mut Facts) {
    let shown = path.display();
    if let Ok(metadata) = std::fs::metadata(path) {
        let mode = metadata.permissions().mode();
        if mode & 0o4000 != 0 && metadata.uid() != rustix::process::getuid().as_raw() {
            facts
                .obstacles
                .push(format!("{shown}: set-user-ID, so the system lets nothing be preloaded"));
        }
        if mode & 0o2000 != 0 && metadata.gid() != rustix::process::getgid().as_raw() {
            facts
                .obstacles
                .push(format!("{shown}: set-group-ID, so the system lets nothing be preloaded"));
        }
    }
    let mut capabilities = [0u8; 64];
    if rustix::fs::getxattr(path, "security.capability", &mut capabilities).is_ok() {
        facts.obstacles.push(format!(
            "{shown}: has file capabilities, so the system lets nothing be preloaded"
        ));
    }
}

fn image(path: &Path, bytes: &[u8], facts: &mut Facts) {
    let shown = path.display();
    let Ok(header) = elf::FileHeader64::<object::Endianness>::parse(bytes) else {
        let what = if bytes.starts_with(b"\x7fELF\x01") {
            "a 32-bit program"
        } else {
            "not a program of this system"
        };
        facts.obstacles.push(format!("{shown}: {what}, so nothing can be preloaded"));
        return;
    };
    let Ok(endian) = header.endian() else { return };
    if header.e_machine(endian) != elf::EM_X86_64 {
        facts
            .obstacles
            .push(format!("{shown}: built for another processor, so nothing can be preloaded"));
        return;
    }
    let segments = header.program_headers(endian, bytes).unwrap_or_default();
    if !segments.iter().any(|segment| segment.p_type(endian) == elf::PT_INTERP) {
        facts.obstacles.push(format!("{shown}: statically linked, so nothing can be preloaded"));
    }
    facts.address_sanitizer = needed(header, endian, bytes)
        .iter()
        .any(|library| library.as_bytes().starts_with(b"libasan.so"));
}

/// The libraries that an image names.
fn needed(
    header: &elf::FileHeader64<object::Endianness>,
    endian: object::Endianness,
    bytes: &[u8],
) -> Vec<OsString> {
    let Ok(sections) = header.sections(endian, bytes) else { return Vec::new() };
    let Ok(Some((entries, strings))) = sections.dynamic(endian, bytes) else { return Vec::new() };
    let Ok(strings) = sections.strings(endian, bytes, strings) else { return Vec::new() };
    entries
        .iter()
        .filter(|entry| entry.tag(endian) == elf::DT_NEEDED)
        .filter_map(|entry| entry.string(endian, strings).ok())
        .map(|name| OsStr::from_bytes(name).to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_as_a_shell_finds_it() {
        let found =
            find(OsStr::new("sh"), Some(OsStr::new("/nowhere:/bin"))).expect("there is a shell");
        assert_eq!(found, Path::new("/bin/sh"));
        let code =
            |name: &str| find(OsStr::new(name), Some(OsStr::new("/bin"))).map_err(|e| e.code);
        assert_eq!(code("no-such-program-here"), Err(NO_PROGRAM));
        assert_eq!(code("/no/such/program"), Err(NO_PROGRAM));
        assert_eq!(code(""), Err(NO_PROGRAM));
        assert_eq!(code("/bin"), Err(NOT_EXECUTABLE));
        assert_eq!(code("/etc/passwd"), Err(NOT_EXECUTABLE));
        assert_eq!(code("/bin/sh"), Ok("/bin/sh".into()));
    }

    #[test]
    fn a_script_leads_to_its_interpreter() {
        assert_eq!(interpreter(b"#! /bin/sh -e\nexit"), Some("/bin/sh".into()));
        let found = interpreter(b"#!/usr/bin/env -S A=b sh\n").expect("env finds a shell");
        assert_eq!(found.file_name(), Some(OsStr::new("sh")));
        assert_eq!(interpreter(b"\x7fELF"), None);
        assert_eq!(interpreter(b"#!"), None);
    }

    #[test]
    fn this_test_can_be_preloaded_and_a_text_cannot() {
        let this = std::env::current_exe().expect("this is a program");
        assert_eq!(examine(&this), Facts::default());
        assert_eq!(examine(Path::new("/etc/passwd")).obstacles.len(), 1);
    }
}

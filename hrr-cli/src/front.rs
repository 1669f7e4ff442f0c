//! Whether a library can be put in front of a program's own runtime: what the dynamic loader would
//! say in the middle of things is found out, and said, before the program starts. Reads files only.

use std::path::Path;

use object::elf::{self, EM_X86_64, ET_DYN, FileHeader64};
use object::read::elf::{FileHeader as _, SectionTable};

type Header = FileHeader64<object::Endianness>;

/// Says what keeps `library` from being the runtime of `program`.
pub(crate) fn check(library: &Path, program: &Path) -> Result<(), String> {
    if library.is_dir() {
        return Err("it is a folder".to_owned());
    }
    let bytes = std::fs::read(library).map_err(|error| error.to_string())?;
    let Ok(header) = Header::parse(&*bytes) else {
        let what = if bytes.starts_with(b"\x7fELF\x01") { "a 32-bit file" } else { "no library" };
        return Err(format!("it is {what}"));
    };
    let unreadable = |error: object::Error| format!("it is damaged: {error}");
    let endian = header.endian().map_err(unreadable)?;
    if header.e_machine(endian) != EM_X86_64 {
        return Err("it is for another processor".to_owned());
    }
    if header.e_type(endian) != ET_DYN {
        return Err("it is no library".to_owned());
    }
    let sections = header.sections(endian, &*bytes).map_err(unreadable)?;
    if !has_functions_of_hip(&sections, endian, &bytes).map_err(unreadable)? {
        return Err("it has no function of HIP".to_owned());
    }
    // A library without versions does for all: the loader warns, and takes it.
    let had = versions(&sections, endian, &bytes).map_err(unreadable)?;
    let wanted = wanted_versions(program).unwrap_or_default();
    match wanted.into_iter().find(|version| !had.is_empty() && !had.contains(version)) {
        Some(version) => {
            Err(format!("it lacks the version {version} that {} asks for", program.display()))
        }
        None => Ok(()),
    }
}

fn has_functions_of_hip(
    sections: &SectionTable<'_, Header>,
    endian: object::Endianness,
    bytes: &[u8],
) -> object::Result<bool> {
    let symbols = sections.symbols(endian, bytes, elf::SHT_DYNSYM)?;
    let mut defined = symbols.iter().filter(|symbol| symbol.st_shndx.get(endian) != elf::SHN_UNDEF);
    Ok(defined.any(|symbol| {
        let name = symbols.strings().get(symbol.st_name.get(endian)).unwrap_or_default();
        name.starts_with(b"hip")
    }))
}

/// The versions of symbols that a library defines.
fn versions(
    sections: &SectionTable<'_, Header>,
    endian: object::Endianness,
    bytes: &[u8],
) -> object::Result<Vec<String>> {
    let Some((mut all, link)) = sections.gnu_verdef(endian, bytes)? else { return Ok(vec![]) };
    let strings = sections.strings(endian, bytes, link)?;
    let mut found = Vec::new();
    while let Some((_, mut names)) = all.next()? {
        // The first name is the version's own; others are its parents'.
        if let Some(name) = names.next()? {
            found.push(String::from_utf8_lossy(name.name(endian, strings)?).into_owned());
        }
    }
    Ok(found)
}

/// The versions that a program asks its runtime for; none if it is no program that can be read,
/// such as a script.
fn wanted_versions(program: &Path) -> Option<Vec<String>> {
    let bytes = std::fs::read(program).ok()?;
    let header = Header::parse(&*bytes).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, &*bytes).ok()?;
    let (mut all, link) = sections.gnu_verneed(endian, &*bytes).ok()??;
    let strings = sections.strings(endian, &*bytes, link).ok()?;
    let mut wanted = Vec::new();
    while let Some((need, mut names)) = all.next().ok()? {
        if !need.file(endian, strings).ok()?.starts_with(b"libamdhip64.so") {
            continue;
        }
        while let Some(name) = names.next().ok()? {
            let name = name.name(endian, strings).ok()?;
            wanted.push(String::from_utf8_lossy(name).into_owned());
        }
    }
    Some(wanted)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::check;

    #[test]
    fn what_is_no_runtime_is_told() {
        let told = |path: &str| check(Path::new(path), Path::new("/bin/sh")).unwrap_err();
        assert_eq!(told("/etc"), "it is a folder");
        assert_eq!(told("/etc/passwd"), "it is no library");
        assert_eq!(told("/lib/x86_64-linux-gnu/libm.so.6"), "it has no function of HIP");
        assert!(told("/no/such").contains("No such file"), "{}", told("/no/such"));
    }
}

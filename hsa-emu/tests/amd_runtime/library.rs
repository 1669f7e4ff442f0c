//! The library itself: what it exports, and what it says when more is asked for.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use libtest_mimic::Trial;
use object::{Object as _, ObjectSymbol as _};

use crate::toolchain::Toolchain;
use crate::trial;

pub(crate) fn trials(tools: &Toolchain) -> Vec<Trial> {
    let vendor = tools.vendor("libamdhip64.so.5");
    let absent = (!vendor.exists()).then(|| format!("{} is not installed", vendor.display()));
    let of_exports = tools.clone();
    let of_missing = tools.clone();
    vec![
        trial("library/exports".to_owned(), absent, move || exports(&of_exports)),
        trial("library/missing".to_owned(), tools.missing_compiler(), move || {
            missing_functions(&of_missing)
        }),
    ]
}

fn symbols(path: &Path, undefined: bool) -> Result<BTreeSet<String>, String> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let file = object::File::parse(&*bytes).map_err(|error| error.to_string())?;
    Ok(file
        .dynamic_symbols()
        .filter(|symbol| symbol.is_undefined() == undefined)
        .filter_map(|symbol| symbol.name().ok().map(str::to_owned))
        .filter(|name| !undefined || name.starts_with("hsa_"))
        .collect())
}

/// Exactly the functions that AMD's runtime imports, and nothing else.
fn exports(tools: &Toolchain) -> Result<(), String> {
    let wanted = symbols(&tools.vendor("libamdhip64.so.5"), true)?;
    let had = symbols(&tools.ours, false)?;
    if wanted.len() == 76 && had == wanted {
        return Ok(());
    }
    Err(format!(
        "missing: {:?}\nsuperfluous: {:?}",
        wanted.difference(&had).collect::<Vec<_>>(),
        had.difference(&wanted).collect::<Vec<_>>()
    ))
}

/// A runtime that is newer than AMD's 5.2.3 is refused with the names of what it lacks.
fn missing_functions(tools: &Toolchain) -> Result<(), String> {
    let runtime = "
        int hsa_init(void); void hsa_amd_vmem_map(void); void hsa_amd_not_yet(void);
        int start(void) { return hsa_init(); }
        void never(void) { hsa_amd_vmem_map(); hsa_amd_not_yet(); }";
    let shared = ["-shared", "-fPIC", "-Wl,-z,lazy", "-Wl,-soname,libamdhip64.so.99"];
    let ours = tools.ours.to_string_lossy().into_owned();
    let arguments = [&shared[..], &[&ours, "-Wl,--unresolved-symbols=ignore-all"]].concat();
    let runtime = tools.compile("libamdhip64.so.99", runtime, &arguments)?;
    let program = "
        #include <stdio.h>
        int start(void);
        int main(void) { printf(\"status %d\\n\", start()); return 0; }";
    let folder = runtime.parent().ok_or("a file has a folder")?;
    let path = format!("-Wl,-rpath,{}", folder.display());
    let arguments = ["libamdhip64.so.99", &path, "-Wl,--unresolved-symbols=ignore-all"];
    let program = tools.compile("newer_runtime", program, &arguments)?;
    let ran = tools.run(&program, &[], &[])?;
    let expected = format!(
        "hsa-emu: {} needs HSA functions that are missing here: \
         hsa_amd_vmem_map, hsa_amd_not_yet\n",
        runtime.display()
    );
    let reversed =
        expected.replace("hsa_amd_vmem_map, hsa_amd_not_yet", "hsa_amd_not_yet, hsa_amd_vmem_map");
    let named = ran.stderr == expected || ran.stderr == reversed;
    if named && ran.stdout == "status 4096\n" { Ok(()) } else { Err(ran.to_string()) }
}

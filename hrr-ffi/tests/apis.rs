//! One case for each declared function, generated over the table: `cargo test -p hrr-ffi --test
//! apis hipMemcpy3D` runs one. A case holds the declaration against the signature that clang gives
//! for the vendor's header, checks what the descriptor says of itself, and looks at what became of
//! a call that was recorded and replayed over a runtime of the test's own.

mod facts;
mod round_trip;
mod table;

use hrr_core::desc::ApiDesc;
use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let args = Arguments::from_args();
    let trials = hrr_ffi::ALL
        .iter()
        .map(|api| Trial::test(name_of(api), move || check(api)))
        .chain([Trial::test("names are unique", names_are_unique)])
        .collect();
    libtest_mimic::run(&args, trials).exit();
}

fn name_of(api: &ApiDesc) -> String {
    api.name.to_str().expect("a C identifier is UTF-8").to_owned()
}

fn check(api: &'static ApiDesc) -> Result<(), Failed> {
    facts::check_texts(api)?;
    facts::check_signature(api)?;
    facts::check_indices(api)?;
    round_trip::check(api)?;
    Ok(())
}

fn names_are_unique() -> Result<(), Failed> {
    let mut names: Vec<_> =
        hrr_ffi::ALL.iter().flat_map(|api| api.aliases.iter().copied().chain([api.name])).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("{:?} is declared twice", pair[0]).into()),
        None => Ok(()),
    }
}

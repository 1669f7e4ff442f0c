//! Records a call of the new function, replays it in another process, and lists it.
//!
//! `cargo run --release -p own-api`; with arguments it is an `hrr` that knows the new function.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::process::{Command, ExitCode};

use hrr_examples::{Place, held, replay_in_another_process};
use hrr_runtime::{Recording, RuntimeChoice, select_runtime};

fn main() -> ExitCode {
    if std::env::args_os().len() > 1 {
        return hrr_cli::run(&[hrr_runtime::ALL, own_api::APIS]);
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("own-api: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    select_runtime(RuntimeChoice::Emulated)?;
    let place = Place::new("own-api")?;

    let recording = Recording::start(place.archive())?;
    let mut data = [1.0f32, 2.0, 3.0];
    // SAFETY: the pointer and the count are those of the array.
    let status = unsafe { own_api::ownScale(data.as_mut_ptr(), data.len(), 10.0) };
    recording.finish()?;

    println!("answered  {status:?} {data:?}");
    if status.0 != 0 || data != [10.0, 20.0, 30.0] {
        return Err("the library computed something else".into());
    }
    println!("recorded  {}", held(&place.archive())?);
    println!("replaying in another process:");
    replay_in_another_process(&place.archive())?;
    println!("listed:");
    let status = Command::new(std::env::current_exe()?).args(["apis", "ownScale"]).status()?;
    if status.success() { Ok(()) } else { Err("the function is not listed".into()) }
}

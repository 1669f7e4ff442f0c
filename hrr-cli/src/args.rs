//! What can be written after `hrr`. Pure: parsing reads no file and no variable.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand};
use hrr_runtime::RuntimeChoice;
use hrr_runtime::replay::Tolerance;

/// Records every call that a program makes into AMD's GPU runtime, and replays the recording on
/// another machine without the program, checking every result.
#[derive(Parser, Debug)]
#[command(name = "hrr", version, arg_required_else_help = true, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 good; 1 a result differs; 2 refused or incomplete; 3 damaged archive;
4 recorded checks could not be made; 64 usage; 65 no archive, or one of a newer format;
66 path missing or nothing of that name, or output exists; 69 no runtime; 70 internal error.
`hrr record` exits as the program did.";

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Record(RecordArgs),
    Replay(ReplayArgs),
    Info(InfoArgs),
    Pack(PackArgs),
    Events(EventsArgs),
    Apis(ApisArgs),
}

/// Run a program and record its calls.
///
/// The program runs unmodified, in the runtime that it chose itself unless --runtime says another.
#[derive(Args, Debug)]
pub(crate) struct RecordArgs {
    /// Where to put the archive; must not exist [default: PROGRAM.hrr]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// The runtime: a library, `emu` for the emulated GPU, or `amd-emu` for the vendor's on the
    /// emulated GPU [default: the vendor's if it has a device, else the emulated GPU]
    #[arg(long, value_name = "LIB|emu|amd-emu")]
    pub(crate) runtime: Option<RuntimeChoice>,
    /// The program and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    pub(crate) program: Vec<OsString>,
}

/// Issue the recorded calls again and check every result.
///
/// The report goes to standard output. What kernels print goes to standard error, whichever
/// stream they printed to.
#[derive(Args, Debug)]
pub(crate) struct ReplayArgs {
    /// The archive
    pub(crate) archive: PathBuf,
    /// The runtime: a library, `emu` for the emulated GPU as the version of HIP that was recorded,
    /// `emu:5`, `emu:6` or `emu:7` for it as that version, or `amd-emu` for the vendor's on the
    /// emulated GPU [default: the vendor's if it has a device, else the emulated GPU]
    #[arg(long, value_name = "LIB|emu[:N]|amd-emu")]
    pub(crate) runtime: Option<RuntimeChoice>,
    /// Only this process; all in turn without it
    #[arg(long, value_name = "PID")]
    pub(crate) process: Option<String>,
    /// Do not try to place device memory at its recorded addresses
    #[arg(long)]
    pub(crate) no_placement: bool,
    /// How far apart results of a type may lie, as in f32:1e-5; bit-exact without it
    #[arg(long, value_name = "TYPE:VALUE")]
    pub(crate) tolerance: Option<Tolerance>,
    /// Which live devices stand for recorded ones, as in 1:0,2:0
    #[arg(long, value_name = "RECORDED:LIVE,..")]
    pub(crate) device_map: Option<DeviceMapArg>,
    /// Refuse calls that hand over a callback, instead of passing one that makes its stores
    #[arg(long)]
    pub(crate) strict: bool,
    /// End the replay if a call takes so long, with a report of what was reached (exit 1)
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: Option<u64>,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show what an archive holds.
#[derive(Args, Debug)]
pub(crate) struct InfoArgs {
    /// The archive
    pub(crate) archive: PathBuf,
    /// Read everything and check every checksum
    #[arg(long)]
    pub(crate) verify: bool,
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Put an archive into one file, which every command takes too.
#[derive(Args, Debug)]
pub(crate) struct PackArgs {
    /// The archive
    pub(crate) archive: PathBuf,
    /// The file; must not exist
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

/// List the recorded calls, with all that was passed.
#[derive(Args, Debug)]
pub(crate) struct EventsArgs {
    /// The archive
    pub(crate) archive: PathBuf,
    /// Only this process
    #[arg(long, value_name = "PID")]
    pub(crate) process: Option<String>,
    /// Only this thread, by its number in the archive
    #[arg(long, value_name = "N")]
    pub(crate) thread: Option<u32>,
    /// Only these functions; a name may end with *
    #[arg(long, value_name = "NAME")]
    pub(crate) function: Vec<String>,
    /// Only calls whose status was not success
    #[arg(long)]
    pub(crate) failed: bool,
    /// Leave out the first N that match
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) skip: u64,
    /// At most N
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Only how often each function was called
    #[arg(long, conflicts_with_all = ["skip", "limit"])]
    pub(crate) count: bool,
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// List the functions that can be recorded, and how each is replayed.
#[derive(Args, Debug)]
pub(crate) struct ApisArgs {
    /// Only these functions; a name may end with *
    pub(crate) name: Vec<String>,
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// List the words that a declaration may use instead
    #[arg(long, conflicts_with_all = ["name", "json"])]
    pub(crate) attributes: bool,
}

/// What `--device-map` names: recorded devices, and the live ones that stand for them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct DeviceMapArg(pub(crate) BTreeMap<u32, u32>);

impl FromStr for DeviceMapArg {
    type Err = String;
    fn from_str(text: &str) -> Result<DeviceMapArg, String> {
        let wrong = || format!("`{text}` is not RECORDED:LIVE,.. as in 1:0,2:0");
        let pair = |pair: &str| {
            let (recorded, live) = pair.split_once(':')?;
            Some((recorded.parse().ok()?, live.parse().ok()?))
        };
        let pairs: Option<Vec<(u32, u32)>> = text.split(',').map(pair).collect();
        let pairs = pairs.ok_or_else(wrong)?;
        let map: BTreeMap<u32, u32> = pairs.iter().copied().collect();
        if map.len() < pairs.len() {
            return Err(format!("`{text}` names a recorded device twice"));
        }
        Ok(DeviceMapArg(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_holds_together() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn what_follows_the_program_is_the_programs() {
        let cli =
            Cli::try_parse_from(["hrr", "record", "-o", "d", "--", "prog", "--json", "-o", "x"]);
        let Command::Record(record) = cli.expect("parses").command else { panic!("not record") };
        assert_eq!(record.program, ["prog", "--json", "-o", "x"]);
        assert_eq!(record.output, Some("d".into()));
        let cli = Cli::try_parse_from(["hrr", "record", "prog", "--runtime", "emu"]);
        let Command::Record(record) = cli.expect("parses").command else { panic!("not record") };
        assert_eq!((record.program.len(), record.runtime), (3, None));
        assert!(Cli::try_parse_from(["hrr", "record"]).is_err());
    }

    #[test]
    fn a_tolerance_names_its_type() {
        let tolerance = |text| {
            let cli = Cli::try_parse_from(["hrr", "replay", "a", "--tolerance", text]);
            let Command::Replay(replay) = cli.ok()?.command else { panic!("not replay") };
            replay.tolerance.map(|tolerance| tolerance.limit)
        };
        assert_eq!(tolerance("f32:1e-5"), Some(1e-5));
        for bad in ["f32", "f8:1", "f32:", "f32:x"] {
            assert_eq!(tolerance(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_device_map_is_pairs() {
        let map = "1:0,2:0".parse().map(|DeviceMapArg(map)| map);
        assert_eq!(map, Ok(BTreeMap::from([(1, 0), (2, 0)])));
        for bad in ["", "1", "1:", "1:0,", "1:0,1:2", "-1:0"] {
            assert!(bad.parse::<DeviceMapArg>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_runtime_is_a_library_or_a_word() {
        let runtime = |text: &str| {
            let cli = Cli::try_parse_from(["hrr", "replay", "a", "--runtime", text]);
            let Command::Replay(replay) = cli.ok()?.command else { panic!("not replay") };
            replay.runtime
        };
        assert_eq!(runtime("emu"), Some(RuntimeChoice::Emulated));
        assert_eq!(runtime("emu:5"), Some(RuntimeChoice::EmulatedAs(5)));
        assert_eq!(runtime("amd-emu"), Some(RuntimeChoice::VendorOnEmulated));
        assert_eq!(runtime("./emu"), Some(RuntimeChoice::Library("./emu".into())));
        for bad in ["", "emu:", "emu:4", "emu:8", "emu:5.2", "emu:../x"] {
            assert_eq!(runtime(bad), None, "{bad}");
        }
    }
}

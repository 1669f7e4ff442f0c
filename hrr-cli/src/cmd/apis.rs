//! `hrr apis`: the functions of the tables, and how each is replayed.

use std::io::Write;
use std::process::ExitCode;

use hrr_runtime::desc::{ApiDesc, ParamDesc, Table};
use serde::Serialize;

use crate::args::ApisArgs;
use crate::failure::{Failure, NO_PATH};
use crate::pattern;

/// The words of declarations, as the macro's own table writes them.
const WORDS: &str = include_str!("../../../hrr-macros/src/words.md");

/// A function, as `--json` shows it.
#[derive(Serialize)]
struct Row {
    name: &'static str,
    aliases: Vec<&'static str>,
    group: &'static str,
    class: &'static str,
    reason: &'static str,
    custom_capture: bool,
    custom_replay: bool,
    returns: &'static str,
    params: Vec<Param>,
}

#[derive(Serialize)]
struct Param {
    name: &'static str,
    #[serde(rename = "type")]
    ty: &'static str,
    kind: &'static str,
}

impl From<&'static ApiDesc> for Row {
    fn from(api: &'static ApiDesc) -> Row {
        let text = |name: &'static std::ffi::CStr| name.to_str().expect("a C name is ASCII");
        Row {
            name: text(api.name),
            aliases: api.aliases.iter().map(|name| text(name)).collect(),
            group: api.group,
            class: api.class.name(),
            reason: api.class.reason(),
            custom_capture: api.capture.is_some(),
            custom_replay: api.replay.is_some(),
            returns: api.ret.ty,
            params: api.params.iter().map(Param::from).collect(),
        }
    }
}

impl From<&'static ParamDesc> for Param {
    fn from(param: &'static ParamDesc) -> Param {
        Param { name: param.name, ty: param.ty, kind: param.role.kind() }
    }
}

pub(crate) fn run(
    args: &ApisArgs,
    tables: &[Table],
    out: &mut impl Write,
) -> Result<ExitCode, Failure> {
    if args.attributes {
        write!(out, "{WORDS}")?;
        return Ok(ExitCode::SUCCESS);
    }
    let all = tables.iter().flat_map(|table| table.iter());
    let named = |api: &ApiDesc| pattern::any(&args.name, &api.name.to_string_lossy());
    let rows: Vec<Row> = all.copied().filter(|api| named(api)).map(Row::from).collect();
    if rows.is_empty() && !args.name.is_empty() {
        let what = args.name.join(", ");
        return Err(Failure::new(
            NO_PATH,
            format!("{what}: no such function; `hrr apis` lists all"),
        ));
    }
    if args.json {
        serde_json::to_writer_pretty(&mut *out, &rows).map_err(std::io::Error::from)?;
        writeln!(out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    for row in &rows {
        let by_hand = match (row.custom_capture, row.custom_replay) {
            (false, false) => "",
            (true, false) => " [capture by hand]",
            (false, true) => " [replay by hand]",
            (true, true) => " [by hand]",
        };
        let reason =
            if row.reason.is_empty() { String::new() } else { format!(": {}", row.reason) };
        writeln!(out, "{:width$}  {:10} {}{reason}{by_hand}", row.name, row.group, row.class)?;
        if !args.name.is_empty() {
            for param in &row.params {
                writeln!(out, "    {:24} {:20} {}", param.name, param.kind, param.ty)?;
            }
            writeln!(out, "    -> {}", row.returns)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

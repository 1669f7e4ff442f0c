//! What the command itself says: one line each, on stderr, coloured on a terminal only.

use std::fmt::Display;

use anstyle::{AnsiColor, Style};

const NOTE: Style = Style::new().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const ERROR: Style = AnsiColor::Red.on_default().bold();

fn line(style: Style, label: &str, what: impl Display) {
    anstream::eprintln!("{style}hrr{label}:{style:#} {what}");
}

/// Something to know.
pub(crate) fn note(what: &str) {
    line(NOTE, "", what);
}

/// Something that is not as it should be, and does not end the command.
pub(crate) fn warn(what: &str) {
    line(WARNING, ": warning", what);
}

/// Why the command ends without doing its work.
pub(crate) fn error(what: impl Display) {
    line(ERROR, "", what);
}

//! Styles of text, which a terminal shows as colours.

use std::io::{self, IsTerminal as _};

use crate::environment::os_variable;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum LineStyle {
    /// Not started, left out, or a header.
    Dimmed,
    Plain,
    /// A failure is being repaired, or a person must decide.
    Warning,
    Success,
    Error,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    On,
    Off,
}

impl Colour {
    /// Of standard output: on in a terminal, unless `NO_COLOR` is set or the terminal is a dumb one.
    pub(crate) fn of_output() -> Self {
        if io::stdout().is_terminal() && !is_terminal_dumb() { Self::of_terminal() } else { Self::Off }
    }

    pub(crate) fn of_terminal() -> Self {
        if os_variable("NO_COLOR").is_some() { Self::Off } else { Self::On }
    }
}

/// Whether the terminal knows no escape sequences.
pub(crate) fn is_terminal_dumb() -> bool {
    os_variable("TERM").is_some_and(|terminal| terminal == "dumb")
}

pub(crate) fn painted(text: &str, style: LineStyle, colour: Colour) -> String {
    let paint = match (colour, style) {
        (Colour::Off, _) | (_, LineStyle::Plain) => return text.to_owned(),
        (Colour::On, LineStyle::Dimmed) => "2",
        (Colour::On, LineStyle::Warning) => "33",
        (Colour::On, LineStyle::Success) => "32",
        (Colour::On, LineStyle::Error) => "31",
    };
    format!("\x1b[{paint}m{text}\x1b[0m")
}

/// The style of the status of a run or a session.
pub(crate) fn status_style(status: &str) -> LineStyle {
    match status {
        "complete" | "success" => LineStyle::Success,
        "partial" | "waiting" | "stopped" | "parked" => LineStyle::Warning,
        "failed" | "failure" | "impossible" | "budget_exhausted" => LineStyle::Error,
        "cancelled" | "closed" => LineStyle::Dimmed,
        _ => LineStyle::Plain,
    }
}

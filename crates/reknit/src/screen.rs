//! Where progress is shown: redrawn in place in a terminal, a line for each change in a pipe.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Stderr, Write};

use reknit_engine::Machine;

use crate::progress::{Line, Tone, lines};
use crate::work::variable;

/// As wide as a line may be where no terminal says otherwise: nothing is cut in a log.
const UNLIMITED: usize = 1_000;

/// Shows a run on standard error. That nobody can see it does not stop the run.
#[derive(Debug)]
pub(crate) struct Screen {
    out: Stderr,
    kind: Kind,
    drawn: Vec<Line>,
    /// The run as it was last shown, if what it looks like changes with time alone.
    shown: Option<Machine>,
    note: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Terminal(Colour),
    Pipe,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Colour {
    On,
    Off,
}

impl Screen {
    pub(crate) fn new() -> Self {
        let out = io::stderr();
        // A dumb terminal cannot go back to a line.
        let kind = if !out.is_terminal() || variable("TERM").is_some_and(|terminal| terminal == "dumb") {
            Kind::Pipe
        } else {
            Kind::Terminal(if variable("NO_COLOR").is_some() { Colour::Off } else { Colour::On })
        };
        Self { out, kind, drawn: Vec::new(), shown: None, note: None }
    }

    /// Shows how the run stands.
    pub(crate) fn show(&mut self, run: &Machine) {
        self.draw(run, run.now_ms());
        self.keep(run);
    }

    /// Time has passed: what counts down is drawn again. In a pipe that would only be noise.
    pub(crate) fn tick(&mut self, now_ms: i64) {
        if let Some(run) = self.shown.take() {
            self.draw(&run, now_ms.max(run.now_ms()));
            self.keep(&run);
        }
    }

    fn keep(&mut self, run: &Machine) {
        self.shown = matches!(self.kind, Kind::Terminal(_)).then(|| run.clone());
    }

    /// Says something below the steps, from now on.
    pub(crate) fn say(&mut self, note: &'static str) {
        self.note = Some(note);
        match self.shown.take() {
            Some(run) => self.show(&run),
            None => self.put(&format!("{note}\n")),
        }
    }

    /// Writes a line of the log above the steps.
    pub(crate) fn log(&mut self, line: &str) {
        match self.kind {
            Kind::Terminal(colour) if !self.drawn.is_empty() => {
                let picture = redrawn(&[], &self.drawn, colour);
                self.put(&format!("\x1b[{}A\x1b[J{line}{picture}", self.drawn.len()));
            }
            Kind::Terminal(_) | Kind::Pipe => self.put(line),
        }
    }

    /// Nothing more is shown; what follows begins below.
    pub(crate) fn end(&mut self) {
        if !self.drawn.is_empty() {
            self.put("\n");
        }
        self.drawn.clear();
        self.shown = None;
    }

    fn draw(&mut self, run: &Machine, now_ms: i64) {
        let (columns, rows) = match self.kind {
            Kind::Terminal(_) => terminal_size(&self.out),
            Kind::Pipe => (UNLIMITED, usize::MAX),
        };
        let mut lines = lines(run, now_ms, columns);
        if let (Some(note), Kind::Terminal(_)) = (self.note, self.kind) {
            lines.push(Line { text: note.to_owned(), tone: Tone::Care });
        }
        if lines == self.drawn {
            return;
        }
        if lines.len() >= rows {
            // What has left the screen cannot be drawn over: from here on it is a list of changes.
            self.kind = Kind::Pipe;
        }
        let text = match self.kind {
            Kind::Terminal(colour) => redrawn(&self.drawn, &lines, colour),
            Kind::Pipe => changed(&self.drawn, &lines),
        };
        self.put(&text);
        self.drawn = lines;
    }

    fn put(&mut self, text: &str) {
        let _ = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
    }
}

/// Columns and rows that can be used. A terminal that does not know its size has 80 columns and any number of rows.
fn terminal_size(out: &Stderr) -> (usize, usize) {
    let known = |size: u16, otherwise: usize| if size == 0 { otherwise } else { usize::from(size) };
    let (columns, rows) = rustix::termios::tcgetwinsize(out)
        .map_or((80, usize::MAX), |size| (known(size.ws_col, 80), known(size.ws_row, usize::MAX)));
    // The mark at a cut takes a column of its own.
    (columns.saturating_sub(1).max(20), rows)
}

/// Goes up over what was drawn, and draws over it. A longer list before leaves nothing behind.
fn redrawn(before: &[Line], after: &[Line], colour: Colour) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    if !before.is_empty() {
        let _ = write!(text, "\x1b[{}A", before.len());
    }
    for line in after {
        let _ = writeln!(text, "\r\x1b[2K{}", painted(line, colour));
    }
    if after.len() < before.len() {
        text.push_str("\x1b[J");
    }
    text
}

fn painted(line: &Line, colour: Colour) -> String {
    let paint = match (colour, line.tone) {
        (Colour::Off, _) | (_, Tone::Plain) => return line.text.clone(),
        (Colour::On, Tone::Quiet) => "2",
        (Colour::On, Tone::Care) => "33",
        (Colour::On, Tone::Good) => "32",
        (Colour::On, Tone::Bad) => "31",
    };
    format!("\x1b[{paint}m{}\x1b[0m", line.text)
}

/// The lines that are new.
fn changed(before: &[Line], after: &[Line]) -> String {
    let new = after.iter().filter(|line| !before.contains(line));
    new.flat_map(|line| [line.text.as_str(), "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, tone: Tone) -> Line {
        Line { text: text.to_owned(), tone }
    }

    #[test]
    fn a_picture_is_drawn_over_the_one_before() {
        let before = [line("> a  running", Tone::Plain), line("· b  waiting for a", Tone::Quiet)];
        let after = [line("✓ a  done", Tone::Good)];
        let text = redrawn(&before, &after, Colour::On);
        assert_eq!(text, "\x1b[2A\r\x1b[2K\x1b[32m✓ a  done\x1b[0m\n\x1b[J");
        assert_eq!(redrawn(&[], &after, Colour::Off), "\r\x1b[2K✓ a  done\n");
    }

    #[test]
    fn a_pipe_gets_only_what_has_changed_and_no_colour() {
        let before = [line("> a  running", Tone::Plain), line("· b  waiting for a", Tone::Quiet)];
        let after = [line("✓ a  done", Tone::Good), line("· b  waiting for a", Tone::Quiet)];
        assert_eq!(changed(&before, &after), "✓ a  done\n");
        assert_eq!(changed(&after, &after), "");
    }
}

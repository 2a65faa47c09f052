//! Where progress is shown: redrawn in place in a terminal, a line for each change in a pipe.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Stderr, Write};

use reknit_engine::Run;

use crate::progress::lines;

/// As wide as a line may be where no terminal says otherwise: nothing is cut in a log.
const UNLIMITED: usize = 1_000;

/// Shows a run on standard error. That nobody can see it does not stop the run.
#[derive(Debug)]
pub(crate) struct Screen {
    out: Stderr,
    kind: Kind,
    drawn: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Terminal,
    Pipe,
}

impl Screen {
    pub(crate) fn new() -> Self {
        let out = io::stderr();
        let kind = if out.is_terminal() { Kind::Terminal } else { Kind::Pipe };
        Self { out, kind, drawn: Vec::new() }
    }

    /// Shows how the run stands.
    pub(crate) fn show(&mut self, run: &Run) {
        let width = match self.kind {
            Kind::Terminal => terminal_width(&self.out).saturating_sub(1).max(20),
            Kind::Pipe => UNLIMITED,
        };
        let lines = lines(run, run.now_ms(), width);
        if lines == self.drawn {
            return;
        }
        let text = match self.kind {
            Kind::Terminal => redrawn(&self.drawn, &lines),
            Kind::Pipe => changed(&self.drawn, &lines),
        };
        let _ = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
        self.drawn = lines;
    }

    /// Nothing more is shown; what follows begins below.
    pub(crate) fn end(&mut self) {
        if !self.drawn.is_empty() {
            let _ = self.out.write_all(b"\n").and_then(|()| self.out.flush());
        }
        self.drawn.clear();
    }
}

fn terminal_width(out: &Stderr) -> usize {
    rustix::termios::tcgetwinsize(out).map_or(80, |size| usize::from(size.ws_col)).max(1)
}

/// Goes up over what was drawn, and draws over it. A longer list before leaves nothing behind.
fn redrawn(before: &[String], after: &[String]) -> String {
    let mut text = String::new();
    if !before.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(text, "\x1b[{}A", before.len());
    }
    for line in after {
        let _ = writeln!(text, "\r\x1b[2K{line}");
    }
    if after.len() < before.len() {
        text.push_str("\x1b[J");
    }
    text
}

/// The lines that are new.
fn changed(before: &[String], after: &[String]) -> String {
    after.iter().filter(|line| !before.contains(line)).flat_map(|line| [line.as_str(), "\n"]).collect()
}

//! Processes of our own, spoken to in lines.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::Result;

/// A process that reads lines and writes lines. It ends when this is dropped.
pub struct Lines {
    name: &'static str,
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Lines {
    pub fn start(name: &'static str, command: &mut Command) -> Result<Self> {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{name} does not start: {error}"))?;
        let (to, from) = (process.stdin.take(), process.stdout.take());
        Ok(Self { name, process, to: to.ok_or("no pipe")?, from: BufReader::new(from.ok_or("no pipe")?) })
    }

    pub fn say(&mut self, line: &str) -> Result<()> {
        Ok(writeln!(self.to, "{line}")?)
    }

    pub fn hear(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.from.read_line(&mut line)? == 0 {
            return Err(format!("{} has ended early", self.name).into());
        }
        Ok(line.trim_end().to_owned())
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        // It may be gone already; there is nothing to be done about either.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

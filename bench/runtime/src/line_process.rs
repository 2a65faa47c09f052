//! Child processes that exchange lines with the benchmark.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::Result;

/// A child process that reads and writes lines. Dropping it kills the process.
pub struct LineProcess {
    name: &'static str,
    process: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl LineProcess {
    pub fn start(name: &'static str, command: &mut Command) -> Result<Self> {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start {name}: {error}"))?;
        let stdin = process.stdin.take().ok_or("no pipe")?;
        let stdout = BufReader::new(process.stdout.take().ok_or("no pipe")?);
        Ok(Self { name, process, stdin, stdout })
    }

    pub fn write_line(&mut self, line: &str) -> Result<()> {
        Ok(writeln!(self.stdin, "{line}")?)
    }

    pub fn read_line(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.stdout.read_line(&mut line)? == 0 {
            return Err(format!("{} ended unexpectedly", self.name).into());
        }
        Ok(line.trim_end().to_owned())
    }
}

impl Drop for LineProcess {
    fn drop(&mut self) {
        // Both fail only if the process has already ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

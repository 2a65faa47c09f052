//! LangGraph, in a process that waits for commands.
//!
//! ```text
//! process -> bench    its version and those of its libraries
//! bench   -> process  skewed KEEP | chain KEEP STEPS
//! process -> bench    the seconds that the graph took
//! bench   -> process  waiting RUNS
//! process -> bench    the kilobytes per run while all runs wait for the tool
//! ```

use std::path::Path;
use std::process::Command;

use crate::Result;
use crate::line_process::LineProcess;

/// LangGraph from `PyPI`.
pub struct LangGraph {
    process: LineProcess,
    version: String,
}

impl LangGraph {
    pub fn start(private: &Path, url: &str, folder: &Path) -> Result<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/langgraph_peer.py");
        let mut command = Command::new(private.join("python-langgraph/bin/python"));
        let mut process = LineProcess::start("LangGraph", command.arg(script).arg(url).arg(folder))?;
        let version = process.read_line()?;
        Ok(Self { process, version })
    }

    pub fn version(&self) -> &str {
        &self.version
    }

    /// Sends a command, and returns the seconds or kilobytes that it answers with.
    pub fn run(&mut self, command: &str) -> Result<f64> {
        self.process.write_line(command)?;
        Ok(self.process.read_line()?.parse()?)
    }
}

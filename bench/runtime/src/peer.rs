//! The peer, a process that waits for its turn.
//!
//! ```text
//! peer  -> us    its version and those of what it runs on
//! us    -> peer  skewed KEEP | chain KEEP STEPS
//! peer  -> us    the seconds that took, measured around the graph only
//! us    -> peer  waiting RUNS
//! peer  -> us    the kilobytes that each of so many runs adds while all wait for the tool
//! ```

use std::path::Path;
use std::process::Command;

use crate::Result;
use crate::child::Lines;

/// LangGraph of `PyPI`.
pub struct LangGraph {
    process: Lines,
    version: String,
}

impl LangGraph {
    pub fn start(private: &Path, url: &str, folder: &Path) -> Result<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/langgraph_peer.py");
        let mut command = Command::new(private.join("python-langgraph/bin/python"));
        let mut process = Lines::start("LangGraph", command.arg(script).arg(url).arg(folder))?;
        let version = process.hear()?;
        Ok(Self { process, version })
    }

    pub fn version(&self) -> &str {
        &self.version
    }

    /// Runs a graph once and gives its seconds, or lets runs wait and gives the kilobytes of each.
    pub fn turn(&mut self, what: &str) -> Result<f64> {
        self.process.say(what)?;
        Ok(self.process.hear()?.parse()?)
    }
}

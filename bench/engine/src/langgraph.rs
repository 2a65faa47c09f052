//! LangGraph, in a process that waits for commands.
//!
//! ```text
//! process -> bench    its version and that of Python
//! bench   -> process  GRAPH STEPS SECONDS
//! process -> bench    the seconds of the fastest run; runs are repeated for SECONDS
//! bench   -> process  peak
//! process -> bench    its peak memory, in megabytes
//! ```

// Shared by the benchmarks that compare with another process.
#[path = "../../runtime/src/line_process.rs"]
mod line_process;

use std::fs;
use std::process::Command;
use std::time::Duration;

use crate::Result;
use crate::contest::Contestant;
use crate::graph::Graph;
use line_process::LineProcess;

/// LangGraph from `PyPI`.
pub struct LangGraph {
    process: LineProcess,
    version: String,
}

impl LangGraph {
    pub fn start(python: &str, script: &str) -> Result<Self> {
        let mut process = LineProcess::start("LangGraph", Command::new(python).arg(script))?;
        let version = process.read_line()?;
        Ok(Self { process, version })
    }

    pub fn version(&self) -> &str {
        &self.version
    }

    /// The peak memory of the process.
    pub fn peak_megabytes(&mut self) -> Result<f64> {
        self.process.write_line("peak")?;
        Ok(self.process.read_line()?.parse()?)
    }

    pub fn contestant(&mut self, graph: Graph, steps: u32) -> impl Contestant {
        Rounds { langgraph: self, command: format!("{} {steps}", graph.name()) }
    }
}

/// Repeated runs of one graph.
struct Rounds<'a> {
    langgraph: &'a mut LangGraph,
    command: String,
}

impl Contestant for Rounds<'_> {
    fn best_round(&mut self, at_least: Duration) -> Result<f64> {
        self.langgraph.process.write_line(&format!("{} {}", self.command, at_least.as_secs_f64()))?;
        Ok(self.langgraph.process.read_line()?.parse()?)
    }
}

/// The peak memory of this process.
pub fn our_peak_megabytes() -> Result<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("`/proc/self/status` has no peak")?;
    let kibibytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kibibytes * 1024.0 / 1e6)
}

//! The peer, a process that waits for its turn.
//!
//! ```text
//! peer  -> us    its version and that of what it runs on
//! us    -> peer  GRAPH STEPS SECONDS
//! peer  -> us    the seconds of the fastest run among those that fit in so many seconds
//! us    -> peer  peak
//! peer  -> us    the most memory that it has had at once, in megabytes
//! ```

// How to speak with a process in lines is the same wherever a peer is asked.
#[path = "../../runtime/src/child.rs"]
mod child;

use std::fs;
use std::process::Command;
use std::time::Duration;

use crate::Result;
use crate::contest::Contestant;
use crate::graph::Graph;
use child::Lines;

/// LangGraph of `PyPI`.
pub struct LangGraph {
    process: Lines,
    version: String,
}

impl LangGraph {
    pub fn start(python: &str, script: &str) -> Result<Self> {
        let mut process = Lines::start("LangGraph", Command::new(python).arg(script))?;
        let version = process.hear()?;
        Ok(Self { process, version })
    }

    pub fn version(&self) -> &str {
        &self.version
    }

    /// The most memory that it has had at once.
    pub fn peak_megabytes(&mut self) -> Result<f64> {
        self.process.say("peak")?;
        Ok(self.process.hear()?.parse()?)
    }

    pub fn contestant(&mut self, graph: Graph, steps: u32) -> impl Contestant {
        Turns { peer: self, what: format!("{} {steps}", graph.name()) }
    }
}

struct Turns<'p> {
    peer: &'p mut LangGraph,
    what: String,
}

impl Contestant for Turns<'_> {
    fn best_round(&mut self, at_least: Duration) -> Result<f64> {
        self.peer.process.say(&format!("{} {}", self.what, at_least.as_secs_f64()))?;
        Ok(self.peer.process.hear()?.parse()?)
    }
}

/// The most memory that this process has had at once.
pub fn our_peak_megabytes() -> Result<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("there is no peak")?;
    let kibibytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kibibytes * 1024.0 / 1e6)
}

//! What a process that drives a run and the one that started it write to each other, a line of JSON each.

use std::path::PathBuf;

use reknit_engine::{Effect, EventKind};
use serde::{Deserialize, Serialize};

/// How much faster time passes in such a process.
pub(super) const SPEED: u32 = 20;

/// The first line to the process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ChildStart {
    /// The text of the test.
    pub(super) test: String,
    /// The folder that paths in the test are relative to.
    pub(super) folder: PathBuf,
    /// The time at which the process starts.
    pub(super) now_ms: i64,
    /// Whether it takes over the run, instead of starting it.
    pub(super) takes_over: bool,
}

/// A line of the process.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ChildMessage {
    /// It calls a tool, or asks a model.
    Asks {
        /// The number that the answer has.
        number: u64,
        /// The call or the question.
        effect: Effect,
    },
    /// The run has ended, or waits for somebody.
    Ended {
        /// Why it could not be driven to its end.
        failure: Option<String>,
    },
}

/// A line to the process: the answer to what it asked.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ParentAnswer {
    /// The number of the question.
    pub(super) number: u64,
    /// The outcome.
    pub(super) outcome: EventKind,
}

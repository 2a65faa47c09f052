//! Jobs: what a tool works on after it has answered a call.

use serde::{Deserialize, Serialize};

/// The job that a tool has started for a call, or that it still works on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolJob {
    /// The tool tells the state of the job if it is asked.
    Ask {
        /// What the tool's route needs to ask: a status URL, the id of a task. Other code does not read it.
        handle: String,
    },
    /// The tool calls back when the job has ended.
    CallsBack,
    /// The tool does not know the job any more, so nobody can tell how it ends.
    Lost {
        /// Why, for people.
        reason: String,
    },
    /// The tool works on the job, but its state must not be asked for.
    NotFollowed {
        /// Why, for people.
        reason: String,
    },
}

/// A request about a job, instead of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobRequest {
    /// Ask for the state of the job with this handle.
    Ask(String),
    /// Ask the tool to stop working on the job with this handle.
    Cancel(String),
}

//! Which run a fork goes on from.

use reknit_protocol::RunId;
use serde::{Deserialize, Serialize};

/// Where a fork comes from: a run that starts with the answers of another one, and goes its own way from one point on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkOrigin {
    pub run: RunId,
    /// The step, or the turn of a session, from which on the fork goes its own way.
    pub at: String,
    /// What becomes of the fork's calls that do not only read.
    #[serde(default)]
    pub writes: ForkWrites,
}

/// What becomes of the calls of a fork that do not only read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForkWrites {
    /// They are not sent. A call that the other run has made as well gets the same answer; any other fails.
    #[default]
    Recorded,
    /// They are sent.
    Sent,
}

//! What a rotation keeps to.

use serde::{Deserialize, Serialize};

/// What a rotation keeps to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// How it moves.
    pub policy: Policy,
    /// The most attempts at one question, the first included.
    pub attempts: u32,
    /// What follows when a key or an account is refused.
    pub on_auth_error: OnAuthError,
    /// The shortest wait after a round of rate limits.
    pub min_wait_ms: u64,
    /// The longest one; it wins where the shortest is longer.
    pub max_wait_ms: u64,
}

impl Default for Rules {
    /// Three attempts, waits of 1 to 60 seconds, the end at a refused key.
    fn default() -> Self {
        Self {
            policy: Policy::Advance,
            attempts: 3,
            on_auth_error: OnAuthError::End,
            min_wait_ms: 1_000,
            max_wait_ms: 60_000,
        }
    }
}

/// How a rotation moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Every failed attempt moves on to the next target.
    Advance,
}

/// What follows when a target refuses its key, or its account has nothing left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnAuthError {
    /// Give up: somebody has to look at it.
    End,
    /// Drop the target and go on with the others, as long as there are any.
    Skip,
}

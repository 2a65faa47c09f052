//! What a rotation keeps to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::TargetName;

/// What a rotation keeps to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// How it moves.
    pub policy: Policy,
    /// The most attempts at one question, the first included.
    pub attempts: u32,
    /// What follows when a key or an account is refused.
    pub on_auth_error: OnAuthError,
    /// The shortest wait after a rate limit.
    pub min_wait_ms: u64,
    /// The longest wait; it wins where the shortest is longer.
    pub max_wait_ms: u64,
    /// The longest wait for which [`Policy::PreferPrimary`] stays with a target instead of asking the next one.
    pub short_wait_ms: u64,
    /// How many tokens targets can read, where that is known: a question that is too long for one goes on to a larger one.
    pub windows: BTreeMap<TargetName, u32>,
}

impl Rules {
    /// The rules of [`Policy::PreferPrimary`]: as the default, with six attempts, for each target may get a second one.
    pub fn prefer_primary() -> Self {
        Self { policy: Policy::PreferPrimary, attempts: 6, ..Self::default() }
    }
}

impl Default for Rules {
    /// [`Policy::Advance`], three attempts, waits of 1 to 60 seconds, the end at a refused key.
    fn default() -> Self {
        Self {
            policy: Policy::Advance,
            attempts: 3,
            on_auth_error: OnAuthError::End,
            min_wait_ms: 1_000,
            max_wait_ms: 60_000,
            short_wait_ms: 5_000,
            windows: BTreeMap::new(),
        }
    }
}

/// How a rotation moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Every failed attempt moves on to the next target.
    Advance,
    /// Each target gets a second attempt where that can help; the next one is asked only then.
    PreferPrimary,
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

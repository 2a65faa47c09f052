//! Limits and policy of a rotation, and its decisions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{ErrorClass, TargetName, is_default};

/// Limits and policy of a [`Rotation`](crate::Rotation).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RotationRules {
    pub policy: RotationPolicy,
    /// The most attempts at one request, the first included.
    pub max_attempts: u32,
    pub on_auth_error: OnAuthError,
    /// What later requests do with a target that refused one. Rules that were stored without it ask the target again.
    #[serde(default, skip_serializing_if = "is_default")]
    pub after_refusal: AfterRefusal,
    pub min_wait_ms: u64,
    /// The longest wait; it wins over `min_wait_ms`.
    pub max_wait_ms: u64,
    /// The longest wait for which [`RotationPolicy::PreferPrimary`] stays with a target instead of trying the next one.
    pub short_wait_ms: u64,
    /// The context windows of targets, in tokens, where they are known: a request that is too long for one target skips
    /// those with no larger window.
    pub context_windows: BTreeMap<TargetName, u32>,
}

impl RotationRules {
    /// The default rules with [`RotationPolicy::PreferPrimary`] and six attempts, because a target may get two in a row.
    pub fn prefer_primary() -> Self {
        Self { policy: RotationPolicy::PreferPrimary, max_attempts: 6, ..Self::default() }
    }
}

impl Default for RotationRules {
    /// [`RotationPolicy::Advance`], three attempts, waits of 1 to 60 seconds, giving up at a refused key, and skipping targets that refused a
    /// request.
    fn default() -> Self {
        Self {
            policy: RotationPolicy::Advance,
            max_attempts: 3,
            on_auth_error: OnAuthError::End,
            after_refusal: AfterRefusal::Skip,
            min_wait_ms: 1_000,
            max_wait_ms: 60_000,
            short_wait_ms: 5_000,
            context_windows: BTreeMap::new(),
        }
    }
}

/// The order in which a rotation tries its targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RotationPolicy {
    /// Every failed attempt moves on to the next target.
    Advance,
    /// A target gets a second attempt where that can help, before the next target is tried.
    PreferPrimary,
}

/// What follows when a target refuses its key or its quota is exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnAuthError {
    /// Give up, so that the user notices.
    End,
    /// Drop the target and go on with the others, as long as there are any.
    Skip,
}

/// What later requests do with a target that refused one: it does not exist, the request is invalid for it, or its content filter blocks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterRefusal {
    #[default]
    AskAgain,
    /// They skip it while another target is eligible.
    Skip,
}

/// What to do after a failed attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// Ask [`Rotation::target`](crate::Rotation::target) at once.
    Ask,
    Wait {
        ms: u64,
    },
    GiveUp(GiveUpReason),
}

/// Why a rotation makes no further attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum GiveUpReason {
    #[error("no answer after {attempts} attempt{}", if *attempts == 1 { "" } else { "s" })]
    AttemptsSpent { attempts: u32 },
    #[error("no further attempt after {0}")]
    Fatal(ErrorClass),
    #[error("the next attempt would begin after the deadline")]
    Deadline,
    #[error("the circuit breaker of every model is open")]
    BreakersOpen,
    #[error("there is no model to ask")]
    NoTargets,
}

//! Token usage.

use serde::{Deserialize, Serialize};

use crate::is_default;

/// Tokens that an attempt has used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the request, cached and cache-written ones included.
    pub input_tokens: u64,
    /// Tokens of the answer, reasoning included.
    pub output_tokens: u64,
    /// Tokens of the request that the provider read from its cache.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cached_tokens: u64,
    /// Tokens of the request that the provider wrote to its cache, where it charges for that.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cache_written_tokens: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    pub reasoning_tokens: u64,
    pub source: UsageSource,
}

/// Where token counts come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageSource {
    Reported,
    /// Estimated, because the provider did not report them or the response broke off before.
    Estimated,
}

impl Usage {
    pub const fn reported(input_tokens: u64, output_tokens: u64) -> Self {
        Self::of(input_tokens, output_tokens, UsageSource::Reported)
    }

    pub(crate) const fn of(input_tokens: u64, output_tokens: u64, source: UsageSource) -> Self {
        Self { input_tokens, output_tokens, cached_tokens: 0, cache_written_tokens: 0, reasoning_tokens: 0, source }
    }
}

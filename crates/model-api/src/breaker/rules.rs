//! Thresholds and durations of a circuit breaker.

use serde::{Deserialize, Serialize};

/// When a [`Breaker`](crate::Breaker) opens, and for how long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakerRules {
    /// Length of the sliding window in which calls are counted.
    pub window_ms: u64,
    /// The number of calls in the window from which their failure rate counts.
    pub min_calls: u32,
    /// The failure rate, in percent, that opens the breaker. A value above 100 turns this rule off.
    pub failure_percent: u32,
    /// How long the failure rate opens the breaker; also the longest open period.
    pub max_open_ms: u64,
    /// The number of failures in a row, without an answer between them, that opens the breaker; off if none.
    pub consecutive_failures: Option<u32>,
    /// How long failures in a row open the breaker. Each failed probe doubles it, up to `max_open_ms`.
    pub first_open_ms: u64,
    /// Cool-down after a rate limit without a `Retry-After`, multiplied by the number of rate limits in a row.
    pub cool_down_ms: u64,
    /// The longest cool-down, whatever the service asks for.
    pub max_cool_down_ms: u64,
}

impl BreakerRules {
    /// For a service with tools: open for 30 s when half of at least 10 calls within 60 s fail; cool-down for as long as the
    /// service asks, up to a minute.
    pub fn for_service() -> Self {
        Self {
            window_ms: 60_000,
            min_calls: 10,
            failure_percent: 50,
            max_open_ms: 30_000,
            consecutive_failures: None,
            first_open_ms: 5_000,
            cool_down_ms: 0,
            max_cool_down_ms: 60_000,
        }
    }

    /// For a model without a fallback, or one in a rotation that advances anyway: as a service, with a cool-down of at least
    /// a second after a rate limit.
    pub fn for_model() -> Self {
        Self { cool_down_ms: 1_000, ..Self::for_service() }
    }

    /// For a model that another can replace: as [`BreakerRules::for_model`], and two failures in a row open the breaker for 5 s,
    /// then for 10, 20 and 30 s.
    pub fn for_model_with_fallback() -> Self {
        Self { consecutive_failures: Some(2), ..Self::for_model() }
    }
}

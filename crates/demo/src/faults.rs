//! Simulated failures.

use std::sync::atomic::{AtomicU32, Ordering};

use reknit_protocol::tool::codes;
use reknit_protocol::{Category, Retryable, ToolError};

/// Failures that the tools simulate, counted from their start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Faults {
    /// How many calls to the weather tool are refused with 429 before it answers.
    pub weather_rate_limits: u32,
    /// How many seconds the client should wait after such a refusal (`retry_after`).
    pub weather_retry_after: u32,
    /// How many calls to the geocoding tool fail with 503 before it answers; `u32::MAX` means always.
    pub geocoding_down: u32,
    /// How many calls to the stock tool fail with 503 before it answers.
    pub stock_down: u32,
    /// How many calls to the currency tool fail with 503 before it answers.
    pub currency_down: u32,
}

impl Faults {
    pub fn none() -> Self {
        Self { weather_rate_limits: 0, weather_retry_after: 1, geocoding_down: 0, stock_down: 0, currency_down: 0 }
    }

    /// The faults of the demo: the weather tool is rate limited once, for one second.
    pub fn scenario() -> Self {
        Self { weather_rate_limits: 1, ..Self::none() }
    }
}

/// Counts down the calls that fail.
#[derive(Debug)]
pub(crate) struct FailureCountdown(AtomicU32);

impl FailureCountdown {
    pub(crate) fn new(failures: u32) -> Self {
        Self(AtomicU32::new(failures))
    }

    /// Whether the next call fails; counts it.
    pub(crate) fn next_fails(&self) -> bool {
        let decrement = |left: u32| left.checked_sub(1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, decrement).is_ok()
    }
}

/// The error of a tool whose data source does not answer. The call had no effect.
pub(crate) fn unavailable(source: &str) -> ToolError {
    ToolError::new(codes::SERVICE_UNAVAILABLE, format!("{source} cannot be reached"), Category::ServiceError)
        .retryable(Retryable::Yes)
}

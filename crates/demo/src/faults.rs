//! What can be made to fail.

use std::sync::atomic::{AtomicU32, Ordering};

use reknit_protocol::tool::codes;
use reknit_protocol::{Category, Retryable, ToolError};

/// What fails on purpose, from the start of the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Faults {
    /// How many calls to the weather tool are refused with 429 before it answers.
    pub weather_rate_limits: u32,
    /// How many seconds those refusals ask to wait.
    pub weather_retry_after: u32,
    /// How many calls to the geocoding tool fail with 503 before it answers; `u32::MAX` is as good as for ever.
    pub geocoding_down: u32,
    /// How many calls to the stock tool fail with 503 before it answers.
    pub stock_down: u32,
    /// How many calls to the currency tool fail with 503 before it answers.
    pub currency_down: u32,
}

impl Faults {
    /// Nothing fails.
    pub fn none() -> Self {
        Self { weather_rate_limits: 0, weather_retry_after: 1, geocoding_down: 0, stock_down: 0, currency_down: 0 }
    }

    /// What the story needs: the weather tool asks for one second of patience, once.
    pub fn story() -> Self {
        Self { weather_rate_limits: 1, ..Self::none() }
    }
}

impl Default for Faults {
    /// Nothing fails.
    fn default() -> Self {
        Self::none()
    }
}

/// Something that fails a given number of times.
#[derive(Debug)]
pub(crate) struct Countdown(AtomicU32);

impl Countdown {
    pub(crate) fn new(times: u32) -> Self {
        Self(AtomicU32::new(times))
    }

    /// Whether it fails this time.
    pub(crate) fn fails(&self) -> bool {
        let count = |left: u32| left.checked_sub(1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count).is_ok()
    }
}

/// The service behind a tool does not answer; nothing was done.
pub(crate) fn unavailable(what: &str) -> ToolError {
    ToolError::new(codes::SERVICE_UNAVAILABLE, format!("{what} cannot be reached"), Category::ServiceError)
        .retryable(Retryable::Yes)
}

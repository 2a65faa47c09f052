//! Whether a tool or a model can be called now.

use maud::{Markup, html};
use reknit_model_api::BreakerStatus;

use crate::frame::PageFrame;
use crate::marks::{Mark, badge};
use crate::words::{between, count};

/// Whether a tool or a model can be called now, as the process that serves the page knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedHealth {
    /// What its circuit breaker does.
    pub breaker: BreakerStatus,
    /// How many calls are in progress.
    pub calls: usize,
    /// How many calls may be in progress at the same time.
    pub max_calls: usize,
}

impl ListedHealth {
    /// Whether a call is not sent now.
    pub(crate) fn is_closed_to_calls(&self) -> bool {
        matches!(self.breaker, BreakerStatus::Open { .. } | BreakerStatus::CoolingDown { .. })
    }

    fn mark(&self) -> Mark {
        let (class, shape, word) = match self.breaker {
            BreakerStatus::Closed { failures: 0 } => ("done", "●", "ready"),
            BreakerStatus::Closed { .. } => ("retrying", "●", "failing"),
            BreakerStatus::Open { .. } => ("failed", "✕", "breaker open"),
            BreakerStatus::CoolingDown { .. } => ("retrying", "↻", "rate limited"),
            BreakerStatus::HalfOpen => ("running", "◐", "next call probes it"),
        };
        Mark { class, shape, word }
    }
}

pub(crate) const UNREACHABLE: Mark = Mark { class: "failed", shape: "✕", word: "not reachable" };

/// The state in a word, and what it means for the next call.
pub(crate) fn health(frame: &PageFrame<'_>, health: &ListedHealth) -> Markup {
    let wait = |until_ms: u64| between(frame.now_ms, i64::try_from(until_ms).unwrap_or(i64::MAX));
    let words = match health.breaker {
        BreakerStatus::Closed { failures: 0 } | BreakerStatus::HalfOpen => String::new(),
        BreakerStatus::Closed { failures } => format!("{} since the last answer", count(failures, "failure")),
        BreakerStatus::Open { until_ms } => format!("too many calls failed; called again in {}", wait(until_ms)),
        BreakerStatus::CoolingDown { until_ms } => format!("called again in {}", wait(until_ms)),
    };
    let calls = match health.calls {
        0 => String::new(),
        calls => format!("{calls} of {} calls in progress", health.max_calls),
    };
    html! {
        (badge(health.mark()))
        @for words in [words, calls] { @if !words.is_empty() { div.muted.small { (words) } } }
    }
}

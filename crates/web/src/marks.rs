//! How states look: a colour, a shape and a word, so that no reader needs the colour; and whether a tool or a model can be called now.

use std::collections::BTreeSet;

use maud::{Markup, html};
use reknit_engine::{StepState, StepView};
use reknit_mend::Rung;
use reknit_model_api::BreakerStatus;

use crate::frame::PageFrame;
use crate::words::{between, count};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The class of the style sheet, which has the colour.
    pub(crate) class: &'static str,
    pub(crate) shape: &'static str,
    pub(crate) word: &'static str,
}

pub(crate) const fn mark(class: &'static str, shape: &'static str, word: &'static str) -> Mark {
    Mark { class, shape, word }
}

pub(crate) const NEEDS_YOU: Mark = mark("ask", "?", "needs you");

pub(crate) fn run_mark(status: &str) -> Mark {
    match status {
        "running" => mark("running", "◐", "running"),
        "waiting" => NEEDS_YOU,
        "stopped" => mark("retrying", "■", "stopped"),
        "parked" => mark("retrying", "■", "parked"),
        "complete" => mark("done", "●", "complete"),
        "partial" => mark("retrying", "◑", "partial"),
        "failed" => mark("failed", "✕", "failed"),
        "impossible" => mark("failed", "✕", "impossible"),
        "budget_exhausted" => mark("failed", "✕", "limit reached"),
        "cancelled" => mark("waiting", "–", "cancelled"),
        _ => mark("waiting", "○", "other"),
    }
}

pub(crate) fn step_mark(step: &StepView) -> Mark {
    match &step.state {
        StepState::Waiting => mark("waiting", "○", "waiting"),
        StepState::Queued => mark("waiting", "○", "queued"),
        StepState::Running => mark("running", "◐", "running"),
        StepState::Looping { .. } => mark("running", "◐", "looping"),
        StepState::Polling { .. } => mark("running", "◐", "polling"),
        StepState::Checking => mark("running", "◐", "checking"),
        StepState::Verifying => mark("running", "◐", "verifying"),
        StepState::AwaitingJob { .. } => mark("running", "◐", "awaiting job"),
        StepState::BackingOff { .. } => mark("retrying", "↻", "retrying"),
        StepState::BreakerOpen { .. } => mark("retrying", "↻", "breaker open"),
        StepState::KeyHeld { .. } => mark("retrying", "↻", "key held"),
        StepState::Mending(_) => mark("retrying", "↻", "mending"),
        StepState::AwaitingApproval(_) => NEEDS_YOU,
        StepState::Done if !mended_by(step).is_empty() => mark("mended", "●", "mended"),
        StepState::Done => mark("done", "●", "done"),
        StepState::Failed { .. } => mark("failed", "✕", "failed"),
        StepState::Unconfirmed { .. } => mark("failed", "✕", "unconfirmed"),
        StepState::Skipped { .. } => mark("waiting", "–", "skipped"),
    }
}

/// The rungs that mended the step, each once, from cheap to expensive.
pub(crate) fn mended_by(step: &StepView) -> BTreeSet<Rung> {
    step.mended().map(|mend| mend.rung).collect()
}

/// The class of a rung by its name: code, a model, or a person.
pub(crate) fn rung_class(rung: &str) -> &'static str {
    match rung {
        "resolution" | "feedback" | "context" => "rung-model",
        "settlement" => "rung-person",
        _ => "rung-code",
    }
}

/// How a rung mends, for a reader who sees its name the first time.
pub(crate) fn rung_words(rung: &str) -> &'static str {
    match rung {
        "schema" => "code made the values fit their schema",
        "facts" => "code did what the error asks for",
        "resolution" => "a model said where the value is",
        "resend" => "the same call was sent again",
        "feedback" => "a model was shown the error",
        "context" => "a model was shown all that is known",
        "settlement" => "a check or a person said whether the call took effect",
        _ => "",
    }
}

pub(crate) fn badge(mark: Mark) -> Markup {
    html! { span class={"badge " (mark.class)} { span.shape aria-hidden="true" { (mark.shape) } " " (mark.word) } }
}

pub(crate) fn rung_chip(rung: &str) -> Markup {
    html! { span class={"rung " (rung_class(rung))} title=(rung_words(rung)) { (rung) } }
}

/// Whether a tool or a model can be called now, as the process that serves the page knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedHealth {
    pub breaker: BreakerStatus,
    pub calls: usize,
    pub max_calls: usize,
}

impl ListedHealth {
    /// Whether a call is not sent now.
    pub(crate) fn is_closed_to_calls(&self) -> bool {
        matches!(self.breaker, BreakerStatus::Open { .. } | BreakerStatus::CoolingDown { .. })
    }

    fn mark(&self) -> Mark {
        match self.breaker {
            BreakerStatus::Closed { failures: 0 } => mark("done", "●", "ready"),
            BreakerStatus::Closed { .. } => mark("retrying", "●", "failing"),
            BreakerStatus::Open { .. } => mark("failed", "✕", "breaker open"),
            BreakerStatus::CoolingDown { .. } => mark("retrying", "↻", "rate limited"),
            BreakerStatus::HalfOpen => mark("running", "◐", "next call probes it"),
        }
    }
}

pub(crate) const UNREACHABLE: Mark = mark("failed", "✕", "not reachable");

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

//! A run as lines of text, one for each step. Pure: where and when they are drawn is not decided here.

use reknit_engine::{MendEffect, Progress, Run, StepState, StepView};
use reknit_protocol::StepId;
use unicode_width::UnicodeWidthStr;

use crate::show::one_line;

/// What a run looks like now: its steps, or what is being done about having some.
pub(crate) fn lines(run: &Run, now_ms: i64, width: usize) -> Vec<String> {
    let steps = run.steps();
    match run.progress() {
        Progress::Planning { attempt: 1 } => vec!["planning: asking a model".to_owned()],
        Progress::Planning { attempt } => vec![format!("planning: asking a model again (try {attempt})")],
        Progress::Running | Progress::Ended => step_lines(&steps, now_ms, width),
        Progress::Answering => {
            let mut lines = step_lines(&steps, now_ms, width);
            lines.push("answering: asking a model".to_owned());
            lines
        }
    }
}

fn step_lines(steps: &[StepView], now_ms: i64, width: usize) -> Vec<String> {
    let longest = |texts: Vec<&str>| texts.iter().map(|text| text.width()).max().unwrap_or(0);
    let ids = longest(steps.iter().map(|step| step.id.as_str()).collect());
    let names = longest(steps.iter().map(|step| step.capability.as_str()).collect());
    steps
        .iter()
        .map(|step| {
            let line = format!(
                "{} {}  {}  {}",
                mark(&step.state),
                padded(step.id.as_str(), ids),
                padded(step.capability.as_str(), names),
                words(step, now_ms)
            );
            one_line(&line, width)
        })
        .collect()
}

fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// One letter that says it without colour.
fn mark(state: &StepState) -> char {
    match state {
        StepState::Waiting | StepState::Queued => '·',
        StepState::Running => '>',
        StepState::Resting { .. } => '~',
        StepState::Mending(_) => '+',
        StepState::Asking(_) => '?',
        StepState::Done => '✓',
        StepState::Failed { .. } => '✗',
        StepState::Skipped { .. } => '-',
    }
}

fn words(step: &StepView, now_ms: i64) -> String {
    match &step.state {
        StepState::Waiting => {
            let needs: Vec<&str> = step.needs.iter().map(StepId::as_str).collect();
            format!("waiting for {}", needs.join(", "))
        }
        StepState::Queued => "waiting for a free place".to_owned(),
        StepState::Running if step.calls > 1 => format!("running, call {}{}", step.calls, mended(step)),
        StepState::Running => "running".to_owned(),
        StepState::Resting { until_ms } => {
            let left = until_ms.saturating_sub(now_ms).max(0).unsigned_abs().div_ceil(1_000);
            format!("sent again in {left} s")
        }
        StepState::Mending(rung) => format!("being mended: asking a model ({})", rung.as_str()),
        StepState::Asking(_) => "waiting for a person".to_owned(),
        StepState::Done => format!("done{}", mended(step)),
        StepState::Failed { reason } => format!("failed: {reason}"),
        StepState::Skipped { reason } => format!("skipped: {reason}"),
    }
}

/// `, mended by schema, context`.
fn mended(step: &StepView) -> String {
    let mut rungs: Vec<&str> = Vec::new();
    for mend in step.mends.iter().filter(|mend| mend.effect == MendEffect::Applied) {
        if !rungs.contains(&mend.rung.as_str()) {
            rungs.push(mend.rung.as_str());
        }
    }
    if rungs.is_empty() { String::new() } else { format!(", mended by {}", rungs.join(", ")) }
}

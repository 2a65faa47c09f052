//! A session in plain words.

use std::collections::BTreeMap;

use super::{ExplainedLine, ExplainedStep, Explanation, cost_lines, rung_words};
use crate::overview::SessionOverview;
use crate::record::{Attempt, ModelWaitReason, SessionRecord, TurnOutcome, WaitSource};
use crate::report::{MendedCall, Report, ReportSource, ReportStatus};

pub(super) fn explain(session: &SessionOverview, status: &str) -> Explanation {
    let report = session.report.as_ref();
    Explanation {
        run: session.run.clone(),
        asked: session.input.clone(),
        outcome: report.map_or_else(|| format!("The session has not ended ({status})."), outcome),
        planning: Vec::new(),
        steps: turns(session),
        conversation: session.conversation.clone(),
        failed: failed(session),
        mended: session.mended.iter().map(mended).collect(),
        tried: MendedCall::lines_in_vain(&session.tried),
        missing: report.map(missing).unwrap_or_default(),
        decided: report.map(decided).unwrap_or_default(),
        cost: cost_lines(&session.spent),
        graph: reknit_plan::StepGraph::default(),
    }
}

fn outcome(report: &Report) -> String {
    let words = match report.status {
        _ if !report.is_answer() => "No model wrote a report",
        ReportStatus::Success => "The agent reports success",
        ReportStatus::Partial => "The agent reports that a part was done",
        ReportStatus::Failure => "The agent reports that it failed",
    };
    format!("{words} after {} turns ({}).", report.turn, report.exit)
}

fn turns(session: &SessionOverview) -> Vec<ExplainedStep> {
    let mut turns: BTreeMap<u32, ExplainedStep> = BTreeMap::new();
    for record in &session.records {
        let (turn, line, outcome) = match record {
            SessionRecord::Attempt(attempt) => (attempt.turn, Some(attempt_line(attempt)), None),
            SessionRecord::TurnEnded { turn, outcome, .. } => (*turn, None, Some(outcome_words(*outcome))),
            SessionRecord::ChildEnded(child) => {
                let text = format!("{} ({}) ended: {}.", child.name, child.call, child.status);
                (child.turn, Some(ExplainedLine { at_ms: None, took_ms: None, text }), None)
            }
            SessionRecord::WaitEnded { turn, ms, reason, source, .. } => {
                let text = format!("Waited before the next attempt{}.", wait_words(*reason, source.as_ref()));
                (*turn, Some(ExplainedLine { at_ms: None, took_ms: Some(*ms), text }), None)
            }
            _ => continue,
        };
        let step = turns.entry(turn).or_insert_with(|| ExplainedStep {
            step: format!("turn {turn}"),
            does: String::new(),
            outcome: "not ended".to_owned(),
            lines: Vec::new(),
        });
        step.lines.extend(line);
        if let Some(outcome) = outcome {
            outcome.clone_into(&mut step.outcome);
        }
    }
    turns.into_values().collect()
}

/// Why a session waited and what stated the length, after a colon; empty if that was not recorded.
fn wait_words(reason: Option<ModelWaitReason>, source: Option<&WaitSource>) -> String {
    let reason = reason.map(|reason| match reason {
        ModelWaitReason::RateLimit => "every model was rate limited",
        ModelWaitReason::BreakerOpen => "the circuit breaker of every model was open",
        ModelWaitReason::Failure => "the model had failed",
    });
    let source = source.map(|source| match source {
        WaitSource::Header(name) => format!(" (as long as the header `{name}` asked)"),
        WaitSource::Body(field) => format!(" (as long as `{field}` in the response asked)"),
        WaitSource::Backoff => " (a second for each attempt)".to_owned(),
        WaitSource::CoolDown => " (until the end of the cool-down)".to_owned(),
    });
    reason.map_or_else(String::new, |reason| format!(": {reason}{}", source.unwrap_or_default()))
}

fn outcome_words(outcome: TurnOutcome) -> &'static str {
    match outcome {
        TurnOutcome::ToolCalls => "the model called tools",
        TurnOutcome::FinalReport => "the model wrote the report",
        TurnOutcome::Failed => "no usable answer",
        TurnOutcome::Stopped => "stopped",
    }
}

fn attempt_line(attempt: &Attempt) -> ExplainedLine {
    let tokens = attempt.usage.map_or_else(String::new, |usage| {
        format!(": {} tokens sent, {} received", usage.input_tokens, usage.output_tokens)
    });
    let cost = attempt.cost.map_or_else(String::new, |cost| format!(", for {cost}"));
    let text = match &attempt.error {
        Some(error) => format!("Model {} was asked, and gave no usable answer: {error}", attempt.target),
        None => format!("Model {} was asked{tokens}{cost}.", attempt.target),
    };
    ExplainedLine { at_ms: None, took_ms: Some(attempt.latency_ms), text }
}

/// The calls that failed, and the questions that were not answered.
fn failed(session: &SessionOverview) -> Vec<String> {
    let calls =
        session.conversation.iter().filter_map(|line| line.strip_prefix("failed ")).map(str::trim).map(str::to_owned);
    let attempts = session.records.iter().filter_map(|record| match record {
        SessionRecord::Attempt(attempt) => {
            attempt.error.as_ref().map(|error| format!("Model {} in turn {}: {error}", attempt.target, attempt.turn))
        }
        _ => None,
    });
    calls.chain(attempts).collect()
}

fn mended(mended: &MendedCall) -> String {
    let MendedCall { turn, call, tool, rung, change } = mended;
    format!("{call} ({tool}) in turn {turn} by {} ({}): {change}", rung.as_str(), rung_words(*rung))
}

fn missing(report: &Report) -> Vec<String> {
    let doubts = report.shortcomings.doubts.iter().map(|doubt| format!("A confirmation: {doubt}"));
    report.shortcomings.not_done.iter().chain(&report.shortcomings.in_doubt).cloned().chain(doubts).collect()
}

fn decided(report: &Report) -> Vec<String> {
    let author = match report.source {
        ReportSource::ToolCall => "The report: a model wrote it.",
        ReportSource::TextFallback => "The report: the text of a model, which did not call the report tool.",
        ReportSource::ToolMessage => "The report: taken from a call of the report tool that was not valid.",
        ReportSource::Synthetic => "The report: code wrote it.",
    };
    report.approved.iter().cloned().chain([author.to_owned()]).collect()
}

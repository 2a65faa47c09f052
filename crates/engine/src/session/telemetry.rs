//! What logs and metrics say about a session, by the names of the one table.
//!
//! What a provider or a tool said in its own words goes into logs alone.

use super::record::{AnswerKind, Attempt, AttemptStatus, ContextAction, Dropped, ForcedReason, Record, WaitEnd};
use super::report::{ReportSource, SyntheticReason};
use crate::telemetry::table::session as table;
use crate::telemetry::{LogLine, Metric};

impl Record {
    /// What the log says about it.
    pub fn log_lines(&self) -> Vec<LogLine> {
        match self {
            Self::Attempt(attempt) => attempt_lines(attempt),
            Self::Waited { ms, end, .. } => {
                let end = match end {
                    WaitEnd::Completed => "",
                    WaitEnd::AbortedStop => " (aborted_stop)",
                    WaitEnd::AbortedCancel => " (aborted_cancel)",
                };
                vec![table::WAITED.line(&format!("{ms} ms{end}"), [])]
            }
            Self::Rested { target, .. } => vec![table::RESTED.line(&format!("{target}; the next target is asked"), [])],
            Self::CallDropped { tool, why, .. } => vec![match why {
                Dropped::Malformed => table::CALL_MALFORMED.line(&format!(": {tool}"), []),
                Dropped::Unknown => table::CALL_DROPPED.line(&format!("there is no such tool: {tool}"), []),
                Dropped::NotPermitted => {
                    table::CALL_DROPPED.line(&format!("it may not be called in the final turn: {tool}"), [])
                }
            }],
            Self::ReportKept { source, .. } => {
                vec![table::REPORT_KEPT.line(&format!(" (source={})", source.as_str()), [])]
            }
            Self::FinalTurn { turn, reason } => {
                let rest = format!(" to `agent__final_report` in turn {turn} (reason={})", reason.as_str());
                let entry = match reason {
                    ForcedReason::Context => &table::CONTEXT_GUARD,
                    _ => &table::FINAL_TURN,
                };
                vec![entry.line(&rest, [])]
            }
            Self::Collapsed { turn, reason, previous_max_turns, new_max_turns } => {
                let reason = reason.as_str();
                let rest = format!("{previous_max_turns} -> {new_max_turns} in turn {turn} (reason={reason})");
                vec![table::COLLAPSED.line(&rest, [])]
            }
            Self::ContextGuard { turn, action } => {
                let words = match action {
                    ContextAction::Skipped(target) => format!("too long for {target}; another is asked"),
                    ContextAction::Compacted { results } => format!("older results are stored ({results})"),
                    ContextAction::Trimmed { turns } => format!("the oldest turns are left out ({turns})"),
                };
                vec![table::CONTEXT_ROOM.line(&format!("{words} in turn {turn}"), [])]
            }
            Self::ResultStored { turn, tool, bytes } => {
                vec![table::RESULT_STORED.line(&format!("{tool} in turn {turn}, {bytes} bytes"), [])]
            }
            Self::Child(child) => {
                let rest = format!("{} of turn {}: {} ended: {}", child.call, child.turn, child.name, child.status);
                vec![table::CHILD_ENDED.line(&rest, [])]
            }
            Self::TurnEnded { turn, attempts, outcome, ms } => {
                let rest = format!("{turn} ended: {}, {attempts} attempts, {ms} ms", outcome.as_str());
                vec![table::TURN_ENDED.line(&rest, [])]
            }
            Self::Reported { turn, source, synthetic_reason, .. } => {
                let reason = synthetic_reason.map_or("unknown", SyntheticReason::as_str);
                report_lines(*turn, *source, reason)
            }
        }
    }

    /// What is counted and measured about it.
    pub fn metrics(&self) -> Vec<Metric> {
        match self {
            Self::Attempt(attempt) => {
                let status = || [attempt.status.as_str().into()];
                vec![
                    table::LLM_REQUESTS.amount(1, status()),
                    // Each attempt behind the first is one retry, however many came before it.
                    table::LLM_RETRIES.amount(u64::from(attempt.attempt > 1), []),
                    table::LLM_LATENCY.amount(attempt.latency_ms, status()),
                ]
            }
            Self::Waited { ms, .. } => vec![table::LLM_BACKOFF.amount(*ms, [])],
            Self::CallDropped { why, .. } => {
                let reason = match why {
                    Dropped::Malformed => "malformed",
                    Dropped::Unknown => "unknown",
                    Dropped::NotPermitted => "not_permitted",
                };
                vec![table::CALLS_DROPPED.amount(1, [reason.into()])]
            }
            Self::Collapsed { reason, .. } => vec![table::COLLAPSES.amount(1, [reason.as_str().into()])],
            Self::ContextGuard { action, .. } => vec![table::CONTEXT_EVENTS.amount(1, [action.as_str().into()])],
            Self::ResultStored { .. } => vec![table::CONTEXT_EVENTS.amount(1, ["stored".into()])],
            Self::Child(child) => {
                let status = if child.done { "success" } else { "failure" };
                vec![table::CHILDREN.amount(1, [status.into()])]
            }
            Self::TurnEnded { attempts, outcome, ms, .. } => vec![
                table::TURN_ATTEMPTS.amount(u64::from(*attempts), [outcome.as_str().into()]),
                table::TURN_MS.amount(*ms, [outcome.as_str().into()]),
            ],
            Self::Reported { turn, source, status, forced_final_reason, synthetic_reason, final_report_attempts } => {
                let none = "none";
                let labels = || {
                    [
                        source.as_str().into(),
                        status.as_str().into(),
                        forced_final_reason.map_or(none, ForcedReason::as_str).into(),
                        synthetic_reason.map_or(none, SyntheticReason::as_str).into(),
                    ]
                };
                vec![
                    table::REPORTS.amount(1, labels()),
                    table::REPORT_ATTEMPTS.amount(u64::from(*final_report_attempts), []),
                    table::REPORT_TURNS.amount(u64::from(*turn), labels()),
                ]
            }
            Self::Rested { .. } | Self::ReportKept { .. } | Self::FinalTurn { .. } => Vec::new(),
        }
    }
}

fn attempt_lines(attempt: &Attempt) -> Vec<LogLine> {
    let tokens = attempt
        .usage
        .map_or_else(String::new, |usage| format!(", tokens in={} out={}", usage.input_tokens, usage.output_tokens));
    let cost = attempt.cost.map_or_else(String::new, |cost| format!(", cost={cost}"));
    let (turn, number, target, status) = (attempt.turn, attempt.attempt, &attempt.target, attempt.status.as_str());
    let rest = format!(" {turn}.{number} on {target}: {status}, {} ms{tokens}{cost}", attempt.latency_ms);
    let error = attempt.error.as_deref().unwrap_or_default();
    let follows = match attempt.status {
        AttemptStatus::Answered(AnswerKind::ToolCalls | AnswerKind::FinalReport) | AttemptStatus::Abandoned => None,
        AttemptStatus::Answered(AnswerKind::TextOnly) => Some(table::TEXT_ONLY.line("", [])),
        AttemptStatus::Answered(kind) => Some(table::SYNTHETIC_RETRY.line(&format!("{}: {error}", kind.as_str()), [])),
        AttemptStatus::Failed(class) if class.fatal() => Some(table::PROVIDER_FATAL.line(error, [])),
        AttemptStatus::Failed(_) => Some(table::PROVIDER_FAILED.line(error, [])),
    };
    [table::ATTEMPT.line(&rest, [])].into_iter().chain(follows).collect()
}

fn report_lines(turn: u32, source: ReportSource, reason: &str) -> Vec<LogLine> {
    let word = source.as_str();
    let before = match source {
        ReportSource::ToolCall => None,
        ReportSource::TextFallback | ReportSource::ToolMessage => {
            Some(table::REPORT_FALLBACK.line(&format!(" (source={word})"), []))
        }
        ReportSource::Synthetic => Some(table::REPORT_FAILURE.line(&format!(" (reason={reason})"), [])),
    };
    let accepted = table::REPORT_ACCEPTED.line(&format!(" in turn {turn} (source={word})"), []);
    before.into_iter().chain([accepted]).collect()
}

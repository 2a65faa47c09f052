//! What logs and metrics say about a session. One table: whoever emits them only passes them on.
//!
//! Every label has a closed set of values, so that no number of sessions makes more series than are listed here. What a
//! provider or a tool said in its own words goes into logs alone.

use serde::Serialize;

use super::record::{AnswerKind, Attempt, AttemptStatus, Dropped, ForcedReason, Record, WaitEnd};
use super::report::{ReportSource, SyntheticReason};

/// A line for the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LogLine {
    /// How bad it is.
    pub severity: Severity,
    /// Who says it: `agent:retry`.
    pub source: &'static str,
    /// What is said.
    pub message: String,
}

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum Severity {
    /// All is well.
    #[serde(rename = "VRB")]
    Verbose,
    /// Something was wrong and is being dealt with.
    #[serde(rename = "WRN")]
    Warning,
    /// Something went wrong for good.
    #[serde(rename = "ERR")]
    Error,
    /// It is over.
    #[serde(rename = "FIN")]
    Final,
}

impl Severity {
    /// Three letters.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Verbose => "VRB",
            Self::Warning => "WRN",
            Self::Error => "ERR",
            Self::Final => "FIN",
        }
    }
}

/// A number to count or to measure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// How it adds up.
    pub kind: MetricKind,
    /// Its labels, each from a closed set.
    pub labels: Vec<(&'static str, &'static str)>,
    /// By how much, or how much.
    pub value: u64,
}

/// How a number adds up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MetricKind {
    /// It only grows.
    Counter,
    /// How often which amount was seen.
    Histogram,
}

const RETRY: &str = "agent:retry";
const ORCHESTRATOR: &str = "agent:orchestrator";
const FALLBACK: &str = "agent:fallback-report";
const FAILURE: &str = "agent:failure-report";
const ACCEPTED: &str = "agent:final-report-accepted";

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
                vec![line(Severity::Warning, RETRY, format!("All providers rate-limited: waited {ms} ms{end}"))]
            }
            Self::Rested { target, .. } => {
                vec![line(Severity::Warning, RETRY, format!("{target} is resting: the next target is asked"))]
            }
            Self::CallDropped { tool, why, .. } => {
                let words = match why {
                    Dropped::Malformed => "Invalid tool call dropped due to malformed payload",
                    Dropped::Unknown => "Invalid tool call dropped: there is no such tool",
                    Dropped::NotPermitted => "Invalid tool call dropped: it may not be called in the final turn",
                };
                vec![line(Severity::Warning, RETRY, format!("{words}: {tool}"))]
            }
            Self::ReportKept { source, .. } => {
                let words =
                    format!("A final report was found and is kept for the final turn (source={})", source.as_str());
                vec![line(Severity::Verbose, FALLBACK, words)]
            }
            Self::FinalTurn { turn, reason } => {
                let words = match reason {
                    ForcedReason::Context => "Context guard enforced: restricting tools",
                    _ => "Final turn detected: restricting tools",
                };
                let words = format!("{words} to `agent__final_report` in turn {turn} (reason={})", reason.as_str());
                vec![line(Severity::Warning, ORCHESTRATOR, words)]
            }
            Self::Collapsed { turn, reason, previous_max_turns, new_max_turns } => {
                let reason = reason.as_str();
                let words =
                    format!("maxTurns {previous_max_turns} -> {new_max_turns} in turn {turn} (reason={reason})");
                vec![line(Severity::Warning, ORCHESTRATOR, words)]
            }
            Self::TurnEnded { turn, attempts, outcome, ms } => {
                let words = format!("Turn {turn} ended: {}, {attempts} attempts, {ms} ms", outcome.as_str());
                vec![line(Severity::Verbose, ORCHESTRATOR, words)]
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
                let labels = vec![("status", attempt.status.as_str())];
                vec![
                    counter("ai_agent_llm_requests_total", labels.clone(), 1),
                    // Each attempt behind the first is one retry, however many came before it.
                    counter("ai_agent_llm_retries_total", Vec::new(), u64::from(attempt.attempt > 1)),
                    histogram("ai_agent_llm_latency_ms", labels, attempt.latency_ms),
                ]
            }
            Self::Waited { ms, .. } => vec![histogram("ai_agent_llm_backoff_ms", Vec::new(), *ms)],
            Self::CallDropped { why, .. } => {
                let reason = match why {
                    Dropped::Malformed => "malformed",
                    Dropped::Unknown => "unknown",
                    Dropped::NotPermitted => "not_permitted",
                };
                vec![counter("ai_agent_tool_calls_dropped_total", vec![("reason", reason)], 1)]
            }
            Self::Collapsed { reason, .. } => {
                vec![counter("ai_agent_retry_collapse_total", vec![("reason", reason.as_str())], 1)]
            }
            Self::TurnEnded { attempts, outcome, ms, .. } => vec![
                histogram("ai_agent_turn_attempts", vec![("status", outcome.as_str())], u64::from(*attempts)),
                histogram("ai_agent_turn_ms", vec![("status", outcome.as_str())], *ms),
            ],
            Self::Reported { turn, source, status, forced_final_reason, synthetic_reason, final_report_attempts } => {
                let none = "none";
                let labels = vec![
                    ("source", source.as_str()),
                    ("status", status.as_str()),
                    ("forced_final_reason", forced_final_reason.map_or(none, ForcedReason::as_str)),
                    ("synthetic_reason", synthetic_reason.map_or(none, SyntheticReason::as_str)),
                ];
                vec![
                    counter("ai_agent_final_report_total", labels.clone(), 1),
                    counter("ai_agent_final_report_attempts_total", Vec::new(), u64::from(*final_report_attempts)),
                    histogram("ai_agent_final_report_turns", labels, u64::from(*turn)),
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
    let words = format!("Attempt {turn}.{number} on {target}: {status}, {} ms{tokens}{cost}", attempt.latency_ms);
    let mut lines = vec![line(Severity::Verbose, ORCHESTRATOR, words)];
    let error = attempt.error.as_deref().unwrap_or_default();
    match attempt.status {
        AttemptStatus::Answered(AnswerKind::ToolCalls | AnswerKind::FinalReport) | AttemptStatus::Abandoned => {}
        AttemptStatus::Answered(AnswerKind::TextOnly) => {
            let words = "Synthetic retry: assistant returned content without tool calls".to_owned();
            lines.push(line(Severity::Warning, RETRY, words));
        }
        AttemptStatus::Answered(kind) => {
            lines.push(line(Severity::Warning, RETRY, format!("Synthetic retry: {}: {error}", kind.as_str())));
        }
        AttemptStatus::Failed(class) if class.fatal() => {
            lines.push(line(Severity::Error, RETRY, error.to_owned()));
        }
        AttemptStatus::Failed(_) => lines.push(line(Severity::Warning, RETRY, error.to_owned())),
    }
    lines
}

fn report_lines(turn: u32, source: ReportSource, reason: &str) -> Vec<LogLine> {
    let word = source.as_str();
    let before = match source {
        ReportSource::ToolCall => None,
        ReportSource::TextFallback | ReportSource::ToolMessage => {
            Some(line(Severity::Warning, FALLBACK, format!("Accepting the report that was kept (source={word})")))
        }
        ReportSource::Synthetic => {
            Some(line(Severity::Error, FAILURE, format!("Synthesized a failure report (reason={reason})")))
        }
    };
    let accepted = line(Severity::Final, ACCEPTED, format!("Final report accepted in turn {turn} (source={word})"));
    before.into_iter().chain([accepted]).collect()
}

fn line(severity: Severity, source: &'static str, message: String) -> LogLine {
    LogLine { severity, source, message }
}

fn counter(name: &'static str, labels: Vec<(&'static str, &'static str)>, value: u64) -> Metric {
    Metric { name, kind: MetricKind::Counter, labels, value }
}

fn histogram(name: &'static str, labels: Vec<(&'static str, &'static str)>, value: u64) -> Metric {
    Metric { name, kind: MetricKind::Histogram, labels, value }
}

//! Log lines and metrics of a session. Texts of providers and tools go into log lines only.

use reknit_engine::{
    AnswerKind, Attempt, AttemptStatus, ContextAction, DropReason, FinalTurnReason, ModelWaitReason, RepeatedCall,
    ReportSource, SessionRecord, SyntheticReason, WaitEnd,
};

use crate::signal::{Definition, LogLine, Metric};
use crate::table::session as table;

pub(super) fn log_lines(record: &SessionRecord) -> Vec<LogLine> {
    let (definition, rest) = match record {
        SessionRecord::Attempt(attempt) => return attempt_lines(attempt),
        SessionRecord::Reported(report) => {
            let reason = report.synthetic_reason.map_or("unknown", SyntheticReason::as_str);
            return report_lines(report.turn, report.source, reason);
        }
        SessionRecord::Started { .. }
        | SessionRecord::FollowedUp { .. }
        | SessionRecord::TurnStarted(_)
        | SessionRecord::Resumed
        | SessionRecord::LateOutcome(_)
        | SessionRecord::Noticed { .. }
        | SessionRecord::WaitEnded { end: WaitEnd::Completed, .. } => return Vec::new(),
        SessionRecord::WaitStarted { ms, reason: ModelWaitReason::RateLimit, .. } => {
            (&table::RATE_LIMIT_WAIT, format!("{ms} ms"))
        }
        SessionRecord::WaitStarted { ms, reason, .. } => (&table::FAILURE_WAIT, format!("{ms} ms (reason={reason})")),
        SessionRecord::WaitEnded { ms, end, .. } => (&table::WAIT_ABORTED, format!("{ms} ms ({end})")),
        SessionRecord::TargetSkipped { target, .. } => {
            (&table::TARGET_SKIPPED, format!("{target} must not be called yet"))
        }
        SessionRecord::OutputLimitLearned { target, max_tokens, .. } => {
            (&table::OUTPUT_LIMIT, format!("{target} accepts at most {max_tokens} tokens"))
        }
        SessionRecord::CallInText { tool, form, .. } => (&table::CALL_IN_TEXT, format!("{tool} (form={form})")),
        SessionRecord::CallDropped { tool, why, .. } => dropped_call(tool, *why),
        SessionRecord::FallbackReportFound { source, .. } => {
            (&table::REPORT_KEPT, format!(" (source={})", source.as_str()))
        }
        SessionRecord::FinalTurn { turn, reason } => {
            let is_context = *reason == FinalTurnReason::Context;
            let definition = if is_context { &table::CONTEXT_GUARD } else { &table::FINAL_TURN };
            (definition, format!(" to `agent__final_report` in turn {turn} (reason={})", reason.as_str()))
        }
        SessionRecord::Collapsed { turn, reason, previous_max_turns, new_max_turns } => {
            let reason = reason.as_str();
            (&table::COLLAPSED, format!("{previous_max_turns} -> {new_max_turns} in turn {turn} (reason={reason})"))
        }
        SessionRecord::ContextGuard { turn, action } => {
            let measure = match action {
                ContextAction::Skipped(target) => format!("too long for {target}; another target is asked"),
                ContextAction::Compacted { results } => format!("older results are stored ({results})"),
                ContextAction::Trimmed { turns } => format!("the oldest turns are left out ({turns})"),
            };
            (&table::CONTEXT_REDUCED, format!("{measure} in turn {turn}"))
        }
        SessionRecord::MandateStated { turn, mandate, .. } => (&table::MANDATE, format!("{mandate} (turn {turn})")),
        SessionRecord::ResultStored { turn, tool, bytes } => {
            (&table::RESULT_STORED, format!("{tool} in turn {turn}, {bytes} bytes"))
        }
        SessionRecord::CallRepeated(repeated) => (&table::CALL_REPEATED, repeated_call(repeated)),
        SessionRecord::ChildEnded(child) => {
            let rest = format!("{} of turn {}: {} ended: {}", child.call, child.turn, child.name, child.status);
            (&table::CHILD_ENDED, rest)
        }
        SessionRecord::TurnEnded { turn, attempts, outcome, ms } => {
            (&table::TURN_ENDED, format!("{turn} ended: {}, {attempts} attempts, {ms} ms", outcome.as_str()))
        }
    };
    vec![definition.log_line(&rest, [])]
}

fn repeated_call(RepeatedCall { turn, tool, first_turn, reason, .. }: &RepeatedCall) -> String {
    let outcome = if reason.is_some() { "made again" } else { "its earlier result is used" };
    format!("{tool} in turn {turn} as in turn {first_turn}: {outcome}")
}

fn dropped_call(tool: &str, reason: DropReason) -> (&'static Definition<0>, String) {
    match reason {
        DropReason::Malformed => (&table::CALL_MALFORMED, format!(": {tool}")),
        DropReason::Unknown => (&table::CALL_DROPPED, format!("there is no such tool: {tool}")),
        DropReason::NotPermitted => (&table::CALL_DROPPED, format!("it may not be called in the final turn: {tool}")),
        DropReason::Quoted => (&table::CALL_DROPPED, format!("its text is in the conversation already: {tool}")),
        DropReason::InText => (&table::CALL_DROPPED, format!("it is written as text: {tool}")),
    }
}

pub(super) fn metrics(record: &SessionRecord) -> Vec<Metric> {
    match record {
        SessionRecord::Attempt(attempt) => {
            let status = || [attempt.status.as_str().into()];
            vec![
                table::LLM_REQUESTS.metric(1, status()),
                // Each attempt after the first one of a turn is one retry.
                table::LLM_RETRIES.metric(u64::from(attempt.attempt > 1), []),
                table::LLM_LATENCY.metric(attempt.latency_ms, status()),
            ]
        }
        SessionRecord::WaitEnded { ms, .. } => vec![table::LLM_BACKOFF.metric(*ms, [])],
        SessionRecord::CallInText { form, .. } => vec![table::CALLS_IN_TEXT.metric(1, [form.as_str().into()])],
        SessionRecord::CallDropped { why, .. } => {
            vec![table::CALLS_DROPPED.metric(1, [why.as_str().into()])]
        }
        SessionRecord::Collapsed { reason, .. } => vec![table::COLLAPSES.metric(1, [reason.as_str().into()])],
        SessionRecord::ContextGuard { action, .. } => vec![table::CONTEXT_EVENTS.metric(1, [action.as_str().into()])],
        SessionRecord::ResultStored { .. } => vec![table::CONTEXT_EVENTS.metric(1, ["stored".into()])],
        SessionRecord::ChildEnded(child) => {
            let status = if child.done { "success" } else { "failure" };
            vec![table::CHILDREN.metric(1, [status.into()])]
        }
        SessionRecord::TurnEnded { attempts, outcome, ms, .. } => vec![
            table::TURN_ATTEMPTS.metric(u64::from(*attempts), [outcome.as_str().into()]),
            table::TURN_MS.metric(*ms, [outcome.as_str().into()]),
        ],
        SessionRecord::Reported(report) => {
            let labels = || {
                [
                    report.source.as_str().into(),
                    report.status.as_str().into(),
                    report.forced_final_reason.map_or("none", FinalTurnReason::as_str).into(),
                    report.synthetic_reason.map_or("none", SyntheticReason::as_str).into(),
                ]
            };
            vec![
                table::REPORTS.metric(1, labels()),
                table::REPORT_ATTEMPTS.metric(u64::from(report.final_report_attempts), []),
                table::REPORT_TURNS.metric(u64::from(report.turn), labels()),
            ]
        }
        _ => Vec::new(),
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
    let consequence = match attempt.status {
        AttemptStatus::Answered(AnswerKind::ToolCalls | AnswerKind::FinalReport) | AttemptStatus::Abandoned => None,
        AttemptStatus::Answered(AnswerKind::TextOnly) => Some(table::TEXT_ONLY.log_line("", [])),
        AttemptStatus::Answered(kind) => {
            Some(table::SYNTHETIC_RETRY.log_line(&format!("{}: {error}", kind.as_str()), []))
        }
        AttemptStatus::Failed(class) if class.is_fatal() => Some(table::PROVIDER_FATAL.log_line(error, [])),
        AttemptStatus::Failed(_) => Some(table::PROVIDER_FAILED.log_line(error, [])),
    };
    [table::ATTEMPT.log_line(&rest, [])].into_iter().chain(consequence).collect()
}

fn report_lines(turn: u32, source: ReportSource, reason: &str) -> Vec<LogLine> {
    let source_name = source.as_str();
    let notice = match source {
        ReportSource::ToolCall => None,
        ReportSource::TextFallback | ReportSource::ToolMessage => {
            Some(table::REPORT_FALLBACK.log_line(&format!(" (source={source_name})"), []))
        }
        ReportSource::Synthetic => Some(table::REPORT_FAILURE.log_line(&format!(" (reason={reason})"), [])),
    };
    let accepted = table::REPORT_ACCEPTED.log_line(&format!(" in turn {turn} (source={source_name})"), []);
    notice.into_iter().chain([accepted]).collect()
}

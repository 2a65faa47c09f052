//! A session as `reknit runs show` prints it.

use std::fmt::Write as _;

use reknit_engine::{
    Attempt, DropReason, MendedCall, RepeatedCall, Report, ReportStatus, SessionOverview, SessionRecord, WaitEnd,
};
use reknit_protocol::{Object, Value};

use super::VALUE_COLUMNS;
use super::current_state::CurrentState;
use super::started_with::{start_fields, start_lines};
use super::step_history::flat_json;
use crate::output::{
    ApprovalRequest, Failure, count, escape_controls, exit_words, one_line, report_json, report_warnings, seconds,
    session_lines, usage_summary,
};

/// The report, or the state of a session that has not ended.
pub(super) fn as_json(session: &SessionOverview, state: &CurrentState<'_>) -> Result<Value, Failure> {
    let run = &session.run;
    let log = session.records.iter().filter_map(|record| log_entry(record).transpose());
    let log: Value = log.collect::<Result<Vec<_>, Failure>>()?.into();
    let start = start_fields(&session.metadata, session.fork.as_ref(), &session.attachments);
    if let Some(report) = &session.report {
        let mut object = report_json(run, report)?;
        object.insert("log", log);
        object.extend(start);
        return Ok(Value::Object(object));
    }
    let mut object = Object::from([("run", run.as_str().into()), ("status", state.status.into())]);
    if let Some(view) = &session.view {
        object.insert("turn", u64::from(view.turn));
        object.insert("max_turns", u64::from(view.max_turns));
    }
    object.insert("log", log);
    object.extend(start);
    if !state.approvals.is_empty() {
        object.insert("asks", state.approvals.iter().map(ApprovalRequest::to_value).collect::<Value>());
    }
    Ok(Value::Object(object))
}

/// The page: each turn, each attempt, the conversation and the report.
pub(super) fn page(session: &SessionOverview, state: &CurrentState<'_>) -> String {
    let mut page = String::new();
    let mut line = |text: String| {
        let _ = writeln!(page, "{}", escape_controls(&text));
    };
    let SessionOverview { records, spent, .. } = session;
    line(format!("session  {}", session.run));
    line(format!("agent    {}", session.agent));
    line(format!("input    {}", one_line(&session.input, VALUE_COLUMNS)));
    start_lines(&session.metadata, session.fork.as_ref(), &session.attachments).into_iter().for_each(&mut line);
    let status = match &session.report {
        Some(report) => report_status(report),
        None => state.status_text(&session.run),
    };
    line(format!("status   {status}"));
    line(format!("spent    {}, {}", usage_summary(spent), count(session.events, "event")));
    line(String::new());
    for shown in session_lines(session.view.as_ref(), records, session.now_ms, VALUE_COLUMNS) {
        line(shown.text);
    }
    for approval in &state.approvals {
        let step = one_line(approval.ask.step.as_str(), VALUE_COLUMNS);
        line(format!("approval {step}: {}", approval.description("  ")));
    }
    line(String::new());
    for text in records.iter().filter_map(log_line) {
        line(one_line(&text, VALUE_COLUMNS));
    }
    for mended in &session.mended {
        let MendedCall { turn, call, tool, rung, change } = mended;
        line(one_line(&format!("mended   turn {turn}, {call} ({tool}) by {}: {change}", rung.as_str()), VALUE_COLUMNS));
    }
    for tried in MendedCall::lines_in_vain(&session.tried) {
        line(one_line(&format!("tried    {tried}"), VALUE_COLUMNS));
    }
    line(String::new());
    for text in &session.conversation {
        line(one_line(text, VALUE_COLUMNS));
    }
    if let Some(report) = &session.report {
        line(String::new());
        line(report.content.clone());
        report_warnings(report).lines().for_each(|text| line(text.to_owned()));
    }
    page
}

/// Why it ended, and the status of a report that is not a success.
fn report_status(report: &Report) -> String {
    let exit = exit_words(report.exit.as_str());
    match report.status {
        ReportStatus::Success => exit,
        status => format!("{status} ({exit})"),
    }
}

/// A decision as one line; `None` for those that are shown elsewhere.
fn log_line(record: &SessionRecord) -> Option<String> {
    Some(match record {
        SessionRecord::Attempt(attempt) => attempt_line(attempt),
        SessionRecord::WaitStarted { turn, ms, reason, source } => {
            let source = source.as_ref().map_or_else(String::new, |source| format!(", {source}"));
            format!("wait     turn {turn}: {} ({}{source})", seconds(*ms), without_underscores(reason.as_str()))
        }
        SessionRecord::WaitEnded { turn, ms, end: WaitEnd::AbortedStop | WaitEnd::AbortedCancel, .. } => {
            format!("wait     turn {turn}: ended early after {}", seconds(*ms))
        }
        SessionRecord::TargetSkipped { turn, target, .. } => {
            format!("skipped  turn {turn}: {target}: its circuit breaker is open or it is cooling down")
        }
        SessionRecord::OutputLimitLearned { turn, target, max_tokens } => {
            format!("limit    turn {turn}: {target} accepts at most {max_tokens} output tokens")
        }
        SessionRecord::CallInText { turn, tool, form } => {
            format!("fixed    turn {turn}: call written as text {}: {tool}", form.place())
        }
        SessionRecord::CallDropped { turn, tool, why } => {
            let why = match why {
                DropReason::Malformed | DropReason::Unknown | DropReason::NotPermitted => {
                    without_underscores(why.as_str())
                }
                DropReason::Quoted => "written as text, and the conversation contains it already".to_owned(),
                DropReason::InText => "written as text, and not made".to_owned(),
            };
            format!("dropped  turn {turn}: call of {tool}: {why}")
        }
        SessionRecord::FallbackReportFound { turn, source } => {
            format!("kept     turn {turn}: a report for the case that no better one follows ({source})")
        }
        SessionRecord::Noticed { turn, notice } => {
            format!("notice   turn {turn}, {}: {}", without_underscores(notice.reason.as_str()), notice.text)
        }
        SessionRecord::FinalTurn { turn, reason } => {
            format!("final    turn {turn}: {}", without_underscores(reason.as_str()))
        }
        SessionRecord::MandateStated { turn, mandate, is_read } => {
            let unread = if *is_read { "" } else { " (the answer of the model could not be read)" };
            format!("mandate  turn {turn}: it may change {mandate}{unread}")
        }
        SessionRecord::CallRepeated(repeated) => {
            let RepeatedCall { turn, call, tool, first_turn, first_call, reason } = repeated.as_ref();
            let outcome = match reason {
                Some(reason) => format!("was made again: {reason}"),
                None => "was not made again and got the earlier result".to_owned(),
            };
            format!("repeated turn {turn}, {call} ({tool}), as in turn {first_turn}, {first_call}: {outcome}")
        }
        SessionRecord::FollowedUp { number, input, .. } => format!("asked    message {number}: {input}"),
        _ => return None,
    })
}

fn without_underscores(label: &str) -> String {
    label.replace('_', " ")
}

fn attempt_line(attempt: &Attempt) -> String {
    let tokens = attempt
        .usage
        .map_or_else(String::new, |usage| format!(", {} tokens in, {} out", usage.input_tokens, usage.output_tokens));
    let cost = attempt.cost.map_or_else(String::new, |cost| format!(", cost {cost}"));
    let action = attempt.directive.as_ref().map_or_else(String::new, |directive| format!(" -> {}", directive.action));
    let (turn, number, target, status) = (attempt.turn, attempt.attempt, &attempt.target, attempt.status.as_str());
    let start = format!("attempt {turn}.{number}  {target}  {status}, {}{tokens}{cost}", seconds(attempt.latency_ms));
    // A long error is cut, so that the action is not. Between them are `: ` and the mark of the cut.
    let room = VALUE_COLUMNS.saturating_sub(start.chars().count() + action.len() + 3);
    let error = attempt.error.as_ref().map_or_else(String::new, |error| format!(": {}", one_line(error, room)));
    format!("{start}{error}{action}")
}

/// A decision as JSON, with its kind; `None` for those that the report contains. Programs rely on its form.
fn log_entry(record: &SessionRecord) -> Result<Option<Value>, Failure> {
    let entry = match record {
        SessionRecord::Attempt(attempt) => attempt_entry(attempt),
        SessionRecord::Collapsed { turn, reason, new_max_turns, .. } => Object::from([
            ("kind", "collapsed".into()),
            ("turn", (*turn).into()),
            ("reason", reason.as_str().into()),
            ("max_turns", (*new_max_turns).into()),
        ]),
        SessionRecord::Noticed { turn, notice } => {
            let mut entry = Object::from([("kind", "notice".into()), ("turn", (*turn).into())]);
            entry.extend(notice.to_object());
            entry
        }
        // Its name in JSON is older than the one in events.
        SessionRecord::CallInText { form, .. } => {
            let mut entry = flat_json("kind", record)?;
            entry.insert("form", form.as_str());
            entry
        }
        SessionRecord::WaitStarted { .. }
        | SessionRecord::WaitEnded { .. }
        | SessionRecord::TargetSkipped { .. }
        | SessionRecord::OutputLimitLearned { .. }
        | SessionRecord::CallDropped { .. }
        | SessionRecord::FallbackReportFound { .. }
        | SessionRecord::FinalTurn { .. } => flat_json("kind", record)?,
        _ => return Ok(None),
    };
    Ok(Some(Value::Object(entry)))
}

fn attempt_entry(attempt: &Attempt) -> Object {
    let mut entry = Object::from([
        ("kind", Value::from("attempt")),
        ("turn", attempt.turn.into()),
        ("attempt", attempt.attempt.into()),
        ("target", attempt.target.as_str().into()),
        ("status", attempt.status.as_str().into()),
        ("latency_ms", attempt.latency_ms.into()),
    ]);
    if let Some(error) = &attempt.error {
        entry.insert("error", error.as_str());
    }
    if let Some(directive) = &attempt.directive {
        entry.insert("action", directive.action.as_str());
        entry.extend(directive.backoff_ms.map(|ms| ("backoff_ms".to_owned(), ms.into())));
    }
    if let Some(usage) = attempt.usage {
        entry.insert("input_tokens", usage.input_tokens);
        entry.insert("output_tokens", usage.output_tokens);
    }
    if let Some(cost) = attempt.cost.and_then(|cost| Value::parse(&cost.to_string()).ok()) {
        entry.insert("cost", cost);
    }
    entry
}

//! A session as `reknit runs show` prints it.

use std::fmt::Write as _;

use reknit_dialogue::Message;
use reknit_engine::{MendedCall, Session, SessionRecord};
use reknit_protocol::{Object, Value};

use super::session_log;
use super::show::{CurrentState, VALUE_COLUMNS, metadata_as_json, metadata_line};
use crate::approvals::ApprovalRequest;
use crate::failure::Failure;
use crate::print_report::report_json;
use crate::progress::session_lines;
use crate::terminal_text::{escape_controls, one_line};
use crate::usage::{count, usage_summary};

/// The report, or the state of a session that has not ended.
pub(super) fn as_json(
    session: &Session,
    records: &[SessionRecord],
    state: &CurrentState<'_>,
) -> Result<Value, Failure> {
    let run = &session.started().run;
    let log: Value = records.iter().filter_map(session_log::to_value).collect();
    if let Some(report) = session.report() {
        let mut report = report_json(run, report)?;
        if let Some(object) = report.as_object_mut() {
            object.insert("log", log);
            object.extend(metadata_as_json(&session.started().metadata));
        }
        return Ok(report);
    }
    let view = session.view();
    let mut object = Object::from([
        ("run", run.as_str().into()),
        ("status", state.status.into()),
        ("turn", u64::from(view.turn).into()),
        ("max_turns", u64::from(view.max_turns).into()),
        ("log", log),
    ]);
    object.extend(metadata_as_json(&session.started().metadata));
    if !state.approvals.is_empty() {
        object.insert("asks", state.approvals.iter().map(ApprovalRequest::to_value).collect::<Value>());
    }
    Ok(Value::Object(object))
}

/// The page: each turn, each attempt, the conversation and the report.
pub(super) fn page(session: &Session, records: &[SessionRecord], state: &CurrentState<'_>) -> String {
    let mut page = String::new();
    let mut line = |text: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(page, "{}", escape_controls(&text));
    };
    let (started, spent) = (session.started(), session.spent());
    line(format!("session  {}", started.run));
    line(format!("agent    {}", started.agent));
    line(format!("input    {}", one_line(&started.input, VALUE_COLUMNS)));
    metadata_line(&started.metadata).into_iter().for_each(&mut line);
    let status = match session.report() {
        Some(report) => report.exit.to_string(),
        None => state.status_text(&started.run),
    };
    line(format!("status   {status}"));
    line(format!("spent    {}, {}", usage_summary(&spent), count(session.event_count(), "event")));
    line(String::new());
    for shown in session_lines(session, records, session.now_ms(), VALUE_COLUMNS) {
        line(shown.text);
    }
    for approval in &state.approvals {
        let step = one_line(approval.ask.step.as_str(), VALUE_COLUMNS);
        line(format!("approval {step}: {}", approval.description("  ")));
    }
    line(String::new());
    for text in records.iter().filter_map(session_log::line) {
        line(one_line(&text, VALUE_COLUMNS));
    }
    for mended in session.mended() {
        let MendedCall { turn, call, tool, rung, change } = mended;
        line(one_line(&format!("mended   turn {turn}, {call} ({tool}) by {}: {change}", rung.as_str()), VALUE_COLUMNS));
    }
    line(String::new());
    for message in session.history().iter().skip(2) {
        for text in message_lines(message) {
            line(one_line(&text, VALUE_COLUMNS));
        }
    }
    if let Some(report) = session.report() {
        line(String::new());
        line(report.content.clone());
    }
    page
}

fn message_lines(message: &Message) -> Vec<String> {
    match message {
        Message::Tool { name, text, is_error, .. } => {
            let label = if *is_error { "failed" } else { "result" };
            vec![format!("{label}   {name}: {text}")]
        }
        other => {
            let calls = other.tool_calls().iter().map(|call| format!("call     {} {}", call.name, call.arguments));
            let text = Some(other.text()).filter(|text| !text.trim().is_empty()).map(|text| format!("said     {text}"));
            text.into_iter().chain(calls).collect()
        }
    }
}

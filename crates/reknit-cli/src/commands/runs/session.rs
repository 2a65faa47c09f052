//! A session as `reknit runs show` prints it.

use std::fmt::Write as _;

use reknit_engine::{MendedCall, SessionOverview};
use reknit_protocol::{Object, Value};

use super::fork::{fork_as_json, fork_line};
use super::session_log;
use super::show::{
    CurrentState, VALUE_COLUMNS, attachments_as_json, attachments_line, metadata_as_json, metadata_line,
};
use crate::output::{
    ApprovalRequest, Failure, count, escape_controls, one_line, report_json, session_lines, usage_summary,
};

/// The report, or the state of a session that has not ended.
pub(super) fn as_json(session: &SessionOverview, state: &CurrentState<'_>) -> Result<Value, Failure> {
    let run = &session.run;
    let log: Value = session.records.iter().filter_map(session_log::to_value).collect();
    if let Some(report) = &session.report {
        let mut report = report_json(run, report)?;
        if let Some(object) = report.as_object_mut() {
            object.insert("log", log);
            object.extend(metadata_as_json(&session.metadata));
            object.extend(fork_as_json(session.fork.as_ref()));
            object.extend(attachments_as_json(&session.attachments));
        }
        return Ok(report);
    }
    let mut object = Object::from([("run", run.as_str().into()), ("status", state.status.into())]);
    if let Some(view) = &session.view {
        object.insert("turn", u64::from(view.turn));
        object.insert("max_turns", u64::from(view.max_turns));
    }
    object.insert("log", log);
    object.extend(metadata_as_json(&session.metadata));
    object.extend(fork_as_json(session.fork.as_ref()));
    object.extend(attachments_as_json(&session.attachments));
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
    fork_line(session.fork.as_ref()).into_iter().for_each(&mut line);
    metadata_line(&session.metadata).into_iter().for_each(&mut line);
    attachments_line(&session.attachments).into_iter().for_each(&mut line);
    let status = match &session.report {
        Some(report) => report.exit.to_string(),
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
    for text in records.iter().filter_map(session_log::line) {
        line(one_line(&text, VALUE_COLUMNS));
    }
    for mended in &session.mended {
        let MendedCall { turn, call, tool, rung, change } = mended;
        line(one_line(&format!("mended   turn {turn}, {call} ({tool}) by {}: {change}", rung.as_str()), VALUE_COLUMNS));
    }
    line(String::new());
    for text in &session.conversation {
        line(one_line(text, VALUE_COLUMNS));
    }
    if let Some(report) = &session.report {
        line(String::new());
        line(report.content.clone());
    }
    page
}

//! A session, for `reknit runs show`.

use std::fmt::Write as _;

use reknit_dialogue::Message;
use reknit_engine::{Attempt, Record, Session};
use reknit_protocol::{Object, Value};

use super::show::{Now, SHOWN};
use crate::failure::Failure;
use crate::finish::{count, seconds, spending};
use crate::finish_report::document;
use crate::questions::Asked;
use crate::show::{harmless, one_line};
use crate::turns;

/// The report, or how far it is.
pub(super) fn as_json(session: &Session, now: &Now<'_>) -> Result<Value, Failure> {
    let run = &session.started().run;
    if let Some(report) = session.report() {
        return document(run, report);
    }
    let view = session.view();
    let mut object = Object::from([
        ("run", run.as_str().into()),
        ("status", now.standing.into()),
        ("turn", u64::from(view.turn).into()),
        ("max_turns", u64::from(view.max_turns).into()),
    ]);
    if !now.asked.is_empty() {
        object.insert("asks", now.asked.iter().map(Asked::to_value).collect::<Value>());
    }
    Ok(Value::Object(object))
}

/// Everything about it: each turn, each attempt, what was said and done, the report.
pub(super) fn page(session: &Session, now: &Now<'_>) -> String {
    let mut page = String::new();
    let mut line = |text: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(page, "{}", harmless(&text));
    };
    let (started, spent) = (session.started(), session.spent());
    line(format!("session  {}", started.run));
    line(format!("agent    {}", started.agent));
    line(format!("input    {}", one_line(&started.input, SHOWN)));
    let status = match session.report() {
        Some(report) => report.exit.to_string(),
        None => now.words(&started.run),
    };
    line(format!("status   {status}"));
    line(format!("spent    {}, {}", spending(&spent), count(session.event_count(), "event")));
    line(String::new());
    for shown in turns::lines(session, session.now_ms(), SHOWN) {
        line(shown.text);
    }
    for asked in &now.asked {
        line(format!("asks     {}: {}", asked.ask.step, asked.words()));
    }
    line(String::new());
    for record in session.records() {
        if let Record::Attempt(attempt) = record {
            line(one_line(&attempt_text(attempt), SHOWN));
        }
    }
    line(String::new());
    for message in session.history().iter().skip(2) {
        for text in said(message) {
            line(one_line(&text, SHOWN));
        }
    }
    if let Some(report) = session.report() {
        line(String::new());
        line(report.content.clone());
    }
    page
}

fn attempt_text(attempt: &Attempt) -> String {
    let tokens = attempt
        .usage
        .map_or_else(String::new, |usage| format!(", {} tokens in, {} out", usage.input_tokens, usage.output_tokens));
    let error = attempt.error.as_ref().map_or_else(String::new, |error| format!(": {error}"));
    format!(
        "attempt {}.{}  {}  {}, {}{tokens}{error}",
        attempt.turn,
        attempt.attempt,
        attempt.target,
        attempt.status.as_str(),
        seconds(attempt.latency_ms)
    )
}

fn said(message: &Message) -> Vec<String> {
    match message {
        Message::Tool { name, text, is_error, .. } => {
            let word = if *is_error { "failed" } else { "result" };
            vec![format!("{word}   {name}: {text}")]
        }
        other => {
            let calls = other.tool_calls().iter().map(|call| format!("call     {} {}", call.name, call.arguments));
            let text = Some(other.text()).filter(|text| !text.trim().is_empty()).map(|text| format!("said     {text}"));
            text.into_iter().chain(calls).collect()
        }
    }
}

//! The history of a step, one line for each entry.

use std::collections::BTreeMap;

use reknit_engine::{Decision, HistoryEntry, HistoryKind};
use reknit_mend::MendAction;
use reknit_protocol::{Object, StepId, Value};

use serde::Serialize;

use super::VALUE_COLUMNS;
use crate::output::{Failure, duration, json_value, one_line};

pub(super) fn lines(entries: &[HistoryEntry]) -> Vec<String> {
    let mut calls = 0;
    let mut line = |entry: &HistoryEntry| {
        let (label, text) = label_and_text(&entry.kind, &mut calls);
        let took = match entry.kind {
            HistoryKind::Called { .. }
            | HistoryKind::Checked { .. }
            | HistoryKind::Asked { .. }
            | HistoryKind::AwaitedJob { .. }
            | HistoryKind::Waited => format!("  ({})", duration(entry.took_ms)),
            _ => String::new(),
        };
        format!("  {label:<9}  {}{took}", one_line(&text, VALUE_COLUMNS))
    };
    entries.iter().map(&mut line).collect()
}

/// The history of each step as `--json` prints it. Programs rely on its form: `action` says what happened, and its details stand
/// beside it.
pub(super) fn as_json(history: &BTreeMap<StepId, Vec<HistoryEntry>>) -> Result<Value, Failure> {
    let mut steps = Object::new();
    for (step, entries) in history {
        let entries = entries.iter().map(entry_as_json).collect::<Result<Vec<_>, Failure>>()?;
        steps.insert(step.as_str(), Value::Array(entries));
    }
    Ok(Value::Object(steps))
}

fn entry_as_json(entry: &HistoryEntry) -> Result<Value, Failure> {
    let mut object = Object::from([("at_ms", entry.at_ms.into()), ("took_ms", entry.took_ms.into())]);
    object.extend(flat_json("action", &entry.kind)?);
    Ok(Value::Object(object))
}

/// An enum as serde writes it, with the name of its variant under `tag`, and the fields of the variant beside it.
pub(super) fn flat_json(tag: &str, item: &impl Serialize) -> Result<Object, Failure> {
    let mut object = Object::new();
    match json_value(item)? {
        Value::Object(variant) => {
            for (name, fields) in variant {
                object.insert(tag, name);
                if let Value::Object(fields) = fields {
                    object.extend(fields);
                }
            }
        }
        name => _ = object.insert(tag, name),
    }
    Ok(object)
}

fn label_and_text(kind: &HistoryKind, calls: &mut u32) -> (String, String) {
    let (label, text) = match kind {
        HistoryKind::Called { parameters, error, mended, .. } => {
            *calls += 1;
            let outcome = error.as_deref().unwrap_or("accepted");
            let mended = match mended.as_slice() {
                [] => String::new(),
                fixes => format!(" (repaired the JSON of the answer: {})", fixes.join("; ")),
            };
            return (format!("attempt {calls}"), format!("{outcome}{mended} <- {parameters}"));
        }
        HistoryKind::Asked { rung, target, usage: Some(usage), .. } => {
            let (sent, received) = (usage.input_tokens, usage.output_tokens);
            ("model", format!("{target} for {rung}: {sent} tokens sent, {received} received"))
        }
        HistoryKind::Asked { rung, target, error, usage: None } => {
            ("model", format!("{target} for {rung}: {}", error.as_deref().unwrap_or("no answer")))
        }
        HistoryKind::Waited => ("waited", "before the next attempt".to_owned()),
        HistoryKind::AwaitedJob { asked } => {
            let times = if *asked == 1 { "once".to_owned() } else { format!("{asked} times") };
            ("job", format!("waited for its end, asked {times}"))
        }
        HistoryKind::BreakerOpen => ("not sent", "circuit breaker open".to_owned()),
        HistoryKind::KeyFound(finding) => ("not sent", finding.to_string()),
        HistoryKind::Checked { capability, parameters, status } => {
            let status = status.map_or_else(|| "no answer".to_owned(), |status| format!("status {status}"));
            ("checked", format!("whether the call took effect: {status} <- {capability} {parameters}"))
        }
        HistoryKind::Decided { decision, by } => match decision {
            Decision::Approve => ("approved", format!("by {}", by.as_str())),
            Decision::Edit { parameters } => ("edited", format!("by {}, and approved: {parameters}", by.as_str())),
            Decision::Deny { reason: None } => ("denied", format!("by {}", by.as_str())),
            Decision::Deny { reason: Some(reason) } => ("denied", format!("by {}: {reason}", by.as_str())),
            Decision::Happened { result } => ("settled", format!("by a person: the call took effect, with {result}")),
            Decision::DidNotHappen => ("settled", "by a person: the call did not take effect".to_owned()),
            Decision::Check => ("settled", "a person asked for another check".to_owned()),
        },
        HistoryKind::Interrupted => ("interrupted", "the result of the call is unknown".to_owned()),
        HistoryKind::Mended(mend) => {
            let label = match mend.action() {
                MendAction::Changed => "changed",
                MendAction::SentAgain => "resent",
                MendAction::Settled => "settled",
                MendAction::NoHelp => "no help",
            };
            (label, format!("by {}: {}", mend.rung.as_str(), mend.description))
        }
    };
    (label.to_owned(), text)
}

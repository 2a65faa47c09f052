//! The decisions of a session that `reknit runs show` lists: attempts, waits, skipped models, and what was kept or dropped.

use reknit_engine::{Attempt, RepeatedCall, SessionRecord, TextCallForm, WaitEnd};
use reknit_protocol::{Object, Value};

use crate::output::seconds;

/// A decision as one line; `None` for those that are shown elsewhere.
pub(super) fn line(record: &SessionRecord) -> Option<String> {
    Some(match record {
        SessionRecord::Attempt(attempt) => attempt_line(attempt),
        SessionRecord::WaitStarted { turn, ms, reason } => {
            format!("wait     turn {turn}: {} ({})", seconds(*ms), words(reason.as_str()))
        }
        SessionRecord::WaitEnded { turn, ms, end: WaitEnd::AbortedStop | WaitEnd::AbortedCancel } => {
            format!("wait     turn {turn}: ended early after {}", seconds(*ms))
        }
        SessionRecord::TargetSkipped { turn, target, .. } => {
            format!("skipped  turn {turn}: {target}: its circuit breaker is open or it is cooling down")
        }
        SessionRecord::OutputLimitLearned { turn, target, max_tokens } => {
            format!("limit    turn {turn}: {target} accepts at most {max_tokens} output tokens")
        }
        SessionRecord::CallInText { turn, tool, form } => {
            let place = match form {
                TextCallForm::WholeAnswer => "as the whole answer",
                TextCallForm::Fence => "in a fenced block",
                TextCallForm::Tag => "between tags",
                TextCallForm::FunctionCall => "like a function call",
            };
            format!("fixed    turn {turn}: call written as text {place}: {tool}")
        }
        SessionRecord::CallDropped { turn, tool, why } => {
            format!("dropped  turn {turn}: call of {tool}: {}", words(why.as_str()))
        }
        SessionRecord::FallbackReportFound { turn, source } => {
            format!("kept     turn {turn}: a report for the case that no better one follows ({source})")
        }
        SessionRecord::FinalTurn { turn, reason } => format!("final    turn {turn}: {}", words(reason.as_str())),
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

fn words(label: &str) -> String {
    label.replace('_', " ")
}

fn attempt_line(attempt: &Attempt) -> String {
    let tokens = attempt
        .usage
        .map_or_else(String::new, |usage| format!(", {} tokens in, {} out", usage.input_tokens, usage.output_tokens));
    let error = attempt.error.as_ref().map_or_else(String::new, |error| format!(": {error}"));
    let action = attempt.directive.as_ref().map_or_else(String::new, |directive| format!(" -> {}", directive.action));
    let (turn, number, target, status) = (attempt.turn, attempt.attempt, &attempt.target, attempt.status.as_str());
    format!("attempt {turn}.{number}  {target}  {status}, {}{tokens}{error}{action}", seconds(attempt.latency_ms))
}

/// A decision as JSON, with its kind; `None` for those that the report contains.
pub(super) fn to_value(record: &SessionRecord) -> Option<Value> {
    let entry = |kind: &str, turn: u32, fields: &[(&str, Value)]| {
        let mut object = Object::from([("kind", kind.into()), ("turn", u64::from(turn).into())]);
        for (name, value) in fields {
            object.insert(*name, value.clone());
        }
        Value::Object(object)
    };
    Some(match record {
        SessionRecord::Attempt(attempt) => entry("attempt", attempt.turn, &attempt_fields(attempt)),
        SessionRecord::WaitStarted { turn, ms, reason } => {
            entry("wait_started", *turn, &[("ms", (*ms).into()), ("reason", reason.as_str().into())])
        }
        SessionRecord::WaitEnded { turn, ms, end } => {
            entry("wait_ended", *turn, &[("ms", (*ms).into()), ("end", end.as_str().into())])
        }
        SessionRecord::TargetSkipped { turn, target, until_ms } => {
            let fields = [("target", target.as_str().into()), ("until_ms", Value::from(*until_ms))];
            entry("target_skipped", *turn, &fields)
        }
        SessionRecord::OutputLimitLearned { turn, target, max_tokens } => {
            let fields = [("target", target.as_str().into()), ("max_tokens", u64::from(*max_tokens).into())];
            entry("output_limit_learned", *turn, &fields)
        }
        SessionRecord::CallInText { turn, tool, form } => {
            entry("call_in_text", *turn, &[("tool", tool.as_str().into()), ("form", form.as_str().into())])
        }
        SessionRecord::CallDropped { turn, tool, why } => {
            entry("call_dropped", *turn, &[("tool", tool.as_str().into()), ("why", why.as_str().into())])
        }
        SessionRecord::FallbackReportFound { turn, source } => {
            entry("fallback_report_found", *turn, &[("source", source.as_str().into())])
        }
        SessionRecord::FinalTurn { turn, reason } => entry("final_turn", *turn, &[("reason", reason.as_str().into())]),
        SessionRecord::Collapsed { turn, reason, new_max_turns, .. } => {
            let fields = [("reason", reason.as_str().into()), ("max_turns", u64::from(*new_max_turns).into())];
            entry("collapsed", *turn, &fields)
        }
        _ => return None,
    })
}

fn attempt_fields(attempt: &Attempt) -> Vec<(&'static str, Value)> {
    let mut fields = vec![
        ("attempt", u64::from(attempt.attempt).into()),
        ("target", attempt.target.as_str().into()),
        ("status", attempt.status.as_str().into()),
        ("latency_ms", attempt.latency_ms.into()),
    ];
    if let Some(error) = &attempt.error {
        fields.push(("error", error.as_str().into()));
    }
    if let Some(directive) = &attempt.directive {
        fields.push(("action", directive.action.as_str().into()));
        fields.extend(directive.backoff_ms.map(|ms| ("backoff_ms", ms.into())));
    }
    if let Some(usage) = attempt.usage {
        fields.push(("input_tokens", usage.input_tokens.into()));
        fields.push(("output_tokens", usage.output_tokens.into()));
    }
    fields
}

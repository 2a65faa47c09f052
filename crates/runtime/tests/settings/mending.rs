//! Calls that were refused, and what calls do to the world.

use reknit_dialogue::{Purpose, Request};
use reknit_engine::AskModel;
use reknit_runtime::Ended;

use crate::edge::{Does, Says};
use crate::row::{Row, row};
use crate::scene::{Scene, Seen, step};

/// One call that is refused each time, and models with a new idea each time.
pub(crate) fn refused() -> Scene {
    Scene {
        model: ideas,
        ..Scene::of(vec![step("s", "convert", r#"{"amount": 1}"#)], |_, _| Does::Answers(422, REFUSAL))
    }
}

const REFUSAL: &str =
    r#"{"success": false, "error": {"code": "X", "category": "INPUT_ERROR", "message": "no", "retryable": true}}"#;

fn ideas(ask: &AskModel, nth: usize) -> Says {
    Says::Words(match ask.purpose {
        Purpose::ErrorAnalysis => {
            format!(r#"{{"should_retry": true, "reason": "r", "suggested_changes": {{"amount": {}}}}}"#, nth + 1)
        }
        _ => format!(r#"{{"should_retry": true, "analysis": "a", "corrected_parameters": {{"amount": {}}}}}"#, nth + 1),
    })
}

/// A value that the plan leaves open; a model says where it is. Twice, in two runs.
fn open_value() -> Scene {
    let steps = vec![step("first", "read", "{}"), step("s", "convert", "{}").after("first")];
    let model = |_: &AskModel, _| Says::Words(r#"{"amount": "{{first.price}}"}"#.to_owned());
    Scene { model, rounds: 2, ..Scene::of(steps, |_, _| Does::Answers(200, r#"{"price": 5}"#)) }
}

/// A refusal that says which values there are.
fn stated() -> Scene {
    Scene::of(vec![step("s", "read", r#"{"to": "Euro"}"#)], |_, nth| {
        if nth == 1 { Does::Answers(400, STATED) } else { Does::Takes(0) }
    })
}

const STATED: &str = r#"{"success": false, "error": {"code": "X", "category": "INPUT_ERROR", "message": "there is no rate",
    "retryable": true, "details": {"field": "to", "allowed": ["EUR", "USD", "KRW"]}}}"#;

fn in_doubt(capability: &str) -> Scene {
    Scene::of(vec![step("s", capability, "{}")], |_, _| Does::Breaks(0))
}

fn request(seen: &Seen, purpose: Purpose) -> &Request {
    &seen.ask(purpose).request
}

fn temperature(seen: &Seen, purpose: Purpose) -> String {
    request(seen, purpose).temperature.map(|temperature| temperature.to_string()).unwrap_or_default()
}

fn tokens(seen: &Seen, purpose: Purpose) -> String {
    request(seen, purpose).max_tokens.to_string()
}

fn ended(seen: &Seen) -> &'static str {
    match seen.ended.first() {
        Some(Ended::Waiting) => "waits",
        _ => "ends",
    }
}

pub(crate) fn rows() -> Vec<Row> {
    const CODE: &str = "answer.by = \"template\"\n";
    use Purpose::{ErrorAnalysis as Feedback, MicroResolution as Resolution, SemanticRetry as Context};
    let rows = vec![
        row("mending.models", "false", refused, |seen| seen.log.asks.len().to_string(), ("4", "0")),
        row("mending.resolution", "false", open_value, |seen| seen.asked(Resolution), ("1", "0")),
        row("mending.resolution-temperature", "0.7", open_value, |seen| temperature(seen, Resolution), ("0", "0.7")),
        row("mending.resolution-max-tokens", "7", open_value, |seen| tokens(seen, Resolution), ("500", "107")),
        row("mending.learn", "false", open_value, |seen| seen.asked(Resolution), ("1", "2")),
        row("mending.facts", "0", stated, |seen| seen.asked(Feedback), ("0", "1")),
        row("mending.feedback-enabled", "false", refused, |seen| seen.asked(Feedback), ("2", "0")),
        row("mending.feedback", "1", refused, |seen| seen.asked(Feedback), ("2", "1")),
        row("mending.feedback-temperature", "0.7", refused, |seen| temperature(seen, Feedback), ("0", "0.7")),
        row("mending.feedback-max-tokens", "7", refused, |seen| tokens(seen, Feedback), ("500", "7")),
        row("mending.context-enabled", "false", refused, |seen| seen.asked(Context), ("2", "0")),
        row("mending.context", "1", refused, |seen| seen.asked(Context), ("2", "1")),
        row("mending.context-statuses", "[400]", refused, |seen| seen.asked(Context), ("2", "0")),
        row("mending.independent-steps", "false", refused, |seen| seen.asked(Context), ("2", "0")),
        row("mending.context-temperature", "0.7", refused, |seen| temperature(seen, Context), ("0", "0.7")),
        row("mending.context-max-tokens", "7", refused, |seen| tokens(seen, Context), ("1000", "7")),
        row("effects.undeclared", "\"ask\"", || in_doubt("undeclared"), |seen| ended(seen).into(), ("ends", "waits")),
        row(
            "effects.classes",
            "{ \"t/read\" = \"unsafe\" }",
            || in_doubt("read"),
            |seen| ended(seen).into(),
            ("ends", "waits"),
        ),
        row("people.ask", "false", || in_doubt("unsafe"), |seen| ended(seen).into(), ("waits", "ends")),
    ];
    rows.into_iter().map(|row| row.given(CODE)).collect()
}

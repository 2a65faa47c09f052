//! `[mending]`, `[effects]` and `[people]`.

use reknit_engine::{AskModel, Outcome};
use reknit_model_api::{ModelRequest, Purpose};
use reknit_protocol::CallTool;
use reknit_runtime::DriveOutcome;

use crate::case::{Case, case};
use crate::scene::{Observation, Scene, step};
use crate::scripted_transport::{ModelReply, ToolBehavior};

/// One call that is always rejected, and a model with a new correction each time.
pub(crate) fn rejected() -> Scene {
    Scene {
        model: corrections,
        ..Scene::of(vec![step("s", "convert", r#"{"amount": 1}"#)], |_, _| ToolBehavior::Respond(422, REJECTION))
    }
}

const REJECTION: &str =
    r#"{"success": false, "error": {"code": "X", "category": "INPUT_ERROR", "message": "no", "retryable": true}}"#;

fn corrections(ask: &AskModel, nth: usize) -> ModelReply {
    ModelReply::Text(match ask.purpose {
        Purpose::ErrorAnalysis => {
            format!(r#"{{"should_retry": true, "reason": "r", "suggested_changes": {{"amount": {}}}}}"#, nth + 1)
        }
        _ => format!(r#"{{"should_retry": true, "analysis": "a", "corrected_parameters": {{"amount": {}}}}}"#, nth + 1),
    })
}

/// A value that the plan leaves out, in two runs; a model says where it is.
fn missing_value() -> Scene {
    let steps = vec![step("first", "read", "{}"), step("s", "convert", "{}").after("first")];
    let model = |_: &AskModel, _| ModelReply::Text(r#"{"amount": "{{first.price}}"}"#.to_owned());
    Scene { model, rounds: 2, ..Scene::of(steps, |_, _| ToolBehavior::Respond(200, r#"{"price": 5}"#)) }
}

/// A rejection that lists the allowed values.
fn allowed_values() -> Scene {
    Scene::of(vec![step("s", "read", r#"{"to": "Euro"}"#)], |_, nth| {
        if nth == 1 { ToolBehavior::Respond(400, ALLOWED_VALUES) } else { ToolBehavior::SucceedAfter(0) }
    })
}

const ALLOWED_VALUES: &str = r#"{"success": false, "error": {"code": "X", "category": "INPUT_ERROR", "message": "there is no rate",
    "retryable": true, "details": {"field": "to", "allowed": ["EUR", "USD", "KRW"]}}}"#;

/// A rejection for which the file of the case has a rule.
fn known_error() -> Scene {
    Scene::of(vec![step("s", "read", r#"{"to": "eur"}"#)], |_, nth| {
        if nth == 1 { ToolBehavior::Respond(400, NO_PRICE) } else { ToolBehavior::SucceedAfter(0) }
    })
}

const NO_PRICE: &str = r#"{"success": false, "error": {"code": "X", "category": "INPUT_ERROR", "message": "there is no price for it",
    "retryable": true}}"#;

/// Two runs in which the same call is rejected; a model corrects it.
fn corrected_twice() -> Scene {
    let model = |_: &AskModel, _| {
        ModelReply::Text(r#"{"should_retry": true, "reason": "r", "suggested_changes": {"from": "EUR"}}"#.to_owned())
    };
    let tool = |call: &CallTool, _| {
        let is_code = call.parameters.get("from").is_some_and(|from| *from == "EUR".into());
        if is_code { ToolBehavior::SucceedAfter(0) } else { ToolBehavior::Respond(400, NO_CODE) }
    };
    Scene { model, rounds: 2, ..Scene::of(vec![step("s", "read", r#"{"from": "eur"}"#)], tool) }
}

const NO_CODE: &str = r#"{"success": false, "error": {"code": "NO_CODE", "category": "INPUT_ERROR", "message": "that is wrong",
    "retryable": true}}"#;

/// A file with rules.
const RULES: &str = "answer.by = \"template\"\nrules.file = \"RULES\"\n";

fn unknown_outcome(capability: &str) -> Scene {
    Scene::of(vec![step("s", capability, "{}")], |_, _| ToolBehavior::FailAfter(0))
}

fn request(observed: &Observation, purpose: Purpose) -> &ModelRequest {
    &observed.ask(purpose).request
}

fn temperature(observed: &Observation, purpose: Purpose) -> String {
    request(observed, purpose).temperature.map(|temperature| temperature.to_string()).unwrap_or_default()
}

fn tokens(observed: &Observation, purpose: Purpose) -> String {
    request(observed, purpose).max_tokens.to_string()
}

fn ending(observed: &Observation) -> &'static str {
    match observed.ended.first() {
        Some(DriveOutcome::Waiting) => "waits",
        _ => "ends",
    }
}

pub(crate) fn cases() -> Vec<Case> {
    const WITHOUT_MODEL: &str = "answer.by = \"template\"\n";
    use Purpose::{ErrorAnalysis as Feedback, MicroResolution as Resolution, SemanticRetry as Context};
    let cases = vec![
        case("mending.models", "false", rejected, |observed| observed.log.asks.len().to_string(), ("4", "0")),
        case("mending.resolution", "false", missing_value, |observed| observed.asked(Resolution), ("1", "0")),
        case(
            "mending.resolution-temperature",
            "0.7",
            missing_value,
            |observed| temperature(observed, Resolution),
            ("0", "0.7"),
        ),
        case(
            "mending.resolution-max-tokens",
            "7",
            missing_value,
            |observed| tokens(observed, Resolution),
            ("500", "107"),
        ),
        case("mending.learn", "false", missing_value, |observed| observed.asked(Resolution), ("1", "2")),
        case("mending.facts", "0", allowed_values, |observed| observed.asked(Feedback), ("0", "1")),
        case("mending.rules", "0", known_error, |observed| observed.asked(Feedback), ("0", "1")).also_set(RULES),
        case("rules.file", "\"RULES\"", known_error, |observed| observed.asked(Feedback), ("1", "0")),
        case("rules.enabled", "false", known_error, |observed| observed.asked(Feedback), ("0", "1")).also_set(RULES),
        case("rules.accept-reads-after", "1", corrected_twice, |observed| observed.asked(Feedback), ("2", "1"))
            .also_set(RULES),
        case("mending.feedback-enabled", "false", rejected, |observed| observed.asked(Feedback), ("2", "0")),
        case("mending.feedback", "1", rejected, |observed| observed.asked(Feedback), ("2", "1")),
        case("mending.feedback-temperature", "0.7", rejected, |observed| temperature(observed, Feedback), ("0", "0.7")),
        case("mending.feedback-max-tokens", "7", rejected, |observed| tokens(observed, Feedback), ("500", "7")),
        case("mending.context-enabled", "false", rejected, |observed| observed.asked(Context), ("2", "0")),
        case("mending.context", "1", rejected, |observed| observed.asked(Context), ("2", "1")),
        case("mending.context-statuses", "[400]", rejected, |observed| observed.asked(Context), ("2", "0")),
        case("mending.independent-steps", "false", rejected, |observed| observed.asked(Context), ("2", "0")),
        case("mending.context-temperature", "0.7", rejected, |observed| temperature(observed, Context), ("0", "0.7")),
        case("mending.context-max-tokens", "7", rejected, |observed| tokens(observed, Context), ("1000", "7")),
    ];
    let with_template = |case: Case| if case.also.is_empty() { case.also_set(WITHOUT_MODEL) } else { case };
    cases.into_iter().chain(person_cases()).map(with_template).collect()
}

/// How many doubts the answer has, and how its step ended.
fn doubts_and_outcome(observed: &Observation) -> String {
    let Some(DriveOutcome::Finished(answer)) = observed.ended.first() else { panic!("it ends") };
    let doubts = match answer.doubts.len() {
        1 => "1 doubt".to_owned(),
        count => format!("{count} doubts"),
    };
    let outcome = match &answer.steps[0].outcome {
        Outcome::Done(_) => "Done",
        Outcome::Unconfirmed { .. } => "Unconfirmed",
        Outcome::Failed { .. } | Outcome::Skipped { .. } => "no result",
    };
    format!("{doubts}, {outcome}")
}

/// Settings that decide whether a person is asked, or whether a step is confirmed.
fn person_cases() -> [Case; 5] {
    [
        case(
            "effects.undeclared",
            "\"ask\"",
            || unknown_outcome("undeclared"),
            |observed| ending(observed).into(),
            ("ends", "waits"),
        ),
        case(
            "effects.classes",
            "{ \"t/read\" = \"unsafe\" }",
            || unknown_outcome("read"),
            |observed| ending(observed).into(),
            ("ends", "waits"),
        ),
        case(
            "catalogue.unfit-results",
            "\"fail\"",
            || Scene::of(vec![step("s", "announced", "{}")], |_, _| ToolBehavior::Respond(200, r#"{"price": "high"}"#)),
            doubts_and_outcome,
            ("1 doubt, Done", "0 doubts, Unconfirmed"),
        ),
        case(
            "people.ask",
            "false",
            || unknown_outcome("unsafe"),
            |observed| ending(observed).into(),
            ("waits", "ends"),
        ),
        case(
            "approvals.ask",
            "\"all\"",
            || unknown_outcome("undeclared"),
            |observed| ending(observed).into(),
            ("ends", "waits"),
        ),
    ]
}

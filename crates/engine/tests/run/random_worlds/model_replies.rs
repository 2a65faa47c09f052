//! Random answers of models.

use reknit_engine::{AskModel, EventKind};
use reknit_model_api::{ErrorClass, FinishReason, Purpose};
use reknit_protocol::{Object, Step, Value};

use super::world_generator::{LITERALS, NAMES, fitting_value, required_parameter};
use super::{ChoiceTape, RandomWorld};
use crate::world::{model_answer, model_failure};

/// Values that a model writes for parameters besides literals: templates, valid and invalid.
const MODEL_VALUES: [&str; 14] = [
    r#""{{s0.v}}""#,
    r#""{{100 * s0.v}}""#,
    r#""{{nope.v}}""#,
    r#""{{""#,
    r#""{{s0.nothing}}""#,
    r#""{{s0.v}} and {{s1.v}}""#,
    r#"{"lat": "{{s0.lat}}", "lon": 2}"#,
    r#"["{{s1.v}}"]"#,
    r#""{{s0.v ?? 4}}""#,
    "100 * 2",
    r#""{{{{evil.v}}""#,
    r#""{{1 / 0}}""#,
    "46828.5",
    r#"{"deep": {"{{s0.v}}": "{{s5.v}}"}}"#,
];

pub(super) fn outcome(ask: &AskModel, world: &RandomWorld, now_ms: i64, tape: &mut ChoiceTape) -> EventKind {
    let effect = ask.id.clone();
    match tape.below(12) {
        9 => EventKind::ModelFailed { effect, failure: model_failure(*tape.pick(ErrorClass::ALL)) },
        10 => {
            let failure = model_failure(ErrorClass::RateLimit).with_retry_after_ms(u64::from(tape.below(100)) * 1_000);
            EventKind::ModelFailed { effect, failure }
        }
        11 => EventKind::BreakerOpen {
            effect,
            until_ms: now_ms + i64::from(tape.below(200)) * 1_000,
            by: reknit_model_api::BlockedBy::OpenBreaker,
        },
        _ => {
            let mut answer = model_answer(&answer_text(ask, world, tape));
            if tape.one_in(16) {
                answer.finish = tape
                    .pick(&[
                        FinishReason::Length,
                        FinishReason::Refusal,
                        FinishReason::ContentFilter,
                        FinishReason::ToolCalls,
                    ])
                    .clone();
            }
            if tape.one_in(30) {
                answer.text.clear();
            }
            EventKind::ModelAnswered { effect, answer }
        }
    }
}

fn answer_text(ask: &AskModel, world: &RandomWorld, tape: &mut ChoiceTape) -> String {
    let step = world.step(&ask.id);
    let text = match ask.purpose {
        Purpose::PlanGeneration => plan(world, tape),
        Purpose::TieredSelection => {
            let lists = [r#"["t/read", "t/convert"]"#, r#"["t/fly"]"#, "[]", "all of them", r#"{"tools": ["t/pay"]}"#];
            tape.pick_text(&lists).to_owned()
        }
        Purpose::MicroResolution => changes(step, tape),
        Purpose::Synthesis => tape.pick_text(&["all is done", "it cost 12345 won", "{{s0.v}}"]).to_owned(),
        _ => advice(step, tape),
    };
    wrap(text, tape)
}

/// A valid plan, one with misspelt names, or one that must be rejected.
fn plan(world: &RandomWorld, tape: &mut ChoiceTape) -> String {
    let text = world.plan.to_value().to_string();
    match tape.below(10) {
        5 => text.replace("\"t\"", "\"flights\""),
        6 => text.replace("\"s1\"", "\"s0\""),
        7 => r#"{"plan_id": "p", "steps": []}"#.to_owned(),
        8 => text.replacen("\"depends_on\":[]", "\"depends_on\":[\"s9\"]", 1),
        9 => text.chars().take(text.len() / 2).collect(),
        _ => text,
    }
}

/// Advice about a failed call: clear, contradictory, or no advice at all.
fn advice(step: Option<&Step>, tape: &mut ChoiceTape) -> String {
    match tape.below(10) {
        0..=3 => {
            let changes = changes(step, tape);
            return format!(r#"{{"should_retry": true, "reason": "so it is", "suggested_changes": {changes}}}"#);
        }
        9 => return changes(step, tape),
        _ => {}
    }
    let retry = tape.pick_text(&["true", "true", "false", "\"yes\"", "\"no\"", "1", "null"]);
    let transient = tape.pick_text(&["false", "true", "\"maybe\""]);
    let (retry_name, changes_name) = *tape.pick(&[
        ("should_retry", "suggested_changes"),
        ("should_retry", "corrected_parameters"),
        ("can_fix", "corrected_payload"),
    ]);
    let changes = match tape.below(12) {
        10 => "[]".to_owned(),
        11 => "null".to_owned(),
        _ => changes(step, tape),
    };
    let removed = if tape.one_in(4) { format!(r#", "remove": ["{}"]"#, tape.pick_text(&NAMES)) } else { String::new() };
    format!(
        r#"{{"{retry_name}": {retry}, "reason": "because {{{{s0.v}}}}", "{changes_name}": {changes}, "is_transient_error": {transient}{removed}}}"#
    )
}

/// Parameters with values, as a model writes them: suitable for the step, or arbitrary.
fn changes(step: Option<&Step>, tape: &mut ChoiceTape) -> String {
    if let Some(step) = step.filter(|_| tape.below(3) < 2) {
        let name = required_parameter(step);
        let value = match tape.below(4) {
            3 => tape.pick_text(&MODEL_VALUES).to_owned(),
            _ => fitting_value(name, tape),
        };
        // A parameter that the plan gives and the question does not ask for.
        let mut others = step.parameters().into_iter().flat_map(Object::keys).filter(|other| *other != name);
        let other = others.next().filter(|_| tape.one_in(2));
        let other = other.map(|other| format!(r#", "{other}": {}"#, fitting_value(other, tape))).unwrap_or_default();
        return format!(r#"{{"{name}": {value}{other}}}"#);
    }
    let count = tape.below(4);
    let entries: Vec<String> = (0..count)
        .map(|_| {
            let name = tape.pick_text(&NAMES);
            let value = match tape.below(9) {
                0..=3 => tape.pick_text(&LITERALS).to_owned(),
                8 => Value::from("long ".repeat(10_000)).to_string(),
                _ => tape.pick_text(&MODEL_VALUES).to_owned(),
            };
            format!(r#""{name}": {value}"#)
        })
        .collect();
    format!("{{{}}}", entries.join(", "))
}

/// The text as models deliver it: bare, fenced, in prose, or truncated.
fn wrap(text: String, tape: &mut ChoiceTape) -> String {
    match tape.below(14) {
        9 => format!("```json\n{text}\n```"),
        10 => format!("Sure! Here it is:\n{text}\nI hope that helps."),
        11 => format!("<think>{{\"should_retry\": true}}</think>{text}"),
        12 => "I cannot tell.".to_owned(),
        13 => text.chars().take(text.len() * 2 / 3).collect(),
        _ => text,
    }
}

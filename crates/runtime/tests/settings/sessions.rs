//! `[session]` and `[guard]`.

use std::collections::BTreeSet;

use reknit_model_api::{Message, Purpose};

use crate::case::{Case, case};
use crate::scene::{Observation, Scene};
use crate::scripted_transport::{ModelReply, ToolBehavior};

/// A model that calls a tool in every turn and never reports.
fn busy() -> Scene {
    let scene = Scene::request(|_, _| ModelReply::ToolCall("t__read", "{}"));
    Scene { is_session: true, tool: |_, _| ToolBehavior::RespondWithText(8_000), ..scene }
}

/// The same with a tool that takes four seconds.
fn slow() -> Scene {
    Scene { tool: |_, _| ToolBehavior::SucceedAfter(4_000), ..busy() }
}

/// The same with a tool that rejects every call.
fn rejected() -> Scene {
    Scene { tool: |_, _| ToolBehavior::Respond(400, r#"{"message": "no such thing"}"#), ..busy() }
}

/// A model that writes a call as text in every turn.
fn writes_calls() -> Scene {
    let scene = Scene::request(|_, _| ModelReply::Text(CALL.to_owned()));
    Scene { is_session: true, ..scene }
}

/// A model that answers with a sentence in every turn.
fn writes_text() -> Scene {
    Scene { is_session: true, ..Scene::request(|_, _| ModelReply::Text("It is done.".to_owned())) }
}

/// A call as text.
const CALL: &str = r#"{"name": "t__read", "arguments": {}}"#;

/// The purposes of all questions, each once.
fn purposes(observed: &Observation) -> String {
    let names: BTreeSet<String> = observed.log.asks.iter().map(|(_, ask)| format!("{:?}", ask.purpose)).collect();
    names.into_iter().collect::<Vec<_>>().join(" ")
}

/// A model that replies with empty text.
fn silent() -> Scene {
    Scene { is_session: true, ..Scene::request(|_, _| ModelReply::Text(String::new())) }
}

fn count_turns(observed: &Observation) -> String {
    let turn = |id: &str| id.split('/').next().unwrap_or_default().to_owned();
    let mut turns: Vec<String> = observed.log.asks.iter().map(|(_, ask)| turn(&ask.id.to_string())).collect();
    turns.dedup();
    turns.len().to_string()
}

fn attempts_of_the_first_turn(observed: &Observation) -> String {
    let first = observed.log.asks[0].1.id.to_string().split('/').next().unwrap_or_default().to_owned() + "/";
    observed.log.asks.iter().filter(|(_, ask)| ask.id.to_string().starts_with(&first)).count().to_string()
}

/// The size of the result in the second turn.
fn result_size(observed: &Observation) -> String {
    let messages = &observed.log.asks[1].1.request.messages;
    let length = |message: &Message| matches!(message, Message::Tool { .. }).then(|| message.text().len());
    let length = messages.iter().find_map(length).expect("there is a result");
    format!("{} KB", length.div_ceil(1_024))
}

pub(crate) fn cases() -> Vec<Case> {
    use Purpose::AgentTurn as Turn;
    vec![
        case("session.max-turns", "4", busy, count_turns, ("10", "4")),
        case("session.max-retries", "2", silent, attempts_of_the_first_turn, ("3", "2")),
        case(
            "session.max-output-tokens",
            "7",
            silent,
            |observed| observed.ask(Turn).request.max_tokens.to_string(),
            ("4096", "7"),
        ),
        case(
            "session.llm-timeout",
            "\"7s\"",
            silent,
            |observed| format!("{:?}", observed.ask(Turn).request.timeout_ms),
            ("Some(600000)", "Some(7000)"),
        ),
        case(
            "session.temperature",
            "\"default\"",
            silent,
            |observed| {
                format!("{:?}", observed.ask(Turn).request.temperature.map(|temperature| temperature.to_string()))
            },
            ("Some(\"0\")", "None"),
        ),
        case(
            "session.reasoning",
            "\"high\"",
            silent,
            |observed| format!("{:?}", observed.ask(Turn).request.effort),
            ("None", "Some(High)"),
        ),
        case("session.max-time", "\"10s\"", slow, count_turns, ("10", "3")),
        case(
            "session.mending",
            "\"models\"",
            rejected,
            purposes,
            ("AgentTurn", "AgentTurn ErrorAnalysis SemanticRetry"),
        ),
        case("guard.level", "\"targets\"", busy, purposes, ("AgentTurn", "AgentTurn Mandate")),
        case("session.text-calls", "false", writes_calls, |observed| observed.log.calls.len().to_string(), ("9", "0")),
        case("session.text-answers", "true", writes_text, |observed| observed.log.asks.len().to_string(), ("6", "1")),
        case("session.result-bytes", "2048", busy, result_size, ("8 KB", "3 KB")),
    ]
}

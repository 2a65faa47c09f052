//! How agents turn and end.

use reknit_dialogue::{Message, Purpose};

use crate::edge::{Does, Says};
use crate::row::{Row, row};
use crate::scene::{Scene, Seen};

/// A model that calls a tool in every turn, and never reports.
fn busy() -> Scene {
    let scene = Scene::request(|_, _| Says::Calls("t__read", "{}"));
    Scene { session: true, tool: |_, _| Does::Talks(8_000), ..scene }
}

/// A model that says nothing at all.
fn silent() -> Scene {
    Scene { session: true, ..Scene::request(|_, _| Says::Words(String::new())) }
}

fn turns(seen: &Seen) -> String {
    let turn = |id: &str| id.split('/').next().unwrap_or_default().to_owned();
    let mut turns: Vec<String> = seen.log.asks.iter().map(|(_, ask)| turn(&ask.id.to_string())).collect();
    turns.dedup();
    turns.len().to_string()
}

fn attempts_of_the_first_turn(seen: &Seen) -> String {
    let first = seen.log.asks[0].1.id.to_string().split('/').next().unwrap_or_default().to_owned() + "/";
    seen.log.asks.iter().filter(|(_, ask)| ask.id.to_string().starts_with(&first)).count().to_string()
}

/// How much of the result the second turn is shown.
fn shown(seen: &Seen) -> String {
    let messages = &seen.log.asks[1].1.request.messages;
    let length = |message: &Message| matches!(message, Message::Tool { .. }).then(|| message.text().len());
    let length = messages.iter().find_map(length).expect("there is a result");
    format!("{} KB", length.div_ceil(1_024))
}

pub(crate) fn rows() -> Vec<Row> {
    use Purpose::AgentTurn as Turn;
    vec![
        row("session.max-turns", "4", busy, turns, ("10", "4")),
        row("session.max-retries", "2", silent, attempts_of_the_first_turn, ("3", "2")),
        row(
            "session.max-output-tokens",
            "7",
            silent,
            |seen| seen.ask(Turn).request.max_tokens.to_string(),
            ("4096", "7"),
        ),
        row(
            "session.llm-timeout",
            "\"7s\"",
            silent,
            |seen| format!("{:?}", seen.ask(Turn).request.max_ms),
            ("Some(600000)", "Some(7000)"),
        ),
        row(
            "session.temperature",
            "\"default\"",
            silent,
            |seen| format!("{:?}", seen.ask(Turn).request.temperature.map(|temperature| temperature.to_string())),
            ("Some(\"0\")", "None"),
        ),
        row(
            "session.reasoning",
            "\"high\"",
            silent,
            |seen| format!("{:?}", seen.ask(Turn).request.effort),
            ("None", "Some(High)"),
        ),
        row("session.result-bytes", "2048", busy, shown, ("8 KB", "3 KB")),
    ]
}

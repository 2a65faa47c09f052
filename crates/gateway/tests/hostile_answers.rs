//! Random answers of models that write calls in any way: what a client gets differs from what the model wrote only if a change is
//! recorded, which the gateway puts into its headers.
#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a test that panics has failed, and says where")]

#[path = "../../engine/tests/run/random_worlds/choice_tape.rs"]
mod choice_tape;
#[path = "../../engine/tests/run/many_worlds.rs"]
mod many_worlds;

use std::fmt::Write as _;

use choice_tape::ChoiceTape;
use many_worlds::{play_asked_worlds, play_worlds};
use reknit_gateway::{AnswerMender, MendedAnswer};
use reknit_model_api::{FinishReason, Message, ModelAnswer, ModelRequest, ToolCall, ToolChoice, ToolDefinition, Usage};
use reknit_protocol::Value;

const TAPE_LENGTH: usize = 60;

const SCHEMAS: [&str; 3] = [
    r#"{"type": "object", "required": ["amount"], "additionalProperties": false,
        "properties": {"to": {"type": "string"}, "amount": {"type": "integer"}}}"#,
    r#"{"type": "object", "properties": {"to": {"enum": ["Ann", "Bob"]}, "amount": {"type": "number"}, "day": {"type": "string", "format": "date"}}}"#,
    "{}",
];

const VALUES: [&str; 10] = ["5", "\"5\"", "5.0", "\"ann\"", "ann", "'ann'", "true", "null", "[5]", "\"5 \\u00e9\""];

const NAMES: [&str; 6] = ["to", "amount", "Amount", "day", "to", "unknown"];

/// The arguments of a call, well or badly written.
fn arguments(tape: &mut ChoiceTape) -> String {
    let count = tape.below(4);
    let members: Vec<String> = (0..count)
        .map(|_| {
            let quote = tape.pick_text(&["\"", "\"", "\"", "'", ""]);
            format!("{quote}{}{quote}: {}", tape.pick_text(&NAMES), tape.pick_text(&VALUES))
        })
        .collect();
    let exact = format!("{{{}}}", members.join(", "));
    match tape.below(14) {
        0 => format!("{exact}}}"),
        1 => format!("```json\n{exact}\n```"),
        2 => format!("I pay: {exact}"),
        3 => exact.replace('}', ",}"),
        4 => exact.replace(", ", " /* or 20 */, "),
        5 => Value::from(exact.as_str()).to_string(),
        6 => format!("[{exact}]"),
        7 => format!(r#"{{"arguments": {exact}}}"#),
        8 => exact.chars().take(exact.len() / 2).collect(),
        _ => exact,
    }
}

/// How many calls a client gets, and how many of them are not as they were written.
fn play(seed: u64) -> [usize; 2] {
    let tape = &mut ChoiceTape::from_seed(seed, TAPE_LENGTH);
    let tool = |name: &str, schema: &str| ToolDefinition {
        name: name.to_owned(),
        description: String::new(),
        schema: Value::parse(schema).expect("a schema"),
    };
    let tools = vec![tool("bank__pay", tape.pick_text(&SCHEMAS)), tool("bank__read", "{}")];
    let request = ModelRequest::new(vec![Message::user("Pay ann 5.")], 100).with_tools(tools, ToolChoice::Auto);
    let written: Vec<(String, String)> = (0..=tape.below(2))
        .map(|_| {
            let names = ["bank__pay", "bank__pay", "bank__read", "bankPay", "functions.bank__pay", "bank.pay", "fly"];
            (tape.pick_text(&names).to_owned(), arguments(tape))
        })
        .collect();
    let is_text = tape.one_in(4);
    let mut answer = ModelAnswer::complete("", "m", Usage::reported(1, 1));
    for (number, (name, arguments)) in written.iter().enumerate() {
        if is_text {
            writeln!(answer.text, r#"<tool_call>{{"name": "{name}", "arguments": {arguments}}}</tool_call>"#)
                .expect("a text takes any line");
        } else {
            answer.tool_calls.push(ToolCall::new(format!("id_{number}"), name.as_str(), arguments.as_str()));
        }
    }
    answer.finish = if is_text { FinishReason::Complete } else { FinishReason::ToolCalls };
    let mended = match AnswerMender::new(&request).mend(answer) {
        Ok(mended) => mended,
        Err(unusable) => match unusable.harmless {
            Some(harmless) => *harmless,
            // The client gets an error.
            None => return [0, 0],
        },
    };
    check(&mended, &written, is_text)
}

fn check(mended: &MendedAnswer, written: &[(String, String)], is_text: bool) -> [usize; 2] {
    let calls = &mended.answer.tool_calls;
    let is_as_written = |call: &&ToolCall| {
        !is_text && written.iter().any(|(name, arguments)| *name == call.name && *arguments == call.arguments)
    };
    let changed = calls.iter().filter(|call| !is_as_written(call)).count();
    let is_lost = !is_text && calls.len() != written.len();
    let is_told = !mended.changes.is_empty();
    assert!(is_told || changed == 0 && !is_lost, "a change is not told: {written:?} {mended:?}");
    // What is passed on without a doubt is JSON.
    let is_sound = |call: &ToolCall| Value::parse(&call.arguments).is_ok_and(|value| value.as_object().is_some());
    assert!(!mended.doubts.is_empty() || calls.iter().all(is_sound), "damaged arguments: {written:?} {mended:?}");
    [calls.len(), changed]
}

#[test]
fn a_client_gets_no_call_that_differs_from_what_the_model_wrote_without_a_record() {
    let [calls, changed] = play_worlds(0, 10_000, play);
    assert!(calls >= 5_000 && changed >= 1_000, "hardly any calls: {calls} {changed}");
}

#[test]
#[ignore = "bench/worlds/run plays many worlds"]
fn many_worlds_of_the_gateway() {
    play_asked_worlds("gateway", ["calls that a client gets", "of them changed and told"], play);
}

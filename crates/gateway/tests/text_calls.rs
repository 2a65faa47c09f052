//! Calls that models write as text, in every notation: what a client gets, streamed and whole.
#![cfg(test)]

use reknit_gateway::{AnswerMender, Identity, MendedAnswer, StreamMender, StreamWriter};
use reknit_model_api::{
    Api, Delta, FinishReason, Message, ModelAnswer, ModelRequest, ToolChoice, ToolDefinition, Usage,
};
use reknit_protocol::Value;
use reknit_salvage::without_reasoning;

const BESIDE: &str = "I would write this, and do not.";

/// The texts of models, shared with the tests of the reader.
const CASES: &str = include_str!("../../salvage/tests/cases/text_calls.jsonl");

fn texts() -> Vec<String> {
    let text = |line: &str| Value::parse(line).unwrap().get("text").and_then(Value::as_str).unwrap().to_owned();
    CASES.lines().map(text).collect()
}

fn request() -> ModelRequest {
    let tool = |name: &str| {
        let schema = Value::parse(r#"{"type": "object"}"#).unwrap();
        ToolDefinition { name: name.into(), description: String::new(), schema }
    };
    let tools = ["weather", "note", "now"].map(tool).to_vec();
    ModelRequest::new(vec![Message::user("Go on.")], 100).with_tools(tools, ToolChoice::Auto)
}

fn answer(text: &str) -> ModelAnswer {
    ModelAnswer { finish: FinishReason::Complete, ..ModelAnswer::complete(text, "m", Usage::reported(1, 1)) }
}

/// The answer as it is passed on: mended, or as it is where a call beside other text has to be asked for.
fn mended(text: &str) -> MendedAnswer {
    let request = request();
    AnswerMender::new(&request).mend(answer(text)).unwrap_or_else(|unusable| *unusable.harmless.unwrap())
}

/// The text and the names of the calls that a client gets when the text arrives in these pieces.
fn streamed<'a>(pieces: impl Iterator<Item = &'a str>, whole: &MendedAnswer) -> (String, Vec<String>) {
    let request = request();
    let mender = AnswerMender::new(&request);
    let writer = StreamWriter::new(Api::ChatCompletions, Identity { id: "1".to_owned(), created: 0 }, "m", false);
    let mut stream = StreamMender::new(writer, Some(&mender), false);
    let mut sent: Vec<u8> = pieces.flat_map(|piece| stream.delta(Delta::Text(piece))).collect();
    sent.extend(stream.end(whole, false));
    let (mut text, mut names) = (String::new(), Vec::new());
    for line in String::from_utf8(sent).unwrap().lines().filter_map(|line| line.strip_prefix("data: {")) {
        let event = Value::parse(&format!("{{{line}")).unwrap();
        let Some(delta) = event.get("choices").and_then(|choices| choices.as_array()?.first()?.get("delta")) else {
            continue;
        };
        text.push_str(delta.get("content").and_then(Value::as_str).unwrap_or_default());
        for call in delta.get("tool_calls").and_then(Value::as_array).unwrap_or_default() {
            names.extend(call.get("function").and_then(|call| call.get("name")?.as_str()).map(str::to_owned));
        }
    }
    (text, names)
}

#[test]
fn a_stream_has_the_text_and_the_calls_of_the_whole_answer_wherever_it_is_cut() {
    for text in texts() {
        let whole = mended(&text);
        let names: Vec<String> = whole.answer.tool_calls.iter().map(|call| call.name.clone()).collect();
        let expected = (whole.answer.text.trim().to_owned(), names);
        let trimmed = |(text, names): (String, Vec<String>)| (text.trim().to_owned(), names);
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        for at in &places {
            let (first, second) = text.split_at(*at);
            assert_eq!(trimmed(streamed([first, second].into_iter(), &whole)), expected, "{first}|{second}");
        }
        let letters = places.iter().map(|at| {
            let letter = text[*at..].chars().next().unwrap();
            &text[*at..*at + letter.len_utf8()]
        });
        assert_eq!(trimmed(streamed(letters, &whole)), expected, "{text}");
    }
}

#[test]
fn a_call_that_is_all_of_an_answer_is_made_in_every_notation_and_reasoning_stays_where_it_was() {
    let mut made = 0;
    for line in CASES.lines() {
        let case = Value::parse(line).unwrap();
        let [text, rest] = ["text", "rest"].map(|key| case.get(key).and_then(Value::as_str).unwrap());
        if !without_reasoning(rest).is_empty() {
            continue;
        }
        let MendedAnswer { answer, .. } = mended(text);
        let count = case.get("calls").and_then(Value::as_array).unwrap().len();
        assert_eq!((answer.tool_calls.len(), answer.text.as_str()), (count, rest), "{text}");
        assert_eq!(answer.finish, FinishReason::ToolCalls);
        made += 1;
    }
    assert!(made > 50, "{made}");
}

#[test]
fn a_call_beside_other_text_is_not_made_in_any_notation() {
    let mut left = 0;
    for line in CASES.lines() {
        let case = Value::parse(line).unwrap();
        let [text, rest] = ["text", "rest"].map(|key| case.get(key).and_then(Value::as_str).unwrap());
        let texts = if without_reasoning(rest).is_empty() {
            vec![format!("{BESIDE}\n{text}"), format!("{text}\n{BESIDE}")]
        } else {
            vec![text.to_owned()]
        };
        // What stands before the end of reasoning is reasoning.
        let has_prose = |text: &&String| !text.contains(BESIDE) || without_reasoning(text).contains(BESIDE);
        for text in texts.iter().filter(has_prose) {
            let MendedAnswer { answer, .. } = mended(text);
            assert_eq!((answer.tool_calls.len(), answer.text.as_str()), (0, text.as_str()));
            left += 1;
        }
    }
    assert!(left > 100, "{left}");
}

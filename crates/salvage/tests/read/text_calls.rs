//! Calls that models write as text, in the notations of public models: `tests/cases/text_calls.jsonl`.

use reknit_protocol::{Object, Value};
use reknit_salvage::{TextCall, TextCalls, calls_in_text};

/// A text of a model, and the calls in it.
struct Case {
    format: String,
    text: String,
    calls: Vec<(String, Object)>,
    rest: String,
}

fn cases() -> Vec<Case> {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).expect("a text").to_owned();
    let call = |call: &Value| {
        let arguments = call.get("arguments").and_then(Value::as_object).expect("arguments");
        (text(call, "name"), arguments.clone())
    };
    let lines = include_str!("../cases/text_calls.jsonl").lines();
    let read = |line: &str| {
        let case = Value::parse(line).expect("a case");
        let calls = case.get("calls").and_then(Value::as_array).expect("calls").iter().map(call).collect();
        Case { format: text(&case, "format"), text: text(&case, "text"), calls, rest: text(&case, "rest") }
    };
    lines.map(read).collect()
}

const TOOLS: [&str; 3] = ["weather", "note", "now"];

fn found(text: &str) -> (Vec<(String, Object)>, String) {
    let TextCalls { calls, rest, .. } = calls_in_text(text, |call: &TextCall| TOOLS.contains(&call.name.as_str()));
    (calls.into_iter().map(|call| (call.name, call.parameters)).collect(), rest)
}

#[test]
fn the_calls_of_every_notation_are_recognised_and_all_other_text_stays() {
    let cases = cases();
    let mut formats: Vec<&str> = cases.iter().map(|case| case.format.as_str()).collect();
    formats.sort_unstable();
    formats.dedup();
    assert!(formats.len() >= 36, "{formats:?}");
    let wrong = |case: &&Case| found(&case.text) != (case.calls.clone(), case.rest.clone());
    let wrong: Vec<String> = cases
        .iter()
        .filter(wrong)
        .map(|case| format!("{}: {}\n  {:?}", case.format, case.text, found(&case.text)))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn a_text_that_is_cut_has_no_call_that_the_whole_text_does_not_have() {
    for Case { text, calls, .. } in cases() {
        for (at, _) in text.char_indices() {
            let (some, _) = found(&text[..at]);
            assert!(calls.starts_with(&some), "{}\n  {some:?}", &text[..at]);
        }
    }
}

#[test]
fn a_call_of_a_tool_that_does_not_exist_is_text_in_every_notation() {
    for Case { text, .. } in cases() {
        let TextCalls { calls, rest, .. } = calls_in_text(&text, |_| false);
        assert_eq!((calls.len(), rest.as_str()), (0, text.trim()));
    }
}

#[test]
fn many_tokens_without_calls_are_read_in_little_time_and_a_call_among_some_is_found() {
    let call = "<tool_call>{\"name\": \"now\", \"arguments\": {}}</tool_call>";
    for token in [
        "<tool_call>{",
        "[TOOL_CALLS]now{\"",
        "<function_calls>\n<invoke name=\"now\">",
        "Action:\n",
        "<|tool_call>call:now{<escape>",
    ] {
        let started = std::time::Instant::now();
        assert_eq!(found(&token.repeat(300)).0, [], "{token}");
        assert!(started.elapsed().as_secs() < 15, "{token}: {:?}", started.elapsed());
        let (calls, _) = found(&format!("{}\n{call}", format!("{token}\n").repeat(8)));
        assert_eq!(calls.len(), 1, "{token}");
    }
}

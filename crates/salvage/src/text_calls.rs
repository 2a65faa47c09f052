//! Recognises tool calls that a model wrote as text. [`text_call_verdict`](crate::text_call_verdict) decides whether they are made.
//!
//! A call counts only where it cannot be part of a sentence: as the whole answer, as the whole content of a fenced block,
//! or in a tag such as `<tool_call>` on lines of its own. Reasoning is never searched.

use std::ops::Range;

use reknit_protocol::{Object, Path, Segment, Value, word_enum};
use serde::{Deserialize, Serialize};

use crate::repair::read::complete_reading;
use crate::{Completeness, Fix, FixKind, ReadOptions, Reading, read};

word_enum! {
    /// How a call was written as text.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum TextCallForm {
        /// As JSON that is the whole answer.
        WholeAnswer = "whole_answer",
        /// As JSON in a fenced block.
        Fence = "fenced_block",
        /// Between tags.
        Tag = "tag",
        /// As `name(key=value)`.
        FunctionCall = "function_call",
    }
}

impl TextCallForm {
    /// Where the call stood, as in `written as text between tags`.
    pub const fn place(self) -> &'static str {
        match self {
            Self::WholeAnswer => "as the whole answer",
            Self::Fence => "in a fenced block",
            Self::Tag => "between tags",
            Self::FunctionCall => "like a function call",
        }
    }
}

/// A call written as text.
#[derive(Debug, Clone, PartialEq)]
pub struct TextCall {
    pub name: String,
    pub parameters: Object,
    pub form: TextCallForm,
    /// What was changed in the text to read it.
    pub fixes: Vec<Fix>,
}

/// The calls in a text, and the text without them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TextCalls {
    pub calls: Vec<TextCall>,
    /// The texts that hold the calls: the insides of tags and fences, or the whole text.
    pub bodies: Vec<String>,
    /// The text around them, trimmed.
    pub rest: String,
}

/// The tags around a call. A tag without an end reaches to the end of the text.
const TAGS: [(&str, &str); 7] = [
    ("<tool_call>", "</tool_call>"),
    ("<tool_calls>", "</tool_calls>"),
    ("<tools>", "</tools>"),
    ("<function_call>", "</function_call>"),
    ("<|tool_call|>", "<|/tool_call|>"),
    ("<|python_tag|>", "<|eom_id|>"),
    ("[TOOL_CALLS]", "[/TOOL_CALLS]"),
];

/// The beginning of `<function=NAME>...</function>`.
const FUNCTION_TAG: &str = "<function=";
const FUNCTION_END: &str = "</function>";

const REASONING: [(&str, &str); 3] =
    [("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<reasoning>", "</reasoning>")];

/// The fenced blocks that can hold a call, by the word after the fence.
const FENCE_LANGUAGES: [&str; 8] = ["", "json", "jsonc", "tool_call", "tool_calls", "tool_code", "python", "text"];

/// What a line of a text that is still arriving may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineStart {
    /// Nothing that is a call.
    Text,
    Unknown,
    /// A call between tags.
    Tag,
    /// A fenced block, or the end of one.
    Fence {
        /// Whether the block may be a call, by the word after the fence.
        can_hold_call: bool,
    },
    /// JSON.
    Json,
}

/// What a line may begin, for text that arrives in pieces. `line` has no space before it.
pub fn line_start(line: &str, is_complete: bool) -> LineStart {
    if let Some(word) = line.strip_prefix("```") {
        let can_hold_call = FENCE_LANGUAGES.contains(&word.trim().to_ascii_lowercase().as_str());
        return if is_complete { LineStart::Fence { can_hold_call } } else { LineStart::Unknown };
    }
    let tags = TAGS.iter().map(|(open, _)| *open).chain([FUNCTION_TAG]);
    if tags.clone().any(|tag| line.starts_with(tag)) {
        return LineStart::Tag;
    }
    let may_go_on = |start: &str| !is_complete && start.starts_with(line);
    if may_go_on("```") || tags.into_iter().any(may_go_on) {
        return LineStart::Unknown;
    }
    if line.starts_with(['{', '[']) { LineStart::Json } else { LineStart::Text }
}

/// Finds the calls that `is_callable` accepts.
pub fn calls_in_text(text: &str, is_callable: impl Fn(&TextCall) -> bool) -> TextCalls {
    let accepted =
        |calls: Vec<TextCall>| Some(calls).filter(|calls| !calls.is_empty() && calls.iter().all(&is_callable));
    let mut found: Vec<(Range<usize>, &str, Vec<TextCall>)> = Vec::new();
    for (range, body) in tagged_blocks(text) {
        found.extend(accepted(calls_in_tag(body)).map(|calls| (range, body, calls)));
    }
    if found.is_empty() {
        for (range, body) in fenced_blocks(text) {
            found.extend(accepted(calls_in_block(body, TextCallForm::Fence)).map(|calls| (range, body, calls)));
        }
    }
    if found.is_empty() {
        let calls = accepted(calls_in_block(text, TextCallForm::WholeAnswer));
        found.extend(calls.map(|calls| (0..text.len(), text, calls)));
    }
    let mut all = TextCalls::default();
    let mut end = 0;
    for (range, body, calls) in found {
        all.rest.push_str(text.get(end..range.start).unwrap_or_default());
        end = range.end;
        all.bodies.push(body.to_owned());
        all.calls.extend(calls);
    }
    all.rest.push_str(text.get(end..).unwrap_or_default());
    TextCalls { rest: all.rest.trim().to_owned(), ..all }
}

/// The text without reasoning that the model wrote between tags. An opening tag without an end hides everything after
/// it, and an end without an opening tag everything before it.
pub fn without_reasoning(text: &str) -> String {
    let mut rest = text.to_owned();
    for (open, close) in REASONING {
        if let Some(end) = rest.find(close)
            && rest.find(open).is_none_or(|start| start > end)
        {
            rest.drain(..end + close.len());
        }
        while let Some(start) = rest.find(open) {
            let end = rest.get(start..).and_then(|tail| tail.find(close)).map(|at| start + at + close.len());
            rest.drain(start..end.unwrap_or(rest.len()));
        }
    }
    rest.trim().to_owned()
}

/// The bodies of tags that stand on lines of their own, with their places.
fn tagged_blocks(text: &str) -> Vec<(Range<usize>, &str)> {
    let mut blocks: Vec<(Range<usize>, &str)> = Vec::new();
    let mut from = 0;
    while let Some((start, open, close)) = next_tag(text, from) {
        let body_start = if open == FUNCTION_TAG { start } else { start + open.len() };
        let tail = text.get(body_start..).unwrap_or_default();
        let (body_end, end) = match tail.find(close) {
            Some(at) => (body_start + at, body_start + at + close.len()),
            None => (text.len(), text.len()),
        };
        if starts_line(text, start, blocks.last()) && ends_line(text, end) {
            blocks.push((start..end, text.get(body_start..body_end).unwrap_or_default()));
        }
        from = end;
    }
    blocks
}

/// The next opening tag: its place, the tag and its end.
fn next_tag(text: &str, from: usize) -> Option<(usize, &'static str, &'static str)> {
    let tail = text.get(from..)?;
    let tags = TAGS.into_iter().chain([(FUNCTION_TAG, FUNCTION_END)]);
    tags.filter_map(|(open, close)| Some((from + tail.find(open)?, open, close))).min_by_key(|(at, ..)| *at)
}

/// Whether only white space, or another block, stands before the place on its line.
fn starts_line(text: &str, start: usize, previous: Option<&(Range<usize>, &str)>) -> bool {
    let after_block = previous.map_or(0, |(range, _)| range.end);
    let line = text.get(after_block..start).unwrap_or_default();
    let line = line.rsplit('\n').next().unwrap_or_default();
    line.trim().is_empty()
}

/// Whether only white space, or another tag, follows the place on its line.
fn ends_line(text: &str, end: usize) -> bool {
    let line = text.get(end..).unwrap_or_default().lines().next().unwrap_or_default().trim();
    line.is_empty() || next_tag(line, 0).is_some_and(|(at, ..)| at == 0)
}

fn fenced_blocks(text: &str) -> Vec<(Range<usize>, &str)> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, usize, bool)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        let Some(word) = line.trim().strip_prefix("```") else { continue };
        open = match open {
            None => Some((start, end, FENCE_LANGUAGES.contains(&word.trim().to_ascii_lowercase().as_str()))),
            Some((from, body, can_hold_call)) => {
                if can_hold_call {
                    blocks.push((from..end, text.get(body..start).unwrap_or_default()));
                }
                None
            }
        };
    }
    blocks
}

/// The calls in the body of a tag: JSON, or `<function=NAME>` with its parameters.
fn calls_in_tag(body: &str) -> Vec<TextCall> {
    let body = body.trim();
    if !body.starts_with(FUNCTION_TAG) {
        return json_calls(body, TextCallForm::Tag);
    }
    function_tag(body).into_iter().collect()
}

/// `<function=NAME>{...}</function>`, or with `<parameter=KEY>value</parameter>`.
fn function_tag(body: &str) -> Option<TextCall> {
    let (name, content) = body.strip_prefix(FUNCTION_TAG)?.split_once('>')?;
    let content = content.split(FUNCTION_END).next().unwrap_or_default().trim();
    let (parameters, fixes) = match content {
        "" => (Object::new(), Vec::new()),
        _ if content.starts_with("<parameter=") => (parameter_tags(content)?, Vec::new()),
        _ => whole_object(content)?,
    };
    let name = name.trim().trim_matches(['"', '\'']).to_owned();
    Some(TextCall { name, parameters, form: TextCallForm::Tag, fixes })
}

fn parameter_tags(content: &str) -> Option<Object> {
    let mut parameters = Object::new();
    for part in content.split("<parameter=").skip(1) {
        let (name, value) = part.split_once('>')?;
        let value = value.split("</parameter>").next().unwrap_or_default();
        let value = value.strip_prefix('\n').unwrap_or(value);
        let earlier = parameters.insert(name.trim(), value.strip_suffix('\n').unwrap_or(value));
        if earlier.is_some() {
            return None;
        }
    }
    Some(parameters)
}

/// The calls in a block that holds nothing else: JSON, or `name(key=value)`.
fn calls_in_block(body: &str, form: TextCallForm) -> Vec<TextCall> {
    let body = body.trim();
    let calls = json_calls(body, form);
    if calls.is_empty() { function_call(body).into_iter().collect() } else { calls }
}

/// The calls in a JSON document: one, a list, or `{"tool_calls": [...]}`. Empty unless every item is a call.
fn json_calls(body: &str, form: TextCallForm) -> Vec<TextCall> {
    let Some(Reading { value, fixes, .. }) = whole_json(body) else { return Vec::new() };
    let items = match &value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(object) => match object.get("tool_calls").and_then(Value::as_array) {
            Some(items) => items.iter().collect(),
            None => vec![&value],
        },
        _ => Vec::new(),
    };
    let call = |item: &Value| {
        let call = read_call(item.as_object()?, form)?;
        Some(TextCall { fixes: fixes.iter().cloned().chain(call.fixes).collect(), ..call })
    };
    items.into_iter().map(call).collect::<Option<_>>().unwrap_or_default()
}

/// `{"name": ..., "arguments": ...}` under its usual names: the name and the parameters.
pub fn call_of_object(object: &Object) -> Option<(String, Object)> {
    read_call(object, TextCallForm::WholeAnswer).map(|call| (call.name, call.parameters))
}

fn read_call(object: &Object, form: TextCallForm) -> Option<TextCall> {
    let call = object.get("function").and_then(Value::as_object).unwrap_or(object);
    let all = |names: &'static [&str]| names.iter().filter_map(|name| call.get(name));
    // A model that repeats the definition of a tool does not call it.
    let schema = call.get("parameters").and_then(Value::as_object);
    if call.contains_key("description") && schema.is_some_and(|schema| schema.contains_key("properties")) {
        return None;
    }
    let name = all(&["name", "tool_name", "tool", "function", "action"]).next()?.as_str()?.to_owned();
    let mut arguments = all(&["arguments", "parameters", "args", "input", "action_input"]);
    let first = arguments.next()?;
    // Which of two different ones is meant is not known.
    if arguments.any(|other| other != first) {
        return None;
    }
    let (parameters, fixes) = match first {
        Value::Object(parameters) => (parameters.clone(), Vec::new()),
        Value::String(text) => {
            let reading = complete_reading(text).ok()?;
            (reading.value.as_object()?.clone(), reading.fixes)
        }
        Value::Null => (Object::new(), Vec::new()),
        _ => return None,
    };
    Some(TextCall { name, parameters, form, fixes })
}

/// `name({...})` or `name(key=value, ...)`.
fn function_call(body: &str) -> Option<TextCall> {
    let (name, rest) = body.split_once('(')?;
    let is_name = |character: char| character.is_ascii_alphanumeric() || "_-.".contains(character);
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    let inner = rest.trim_end_matches(';').trim_end().strip_suffix(')')?.trim();
    let (parameters, fixes) = match inner {
        "" => (Object::new(), Vec::new()),
        _ if inner.starts_with('{') => whole_object(inner)?,
        _ => keyword_arguments(inner)?,
    };
    Some(TextCall { name: name.to_owned(), parameters, form: TextCallForm::FunctionCall, fixes })
}

fn keyword_arguments(inner: &str) -> Option<(Object, Vec<Fix>)> {
    let mut parameters = Object::new();
    let mut fixes = Vec::new();
    for part in split_at_commas(inner)? {
        let (key, value) = part.split_once('=')?;
        let key = key.trim();
        let is_key = |character: char| character.is_ascii_alphanumeric() || character == '_';
        if key.is_empty() || !key.chars().all(is_key) || parameters.contains_key(key) {
            return None;
        }
        let reading = complete_reading(value.trim()).ok()?;
        let place = |path: &Path| {
            std::iter::once(Segment::Key(key.to_owned())).chain(path.segments().iter().cloned()).collect()
        };
        fixes.extend(reading.fixes.into_iter().map(|fix| Fix { path: place(&fix.path), ..fix }));
        parameters.insert(key, reading.value);
    }
    Some((parameters, fixes))
}

/// The parts between commas that are not inside quotes or brackets; `None` if a quote or a bracket is not closed.
fn split_at_commas(text: &str) -> Option<Vec<&str>> {
    let (mut parts, mut start, mut depth, mut quote, mut escaped) = (Vec::new(), 0, 0_i32, None, false);
    for (at, character) in text.char_indices() {
        match (quote, character) {
            (Some(_), '\\') if !escaped => {
                escaped = true;
                continue;
            }
            (Some(open), _) if character == open && !escaped => quote = None,
            (None, '"' | '\'') => quote = Some(character),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, ',') if depth == 0 => {
                parts.push(text.get(start..at)?);
                start = at + 1;
            }
            _ => {}
        }
        escaped = false;
        if depth < 0 {
            return None;
        }
    }
    let tail = text.get(start..)?;
    if !tail.trim().is_empty() {
        parts.push(tail);
    }
    (depth == 0 && quote.is_none()).then_some(parts)
}

/// The JSON document that is the whole text. Text around it, or a missing end, is no match.
fn whole_json(text: &str) -> Option<Reading> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let reading = read(text, &ReadOptions::default()).ok()?;
    let is_part = |kind: FixKind| {
        matches!(kind, FixKind::Fence | FixKind::SurroundingText | FixKind::Mention | FixKind::Reasoning)
    };
    let is_whole = reading.completeness == Completeness::Complete && !reading.fixes.iter().any(|fix| is_part(fix.kind));
    is_whole.then_some(reading)
}

fn whole_object(text: &str) -> Option<(Object, Vec<Fix>)> {
    let Reading { value, fixes, .. } = whole_json(text)?;
    Some((Object::try_from(value).ok()?, fixes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> (Vec<String>, String) {
        let is_known = |call: &TextCall| ["weather", "agent__final_report"].contains(&call.name.as_str());
        let TextCalls { calls, rest, .. } = calls_in_text(text, is_known);
        (calls.iter().map(|call| format!("{}{}", call.name, call.parameters)).collect(), rest)
    }

    #[test]
    fn a_call_is_found_where_it_is_the_whole_answer_a_fenced_block_or_a_tag() {
        let call = r#"weather{"city":"Seoul"}"#;
        for text in [
            r#"{"name": "weather", "arguments": {"city": "Seoul"}}"#,
            r#"{"name": "weather", "arguments": "{\"city\": \"Seoul\"}"}"#,
            r#"{"type": "function", "function": {"name": "weather", "parameters": {"city": "Seoul"}}}"#,
            r#"{"tool": "weather", "input": {city: 'Seoul',}}"#,
            r#"[{"name": "weather", "arguments": {"city": "Seoul"}}]"#,
            r#"{"tool_calls": [{"name": "weather", "arguments": {"city": "Seoul"}}]}"#,
            "I look it up.\n```json\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Seoul\"}}\n```\n",
            "```tool_code\nweather(city=\"Seoul\")\n```",
            "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Seoul\"}}\n</tool_call>",
            "<tools>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Seoul\"}}\n</tools>",
            "Let me see.\n<tool_call>{\"name\": \"weather\", \"arguments\": {\"city\": \"Seoul\"}}",
            "<function=weather>{\"city\": \"Seoul\"}</function>",
            "<tool_call>\n<function=weather>\n<parameter=city>\nSeoul\n</parameter>\n</function>\n</tool_call>",
            "[TOOL_CALLS] [{\"name\": \"weather\", \"arguments\": {\"city\": \"Seoul\"}}]",
            "weather(city='Seoul')",
            "weather({\"city\": \"Seoul\"})",
        ] {
            assert_eq!(found(text).0, [call], "{text}");
        }
    }

    #[test]
    fn several_calls_keep_their_order_and_the_other_text_stays() {
        let one = r#"{"name": "weather", "arguments": {"city": "Seoul"}}"#;
        let two = r#"{"name": "weather", "arguments": {"city": "Busan"}}"#;
        let both = [r#"weather{"city":"Seoul"}"#, r#"weather{"city":"Busan"}"#];
        assert_eq!(found(&format!("{one}\n{two}")).0, both);
        let (calls, rest) = found(&format!("First.\n<tool_call>{one}</tool_call><tool_call>{two}</tool_call>\nLast."));
        assert_eq!((calls.as_slice(), rest.as_str()), (&both.map(str::to_owned)[..], "First.\n\nLast."));
    }

    #[test]
    fn a_call_inside_a_sentence_or_of_an_unknown_tool_is_not_found() {
        for text in [
            "I should not call weather(city='Seoul').",
            "I should not call {\"name\": \"weather\", \"arguments\": {\"city\": \"Seoul\"}} now.",
            r#"<tools>{"type": "function", "function": {"name": "weather", "description": "Weather.", "parameters": {"properties": {}}}}</tools>"#,
            "Do not write <tool_call>{\"name\": \"weather\", \"arguments\": {}}</tool_call> here.",
            "I could write <tool_call>{\"name\": \"weather\", \"arguments\": {}}</tool_call>",
            "{\"name\": \"weather\", \"arguments\": {\"city\": \"Se",
            "{\"name\": \"cancel\", \"arguments\": {\"id\": 7}}",
            "{\"name\": \"weather\"}",
            "```rust\nweather(city='Seoul')\n```",
            "weather(Seoul)",
            "weather(city='Seoul'",
            "A fence ```json {\"name\": \"weather\", \"arguments\": {}}``` in a line",
        ] {
            assert_eq!(found(text), (Vec::new(), text.trim().to_owned()), "{text}");
        }
    }

    #[test]
    fn reasoning_between_tags_is_removed() {
        for (text, rest) in [
            ("<think>call weather</think>\nhello", "hello"),
            ("<think>never ends", ""),
            ("the beginning was cut</think>hello", "hello"),
            ("<thinking>a</thinking>b<thinking>c</thinking>", "b"),
            ("no tags", "no tags"),
        ] {
            assert_eq!(without_reasoning(text), rest, "{text}");
        }
    }
}

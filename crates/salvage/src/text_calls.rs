//! Recognises tool calls that a model wrote as text. [`text_call_verdict`](crate::text_call_verdict) decides whether they are made.
//!
//! A call counts only where it cannot be part of a sentence: as the whole answer, as the whole content of a fenced block,
//! or behind a token that begins calls, such as `<tool_call>`. The tokens of the models are in one table, `grammars.rs`.
//! Reasoning is never searched.

mod blocks;
mod code;
mod grammars;
mod json;
mod line_start;
mod markup;
mod named;
mod reasoning;

use std::ops::Range;

use reknit_protocol::{Object, word_enum};
use serde::{Deserialize, Serialize};

use self::blocks::{fenced_blocks, token_blocks};
use self::code::{function_call, listed, python_calls};
use self::json::json_calls;
use crate::Fix;

pub use self::json::call_of_object;
pub use self::line_start::{LineStart, TokenInLine, line_start, token_in_line};
pub use self::reasoning::{reasoning_end, without_reasoning};

word_enum! {
    /// How a call was written as text.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum TextCallForm {
        /// As the whole answer: JSON, or a list of `name(key=value)`.
        WholeAnswer = "whole_answer",
        /// In a fenced block.
        Fence = "fenced_block",
        /// Between tags, or behind another token that begins calls.
        Tag = "tag",
        /// The same in a line that has other text.
        TagInLine = "tag_in_line",
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
            Self::TagInLine => "between tags in a line of text",
            Self::FunctionCall => "like a function call",
        }
    }

    /// Whether text that only shows a call looks the same.
    pub const fn is_ambiguous(self) -> bool {
        matches!(self, Self::TagInLine | Self::FunctionCall)
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

impl TextCall {
    fn between_tags(name: &str, parameters: Object, fixes: Vec<Fix>) -> Self {
        Self { name: name.to_owned(), parameters, form: TextCallForm::Tag, fixes }
    }
}

/// The text that may be calls.
#[derive(Debug, Clone, Copy)]
struct Body<'a> {
    text: &'a str,
    /// Whether a token ends it; else the text does, and may be cut.
    is_closed: bool,
}

/// The calls in a text, and the text without them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TextCalls {
    pub calls: Vec<TextCall>,
    /// The texts that hold the calls: the insides of tags and fences, or the whole text.
    pub bodies: Vec<String>,
    /// The text around them, with the reasoning, trimmed.
    pub rest: String,
}

/// Calls that were found at one place.
struct Block<'a> {
    range: Range<usize>,
    body: &'a str,
    calls: Vec<TextCall>,
}

/// Tokens behind the answer of a model.
const STOP_TOKENS: [&str; 7] =
    ["<|im_end|>", "<|eot_id|>", "<|eom_id|>", "</s>", "<end_of_turn>", "<|endoftext|>", "<｜end▁of▁sentence｜>"];

/// Finds the calls that `is_callable` accepts.
pub fn calls_in_text(text: &str, is_callable: impl Fn(&TextCall) -> bool) -> TextCalls {
    let is_accepted = |calls: &[TextCall]| !calls.is_empty() && calls.iter().all(&is_callable);
    let hidden = reasoning::reasoning(text);
    let mut found = token_blocks(text, &hidden, &is_accepted);
    if found.is_empty() {
        found = fenced_blocks(text, &hidden);
        found.retain(|block| is_accepted(&block.calls));
    }
    if found.is_empty() {
        found.extend(whole_answer(text, &hidden).filter(|block| is_accepted(&block.calls)));
    }
    let mut all = TextCalls::default();
    let mut end = 0;
    for Block { range, body, calls } in found {
        all.rest.push_str(text.get(end..range.start).unwrap_or_default());
        end = range.end;
        all.bodies.push(body.to_owned());
        all.calls.extend(calls);
    }
    all.rest.push_str(text.get(end..).unwrap_or_default());
    TextCalls { rest: all.rest.trim().to_owned(), ..all }
}

/// The calls that are all of a text but its reasoning, which stands before them.
fn whole_answer<'a>(text: &'a str, hidden: &[Range<usize>]) -> Option<Block<'a>> {
    let is_empty = |from: usize, to: usize| text.get(from..to).is_some_and(|part| part.trim().is_empty());
    let mut start = 0;
    for range in hidden {
        if !is_empty(start, range.start) {
            return None;
        }
        start = range.end;
    }
    let mut body = text.get(start..)?.trim();
    while let Some(shorter) = STOP_TOKENS.iter().find_map(|token| body.strip_suffix(token)) {
        body = shorter.trim_end();
    }
    Some(Block { range: start..text.len(), body, calls: calls_in_block(body, TextCallForm::WholeAnswer) })
}

/// The calls in a block that holds nothing else: JSON, a list of `name(key=value)`, or one of them alone.
fn calls_in_block(text: &str, form: TextCallForm) -> Vec<TextCall> {
    let body = Body { text: text.trim(), is_closed: true };
    let is_list = listed(body.text).is_some();
    let calls = json_calls(&body).or_else(|| if is_list { python_calls(&body) } else { None });
    match calls {
        Some(calls) => with_form(calls, form),
        None => with_form(function_call(body.text).into_iter().collect(), TextCallForm::FunctionCall),
    }
}

fn with_form(calls: Vec<TextCall>, form: TextCallForm) -> Vec<TextCall> {
    calls.into_iter().map(|call| TextCall { form, ..call }).collect()
}

/// A text without the tokens that stand before it.
fn without_marks<'a>(text: &'a str, marks: &[&str]) -> &'a str {
    let mut rest = text.trim();
    while let Some(shorter) = marks.iter().find_map(|mark| rest.strip_prefix(mark)) {
        rest = shorter.trim_start();
    }
    rest
}

/// Whether a text can be the name of a tool.
fn is_name(text: &str) -> bool {
    let is_part = |character: char| character.is_ascii_alphanumeric() || "_-.:/".contains(character);
    !text.is_empty() && text.chars().all(is_part)
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
    fn a_token_in_a_line_of_text_is_marked_as_such_and_one_of_a_model_is_not() {
        let form = |text: &str| calls_in_text(text, |_| true).calls.first().map(|call| call.form);
        for (text, expected) in [
            ("I could write <tool_call>{\"name\": \"now\", \"arguments\": {}}</tool_call>", TextCallForm::TagInLine),
            ("I could write <|python_start|>[now()]<|python_end|> here.", TextCallForm::TagInLine),
            ("I look.[TOOL_CALLS]now{}", TextCallForm::Tag),
            ("<tool_calls><tool_call>now</tool_call></tool_calls>", TextCallForm::Tag),
            ("</think><tool_call>now</tool_call><|im_end|>", TextCallForm::Tag),
            ("[now()]", TextCallForm::WholeAnswer),
            ("```tool_code\nnow()\n```", TextCallForm::Fence),
            ("```python\n[now()]\n```", TextCallForm::FunctionCall),
        ] {
            assert_eq!(form(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_call_inside_a_sentence_or_of_an_unknown_tool_is_not_found() {
        for text in [
            "I should not call weather(city='Seoul').",
            "I should not call {\"name\": \"weather\", \"arguments\": {\"city\": \"Seoul\"}} now.",
            r#"<tools>{"type": "function", "function": {"name": "weather", "description": "Weather.", "parameters": {"properties": {}}}}</tools>"#,
            "Do not write <tool_call>{\"name\": \"weather\", \"arguments\": {}}</tool_call> here.",
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
}

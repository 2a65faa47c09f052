//! An answer as it comes together.

use reknit_dialogue::{Answer, ErrorClass, Failure, Finish, FormatUsed, Request, Usage};
use serde_json::Value;

/// An answer as it comes together, out of one body or out of many events.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    text: String,
    reasoning: String,
    refusal: String,
    tool_calls: usize,
    finish: Option<Finish>,
    usage: Option<Usage>,
    model: Option<String>,
    skipped_events: u32,
    end_mark: bool,
}

/// What one event has brought.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Seen<'a> {
    /// A sign of life; the text is what it adds to the answer, if anything.
    Progress(&'a str),
    /// The mark behind the last event.
    EndMark,
    /// Nothing that can be read. It was counted.
    Nothing,
}

/// What a body in one piece has brought.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Whole<'a> {
    /// An answer, with this text.
    Text(&'a str),
    /// Something that has no place for an answer.
    NoAnswer,
}

/// A body that reports an error instead of an answer.
#[derive(Debug, PartialEq)]
pub(crate) struct Refused(pub(crate) Value);

impl Reading {
    /// Takes one event of a stream.
    pub(crate) fn event(&mut self, data: &[u8]) -> Result<Seen<'_>, Refused> {
        if data.trim_ascii() == b"[DONE]" {
            self.end_mark = true;
            return Ok(Seen::EndMark);
        }
        let Some(json) = serde_json::from_slice::<Value>(data).ok().filter(Value::is_object) else {
            self.skipped_events = self.skipped_events.saturating_add(1);
            return Ok(Seen::Nothing);
        };
        let before = self.text.len();
        self.take(json, "delta")?;
        Ok(Seen::Progress(self.text.get(before..).unwrap_or_default()))
    }

    /// Takes the whole body of an answer in one piece.
    pub(crate) fn whole(&mut self, json: Value) -> Result<Whole<'_>, Refused> {
        let has_choices = json.get("choices").is_some_and(Value::is_array);
        self.take(json, "message")?;
        self.end_mark = true;
        Ok(if has_choices { Whole::Text(&self.text) } else { Whole::NoAnswer })
    }

    /// Whether the server has ended the answer. What comes to an end without it was cut.
    pub(crate) fn is_ended(&self) -> bool {
        self.finish.is_some() || self.end_mark
    }

    /// Whether anything of the answer is there, words or thoughts.
    pub(crate) fn is_begun(&self) -> bool {
        !self.text.is_empty() || !self.reasoning.is_empty() || !self.refusal.is_empty() || self.tool_calls > 0
    }

    /// How far the answer has come, for messages: ` after 12 characters of the answer`.
    pub(crate) fn reached(&self) -> String {
        match (self.text.chars().count(), self.reasoning.chars().count()) {
            (0, 0) => String::new(),
            (0, thoughts) => format!(" after {thoughts} characters of reasoning"),
            (words, _) => format!(" after {words} characters of the answer"),
        }
    }

    /// What was used so far: the server's count, else ours.
    pub(crate) fn usage(&self, request: &Request) -> Usage {
        self.usage.unwrap_or_else(|| Usage::estimate(request, &[self.reasoning.as_str(), &self.text].concat()))
    }

    /// The answer, if there is one in what the server has ended.
    pub(crate) fn conclude(
        mut self,
        request: &Request,
        model: &str,
        format_used: FormatUsed,
    ) -> Result<Answer, Failure> {
        let usage = self.usage(request);
        if let Some(failure) = self.defect() {
            return Err(failure.with_usage(usage));
        }
        Ok(Answer {
            text: self.text,
            finish: self.finish.unwrap_or_else(|| Finish::Other("unstated".to_owned())),
            usage,
            model: self.model.take().unwrap_or_else(|| model.to_owned()),
            format_used,
            skipped_events: self.skipped_events,
        })
    }

    /// Why this is no answer, though the server thinks it is.
    fn defect(&self) -> Option<Failure> {
        if let Some(Finish::Other(reason)) = &self.finish
            && BROKEN_OFF.contains(&reason.as_str())
        {
            let message = format!("the server broke the answer off ({reason}){}", self.reached());
            return Some(Failure::new(ErrorClass::NetworkError, message));
        }
        if !self.text.trim().is_empty() {
            return None;
        }
        if !self.refusal.trim().is_empty() {
            return Some(Failure::new(ErrorClass::ContentFilter, self.refusal.trim()));
        }
        if self.finish == Some(Finish::ContentFilter) {
            return Some(Failure::new(ErrorClass::ContentFilter, "the server held the whole answer back"));
        }
        Some(Failure::new(ErrorClass::InvalidResponse, self.empty()))
    }

    /// That there is no text, and what there is.
    fn empty(&self) -> String {
        let mut rest = Vec::new();
        if let Some(finish) = &self.finish {
            rest.push(format!("finish reason `{finish}`"));
        }
        if !self.reasoning.is_empty() {
            rest.push(format!("{} characters of reasoning", self.reasoning.chars().count()));
        }
        if self.tool_calls > 0 {
            rest.push(format!("calls of tools: {}", self.tool_calls));
        }
        if self.skipped_events > 0 {
            rest.push(format!("events that cannot be read: {}", self.skipped_events));
        }
        if rest.is_empty() { "no text".to_owned() } else { format!("no text ({})", rest.join(", ")) }
    }

    fn take(&mut self, json: Value, part: &str) -> Result<(), Refused> {
        if json.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Refused(json));
        }
        if let Some(model) = json.get("model").and_then(Value::as_str).filter(|model| !model.is_empty()) {
            self.model = Some(model.to_owned());
        }
        if let Some(usage) = json.get("usage").and_then(usage) {
            self.usage = Some(usage);
        }
        let Some(choice) = json.get("choices").and_then(Value::as_array).and_then(|choices| first(choices)) else {
            return Ok(());
        };
        if let Some(part) = choice.get(part) {
            self.take_part(part);
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.finish = Some(finish(reason));
        }
        Ok(())
    }

    fn take_part(&mut self, part: &Value) {
        push_text(&mut self.text, part.get("content"));
        push_text(&mut self.reasoning, part.get("reasoning_content").or_else(|| part.get("reasoning")));
        push_text(&mut self.refusal, part.get("refusal"));
        let calls = part.get("tool_calls").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        // A streamed call comes in pieces, of which only the first has the name.
        self.tool_calls += calls.iter().filter(|call| call.pointer("/function/name").is_some()).count();
    }
}

/// Finish reasons that mean the opposite: the server could not go on.
const BROKEN_OFF: &[&str] = &["error", "insufficient_system_resource"];

/// One answer is asked for; a server that sends more is heard once.
fn first(choices: &[Value]) -> Option<&Value> {
    choices.iter().find(|choice| choice.get("index").is_none_or(|index| *index == 0))
}

/// Text comes as a string or as parts with text in them.
fn push_text(text: &mut String, content: Option<&Value>) {
    match content {
        Some(Value::String(words)) => text.push_str(words),
        Some(Value::Array(parts)) => {
            for words in parts.iter().filter_map(|part| part.get("text")?.as_str()) {
                text.push_str(words);
            }
        }
        _ => {}
    }
}

fn usage(json: &Value) -> Option<Usage> {
    Some(Usage::reported(json.get("prompt_tokens")?.as_u64()?, json.get("completion_tokens")?.as_u64()?))
}

fn finish(reason: &str) -> Finish {
    match reason {
        "stop" => Finish::Complete,
        "length" => Finish::Length,
        "content_filter" => Finish::ContentFilter,
        "tool_calls" | "function_call" => Finish::ToolCalls,
        other => Finish::Other(other.to_owned()),
    }
}

#[cfg(test)]
mod tests;

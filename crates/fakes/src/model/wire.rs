//! The wire formats of the providers.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use reknit_protocol::Value;
use serde_json::json;

use super::{ModelApi, ReceivedRequest, RequestMessage};
use crate::Reply;
use crate::reply::{Framing, Refusal, Rendered, ScriptedCall, TokenCounts, Usage};

/// The answer of the model, independent of the wire format.
pub(super) struct ModelAnswer<'a> {
    id: String,
    model: &'a str,
    text: &'a str,
    reasoning: &'a str,
    calls: &'a [ScriptedCall],
    finish: &'a str,
    usage: Option<(u64, u64)>,
    wants_usage_in_stream: bool,
}

impl ModelApi {
    pub(super) fn messages(self, body: &Value) -> Vec<RequestMessage> {
        match self {
            Self::Chat => chat::messages(body),
            Self::Responses => responses::messages(body),
            Self::Anthropic => anthropic::messages(body),
            Self::Gemini => gemini::messages(body),
        }
    }

    /// The reply in this wire format.
    pub(super) fn render(self, request: &ReceivedRequest, reply: &Reply, text: &str, status: u16) -> Rendered {
        let answer = ModelAnswer {
            id: format!("scripted-{}", request.nth),
            model: request.model(),
            text,
            reasoning: &reply.reasoning,
            calls: &reply.calls,
            finish: match reply.finish_reason.as_deref().unwrap_or("stop") {
                "stop" if !reply.calls.is_empty() => "tool_calls",
                finish => finish,
            },
            usage: usage(request, reply, text),
            wants_usage_in_stream: request.wants_usage_in_stream(),
        };
        if request.streaming {
            let mut chunks = match self {
                Self::Chat => chat::stream_events(&answer),
                Self::Responses => responses::stream_events(&answer),
                Self::Anthropic => anthropic::stream_events(&answer),
                Self::Gemini => gemini::stream_events(&answer),
            };
            // In the other formats the last event also carries content.
            if reply.is_unterminated && matches!(self, Self::Chat | Self::Anthropic) {
                chunks.pop();
            }
            return Rendered { status, content_type: "text/event-stream", chunks, framing: Framing::Chunks };
        }
        let body = match self {
            Self::Chat => chat::body(&answer),
            Self::Responses => responses::body(&answer),
            Self::Anthropic => anthropic::body(&answer),
            Self::Gemini => gemini::body(&answer),
        };
        Rendered::one_chunk(status, body.to_string())
    }

    /// The status and the body of a refusal.
    pub(super) fn refuse(self, refusal: &Refusal) -> (u16, String) {
        let (status, body) = match (self, refusal) {
            (Self::Chat | Self::Responses, Refusal::ContextLength) => {
                let message =
                    "This model's maximum context length is 8192 tokens. Please reduce the length of the messages.";
                (400, openai("context_length_exceeded", message))
            }
            (Self::Chat | Self::Responses, Refusal::ContentFilter(reason)) => {
                (400, openai("content_policy_violation", reason))
            }
            (Self::Anthropic, Refusal::ContextLength) => {
                (400, anthropic("prompt is too long: 210000 tokens > 200000 maximum"))
            }
            (Self::Anthropic, Refusal::ContentFilter(reason)) => (400, anthropic(reason)),
            (Self::Gemini, Refusal::ContextLength) => {
                let message = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048575).";
                (400, json!({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}))
            }
            // Gemini reports it in a successful response, in place of an answer.
            (Self::Gemini, Refusal::ContentFilter(reason)) => {
                let feedback = json!({"blockReason": "PROHIBITED_CONTENT", "blockReasonMessage": reason});
                (200, json!({"promptFeedback": feedback}))
            }
        };
        (status, body.to_string())
    }
}

/// Splits a text so finely that words, escapes and numbers are divided, as real streams divide them.
fn fragments(text: &str) -> impl Iterator<Item = String> {
    const CHARACTERS: usize = 7;
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(CHARACTERS).map(|part| part.iter().collect()).collect::<Vec<String>>().into_iter()
}

/// A string, or the text of all content parts, joined by line breaks.
fn joined_text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts =
                parts.iter().filter_map(|part| part.get("text").or(part.get("content")).and_then(Value::as_str));
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn request_message(role: &str, content: String) -> RequestMessage {
    RequestMessage { role: role.to_owned(), content }
}

/// The id of a tool call: the same with and without streaming.
fn call_id(answer: &ModelAnswer<'_>, index: usize) -> String {
    format!("{}-call-{}", answer.id, index + 1)
}

/// The arguments as JSON, for formats that do not have them as text. Text that is not JSON becomes a string.
fn arguments(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|_| serde_json::Value::String(text.to_owned()))
}

/// Sets a member of a JSON object.
fn set(object: &mut serde_json::Value, key: &str, value: serde_json::Value) {
    if let Some(members) = object.as_object_mut() {
        members.insert(key.to_owned(), value);
    }
}

fn usage(request: &ReceivedRequest, reply: &Reply, text: &str) -> Option<(u64, u64)> {
    match reply.usage {
        Usage::Absent => None,
        Usage::Fixed(TokenCounts { prompt, completion }) => Some((prompt, completion)),
        Usage::CountWords => Some((word_count(&request.text()), word_count(text))),
    }
}

fn word_count(text: &str) -> u64 {
    u64::try_from(text.split_whitespace().count()).unwrap_or(u64::MAX)
}

fn openai(code: &str, message: &str) -> serde_json::Value {
    json!({"error": {"message": message, "type": "invalid_request_error", "code": code}})
}

fn anthropic(message: &str) -> serde_json::Value {
    json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}})
}

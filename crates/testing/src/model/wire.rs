//! One script in the wire format of each provider.

mod anthropic;
mod chat;
mod gemini;
mod refusal;
mod responses;

use reknit_protocol::Value;

use super::{Message, ModelRequest};
use crate::Reply;
use crate::reply::{Framing, Rendered, Usage};

/// The wire formats that a scripted model speaks, each at the path of its provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Api {
    /// `/v1/chat/completions`.
    Chat,
    /// `/v1/responses`.
    Responses,
    /// `/v1/messages`.
    Anthropic,
    /// `/v1/models/NAME:generateContent` and `:streamGenerateContent`, and the same under `/v1beta`.
    Gemini,
}

/// What the model says, ready for any format.
pub(super) struct Said<'a> {
    id: String,
    model: &'a str,
    text: &'a str,
    reasoning: &'a str,
    calls: &'a [(String, String)],
    finish: &'a str,
    usage: Option<(u64, u64)>,
    wants_usage_in_stream: bool,
}

impl Api {
    pub(super) fn messages(self, body: &Value) -> Vec<Message> {
        match self {
            Self::Chat => chat::messages(body),
            Self::Responses => responses::messages(body),
            Self::Anthropic => anthropic::messages(body),
            Self::Gemini => gemini::messages(body),
        }
    }

    /// The reply in this format.
    pub(super) fn render(self, request: &ModelRequest, reply: &Reply, text: &str, status: u16) -> Rendered {
        let said = Said {
            id: format!("scripted-{}", request.nth),
            model: request.model(),
            text,
            reasoning: &reply.reasoning,
            calls: &reply.calls,
            finish: match reply.finish_reason.as_str() {
                "stop" if !reply.calls.is_empty() => "tool_calls",
                finish => finish,
            },
            usage: usage(request, reply, text),
            wants_usage_in_stream: request.wants_usage_in_stream(),
        };
        if request.is_streaming() {
            let mut chunks = match self {
                Self::Chat => chat::events(&said),
                Self::Responses => responses::events(&said),
                Self::Anthropic => anthropic::events(&said),
                Self::Gemini => gemini::events(&said),
            };
            // In the other formats the last event says more than that.
            if !reply.is_terminated() && matches!(self, Self::Chat | Self::Anthropic) {
                chunks.pop();
            }
            return Rendered { status, content_type: "text/event-stream", chunks, framing: Framing::Chunks };
        }
        let body = match self {
            Self::Chat => chat::whole(&said),
            Self::Responses => responses::whole(&said),
            Self::Anthropic => anthropic::whole(&said),
            Self::Gemini => gemini::whole(&said),
        };
        Rendered::whole(status, body.to_string())
    }
}

/// Small enough that words, escapes and numbers are torn apart, as real streams tear them.
fn pieces(text: &str) -> impl Iterator<Item = String> {
    const LETTERS: usize = 7;
    let letters: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = letters.chunks(LETTERS).map(|piece| piece.iter().collect()).collect();
    pieces.into_iter()
}

/// The texts of a string, or of parts that have some, joined by line breaks.
fn texts(content: Option<&Value>) -> String {
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

fn message(role: &str, content: String) -> Message {
    Message { role: role.to_owned(), content }
}

/// The id of a call: the same in a stream and in one piece.
fn call_id(said: &Said<'_>, index: usize) -> String {
    format!("{}-call-{}", said.id, index + 1)
}

/// The arguments as an object, for formats that have them so; what is none stands in a text.
fn arguments(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|_no_json| serde_json::Value::String(text.to_owned()))
}

fn usage(request: &ModelRequest, reply: &Reply, text: &str) -> Option<(u64, u64)> {
    match reply.usage {
        Usage::Absent => None,
        Usage::Given { prompt, completion } => Some((prompt, completion)),
        Usage::Counted => Some((words(&request.text()), words(text))),
    }
}

fn words(text: &str) -> u64 {
    u64::try_from(text.split_whitespace().count()).unwrap_or(u64::MAX)
}

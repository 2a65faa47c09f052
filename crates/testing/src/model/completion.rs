//! Words in the form that chat clients read.

use serde_json::{Value, json};

use super::ModelRequest;
use crate::Reply;
use crate::reply::{Framing, Rendered, Usage};

/// One answer in one piece.
pub(super) fn whole(request: &ModelRequest, reply: &Reply, text: &str, status: u16) -> Rendered {
    let mut body = json!({
        "id": id(request),
        "object": "chat.completion",
        "created": 0,
        "model": request.model(),
        "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "finish_reason": reply.finish_reason,
        }],
    });
    if let (Some(usage), Some(fields)) = (usage(request, reply, text), body.as_object_mut()) {
        fields.insert("usage".to_owned(), usage);
    }
    Rendered::whole(status, body.to_string())
}

/// The same answer as a stream of events, a few letters to each.
pub(super) fn streamed(request: &ModelRequest, reply: &Reply, text: &str, status: u16) -> Rendered {
    let choice = |delta: Value, finish: Value| json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
    let mut events = vec![chunk(request, &choice(json!({"role": "assistant", "content": ""}), Value::Null), None)];
    for piece in pieces(text) {
        events.push(chunk(request, &choice(json!({"content": piece}), Value::Null), None));
    }
    events.push(chunk(request, &choice(json!({}), json!(reply.finish_reason)), None));
    if let Some(usage) = usage(request, reply, text).filter(|_| request.wants_usage_in_stream()) {
        events.push(chunk(request, &json!([]), Some(usage)));
    }
    events.push("data: [DONE]\n\n".to_owned());
    Rendered { status, content_type: "text/event-stream", chunks: events, framing: Framing::Chunks }
}

fn chunk(request: &ModelRequest, choices: &Value, usage: Option<Value>) -> String {
    let mut event = json!({
        "id": id(request),
        "object": "chat.completion.chunk",
        "created": 0,
        "model": request.model(),
        "choices": choices,
    });
    if let (Some(usage), Some(fields)) = (usage, event.as_object_mut()) {
        fields.insert("usage".to_owned(), usage);
    }
    format!("data: {event}\n\n")
}

/// Small enough that words, escapes and numbers are torn apart, as real streams tear them.
fn pieces(text: &str) -> impl Iterator<Item = String> {
    const LETTERS: usize = 7;
    let letters: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = letters.chunks(LETTERS).map(|piece| piece.iter().collect()).collect();
    pieces.into_iter()
}

fn id(request: &ModelRequest) -> String {
    format!("scripted-{}", request.nth)
}

fn usage(request: &ModelRequest, reply: &Reply, text: &str) -> Option<Value> {
    let (prompt, completion) = match reply.usage {
        Usage::Absent => return None,
        Usage::Given { prompt, completion } => (prompt, completion),
        Usage::Counted => (words(&request.text()), words(text)),
    };
    Some(json!({
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt.saturating_add(completion),
    }))
}

fn words(text: &str) -> u64 {
    u64::try_from(text.split_whitespace().count()).unwrap_or(u64::MAX)
}

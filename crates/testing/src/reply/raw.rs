//! The file format of replies.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use super::{ConnectionFault, Ending, Position, Reply, Usage};

/// A reply in a script file: a `text`, or a `status` with a `body`, or a refusal, or a fault.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawReply {
    text: Option<String>,
    status: Option<u16>,
    body: Option<String>,
    refusal: Option<RawRefusal>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    retry_after: Option<u64>,
    delay_ms: Option<u64>,
    first_token_after_ms: Option<u64>,
    event_every_ms: Option<u64>,
    fault: Option<RawFault>,
    malformed_event: Option<usize>,
    #[serde(default)]
    without_terminator: bool,
    content_type: Option<String>,
    giant_bytes: Option<usize>,
    finish_reason: Option<String>,
    usage: Option<RawUsage>,
    reasoning: Option<String>,
    #[serde(default)]
    calls: Vec<RawCall>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCall {
    name: String,
    arguments: String,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum RawFault {
    Reset,
    Silence,
    CutAfter(usize),
    CutAfterEvents(usize),
    StallAfter(usize),
    StallAfterEvents(usize),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum RawRefusal {
    ContextLength,
    ContentFilter(String),
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawUsage {
    prompt: u64,
    completion: u64,
}

impl From<RawFault> for ConnectionFault {
    fn from(raw: RawFault) -> Self {
        match raw {
            RawFault::Reset => Self::Reset,
            RawFault::Silence => Self::Silence,
            RawFault::CutAfter(bytes) => Self::Cut { after: Position::Bytes(bytes) },
            RawFault::CutAfterEvents(events) => Self::Cut { after: Position::Events(events) },
            RawFault::StallAfter(bytes) => Self::Stall { after: Position::Bytes(bytes) },
            RawFault::StallAfterEvents(events) => Self::Stall { after: Position::Events(events) },
        }
    }
}

impl TryFrom<RawReply> for Reply {
    type Error = &'static str;

    fn try_from(raw: RawReply) -> Result<Self, &'static str> {
        let mut reply = reply_without_faults(&raw)?;
        reply.status = raw.status.or(reply.status);
        reply.delay = raw.delay_ms.map(Duration::from_millis);
        reply.headers.extend(raw.headers);
        if let Some(seconds) = raw.retry_after {
            reply = reply.retry_after(seconds);
        }
        if let Some(text) = raw.reasoning {
            reply = reply.reasoning(text);
        }
        for call in raw.calls {
            reply = reply.with_tool_call(call.name, call.arguments);
        }
        if let Some(reason) = raw.finish_reason {
            reply = reply.finish_reason(reason);
        }
        if let Some(RawUsage { prompt, completion }) = raw.usage {
            reply.usage = Usage::Fixed { prompt, completion };
        }
        reply.connection_fault = raw.fault.map_or(reply.connection_fault, ConnectionFault::from);
        reply.body_faults.first_token_after = raw.first_token_after_ms.map(Duration::from_millis);
        reply.body_faults.event_interval = raw.event_every_ms.map(Duration::from_millis);
        reply.body_faults.malformed_event = raw.malformed_event;
        reply.body_faults.content_type = raw.content_type;
        reply.body_faults.padding = raw.giant_bytes;
        if raw.without_terminator {
            reply.body_faults.ending = Ending::Unterminated;
        }
        Ok(reply)
    }
}

fn reply_without_faults(raw: &RawReply) -> Result<Reply, &'static str> {
    let present = [raw.text.is_some(), raw.body.is_some(), raw.refusal.is_some()];
    if present.into_iter().filter(|is_present| *is_present).count() > 1 {
        return Err("a reply may have only one of `text`, `body` and `refusal`");
    }
    // A tool call needs no text.
    let empty = (!raw.calls.is_empty()).then_some("");
    if let Some(text) = raw.text.as_deref().or(empty) {
        return Ok(Reply::text(text));
    }
    if let Some(body) = &raw.body {
        return Ok(Reply::status(200).body(body));
    }
    match (&raw.refusal, raw.status, raw.fault) {
        (Some(RawRefusal::ContextLength), ..) => Ok(Reply::context_length()),
        (Some(RawRefusal::ContentFilter(reason)), ..) => Ok(Reply::content_filter(reason.as_str())),
        (None, Some(status), _) => Ok(Reply::status(status)),
        (None, None, Some(RawFault::Reset)) => Ok(Reply::reset()),
        (None, None, Some(RawFault::Silence)) => Ok(Reply::silence()),
        (None, None, _) => Err("a reply needs `text`, `body`, `refusal`, `status`, or the fault `reset` or `silence`"),
    }
}

//! The file format of replies.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use super::{ConnectionFault, Content, Ending, Refusal, Reply, ScriptedCall, Usage};

/// A reply in a script file: a `text`, or a `status` with a `body`, or a refusal, or a fault.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawReply {
    text: Option<String>,
    status: Option<u16>,
    body: Option<String>,
    refusal: Option<Refusal>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    retry_after: Option<u64>,
    delay_ms: Option<u64>,
    first_token_after_ms: Option<u64>,
    event_every_ms: Option<u64>,
    fault: Option<ConnectionFault>,
    malformed_event: Option<usize>,
    #[serde(default)]
    without_terminator: bool,
    content_type: Option<String>,
    giant_bytes: Option<usize>,
    finish_reason: Option<String>,
    usage: Option<RawUsage>,
    reasoning: Option<String>,
    #[serde(default)]
    calls: Vec<ScriptedCall>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawUsage {
    prompt: u64,
    completion: u64,
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
        reply.calls = raw.calls;
        if let Some(reason) = raw.finish_reason {
            reply = reply.finish_reason(reason);
        }
        if let Some(RawUsage { prompt, completion }) = raw.usage {
            reply.usage = Usage::Fixed { prompt, completion };
        }
        reply.connection_fault = raw.fault;
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
        (Some(refusal), ..) => Ok(Reply::new(Content::Refusal(refusal.clone()))),
        (None, Some(status), _) => Ok(Reply::status(status)),
        (None, None, Some(ConnectionFault::Reset)) => Ok(Reply::reset()),
        (None, None, Some(ConnectionFault::Silence)) => Ok(Reply::silence()),
        (None, None, _) => Err("a reply needs `text`, `body`, `refusal`, `status`, or the fault `reset` or `silence`"),
    }
}

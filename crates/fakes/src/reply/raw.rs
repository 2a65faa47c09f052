//! The file format of replies.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use super::{ConnectionFault, Content, Refusal, Reply, ScriptedCall, TokenCounts, Usage};

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
    usage: Option<TokenCounts>,
    #[serde(default)]
    reasoning: String,
    #[serde(default)]
    calls: Vec<ScriptedCall>,
}

impl TryFrom<RawReply> for Reply {
    type Error = &'static str;

    fn try_from(raw: RawReply) -> Result<Self, &'static str> {
        let reply = Self {
            content: content(&raw)?,
            status: raw.status,
            headers: raw.headers.into_iter().collect(),
            delay: raw.delay_ms.map(Duration::from_millis),
            connection_fault: raw.fault,
            first_token_after: raw.first_token_after_ms.map(Duration::from_millis),
            event_interval: raw.event_every_ms.map(Duration::from_millis),
            malformed_event: raw.malformed_event,
            is_unterminated: raw.without_terminator,
            content_type: raw.content_type,
            padding: raw.giant_bytes,
            usage: raw.usage.map(Usage::Fixed).unwrap_or_default(),
            finish_reason: raw.finish_reason,
            reasoning: raw.reasoning,
            calls: raw.calls,
            ..Self::default()
        };
        Ok(raw.retry_after.into_iter().fold(reply, Self::retry_after))
    }
}

fn content(raw: &RawReply) -> Result<Content, &'static str> {
    let present = [raw.text.is_some(), raw.body.is_some(), raw.refusal.is_some()];
    if present.into_iter().filter(|is_present| *is_present).count() > 1 {
        return Err("a reply may have only one of `text`, `body` and `refusal`");
    }
    // A tool call needs no text.
    let empty = (!raw.calls.is_empty()).then_some("");
    if let Some(text) = raw.text.as_deref().or(empty) {
        return Ok(Content::Text(text.to_owned()));
    }
    match (&raw.body, &raw.refusal, raw.status, raw.fault) {
        (Some(body), ..) => Ok(Content::Body(body.clone())),
        (None, Some(refusal), ..) => Ok(Content::Refusal(refusal.clone())),
        (None, None, Some(_), _) | (.., Some(ConnectionFault::Reset | ConnectionFault::Silence)) => {
            Ok(Content::default())
        }
        _ => Err("a reply needs `text`, `body`, `refusal`, `status`, or the fault `reset` or `silence`"),
    }
}

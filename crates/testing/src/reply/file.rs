//! Replies as they are written in a file.

use std::time::Duration;

use serde::Deserialize;

use super::Reply;

/// What a script file says about a reply. Either `text`, or a `status` with a `body`, or a fault.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawReply {
    text: Option<String>,
    status: Option<u16>,
    body: Option<String>,
    retry_after: Option<u64>,
    delay_ms: Option<u64>,
    fault: Option<RawFault>,
    finish_reason: Option<String>,
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

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum RawFault {
    Reset,
    Silence,
    CutAfter(usize),
    StallAfter(usize),
}

impl TryFrom<RawReply> for Reply {
    type Error = &'static str;

    fn try_from(raw: RawReply) -> Result<Self, &'static str> {
        // Who calls a tool need not say anything.
        let text = raw.text.or_else(|| (!raw.calls.is_empty()).then(String::new));
        let mut reply = match (text, raw.body, raw.status, &raw.fault) {
            (Some(_), Some(_), ..) => return Err("a reply has either `text` or `body`"),
            (Some(text), None, ..) => Self::text(text),
            (None, Some(body), ..) => Self::status(200).body(body),
            (None, None, Some(status), _) => Self::status(status),
            (None, None, None, Some(RawFault::Reset)) => Self::reset(),
            (None, None, None, Some(RawFault::Silence)) => Self::silence(),
            (None, None, None, _) => {
                return Err("a reply has `text`, `body`, `status`, or the fault `reset` or `silence`");
            }
        };
        reply.status = raw.status.or(reply.status);
        reply.delay = raw.delay_ms.map(Duration::from_millis);
        if let Some(seconds) = raw.retry_after {
            reply = reply.retry_after(seconds);
        }
        if let Some(text) = raw.reasoning {
            reply = reply.reasoning(text);
        }
        for call in raw.calls {
            reply = reply.call(call.name, call.arguments);
        }
        if let Some(reason) = raw.finish_reason {
            reply = reply.finish_reason(reason);
        }
        reply.fault = match raw.fault {
            None => reply.fault,
            Some(RawFault::Reset) => super::Fault::Reset,
            Some(RawFault::Silence) => super::Fault::Silence,
            Some(RawFault::CutAfter(after)) => super::Fault::Cut { after },
            Some(RawFault::StallAfter(after)) => super::Fault::Stall { after },
        };
        Ok(reply)
    }
}

mod dialects;
mod laws;
mod phrases;

use super::*;
use crate::fault::{Verdict, classify_reply, extract_facts};
use reknit_protocol::{ReplyBody, ToolReply, Value};

/// The facts of a reply, as lines.
fn lines(status: u16, body: &str) -> Vec<String> {
    let body = Value::parse(body).map_or_else(|_| ReplyBody::Text(body.to_owned()), ReplyBody::Json);
    match classify_reply(&ToolReply { status, retry_after_ms: None, body }, 0) {
        Verdict::Success(_) => panic!("the reply is a success"),
        Verdict::Permanent(fault) | Verdict::Transient(fault) | Verdict::Correctable(fault) => {
            extract_facts(&fault).iter().map(ToString::to_string).collect()
        }
    }
}

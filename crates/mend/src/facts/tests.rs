mod dialects;
mod laws;
mod phrases;

use super::*;
use crate::fault::{ReplyContext, Verdict, classify_reply, extract_facts};
use reknit_protocol::{ReplyBody, SideEffect, ToolReply, Value};

/// The facts of a reply, as lines.
fn lines(status: u16, body: &str) -> Vec<String> {
    let body = Value::parse(body).map_or_else(|_| ReplyBody::Text(body.to_owned()), ReplyBody::Json);
    let reply = ToolReply { status, retry_after_ms: None, body, job: None };
    match classify_reply(&reply, ReplyContext::new(SideEffect::Read, 0)) {
        Verdict::Success(_) => panic!("the reply is a success"),
        Verdict::Permanent(fault) | Verdict::Transient(fault) | Verdict::Correctable(fault) => {
            extract_facts(&fault).iter().map(ToString::to_string).collect()
        }
    }
}

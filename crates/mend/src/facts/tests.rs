mod dialects;
mod laws;
mod phrases;

use super::*;
use crate::fault::{ReplyContext, Verdict, classify_reply, extract_facts};
use reknit_protocol::{ErrorFields, ReplyBody, SideEffect, ToolReply, Value};

/// The facts of a reply, as lines.
fn lines(status: u16, body: &str) -> Vec<String> {
    lines_with(status, body, None)
}

/// The facts of a reply of a tool that says where its errors name a parameter.
fn lines_with(status: u16, body: &str, error_fields: Option<&ErrorFields>) -> Vec<String> {
    let body = Value::parse(body).map_or_else(|_| ReplyBody::Text(body.to_owned()), ReplyBody::Json);
    let reply = ToolReply { status, retry_after_ms: None, body, job: None };
    match classify_reply(&reply, ReplyContext { error_fields, ..ReplyContext::new(SideEffect::Read, 0) }) {
        Verdict::Success(_) => panic!("the reply is a success"),
        Verdict::Permanent(fault) | Verdict::Transient(fault) | Verdict::Correctable(fault) => {
            extract_facts(&fault).iter().map(ToString::to_string).collect()
        }
    }
}

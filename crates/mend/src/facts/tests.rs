mod dialects;
mod laws;
mod phrases;

use super::*;
use crate::fault::{Verdict, judge_reply};
use reknit_protocol::Value;
use reknit_protocol::{ReplyBody, ToolReply};

/// The facts of an answer, as lines.
fn lines(status: u16, body: &str) -> Vec<String> {
    let body = Value::parse(body).map_or_else(|_| ReplyBody::Text(body.to_owned()), ReplyBody::Json);
    match judge_reply(&ToolReply { status, retry_after_ms: None, body }, 0) {
        Verdict::Success(_) => panic!("it is no failure"),
        Verdict::Stop(fault) | Verdict::SendAgain(fault) | Verdict::Mend(fault) => {
            facts(&fault).iter().map(ToString::to_string).collect()
        }
    }
}

/// The facts of a sentence, as lines.
fn said(text: &str) -> Vec<String> {
    facts_in(text, None).iter().map(ToString::to_string).collect()
}

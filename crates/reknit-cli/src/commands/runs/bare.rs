//! A run that no machine of this build can restore, as `reknit runs show` prints it.

use std::fmt::Write as _;

use reknit_engine::{BareOverview, BareReply};
use reknit_protocol::{Object, Value};

use super::{VALUE_COLUMNS, step_history};
use crate::output::{Failure, count, escape_controls, one_line, parked_hint};

pub(super) fn as_json(bare: &BareOverview) -> Result<Value, Failure> {
    let text = |text: &Option<String>| text.as_deref().map_or(Value::Null, Value::from);
    let reply = |BareReply { effect, reply }: &BareReply| {
        Value::Object(Object::from([("call", effect.as_str().into()), ("reply", reply.clone())]))
    };
    Ok(Value::Object(Object::from([
        ("run", bare.run.as_str().into()),
        ("status", bare.status.as_str().into()),
        ("problem", text(&bare.problem)),
        ("closed", text(&bare.closed)),
        ("history", step_history::as_json(&bare.history)?),
        ("replies", bare.replies.iter().map(reply).collect()),
        ("open_calls", bare.open_calls.iter().map(|call| Value::from(call.as_str())).collect()),
    ])))
}

pub(super) fn page(bare: &BareOverview) -> String {
    let mut page = String::new();
    let mut line = |text: String| {
        let _ = writeln!(page, "{}", escape_controls(&text));
    };
    line(format!("run      {}", bare.run));
    line(format!("request  {}", one_line(&bare.title, VALUE_COLUMNS)));
    let closed = bare.closed.as_ref().map_or_else(String::new, |reason| format!(" ({reason})"));
    line(one_line(&format!("status   {}{closed}", bare.status), usize::MAX));
    if let Some(problem) = &bare.problem {
        line(one_line(&format!("problem  {problem}"), usize::MAX));
    }
    line(format!("spent    {}", count(bare.events, "event")));
    for (step, entries) in &bare.history {
        line(String::new());
        line(one_line(step.as_str(), usize::MAX));
        step_history::lines(entries).into_iter().for_each(&mut line);
    }
    if !bare.replies.is_empty() {
        line(String::new());
    }
    for BareReply { effect, reply } in &bare.replies {
        line(one_line(&format!("reply    {effect}: {reply}"), VALUE_COLUMNS));
    }
    for call in &bare.open_calls {
        line(one_line(
            &format!("unknown  {call}: the call may have been made, and its outcome is not known"),
            usize::MAX,
        ));
    }
    if bare.status == "parked" {
        line(String::new());
        line(format!("hint: {}", parked_hint(&bare.run)));
    }
    page
}

//! What an outcome means, in words of our own: not by the code that is looked at.

use reknit_protocol::{Object, Value};
use reknit_protocol::{ReplyBody, ToolReply};
use reknit_salvage::{ReadOptions, read};

/// What an answer of a tool means for the call.
pub(super) enum Answered {
    Success,
    /// Who asks is not let in, or sent elsewhere.
    ShutOut,
    /// It had no effect and will not have one as it is.
    Refused,
    /// It may have had its effect.
    InDoubt,
    /// It had no effect, and may have one later.
    Later,
}

pub(super) fn answered(reply: &ToolReply) -> Answered {
    let body = match &reply.body {
        ReplyBody::Json(body) | ReplyBody::Repaired { value: body, .. } => body,
        ReplyBody::Text(_) | ReplyBody::Empty => &Value::Null,
    };
    let said = |name: &str| body.get("error").and_then(|error| error.get(name));
    let refused = body.get("success") == Some(&Value::from(false));
    let category = said("category").and_then(Value::as_str).unwrap_or_default();
    let about_key = said("code").and_then(Value::as_str).is_some_and(|code| code.starts_with("IDEMPOTENCY"));
    let no_effect = said("retryable") == Some(&Value::from(true));
    match reply.status {
        200..=299 if !refused => Answered::Success,
        300..=399 | 401 | 403 | 405 => Answered::ShutOut,
        _ if category == "AUTH_ERROR" => Answered::ShutOut,
        200..=299 if category == "SERVICE_ERROR" && !no_effect => Answered::InDoubt,
        200..=299 if category == "SERVICE_ERROR" || category == "RATE_LIMIT" || about_key => Answered::Later,
        200..=299 => Answered::Refused,
        408 | 500.. if !no_effect => Answered::InDoubt,
        408 | 429 | 500.. => Answered::Later,
        _ if about_key => Answered::Later,
        _ => Answered::Refused,
    }
}

/// What a model's words about a failed call may lead to.
pub(super) enum Advised {
    /// The same call once more.
    Same,
    /// Another call, with other values for these parameters.
    Changes(Vec<String>),
}

/// The most that the words can mean; none if they are no advice that anybody can read.
pub(super) fn advised(text: &str) -> Option<Advised> {
    let value = read(text, &ReadOptions::default()).ok()?.value;
    let changes =
        ["suggested_changes", "corrected_parameters", "corrected_payload"].iter().find_map(|name| value.get(name));
    // Parameters alone.
    let changes = changes.or_else(|| (value.get("should_retry").or(value.get("can_fix")).is_none()).then_some(&value));
    let removed = value.get("remove").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let names: Vec<String> = changes
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Object::keys)
        .chain(removed)
        .map(str::to_owned)
        .collect();
    let retry = ["should_retry", "can_fix"].iter().find_map(|name| value.get(name));
    let wants = |value: &Value| [Value::from(true), Value::from("yes"), Value::from(1)].contains(value);
    let transient = value.get("is_transient_error") == Some(&Value::from(true));
    match names.is_empty() {
        true if transient || retry.is_some_and(wants) => Some(Advised::Same),
        true => None,
        false => Some(Advised::Changes(names)),
    }
}

/// The parameters for which words that look for values may hold one.
pub(super) fn supplied(text: &str) -> Vec<String> {
    let value = read(text, &ReadOptions::default()).map(|reading| reading.value).unwrap_or_default();
    value.as_object().into_iter().flat_map(Object::keys).map(str::to_owned).collect()
}

//! What replies of tools and models mean. The checker decides it here on its own, not with the code under test.

use reknit_protocol::{Object, SideEffect, Value};
use reknit_protocol::{ReplyBody, ToolReply};
use reknit_salvage::{ReadOptions, read};

/// What a tool's reply means for the call.
pub(super) enum ReplyMeaning {
    Success,
    /// The tool denies access, or redirects.
    AccessDenied,
    /// The call had no effect, and repeated unchanged it will have none.
    Rejected,
    /// The call may have taken effect.
    Uncertain,
    /// The call had no effect, but may succeed later.
    NotNow,
}

pub(super) fn reply_meaning(reply: &ToolReply, class: SideEffect) -> ReplyMeaning {
    let body = match &reply.body {
        ReplyBody::Json(body) | ReplyBody::Repaired { value: body, .. } => body,
        ReplyBody::Text(_) | ReplyBody::Empty => &Value::Null,
    };
    let error_field = |name: &str| body.get("error").and_then(|error| error.get(name));
    let is_error = body.get("success") == Some(&Value::from(false));
    let category = error_field("category").and_then(Value::as_str).unwrap_or_default();
    let is_about_key = error_field("code").and_then(Value::as_str).is_some_and(|code| code.starts_with("IDEMPOTENCY"));
    let had_no_effect = error_field("retryable") == Some(&Value::from(true)) && class != SideEffect::Unsafe;
    let is_strict = !matches!(class, SideEffect::Read | SideEffect::Undeclared);
    let text = body_text(&reply.body);
    let is_type_error = ["cannot unmarshal", "expected number but got"].iter().any(|words| text.contains(words));
    let is_undecodable = is_type_error && class != SideEffect::Unsafe;
    let is_in_doubt = is_strict || !is_error;
    match reply.status {
        200..=299 if !is_error => ReplyMeaning::Success,
        300..=399 | 401 | 403 | 405 | 407 => ReplyMeaning::AccessDenied,
        _ if category == "AUTH_ERROR" => ReplyMeaning::AccessDenied,
        _ if is_undecodable && !is_about_key => ReplyMeaning::Rejected,
        200..=299 if category == "SERVICE_ERROR" && !had_no_effect && is_in_doubt => ReplyMeaning::Uncertain,
        200..=299 if category == "SERVICE_ERROR" || category == "RATE_LIMIT" || is_about_key => ReplyMeaning::NotNow,
        200..=299 => ReplyMeaning::Rejected,
        408 | 500.. if !had_no_effect && is_in_doubt => ReplyMeaning::Uncertain,
        408 | 429 | 500.. => ReplyMeaning::NotNow,
        _ if is_about_key => ReplyMeaning::NotNow,
        _ => ReplyMeaning::Rejected,
    }
}

fn body_text(body: &ReplyBody) -> String {
    body.to_value().to_string()
}

/// What a model's advice about a failed call allows.
pub(super) enum AdviceMeaning {
    /// The same call again.
    SameCall,
    /// A call with other values for these parameters.
    Changes(Vec<String>),
}

/// The most that a text can allow; `None` if it is no advice.
pub(super) fn advice_meaning(text: &str) -> Option<AdviceMeaning> {
    let value = read(text, &ReadOptions::default()).ok()?.value;
    let changes =
        ["suggested_changes", "corrected_parameters", "corrected_payload"].iter().find_map(|name| value.get(name));
    // An object without a decision consists of parameters.
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
    let is_yes = |value: &Value| [Value::from(true), Value::from("yes"), Value::from(1)].contains(value);
    let is_transient = value.get("is_transient_error") == Some(&Value::from(true));
    match names.is_empty() {
        false if is_transient && !retry.is_some_and(is_yes) => Some(AdviceMeaning::SameCall),
        true if is_transient || retry.is_some_and(is_yes) => Some(AdviceMeaning::SameCall),
        true => None,
        false => Some(AdviceMeaning::Changes(names)),
    }
}

/// The parameters for which a model's answer to the search for missing values may hold one.
pub(super) fn supplied_names(text: &str) -> Vec<String> {
    let value = read(text, &ReadOptions::default()).map(|reading| reading.value).unwrap_or_default();
    value.as_object().into_iter().flat_map(Object::keys).map(str::to_owned).collect()
}

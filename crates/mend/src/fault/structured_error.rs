//! The structured error in a reply: the tool itself says that the call failed, and how.

use reknit_protocol::{Category, ExtraFields, Object, Retryable, ToolError, ToolResponse, Value};

use super::error_message;

/// The error that a tool reports in a structured form: `success: false`, or an error with a code or a category. `None` for
/// any other body, such as the page of a gateway.
pub(super) fn structured_error(body: &Value) -> Option<ToolError> {
    match body.get("success").and_then(Value::as_bool) {
        Some(true) => None,
        Some(false) => Some(error_of_envelope(body)),
        None => error_without_envelope(body),
    }
}

fn error_of_envelope(body: &Value) -> ToolError {
    let strict = ToolResponse::from_value(body).ok().and_then(|response| response.into_result().err());
    // `success: false` in another shape: the call failed all the same, and the message is somewhere in the body.
    strict
        .or_else(|| error_without_envelope(body))
        .unwrap_or_else(|| ToolError::new("", error_message::sentence(body).unwrap_or_default(), Category::InputError))
}

/// An error object, or a body that is one, with a code or a category in words. A number says no more than the status.
fn error_without_envelope(body: &Value) -> Option<ToolError> {
    let members = match body.get("error") {
        Some(Value::Object(error)) => error,
        _ => body.as_object()?,
    };
    let code = text(members, "code").filter(|code| code.parse::<f64>().is_err() && !code.contains(char::is_whitespace));
    let category = text(members, "category");
    let has_message = error_message::sentence(body).is_some();
    if !has_message || (code.is_none() && category.is_none()) {
        return None;
    }
    Some(ToolError {
        code: code.unwrap_or_default().to_owned(),
        message: text(members, "message").unwrap_or_default().to_owned(),
        category: category.map(Category::from),
        retryable: Retryable::from(members.get("retryable").and_then(Value::as_bool)),
        details: members.get("details").and_then(Value::as_object).cloned().unwrap_or_default(),
        extra: ExtraFields::default(),
    })
}

fn text<'a>(members: &'a Object, name: &str) -> Option<&'a str> {
    members.get(name)?.as_str().map(str::trim).filter(|text| !text.is_empty())
}

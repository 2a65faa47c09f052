//! The structured error in a reply: the tool itself says that the call failed, and how.

use reknit_protocol::{Category, ExtraFields, Object, Retryable, ToolError, ToolResponse, Value};

use super::error_message;

/// What the member `success` says, in any spelling. A count of successes beside other numbers says nothing.
pub(super) fn stated_success(body: &Value) -> Option<bool> {
    let numbers = |body: &Object| body.values().filter(|value| matches!(value, Value::Number(_))).count();
    let is_count = || body.as_object().is_some_and(|body| numbers(body) > 1);
    match body.get("success")? {
        Value::Bool(success) => Some(*success),
        Value::Number(number) if !is_count() => match number.to_string().as_str() {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        },
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "ok" | "1" | "success" | "succeeded" => Some(true),
            "false" | "no" | "0" | "error" | "fail" | "failed" | "failure" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// The error that a tool reports in a structured form: `success: false`, or an error with a code or a category. `None` for
/// any other body, such as the page of a gateway.
pub(super) fn structured_error(body: &Value) -> Option<ToolError> {
    match stated_success(body) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_read_in_every_spelling_of_success() {
        for (body, stated) in [
            (r#"{"success": false}"#, Some(false)),
            (r#"{"success": "false", "message": "no"}"#, Some(false)),
            (r#"{"success": "FAILED"}"#, Some(false)),
            (r#"{"success": "error"}"#, Some(false)),
            (r#"{"success": 0, "message": "no"}"#, Some(false)),
            (r#"{"success": "True"}"#, Some(true)),
            (r#"{"success": 1}"#, Some(true)),
            (r#"{"success": 0, "failed": 3}"#, None),
            (r#"{"success": "partly"}"#, None),
            (r#"{"success": null}"#, None),
            (r#"{"id": 1}"#, None),
        ] {
            let read = stated_success(&Value::parse(body).unwrap());
            assert_eq!(read, stated, "{body}");
            assert_eq!(structured_error(&Value::parse(body).unwrap()).is_some(), stated == Some(false), "{body}");
        }
    }
}

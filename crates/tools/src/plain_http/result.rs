//! Where the result of a call is in the response.

use reknit_protocol::{CallTool, Delivery, ReplyBody, ToolReply, TransportFailure, TransportKind, Value, truncate};

/// The most of a response that an error shows, in bytes.
const MAX_SHOWN: usize = 300;

/// A path into a response: `data.items[0]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ResultPath {
    text: String,
    /// Keys of objects, or indexes of lists.
    segments: Vec<String>,
}

impl ResultPath {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let with_dots = text.replace('[', ".").replace(']', "");
        let segments: Vec<String> = with_dots.trim_start_matches('.').split('.').map(str::to_owned).collect();
        if segments.iter().any(|segment| segment.trim().is_empty()) {
            return Err("write a path into the response, like `data.items` or `data.items[0].id`".to_owned());
        }
        Ok(Self { text: text.to_owned(), segments })
    }

    fn find<'v>(&self, body: &'v Value) -> Option<&'v Value> {
        self.segments.iter().try_fold(body, |value, segment| match value {
            Value::Array(items) => items.get(segment.parse::<usize>().ok()?),
            _ => value.get(segment),
        })
    }

    /// The reply with only the result as its body. A body that reports an error is kept whole, for it says what is wrong. Fails
    /// if the result is not there.
    pub(super) fn take(
        &self,
        call: &CallTool,
        reply: ToolReply,
        looks_for_errors: bool,
    ) -> Result<ToolReply, TransportFailure> {
        let body = reply.body.to_value();
        if reports_error(&body, looks_for_errors) {
            return Ok(reply);
        }
        let Some(result) = self.find(&body) else {
            let shown = truncate(body.to_string(), MAX_SHOWN);
            let message = format!(
                "`{}` answered {}, but the response has no `{}`, which is where the configuration says that the result is: {shown}",
                call.tool, reply.status, self.text
            );
            return Err(TransportFailure { kind: TransportKind::Unreadable, delivery: Delivery::Possible, message });
        };
        let body = match &reply.body {
            ReplyBody::Repaired { fixes, .. } => ReplyBody::Repaired { value: result.clone(), fixes: fixes.clone() },
            ReplyBody::Json(_) | ReplyBody::Text(_) | ReplyBody::Empty => ReplyBody::Json(result.clone()),
        };
        Ok(ToolReply { body, ..reply })
    }
}

/// Whether a body may say that the call failed. What it says is decided when the whole reply is classified.
fn reports_error(body: &Value, looks_for_errors: bool) -> bool {
    let is = |key: &str, value: bool| body.get(key).and_then(Value::as_bool) == Some(value);
    let has_text = |value: &Value| match value {
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    };
    let has_data = body.get("data").is_some_and(|data| *data != Value::Null);
    let has_error = || {
        is("isError", true)
            || is("is_error", true)
            || body.get("error").is_some_and(has_text)
            || (!has_data && body.get("errors").is_some_and(has_text))
    };
    is("success", false) || (looks_for_errors && has_error())
}

//! The results of MCP as replies of a tool, which `mend` classifies by their status and body.

use reknit_protocol::{Object, ReplyBody, ToolReply, Value};
use rmcp::model::{ErrorCode, ErrorData};

pub(crate) fn reply_of_result(result: &Value) -> ToolReply {
    match result.get("resultType").and_then(Value::as_str) {
        None | Some("complete") => {}
        Some("input_required") => return input_required(result),
        Some(other) => {
            let message = format!("the server returned a result of type `{other}`, which is not supported");
            return failure(400, "MCP_UNSUPPORTED_RESULT", message, Some(false), Object::new());
        }
    }
    let content = result.get("content").and_then(Value::as_array).unwrap_or_default();
    let structured = result.get("structuredContent");
    if result.get("isError").and_then(Value::as_bool) == Some(true) {
        return tool_error(content, structured);
    }
    let is_text = |block: &Value| text_of(block).is_some();
    let body = match structured {
        Some(structured) if content.iter().all(is_text) => ReplyBody::Json(structured.clone()),
        None if content.iter().all(is_text) => text_body(joined_text(content)),
        structured => {
            let mut all = Object::new();
            if let Some(structured) = structured {
                all.insert("structuredContent", structured.clone());
            }
            all.insert("content", content.iter().map(without_notes).collect::<Vec<Value>>());
            ReplyBody::Json(all.into())
        }
    };
    ToolReply { status: 200, retry_after_ms: None, body, job: None }
}

/// The reply that an error of the protocol is. A server may send other errors for unknown tools and invalid arguments than for
/// failures of a tool.
pub(crate) fn reply_of_error(error: &ErrorData) -> ToolReply {
    let (status, code, retryable) = match error.code {
        ErrorCode::INVALID_PARAMS => (400, "MCP_INVALID_PARAMS", None),
        ErrorCode::METHOD_NOT_FOUND => (404, "MCP_METHOD_NOT_FOUND", Some(false)),
        ErrorCode::INVALID_REQUEST => (400, "MCP_INVALID_REQUEST", Some(false)),
        ErrorCode::HEADER_MISMATCH => (400, "MCP_HEADER_MISMATCH", Some(false)),
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION => (400, "MCP_UNSUPPORTED_PROTOCOL_VERSION", Some(false)),
        ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY => (400, "MCP_MISSING_CLIENT_CAPABILITY", Some(false)),
        ErrorCode::RESOURCE_NOT_FOUND => (404, "MCP_RESOURCE_NOT_FOUND", None),
        ErrorCode::INTERNAL_ERROR => (500, "MCP_INTERNAL_ERROR", None),
        _ => (500, "MCP_SERVER_ERROR", None),
    };
    let mut details = Object::new();
    details.insert("jsonrpc_code", i64::from(error.code.0));
    if let Some(data) = error.data.as_ref().and_then(|data| Value::parse(&data.to_string()).ok()) {
        details.insert("data", data);
    }
    failure(status, code, error.message.to_string(), retryable, details)
}

fn failure(status: u16, code: &str, message: String, retryable: Option<bool>, details: Object) -> ToolReply {
    let mut error = Object::from([("code", code.into()), ("message", message.into())]);
    if let Some(retryable) = retryable {
        error.insert("retryable", retryable);
    }
    if !details.is_empty() {
        error.insert("details", details);
    }
    let body = Object::from([("success", false.into()), ("error", error.into())]);
    ToolReply { status, retry_after_ms: None, body: ReplyBody::Json(body.into()), job: None }
}

/// An error that the tool itself reports. Its own structured error is kept; another text becomes the message.
fn tool_error(content: &[Value], structured: Option<&Value>) -> ToolReply {
    let text = joined_text(content);
    let own = structured.cloned().or_else(|| Value::parse(&text).ok());
    if let Some(own) = &own
        && own.get("success").and_then(Value::as_bool) == Some(false)
    {
        return ToolReply { status: 400, retry_after_ms: None, body: ReplyBody::Json(own.clone()), job: None };
    }
    let mut details = Object::new();
    if let Some(own @ (Value::Object(_) | Value::Array(_))) = own {
        details.insert("result", own);
    }
    let message = if text.trim().is_empty() { "the tool reported an error without a text".to_owned() } else { text };
    failure(400, "MCP_TOOL_ERROR", message, None, details)
}

/// A tool that asks for more input before it acts. Nobody can be asked here.
fn input_required(result: &Value) -> ToolReply {
    let requests = result.get("inputRequests").and_then(Value::as_object);
    let question = |request: &Value| Some(request.get("params")?.get("message")?.as_str()?.to_owned());
    let questions: Vec<String> = requests.into_iter().flat_map(Object::values).filter_map(question).collect();
    let message = format!("the server asks for input, which cannot be given here: {}", questions.join("; "));
    failure(400, "MCP_INPUT_REQUIRED", message, Some(false), Object::new())
}

fn text_of(block: &Value) -> Option<&str> {
    if block.get("type").and_then(Value::as_str) == Some("text") { block.get("text")?.as_str() } else { None }
}

fn joined_text(content: &[Value]) -> String {
    content.iter().filter_map(text_of).collect::<Vec<_>>().join("\n")
}

fn text_body(text: String) -> ReplyBody {
    if text.trim().is_empty() {
        return ReplyBody::Empty;
    }
    Value::parse(&text).map_or(ReplyBody::Text(text), ReplyBody::Json)
}

/// A block without what only a user interface needs.
fn without_notes(block: &Value) -> Value {
    let mut block = block.clone();
    if let Some(block) = block.as_object_mut() {
        block.remove("_meta");
        block.remove("annotations");
    }
    block
}

#[cfg(test)]
mod tests {
    use reknit_mend::{Fate, ReplyContext, Verdict, classify_reply};
    use reknit_protocol::SideEffect;

    use super::*;

    fn value(json: &str) -> Value {
        Value::parse(json).expect("it is JSON")
    }

    fn body(result: &str) -> ReplyBody {
        let reply = reply_of_result(&value(result));
        assert_eq!(reply.status, 200, "case: {result}");
        reply.body
    }

    fn verdict(reply: &ToolReply) -> Verdict {
        classify_reply(reply, ReplyContext::new(SideEffect::Undeclared, 0))
    }

    #[test]
    fn the_body_is_the_structured_content_or_else_the_text() {
        for (result, expected) in [
            (
                r#"{"content":[{"type":"text","text":"{\"a\": 1}"}],"structuredContent":{"a":1.10}}"#,
                ReplyBody::Json(value(r#"{"a":1.10}"#)),
            ),
            (r#"{"content":[{"type":"text","text":"{\"a\": 1.0}"}]}"#, ReplyBody::Json(value(r#"{"a":1.0}"#))),
            (
                r#"{"content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}"#,
                ReplyBody::Text("one\ntwo".to_owned()),
            ),
            (r#"{"content":[]}"#, ReplyBody::Empty),
            (r#"{"structuredContent":null}"#, ReplyBody::Json(Value::Null)),
        ] {
            assert_eq!(body(result), expected, "case: {result}");
        }
    }

    #[test]
    fn images_and_resources_are_kept_with_their_type_and_data() {
        let blocks = r#"{"content":[
            {"type":"text","text":"a picture"},
            {"type":"image","mimeType":"image/png","data":"iVBORw0=","annotations":{"priority":1},"_meta":{}},
            {"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":"A"}},
            {"type":"resource_link","uri":"file:///b","name":"b"}]}"#;
        let expected = r#"{"content":[
            {"type":"text","text":"a picture"},
            {"type":"image","mimeType":"image/png","data":"iVBORw0="},
            {"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":"A"}},
            {"type":"resource_link","uri":"file:///b","name":"b"}]}"#;
        assert_eq!(body(blocks), ReplyBody::Json(value(expected)));
    }

    #[test]
    fn an_error_of_the_tool_can_be_corrected() {
        let reply = reply_of_result(&value(
            r#"{"isError":true,"content":[{"type":"text","text":"amount must be greater than 0"}]}"#,
        ));
        let Verdict::Correctable(fault) = verdict(&reply) else { panic!("{reply:?}") };
        assert_eq!(fault.message, "amount must be greater than 0");
        assert_eq!(fault.code, "MCP_TOOL_ERROR");
        assert_eq!(fault.fate, Fate::Rejected);
    }

    #[test]
    fn the_structured_error_of_a_tool_is_kept() {
        let own = r#"{"success":false,"error":{"code":"NO_CITY","message":"no such city","category":"NOT_FOUND"}}"#;
        let text = Value::from(own);
        let reply =
            reply_of_result(&value(&format!(r#"{{"isError":true,"content":[{{"type":"text","text":{text}}}]}}"#)));
        let Verdict::Correctable(fault) = verdict(&reply) else { panic!("{reply:?}") };
        assert_eq!(fault.code, "NO_CITY");
    }

    #[test]
    fn an_error_of_the_protocol_has_the_status_of_its_code() {
        let reply = |code: ErrorCode| reply_of_error(&ErrorData::new(code, "the message", None));
        for (code, status) in [
            (ErrorCode::INVALID_PARAMS, 400),
            (ErrorCode::METHOD_NOT_FOUND, 404),
            (ErrorCode::INTERNAL_ERROR, 500),
            (ErrorCode(-32_000), 500),
        ] {
            assert_eq!(reply(code).status, status, "case: {}", code.0);
        }
        assert!(matches!(verdict(&reply(ErrorCode::INVALID_PARAMS)), Verdict::Correctable(_)));
        assert!(matches!(verdict(&reply(ErrorCode::INTERNAL_ERROR)), Verdict::Transient(_)));
        let Verdict::Correctable(fault) = verdict(&reply(ErrorCode::METHOD_NOT_FOUND)) else { panic!() };
        assert_eq!(fault.retryable, Some(false));
    }

    #[test]
    fn a_tool_that_asks_for_input_fails_with_its_question() {
        let reply = reply_of_result(&value(
            r#"{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"Which city?"}}}}"#,
        ));
        let Verdict::Correctable(fault) = verdict(&reply) else { panic!("{reply:?}") };
        assert_eq!(fault.retryable, Some(false));
        assert!(fault.message.ends_with("Which city?"), "{}", fault.message);
    }
}

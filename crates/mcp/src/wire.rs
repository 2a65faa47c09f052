//! Messages as text, with numbers as they were written. rmcp reads numbers as 64-bit ones; here the arguments and results of calls
//! pass by it as text.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use reknit_protocol::Value;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, ServerJsonRpcMessage, ServerResult, Tool};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The member under which a result is passed on as text.
const RAW: &str = "reknit/raw";

/// The code of an error that stands for a response that cannot be read.
pub(crate) const UNREADABLE: i32 = -32_700;

/// What rmcp does not know of a call.
#[derive(Debug, Clone)]
pub(crate) struct ExactCall {
    /// The arguments as JSON text, which is sent instead of those in the message.
    pub(crate) arguments: Arc<str>,
    /// Whether the call changes something, so that it must be known whether it was sent.
    pub(crate) is_claimed: bool,
}

impl ExactCall {
    pub(crate) fn of(message: &ClientJsonRpcMessage) -> Option<&Self> {
        match message {
            JsonRpcMessage::Request(request) => match &request.request {
                ClientRequest::CallToolRequest(call) => call.extensions.get(),
                _ => None,
            },
            _ => None,
        }
    }
}

pub(crate) fn encode(message: &ClientJsonRpcMessage) -> Result<String, serde_json::Error> {
    let Some(ExactCall { arguments, .. }) = ExactCall::of(message) else { return serde_json::to_string(message) };
    let mut whole = serde_json::to_value(message)?;
    let mut parameters = whole.get_mut("params").map(serde_json::Value::take).unwrap_or_default();
    if let Some(parameters) = parameters.as_object_mut() {
        parameters.remove("arguments");
    }
    let parameters = parameters.to_string();
    // It has a name, so there is a member before the arguments.
    let start = parameters.strip_suffix('}').unwrap_or(&parameters);
    let id = whole.get("id").unwrap_or(&serde_json::Value::Null);
    Ok(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{start},"arguments":{arguments}}}}}"#))
}

/// Reads a message of a server. Fails with the reason if it is none.
pub(crate) fn decode(bytes: &[u8]) -> Result<ServerJsonRpcMessage, String> {
    let (text, problem) = match std::str::from_utf8(bytes) {
        Ok(text) => match serde_json::from_str(&rewrite(text)) {
            Ok(message) => return Ok(message),
            Err(error) => (Cow::Borrowed(text), error.to_string()),
        },
        Err(error) => (String::from_utf8_lossy(bytes), error.to_string()),
    };
    let response = unreadable_response(&text, &problem);
    response.and_then(|response| serde_json::from_str(&response).ok()).ok_or(problem)
}

/// A message of a server as text that rmcp reads without loss.
pub(crate) fn rewrite(text: &str) -> Cow<'_, str> {
    let Ok(response) = serde_json::from_str::<Response<'_>>(text) else { return Cow::Borrowed(text) };
    let (Some(id), Some(result)) = (response.id, response.result) else { return Cow::Borrowed(text) };
    let Ok(members) = serde_json::from_str::<Members<'_>>(result.get()) else { return Cow::Borrowed(text) };
    let has = |name: &str| members.contains_key(name);
    let result_type = members.get("resultType").and_then(|word| serde_json::from_str::<String>(word.get()).ok());
    if has("tools") {
        return list_response(id, result, &members).map_or(Cow::Borrowed(text), Cow::Owned);
    }
    let is_call = ["content", "structuredContent", "isError", "taskId"].into_iter().any(has)
        || result_type.is_some_and(|word| word != "complete");
    if !is_call {
        return Cow::Borrowed(text);
    }
    let raw = serde_json::json!({ RAW: result.get() });
    Cow::Owned(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{raw}}}"#, id.get()))
}

/// The text of a result that was passed on as text.
pub(crate) fn raw_result(result: &ServerResult) -> Option<&str> {
    match result {
        ServerResult::CustomResult(result) => result.0.get(RAW)?.as_str(),
        ServerResult::ListToolsResult(list) => list.meta.as_ref()?.get(RAW)?.as_str(),
        _ => None,
    }
}

/// The value of a result that was passed on as text. Fails with the reason if it is not the result of a call or a task.
pub(crate) fn read_result(result: &ServerResult) -> Result<Value, String> {
    let raw = raw_result(result).ok_or("its result is not that of a call")?;
    Value::parse(raw).map_err(|error| format!("its result cannot be read: {error}"))
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

type Members<'a> = HashMap<Cow<'a, str>, &'a RawValue>;

/// A page of tools: those that rmcp can read, from which it derives headers, and the whole page as text.
fn list_response(id: &RawValue, result: &RawValue, members: &Members<'_>) -> Option<String> {
    let tools: Vec<&RawValue> = serde_json::from_str(members.get("tools")?.get()).ok()?;
    let readable: Vec<&str> =
        tools.into_iter().map(RawValue::get).filter(|tool| serde_json::from_str::<Tool>(tool).is_ok()).collect();
    let cursor = members.get("nextCursor").and_then(|cursor| serde_json::from_str::<String>(cursor.get()).ok());
    let meta = serde_json::json!({ RAW: result.get() });
    let cursor = cursor.map_or_else(String::new, |cursor| format!(r#","nextCursor":{}"#, serde_json::json!(cursor)));
    Some(format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{"tools":[{}],"_meta":{meta}{cursor}}}}}"#,
        id.get(),
        readable.join(",")
    ))
}

/// An error in place of a response that cannot be read, so that its request does not wait for ever.
fn unreadable_response(text: &str, problem: &str) -> Option<String> {
    let response: Response<'_> = serde_json::from_str(text).ok()?;
    // A request or notification of the server is not an answer.
    let members: Members<'_> = serde_json::from_str(text).ok()?;
    if members.contains_key("method") {
        return None;
    }
    let error = serde_json::json!({ "code": UNREADABLE, "message": format!("the response cannot be read: {problem}") });
    Some(format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, response.id?.get()))
}

#[cfg(test)]
mod tests {
    use rmcp::model::{CallToolRequest, CallToolRequestParams, RequestId};

    use super::*;

    fn result_of(text: &str) -> ServerResult {
        match decode(text.as_bytes()).expect("it is a message") {
            JsonRpcMessage::Response(response) => response.result,
            other => panic!("not a response: {other:?}"),
        }
    }

    #[test]
    fn the_arguments_of_a_call_are_sent_as_they_were_written() {
        let mut call = CallToolRequest::new(CallToolRequestParams::new("add"));
        let arguments = r#"{"a":1.10,"b":12345678901234567890123}"#.into();
        call.extensions.insert(ExactCall { arguments, is_claimed: true });
        let message = ClientJsonRpcMessage::request(ClientRequest::CallToolRequest(call), RequestId::Number(7));
        assert_eq!(
            encode(&message).expect("it is encoded"),
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","arguments":{"a":1.10,"b":12345678901234567890123}}}"#
        );
    }

    #[test]
    fn the_result_of_a_call_is_passed_on_as_it_was_written() {
        for result in [
            r#"{"content":[],"structuredContent":{"id":12345678901234567890123,"price":1.10,"far":1e999}}"#,
            r#"{"isError":true}"#,
            r#"{"resultType":"input_required","inputRequests":{}}"#,
        ] {
            let text = format!(r#"{{"result":{result},"jsonrpc":"2.0","id":3}}"#);
            assert_eq!(raw_result(&result_of(&text)), Some(result));
        }
    }

    #[test]
    fn a_page_with_a_broken_tool_is_passed_on_whole() {
        let page = r#"{"tools":[{"name":"good","inputSchema":{}},{"name":5},7],"nextCursor":"c\"1"}"#;
        let result = result_of(&format!(r#"{{"jsonrpc":"2.0","id":"a","result":{page}}}"#));
        assert_eq!(raw_result(&result), Some(page));
        let ServerResult::ListToolsResult(list) = result else { panic!("not a list: {result:?}") };
        assert_eq!(list.tools.len(), 1);
        assert_eq!(list.next_cursor.as_deref(), Some("c\"1"));
    }

    #[test]
    fn other_messages_are_read_by_rmcp() {
        let result = result_of(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        assert!(matches!(result, ServerResult::EmptyResult(_)), "{result:?}");
        let notification = decode(br#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
        assert!(matches!(notification, Ok(JsonRpcMessage::Notification(_))), "{notification:?}");
    }

    #[test]
    fn a_response_that_cannot_be_read_is_an_error_of_its_request() {
        let message = decode(br#"{"jsonrpc":"2.0","id":4,"error":{"code":"no number"}}"#).expect("it is a message");
        let JsonRpcMessage::Error(error) = message else { panic!("not an error: {message:?}") };
        assert_eq!(error.error.code.0, UNREADABLE);
        assert_eq!(error.id, Some(RequestId::Number(4)));
        let message =
            decode(b"{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"content\":\"\xff\"}}").expect("it is a message");
        assert!(matches!(message, JsonRpcMessage::Error(_)), "{message:?}");
        assert!(decode(b"Listening on port 8080").is_err());
    }
}

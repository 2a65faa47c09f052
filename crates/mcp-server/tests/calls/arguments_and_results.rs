//! What is sent for the arguments of a client, and what it is told about the result.

use std::time::Duration;

use reknit::Reknit;
use reknit::models::Target;
use reknit_engine::{Confirmation, ConfirmingCall};
use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::tool::CallMatcher;
use reknit_fakes::{CallBarrier, Reply, ScriptedModel, ScriptedTool};
use reknit_journal::{RunFilter, StatusFilter};
use reknit_mcp_server::{McpServer, Offering};
use reknit_protocol::{Object, SideEffect};
use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use serde_json::json;

use crate::connection::{Client, Connection, shop, texts};

#[tokio::test]
async fn a_value_of_another_type_is_fitted_and_the_client_is_told() {
    let connection = Connection::new(shop()).await;
    let result = connection.call("t__pay", json!({"amount": "5"})).await;
    assert_eq!(result.is_error, Some(false), "{result:?}");
    let texts = texts(&result);
    assert_eq!(texts[0], "paid");
    assert!(texts[1].starts_with("(changed before it was sent: ") && texts[1].contains("amount"), "{texts:?}");
    let sent = &connection.tool.calls()[0].parameters;
    assert_eq!(sent.to_string(), r#"{"amount":5}"#);
    assert!(result.meta.expect("it has metadata").0.contains_key("reknit/run"));
}

#[tokio::test]
async fn what_the_call_of_a_client_says_is_corrected_by_no_model_and_no_tool() {
    let advice = r#"{"should_retry": true, "suggested_changes": {"recipient": "John", "amount": 900}}"#;
    for class in [SideEffect::Undeclared, SideEffect::Idempotent, SideEffect::Keyed, SideEffect::Unsafe] {
        for error in ["unknown recipient 'Jon', did you mean 'John'?", "it did not work", "unknown field `dry_run`"] {
            let refusal = Reply::status(400).body(json!({"error": error}).to_string());
            let tool = ScriptedTool::new("t").capability("pay", class).on("pay", CallMatcher::any(), refusal);
            let tool = tool.start().await.expect("the tool starts");
            let script = Script::new().on(RequestMatcher::any(), Reply::text(advice));
            let model = ScriptedModel::start(script).await.expect("the model starts");
            let builder = Reknit::builder().tool_service("t", &tool.base_url());
            let builder = builder.model(Target::new("m", model.base_url(), "m"));
            let server = McpServer::new(builder.start().await.expect("it starts"), Offering::EveryTool);
            let (ours, theirs) = tokio::io::duplex(1 << 16);
            tokio::spawn(async move { server.serve_on(tokio::io::split(ours)).await });
            let client = Client { answer: None }.serve(theirs).await.expect("the client connects");
            let arguments = json!({"recipient": "Jon", "amount": 50, "dry_run": true});
            let arguments = arguments.as_object().cloned().expect("an object");
            let call = client.call_tool(CallToolRequestParams::new("t__pay").with_arguments(arguments));
            let result = call.await.expect("a result");
            let sent: Vec<String> = tool.calls().iter().map(|call| call.parameters.to_string()).collect();
            assert_eq!(result.is_error, Some(true), "{class} {error}: {result:?}");
            assert_eq!(sent, [r#"{"recipient":"Jon","amount":50,"dry_run":true}"#], "{class} {error}: {result:?}");
        }
    }
}

#[tokio::test]
async fn a_result_keeps_its_digits_and_is_structured() {
    let connection = Connection::new(shop()).await;
    let result = connection.call("t__look", json!({})).await;
    assert_eq!(texts(&result), [r#"{"price":1.50}"#]);
    assert_eq!(result.structured_content, Some(json!({"price": 1.5})));
}

#[tokio::test]
async fn arguments_that_look_like_references_are_sent_as_they_are() {
    let connection = Connection::new(shop()).await;
    let odd = json!({"text": "{{pay.amount}}", "not": "${x}", "a b": [1], "none": null, "inputs": {"x": "{{1 + 1}}"}});
    let result = connection.call("t__look", odd.clone()).await;
    assert_eq!(result.is_error, Some(false), "{result:?}");
    let sent = connection.tool.calls()[0].parameters.to_string();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&sent).expect("valid JSON"), odd);
}

#[tokio::test]
async fn a_rate_limited_call_is_sent_again() {
    let tool = ScriptedTool::new("t")
        .capability("look", SideEffect::Read)
        .once("look", CallMatcher::any(), Reply::status(429).retry_after(0))
        .on("look", CallMatcher::any(), Reply::data("seen"));
    let connection = Connection::new(tool).await;
    let result = connection.call("t__look", json!({})).await;
    assert_eq!((texts(&result), connection.tool.call_count()), (vec!["seen".to_owned()], 2));
    let mended = &result.meta.expect("it has metadata").0["reknit/mended"];
    assert_eq!(mended[0]["by"], "resend");
}

#[tokio::test]
async fn a_failed_call_says_why_and_whether_it_had_an_effect() {
    let tool =
        ScriptedTool::new("t").capability("look", SideEffect::Read).on("look", CallMatcher::any(), Reply::status(403));
    let connection = Connection::new(tool).await;
    let result = connection.call("t__look", json!({})).await;
    assert_eq!(result.is_error, Some(true));
    let text = &texts(&result)[0];
    assert!(text.contains("`look` of `t` failed: ") && text.contains("403"), "{text}");
    assert!(text.contains("so it had no effect") && text.contains("reknit runs show"), "{text}");
}

#[tokio::test]
async fn a_call_that_may_change_something_is_waited_for_when_the_client_leaves() {
    let barrier = CallBarrier::new();
    let tool = ScriptedTool::new("t").capability("note", SideEffect::Undeclared).on(
        "note",
        CallMatcher::any(),
        Reply::data("noted").wait_at(&barrier),
    );
    let Connection { tool: _tool, reknit, client, mut server } = Connection::new(tool).await;
    let peer = client.peer().clone();
    let call = tokio::spawn(async move { peer.call_tool(CallToolRequestParams::new("t__note")).await });
    barrier.wait_for_arrivals(1).await;
    client.cancel().await.expect("the client leaves");
    let ended = tokio::time::timeout(Duration::from_millis(200), &mut server).await;
    assert!(ended.is_err(), "the server does not end before the call");
    barrier.release_all();
    server.await.expect("the server does not panic").expect("the server ends in good order");
    assert!(call.await.expect("the client does not panic").is_err(), "the client is gone");
    let runs = reknit.runtime().journal.runs(&RunFilter::of_status(StatusFilter::Unfinished, 9)).await;
    assert!(runs.expect("the journal can be read").is_empty(), "the run has ended");
}

#[tokio::test]
async fn a_call_that_its_check_does_not_confirm_is_an_error_that_warns_of_another_call() {
    let tool = shop().start().await.expect("the tool starts");
    let verify = ConfirmingCall {
        tool: "t".into(),
        capability: "look".into(),
        parameters: Object::new(),
        expect: "reply.price == 5".to_owned(),
        again: None,
    };
    let confirmation = Confirmation { expect: None, verify: Some(verify) };
    let builder = Reknit::builder().tool_service("t", &tool.base_url());
    let reknit = builder.configure(|config| config.confirm("t/pay", confirmation)).start().await.expect("it starts");
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move { McpServer::new(reknit, Offering::EveryTool).serve_on(tokio::io::split(ours)).await });
    let client = Client { answer: None }.serve(theirs).await.expect("the client connects");
    let arguments = json!({"amount": 5}).as_object().cloned().expect("an object");
    let call = client.call_tool(CallToolRequestParams::new("t__pay").with_arguments(arguments));
    let result = call.await.expect("a result");
    let text = texts(&result).concat();
    assert_eq!(
        (result.is_error, tool.calls_of("pay").len(), tool.calls_of("look").len()),
        (Some(true), 1, 1),
        "{text}"
    );
    assert!(
        text.contains("`reply.price == 5` is false") && text.contains("do not call it again before you know"),
        "{text}"
    );
}

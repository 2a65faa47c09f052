//! Answers and recorded calls of a scripted tool.

use std::fs;

use reknit_fakes::tool::{CallMatcher, RunningTool};
use reknit_fakes::{CallBarrier, Reply, ScriptedTool};
use reknit_protocol::schema::{FieldHint, Summary};
use reknit_protocol::{Capability, Category, Retryable, SideEffect, ToolError, Value};

use crate::support::{client, tool_with};

async fn call(tool: &RunningTool, capability: &str, body: &str) -> (u16, String) {
    call_with_key(tool, None, capability, body).await
}

async fn call_with_key(tool: &RunningTool, key: Option<&str>, capability: &str, body: &str) -> (u16, String) {
    let url = format!("{}/api/capabilities/{capability}", tool.base_url());
    let mut request = client().post(url).body(body.to_owned());
    if let Some(key) = key {
        request = request.header("idempotency-key", key);
    }
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}

fn too_small() -> ToolError {
    ToolError::new("INVALID_AMOUNT", "amount must be greater than 0", Category::InputError).retryable(Retryable::Yes)
}

#[tokio::test]
async fn rules_match_by_parameter_by_number_and_by_test() {
    let tool = ScriptedTool::new("currency-tool")
        .capability("convert", SideEffect::Read)
        .on("convert", CallMatcher::any().parameter("amount", 0), Reply::error(too_small()))
        .once("convert", CallMatcher::any(), Reply::status(503))
        .on("convert", CallMatcher::any().nth(4), Reply::text("four"))
        .on(
            "convert",
            CallMatcher::any().passes(|call| call.body.contains("JPY")),
            Reply::data(Value::from("yen")).with_status(201),
        )
        .start()
        .await
        .unwrap();
    let (status, body) = call(&tool, "convert", r#"{"amount": 0.0}"#).await;
    assert_eq!(status, 400);
    insta::assert_snapshot!(body, @r#"
    {"success":false,"error":{"code":"INVALID_AMOUNT","message":"amount must be greater than 0","category":"INPUT_ERROR","retryable":true}}
    "#);
    assert_eq!(call(&tool, "convert", r#"{"amount": 1}"#).await, (503, String::new()));
    assert_eq!(call(&tool, "convert", r#"{"to": "JPY"}"#).await, (201, r#"{"success":true,"data":"yen"}"#.to_owned()));
    assert_eq!(call(&tool, "convert", "{}").await, (200, "four".to_owned()));
    let (status, body) = call(&tool, "convert", r#"{"amount": 2}"#).await;
    assert_eq!(status, 500);
    insta::assert_snapshot!(body, @r#"
    {"error":{"message":"the script has no reply for call 5 of convert: {\"amount\": 2}","type":"script_error"}}
    "#);
}

#[tokio::test]
async fn calls_are_recorded_with_parameters_and_keys() {
    let tool = ScriptedTool::new("stock-tool")
        .capability("place_order", SideEffect::Keyed)
        .capability("quote", SideEffect::Read)
        .on("place_order", CallMatcher::any(), Reply::data(Value::Null))
        .on("quote", CallMatcher::any(), Reply::data(Value::Null))
        .start()
        .await
        .unwrap();
    call_with_key(&tool, Some("k-1"), "place_order", r#"{"shares": 100.0}"#).await;
    call_with_key(&tool, Some("k-1"), "place_order", r#"{"shares": 100.0}"#).await;
    call_with_key(&tool, Some("k-2"), "place_order", "not json").await;
    call(&tool, "quote", "{}").await;
    tool.wait_for_calls(4).await;
    let orders = tool.calls_of("place_order");
    let seen: Vec<_> = orders.iter().map(|call| (call.nth, call.idempotency_key.as_deref(), call.is_repeat)).collect();
    assert_eq!(seen, [(1, Some("k-1"), false), (2, Some("k-1"), true), (3, Some("k-2"), false)]);
    assert_eq!(orders[0].parameters.to_string(), r#"{"shares":100.0}"#);
    assert_eq!((orders[2].parameters.clone(), orders[2].body.as_str()), (Value::Null, "not json"));
    assert_eq!((tool.call_count(), tool.calls_of("quote")[0].nth), (4, 1));
}

#[tokio::test]
async fn calls_are_written_to_a_file_before_they_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    let tool = ScriptedTool::new("stock-tool")
        .capability("place_order", SideEffect::Keyed)
        .on("place_order", CallMatcher::any(), Reply::data(Value::Null))
        .record_to(&path)
        .start()
        .await
        .unwrap();
    call_with_key(&tool, Some("k-1"), "place_order", r#"{"shares": 1.50}"#).await;
    call(&tool, "place_order", "{}").await;
    insta::assert_snapshot!(fs::read_to_string(&path).unwrap(), @r#"
    {"tool":"stock-tool","capability":"place_order","nth":1,"parameters":{"shares":1.50},"idempotency_key":"k-1"}
    {"tool":"stock-tool","capability":"place_order","nth":2,"parameters":{}}
    "#);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let (status, body) = call(&tool, "place_order", "{}").await;
    assert_eq!(status, 500);
    assert!(body.contains("the call cannot be recorded"), "{body}");
}

#[tokio::test]
async fn a_tool_serves_health_capabilities_and_schemas() {
    let mut capability = Capability::new("get_weather");
    capability.effect = SideEffect::Read;
    let hints = vec![FieldHint::new("lat", "float64")];
    capability.input_summary = Some(Summary { required: hints, ..Summary::default() });
    let tool = ScriptedTool::new("weather-tool")
        .announce(capability)
        .capability("other", SideEffect::Unsafe)
        .schema(Value::parse(r#"{"type": "object"}"#).unwrap())
        .capability("bare", SideEffect::Undeclared)
        .start()
        .await
        .unwrap();
    let get = async |path: &str| client().get(tool.base_url() + path).send().await.unwrap();
    assert_eq!(get("/health").await.text().await.unwrap(), r#"{"status":"healthy","name":"weather-tool"}"#);
    insta::assert_snapshot!(get("/api/capabilities").await.text().await.unwrap(), @r#"
    [{"name":"get_weather","input_summary":{"required":[{"name":"lat","type":"float64"}]},"effect":"read"},{"name":"other","effect":"unsafe"},{"name":"bare"}]
    "#);
    insta::assert_snapshot!(get("/api/capabilities/get_weather/schema").await.text().await.unwrap(), @r#"
    {"type":"object","properties":{"lat":{"type":"number"}},"required":["lat"],"additionalProperties":false}
    "#);
    assert_eq!(get("/api/capabilities/other/schema").await.text().await.unwrap(), r#"{"type":"object"}"#);
    assert_eq!(get("/api/capabilities/bare/schema").await.status(), 404);
    assert_eq!(call(&tool, "unheard_of", "{}").await.0, 404);
}

#[tokio::test]
async fn a_barrier_holds_calls_until_the_test_releases_them() {
    let barrier = CallBarrier::new();
    let tool = tool_with(Reply::data(Value::Null).wait_at(&barrier)).await;
    let test = async {
        barrier.wait_for_arrivals(3).await;
        assert_eq!((barrier.waiting(), tool.call_count()), (3, 3));
        barrier.release_one();
        barrier.release_all();
    };
    let (one, two, three, ()) =
        tokio::join!(call(&tool, "wait", "{}"), call(&tool, "wait", "{}"), call(&tool, "wait", "{}"), test);
    assert_eq!((one.0, two.0, three.0), (200, 200, 200));
    assert_eq!(barrier.waiting(), 0);
    assert_eq!(call(&tool, "wait", "{}").await.0, 200, "a released barrier holds no call");
}

#[tokio::test]
async fn a_barrier_releases_one_call_at_a_time() {
    let barrier = CallBarrier::new();
    let tool = tool_with(Reply::data(Value::Null).wait_at(&barrier)).await;
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..2 {
        let request = client().post(tool.base_url() + "/api/capabilities/wait").body("{}");
        calls.spawn(request.send());
    }
    barrier.wait_for_arrivals(2).await;
    barrier.release_one();
    assert_eq!(calls.join_next().await.unwrap().unwrap().unwrap().status(), 200);
    assert_eq!(barrier.waiting(), 1);
    assert!(calls.try_join_next().is_none());
    barrier.release_one();
    assert_eq!(calls.join_next().await.unwrap().unwrap().unwrap().status(), 200);
}

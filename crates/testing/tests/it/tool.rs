//! What a scripted tool answers, and what it remembers.

use std::fs;

use reknit_protocol::schema::{FieldHint, Summary};
use reknit_protocol::{Capability, Category, Effect, Retryable, ToolError, Value};
use reknit_testing::tool::{RunningTool, When};
use reknit_testing::{Gate, Reply, ScriptedTool};

use crate::support::client;

async fn call(tool: &RunningTool, capability: &str, body: &str) -> (u16, String) {
    call_under(tool, None, capability, body).await
}

async fn call_under(tool: &RunningTool, key: Option<&str>, capability: &str, body: &str) -> (u16, String) {
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
async fn replies_come_by_parameters_by_turn_and_in_order() {
    let tool = ScriptedTool::new("currency-tool")
        .capability("convert", Effect::Read)
        .on("convert", When::any().parameter("amount", 0), Reply::error(too_small()))
        .once("convert", When::any(), Reply::status(503))
        .on("convert", When::any().nth(4), Reply::text("four"))
        .on("convert", When::any().passes(|call| call.body.contains("JPY")), Reply::data(Value::from("yen")).under(201))
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
async fn calls_are_counted_with_parameters_and_keys() {
    let tool = ScriptedTool::new("stock-tool")
        .capability("place_order", Effect::Keyed)
        .capability("quote", Effect::Read)
        .on("place_order", When::any(), Reply::data(Value::Null))
        .on("quote", When::any(), Reply::data(Value::Null))
        .start()
        .await
        .unwrap();
    call_under(&tool, Some("k-1"), "place_order", r#"{"shares": 100.0}"#).await;
    call_under(&tool, Some("k-1"), "place_order", r#"{"shares": 100.0}"#).await;
    call_under(&tool, Some("k-2"), "place_order", "not json").await;
    call(&tool, "quote", "{}").await;
    tool.called(4).await;
    let orders = tool.calls_of("place_order");
    let seen: Vec<_> = orders.iter().map(|call| (call.nth, call.idempotency_key.as_deref(), call.is_repeat)).collect();
    assert_eq!(seen, [(1, Some("k-1"), false), (2, Some("k-1"), true), (3, Some("k-2"), false)]);
    assert_eq!(orders[0].parameters.to_string(), r#"{"shares":100.0}"#);
    assert_eq!((orders[2].parameters.clone(), orders[2].body.as_str()), (Value::Null, "not json"));
    assert_eq!((tool.count(), tool.calls_of("quote")[0].nth), (4, 1));
}

#[tokio::test]
async fn calls_are_written_to_a_file_before_they_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.jsonl");
    let tool = ScriptedTool::new("stock-tool")
        .capability("place_order", Effect::Keyed)
        .on("place_order", When::any(), Reply::data(Value::Null))
        .record_to(&path)
        .start()
        .await
        .unwrap();
    call_under(&tool, Some("k-1"), "place_order", r#"{"shares": 1.50}"#).await;
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
async fn the_tool_describes_itself_as_the_protocol_says() {
    let mut capability = Capability::new("get_weather");
    capability.effect = Effect::Read;
    let hints = vec![FieldHint::new("lat", "float64")];
    capability.input_summary = Some(Summary { required: hints, ..Summary::default() });
    let tool = ScriptedTool::new("weather-tool")
        .announce(capability)
        .capability("other", Effect::Unsafe)
        .schema(Value::parse(r#"{"type": "object"}"#).unwrap())
        .capability("bare", Effect::Undeclared)
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
async fn a_gate_holds_calls_until_the_test_lets_them_go() {
    let gate = Gate::new();
    let tool = ScriptedTool::new("slow-tool")
        .capability("wait", Effect::Read)
        .on("wait", When::any(), Reply::data(Value::Null).gate(&gate))
        .start()
        .await
        .unwrap();
    let test = async {
        gate.arrived(3).await;
        assert_eq!((gate.waiting(), tool.count()), (3, 3));
        gate.release_one();
        gate.open();
    };
    let (one, two, three, ()) =
        tokio::join!(call(&tool, "wait", "{}"), call(&tool, "wait", "{}"), call(&tool, "wait", "{}"), test);
    assert_eq!((one.0, two.0, three.0), (200, 200, 200));
    assert_eq!(gate.waiting(), 0);
    assert_eq!(call(&tool, "wait", "{}").await.0, 200, "an open gate stays open");
}

#[tokio::test]
async fn a_gate_lets_one_pass_for_each_release() {
    let gate = Gate::new();
    let tool = ScriptedTool::new("slow-tool")
        .capability("wait", Effect::Read)
        .on("wait", When::any(), Reply::data(Value::Null).gate(&gate))
        .start()
        .await
        .unwrap();
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..2 {
        let request = client().post(tool.base_url() + "/api/capabilities/wait").body("{}");
        calls.spawn(request.send());
    }
    gate.arrived(2).await;
    gate.release_one();
    assert_eq!(calls.join_next().await.unwrap().unwrap().unwrap().status(), 200);
    assert_eq!(gate.waiting(), 1);
    assert!(calls.try_join_next().is_none());
    gate.release_one();
    assert_eq!(calls.join_next().await.unwrap().unwrap().unwrap().status(), 200);
}

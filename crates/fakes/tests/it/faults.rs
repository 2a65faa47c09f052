//! Faults of scripted servers as clients see them.

use std::error::Error;
use std::io;
use std::time::Duration;

use reknit_fakes::model::{RequestMatcher, Script, ScriptedModel};
use reknit_fakes::scenario::FAULT_SCENARIOS;
use reknit_fakes::{Reply, Scenario};
use reknit_protocol::Value;

use crate::support::{ask, ask_streaming, client, model_with, tool_with};

/// The kind of the socket error in the chain of sources.
fn socket_error(error: &(dyn Error + 'static)) -> Option<io::ErrorKind> {
    let mut chain = std::iter::successors(Some(error), |error| (*error).source());
    chain.find_map(|error| Some(error.downcast_ref::<io::Error>()?.kind()))
}

/// The received part of a body, and whether the body is complete.
async fn received(mut response: reqwest::Response) -> (String, bool) {
    let mut bytes = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) => return (String::from_utf8(bytes).unwrap(), true),
            Err(_) => return (String::from_utf8(bytes).unwrap(), false),
        }
    }
}

/// The received part of the stream of a model that gives this reply, and whether the stream is complete.
async fn stream_of(reply: Reply) -> (String, bool) {
    received(ask_streaming(&model_with(reply).await, "hello").send().await.unwrap()).await
}

async fn send(model: &ScriptedModel) -> Result<reqwest::Response, reqwest::Error> {
    ask(model, "", "hello").send().await
}

#[tokio::test]
async fn a_reset_is_seen_as_connection_reset() {
    let model = model_with(Reply::reset()).await;
    let error = send(&model).await.unwrap_err();
    assert_eq!(socket_error(&error), Some(io::ErrorKind::ConnectionReset), "{error:?}");
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn a_silent_server_accepts_a_request_and_never_answers() {
    let model = model_with(Reply::silence()).await;
    let mut asking = tokio::spawn(ask(&model, "", "hello").send());
    model.wait_for_requests(1).await;
    let answer = tokio::time::timeout(Duration::from_millis(100), &mut asking).await;
    assert!(answer.is_err(), "{answer:?}");
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn a_cut_body_arrives_in_part_and_ends_in_an_error() {
    // A cut after the end still leaves out the last byte.
    for (bytes, part) in [(4, "0123"), (99, "012345678")] {
        let model = model_with(Reply::status(200).body("0123456789").cut_after(bytes)).await;
        assert_eq!(received(send(&model).await.unwrap()).await, (part.to_owned(), false));
    }
}

#[tokio::test]
async fn a_cut_stream_arrives_in_part_and_ends_in_an_error() {
    let (text, is_complete) = stream_of(Reply::text("a longer answer in several pieces").cut_after(500)).await;
    assert_eq!((text.len(), is_complete), (500, false));
    assert!(!text.contains("[DONE]"));
}

#[tokio::test]
async fn a_stalled_stream_arrives_in_part_and_does_not_end() {
    let model = model_with(Reply::text("a longer answer in several pieces").stall_after(300)).await;
    let mut response = ask_streaming(&model, "hello").send().await.unwrap();
    let mut bytes = 0;
    while bytes < 300 {
        bytes += response.chunk().await.unwrap().expect("the part arrives").len();
    }
    assert_eq!(bytes, 300);
    let more = tokio::time::timeout(Duration::from_millis(50), response.chunk()).await;
    assert!(more.is_err(), "{more:?}");
}

#[tokio::test]
async fn a_delayed_answer_comes_after_the_delay() {
    let delay = Duration::from_millis(50);
    let model = model_with(Reply::text("late").delay(delay)).await;
    let start = std::time::Instant::now();
    assert_eq!(send(&model).await.unwrap().status(), 200);
    assert!(start.elapsed() >= delay);
}

#[tokio::test]
async fn a_status_is_sent_with_its_headers_and_body() {
    let reply = Reply::status(429).retry_after(7).header("x-request-id", "r-1").body(r#"{"error":"slow down"}"#);
    let response = send(&model_with(reply).await).await.unwrap();
    let headers = response.headers().clone();
    assert_eq!(response.status(), 429);
    assert_eq!((&headers["retry-after"], &headers["x-request-id"]), (&"7".parse().unwrap(), &"r-1".parse().unwrap()));
    assert_eq!(headers["content-type"], "application/json");
    assert_eq!(response.text().await.unwrap(), r#"{"error":"slow down"}"#);
}

#[tokio::test]
async fn a_reply_that_cannot_be_sent_is_a_script_error() {
    for reply in [Reply::status(99), Reply::data(Value::Null)] {
        assert_eq!(send(&model_with(reply).await).await.unwrap().status(), 500);
    }
}

#[tokio::test]
async fn a_dropped_server_closes_its_port_and_connections() {
    let tool = tool_with(Reply::silence()).await;
    let client = client();
    let health = tool.base_url() + "/health";
    assert_eq!(client.get(&health).send().await.unwrap().status(), 200);
    let waiting = tokio::spawn(client.post(tool.base_url() + "/api/capabilities/wait").body("{}").send());
    tool.wait_for_calls(1).await;
    drop(tool);
    waiting.await.unwrap().unwrap_err();
    // Neither a new nor a kept-alive connection is answered.
    client.get(&health).send().await.unwrap_err();
}

#[tokio::test]
async fn a_stream_is_cut_or_stalls_after_a_number_of_events() {
    let (text, is_complete) = stream_of(Reply::text("a longer answer in several pieces").cut_after_events(3)).await;
    assert_eq!((text.matches("data: ").count(), is_complete), (3, false), "{text}");
    // A cut after the end still leaves out the last event.
    let (text, is_complete) = stream_of(Reply::text("short").cut_after_events(99)).await;
    assert!(!text.contains("[DONE]") && !is_complete, "{text}");
    let stalled = stream_of(Reply::text("a longer answer in several pieces").stall_after_events(2));
    let whole = tokio::time::timeout(Duration::from_millis(50), stalled).await;
    assert!(whole.is_err(), "{whole:?}");
}

#[tokio::test]
async fn the_head_is_sent_before_a_late_first_token() {
    let model = model_with(Reply::text("late").first_token_after(Duration::from_mins(1))).await;
    let mut response = ask_streaming(&model, "hello").send().await.unwrap();
    assert_eq!(response.status(), 200);
    let first = tokio::time::timeout(Duration::from_millis(50), response.chunk()).await;
    assert!(first.is_err(), "{first:?}");
}

#[tokio::test]
async fn events_are_sent_at_the_given_interval() {
    let pause = Duration::from_millis(20);
    let model = model_with(Reply::text("a longer answer").event_interval(pause)).await;
    let start = std::time::Instant::now();
    let (text, _) = received(ask_streaming(&model, "hello").send().await.unwrap()).await;
    let events = u32::try_from(text.matches("data: ").count()).unwrap();
    assert!(start.elapsed() >= pause * (events - 1), "{events} events");
}

#[tokio::test]
async fn a_malformed_event_is_inserted_among_the_others() {
    let (text, is_complete) = stream_of(Reply::text("an answer").malformed_event(2)).await;
    let events: Vec<&str> = text.split("\n\n").filter_map(|event| event.strip_prefix("data: ")).collect();
    let is_valid = |event: &str| event == "[DONE]" || serde_json::from_str::<serde_json::Value>(event).is_ok();
    let malformed: Vec<usize> = (0..events.len()).filter(|index| !is_valid(events[*index])).collect();
    assert_eq!((malformed, events.len(), is_complete), (vec![1], 7, true), "{text}");
}

#[tokio::test]
async fn a_stream_can_end_without_its_terminator() {
    let (text, is_complete) = stream_of(Reply::text("an answer").without_terminator()).await;
    assert!(is_complete && !text.contains("[DONE]") && text.contains("\"finish_reason\":\"stop\""), "{text}");
}

#[tokio::test]
async fn a_body_can_have_a_wrong_content_type_and_padding() {
    let reply = Reply::status(200).body("{}").content_type("text/html").padding(200_000);
    let response = send(&model_with(reply).await).await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/html");
    let (text, is_complete) = received(response).await;
    assert_eq!((text.len(), text.trim_end(), is_complete), (200_002, "{}", true));
}

#[tokio::test]
async fn a_refusal_has_a_code_and_a_reason() {
    for (reply, code, message) in [
        (Reply::context_length(), "context_length_exceeded", "maximum context length"),
        (Reply::content_filter("not this"), "content_policy_violation", "not this"),
    ] {
        let response = send(&model_with(reply).await).await.unwrap();
        assert_eq!(response.status(), 400);
        let body: serde_json::Value = response.json().await.unwrap();
        assert_eq!(body["error"]["code"], code);
        assert!(body["error"]["message"].as_str().unwrap().contains(message), "{body}");
    }
}

#[tokio::test]
async fn a_server_flaps_by_count_or_by_time() {
    let flapping = Script::new()
        .flapping(2, 1, RequestMatcher::any(), Reply::status(503))
        .on(RequestMatcher::any(), Reply::text("well"));
    let model = ScriptedModel::start(flapping).await.unwrap();
    let mut statuses = Vec::new();
    for _ in 0..6 {
        statuses.push(send(&model).await.unwrap().status().as_u16());
    }
    assert_eq!(statuses, [503, 503, 200, 503, 503, 200]);

    let long = Duration::from_hours(1);
    for (script, expected) in [
        (Script::new().during(long, RequestMatcher::any(), Reply::status(503)), 503),
        (Script::new().during(Duration::ZERO, RequestMatcher::any(), Reply::status(503)), 200),
        (Script::new().flapping_for(long, long, RequestMatcher::any(), Reply::status(503)), 503),
        (Script::new().flapping_for(Duration::ZERO, long, RequestMatcher::any(), Reply::status(503)), 200),
    ] {
        let model = ScriptedModel::start(script.on(RequestMatcher::any(), Reply::text("well"))).await.unwrap();
        assert_eq!(send(&model).await.unwrap().status(), expected);
    }
}

#[tokio::test]
async fn every_fault_scenario_can_be_started() {
    for fault in FAULT_SCENARIOS {
        let scenario = Scenario::read(fault.scenario).unwrap_or_else(|error| panic!("{}: {error:?}", fault.name));
        let models = scenario.start().await.unwrap();
        assert_eq!(models.keys().collect::<Vec<_>>(), ["fallback", "primary"], "{}", fault.name);
    }
    let broken = r#"{"about": "", "models": {"a": {"rules": [{"reply": {}}]}}}"#;
    let error = Scenario::read(broken).unwrap_err();
    assert_eq!(error.to_string(), "the script of `a` cannot be used");
    Scenario::read(r#"{"about": "", "model": {}}"#).unwrap_err();
    Scenario::read("{").unwrap_err();
}

#[tokio::test]
async fn a_file_can_describe_every_part_of_a_reply() {
    let script = r#"{"rules": [
        {"times": 1, "reply": {"text": "x", "headers": {"x-a": "b"}, "first_token_after_ms": 1, "event_every_ms": 1, "malformed_event": 1,
            "without_terminator": true, "content_type": "text/plain", "giant_bytes": 3, "usage": {"prompt": 1, "completion": 2}}},
        {"flapping": {"on": 1, "off": 1}, "reply": {"text": "x", "fault": {"cut_after_events": 1}}},
        {"flapping_ms": {"on": 3600000, "off": 1}, "when": {"last_role": "user"}, "reply": {"refusal": {"content_filter": "no"}}}
    ]}"#;
    let model = ScriptedModel::start(Script::from_value(&Value::parse(script).unwrap()).unwrap()).await.unwrap();
    let response = ask_streaming(&model, "hello").send().await.unwrap();
    assert_eq!(
        (&response.headers()["x-a"], &response.headers()["content-type"]),
        (&"b".parse().unwrap(), &"text/plain".parse().unwrap())
    );
    let (text, _) = received(response).await;
    assert!(text.starts_with("data: {\"choices\": [{\"delta\": oops") && text.ends_with("\n\n   "), "{text}");
    assert!(!text.contains("[DONE]") && text.contains("\"completion_tokens\":2"), "{text}");
    let (_, is_complete) = received(ask_streaming(&model, "hello").send().await.unwrap()).await;
    assert!(!is_complete);
    assert_eq!(ask_streaming(&model, "hello").send().await.unwrap().status(), 400);
    assert!(model.requests()[2].since_start >= model.requests()[0].since_start);
}

//! What goes wrong on purpose goes wrong in just that way.

use std::error::Error;
use std::io;
use std::time::Duration;

use reknit_protocol::{Effect, Value};
use reknit_testing::model::{Script, ScriptedModel, When};
use reknit_testing::scenario::FAULTS;
use reknit_testing::tool::When as CallWhen;
use reknit_testing::{Reply, Scenario, ScriptedTool};

use crate::support::{ask, ask_streaming, client, model_with};

/// The error of the socket below an error of the client.
fn kind(error: &(dyn Error + 'static)) -> Option<io::ErrorKind> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<io::Error>() {
            return Some(io.kind());
        }
        cause = error.source();
    }
    None
}

/// What arrives of a body, and whether it ends well.
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

async fn asked(model: &ScriptedModel) -> Result<reqwest::Response, reqwest::Error> {
    ask(model, "", "hello").send().await
}

#[tokio::test]
async fn a_reset_is_a_reset() {
    let model = model_with(Reply::reset()).await;
    let error = asked(&model).await.unwrap_err();
    assert_eq!(kind(&error), Some(io::ErrorKind::ConnectionReset), "{error:?}");
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn silence_takes_the_request_and_never_answers() {
    let model = model_with(Reply::silence()).await;
    let error = ask(&model, "", "hello").timeout(Duration::from_millis(100)).send().await.unwrap_err();
    assert!(error.is_timeout(), "{error:?}");
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn a_cut_body_arrives_in_part_and_ends_in_an_error() {
    let model = model_with(Reply::status(200).body("0123456789").cut_after(4)).await;
    assert_eq!(received(asked(&model).await.unwrap()).await, ("0123".to_owned(), false));
    // A cut is a cut, even behind the last byte.
    let model = model_with(Reply::status(200).body("0123456789").cut_after(99)).await;
    assert_eq!(received(asked(&model).await.unwrap()).await, ("012345678".to_owned(), false));
}

#[tokio::test]
async fn a_cut_stream_arrives_in_part_and_ends_in_an_error() {
    let model = model_with(Reply::text("a longer answer in several pieces").cut_after(500)).await;
    let response = ask_streaming(&model, "hello").send().await.unwrap();
    let (text, ended_well) = received(response).await;
    assert_eq!((text.len(), ended_well), (500, false));
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
async fn a_delay_is_waited_out_before_the_answer() {
    let delay = Duration::from_millis(50);
    let model = model_with(Reply::text("late").delay(delay)).await;
    let start = std::time::Instant::now();
    assert_eq!(asked(&model).await.unwrap().status(), 200);
    assert!(start.elapsed() >= delay);
}

#[tokio::test]
async fn a_status_comes_with_its_headers_and_its_body() {
    let reply = Reply::status(429).retry_after(7).header("x-request-id", "r-1").body(r#"{"error":"slow down"}"#);
    let response = asked(&model_with(reply).await).await.unwrap();
    let headers = response.headers().clone();
    assert_eq!(response.status(), 429);
    assert_eq!((&headers["retry-after"], &headers["x-request-id"]), (&"7".parse().unwrap(), &"r-1".parse().unwrap()));
    assert_eq!(headers["content-type"], "application/json");
    assert_eq!(response.text().await.unwrap(), r#"{"error":"slow down"}"#);
}

#[tokio::test]
async fn a_reply_that_cannot_be_sent_is_an_error_of_the_script() {
    let response = asked(&model_with(Reply::status(99)).await).await.unwrap();
    assert_eq!(response.status(), 500);
    let response = asked(&model_with(Reply::data(Value::Null)).await).await.unwrap();
    assert_eq!(response.status(), 500);
}

#[tokio::test]
async fn a_server_that_is_dropped_is_gone_with_its_connections() {
    let tool = ScriptedTool::new("tool")
        .capability("wait", Effect::Read)
        .on("wait", CallWhen::any(), Reply::silence())
        .start()
        .await
        .unwrap();
    let client = client();
    let health = tool.base_url() + "/health";
    assert_eq!(client.get(&health).send().await.unwrap().status(), 200);
    let waiting = tokio::spawn(client.post(tool.base_url() + "/api/capabilities/wait").body("{}").send());
    tool.called(1).await;
    drop(tool);
    waiting.await.unwrap().unwrap_err();
    // Neither a new connection nor one that was kept alive is answered.
    client.get(&health).send().await.unwrap_err();
}

#[tokio::test]
async fn a_stream_is_cut_or_stalls_after_so_many_events() {
    let model = model_with(Reply::text("a longer answer in several pieces").cut_after_events(3)).await;
    let (text, ended_well) = received(ask_streaming(&model, "hello").send().await.unwrap()).await;
    assert_eq!((text.matches("data: ").count(), ended_well), (3, false), "{text}");
    // Not even one that is cut behind its last event ends well.
    let model = model_with(Reply::text("short").cut_after_events(99)).await;
    let (text, ended_well) = received(ask_streaming(&model, "hello").send().await.unwrap()).await;
    assert!(!text.contains("[DONE]") && !ended_well, "{text}");
    let model = model_with(Reply::text("a longer answer in several pieces").stall_after_events(2)).await;
    let response = ask_streaming(&model, "hello").send().await.unwrap();
    let whole = tokio::time::timeout(Duration::from_millis(50), received(response)).await;
    assert!(whole.is_err(), "{whole:?}");
}

#[tokio::test]
async fn the_head_comes_at_once_though_the_first_token_takes_its_time() {
    let model = model_with(Reply::text("late").first_token_after(Duration::from_mins(1))).await;
    let mut response = ask_streaming(&model, "hello").send().await.unwrap();
    assert_eq!(response.status(), 200);
    let first = tokio::time::timeout(Duration::from_millis(50), response.chunk()).await;
    assert!(first.is_err(), "{first:?}");
}

#[tokio::test]
async fn events_come_one_by_one_if_they_are_to() {
    let pause = Duration::from_millis(20);
    let model = model_with(Reply::text("a longer answer").event_every(pause)).await;
    let start = std::time::Instant::now();
    let (text, _) = received(ask_streaming(&model, "hello").send().await.unwrap()).await;
    let events = u32::try_from(text.matches("data: ").count()).unwrap();
    assert!(start.elapsed() >= pause * (events - 1), "{events} events");
}

#[tokio::test]
async fn an_event_that_nobody_can_read_comes_beside_all_the_others() {
    let model = model_with(Reply::text("an answer").malformed_event(2)).await;
    let (text, ended_well) = received(ask_streaming(&model, "hello").send().await.unwrap()).await;
    let events: Vec<&str> = text.split("\n\n").filter_map(|event| event.strip_prefix("data: ")).collect();
    let readable = |event: &str| event == "[DONE]" || serde_json::from_str::<serde_json::Value>(event).is_ok();
    let unreadable: Vec<usize> = (0..events.len()).filter(|index| !readable(events[*index])).collect();
    assert_eq!((unreadable, events.len(), ended_well), (vec![1], 7, true), "{text}");
}

#[tokio::test]
async fn a_stream_may_end_without_saying_so() {
    let model = model_with(Reply::text("an answer").without_terminator()).await;
    let (text, ended_well) = received(ask_streaming(&model, "hello").send().await.unwrap()).await;
    assert!(ended_well && !text.contains("[DONE]") && text.contains("\"finish_reason\":\"stop\""), "{text}");
}

#[tokio::test]
async fn a_body_may_be_called_something_else_and_be_very_long() {
    let reply = Reply::status(200).body("{}").content_type("text/html").giant(200_000);
    let response = asked(&model_with(reply).await).await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/html");
    let (text, ended_well) = received(response).await;
    assert_eq!((text.len(), text.trim_end(), ended_well), (200_002, "{}", true));
}

#[tokio::test]
async fn a_refusal_has_the_code_and_the_reason_that_clients_read() {
    for (reply, code, words) in [
        (Reply::context_length(), "context_length_exceeded", "maximum context length"),
        (Reply::content_filter("not this"), "content_policy_violation", "not this"),
    ] {
        let response = asked(&model_with(reply).await).await.unwrap();
        assert_eq!(response.status(), 400);
        let body: serde_json::Value = response.json().await.unwrap();
        assert_eq!(body["error"]["code"], code);
        assert!(body["error"]["message"].as_str().unwrap().contains(words), "{body}");
    }
}

#[tokio::test]
async fn a_server_flaps_by_count_or_for_a_while() {
    let flapping = Script::new().flapping(2, 1, When::any(), Reply::status(503)).on(When::any(), Reply::text("well"));
    let model = ScriptedModel::start(flapping).await.unwrap();
    let mut statuses = Vec::new();
    for _ in 0..6 {
        statuses.push(asked(&model).await.unwrap().status().as_u16());
    }
    assert_eq!(statuses, [503, 503, 200, 503, 503, 200]);

    let long = Duration::from_hours(1);
    for (script, expected) in [
        (Script::new().during(long, When::any(), Reply::status(503)), 503),
        (Script::new().during(Duration::ZERO, When::any(), Reply::status(503)), 200),
        (Script::new().flapping_for(long, long, When::any(), Reply::status(503)), 503),
        (Script::new().flapping_for(Duration::ZERO, long, When::any(), Reply::status(503)), 200),
    ] {
        let model = ScriptedModel::start(script.on(When::any(), Reply::text("well"))).await.unwrap();
        assert_eq!(asked(&model).await.unwrap().status(), expected);
    }
}

#[tokio::test]
async fn every_fault_that_is_ready_to_use_can_be_started() {
    for fault in FAULTS {
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
async fn everything_a_reply_can_do_can_be_written_in_a_file() {
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
    let (_, ended_well) = received(ask_streaming(&model, "hello").send().await.unwrap()).await;
    assert!(!ended_well);
    assert_eq!(ask_streaming(&model, "hello").send().await.unwrap().status(), 400);
    assert!(model.requests()[2].after >= model.requests()[0].after);
}

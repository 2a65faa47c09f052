//! Tools over real loopback HTTP.
#![cfg(test)]

use std::time::Duration;

use reknit_protocol::{CallTool, Delivery, ReplyBody, TransportKind};
use reknit_protocol::{Effect, Object, Value};
use reknit_testing::tool::{RunningTool, When};
use reknit_testing::{Reply, ScriptedTool};
use reknit_tools::{Address, Client, Found};

async fn find(name: &str, url: &str) -> Found {
    Client::new().expect("a client").discover(&[Address::parse(name, url).expect("an address")]).await
}

async fn tool(reply: Reply) -> RunningTool {
    ScriptedTool::new("t")
        .capability("c", Effect::Keyed)
        .on("c", When::any(), reply)
        .start()
        .await
        .expect("the tool starts")
}

fn call(parameters: &str) -> CallTool {
    CallTool {
        id: "s/call/1".parse().unwrap(),
        step: "s".into(),
        agent: "t".into(),
        capability: "c".into(),
        parameters: object(parameters),
        side_effect: Effect::Keyed,
        idempotency_key: Some("key-1".to_owned()),
        timeout_ms: 300,
    }
}

fn object(text: &str) -> Object {
    Value::parse(text).expect("JSON").as_object().cloned().expect("an object")
}

#[tokio::test]
async fn a_call_carries_its_key_and_every_digit_both_ways() {
    let data = Value::parse(r#"{"id": 123456789012345678901234567890, "price": 0.10}"#).expect("JSON");
    let tool = tool(Reply::data(data.clone())).await;
    let found = find("t", &tool.base_url()).await;
    assert_eq!(found.problems, []);
    let reply = found.tools.call(&call(r#"{"amount": 98765432109876543210.50}"#)).await.expect("an answer");
    assert_eq!(reply.status, 200);
    let ReplyBody::Json(body) = &reply.body else { unreachable!("the tool answers JSON") };
    assert_eq!(body.get("data").map(ToString::to_string), Some(data.to_string()));
    let calls = tool.calls();
    assert_eq!(calls[0].body, r#"{"amount":98765432109876543210.50}"#);
    assert_eq!(calls[0].idempotency_key.as_deref(), Some("key-1"));
}

#[tokio::test]
async fn the_catalogue_says_what_the_tool_announced() {
    let tool = tool(Reply::data(1)).await;
    let found = find("t", &tool.base_url()).await;
    let entry = found.catalogue.entry("t", "c").expect("it is announced");
    assert_eq!(entry.capability.effect, Effect::Keyed);
}

#[tokio::test]
async fn a_tool_that_is_not_there_is_a_problem_and_keeps_no_other_away() {
    let tool = tool(Reply::data(1)).await;
    let addresses = [
        Address::parse("gone", "http://127.0.0.1:9").expect("an address"),
        Address::parse("t", &tool.base_url()).expect("an address"),
    ];
    let found = Client::new().expect("a client").discover(&addresses).await;
    assert_eq!(found.catalogue.tools.len(), 1);
    assert_eq!(
        found.problems[0].to_string(),
        "tool `gone` at http://127.0.0.1:9/: nobody answers there; is it running?"
    );
}

#[tokio::test]
async fn why_a_tool_cannot_be_reached_is_said() {
    let tool = tool(Reply::data(1)).await;
    for (url, words) in [
        (tool.base_url().replace("http:", "https:"), "it cannot be reached: "),
        ("http://nowhere.invalid".to_owned(), "it cannot be reached: "),
    ] {
        let problem = find("t", &url).await.problems[0].message.clone();
        assert!(problem.starts_with(words) && problem.len() > words.len(), "{url}: {problem}");
    }
}

#[tokio::test]
async fn only_a_connection_that_was_never_made_proves_that_nothing_was_sent() {
    for (case, reply, kind) in [
        ("reset", Reply::reset(), TransportKind::Reset),
        ("silence", Reply::silence(), TransportKind::TimedOut),
        ("a cut body", Reply::data("a long answer").cut_after(5), TransportKind::Reset),
    ] {
        let tool = tool(reply).await;
        let failure = find("t", &tool.base_url()).await.tools.call(&call("{}")).await.expect_err(case);
        assert_eq!((failure.kind, failure.delivery), (kind, Delivery::Possible), "case: {case}");
    }
    let tool = tool(Reply::data(1)).await;
    let found = find("t", &tool.base_url()).await;
    drop(tool);
    let failure = found.tools.call(&call("{}")).await.expect_err("nobody is there any more");
    assert_eq!((failure.kind, failure.delivery), (TransportKind::Refused, Delivery::NotSent), "{failure}");
}

#[tokio::test]
async fn a_refusal_is_an_answer_with_its_status_and_its_wait() {
    let tool = tool(Reply::status(429).retry_after(7)).await;
    let reply = find("t", &tool.base_url()).await.tools.call(&call("{}")).await.expect("an answer");
    assert_eq!((reply.status, reply.retry_after_ms), (429, Some(7_000)));
}

#[tokio::test]
async fn a_wait_may_be_a_length_or_a_date_but_the_hour_of_a_new_limit_is_none() {
    for (name, value, expected) in [
        ("retry-after", "1m30s", Some(90_000)),
        ("retry-after-ms", "250", Some(250)),
        ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", Some(0)),
        ("x-ratelimit-reset", "3600", None),
    ] {
        let tool = tool(Reply::status(503).header(name, value)).await;
        let reply = find("t", &tool.base_url()).await.tools.call(&call("{}")).await.expect("an answer");
        assert_eq!(reply.retry_after_ms, expected, "{name}: {value}");
    }
}

#[tokio::test]
async fn a_call_is_not_sent_on_to_another_place() {
    let tool = tool(Reply::status(307).header("Location", "/elsewhere")).await;
    let reply = find("t", &tool.base_url()).await.tools.call(&call("{}")).await.expect("an answer");
    let words = format!(
        "it sends on to {}/elsewhere, and nothing is sent on: name that address if it is the right one",
        tool.base_url()
    );
    assert_eq!((reply.status, reply.body), (307, ReplyBody::Text(words)));
    assert_eq!(tool.count(), 1);
}

#[tokio::test]
async fn a_call_nobody_knows_the_way_of_is_not_made() {
    let found = Client::new().expect("a client").discover(&[]).await;
    let failure = found.tools.call(&call("{}")).await.expect_err("there is no tool");
    assert_eq!((failure.kind, failure.delivery), (TransportKind::NotCallable, Delivery::NotSent));
}

#[tokio::test]
async fn an_answer_without_end_is_not_taken_in() {
    let tool = tool(Reply::data("x".repeat(17 << 20))).await;
    let found = find("t", &tool.base_url()).await;
    let long = CallTool { timeout_ms: 60_000, ..call("{}") };
    let failure = found.tools.call(&long).await.expect_err("it is too large");
    assert_eq!((failure.kind, failure.delivery), (TransportKind::TooLarge, Delivery::Possible), "{failure}");
    assert!(failure.to_string().contains("larger than 16777216 bytes"), "{failure}");
}

#[tokio::test]
async fn an_answer_within_the_limit_is_waited_for() {
    let tool = tool(Reply::data(1).delay(Duration::from_millis(30))).await;
    let reply = find("t", &tool.base_url()).await.tools.call(&call("{}")).await.expect("an answer");
    assert_eq!(reply.status, 200);
}

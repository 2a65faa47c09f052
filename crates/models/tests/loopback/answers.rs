//! Servers that answer.

use reknit_model_api::{Delta, FinishReason, ModelAnswer, Price, Prices, Usage, UsageSource};
use reknit_models::{Models, Target};
use serde_json::json;

use crate::server::{STOP, Server, ServerAction, chunk, delta, response, stream_head};
use crate::{ask, failure, request, streamed_answer, without_timings};

const JSON: &str = "content-type: application/json\r\n";

fn body(text: &str) -> String {
    json!({
        "model": "m-1-2026",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3},
    })
    .to_string()
}

fn expected() -> ModelAnswer {
    ModelAnswer::complete("46828.5", "m-1-2026", Usage::reported(12, 3))
}

#[tokio::test]
async fn a_whole_answer_is_one_delta() {
    let server = Server::responding("200 OK", JSON, &body("46828.5")).await;
    let (answer, pieces) = ask(server.whole_target()).await;
    assert_eq!(without_timings(answer), Ok(expected()));
    assert_eq!(pieces, ["46828.5"]);
}

#[tokio::test]
async fn a_streamed_answer_has_a_delta_for_each_event_and_equals_the_whole_one() {
    let first = r#"{"model":"m-1-2026","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#;
    let usage = r#"{"model":"m-1-2026","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":3}}"#;
    let stream =
        format!("data: {first}\n\n: alive\n\n{}{}{STOP}data: {usage}\n\ndata: [DONE]\n\n", delta("46"), delta("828.5"));
    let server = Server::streaming(&stream).await;
    let (answer, pieces) = ask(server.target()).await;
    assert_eq!(without_timings(answer), Ok(expected()));
    assert_eq!(pieces, ["46", "828.5"]);
}

#[tokio::test]
async fn the_request_on_the_wire_is_as_configured() {
    let mut server = Server::responding("200 OK", JSON, &body("ok")).await;
    let target = Target { key: Some("sk-1".into()), ..server.target() };
    ask(target).await.0.unwrap();
    let request = server.request().await.replace(&server.address.to_string(), "[server]").replace("\r\n", "\n");
    insta::assert_snapshot!(request, @r#"
    POST /v1/chat/completions HTTP/1.1
    content-type: application/json
    accept: text/event-stream, application/json
    authorization: Bearer sk-1
    user-agent: reknit/0.1.0
    host: [server]
    content-length: 168

    {"model":"m-1","messages":[{"role":"user","content":"How much are 100 shares?"}],"temperature":0,"max_tokens":100,"stream":true,"stream_options":{"include_usage":true}}
    "#);
}

#[tokio::test]
async fn a_server_may_stream_or_not_whatever_was_requested() {
    let whole = Server::responding("200 OK", JSON, &body("46828.5")).await;
    assert_eq!(without_timings(ask(whole.target()).await.0), Ok(expected()));

    let stream = Server::streaming(&format!("{}{STOP}data: [DONE]\n\n", delta("yes"))).await;
    let (answer, pieces) = ask(stream.whole_target()).await;
    assert_eq!(answer.unwrap().text, "yes");
    assert_eq!(pieces, ["yes"]);
}

#[tokio::test]
async fn an_answer_at_its_token_limit_has_that_finish_reason() {
    let stop = STOP.replace("stop", "length");
    let answer = streamed_answer(&format!("{}{stop}", delta("half a sen"))).await;
    assert_eq!(answer.finish, FinishReason::Length);
    assert_eq!(answer.usage.source, UsageSource::Estimated);
}

#[tokio::test]
async fn a_finish_reason_or_an_end_mark_alone_ends_an_answer() {
    for (end, finish) in [(STOP, FinishReason::Complete), ("data: [DONE]\n\n", FinishReason::Other("unstated".into()))]
    {
        assert_eq!(streamed_answer(&format!("{}{end}", delta("yes"))).await.finish, finish);
    }
}

#[tokio::test]
async fn a_connection_that_breaks_or_stalls_after_a_complete_answer_does_no_harm() {
    for last in [ServerAction::Reset, ServerAction::Silence] {
        let server = Server::new([stream_head(), chunk(&format!("{}{STOP}", delta("yes"))), last]).await;
        let target = server.target_with_timeouts(|timeouts| timeouts.idle = std::time::Duration::from_millis(50));
        assert_eq!(ask(target).await.0.unwrap().text, "yes");
    }
}

#[tokio::test]
async fn an_event_in_two_chunks_is_one_event() {
    let event = delta("grüße");
    let middle = event.find('ü').unwrap() + 1;
    let (left, right) = event.as_bytes().split_at(middle);
    let piece =
        |bytes: &[u8]| ServerAction::Send([format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat());
    let server = Server::new([stream_head(), piece(left), piece(right), chunk(STOP), chunk("")]).await;
    assert_eq!(ask(server.target()).await.0.unwrap().text, "grüße");
}

#[tokio::test]
async fn a_malformed_event_is_skipped_and_counted() {
    let answer = streamed_answer(&format!("{}data: {{\"choi\n\n{}{STOP}", delta("a"), delta("b"))).await;
    assert_eq!((answer.text.as_str(), answer.skipped_events), ("ab", 1));
}

#[tokio::test]
async fn one_attempt_is_one_http_request_whatever_the_response() {
    for actions in [
        vec![ServerAction::Send(response("200 OK", JSON, &body("ok")))],
        vec![ServerAction::Send(response("500 Internal Server Error", "", ""))],
        vec![ServerAction::Send(response("429 Too Many Requests", "retry-after: 0\r\n", ""))],
        vec![ServerAction::Send(response("307 Temporary Redirect", "location: /v1/chat/completions\r\n", ""))],
        vec![ServerAction::Reset],
        vec![],
    ] {
        let mut server = Server::new(actions.clone()).await;
        let _ = ask(server.target()).await;
        assert_eq!(server.requests(), 1, "{actions:?}");
    }
}

#[tokio::test]
async fn dropping_the_future_closes_the_connection() {
    for actions in [vec![ServerAction::Silence], vec![stream_head(), chunk(&delta("a")), ServerAction::Silence]] {
        let mut server = Server::new(actions).await;
        let models = Models::new(vec![server.target()]).unwrap();
        let request = request();
        let name = "a".into();
        let mut ignore = |_: Delta<'_>| {};
        {
            let asking = models.ask(&name, &request, &mut ignore);
            tokio::select! {
                answer = asking => panic!("{answer:?}"),
                _ = server.request() => {}
            }
        }
        server.closed_by_client().await;
    }
}

#[tokio::test]
async fn an_unknown_target_is_a_failure_with_its_name() {
    let models = Models::new(vec![]).unwrap();
    let failure = models.ask(&"b".into(), &request(), &mut |_| {}).await.unwrap_err();
    assert_eq!(failure.to_string(), "model error: there is no model with the name `b`");
}

#[tokio::test]
async fn a_request_that_cannot_fit_is_not_sent() {
    let mut server = Server::new([]).await;
    let fitting = Target { max_context: Some(3), ..server.target() };
    assert_ne!(failure(fitting).await.class, reknit_model_api::ErrorClass::ContextLength);
    assert_eq!(server.requests(), 1);
    let small = Target { max_context: Some(2), ..server.target() };
    assert_eq!(
        failure(small).await.to_string(),
        "too long for the model: not sent: 24 characters cannot fit into 2 tokens"
    );
    assert_eq!(server.requests(), 0);
}

#[tokio::test]
async fn an_answer_without_text_is_an_answer() {
    for body in ["{\"choices\":[]}", "{\"choices\":[{\"message\":{\"content\":null}}]}"] {
        let server = Server::responding("200 OK", JSON, body).await;
        let answer = ask(server.whole_target()).await.0.unwrap();
        let failure = answer.require_text().unwrap_err();
        assert_eq!(failure.to_string(), "invalid response: no text (finish reason `unstated`)");
    }
}

#[tokio::test]
async fn the_request_id_and_the_cost_are_part_of_the_answer() {
    let head = format!("{JSON}x-request-id: req-7\r\n");
    let server = Server::responding("200 OK", &head, &body("ok")).await;
    let prices = Prices::new(Price::from_micros(1_000_000), Price::from_micros(2_000_000));
    let answer = ask(Target { prices: Some(prices), ..server.target() }).await.0.unwrap();
    assert_eq!(answer.request_id.as_deref(), Some("req-7"));
    assert_eq!(answer.cost.unwrap().to_string(), "0.000018");
}

/// An event of a Gemini stream.
fn gemini_event(text: &str, finish: &str) -> String {
    let candidate = json!({"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": finish});
    format!("data: {}\n\n", json!({"candidates": [candidate], "modelVersion": "m-1"}))
}

#[tokio::test]
async fn a_gemini_stream_that_continues_after_a_finish_reason_is_read_to_its_end() {
    let (first, second) = (chunk(&gemini_event("one ", "STOP")), chunk(&gemini_event("two", "STOP")));
    let gemini = |server: &Server| Target { provider: reknit_models::Provider::Gemini, ..server.target() };
    let server = Server::new([stream_head(), first.clone(), second, chunk("")]).await;
    assert_eq!(ask(gemini(&server)).await.0.unwrap().text, "one two");

    // Nothing but its end says that such a stream is complete.
    for last in [ServerAction::Reset, ServerAction::Silence] {
        let server = Server::new([stream_head(), first.clone(), last]).await;
        let mut target = gemini(&server);
        target.timeouts.idle = std::time::Duration::from_millis(50);
        assert_eq!(failure(target).await.partial, "one ");
    }
}

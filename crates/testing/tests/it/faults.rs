//! What goes wrong on purpose goes wrong in just that way.

use std::error::Error;
use std::io;
use std::time::Duration;

use reknit_protocol::{Effect, Value};
use reknit_testing::model::ScriptedModel;
use reknit_testing::tool::When;
use reknit_testing::{Reply, ScriptedTool};

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
        .on("wait", When::any(), Reply::silence())
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

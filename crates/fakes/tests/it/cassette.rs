//! Recording, replaying and misses of a cassette.

use std::path::PathBuf;

use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::{Cassette, Reply, ScriptedModel};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::client;

/// A cassette file, recorded from a model that is rate limited once, and the recorded responses.
async fn record_cassette() -> (TempDir, PathBuf, Vec<(u16, String)>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.json");
    let script = Script::new()
        .once(
            RequestMatcher::any(),
            Reply::status(429).retry_after(2).header("set-cookie", "s3cret").body("wait, sk-s3cret"),
        )
        .on(RequestMatcher::any(), Reply::text("It is 46828.50."));
    let model = ScriptedModel::start(script).await.unwrap();
    let upstream = model.base_url();
    let cassette = Cassette::record(&file, upstream.trim_end_matches("/v1")).await.unwrap();
    let mut answers = vec![ask(&cassette, &question("how much?")).await, ask(&cassette, &question("how much?")).await];
    answers.push(ask(&cassette, &json!({"messages": [], "stream": true})).await);
    assert_eq!(cassette.misses(), [""; 0]);
    assert_eq!(model.requests()[0].header("authorization"), Some("Bearer sk-s3cret"), "the real server gets the key");
    (folder, file, answers)
}

fn question(text: &str) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": text}], "temperature": 0.50})
}

async fn ask(cassette: &Cassette, body: &Value) -> (u16, String) {
    let url = cassette.base_url() + "/v1/chat/completions?key=s3cret-too&v=1";
    let response = client().post(url).bearer_auth("sk-s3cret").json(body).send().await.unwrap();
    let retry_after = response.headers().get("retry-after").map(|value| value.to_str().unwrap().to_owned());
    (response.status().as_u16(), retry_after.unwrap_or_default() + &response.text().await.unwrap())
}

#[tokio::test]
async fn recorded_responses_are_replayed_in_order_without_the_server() {
    let (_folder, file, answers) = record_cassette().await;
    assert_eq!(answers[0], (429, "2wait, [redacted]".to_owned()));
    let cassette = Cassette::replay(&file).await.unwrap();
    assert_eq!(cassette.remaining(), 3);
    assert_eq!(ask(&cassette, &json!({"messages": [], "stream": true})).await, answers[2]);
    for expected in &answers[..2] {
        assert_eq!(ask(&cassette, &question("how much?")).await, *expected);
    }
    assert_eq!((cassette.remaining(), cassette.misses().len()), (0, 0));
    assert!(answers[2].1.ends_with("data: [DONE]\n\n"));
}

#[tokio::test]
async fn a_recording_contains_no_key() {
    let (_folder, file, _) = record_cassette().await;
    let text = std::fs::read_to_string(file).unwrap();
    assert!(!text.contains("s3cret"), "{text}");
    assert!(text.contains("key=[redacted]&v=1") && text.contains("46828.50"), "{text}");
    assert!(text.contains(r#""asked": {"#) && text.contains(r#""answered": {"#), "the names of the format: {text}");
}

#[tokio::test]
async fn a_miss_fails_and_shows_the_difference_to_the_nearest_recording() {
    let (_folder, file, _) = record_cassette().await;
    let cassette = Cassette::replay(&file).await.unwrap();
    let mut changed = question("how many?");
    changed["seed"] = json!(7);
    changed["messages"].as_array_mut().unwrap().push(json!({}));
    assert_eq!(ask(&cassette, &changed).await.0, 400);
    let response = client().get(cassette.base_url() + "/v1/models").send().await.unwrap();
    assert_eq!(response.status(), 400);
    for _ in 0..3 {
        ask(&cassette, &question("how much?")).await;
    }
    insta::assert_snapshot!(cassette.misses().join("\n"), @r#"
    POST /v1/chat/completions?key=[redacted]&v=1 is not recorded in this form; the nearest recording differs in:
      $.messages[0].content: recorded "how much?", now "how many?"
      $.messages: recorded 1 entries, now 2
      $.seed: not recorded, now 7
    GET /v1/models is not recorded; recorded are: POST /v1/chat/completions?key=[redacted]&v=1
    POST /v1/chat/completions?key=[redacted]&v=1 was recorded 2 times and is requested once more
    "#);
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_a_miss_and_not_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let cassette = Cassette::record(folder.path().join("a.json"), "http://127.0.0.1:9").await.unwrap();
    assert_eq!(ask(&cassette, &question("x")).await.0, 400);
    assert!(cassette.misses()[0].contains("could not be forwarded"), "{:?}", cassette.misses());
    assert!(!cassette.misses()[0].contains("s3cret"), "{:?}", cassette.misses());
    assert_eq!(cassette.remaining(), 0);
}

#[tokio::test]
async fn a_file_that_is_not_a_cassette_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.json");
    assert!(Cassette::replay(&file).await.unwrap_err().to_string().starts_with("cannot read or write `"));
    std::fs::write(&file, "[]").unwrap();
    assert!(Cassette::replay(&file).await.unwrap_err().to_string().ends_with("does not have the format of a cassette"));
}

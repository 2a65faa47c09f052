//! Errors of a provider, as its clients get them through the gateway.

use reknit_fakes::paced;
use reknit_models::Provider;
use serde_json::json;

use super::upstream::{Answer, Upstream};
use super::{Gateway, header, json_of, question};

const CLAUDE: &str = r#"{"model": "auto", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}"#;

fn openai_error(code: &str) -> String {
    format!(
        r#"{{"error": {{"message":"no", "type":"some_type","param":"messages[0]","code":"{code}","new_field":[1.50]}}}}"#
    )
}

#[test]
fn an_error_of_a_provider_passes_byte_for_byte_with_its_status_and_headers() {
    // The number of requests is that of attempts which can help.
    for (status, code, requests) in [
        (400, "invalid_value", 1),
        (400, "context_length_exceeded", 1),
        (401, "invalid_api_key", 1),
        (403, "unsupported_country", 1),
        (404, "model_not_found", 1),
        (409, "conflict", 3),
        (422, "unprocessable", 1),
        (429, "insufficient_quota", 1),
        (429, "rate_limit_exceeded", 3),
        (500, "server_error", 3),
        (503, "server_is_overloaded", 3),
    ] {
        for stream in [false, true] {
            paced(async {
                let body = openai_error(code);
                let error = Answer::json(status, body.clone()).header("x-request-id", "req_9").header("x-quota", "7");
                let upstream = Upstream::start([error]).await;
                let gateway = Gateway::before(&[("m", &upstream)], Provider::OpenAi).await;
                let mut asked = question();
                asked["stream"] = json!(stream);
                let response = gateway.chat(&asked).await;
                assert_eq!(response.status().as_u16(), status, "{code}");
                assert_eq!(
                    (header(&response, "x-request-id"), header(&response, "x-quota")),
                    ("req_9".into(), "7".into())
                );
                assert_eq!(header(&response, "x-reknit-attempts"), requests.to_string(), "{code}");
                assert!(!header(&response, "x-reknit-request-id").is_empty(), "{code}");
                let retries = status == 429 && code != "insufficient_quota" || code == "server_is_overloaded";
                assert_eq!(header(&response, "x-should-retry"), retries.to_string(), "{code}");
                assert_eq!(response.text().await.expect("a body"), body);
                assert_eq!(upstream.received().len(), requests, "{code}");
            });
        }
    }
}

#[test]
fn an_error_of_anthropic_stays_one_of_anthropic() {
    for (status, kind) in [(401, "authentication_error"), (529, "overloaded_error"), (413, "request_too_large")] {
        paced(async {
            let body = format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"no"}},"request_id":"req_1"}}"#);
            let upstream = Upstream::start([Answer::json(status, body.clone())]).await;
            let gateway = Gateway::before(&[("m", &upstream)], Provider::Anthropic).await;
            let response = gateway.post("/v1/messages", &serde_json::from_str(CLAUDE).expect("JSON")).await;
            assert_eq!(response.status().as_u16(), status);
            assert_eq!(response.text().await.expect("a body"), body);
            // A client of another API gets the same class of error.
            let response = gateway.chat(&question()).await;
            assert_eq!(response.status().as_u16(), status);
            let error = json_of(response).await["error"].clone();
            assert!(
                error["message"].as_str().is_some_and(|message| message.contains("no; no model answered")),
                "{error}"
            );
            assert!(error["type"].is_string() && error["param"].is_null() && error["code"].is_string(), "{error}");
        });
    }
}

#[test]
fn an_error_that_is_no_json_gets_the_envelope_of_the_api_and_keeps_its_status() {
    paced(async {
        let page = Answer::json(502, "<html><title>502 Bad Gateway</title></html>").header("content-type", "text/html");
        let upstream = Upstream::start([page]).await;
        let gateway = Gateway::before(&[("m", &upstream)], Provider::Anthropic).await;
        let response = gateway.post("/v1/messages", &serde_json::from_str(CLAUDE).expect("JSON")).await;
        assert_eq!(response.status().as_u16(), 502);
        let body = json_of(response).await;
        assert_eq!((&body["type"], &body["error"]["type"]), (&json!("error"), &json!("api_error")));
    });
}

#[test]
fn the_errors_of_several_providers_are_told_in_a_header() {
    paced(async {
        let first = Upstream::start([Answer::json(400, openai_error("invalid_value"))]).await;
        let second = Upstream::start([Answer::json(404, openai_error("model_not_found"))]).await;
        let gateway = Gateway::before(&[("a", &first), ("b", &second)], Provider::OpenAi).await;
        let response = gateway.chat(&question()).await;
        assert_eq!(response.status().as_u16(), 400);
        assert_eq!(header(&response, "x-reknit-failed"), "`a`: model error, `b`: model error");
        assert_eq!((first.received().len(), second.received().len()), (1, 1));
    });
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_passes_as_it_came() {
    let begin = "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"21 \"}}]}\n\n";
    let error = "data: {\"error\":{\"message\":\"broken\",\"type\":\"server_error\",\"odd\":1.0}}\n\n";
    let upstream = Upstream::start([Answer::stream(format!("{begin}{error}"))]).await;
    let gateway = Gateway::before(&[("m", &upstream)], Provider::OpenAi).await;
    let mut asked = question();
    asked["stream"] = json!(true);
    assert_eq!(gateway.chat(&asked).await.text().await.expect("a body"), format!("{begin}{error}"));
}

#[tokio::test]
async fn the_key_of_the_server_is_not_told_with_an_error() {
    let body = r#"{"error":{"message":"Incorrect API key provided: provider-key."}}"#;
    let upstream = Upstream::start([Answer::json(401, body)]).await;
    let gateway = Gateway::before(&[("m", &upstream)], Provider::OpenAi).await;
    let told = gateway.chat(&question()).await.text().await.expect("a body");
    assert_eq!(told, body.replace("provider-key", "[redacted]"));
}

//! Paths and requests that the gateway does not read, and headers.

use reknit::Reknit;
use reknit_model_api::Money;
use reknit_models::{Provider, Target};
use reknit_server::{Access, Scope, Server, Token};
use reqwest::Method;
use serde_json::{Value as Json, json};

use super::upstream::{Answer, Upstream};
use super::{Gateway, header, json_of, question};
use crate::{client, serve, token};

fn text_of(body: &[u8]) -> String {
    String::from_utf8_lossy(body).into_owned()
}

#[tokio::test]
async fn every_other_path_is_forwarded_untouched() {
    let multipart = "multipart/form-data; boundary=x";
    let upload = "--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n\u{0}\u{1}binary\r\n--x--\r\n";
    for (method, path, kind, body) in [
        (Method::POST, "/v1/embeddings", "application/json", r#"{"model":"text-embedding-3-small",  "input":"a"}"#),
        (Method::POST, "/v1/moderations", "application/json", r#"{"input":"a"}"#),
        (Method::POST, "/v1/images/generations", "application/json", r#"{"prompt":"a"}"#),
        (Method::POST, "/v1/audio/transcriptions", multipart, upload),
        (Method::POST, "/v1/files", multipart, upload),
        (Method::GET, "/v1/files?limit=2&after=a%20b", "", ""),
        (Method::GET, "/v1/files/file-1/content", "", ""),
        (Method::DELETE, "/v1/files/file-1", "", ""),
        (Method::POST, "/v1/batches", "application/json", r#"{"input_file_id":"file-1"}"#),
        (Method::GET, "/v1/models/gpt-7", "", ""),
        (Method::GET, "/v1/responses/resp_1?include=x", "", ""),
        (Method::POST, "/v1/responses/resp_1/cancel", "application/json", ""),
        (Method::GET, "/v1/chat/completions?limit=1", "", ""),
        (Method::POST, "/v1/completions", "application/json", r#"{"model":"old","prompt":"a"}"#),
        (Method::PATCH, "/v1/something/new", "application/octet-stream", "\u{0}\u{1}"),
    ] {
        let answer = Answer::json(201, "\u{1}bytes {\"a\": 1.50}").header("content-type", "application/x-odd");
        let upstream = Upstream::start([answer.header("x-request-id", "req_1").header("set-cookie", "a=b")]).await;
        let gateway = Gateway::before(&[("m", &upstream)], Provider::OpenAi).await;
        let request = gateway.client.request(method.clone(), format!("{}{path}", gateway.url)).body(body);
        let request = request.header("authorization", "Bearer of-the-client").header("openai-project", "proj_1");
        let request = if kind.is_empty() { request } else { request.header("content-type", kind) };
        let response = request.send().await.expect("an answer");
        assert_eq!(
            (response.status().as_u16(), header(&response, "content-type").as_str()),
            (201, "application/x-odd")
        );
        assert_eq!(
            (header(&response, "x-request-id"), header(&response, "set-cookie")),
            ("req_1".into(), String::new())
        );
        assert_eq!(header(&response, "x-reknit-target"), "m");
        assert_eq!(response.text().await.expect("a body"), "\u{1}bytes {\"a\": 1.50}");
        let received = upstream.received();
        assert_eq!((received.len(), &received[0].method, received[0].path.as_str()), (1, &method, path));
        assert_eq!(text_of(&received[0].body), body, "{path}");
        let sent = |name: &str| received[0].headers.get(name).map(|value| value.to_str().expect("text"));
        assert_eq!((sent("authorization"), sent("openai-project")), (Some("Bearer provider-key"), Some("proj_1")));
        assert_eq!(sent("content-type").unwrap_or_default(), kind, "{path}");
    }
}

#[tokio::test]
async fn a_path_goes_to_the_model_that_is_named_or_to_the_first_with_the_api_of_the_client() {
    let answers = || [Answer::json(200, "{}")];
    let (openai, second, claude) =
        (Upstream::start(answers()).await, Upstream::start(answers()).await, Upstream::start(answers()).await);
    let target = |name: &str, upstream: &Upstream, provider| Target {
        provider,
        ..Target::new(name, upstream.url.as_str(), format!("{name}-model"))
    };
    let targets = [
        target("gpt", &openai, Provider::OpenAi),
        target("local", &second, Provider::Compatible),
        target("claude", &claude, Provider::Anthropic),
    ];
    let gateway = Gateway::with_targets(targets, super::RotationPolicy::Advance).await;
    gateway.post("/v1/embeddings", &json!({"model": "unknown-to-us", "input": "a"})).await;
    gateway.post("/v1/embeddings", &json!({"model": "local", "input": "a"})).await;
    gateway.post("/v1/messages/count_tokens", &json!({"model": "auto", "messages": []})).await;
    let files = gateway.client.get(format!("{}/v1/files", gateway.url)).header("anthropic-version", "2023-06-01");
    files.send().await.expect("an answer");
    let seen = |upstream: &Upstream| -> Vec<(String, String)> {
        upstream.received().iter().map(|request| (request.path.clone(), text_of(&request.body))).collect()
    };
    assert_eq!(seen(&openai), [("/v1/embeddings".into(), r#"{"model":"unknown-to-us","input":"a"}"#.to_owned())]);
    assert_eq!(seen(&second), [("/v1/embeddings".into(), r#"{"model":"local-model","input":"a"}"#.to_owned())]);
    let count = r#"{"model":"claude-model","messages":[]}"#.to_owned();
    assert_eq!(seen(&claude), [("/v1/messages/count_tokens".into(), count), ("/v1/files".into(), String::new())]);
}

#[tokio::test]
async fn paths_of_this_server_and_paths_out_of_the_api_are_not_forwarded() {
    let upstream = Upstream::start([Answer::json(200, "{}")]).await;
    let gateway = Gateway::before(&[("m", &upstream)], Provider::OpenAi).await;
    for path in ["/v1/runs/r/unknown", "/v1/tools/x", "/v2/files", "/v1/a/%2e%2e/%2e%2e/admin"] {
        let response = gateway.client.get(format!("{}{path}", gateway.url)).send().await.expect("an answer");
        assert_eq!(response.status().as_u16(), 404, "{path}");
    }
    let claude = gateway.post("/v1/messages/batches", &json!({})).await;
    assert_eq!(claude.status().as_u16(), 404);
    assert_eq!(json_of(claude).await["error"]["type"], "not_found_error");
    assert!(upstream.received().is_empty());
}

#[tokio::test]
async fn requests_that_are_not_understood_here_are_forwarded_to_a_server_with_the_same_api() {
    let two = r#"{"choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"},{"index":1,"message":{"content":"b"},"finish_reason":"stop"}]}"#;
    let mut several = question();
    several["n"] = json!(2);
    let old = json!({"model": "auto", "messages": [{"role": "function", "name": "f", "content": "1"}]});
    for asked in [several, old, json!({"model": "m", "messages": []})] {
        let upstream = Upstream::start([Answer::json(200, two)]).await;
        let gateway = Gateway::before(&[("m", &upstream)], Provider::OpenAi).await;
        assert_eq!(gateway.chat(&asked).await.text().await.expect("a body"), two);
        let sent: Json = serde_json::from_slice(&upstream.received()[0].body).expect("JSON");
        let mut expected = asked.clone();
        expected["model"] = json!("m-model");
        assert_eq!(sent, expected);
    }
}

#[tokio::test]
async fn several_answers_pass_in_a_stream_too() {
    let event = |index: u8, text: &str| {
        format!("data: {{\"id\":\"1\",\"choices\":[{{\"index\":{index},\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
    };
    let end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let begin = "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"}}]}\n\n".to_owned();
    let call =
        r#"{"index":0,"id":"c","type":"function","function":{"name":"get_weather","arguments":"{\"days\": \"3\"}"}}"#;
    let call =
        format!("data: {{\"id\":\"1\",\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{call}]}}}}]}}\n\n");
    let body = [begin, event(1, "b"), call, event(0, "a"), event(1, "d"), end.to_owned()].concat();
    let upstream = Upstream::start([Answer::stream(body.clone())]).await;
    let gateway = Gateway::before(&[("m", &upstream)], Provider::OpenAi).await;
    let mut asked = super::weather_question();
    (asked["n"], asked["stream"]) = (json!(2), json!(true));
    assert_eq!(gateway.chat(&asked).await.text().await.expect("a body"), body);
}

#[tokio::test]
async fn headers_pass_in_both_directions_but_no_keys_and_cookies() {
    let chat = r#"{"choices":[{"index":0,"finish_reason":"stop","message":{"content":"21 degrees"}}]}"#;
    let stream = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"21\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    for (is_stream, answer) in [(false, Answer::json(200, chat)), (true, Answer::stream(stream))] {
        let given = [
            ("x-request-id", "req_1"),
            ("openai-organization", "org-1"),
            ("openai-processing-ms", "12"),
            ("x-ratelimit-remaining-tokens", "149984"),
            ("cf-ray", "8"),
        ];
        let answer = given.iter().fold(answer, |answer, (name, value)| answer.header(name, value));
        let upstream = Upstream::start([answer.header("set-cookie", "a=b")]).await;
        let gateway = Gateway::before(&[("m", &upstream)], Provider::OpenAi).await;
        let mut asked = question();
        asked["stream"] = json!(is_stream);
        let request = gateway.client.post(format!("{}/v1/chat/completions", gateway.url)).body(asked.to_string());
        let sent = [
            ("openai-organization", "org-2"),
            ("openai-project", "p"),
            ("idempotency-key", "k"),
            ("user-agent", "x/1"),
        ];
        let request = sent.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let request =
            request.header("cookie", "c=d").header("authorization", "Bearer secret").header("x-api-key", "secret");
        let response = request.send().await.expect("an answer");
        for (name, value) in given {
            assert_eq!(header(&response, name), value);
        }
        assert_eq!(
            (header(&response, "set-cookie"), header(&response, "x-reknit-target")),
            (String::new(), "m".into())
        );
        let received = &upstream.received()[0].headers;
        for (name, value) in sent {
            assert_eq!(received[name], value, "{name}");
        }
        assert_eq!(received["authorization"], "Bearer provider-key");
        assert_eq!((received.get("cookie"), received.get("x-api-key")), (None, None));
    }
}

async fn with_tokens(upstream: &Upstream, tokens: Vec<Token>) -> String {
    let target = Target { provider: Provider::OpenAi, ..Target::new("m", upstream.url.as_str(), "m-model") };
    let reknit = Reknit::builder().model(target).start().await.expect("it starts");
    serve(Server::new(reknit, Access::Tokens(tokens))).await
}

#[tokio::test]
async fn a_token_uses_no_path_that_concerns_what_is_stored_for_all_and_none_beyond_its_budget() {
    let upstream = Upstream::start([Answer::json(200, "{}")]).await;
    let scopes = [Scope::Read, Scope::Run];
    let ((ann, one), (bob, two), (boss, three)) =
        (token("ann", &scopes), token("bob", &scopes), token("boss", &[Scope::Admin]));
    let (reader, four) = token("reader", &[Scope::Read]);
    let two = Token { monthly_budget: Some(Money::from_nanos(5)), ..two };
    let url = with_tokens(&upstream, vec![one, two, three, four]).await;
    let status = async |token: &str, method: Method, path: &str| {
        let request = client().request(method, format!("{url}{path}")).bearer_auth(token).body("{}");
        let response = request.send().await.expect("an answer");
        let status = response.status().as_u16();
        let body = json_of(response).await;
        assert!(status == 200 || body["error"]["type"].is_string(), "{path}: {body}");
        status
    };
    for (token, method, path, expected) in [
        (&ann, Method::POST, "/v1/embeddings", 200),
        (&ann, Method::POST, "/v1/audio/speech", 200),
        (&ann, Method::GET, "/v1/files", 403),
        (&ann, Method::GET, "/v1/responses/resp_1", 403),
        (&ann, Method::POST, "/v1/batches", 403),
        (&ann, Method::POST, "/v1/audio", 403),
        (&boss, Method::GET, "/v1/files", 200),
        (&bob, Method::POST, "/v1/embeddings", 402),
        (&bob, Method::POST, "/v1/responses/input_tokens", 200),
        (&reader, Method::POST, "/v1/embeddings", 403),
        (&reader, Method::GET, "/v1/models/gpt-7", 200),
        (&"nobody".to_owned(), Method::POST, "/v1/embeddings", 401),
    ] {
        assert_eq!(status(token, method.clone(), path).await, expected, "{method} {path}");
    }
    let keyed =
        client().post(format!("{url}/v1/embeddings")).bearer_auth(&ann).header("idempotency-key", "k").body("{}");
    keyed.send().await.expect("an answer");
    let last = upstream.received().pop().expect("a request");
    assert_eq!(last.headers["idempotency-key"].len(), 64, "a digest of the token and the key");
}

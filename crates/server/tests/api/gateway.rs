//! Clients of model providers that ask through the gateway, over real servers on this machine.

mod complete_answers;
mod errors;
mod paths;
mod upstream;
mod waits;

use std::collections::BTreeMap;
use std::time::Duration;

use reknit::{ConfigBuilder, Reknit};
use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::scenario::FAULT_SCENARIOS;
use reknit_fakes::{CallBarrier, Reply, Scenario, ScriptedModel, paced};
use reknit_model_api::RotationPolicy;
use reknit_models::{Provider, Target};
use reknit_server::{Access, Server};
use serde_json::{Value as Json, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::{client, listen};
use upstream::Upstream;

struct Gateway {
    url: String,
    client: reqwest::Client,
    models: BTreeMap<String, ScriptedModel>,
    /// The server stops when this is dropped.
    stop: Option<oneshot::Sender<()>>,
    server: Option<JoinHandle<std::io::Result<()>>>,
}

impl Gateway {
    async fn over(models: BTreeMap<String, ScriptedModel>, order: &[&str], provider: Provider) -> Self {
        let targets = order.iter().map(|name| {
            let target = Target::new(*name, models[*name].base_url(), format!("{name}-model"));
            let target = Target { provider, ..target };
            if order.last() == Some(name) { target } else { target.with_fallback_timeouts() }
        });
        let gateway = Self::with_targets(targets, RotationPolicy::PreferPrimary).await;
        Self { models, ..gateway }
    }

    /// Before these servers of a provider, with the default rotation.
    async fn before(upstreams: &[(&str, &Upstream)], provider: Provider) -> Self {
        let targets = upstreams.iter().map(|(name, upstream)| {
            let target = Target::new(*name, upstream.url.as_str(), format!("{name}-model"));
            Target { provider, key: Some("provider-key".into()), ..target }
        });
        Self::with_targets(targets, RotationPolicy::Advance).await
    }

    async fn with_targets(targets: impl IntoIterator<Item = Target>, policy: RotationPolicy) -> Self {
        let builder = Reknit::builder().configure(move |config: ConfigBuilder| config.rotation(policy));
        let builder = targets.into_iter().fold(builder, reknit::ReknitBuilder::model);
        let reknit = builder.start().await.expect("it starts");
        let (listener, url) = listen().await;
        let (stop, stopped) = oneshot::channel::<()>();
        let stopped = async move { drop(stopped.await) };
        let server = Some(tokio::spawn(Server::new(reknit, Access::OwnMachine).serve(listener, stopped)));
        Self { url, client: client(), models: BTreeMap::new(), stop: Some(stop), server }
    }

    /// One model with these answers.
    async fn answering(replies: impl IntoIterator<Item = Reply>) -> Self {
        let script = replies.into_iter().fold(Script::new(), |script, reply| script.once(RequestMatcher::any(), reply));
        let model = ScriptedModel::start(script).await.expect("the model starts");
        Self::over([("m".to_owned(), model)].into(), &["m"], Provider::Compatible).await
    }

    async fn post(&self, path: &str, body: &Json) -> reqwest::Response {
        self.client.post(format!("{}{path}", self.url)).body(body.to_string()).send().await.expect("an answer")
    }

    async fn chat(&self, body: &Json) -> reqwest::Response {
        self.post("/v1/chat/completions", body).await
    }

    fn requests(&self, model: &str) -> usize {
        self.models[model].requests().len()
    }
}

fn question() -> Json {
    json!({"model": "auto", "messages": [{"role": "user", "content": "How warm is it in Seoul?"}]})
}

fn weather_question() -> Json {
    let mut body = question();
    body["tools"] = json!([{"type": "function", "function": {"name": "get_weather", "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city", "days"],
    }}}]);
    body
}

fn header(response: &reqwest::Response, name: &str) -> String {
    response.headers().get(name).map(|value| value.to_str().expect("text").to_owned()).unwrap_or_default()
}

async fn json_of(response: reqwest::Response) -> Json {
    let text = response.text().await.expect("a body");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The text of a stream of `chat/completions`, and its last events.
fn streamed_text(stream: &str) -> String {
    let chunks = stream.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
    let chunks =
        chunks.map(|data| serde_json::from_str::<Json>(data).unwrap_or_else(|error| panic!("{error}: {data}")));
    chunks.filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str().map(str::to_owned)).collect()
}

#[tokio::test]
async fn a_server_that_stops_waits_for_the_answer_of_a_model() {
    let barrier = CallBarrier::new();
    let mut gateway = Gateway::answering([Reply::text("21 degrees").wait_at(&barrier)]).await;
    let (stop, server) = (gateway.stop.take(), gateway.server.take().expect("it runs"));
    let asking = tokio::spawn(async move { gateway.chat(&question()).await.text().await });
    barrier.wait_for_arrivals(1).await;
    drop(stop);
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(!server.is_finished(), "the model has not answered");
    barrier.release_all();
    let answer = asking.await.expect("no panic").expect("the whole answer");
    assert!(answer.contains("21 degrees"), "{answer}");
    tokio::time::timeout(Duration::from_secs(15), server)
        .await
        .expect("it stops then")
        .expect("no panic")
        .expect("no error");
}

#[tokio::test]
async fn an_answer_that_needs_no_mending_passes_through_byte_for_byte() {
    let body = r#"{"id":"x-1", "choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"21 degrees","extra":[1.50]}}],  "unknown":{"a":1e3},"usage":{"prompt_tokens":3,"completion_tokens":2}}"#;
    let gateway = Gateway::answering([Reply::text("").body(body)]).await;
    let response = gateway.chat(&question()).await;
    assert_eq!(header(&response, "x-reknit-target"), "m");
    assert_eq!(header(&response, "x-reknit-mended"), "");
    assert_eq!(response.text().await.expect("a body"), body);
}

#[tokio::test]
async fn unknown_fields_of_a_request_reach_a_server_with_the_same_api() {
    let gateway = Gateway::answering([Reply::text("21 degrees")]).await;
    let mut body = question();
    body["logit_bias"] = json!({"50256": -100});
    body["some_new_option"] = json!(true);
    gateway.chat(&body).await;
    let received: Json = serde_json::from_str(&gateway.models["m"].requests()[0].body.to_string()).expect("JSON");
    assert_eq!((&received["some_new_option"], &received["model"]), (&json!(true), &json!("m-model")));
    assert_eq!(received["logit_bias"], json!({"50256": -100}));
}

#[tokio::test]
async fn a_stream_that_needs_no_mending_passes_through_byte_for_byte() {
    let body = ": keep-alive\n\ndata: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"21 \"}}]}\n\ndata: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"degrees\"},\"finish_reason\":\"stop\"}], \"odd\": [1.0]}\n\ndata: [DONE]\n\n";
    let gateway = Gateway::answering([Reply::text("").body(body).content_type("text/event-stream")]).await;
    let mut question = weather_question();
    question["stream"] = json!(true);
    let response = gateway.chat(&question).await;
    assert_eq!(response.text().await.expect("a body"), body);
}

#[tokio::test]
async fn the_arguments_of_a_call_are_fitted_to_the_schema_of_the_tool() {
    let gateway = Gateway::answering([Reply::tool_call("getWeather", r#"{"city": "Seoul", "days": "3",}"#)]).await;
    let response = gateway.chat(&weather_question()).await;
    let mended = header(&response, "x-reknit-mended");
    assert!(mended.contains("get_weather") && mended.contains("days"), "{mended}");
    let answer = json_of(response).await;
    let function = &answer["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!(function, &json!({"name": "get_weather", "arguments": r#"{"city":"Seoul","days":3}"#}));
    assert_eq!(answer["choices"][0]["finish_reason"], "tool_calls");
}

#[tokio::test]
async fn mending_can_be_turned_off() {
    let arguments = r#"{"city": "Seoul", "days": "3"}"#;
    let gateway = Gateway::answering([Reply::tool_call("get_weather", arguments)]).await;
    let url = format!("{}/v1/chat/completions", gateway.url);
    let request = gateway.client.post(url).header("x-reknit-mend", "off").body(weather_question().to_string());
    let answer = json_of(request.send().await.expect("an answer")).await;
    assert_eq!(answer["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"], arguments);
}

#[tokio::test]
async fn a_call_that_a_model_writes_as_text_becomes_a_call_in_every_api() {
    let text = r#"<tool_call>{"name": "get_weather", "arguments": {"city": "Seoul", "days": 3}}</tool_call>"#;
    let gateway = Gateway::answering([Reply::text(text), Reply::text(text), Reply::text(text)]).await;
    let answer = json_of(gateway.chat(&weather_question()).await).await;
    let message = &answer["choices"][0]["message"];
    assert_eq!(answer["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(message["tool_calls"][0]["function"]["name"], "get_weather");

    let schema = &weather_question()["tools"][0]["function"]["parameters"];
    let body = json!({"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "How warm is it?"}],
        "tools": [{"name": "get_weather", "input_schema": schema}]});
    let answer = json_of(gateway.post("/v1/messages", &body).await).await;
    assert_eq!(answer["stop_reason"], "tool_use");
    assert_eq!(answer["content"][0]["input"], json!({"city": "Seoul", "days": 3}));

    let body = json!({"model": "m", "input": "How warm is it?",
        "tools": [{"type": "function", "name": "get_weather", "parameters": schema}]});
    let answer = json_of(gateway.post("/v1/responses", &body).await).await;
    assert_eq!(
        (&answer["output"][0]["type"], &answer["output"][0]["name"]),
        (&json!("function_call"), &json!("get_weather"))
    );
}

const CALL_BESIDE_PROSE: &str = "Let me look.\n<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Seoul\", \"days\": 3}}</tool_call>";

#[tokio::test]
async fn a_model_is_asked_once_more_about_a_call_beside_prose() {
    let real = r#"{"city":"Seoul","days":3}"#;
    let gateway = Gateway::answering([Reply::text(CALL_BESIDE_PROSE), Reply::tool_call("get_weather", real)]).await;
    let answer = json_of(gateway.chat(&weather_question()).await).await;
    assert_eq!(answer["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"], real);
    let asked = gateway.models["m"].requests()[1].text().clone();
    assert!(asked.contains("it shows a call of `get_weather` as text"), "{asked}");
}

#[tokio::test]
async fn a_call_beside_prose_stays_text_if_the_second_answer_or_the_caller_allows_no_more() {
    let gateway = Gateway::answering([Reply::text(CALL_BESIDE_PROSE), Reply::text(CALL_BESIDE_PROSE)]).await;
    let response = gateway.chat(&weather_question()).await;
    let told = header(&response, "x-reknit-left-as-text");
    assert!(told.contains("`get_weather`"), "{told}");
    let message = json_of(response).await["choices"][0]["message"].clone();
    assert_eq!((&message["content"], message.get("tool_calls")), (&json!(CALL_BESIDE_PROSE), None));

    let gateway = Gateway::answering([Reply::text(CALL_BESIDE_PROSE)]).await;
    let url = format!("{}/v1/chat/completions", gateway.url);
    let request = gateway.client.post(url).header("x-reknit-mend", "once").body(weather_question().to_string());
    let response = request.send().await.expect("an answer");
    assert!(header(&response, "x-reknit-unmended").contains("`get_weather`"));
    assert_eq!(json_of(response).await["choices"][0]["message"]["content"], CALL_BESIDE_PROSE);
    assert_eq!(gateway.models["m"].requests().len(), 1);
}

#[tokio::test]
async fn a_call_beside_prose_in_a_stream_stays_text_with_a_comment() {
    let gateway = Gateway::answering([Reply::text(CALL_BESIDE_PROSE)]).await;
    let mut question = weather_question();
    question["stream"] = json!(true);
    let stream = gateway.chat(&question).await.text().await.expect("a body");
    assert_eq!(streamed_text(&stream), CALL_BESIDE_PROSE);
    assert!(stream.contains(": x-reknit-unmended: ") && !stream.contains("tool_calls"), "{stream}");
}

#[tokio::test]
async fn the_call_that_is_all_of_a_stream_is_mended_with_a_comment() {
    let text = r#"<tool_call>{"name": "get_weather", "arguments": {"city": "Seoul", "days": "3"}}</tool_call>"#;
    let gateway = Gateway::answering([Reply::text(text)]).await;
    let mut question = weather_question();
    question["stream"] = json!(true);
    let stream = gateway.chat(&question).await.text().await.expect("a body");
    assert_eq!(streamed_text(&stream).trim(), "");
    assert!(stream.contains(r#""arguments":"{\"city\":\"Seoul\",\"days\":3}""#), "{stream}");
    assert!(stream.contains("\n: x-reknit-mended: ") && stream.contains(r#""finish_reason":"tool_calls""#), "{stream}");
    assert!(stream.ends_with("data: [DONE]\n\n"), "{stream}");
}

#[tokio::test]
async fn structured_output_is_salvaged_and_validated() {
    let gateway = Gateway::answering([Reply::text("Sure!\n```json\n{\"degrees\": \"21\",}\n```")]).await;
    let mut body = question();
    let schema = json!({"type": "object", "properties": {"degrees": {"type": "integer"}}, "required": ["degrees"]});
    body["response_format"] = json!({"type": "json_schema", "json_schema": {"name": "weather", "schema": schema}});
    let response = gateway.chat(&body).await;
    assert!(!header(&response, "x-reknit-mended").is_empty());
    assert_eq!(json_of(response).await["choices"][0]["message"]["content"], r#"{"degrees":21}"#);
}

#[tokio::test]
async fn a_model_is_asked_once_more_about_an_answer_that_cannot_be_used() {
    let right = r#"{"city":"Seoul","days":1}"#;
    let gateway = Gateway::answering([
        Reply::tool_call("get_weather", "{\"city\": \"Se"),
        Reply::tool_call("get_weather", right),
    ])
    .await;
    let answer = json_of(gateway.chat(&weather_question()).await).await;
    assert_eq!(answer["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"], right);
    let requests = gateway.models["m"].requests();
    assert!(
        requests[1]
            .text()
            .contains("An earlier answer to this request could not be used: the arguments of `get_weather`"),
        "{}",
        requests[1].text()
    );
}

#[tokio::test]
async fn arguments_that_still_do_not_fit_are_passed_on_and_the_caller_is_told() {
    let wrong = r#"{"city":"Seoul"}"#;
    let gateway =
        Gateway::answering([Reply::tool_call("get_weather", wrong), Reply::tool_call("get_weather", wrong)]).await;
    let response = gateway.chat(&weather_question()).await;
    let told = header(&response, "x-reknit-unmended");
    assert!(told.contains("get_weather") && told.contains("days"), "{told}");
    assert_eq!(json_of(response).await["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"], wrong);
}

#[tokio::test]
async fn a_call_that_is_cut_is_never_passed_on() {
    let cut = "{\"city\": \"Se";
    let gateway = Gateway::answering((0..9).map(|_| Reply::tool_call("get_weather", cut))).await;
    let response = gateway.chat(&weather_question()).await;
    assert_eq!((response.status().as_u16(), header(&response, "x-should-retry").as_str()), (502, "false"));
    assert_eq!(json_of(response).await["error"]["code"], "invalid_response");

    let gateway = Gateway::answering([Reply::tool_call("get_weather", cut).finish_reason("length")]).await;
    let answer = json_of(gateway.chat(&weather_question()).await).await;
    assert_eq!(answer["choices"][0]["finish_reason"], "length");
    assert_eq!(answer["choices"][0]["message"]["tool_calls"], Json::Null);
}

#[tokio::test]
async fn a_request_is_translated_for_a_server_with_another_api() {
    let call = Reply::tool_call("get_weather", r#"{"city":"Seoul","days":3}"#);
    let model = ScriptedModel::start(Script::new().on(RequestMatcher::any(), call)).await.expect("the model starts");
    let gateway = Gateway::over([("claude".to_owned(), model)].into(), &["claude"], Provider::Anthropic).await;
    let mut body = weather_question();
    body["logit_bias"] = json!({"1": 2});
    let response = gateway.chat(&body).await;
    assert_eq!(header(&response, "x-reknit-omitted"), "logit_bias");
    let answer = json_of(response).await;
    assert_eq!(answer["object"], "chat.completion");
    assert_eq!(
        answer["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"],
        r#"{"city":"Seoul","days":3}"#
    );
}

#[tokio::test]
async fn options_that_the_model_did_not_get_are_named_as_the_caller_named_them() {
    let gateway = Gateway::answering([Reply::text("hello")]).await;
    let body = json!({"model": "m", "max_tokens": 5000, "messages": [{"role": "user", "content": "hi"}],
        "top_k": 40, "thinking": {"type": "enabled", "budget_tokens": 2000}});
    let response = gateway.post("/v1/messages", &body).await;
    assert_eq!(header(&response, "x-reknit-omitted"), "top_k; thinking");
}

#[tokio::test]
async fn errors_have_the_form_of_the_api_and_say_what_is_wrong() {
    let gateway = Gateway::answering([]).await;
    let response = gateway.chat(&json!({"model": "nobody", "messages": [{"role": "user", "content": "hi"}]})).await;
    assert_eq!(response.status().as_u16(), 404);
    assert_eq!(
        json_of(response).await["error"],
        json!({"message": "there is no model `nobody`; there are `auto`, `m`", "type": "invalid_request_error", "param": null,
            "code": "model_not_found"})
    );
    let response = gateway.post("/v1/messages", &json!({"model": "auto", "messages": []})).await;
    assert_eq!(response.status().as_u16(), 400);
    assert_eq!(
        json_of(response).await,
        json!({"type": "error", "error": {"type": "invalid_request_error", "message": "`max_tokens` is missing"}})
    );
}

#[tokio::test]
async fn the_engine_answers_as_a_model() {
    let gateway =
        Gateway::answering([Reply::text(r#"{"plan_id": "p", "steps": []}"#), Reply::text("Nothing to do.")]).await;
    let body = json!({"model": "reknit/ask", "messages": [{"role": "user", "content": "Do nothing."}]});
    let response = gateway.chat(&body).await;
    assert!(!header(&response, "x-reknit-run").is_empty());
    let answer = json_of(response).await;
    assert_eq!(answer["model"], "reknit/ask");
    let spent = gateway.models["m"].requests().len() as u64;
    assert!(answer["usage"]["completion_tokens"].as_u64() >= Some(spent), "what the run has spent: {answer}");
}

#[test]
fn if_no_model_answers_the_rate_limit_of_any_of_them_tells_the_caller_when_to_come_back() {
    paced(async {
        let limited = Script::new().on(RequestMatcher::any(), Reply::status(429).retry_after(90));
        let missing = Script::new().on(RequestMatcher::any(), Reply::status(404));
        let (limited, missing) = (ScriptedModel::start(limited).await, ScriptedModel::start(missing).await);
        let models =
            [("a", limited), ("b", missing)].map(|(name, model)| (name.to_owned(), model.expect("the model starts")));
        let gateway = Gateway::over(models.into(), &["a", "b"], Provider::Compatible).await;
        let response = gateway.chat(&question()).await;
        assert_eq!((response.status().as_u16(), header(&response, "retry-after").as_str()), (429, "90"));
        let body = json_of(response).await;
        assert!(
            body["error"]["message"].as_str().expect("text").contains("`a`: rate limited, `b`: model error"),
            "{body}"
        );
    });
}

/// What a caller saw.
#[derive(Debug)]
struct Seen {
    status: u16,
    target: String,
    text: String,
    stream: String,
}

async fn ask(gateway: &Gateway, stream: bool, buffered: bool) -> Seen {
    let mut body = question();
    body["stream"] = json!(stream);
    let url = format!("{}/v1/chat/completions", gateway.url);
    let request = gateway.client.post(url).header("x-reknit-stream", if buffered { "buffered" } else { "live" });
    let response = request.body(body.to_string()).send().await.expect("an answer");
    let (status, target) = (response.status().as_u16(), header(&response, "x-reknit-target"));
    let stream_text = response.text().await.expect("a body");
    let text = if stream && status == 200 {
        streamed_text(&stream_text)
    } else {
        let json: Json = serde_json::from_str(&stream_text).expect("JSON");
        json["choices"][0]["message"]["content"].as_str().unwrap_or_default().to_owned()
    };
    Seen { status, target, text, stream: stream_text }
}

fn complete_answer(model: &str) -> String {
    (1..=60).map(|number| format!("{}{number:02}...", &model[..1])).collect::<Vec<_>>().join(" ")
}

#[test]
fn every_fault_of_a_provider_ends_with_a_complete_answer_or_a_clear_error() {
    for fault in FAULT_SCENARIOS {
        for (stream, buffered) in [(false, false), (true, true), (true, false)] {
            paced(async {
                let models =
                    Scenario::read(fault.scenario).expect("a scenario").start().await.expect("the models start");
                let gateway = Gateway::over(models, &["primary", "fallback"], Provider::Compatible).await;
                let seen = ask(&gateway, stream, buffered).await;
                let case = format!("{} {stream} {buffered}: {seen:?}", fault.name);
                let breaks_in_the_middle =
                    ["cut-stream", "stalled-stream", "cut-stream-without-prefill"].contains(&fault.name);
                if fault.name == "content-filter" {
                    assert_eq!(seen.status, 400, "{case}");
                    assert!(seen.stream.contains("content_policy_violation"), "{case}");
                } else if breaks_in_the_middle && stream && !buffered {
                    assert!(seen.stream.contains("\"error\"") && !seen.stream.contains("[DONE]"), "{case}");
                } else {
                    assert_eq!(seen.status, 200, "{case}");
                    assert_eq!(seen.text, complete_answer(&seen.target), "{case}");
                }
                assert!(gateway.requests("fallback") <= 1, "{case}");
            });
        }
    }
}

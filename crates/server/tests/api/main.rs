//! Requests of a real HTTP client to a real server on this machine.
#![cfg(test)]

mod agents_in_plans;
mod attacks;
mod foreign_ids;
mod gateway;
mod overload;
mod owners;
mod two_tenants;
mod ui;
mod verdicts;

use std::time::Duration;

use reknit::{ConfigBuilder, Reknit};
use reknit_engine::{ApprovalRule, AskScope};
use reknit_fakes::tool::{CallMatcher, RunningTool};
use reknit_fakes::{CallBarrier, Reply, ScriptedTool};
use reknit_protocol::{SideEffect, Value};
use reknit_server::{Access, Scope, Server, TlsFiles, Token};
use reqwest::{RequestBuilder, Response, StatusCode};
use serde_json::{Value as Json, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// Serves on a free port of this machine until the tests end. Returns the address.
async fn serve(server: Server) -> String {
    let (listener, url) = listen().await;
    tokio::spawn(server.serve(listener, std::future::pending()));
    url
}

async fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    (listener, url)
}

fn client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().expect("a client")
}

fn token(name: &str, scopes: &[Scope]) -> (String, Token) {
    let (text, hash) = Token::generate().expect("random numbers");
    (text, Token::new(name, hash, scopes))
}

struct Api {
    url: String,
    client: reqwest::Client,
    tool: RunningTool,
    stop: Option<oneshot::Sender<()>>,
    server: tokio::task::JoinHandle<std::io::Result<()>>,
}

const REFUND: &str = "steps: [{id: refund, tool: bank/refund, with: {amount: \"5\"}}]";

fn bank() -> ScriptedTool {
    let schema = r#"{"type": "object", "properties": {"amount": {"type": "integer"}}, "required": ["amount"]}"#;
    ScriptedTool::new("bank").capability("refund", SideEffect::Keyed).schema(Value::parse(schema).unwrap()).on(
        "refund",
        CallMatcher::any(),
        Reply::data(Value::parse(r#"{"refunded": 5}"#).unwrap()),
    )
}

fn refunds_are_approved() -> ApprovalRule {
    ApprovalRule { capability: Some("bank/refund".to_owned()), ..ApprovalRule::default() }
}

impl Api {
    async fn open(tool: ScriptedTool, rules: Vec<ApprovalRule>, access: Access, max_runs: usize) -> Self {
        let tool = tool.start().await.expect("the tool starts");
        let builder = Reknit::builder().tool_service("bank", &tool.base_url());
        let builder = builder.configure(move |config| rules.into_iter().fold(config, ConfigBuilder::approve));
        Self::of(builder.start().await.expect("it starts"), tool, access, max_runs).await
    }

    async fn of(reknit: Reknit, tool: RunningTool, access: Access, max_runs: usize) -> Self {
        let (listener, url) = listen().await;
        let (stop, stopped) = oneshot::channel::<()>();
        let server = Server::new(reknit, access).with_max_runs(max_runs).with_drain(Duration::from_mins(2));
        let server = tokio::spawn(server.serve(listener, async move {
            let _ = stopped.await;
        }));
        Self { url, client: client(), tool, stop: Some(stop), server }
    }

    async fn new(tool: ScriptedTool) -> Self {
        Self::open(tool, Vec::new(), Access::OwnMachine, 100).await
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}{path}", self.url))
    }

    fn post(&self, path: &str, body: &Json) -> RequestBuilder {
        self.client.post(format!("{}{path}", self.url)).body(body.to_string())
    }

    async fn run(&self, body: &Json) -> Json {
        json_of(self.post("/v1/runs", body), StatusCode::OK).await
    }
}

async fn json_of(request: RequestBuilder, expected: StatusCode) -> Json {
    body_of(request.send().await.expect("an answer"), expected).await
}

async fn body_of(response: Response, expected: StatusCode) -> Json {
    let status = response.status();
    let text = response.text().await.expect("a body");
    assert_eq!(status, expected, "{text}");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

async fn error_of(request: RequestBuilder, expected: StatusCode) -> String {
    let body = json_of(request, expected).await;
    body["error"]["message"].as_str().expect("a message").to_owned()
}

#[tokio::test]
async fn a_plan_is_run_and_its_call_is_mended() {
    let api = Api::new(bank()).await;
    let run = api.run(&json!({"plan": REFUND})).await;
    assert_eq!(run["status"], "complete");
    assert_eq!(api.tool.calls().len(), 1);
    let explanation = api.get(&format!("/v1/runs/{}/explain", run["run"].as_str().unwrap()));
    let explanation = json_of(explanation, StatusCode::OK).await.to_string();
    assert!(explanation.contains("amount"), "{explanation}");
    let graph = api.get(&format!("/v1/runs/{}/graph.svg", run["run"].as_str().unwrap())).send().await.unwrap();
    assert_eq!(graph.headers()["content-type"], "image/svg+xml");
    let listed = json_of(api.get("/v1/runs?status=complete"), StatusCode::OK).await;
    assert_eq!(listed["runs"][0]["run"], run["run"]);
    let none = json_of(api.get("/v1/runs?status=failed"), StatusCode::OK).await;
    assert_eq!(none["runs"], json!([]));
}

#[tokio::test]
async fn the_same_run_id_or_idempotency_key_does_nothing_twice() {
    let api = Api::new(bank()).await;
    let first = api.run(&json!({"plan": REFUND, "run_id": "refund-7"})).await;
    let second = api.run(&json!({"plan": REFUND, "run_id": "refund-7"})).await;
    assert_eq!((&first["run"], &second["run"]), (&json!("refund-7"), &json!("refund-7")));
    let other = json!({"plan": REFUND.replace('5', "6"), "run_id": "refund-7"});
    let refused = error_of(api.post("/v1/runs", &other), StatusCode::CONFLICT).await;
    assert!(refused.contains("another request"), "{refused}");
    let keyed = || api.post("/v1/runs", &json!({"plan": REFUND})).header("Idempotency-Key", "order 8");
    let one = json_of(keyed(), StatusCode::OK).await;
    let two = json_of(keyed(), StatusCode::OK).await;
    assert_eq!(one["run"], two["run"]);
    assert_eq!(api.tool.calls().len(), 2);
}

#[tokio::test]
async fn events_are_streamed_and_go_on_after_the_last_one_that_was_read() {
    let api = Api::new(bank()).await;
    let body = json!({"plan": REFUND, "run_id": "r", "mode": "stream"});
    let streamed = api.post("/v1/runs", &body).send().await.unwrap().text().await.unwrap();
    assert!(streamed.contains("event: call_ended"), "{streamed}");
    let again = api.get("/v1/runs/r/events").send().await.unwrap().text().await.unwrap();
    assert_eq!(streamed, again);
    let ids: Vec<&str> = streamed.lines().filter_map(|line| line.strip_prefix("id: ")).collect();
    let last_but_one = ids[ids.len() - 2];
    let rest = api.get("/v1/runs/r/events").header("Last-Event-ID", last_but_one);
    let rest = rest.send().await.unwrap().text().await.unwrap();
    assert_eq!(rest.matches("id: ").count(), 1, "{rest}");
    assert!(streamed.ends_with(&rest), "{rest}");
    let bad = api.get("/v1/runs/r/events").header("Last-Event-ID", "x");
    assert!(error_of(bad, StatusCode::BAD_REQUEST).await.contains("a number"));
}

#[tokio::test]
async fn a_start_chooses_the_answer_and_asks_about_more_calls_and_never_about_fewer() {
    let api = Api::new(bank()).await;
    let raw = api.run(&json!({"plan": REFUND, "answer": "raw"})).await;
    assert_eq!(raw["answer"]["text"], r#"{"refund":{"refunded":5}}"#);
    let run = api.run(&json!({"plan": REFUND, "ask": "all"})).await;
    assert_eq!((&run["status"], api.tool.calls().len()), (&json!("waiting"), 1));
    let model = api.post("/v1/runs", &json!({"plan": REFUND, "answer": "model"}));
    assert!(error_of(model, StatusCode::BAD_REQUEST).await.contains("no model is configured"));
    let file = json!([{"media_type": "image/png", "base64": "a b"}]);
    let damaged = api.post("/v1/runs", &json!({"plan": REFUND, "attachments": file}));
    assert!(error_of(damaged, StatusCode::BAD_REQUEST).await.contains("not Base64"));

    let tool = bank().start().await.unwrap();
    let builder = Reknit::builder().tool_service("bank", &tool.base_url());
    let builder = builder.configure(|config| config.ask_scope(AskScope::All));
    let api = Api::of(builder.start().await.unwrap(), tool, Access::OwnMachine, 100).await;
    let fewer = api.post("/v1/runs", &json!({"plan": REFUND, "ask": "rules"}));
    assert!(error_of(fewer, StatusCode::BAD_REQUEST).await.contains("takes no questions away"));
    assert_eq!(api.tool.calls().len(), 0);
}

#[tokio::test]
async fn a_question_is_decided_once_and_only_for_what_it_shows() {
    let rules = vec![refunds_are_approved()];
    let api = Api::open(bank(), rules, Access::OwnMachine, 100).await;
    let run = api.run(&json!({"plan": REFUND, "run_id": "r"})).await;
    assert_eq!(run["status"], "waiting");
    assert_eq!(api.tool.calls().len(), 0);
    let (question, hash) = (run["questions"][0]["question"].as_str().unwrap(), &run["questions"][0]["hash"]);
    let path = format!("/v1/runs/r/decisions/{}", question.replace('/', "%2F"));
    let stale = api.post(&path, &json!({"hash": "0", "decision": "approve"}));
    assert!(error_of(stale, StatusCode::CONFLICT).await.contains("something else"));
    let unknown = api.post("/v1/runs/r/decisions/x", &json!({"hash": hash, "decision": "approve"}));
    error_of(unknown, StatusCode::NOT_FOUND).await;
    let plain = format!("/v1/runs/r/decisions/{question}");
    let edit = api.post(&plain, &json!({"hash": hash, "decision": "edit", "parameters": {"amount": "many"}}));
    assert_eq!(json_of(edit, StatusCode::BAD_REQUEST).await["error"]["code"], "invalid_edit");
    let approve = || api.post(&plain, &json!({"hash": hash, "decision": "approve"}));
    json_of(approve(), StatusCode::ACCEPTED).await;
    let events = api.get("/v1/runs/r/events").send().await.unwrap().text().await.unwrap();
    assert!(events.contains("refund"), "{events}");
    let run = json_of(api.get("/v1/runs/r"), StatusCode::OK).await;
    assert_eq!(run["status"], "complete");
    assert_eq!(api.tool.calls().len(), 1);
    json_of(approve(), StatusCode::ACCEPTED).await;
    let late = api.post(&path, &json!({"hash": hash, "decision": "deny"}));
    assert_eq!(json_of(late, StatusCode::CONFLICT).await["error"]["code"], "already_decided");
}

#[tokio::test]
async fn a_run_that_goes_on_is_cancelled_and_one_more_than_the_limit_is_refused() {
    let barrier = CallBarrier::new();
    let tool = ScriptedTool::new("bank").capability("refund", SideEffect::Read).on(
        "refund",
        CallMatcher::any(),
        Reply::data(Value::Null).wait_at(&barrier),
    );
    let api = Api::open(tool, Vec::new(), Access::OwnMachine, 1).await;
    let body = json!({"plan": REFUND, "run_id": "r", "mode": "start"});
    let started = api.post("/v1/runs", &body).send().await.unwrap();
    assert_eq!(started.headers()["location"], "/v1/runs/r");
    assert_eq!(body_of(started, StatusCode::ACCEPTED).await["status"], "running");
    let busy = api.post("/v1/runs", &json!({"plan": REFUND})).send().await.unwrap();
    assert_eq!((busy.status(), &busy.headers()["retry-after"]), (StatusCode::TOO_MANY_REQUESTS, &"1".parse().unwrap()));
    let cancelled = api.post("/v1/runs/r/cancel", &json!({}));
    json_of(cancelled, StatusCode::ACCEPTED).await;
    barrier.release_all();
    api.get("/v1/runs/r/events").send().await.unwrap().text().await.unwrap();
    let run = json_of(api.get("/v1/runs/r"), StatusCode::OK).await;
    assert_eq!(run["status"], "cancelled");
    let again = api.post("/v1/runs/r/cancel", &json!({}));
    assert!(error_of(again, StatusCode::CONFLICT).await.contains("has ended"));
}

#[tokio::test]
async fn a_failed_run_is_retried_and_done_steps_stay_done() {
    let tool = ScriptedTool::new("bank")
        .capability("refund", SideEffect::Read)
        .once("refund", CallMatcher::any(), Reply::status(403))
        .on("refund", CallMatcher::any(), Reply::data(Value::Null));
    let api = Api::new(tool).await;
    let run = api.run(&json!({"plan": REFUND, "run_id": "r"})).await;
    assert_eq!(run["status"], "failed");
    json_of(api.post("/v1/runs/r/retry", &json!({})), StatusCode::ACCEPTED).await;
    api.get("/v1/runs/r/events").send().await.unwrap().text().await.unwrap();
    let run = json_of(api.get("/v1/runs/r"), StatusCode::OK).await;
    assert_eq!(run["status"], "complete");
    let refused = error_of(api.post("/v1/runs/r/retry", &json!({})), StatusCode::CONFLICT).await;
    assert!(refused.contains("can be retried"), "{refused}");
}

#[tokio::test]
async fn a_server_that_stops_finishes_the_runs_in_progress() {
    let barrier = CallBarrier::new();
    let tool = ScriptedTool::new("bank").capability("refund", SideEffect::Keyed).on(
        "refund",
        CallMatcher::any(),
        Reply::data(Value::Null).wait_at(&barrier),
    );
    let mut api = Api::new(tool).await;
    let request = api.post("/v1/runs", &json!({"plan": REFUND, "run_id": "r"})).send();
    let answer = tokio::spawn(request);
    while barrier.waiting() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    api.stop.take().unwrap().send(()).unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    barrier.release_all();
    let run = body_of(answer.await.unwrap().unwrap(), StatusCode::OK).await;
    assert_eq!(run["status"], "complete");
    api.server.await.unwrap().unwrap();
}

#[tokio::test]
async fn calls_and_texts_of_other_programs_are_mended() {
    let api = Api::new(bank()).await;
    let schema = json!({"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]});
    let body = json!({"tool": "convert", "schema": schema, "parameters": {"to": "Euro"},
        "error": {"error": "to must be one of EUR, USD"}, "context": "convert it to euros"});
    let mended = json_of(api.post("/v1/mend", &body), StatusCode::OK).await;
    assert_eq!((&mended["action"], &mended["parameters"]), (&json!("corrected"), &json!({"to": "EUR"})));
    let body = json!({"text": "Sure! {'to': 'EUR',}", "schema": schema});
    let read = json_of(api.post("/v1/repair", &body), StatusCode::OK).await;
    assert_eq!(read["value"], json!({"to": "EUR"}));
    let body = json!({"text": "I cannot", "schema": schema});
    error_of(api.post("/v1/repair", &body), StatusCode::UNPROCESSABLE_ENTITY).await;
    let body = json!({"plan": "steps: [{id: a, tool: bank/refnd}]"});
    let checked = json_of(api.post("/v1/plans/check", &body), StatusCode::OK).await;
    assert_eq!(checked["valid"], false);
}

#[tokio::test]
async fn requests_that_cannot_be_understood_say_what_is_wrong() {
    let api = Api::new(bank()).await;
    for (body, expected) in [
        (json!({}), "send a `request`, a `plan` or an `agent`"),
        (json!({"plan": REFUND, "agent": "x"}), "not both"),
        (json!({"plan": REFUND, "run_id": "two words"}), "`run_id`"),
        (json!({"plan": REFUND, "run_id": "mcp-0123-1"}), "`run_id`: ids that begin with `mcp-` are made by Reknit"),
        (json!({"plan": REFUND, "run_id": "key-0123"}), "`run_id`: ids that begin with `key-` are made by Reknit"),
        (json!({"plan": REFUND, "inputs": []}), "`inputs` is not an object"),
        (json!({"plam": REFUND}), "unknown field `plam`"),
    ] {
        let message = error_of(api.post("/v1/runs", &body), StatusCode::BAD_REQUEST).await;
        assert!(message.contains(expected), "{message}");
    }
    assert!(error_of(api.get("/v1/runs?limit=0"), StatusCode::BAD_REQUEST).await.contains("`limit` is 0"));
    error_of(api.get("/v1/runs?colour=red"), StatusCode::BAD_REQUEST).await;
    error_of(api.get("/v1/runs/nothing"), StatusCode::NOT_FOUND).await;
    error_of(api.get("/v1/runs/nothing/events"), StatusCode::NOT_FOUND).await;
    error_of(api.get("/v2"), StatusCode::NOT_FOUND).await;
    error_of(api.post("/v1/tools", &json!({})), StatusCode::METHOD_NOT_ALLOWED).await;
    let large = api.client.post(format!("{}/v1/repair", api.url)).body(vec![b' '; 9 << 20]);
    error_of(large, StatusCode::PAYLOAD_TOO_LARGE).await;
}

#[tokio::test]
async fn a_web_page_or_another_host_name_is_refused() {
    let api = Api::new(bank()).await;
    error_of(api.get("/v1/runs").header("Origin", "http://evil.example"), StatusCode::FORBIDDEN).await;
    error_of(api.get("/v1/runs").header("Origin", api.url.as_str()), StatusCode::FORBIDDEN).await;
    error_of(api.get("/mcp").header("Origin", "http://evil.example"), StatusCode::FORBIDDEN).await;
    error_of(api.get("/mcp").header("Origin", "http://127.0.0.1:1"), StatusCode::FORBIDDEN).await;
    let own = api.get("/mcp").header("Origin", api.url.as_str()).send().await.unwrap();
    assert_ne!(own.status(), StatusCode::FORBIDDEN);
    error_of(api.get("/v1/runs").header("Host", "evil.example"), StatusCode::FORBIDDEN).await;
    error_of(api.get("/health").header("Host", "evil.example:8320"), StatusCode::FORBIDDEN).await;
    let allowed = api.get("/v1/runs").header("Host", "localhost:8320").send().await.unwrap();
    assert_eq!(allowed.status(), StatusCode::OK);
    assert_eq!(allowed.headers()["x-content-type-options"], "nosniff");
    assert!(allowed.headers().contains_key("x-request-id"));
}

#[tokio::test]
async fn a_token_allows_what_its_scopes_say() {
    let (reader, read_hash) = Token::generate().unwrap();
    let (runner, run_hash) = Token::generate().unwrap();
    let tokens =
        vec![Token::new("ann", read_hash, [Scope::Read]), Token::new("bot", run_hash, [Scope::Read, Scope::Run])];
    let api = Api::open(bank(), vec![refunds_are_approved()], Access::Tokens(tokens), 100).await;
    assert_eq!(api.get("/health").send().await.unwrap().status(), StatusCode::OK);
    error_of(api.get("/v1/runs"), StatusCode::UNAUTHORIZED).await;
    error_of(api.get("/v1/runs").bearer_auth("rk-0"), StatusCode::UNAUTHORIZED).await;
    assert_eq!(api.get("/v1/runs").bearer_auth(&reader).send().await.unwrap().status(), StatusCode::OK);
    let body = json!({"plan": REFUND, "run_id": "r"});
    let refused = error_of(api.post("/v1/runs", &body).bearer_auth(&reader), StatusCode::FORBIDDEN).await;
    assert_eq!(refused, "the token `ann` does not have the scope `run`");
    let run = json_of(api.post("/v1/runs", &body).bearer_auth(&runner), StatusCode::OK).await;
    let question = run["questions"][0]["question"].as_str().unwrap().replace('/', "%2F");
    let decision = json!({"hash": run["questions"][0]["hash"], "decision": "approve"});
    let path = format!("/v1/runs/r/decisions/{question}");
    error_of(api.post(&path, &decision).bearer_auth(&runner), StatusCode::FORBIDDEN).await;
    assert_eq!(api.tool.calls().len(), 0);
}

#[tokio::test]
async fn two_callers_with_the_same_idempotency_key_have_two_runs() {
    let (ann, ann_hash) = Token::generate().unwrap();
    let (bob, bob_hash) = Token::generate().unwrap();
    let tokens = vec![Token::new("ann", ann_hash, [Scope::Run]), Token::new("bob", bob_hash, [Scope::Run])];
    let api = Api::open(bank(), Vec::new(), Access::Tokens(tokens), 100).await;
    let mut runs = Vec::new();
    for owner in [&ann, &bob, &ann] {
        let request = api.post("/v1/runs", &json!({"plan": REFUND})).header("Idempotency-Key", "7").bearer_auth(owner);
        runs.push(json_of(request, StatusCode::OK).await["run"].clone());
    }
    assert_eq!(runs[0], runs[2]);
    assert_ne!(runs[0], runs[1]);
}

#[tokio::test]
async fn a_listener_that_others_can_reach_needs_tokens() {
    let reknit = Reknit::builder().start().await.unwrap();
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let error = Server::new(reknit, Access::OwnMachine).serve(listener, std::future::pending()).await.unwrap_err();
    assert!(error.to_string().contains("tokens are needed"), "{error}");
}

#[tokio::test]
async fn the_document_names_every_path() {
    let api = Api::new(bank()).await;
    let document = json_of(api.get("/openapi.json"), StatusCode::OK).await;
    assert_eq!(document["openapi"], "3.1.0");
    let paths: Vec<&String> = document["paths"].as_object().unwrap().keys().collect();
    assert!(paths.len() >= 17, "{paths:?}");
    let tools = json_of(api.get("/v1/tools"), StatusCode::OK).await;
    assert_eq!(tools["tools"][0]["capabilities"][0]["effect"], "keyed");
}

#[tokio::test]
async fn metrics_count_the_runs_of_this_process_under_the_names_that_dashboards_know() {
    let api = Api::new(bank()).await;
    api.run(&json!({"plan": REFUND})).await;
    let response = api.get("/metrics").send().await.expect("an answer");
    let kind = response.headers()["content-type"].to_str().expect("text").to_owned();
    let text = response.text().await.expect("a body");
    assert!(kind.starts_with("text/plain; version=0.0.4"), "{kind}");
    for line in [
        "orchestration_type_coercion_applied_total{",
        "reknit_http_requests_total{status=\"200\"} 1",
        "reknit_runs_in_progress 0",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
}

#[tokio::test]
async fn what_models_were_asked_is_shown_only_if_the_policy_of_the_run_allows_it() {
    let api = Api::new(bank()).await;
    let run = api.run(&json!({"plan": REFUND})).await["run"].as_str().expect("an id").to_owned();
    let refused = api.get(&format!("/v1/runs/{run}/interactions"));
    let body = json_of(refused, StatusCode::FORBIDDEN).await;
    assert!(body["error"]["message"].as_str().expect("text").contains("llm-debug.enabled"), "{body}");
}

/// One message of an MCP client, and the answer.
async fn mcp(api: &Api, token: &str, session: Option<&str>, message: &Json) -> (Option<String>, String) {
    let mut request = api.post("/mcp", message).header("accept", "application/json, text/event-stream");
    request = request.header("content-type", "application/json").bearer_auth(token);
    if let Some(session) = session {
        request = request.header("mcp-session-id", session).header("mcp-protocol-version", "2025-11-25");
    }
    let response = request.send().await.expect("an answer");
    let session = response.headers().get("mcp-session-id").map(|id| id.to_str().expect("text").to_owned());
    (session, response.text().await.expect("a body"))
}

async fn mcp_session(api: &Api, token: &str) -> String {
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
        "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let (session, _) = mcp(api, token, None, &hello).await;
    let session = session.expect("a session");
    mcp(api, token, Some(&session), &json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    session
}

#[tokio::test]
async fn mcp_clients_call_mended_tools_over_http_and_a_repeated_call_is_made_once() {
    let api = Api::new(bank()).await;
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "bank__refund", "arguments": {"amount": "5"}}});
    // A client that opens a session for each call.
    for turn in 0..2 {
        let session = mcp_session(&api, "").await;
        let (_, answer) = mcp(&api, "", Some(&session), &call).await;
        assert!(answer.contains("refunded"), "{answer}");
        assert_eq!(answer.contains("not called again"), turn == 1, "{answer}");
    }
    assert_eq!(api.tool.calls().len(), 1);
}

#[tokio::test]
async fn a_token_that_has_used_its_requests_of_the_minute_is_told_when_to_come_back() {
    let (text, hash) = Token::generate().expect("random numbers");
    let token = Token { requests_per_minute: Some(2), ..Token::new("ann", hash, [Scope::Read]) };
    let api = Api::open(bank(), Vec::new(), Access::Tokens(vec![token]), 10).await;
    let ask = || api.get("/v1/tools").bearer_auth(&text).send();
    for expected in [StatusCode::OK, StatusCode::OK, StatusCode::TOO_MANY_REQUESTS] {
        let response = ask().await.expect("an answer");
        assert_eq!(response.status(), expected);
        assert_eq!(response.headers().contains_key("retry-after"), expected == StatusCode::TOO_MANY_REQUESTS);
    }
}

#[test]
fn a_server_with_a_certificate_speaks_https_and_reads_a_changed_certificate_again() {
    let certificates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../mcp/tests/servers/certificates");
    let folder = tempfile::tempdir().expect("a folder");
    let copy = |from: &str, to: &str| std::fs::copy(certificates.join(from), folder.path().join(to)).expect("a copy");
    copy("server.pem", "cert.pem");
    copy("server.pem", "key.pem");
    reknit_fakes::paced(async {
        let reknit = Reknit::builder().start().await.expect("it starts");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("https://127.0.0.1:{}/health", listener.local_addr().expect("an address").port());
        let files = TlsFiles { certificate: folder.path().join("cert.pem"), key: folder.path().join("key.pem") };
        let server = Server::new(reknit, Access::OwnMachine).with_tls(files);
        tokio::spawn(server.serve(listener, std::future::pending()));
        let root = std::fs::read(certificates.join("ca.pem")).expect("a certificate");
        let root = reqwest::Certificate::from_pem(&root).expect("a certificate");
        let get = || async {
            let client =
                reqwest::Client::builder().no_proxy().tls_certs_only([root.clone()]).build().expect("a client");
            client.get(&url).send().await.map(|response| response.status())
        };
        assert_eq!(get().await.expect("an answer"), StatusCode::OK);
        // A certificate of a client, not of this server.
        copy("client.pem", "cert.pem");
        copy("client.pem", "key.pem");
        // The server reads its files on another thread, for which this clock does not wait.
        for _ in 0..100 {
            tokio::time::sleep(Duration::from_secs(6)).await;
            if get().await.is_err() {
                return;
            }
        }
        panic!("the new certificate is not used");
    });
}

//! Tokens whose owners have tools, budgets and runs of their own.

use std::time::Duration;

use reknit::Reknit;
use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::{CallBarrier, Reply, ScriptedModel};
use reknit_model_api::{Money, Price, Prices};
use reknit_models::Target;
use reknit_server::{Access, Scope, Server, Token};
use reqwest::{RequestBuilder, StatusCode};
use serde_json::{Value as Json, json};

use crate::{Api, REFUND, bank, client, error_of, json_of, mcp, mcp_session, serve, token};

#[tokio::test]
async fn a_token_sees_only_the_runs_that_it_has_started() {
    let (ann, ann_token) = token("ann", &[Scope::Read, Scope::Run, Scope::Approve]);
    let (bob, bob_token) = token("bob", &[Scope::Read, Scope::Run, Scope::Approve]);
    let (eve, eve_token) = token("eve", &[Scope::Read]);
    let (root, root_token) = token("root", &[Scope::Admin]);
    let tokens = vec![ann_token, bob_token, Token { sees_all_runs: true, ..eve_token }, root_token];
    let api = Api::open(bank(), Vec::new(), Access::Tokens(tokens), 100).await;
    let body = json!({"plan": REFUND, "run_id": "r"});
    let started = api.post("/v1/runs", &body).bearer_auth(&ann);
    assert_eq!(json_of(started, StatusCode::OK).await["owner"], "ann");
    let runs_of = async |text: &str| {
        let listed = api.get("/v1/runs").bearer_auth(text);
        json_of(listed, StatusCode::OK).await["runs"].as_array().expect("runs").len()
    };
    assert_eq!([runs_of(&ann).await, runs_of(&bob).await, runs_of(&eve).await, runs_of(&root).await], [1, 0, 1, 1]);
    for path in ["", "/events", "/explain", "/graph.svg", "/interactions"] {
        let request = api.get(&format!("/v1/runs/r{path}")).bearer_auth(&bob);
        assert_eq!(error_of(request, StatusCode::NOT_FOUND).await, "there is no run `r`", "{path}");
    }
    for (path, body) in [
        ("cancel", json!({})),
        ("resume", json!({})),
        ("retry", json!({})),
        ("messages", json!({"input": "more"})),
        ("decisions/x", json!({"hash": "", "decision": "approve"})),
    ] {
        let request = api.post(&format!("/v1/runs/r/{path}"), &body).bearer_auth(&bob);
        assert_eq!(error_of(request, StatusCode::NOT_FOUND).await, "there is no run `r`", "{path}");
    }
    let same = api.post("/v1/runs", &body).bearer_auth(&bob);
    assert_eq!(error_of(same, StatusCode::CONFLICT).await, "the id `r` is in use");
    let stats = api.get("/v1/stats").bearer_auth(&bob);
    assert!(!json_of(stats, StatusCode::OK).await.to_string().contains("bank"));
    assert_eq!(api.tool.calls().len(), 1);
}

#[tokio::test]
async fn a_token_with_a_list_of_tools_knows_no_others() {
    let (ann, ann_token) = token("ann", &[Scope::Read, Scope::Run]);
    let (bob, bob_token) = token("bob", &[Scope::Read, Scope::Run]);
    let tools = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
    let ann_token = Token { tools: tools(&["bank/refund"]), ..ann_token };
    let bob_token = Token { tools: tools(&["shop", "bank/other"]), ..bob_token };
    let api = Api::open(bank(), Vec::new(), Access::Tokens(vec![ann_token, bob_token]), 100).await;
    let listed = async |text: &str| json_of(api.get("/v1/tools").bearer_auth(text), StatusCode::OK).await;
    assert_eq!(listed(&ann).await["tools"][0]["capabilities"][0]["name"], "refund");
    assert_eq!(listed(&bob).await["tools"], json!([]));
    let run = async |text: &str| {
        let request = api.post("/v1/runs", &json!({"plan": REFUND})).bearer_auth(text);
        json_of(request, StatusCode::OK).await
    };
    assert_eq!(run(&bob).await["status"], "failed");
    assert_eq!(api.tool.calls().len(), 0);
    assert_eq!(run(&ann).await["status"], "complete");
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let of_ann = mcp_session(&api, &ann).await;
    assert!(mcp(&api, &ann, Some(&of_ann), &list).await.1.contains("bank__refund"));
    assert!(!mcp(&api, &bob, Some(&of_ann), &list).await.1.contains("bank__refund"), "a session belongs to its token");
    let of_bob = mcp_session(&api, &bob).await;
    let listed = mcp(&api, &bob, Some(&of_bob), &list).await.1;
    assert!(listed.contains("run_plan") && !listed.contains("bank__refund"), "{listed}");
    let explain = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "explain_run", "arguments": {"run": run(&ann).await["run"]}}});
    let explained = mcp(&api, &bob, Some(&of_bob), &explain).await.1;
    assert!(explained.contains("there is no run"), "{explained}");
}

#[tokio::test]
async fn only_who_may_do_everything_sees_the_addresses_of_tools_that_cannot_be_used() {
    let (root, of_root) = token("root", &[Scope::Admin]);
    let (ann, of_ann) = token("ann", &[Scope::Read]);
    let (bob, of_bob) = token("bob", &[Scope::Read]);
    let of_bob = Token { tools: Some(vec!["bank".to_owned()]), ..of_bob };
    let reknit = Reknit::builder().tool_service("shop", "http://127.0.0.1:9").start().await.expect("it starts");
    let url = serve(Server::new(reknit, Access::Tokens(vec![of_root, of_ann, of_bob]))).await;
    let client = client();
    let problems = async |token: &str| {
        let response = client.get(format!("{url}/v1/tools")).bearer_auth(token);
        json_of(response, StatusCode::OK).await["problems"].to_string()
    };
    assert!(problems(&root).await.contains("127.0.0.1:9"));
    assert_eq!(problems(&ann).await, r#"["the tool `shop` cannot be used now, or only in part"]"#);
    assert_eq!(problems(&bob).await, "[]");
}

/// A model that costs one unit for each token that it writes.
struct PricedApi {
    url: String,
    client: reqwest::Client,
    model: ScriptedModel,
}

impl PricedApi {
    /// Every answer is `text`, and counts as ten tokens.
    async fn new(text: &str, tokens: Vec<Token>) -> Self {
        Self::answering(Reply::text(text).usage(0, 10), tokens).await
    }

    async fn answering(reply: Reply, tokens: Vec<Token>) -> Self {
        let script = Script::new().on(RequestMatcher::any(), reply);
        let model = ScriptedModel::start(script).await.expect("the model starts");
        let price = Price::try_from(1_000_000.0).expect("a price");
        let mut target = Target::new("m", model.base_url(), "m");
        target.prices = Some(Prices::new(Price::from_micros(0), price));
        let reknit = Reknit::builder().model(target).start().await.expect("it starts");
        let url = serve(Server::new(reknit, Access::Tokens(tokens))).await;
        Self { url, client: client(), model }
    }

    fn post(&self, path: &str, token: &str, body: &Json) -> RequestBuilder {
        self.client.post(format!("{}{path}", self.url)).bearer_auth(token).body(body.to_string())
    }

    /// The answer to a question that may have so many tokens.
    fn ask(&self, token: &str, max_tokens: u32) -> RequestBuilder {
        let messages = json!([{"role": "user", "content": "How warm is it?"}]);
        self.post(
            "/v1/chat/completions",
            token,
            &json!({"model": "auto", "messages": messages, "max_tokens": max_tokens}),
        )
    }

    async fn budget(&self, token: &str) -> Json {
        let request = self.client.get(format!("{}/v1/token", self.url)).bearer_auth(token);
        let view = json_of(request, StatusCode::OK).await;
        view["budget"].clone()
    }
}

fn units(units: u64) -> Money {
    Money::from_nanos(units * 1_000_000_000)
}

#[tokio::test]
async fn a_request_to_a_model_is_refused_once_the_budget_of_the_month_may_not_cover_it() {
    let (ann, token) = token("ann", &[Scope::Read, Scope::Run]);
    let api = PricedApi::new("21 degrees", vec![Token { monthly_budget: Some(units(35)), ..token }]).await;
    for _ in 0..2 {
        assert_eq!(api.ask(&ann, 10).send().await.expect("an answer").status(), StatusCode::OK);
    }
    let spent = api.budget(&ann).await;
    assert_eq!((&spent["spent"], &spent["reserved"], &spent["limit"]), (&json!("20"), &json!("0"), &json!("35")));
    let refused = api.ask(&ann, 10);
    let refused = json_of(refused, StatusCode::PAYMENT_REQUIRED).await;
    assert_eq!(refused["error"]["code"], "budget_exhausted");
    let message = refused["error"]["message"].as_str().expect("a message");
    assert!(message.starts_with("the request may cost 20, and 15 is left of the budget of `ann` for "), "{message}");
    assert_eq!(api.model.requests().len(), 2);
}

#[tokio::test]
async fn a_run_is_limited_to_what_is_left_of_the_budget_and_counts_with_its_cost() {
    let (ann, token) = token("ann", &[Scope::Read, Scope::Run]);
    let agent = "---\nmaxTurns: 2\nmaxOutputTokens: 10\n---\nAnswer.";
    let report = r#"<tool_call>{"name": "agent__final_report", "arguments": {"report_content": "21"}}</tool_call>"#;
    let api = PricedApi::new(report, vec![Token { monthly_budget: Some(units(100)), ..token }]).await;
    let body = json!({"agent": agent, "request": "How warm is it?", "run_id": "warm"});
    let run = api.post("/v1/runs", &ann, &body);
    let run = json_of(run, StatusCode::OK).await;
    assert_eq!(run["run"], "warm");
    let budget = api.budget(&ann).await;
    assert_eq!(budget["reserved"], "0");
    let spent = number(&budget["spent"]);
    assert!(spent > 0.0 && spent <= 100.0, "{spent}");
    // The rest of the budget is enough for the next message, which is limited to it.
    let message = |input: &str| api.post("/v1/runs/warm/messages", &ann, &json!({"input": input}));
    json_of(message("And now?"), StatusCode::ACCEPTED).await;
    while api.budget(&ann).await["reserved"] != "0" {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let left = async || 100.0 - number(&api.budget(&ann).await["spent"]);
    assert!(left().await < 100.0 - spent && left().await >= 0.0, "{}", left().await);
    while left().await > 0.0 {
        assert_eq!(api.ask(&ann, 5).send().await.expect("an answer").status(), StatusCode::OK);
    }
    let asked = api.model.requests().len();
    let refused = json_of(message("And then?"), StatusCode::PAYMENT_REQUIRED).await;
    assert_eq!(refused["error"]["code"], "budget_exhausted");
    assert_eq!(api.model.requests().len(), asked);
}

#[tokio::test]
async fn a_request_of_a_token_with_a_budget_may_not_cost_more_than_was_reserved() {
    let (ann, token) = token("ann", &[Scope::Read, Scope::Run]);
    let api = PricedApi::new("21 degrees", vec![Token { monthly_budget: Some(units(100_000)), ..token }]).await;
    let question = json!([{"role": "user", "content": "How warm is it?"}]);
    let chat = api.post("/v1/chat/completions", &ann, &json!({"model": "auto", "messages": question}));
    assert_eq!(chat.send().await.expect("an answer").status(), StatusCode::OK);
    let sent: Json = serde_json::from_str(&api.model.requests()[0].body.to_string()).expect("JSON");
    assert_eq!(sent["max_tokens"], 16_384, "the limit that was reserved is sent");
    let stored = json!({"model": "auto", "input": "And now?", "prompt": {"id": "p"}});
    let refused = api.post("/v1/responses", &ann, &stored);
    let refused = json_of(refused, StatusCode::BAD_REQUEST).await;
    assert!(refused.to_string().contains("what `prompt` adds may cost any amount"), "{refused}");
    for stored in [
        json!({"model": "auto", "input": "And now?", "previous_response_id": "resp_1"}),
        json!({"model": "auto", "input": "And now?", "conversation": {"id": "conv_1"}}),
        json!({"model": "auto", "input": [{"type": "item_reference", "id": "msg_1"}, {"role": "user", "content": "x"}]}),
    ] {
        let refused = json_of(api.post("/v1/responses", &ann, &stored), StatusCode::FORBIDDEN).await;
        assert!(refused.to_string().contains("may belong to another one"), "{refused}");
    }
    assert_eq!(api.model.requests().len(), 1);
}

fn number(amount: &Json) -> f64 {
    amount.as_str().expect("an amount").parse().expect("a number")
}

#[tokio::test]
async fn a_client_that_goes_away_pays_for_the_answer_that_it_does_not_read() {
    let (ann, token) = token("ann", &[Scope::Read, Scope::Run]);
    let barrier = CallBarrier::new();
    let reply = Reply::text("21 degrees").usage(0, 10).wait_at(&barrier);
    let api = PricedApi::answering(reply, vec![Token { monthly_budget: Some(units(100)), ..token }]).await;
    let asking = tokio::spawn(api.ask(&ann, 10).send());
    barrier.wait_for_arrivals(1).await;
    assert_eq!(api.budget(&ann).await["reserved"], "20");
    asking.abort();
    while api.budget(&ann).await["reserved"] != "0" {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(api.budget(&ann).await["spent"], "10");
}

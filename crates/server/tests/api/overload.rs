//! More runs than there is room for, and a server that stops.

use std::time::Duration;

use reknit_fakes::tool::CallMatcher;
use reknit_fakes::{CallBarrier, Reply, ScriptedTool};
use reknit_server::{Access, Scope};
use reqwest::StatusCode;
use serde_json::json;

use crate::{Api, REFUND, bank, error_of, json_of, mcp, mcp_session, refunds_are_approved, token};

/// A bank that answers when the barrier is released.
fn slow_bank(barrier: &CallBarrier) -> ScriptedTool {
    ScriptedTool::new("bank").capability("refund", reknit_protocol::SideEffect::Keyed).on(
        "refund",
        CallMatcher::any(),
        Reply::data("refunded").wait_at(barrier),
    )
}

async fn until_called(barrier: &CallBarrier) {
    while barrier.waiting() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_start_that_is_sent_again_returns_at_once_also_without_room_for_another_run() {
    let barrier = CallBarrier::new();
    let api = Api::open(slow_bank(&barrier), Vec::new(), Access::OwnMachine, 1).await;
    let start = |id: &str| api.post("/v1/runs", &json!({"plan": REFUND, "run_id": id, "mode": "start"}));
    json_of(start("r"), StatusCode::ACCEPTED).await;
    until_called(&barrier).await;
    let again = tokio::time::timeout(Duration::from_mins(1), start("r").send()).await.expect("it does not wait");
    assert_eq!(crate::body_of(again.expect("an answer"), StatusCode::ACCEPTED).await["run"], "r");
    error_of(start("other"), StatusCode::TOO_MANY_REQUESTS).await;
    barrier.release_all();
    let ended = api.post("/v1/runs", &json!({"plan": REFUND, "run_id": "r"}));
    assert_eq!(json_of(ended, StatusCode::OK).await["status"], "complete");
    assert_eq!(api.tool.calls().len(), 1);
}

#[tokio::test]
async fn runs_that_wait_for_a_person_take_no_room() {
    let api = Api::open(bank(), vec![refunds_are_approved()], Access::OwnMachine, 1).await;
    for id in ["a", "b", "c"] {
        let run = api.run(&json!({"plan": REFUND, "run_id": id})).await;
        assert_eq!(run["questions"].as_array().map(Vec::len), Some(1), "{run}");
    }
}

#[tokio::test]
async fn a_server_that_stops_waits_for_its_runs_also_if_no_client_is_connected() {
    let barrier = CallBarrier::new();
    let mut api = Api::open(slow_bank(&barrier), Vec::new(), Access::OwnMachine, 10).await;
    let start = api.post("/v1/runs", &json!({"plan": REFUND, "mode": "start"}));
    json_of(start, StatusCode::ACCEPTED).await;
    until_called(&barrier).await;
    api.client = reqwest::Client::new();
    drop(api.stop.take());
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(!api.server.is_finished(), "the run goes on");
    barrier.release_all();
    let stopped = tokio::time::timeout(Duration::from_mins(1), api.server).await.expect("it stops then");
    stopped.expect("no panic").expect("no error");
}

fn refund_over_mcp(amount: u32) -> serde_json::Value {
    let params = json!({"name": "bank__refund", "arguments": {"amount": amount}});
    json!({"jsonrpc": "2.0", "id": amount, "method": "tools/call", "params": params})
}

#[tokio::test]
async fn mcp_calls_count_as_runs_in_progress_and_runs_of_the_api_count_for_them() {
    let barrier = CallBarrier::new();
    let api = Api::open(slow_bank(&barrier), Vec::new(), Access::OwnMachine, 1).await;
    let session = mcp_session(&api, "").await;
    let (first, second) = (refund_over_mcp(1), refund_over_mcp(2));
    let call = mcp(&api, "", Some(&session), &first);
    let others = async {
        until_called(&barrier).await;
        error_of(api.post("/v1/runs", &json!({"plan": REFUND})), StatusCode::TOO_MANY_REQUESTS).await;
        let (_, refused) = mcp(&api, "", Some(&session), &second).await;
        assert!(refused.contains("Not sent: the limit of runs in progress (1) is reached"), "{refused}");
        barrier.release_all();
    };
    let ((_, answer), ()) = tokio::join!(call, others);
    assert!(answer.contains("refunded"), "{answer}");
    assert_eq!(api.tool.calls().len(), 1);
}

#[tokio::test]
async fn mcp_calls_that_wait_for_a_person_take_no_room_and_are_approved_over_the_api() {
    let api = Api::open(bank(), vec![refunds_are_approved()], Access::OwnMachine, 1).await;
    let session = mcp_session(&api, "").await;
    for amount in 1..=3 {
        let (_, answer) = mcp(&api, "", Some(&session), &refund_over_mcp(amount)).await;
        assert!(answer.contains("approv"), "{answer}");
    }
    let waiting = json_of(api.get("/v1/runs?status=waiting"), StatusCode::OK).await;
    assert_eq!(waiting["runs"].as_array().map(Vec::len), Some(3), "{waiting}");
}

#[tokio::test]
async fn a_server_that_stops_waits_for_mcp_calls_and_answers_them() {
    let barrier = CallBarrier::new();
    let mut api = Api::open(slow_bank(&barrier), Vec::new(), Access::OwnMachine, 10).await;
    let session = mcp_session(&api, "").await;
    let stop = api.stop.take();
    let request = refund_over_mcp(1);
    let call = mcp(&api, "", Some(&session), &request);
    let stopping = async {
        until_called(&barrier).await;
        drop(stop);
        tokio::time::sleep(Duration::from_millis(300)).await;
        barrier.release_all();
    };
    let ((_, answer), ()) = tokio::join!(call, stopping);
    assert!(answer.contains("refunded"), "{answer}");
    let stopped = tokio::time::timeout(Duration::from_mins(1), api.server).await.expect("it stops then");
    stopped.expect("no panic").expect("no error");
}

/// Opens a session, or returns the refusal.
async fn open_session(api: &Api, token: &str) -> Result<String, String> {
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
        "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let request = api.post("/mcp", &hello).bearer_auth(token).header("content-type", "application/json");
    let request = request.header("accept", "application/json, text/event-stream");
    let response = request.send().await.expect("an answer");
    match response.headers().get("mcp-session-id") {
        Some(session) => Ok(session.to_str().expect("letters").to_owned()),
        None => Err(crate::body_of(response, StatusCode::TOO_MANY_REQUESTS).await["error"]["message"].to_string()),
    }
}

#[tokio::test]
async fn a_token_has_a_hundred_mcp_sessions_at_most_and_others_still_get_theirs() {
    let (ann, of_ann) = token("ann", &[Scope::Run]);
    let (bob, of_bob) = token("bob", &[Scope::Run]);
    let api = Api::open(bank(), Vec::new(), Access::Tokens(vec![of_ann, of_bob]), 10).await;
    let first = open_session(&api, &ann).await.expect("a session");
    for _ in 1..100 {
        open_session(&api, &ann).await.expect("a session");
    }
    let refused = open_session(&api, &ann).await.expect_err("a refusal");
    assert!(refused.contains("100 MCP sessions of this token are open, and there can be no more"), "{refused}");
    let of_bob = open_session(&api, &bob).await.expect("a session");
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    assert!(mcp(&api, &bob, Some(&of_bob), &list).await.1.contains("bank__refund"));
    let ended = api.client.delete(format!("{}/mcp", api.url)).bearer_auth(&ann).header("mcp-session-id", first);
    assert_eq!(ended.send().await.expect("an answer").status(), StatusCode::NO_CONTENT);
    open_session(&api, &ann).await.expect("the place of the one that ended");
}

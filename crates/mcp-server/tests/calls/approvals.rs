//! Calls that are repeated, and calls that a person approves.

use reknit_fakes::tool::CallMatcher;
use reknit_fakes::{CallBarrier, Reply, ScriptedTool};
use reknit_mcp_server::Offering;
use reknit_protocol::SideEffect;
use rmcp::model::ElicitationAction;
use serde_json::json;

use crate::connection::{Client, Connection, payments_are_approved, shop, texts};

#[tokio::test]
async fn an_unsafe_call_that_is_repeated_returns_its_earlier_result_unless_a_reason_is_stated() {
    let connection = Connection::new(shop()).await;
    connection.call("t__pay", json!({"amount": 5, "memo": "tea"})).await;
    let again = connection.call("t__pay", json!({"memo": "tea", "amount": 5.0})).await;
    assert_eq!(connection.tool.call_count(), 1, "the same call, with its arguments in another order");
    let texts = texts(&again);
    assert_eq!(texts[0], "paid");
    assert!(texts[1].contains("not called again") && texts[1].contains("`repeat_reason`"), "{texts:?}");
    connection.call("t__pay", json!({"amount": 5, "memo": "tea", "repeat_reason": "a second tea"})).await;
    assert_eq!(connection.tool.call_count(), 2);
    assert!(connection.tool.calls().iter().all(|call| call.parameters.get("repeat_reason").is_none()));
}

#[tokio::test]
async fn two_equal_calls_at_once_are_one_call() {
    let barrier = CallBarrier::new();
    let tool = ScriptedTool::new("t").capability("pay", SideEffect::Unsafe).on(
        "pay",
        CallMatcher::any(),
        Reply::data("paid").wait_at(&barrier),
    );
    let connection = Connection::new(tool).await;
    let calls = async { tokio::join!(connection.call("t__pay", json!({})), connection.call("t__pay", json!({}))) };
    let (results, ()) = tokio::join!(calls, async {
        barrier.wait_for_arrivals(1).await;
        barrier.release_all();
    });
    assert_eq!((texts(&results.0)[0].as_str(), texts(&results.1)[0].as_str()), ("paid", "paid"));
    assert_eq!(connection.tool.call_count(), 1);
}

#[tokio::test]
async fn a_client_that_can_ask_shows_the_question_to_its_user() {
    for (answer, calls, words) in [
        ((ElicitationAction::Accept, true), 1, "paid"),
        ((ElicitationAction::Accept, false), 0, "it was not approved"),
        ((ElicitationAction::Decline, false), 0, "it was not approved"),
        ((ElicitationAction::Cancel, false), 0, "reknit runs approve"),
    ] {
        let client = Client { answer: Some(answer.clone()) };
        let connection = Connection::open(shop(), vec![payments_are_approved()], client, Offering::EveryTool).await;
        let result = connection.call("t__pay", json!({"amount": 5})).await;
        assert!(texts(&result)[0].contains(words), "{answer:?}: {result:?}");
        assert_eq!(connection.tool.call_count(), calls, "{answer:?}");
    }
}

#[tokio::test]
async fn a_client_that_may_not_approve_is_not_asked() {
    let client = Client { answer: Some((ElicitationAction::Accept, true)) };
    let rules = vec![payments_are_approved()];
    let connection = Connection::with_approvals(shop(), rules, client, Offering::EveryTool, false).await;
    let result = connection.call("t__pay", json!({"amount": 5})).await;
    assert!(texts(&result)[0].contains("reknit runs approve"), "{result:?}");
    assert_eq!(connection.tool.call_count(), 0);
}

#[tokio::test]
async fn a_client_that_cannot_ask_is_told_how_to_approve_and_gets_the_result_later() {
    let rules = vec![payments_are_approved()];
    let connection = Connection::open(shop(), rules, Client { answer: None }, Offering::EveryTool).await;
    let waiting = connection.call("t__pay", json!({"amount": 5})).await;
    assert_eq!((waiting.is_error, connection.tool.call_count()), (Some(true), 0));
    assert!(texts(&waiting)[0].contains(r#"call: `pay` of `t` (unsafe) with {"amount":5}"#), "{waiting:?}");
    let run = waiting.meta.expect("it has metadata").0["reknit/run"].as_str().expect("an id").to_owned();

    let handle = connection.reknit.resume(&run.as_str().into());
    for question in handle.questions().await.expect("it waits") {
        handle.decide(&question, reknit::Decision::Approve).await.expect("the decision is stored");
    }
    let done = connection.call("continue_run", json!({"run": run})).await;
    assert_eq!((done.is_error, connection.tool.call_count()), (Some(false), 1), "{done:?}");
}

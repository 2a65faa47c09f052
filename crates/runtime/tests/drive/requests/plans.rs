//! Plans as models write them, and the calls that follow.

use reknit_engine::Status;
use reknit_fakes::Reply;
use reknit_fakes::model::{RequestMatcher, Script};

use super::scene::{Scene, data, plan, step};

const AMOUNT: &str = r#"{"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]}"#;
const NOTHING: &str = r#"{"type": "object", "properties": {}}"#;

fn shares(plan: &str) -> Scene {
    Scene::new("sell 100 Tesla shares", plan)
        .capability("quote", NOTHING)
        .capability("convert", AMOUNT)
        .replies("quote", data(r#"{"price": 468.285}"#))
        .replies("convert", data(r#"{"won": 1}"#))
}

#[tokio::test]
async fn the_engine_computes_arithmetic_in_a_plan() {
    for amount in [
        r#"100 * "{{step-1.response.price}}""#,
        "100 * {{step-1.price}}",
        r#""{{100 * step-1.price}}""#,
        "100 * 468.285",
    ] {
        let parameters = format!(r#"{{"amount": {amount}}}"#);
        let steps = [step("step-1", "quote", "{}", ""), step("step-2", "convert", &parameters, r#""step-1""#)];
        let played = shares(&plan(&steps)).play().await;
        assert_eq!(played.answer.status, Status::Complete, "{amount}: {}", played.answer.text);
        assert_eq!(played.calls("convert"), [r#"{"amount":46828.5}"#], "{amount}");
        assert_eq!(played.asked(), ["plan_generation"], "{amount}: no second plan is needed");
    }
}

#[tokio::test]
async fn a_plan_inside_prose_is_found() {
    let text = format!(
        "<think>two steps</think>Of course! Here is **the plan**:\n```json\n{}\n```\nShall I run it?",
        plan(&[step("step-1", "quote", "{}", "")])
    );
    let played = shares(&text).play().await;
    assert_eq!(played.answer.status, Status::Complete, "{}", played.answer.text);
    assert_eq!(played.calls("quote").len(), 1);
    assert_eq!(played.asked(), ["plan_generation"]);
}

#[tokio::test]
async fn a_plan_with_an_unknown_tool_is_asked_for_again() {
    let invented = plan(&[step("step-1", "sell_shares_now", "{}", "")]);
    let script = Script::new()
        .once(RequestMatcher::any().purpose("plan_generation"), Reply::text(&invented))
        .on(RequestMatcher::any().purpose("plan_generation"), Reply::text(plan(&[step("step-1", "quote", "{}", "")])));
    let played = shares("").script(script).play().await;
    assert_eq!(played.answer.status, Status::Complete, "{}", played.answer.text);
    assert_eq!(played.calls("quote").len(), 1);
    assert_eq!(played.asked(), ["plan_generation", "plan_generation"]);
    for part in ["sell_shares_now", "quote", "convert"] {
        assert!(played.question(1).contains(part), "`{part}` is not in:\n{}", played.question(1));
    }
}

#[tokio::test]
async fn an_unreadable_plan_is_asked_for_again_as_often_as_configured() {
    for retries in [0, 1, 2] {
        let scene = shares("I would rather not.").policy(|policy| policy.planning.retries = retries);
        let played = scene.play().await;
        assert_eq!(played.asked().len(), retries as usize + 1, "{:?}", played.asked());
        assert_ne!(played.answer.status, Status::Complete);
        assert_eq!(played.calls("quote").len() + played.calls("convert").len(), 0);
        if retries > 0 {
            assert!(played.question(1).contains("I would rather not."), "the model sees what it wrote");
        }
    }
}

#[tokio::test]
async fn the_first_readable_plan_is_run() {
    for good in [1_u32, 2, 3] {
        let script = Script::new()
            .times(good - 1, RequestMatcher::any().purpose("plan_generation"), Reply::text(r#"{"steps": "#))
            .on(
                RequestMatcher::any().purpose("plan_generation"),
                Reply::text(plan(&[step("step-1", "quote", "{}", "")])),
            );
        let played = shares("").script(script).play().await;
        assert_eq!(played.answer.status, Status::Complete, "{}", played.answer.text);
        assert_eq!(played.asked().len(), good as usize);
    }
}

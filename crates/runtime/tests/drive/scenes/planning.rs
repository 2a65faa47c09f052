//! Plans as models write them, up to the calls they end in.

use reknit_engine::Status;
use reknit_testing::Reply;
use reknit_testing::model::{Script, When};

use super::scene::{Scene, data, plan, step};

const AMOUNT: &str = r#"{"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]}"#;
const NOTHING: &str = r#"{"type": "object", "properties": {}}"#;

fn shares(plan: &str) -> Scene {
    Scene::new("sell 100 Tesla shares", plan)
        .offers("quote", NOTHING)
        .offers("convert", AMOUNT)
        .replies("quote", data(r#"{"price": 468.285}"#))
        .replies("convert", data(r#"{"won": 1}"#))
}

#[tokio::test]
async fn arithmetic_in_a_plan_is_computed_by_us() {
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
        assert_eq!(played.asked(), ["plan_generation"], "{amount}: it is read as it is");
    }
}

#[tokio::test]
async fn a_plan_in_prose_is_read() {
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
async fn a_tool_that_there_is_not_is_planned_anew() {
    let invented = plan(&[step("step-1", "sell_shares_now", "{}", "")]);
    let script = Script::new()
        .once(When::any().purpose("plan_generation"), Reply::text(&invented))
        .on(When::any().purpose("plan_generation"), Reply::text(plan(&[step("step-1", "quote", "{}", "")])));
    let played = shares("").script(script).play().await;
    assert_eq!(played.answer.status, Status::Complete, "{}", played.answer.text);
    assert_eq!(played.calls("quote").len(), 1);
    assert_eq!(played.asked(), ["plan_generation", "plan_generation"]);
    for part in ["sell_shares_now", "quote", "convert"] {
        assert!(played.question(1).contains(part), "`{part}` is not in:\n{}", played.question(1));
    }
}

#[tokio::test]
async fn a_plan_that_cannot_be_read_is_asked_for_as_often_as_is_set() {
    for retries in [0, 1, 2] {
        let scene = shares("I would rather not.").policy(|policy| policy.planning.retries = retries);
        let played = scene.play().await;
        assert_eq!(played.asked().len(), retries as usize + 1, "{:?}", played.asked());
        assert_ne!(played.answer.status, Status::Complete);
        assert_eq!(played.calls("quote").len() + played.calls("convert").len(), 0);
        if retries > 0 {
            assert!(played.question(1).contains("I would rather not."), "it is shown what it wrote");
        }
    }
}

#[tokio::test]
async fn each_further_plan_ends_the_asking_when_it_can_be_read() {
    for good in [1_u32, 2, 3] {
        let script = Script::new()
            .times(good - 1, When::any().purpose("plan_generation"), Reply::text(r#"{"steps": "#))
            .on(When::any().purpose("plan_generation"), Reply::text(plan(&[step("step-1", "quote", "{}", "")])));
        let played = shares("").script(script).play().await;
        assert_eq!(played.answer.status, Status::Complete, "{}", played.answer.text);
        assert_eq!(played.asked().len(), good as usize);
    }
}

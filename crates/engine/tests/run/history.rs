//! What is told of each step afterwards.

use reknit_engine::{Deed, history};

use reknit_protocol::StepId;

use crate::world::{Play, step};

fn told(play: &Play, step: &str) -> Vec<String> {
    let history = history(&play.events).expect("the events are those of a run");
    let moments = history.get(&StepId::from(step)).expect("something happened to it");
    let word = |deed: &Deed| match deed {
        Deed::Called { parameters, status, error, .. } => format!("{parameters} -> {status:?} {error:?}"),
        Deed::Asked { rung, target, usage, error } => {
            format!("{rung} asks {target}: {:?} {error:?}", usage.as_ref().map(|usage| usage.input_tokens))
        }
        Deed::Mended(mend) => format!("{}: {:?}", mend.rung.as_str(), mend.effect),
        other => format!("{other:?}"),
    };
    moments.iter().map(|moment| format!("{} +{} {}", moment.at_ms, moment.took_ms, word(&moment.deed))).collect()
}

#[test]
fn each_call_question_wait_and_decision_is_told_in_order() {
    let mut play = Play::of_steps(vec![
        step("quote", "read", "{}"),
        step("convert", "convert", r#"{"amount": "0", "to": "KRW"}"#).after("quote"),
    ]);
    play.answer_tool("quote/call/1", 429, "");
    play.wake("quote/retry-wait/1");
    play.now_ms += 7;
    play.answer_tool("quote/call/2", 200, r#"{"price": 468.285}"#);
    play.now_ms += 40;
    play.answer_tool("convert/call/1", 400, r#"{"error": "amount must be greater than 0"}"#);
    play.now_ms += 300;
    play.fail_model("convert/feedback/1", reknit_dialogue::ErrorClass::NetworkError);
    play.answer_model("convert/feedback/2", r#"{"should_retry": false, "reason": "not known here"}"#);
    play.answer_model(
        "convert/context/1",
        r#"{"should_retry": true, "analysis": "x", "corrected_parameters": {"amount": "{{100 * quote.price}}"}}"#,
    );
    play.answer_tool("convert/call/2", 200, "{}");
    insta::assert_snapshot!(told(&play, "quote").join("\n"), @r#"
    1000 +0 {} -> Some(429) Some("429: the tool answered 429 and said nothing more")
    1000 +0 resend: Applied
    1000 +1019 Waited
    2019 +7 {} -> Some(200) None
    "#);
    insta::assert_snapshot!(told(&play, "convert").join("\n"), @r#"
    2026 +0 schema: Applied
    2026 +40 {"amount":0,"to":"KRW"} -> Some(400) Some("400: amount must be greater than 0")
    2066 +300 feedback asks a: None Some("network error: it failed")
    2366 +0 feedback asks b: Some(10) None
    2366 +0 feedback: NoHelp
    2366 +0 context asks a: Some(10) None
    2366 +0 context: Applied
    2366 +0 {"amount":46828.5,"to":"KRW"} -> Some(200) None
    "#);
}

#[test]
fn nothing_is_told_of_a_step_to_which_nothing_happened() {
    let play = Play::of_steps(vec![step("a", "read", "{}"), step("b", "read", "{}").after("a")]);
    let told = history(&play.events).expect("the events are those of a run");
    assert!(told.values().all(Vec::is_empty), "{told:?}");
    assert!(history(&[]).expect("no events are no run").is_empty());
}

//! The history of each step, derived from the events of a run.

use std::collections::BTreeMap;

use reknit_engine::{HistoryEntry, HistoryKind, Machine, OverviewBuilder};

use reknit_protocol::StepId;

use crate::world::{Play, step};

fn history_by_step(play: &Play) -> BTreeMap<StepId, Vec<HistoryEntry>> {
    let replayed = Machine::replay(&play.events).expect("the events are those of a run");
    let (_, decided) = replayed.expect("there are events");
    let mut overview = OverviewBuilder::default();
    play.events.iter().zip(&decided).for_each(|(event, records)| overview.add(event.at_ms, records));
    overview.history().clone()
}

fn history_lines(play: &Play, step: &str) -> Vec<String> {
    let history = history_by_step(play);
    let entries = history.get(&StepId::from(step)).expect("the step has a history");
    let describe = |kind: &HistoryKind| match kind {
        HistoryKind::Called { parameters, status, error, .. } => format!("{parameters} -> {status:?} {error:?}"),
        HistoryKind::Asked { rung, target, usage, error } => {
            format!("{rung} asks {target}: {:?} {error:?}", usage.as_ref().map(|usage| usage.input_tokens))
        }
        HistoryKind::Mended(mend) => format!("{}: {:?}", mend.rung.as_str(), mend.effect),
        other => format!("{other:?}"),
    };
    entries.iter().map(|entry| format!("{} +{} {}", entry.at_ms, entry.took_ms, describe(&entry.kind))).collect()
}

#[test]
fn the_history_of_a_step_lists_calls_questions_waits_and_mends_in_order() {
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
    play.fail_model("convert/feedback/1", reknit_model_api::ErrorClass::NetworkError);
    play.answer_model("convert/feedback/2", r#"{"should_retry": false, "reason": "not known here"}"#);
    play.answer_model(
        "convert/context/1",
        r#"{"should_retry": true, "analysis": "x", "corrected_parameters": {"amount": "{{100 * quote.price}}"}}"#,
    );
    play.answer_tool("convert/call/2", 200, "{}");
    insta::assert_snapshot!(history_lines(&play, "quote").join("\n"), @r#"
    1000 +0 {} -> Some(429) Some("429: the tool answered 429 and said nothing more")
    1000 +0 resend: Applied
    1000 +1202 Waited
    2202 +7 {} -> Some(200) None
    "#);
    insta::assert_snapshot!(history_lines(&play, "convert").join("\n"), @r#"
    2209 +0 schema: Applied
    2209 +40 {"amount":0,"to":"KRW"} -> Some(400) Some("400: amount must be greater than 0")
    2249 +300 feedback asks a: None Some("network error: it failed")
    2549 +0 feedback asks b: Some(10) None
    2549 +0 feedback: NoHelp
    2549 +0 context asks a: Some(10) None
    2549 +0 context: Applied
    2549 +0 {"amount":46828.5,"to":"KRW"} -> Some(200) None
    "#);
}

#[test]
fn a_step_that_did_not_start_has_an_empty_history() {
    let play = Play::of_steps(vec![step("a", "read", "{}"), step("b", "read", "{}").after("a")]);
    let history = history_by_step(&play);
    assert!(history.values().all(Vec::is_empty), "{history:?}");
}

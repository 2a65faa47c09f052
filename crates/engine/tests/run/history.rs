//! The history of each step, derived from the events of a run.

use std::collections::BTreeMap;

use reknit_engine::{
    EventKind, Explanation, HistoryEntry, HistoryKind, Machine, Overview, OverviewBuilder, Statistics, explain,
};

use reknit_protocol::StepId;

use crate::world::{Play, plan, policy, started, step};

fn overview(play: &Play) -> Overview {
    let replayed = Machine::replay(&play.events).expect("the events are those of a run");
    let (machine, decided) = replayed.expect("there are events");
    let mut overview = OverviewBuilder::default();
    play.events.iter().zip(&decided).for_each(|(event, records)| overview.add(event.at_ms, records));
    overview.overview(&machine)
}

fn history_by_step(play: &Play) -> BTreeMap<StepId, Vec<HistoryEntry>> {
    let Overview::Run(run) = overview(play) else { panic!("a run") };
    run.history
}

fn explained(play: &Play) -> Explanation {
    explain(&overview(play), "running")
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

/// A read that was sent again twice and never answered, in a run that is cancelled then.
fn never_answered() -> Play {
    let mut play = Play::of_steps(vec![step("a", "read", "{}")]);
    for call in 1..=3 {
        play.answer_tool(&format!("a/call/{call}"), 503, "{}");
        if call < 3 {
            play.wake(&format!("a/retry-wait/{call}"));
        }
    }
    play.happen(EventKind::Cancelled);
    play
}

#[test]
fn a_call_that_was_only_sent_again_is_not_mended() {
    let play = never_answered();
    let text = &play.run.answer().expect("the run has ended").text;
    assert!(text.contains("\n\nTried:\n- a: sent again 2 times, not answered") && !text.contains("Mended"), "{text}");
    let explanation = explained(&play);
    assert_eq!(explanation.mended, Vec::<String>::new());
    assert_eq!(explanation.tried, ["a: sent again 2 times, not answered"]);
    let told: Vec<&str> = explanation.steps[0].lines.iter().map(|line| line.text.as_str()).collect();
    assert!(
        !told.join("\n").contains("Mended") && told[1].starts_with("The same call is sent again after"),
        "{told:?}"
    );
}

#[test]
fn a_run_without_a_model_has_no_rungs_of_models() {
    let mut started = started(Some(plan(vec![step("a", "read", r#"{"at": 1}"#)])), policy());
    started.targets.clear();
    let mut play = Play::begin(started);
    play.answer_tool("a/call/1", 404, r#"{"error": "nothing is at 1"}"#);
    let mut statistics = Statistics::default();
    statistics.add(&overview(&play), "failed");
    let failures = &statistics.tools["t/read"].failures;
    assert!(failures.values().all(|failure| failure.rungs.is_empty()), "{failures:?}");
}

#[test]
fn a_plan_that_nobody_wrote_has_no_author() {
    let mut play = Play::begin(started(None, policy()));
    for attempt in 1.. {
        assert_eq!(explained(&play).planning.iter().filter(|line| line.text.contains("planned")).count(), 0);
        assert_eq!(explained(&play).decided.iter().filter(|line| line.contains("The plan")).count(), 0);
        if play.run.answer().is_some() {
            break;
        }
        play.answer_model(&format!("plan/ask/{attempt}"), "I would rather not.");
    }
}

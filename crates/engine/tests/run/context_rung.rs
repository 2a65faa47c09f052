//! The context rung: a model corrects a call, shown the request, earlier results and all attempts.

use reknit_engine::EventKind;
use reknit_model_api::ErrorClass;

use crate::world::{Play, failure_reason, plan, policy, started, step};

/// A rejected call of a step that depends on `sources`. The feedback rung is off.
fn rejected(sources: &[(&str, &str)], parameters: &str, status: u16, body: &str) -> Play {
    let mut policy = policy();
    policy.mending.feedback = 0;
    let mut steps: Vec<_> = sources.iter().map(|(id, _)| step(id, "read", "{}")).collect();
    let last = step("s", "undeclared", parameters);
    steps.push(sources.iter().fold(last, |last, (id, _)| last.after(*id)));
    let mut play = Play::begin(started(Some(plan(steps)), policy));
    for (id, result) in sources {
        play.answer_tool(&format!("{id}/call/1"), 200, result);
    }
    play.answer_tool("s/call/1", status, body);
    play
}

#[test]
fn a_correction_calculated_from_earlier_results_is_sent() {
    for (case, sources, parameters, changes, sent) in [
        (
            "shares sold",
            vec![("quote", r#"{"current_price": 468.285}"#)],
            r#"{"amount": 0, "to": "KRW"}"#,
            r#"{"amount": "{{100 * quote.current_price}}"}"#,
            r#"{"amount":46828.5,"to":"KRW"}"#,
        ),
        (
            "the weight of a shipment",
            vec![("a", r#"{"kg": 1.2}"#), ("b", r#"{"kg": 2.5}"#)],
            r#"{"weight": 0}"#,
            r#"{"weight": "{{a.kg + b.kg}}"}"#,
            r#"{"weight":3.7}"#,
        ),
        (
            "tickets",
            vec![("fare", r#"{"data": {"price": 125}}"#)],
            r#"{"total": null}"#,
            r#"{"total": "{{100 * fare.price}}"}"#,
            r#"{"total":12500}"#,
        ),
        ("another type", vec![("a", "{}")], r#"{"n": "five"}"#, r#"{"n": 5}"#, r#"{"n":5}"#),
        ("another sign", vec![("a", r#"{"n": 5}"#)], r#"{"n": -5}"#, r#"{"n": 5}"#, r#"{"n":5}"#),
        (
            "something inside",
            vec![("a", r#"{"list": [1, 2]}"#)],
            r#"{"x": {"y": 0}, "z": [0]}"#,
            r#"{"x": {"y": {"deep": "{{a.list}}"}}}"#,
            r#"{"x":{"y":{"deep":[1,2]}},"z":[0]}"#,
        ),
    ] {
        let mut play = rejected(&sources, parameters, 400, r#"{"message": "not like this"}"#);
        play.answer_model(
            "s/context/1",
            &format!(r#"{{"should_retry": true, "analysis": "x", "corrected_parameters": {changes}}}"#),
        );
        assert_eq!(play.call("s/call/2").parameters.to_string(), sent, "case: {case}");
        let description = &play
            .run
            .steps()
            .last()
            .and_then(|step| step.mends.last().cloned())
            .expect("the mend is recorded")
            .description;
        assert!(description.contains(" -> ") && description.ends_with(": x"), "{description}");
    }
}

#[test]
fn a_call_that_cannot_be_corrected_fails_with_the_analysis() {
    for (case, answer) in [
        ("no source has it", r#"{"should_retry": false, "analysis": "no source has the symbol"}"#),
        (
            "trouble upstream",
            r#"{"should_retry": false, "analysis": "no source has the symbol", "corrected_parameters": {"symbol": "X"}}"#,
        ),
    ] {
        let mut play = rejected(&[], r#"{"symbol": ""}"#, 400, r#"{"message": "symbol is empty"}"#);
        play.answer_model("s/context/1", answer);
        let reason = failure_reason(&play);
        assert!(reason.contains("symbol is empty") && reason.contains("no source has the symbol"), "{case}: {reason}");
        assert_eq!(play.run.spent().tool_calls, 1, "case: {case}");
    }
}

#[test]
fn an_answer_is_found_in_fences_and_prose_and_asked_for_again_if_it_is_incomplete() {
    let whole = r#"{"should_retry": true, "analysis": "x", "corrected_parameters": {"n": 100}}"#;
    for (case, text, due) in [
        ("plain", whole.to_owned(), "s/call/2"),
        ("fenced", format!("```json\n{whole}\n```"), "s/call/2"),
        ("in prose", format!("Well: {whole} Try that."), "s/call/2"),
        ("without parameters", r#"{"should_retry": true, "analysis": "x"}"#.to_owned(), ""),
        ("no JSON", "Use 1.".to_owned(), "s/context/2"),
        ("broken off", whole.chars().take(67).collect(), "s/context/2"),
    ] {
        let mut play = rejected(&[], r#"{"n": 0}"#, 422, "{}");
        play.answer_model("s/context/1", &text);
        assert_eq!(play.due().join(" "), due, "case: {case}");
    }
}

#[test]
fn no_model_is_asked_if_none_exists_or_after_a_cancellation() {
    let mut alone = started(Some(plan(vec![step("s", "read", r#"{"n": 1}"#)])), policy());
    alone.targets.clear();
    let mut play = Play::begin(alone);
    play.answer_tool("s/call/1", 422, r#"{"message": "'n' is wrong"}"#);
    assert!(failure_reason(&play).contains("there is no model to ask"));
    assert_eq!(play.run.spent().model_calls, 0);

    let mut play = rejected(&[], "{}", 422, "{}");
    assert_eq!(play.due(), ["s/context/1"]);
    play.happen(EventKind::Cancelled);
    assert!(play.due().is_empty() && play.run.answer().is_some());
}

#[test]
fn a_step_fails_with_the_tools_error_if_models_fail_on_the_last_rung() {
    let mut play = rejected(&[], "{}", 422, r#"{"message": "not like this"}"#);
    for ask in 1..=3 {
        play.fail_model(&format!("s/context/{ask}"), ErrorClass::ModelError);
    }
    assert!(failure_reason(&play).contains("not like this"));
    assert_eq!(play.run.spent().tool_calls, 1);
}

#[test]
fn the_context_prompt_contains_results_schema_and_all_attempts() {
    let mut play = rejected(
        &[("quote", r#"{"current_price": 468.285}"#)],
        r#"{"amount": 0}"#,
        400,
        r#"{"message": "amount is nothing"}"#,
    );
    play.answer_model("s/context/1", r#"{"should_retry": true, "corrected_parameters": {"amount": 100}}"#);
    play.answer_tool("s/call/2", 400, r#"{"message": "amount is far too small"}"#);
    let prompt = play.prompt("s/context/2");
    for shown in [
        "sell 100 shares",
        "do s",
        "capability: undeclared",
        r#""current_price": 468.285"#,
        "attempts:",
        r#"1. {"amount":0}"#,
        "amount is nothing",
        r#"2. {"amount":100}"#,
        "400: amount is far too small",
    ] {
        assert!(prompt.contains(shown), "{shown} is not in {prompt}");
    }
    let mut policy = policy();
    policy.mending.feedback = 0;
    let mut play = Play::begin(started(Some(plan(vec![step("s", "convert", r#"{"amount": 5}"#)])), policy));
    play.answer_tool("s/call/1", 400, "{}");
    let prompt = play.prompt("s/context/1");
    assert!(prompt.contains(r#""type": "number""#), "the prompt contains the schema: {prompt}");
}

#[test]
fn the_context_rung_sees_only_the_results_that_its_step_depends_on() {
    let steps = || {
        vec![
            step("first", "read", "{}"),
            step("second", "read", "{}").after("first"),
            step("aside", "read", "{}"),
            step("s", "read", r#"{"city": "Soul"}"#).after("second"),
        ]
    };
    let mut prompts = Vec::new();
    for aside_is_done in [true, false] {
        let mut play = Play::of_steps(steps());
        play.answer_tool("first/call/1", 200, r#"{"price": 11}"#);
        if aside_is_done {
            play.answer_tool("aside/call/1", 200, r#"{"secret": 33}"#);
        }
        play.answer_tool("second/call/1", 200, r#"{"rate": 22}"#);
        play.answer_tool("s/call/1", 422, r#"{"message": "no"}"#);
        play.answer_model("s/feedback/1", r#"{"should_retry": false, "reason": "unclear"}"#);
        let prompt = play.prompt("s/context/1");
        assert!(prompt.contains("11") && prompt.contains("22"), "indirect dependencies are shown: {prompt}");
        assert!(!prompt.contains("33"), "{prompt}");
        prompts.push(prompt);
    }
    assert_eq!(prompts[0], prompts[1], "the order of parallel steps does not matter");
}

#[test]
fn an_answer_of_the_context_rung_without_changes_is_not_a_retry() {
    let mut play = Play::of_steps(vec![step("s", "read", r#"{"city": "Soul"}"#)]);
    play.answer_tool("s/call/1", 422, r#"{"message": "no"}"#);
    play.answer_model("s/feedback/1", r#"{"should_retry": false, "reason": "unclear"}"#);
    play.answer_model("s/context/1", r#"{"should_retry": true, "analysis": "fine", "corrected_parameters": {}}"#);
    assert_eq!(play.run.spent().tool_calls, 1);
    assert!(play.run.answer().is_some(), "{:?}", play.due());
}

#[test]
fn a_rung_with_zero_attempts_is_named_as_the_reason() {
    let mut policy = policy();
    (policy.mending.feedback, policy.mending.context) = (0, 0);
    let mut play = Play::begin(started(Some(plan(vec![step("s", "read", r#"{"x": 1}"#)])), policy));
    play.answer_tool("s/call/1", 422, "{}");
    let reason = failure_reason(&play);
    assert!(!reason.contains("every repair was tried"), "{reason}");
    assert!(reason.contains("`[mending]` turns off `feedback` and `context`"), "{reason}");
}

#[test]
fn the_prompt_shows_the_details_of_every_attempt_between_data_markers() {
    let mut policy = policy();
    (policy.mending.facts, policy.mending.feedback) = (0, 0);
    let steps = plan(vec![step("s", "read", r#"{"city": "Tokio"}"#)]);
    let mut play = Play::begin(started(Some(steps), policy));
    let error = |details: &str| {
        format!(
            r#"{{"success": false, "error": {{"code": "BAD", "message": "no", "category": "INPUT_ERROR"{details}}}}}"#
        )
    };
    play.answer_tool("s/call/1", 400, &error(r#", "details": {"hint": "use the local spelling"}"#));
    play.answer_model(
        "s/context/1",
        r#"{"should_retry": true, "analysis": "x", "corrected_parameters": {"city": "Toky"}}"#,
    );
    play.answer_tool("s/call/2", 400, &error(""));
    let prompt = play.prompt("s/context/2");
    let (_, attempts) = prompt.split_once("attempts:").expect("the attempts are shown");
    let hint = attempts.find("use the local spelling").expect("the hint of the first attempt is shown");
    assert!(attempts.find("<data>").is_some_and(|start| start < hint), "{attempts}");
    assert!(attempts.rfind("</data>").is_some_and(|end| end > hint), "{attempts}");
}

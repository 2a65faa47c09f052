//! Corrections of a model that no evidence supports: ungrounded numbers and removed parameters.

use reknit_engine::Started;
use reknit_expressions::{Backing, Provenance};
use reknit_plan::PlanAuthor;
use reknit_protocol::PlanInput;

use crate::failed_calls::quote_and_convert;
use crate::world::{Play, json, plan, policy, started, step};

#[test]
fn a_correction_can_remove_a_parameter() {
    for (answer, expected) in [
        (
            r#"{"should_retry": true, "suggested_changes": {"symbol": "TSLA"}, "remove": ["stock_symbol"]}"#,
            r#"{"shares":10,"symbol":"TSLA"}"#,
        ),
        (r#"{"should_retry": true, "remove": ["stock_symbol", "unheard_of"]}"#, r#"{"shares":10}"#),
    ] {
        let mut play = Play::of_steps(vec![step("s", "undeclared", r#"{"stock_symbol": "TSLA", "shares": 10}"#)]);
        play.answer_tool("s/call/1", 400, r#"{"error": "stock_symbol: not here"}"#);
        play.answer_model("s/feedback/1", answer);
        assert_eq!(play.call("s/call/2").parameters.to_string(), expected, "{answer}");
    }
}

#[test]
fn a_parameter_is_removed_only_if_the_error_or_a_rename_supports_it() {
    for (capability, before, error, answer, after) in [
        // Some models fill in every list they are shown. `to` is right, and the schema does not require it.
        (
            "convert",
            r#"{"amount": 0, "to": "KRW"}"#,
            "amount must be positive",
            r#""corrected_parameters": {"amount": 100}, "remove": ["to"]"#,
            r#"{"amount":100,"to":"KRW"}"#,
        ),
        // The schema requires it.
        (
            "convert",
            r#"{"amount": 0, "to": "won"}"#,
            "amount or to is wrong",
            r#""corrected_parameters": {"to": "KRW"}, "remove": ["amount"]"#,
            r#"{"amount":0,"to":"KRW"}"#,
        ),
        // The error names it.
        (
            "convert",
            r#"{"amount": 5, "to": "won"}"#,
            "to: no such code",
            r#""corrected_parameters": {}, "remove": ["to"]"#,
            r#"{"amount":5}"#,
        ),
        // The error contains its name only as a part of another word.
        (
            "read",
            r#"{"x": 1, "to": "won"}"#,
            "total: no such code",
            r#""corrected_parameters": {"x": 2}, "remove": ["to"]"#,
            r#"{"x":2,"to":"won"}"#,
        ),
        // Its value moves to another name.
        (
            "read",
            r#"{"stock": "TSLA"}"#,
            "symbol is required",
            r#""corrected_parameters": {"symbol": "TSLA"}, "remove": ["stock"]"#,
            r#"{"symbol":"TSLA"}"#,
        ),
    ] {
        let mut policy = policy();
        (policy.mending.feedback, policy.mending.facts) = (0, 0);
        let mut play = Play::begin(started(Some(plan(vec![step("s", capability, before)])), policy));
        play.answer_tool("s/call/1", 400, &format!(r#"{{"error": "{error}"}}"#));
        play.answer_model("s/context/1", &format!(r#"{{"should_retry": true, "analysis": "x", {answer}}}"#));
        assert_eq!(play.call("s/call/2").parameters.to_string(), after, "{error}");
        let description = play.run.steps()[0].mends.last().map(|mend| mend.description.clone()).unwrap_or_default();
        let stays = after.contains("to") && answer.contains(r#"remove": ["to"]"#);
        assert_eq!(description.ends_with("; to stays: the error does not name it"), stays, "{description}");
    }
}

fn answer_with(amount: &str) -> String {
    format!(r#"{{"should_retry": true, "reason": "x", "corrected_parameters": {{"amount": {amount}}}}}"#)
}

#[test]
fn a_number_without_evidence_is_asked_for_again() {
    let mut play = quote_and_convert();
    play.answer_model("convert/feedback/1", &answer_with("1501.5"));
    assert_eq!(play.due(), ["convert/context/1"], "the call is not sent");
    let reason = "amount: 1501.5 does not appear in the request or in any result";
    assert!(play.prompt("convert/context/1").contains(reason), "the next prompt gives the reason");
    // Another number without evidence is not accepted either.
    let mut other_number = play.clone();
    other_number.answer_model("convert/context/1", &answer_with("1502.5"));
    assert_eq!(other_number.due(), ["convert/context/2"]);
    // A calculation from a result is accepted.
    let mut calculated = play.clone();
    calculated.answer_model("convert/context/1", &answer_with("\"{{100 * quote.current_price}}\""));
    assert_eq!(calculated.call("convert/call/2").parameters.get("amount"), Some(&json("46828.5")));
    // If the model repeats its number, a call that only reads is sent, and the number is marked as inferred.
    play.answer_model("convert/context/1", &answer_with("1501.5"));
    assert_eq!(play.call("convert/call/2").parameters.get("amount"), Some(&json("1501.5")));
    let inferred = Provenance::Corrected { rung: "context".to_owned(), backing: Backing::Inferred };
    assert!(play.run.steps()[1].provenance.contains(&("amount".to_owned(), inferred)));
}

#[test]
fn a_number_with_evidence_is_accepted_at_once() {
    for (request, before, body, number) in [
        ("convert 1,500.5 won", "0", "{}", "1500.5"),
        ("convert 1.5 million won", "0", "{}", "1500000"),
        ("convert a dozen", "0", "{}", "12"),
        ("convert three hundred", "0", "{}", "300"),
        ("convert it", "-1234", "{}", "1234"),
        ("convert it", "123456", r#"{"error": "in thousands"}"#, "123.456"),
        ("convert it", "0", r#"{"error": "not below 25.50"}"#, "25.5"),
        ("convert it", "0", r#"{"error": {"message": "no", "details": {"min": 77}}}"#, "77"),
    ] {
        let step = step("s", "convert", &format!(r#"{{"amount": {before}}}"#));
        let begun = Started { request: request.to_owned(), ..started(Some(plan(vec![step])), policy()) };
        let mut play = Play::begin(begun);
        play.answer_tool("s/call/1", 400, body);
        play.answer_model("s/feedback/1", &answer_with(number));
        assert_eq!(play.call("s/call/2").parameters.get("amount"), Some(&json(number)), "{request} {before} {body}");
    }
}

#[test]
fn only_a_call_that_reads_is_sent_with_a_number_without_evidence() {
    for (capability, due) in [
        ("read", "s/call/2"),
        ("undeclared", "s/approval/1"),
        ("unsafe", "s/approval/1"),
        ("keyed", "s/approval/1"),
        ("idempotent", "s/approval/1"),
    ] {
        let mut play = Play::of_steps(vec![step("s", capability, r#"{"amount": 0}"#)]);
        play.answer_tool("s/call/1", 400, r#"{"error": "no"}"#);
        for question in ["s/feedback/1", "s/context/1"] {
            play.answer_model(question, &answer_with("1501.5"));
        }
        assert_eq!(play.due().first().map(String::as_str), Some(due), "{capability}");
    }
}

#[test]
fn what_a_model_wrote_into_its_plan_is_no_evidence_for_its_correction() {
    for (author, expected) in [(PlanAuthor::Person, "s/call/2"), (PlanAuthor::Model, "s/approval/1")] {
        for (instruction, default, correction) in
            [("pay 731", "0", "731"), ("", "731", "731"), ("", "731", r#""{{inputs.n}}""#)]
        {
            let mut step = step("s", "keyed", r#"{"amount": 0}"#);
            step.instruction = instruction.to_owned();
            let mut written = plan(vec![step]);
            let default = Some(json(default));
            written.inputs.push(("n".to_owned(), PlanInput { default, ..PlanInput::default() }));
            let mut play = Play::begin(Started { plan_author: author, ..started(Some(written), policy()) });
            play.answer_tool("s/call/1", 400, r#"{"error": "amount must be greater than 0"}"#);
            play.answer_model("s/feedback/1", &answer_with(correction));
            if play.due().first().is_some_and(|due| due == "s/context/1") {
                play.answer_model("s/context/1", &answer_with(correction));
            }
            let due = play.due().first().cloned();
            assert_eq!(due.as_deref(), Some(expected), "{author:?}: {instruction}, {correction}");
        }
    }
}

#[test]
fn the_status_of_a_silent_answer_is_no_evidence_for_a_number() {
    let mut play = Play::of_steps(vec![step("s", "keyed", r#"{"amount": 0}"#)]);
    play.answer_tool("s/call/1", 422, "{}");
    for question in ["s/feedback/1", "s/context/1"] {
        play.answer_model(question, &answer_with("422"));
    }
    assert_eq!(play.due().first().map(String::as_str), Some("s/approval/1"));
}

/// A call with side effects, after a result, whose number a model corrects on the context rung.
fn corrected_after(request: &str, result: &str, answers: &[&str]) -> Play {
    let mut policy = policy();
    (policy.mending.feedback, policy.mending.facts) = (0, 0);
    let steps = plan(vec![step("first", "read", "{}"), step("s", "priced", r#"{"amount": 0}"#).after("first")]);
    let mut play = Play::begin(Started { request: request.to_owned(), ..started(Some(steps), policy) });
    play.answer_tool("first/call/1", 200, result);
    play.answer_tool("s/call/1", 400, r#"{"error": "amount must be greater than 0"}"#);
    for (index, answer) in answers.iter().enumerate() {
        play.answer_model(&format!("s/context/{}", index + 1), &answer_with(answer));
    }
    play
}

#[test]
fn a_calculation_whose_numbers_all_have_evidence_is_sent() {
    let prices = r#"{"adult_price": 100, "child_price": 50}"#;
    for answer in [
        r#""2*100 + 1*50""#,
        r#""{{2*100 + 1*50}}""#,
        r#""2×100 + 1×50""#,
        r#""{{2×100 + 1×50}}""#,
        r#""2·100 + 1·50""#,
        r#""2 × first.adult_price + 1 × first.child_price""#,
    ] {
        let play = corrected_after("2 adults, 1 child", prices, &[answer]);
        assert_eq!(play.due(), ["s/call/2"], "{answer}");
        assert_eq!(play.call("s/call/2").parameters.to_string(), r#"{"amount":250}"#, "{answer}");
    }
    let play = corrected_after("2 adults, 1 child", prices, &["250", r#""2×100 + 1×50""#]);
    assert_eq!(play.call("s/call/2").parameters.to_string(), r#"{"amount":250}"#);
    let play = corrected_after("a meeting", r#"{"start": "09:00", "end": "14:00"}"#, &[r#""14 - 9""#]);
    assert_eq!(play.call("s/call/2").parameters.to_string(), r#"{"amount":5}"#);
    // 300 has no evidence.
    let play = corrected_after("2 adults, 1 child", prices, &[r#""2*300 + 1*50""#]);
    assert_eq!(play.due(), ["s/context/2"]);
}

#[test]
fn a_small_number_without_evidence_is_asked_for_again_as_an_expression() {
    let times = r#"{"start": "09:00", "end": "14:00"}"#;
    let play = corrected_after("meeting from 9am to 2pm", times, &["5"]);
    assert_eq!(play.due(), ["s/context/2"]);
    assert!(play.prompt("s/context/2").contains("amount: 5 does not appear in the request or in any result"));
    let again = r#""{{date_diff(first.start, first.end, 'hours')}}""#;
    let play = corrected_after("meeting from 9am to 2pm", times, &["5", again]);
    assert_eq!(play.call("s/call/2").parameters.to_string(), r#"{"amount":5}"#);
    let play = corrected_after("meeting from 9am to 2pm", times, &["5", "5"]);
    assert_eq!(play.due()[0], "s/approval/1", "a person decides if the model insists");
}

//! Markdown emphasis around names and values of a model's plan.

use reknit_plan::{PlanAuthor, correct_plan, read_plan};
use reknit_protocol::{Step, Value};

use crate::support::{catalogue, last_call, plan_with, run, text};

#[test]
fn emphasis_around_a_whole_value_is_removed() {
    for written in ["**KRW**", "*KRW*", "`KRW`", " **KRW** ", "***KRW***"] {
        let call = last_call("convert", &format!(r#"{{"amount": 1, "to": {}}}"#, text(written)));
        assert_eq!(call, r#"{"amount":1,"to":"KRW"}"#, "{written}");
    }
    assert_eq!(
        last_call("convert", r#"{"amount": "**5**", "codes": ["`a`", "b"]}"#),
        r#"{"amount":5,"codes":["a","b"]}"#
    );
    assert_eq!(last_call("convert", r#"{"amount": "`{{a.price}}`"}"#), r#"{"amount":468.285}"#);
}

#[test]
fn emphasis_in_text_for_people_and_in_patterns_stays() {
    for (parameters, expected) in [
        (r#"{"message": "**now**"}"#, r#"{"message":"**now**"}"#),
        (r#"{"message": "x", "to": "**a**\nb"}"#, r#"{"message":"x","to":"**a**\nb"}"#),
        (r#"{"message": "x", "to": "**a** and **b**"}"#, r#"{"message":"x","to":"**a** and **b**"}"#),
        (r#"{"message": "x", "to": "_private"}"#, r#"{"message":"x","to":"_private"}"#),
        (r#"{"message": "x", "to": "__init__"}"#, r#"{"message":"x","to":"__init__"}"#),
        (r#"{"message": "x", "sql": "`users`"}"#, r#"{"message":"x","sql":"`users`"}"#),
        (r#"{"message": "x", "to": "**"}"#, r#"{"message":"x","to":"**"}"#),
        (r#"{"message": "x", "to": "2 * 3 * 4"}"#, r#"{"message":"x","to":"2 * 3 * 4"}"#),
    ] {
        assert_eq!(last_call("send_sms", parameters), expected);
    }
}

#[test]
fn marks_that_the_request_has_around_a_value_belong_to_the_value() {
    let plan = plan_with("send_sms", r#"{"message": "x", "to": "*hunter22*"}"#);
    for (request, expected) in
        [("set the password to *hunter22*", "*hunter22*"), ("set the password to hunter22", "hunter22")]
    {
        let (mut plan, _) = read_plan(&plan, request).expect("a plan");
        correct_plan(&mut plan, &catalogue(), PlanAuthor::Model);
        let last = plan.steps.last().and_then(Step::parameters).expect("parameters");
        assert_eq!(last.get("to").and_then(Value::as_str), Some(expected), "{request}");
    }
}

#[test]
fn emphasis_around_names_is_removed_and_recorded() {
    let plan = plan_with("convert", r#"{"**amount**": "{{a.price}}"}"#)
        .replace(r#""convert""#, r#""`convert`""#)
        .replace(r#""last""#, r#""**last**", "depends_on": ["*a*"]"#)
        .replace(r#""agent_name": "bank""#, r#""agent_name": "**bank**""#);
    let run = run(&plan, PlanAuthor::Model);
    assert_eq!(run.last_call.as_deref().unwrap_or("refused"), r#"{"amount":468.285}"#, "{run:?}");
    let fixes: Vec<String> = run.fixes.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(fixes.join("\n"), @"
    step `last`: corrected the id `**last**` to `last`
    step `last`: corrected the tool `**bank**` to `bank`
    step `last`: corrected the capability ``convert`` to `convert`
    step `last`: corrected the parameter `**amount**` to `amount`
    ");
}

#[test]
fn a_plan_of_a_person_keeps_its_emphasis() {
    let run = run(&plan_with("convert", r#"{"amount": 1, "to": "**KRW**"}"#), PlanAuthor::Person);
    assert_eq!(run.last_call.as_deref().unwrap_or("refused"), r#"{"amount":1,"to":"**KRW**"}"#);
}

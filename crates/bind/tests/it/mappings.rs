//! Values that are found where they were found before.

use reknit_bind::{Binding, Finder, Known, Optional, Parameters, Provenance, bind_as_learned, lesson, supply};
use reknit_protocol::StepId;

use crate::kit::{Results, bound, object, reasons, schema};

const CONVERT: &str = r#"{"type": "object", "required": ["amount"], "additionalProperties": false, "properties": {
    "amount": {"type": "number"}, "to": {"type": "string"}}}"#;

fn results() -> Results {
    Results::new(
        r#"{"quote": {"data": {"price": 468.285, "items": [{"id": 7}], "name": "Tesla", "none": null}},
            "again": {"data": {"price": 468.285}}, "other": {"data": {"price": 5}}}"#,
    )
}

/// What is learned from a model's answer.
fn learned(answer: &str) -> Option<(StepId, String)> {
    let results = results();
    let answer = object(&format!(r#"{{"amount": {answer}}}"#));
    let supplied = supply(&object("{}"), &answer, &["amount"], &results, &results.ids(), None).expect("it can be used");
    lesson(supplied.bound.origin("amount").expect("it has one"), &results.ids())
}

#[test]
fn a_place_is_learned_and_what_only_one_request_means_is_not() {
    for (answer, expected) in [
        (r#""{{quote.price}}""#, Some("it.data.price")),
        (r#""{{quote.data.price}}""#, Some("it.data.price")),
        (r#""{{quote.price + quote.price}}""#, Some("it.price + it.price")),
        (r#""{{len(quote.items)}}""#, Some("len(it.items)")),
        (r#""{{100 * quote.price}}""#, None),
        (r#""{{quote.price + other.price}}""#, None),
        (r#""{{quote.items[0].id}}""#, None),
        (r#""{{first(quote.items).id}}""#, None),
        (r#""{{quote.name}} and more""#, None),
        ("5000", None),
    ] {
        let expected = expected.map(|expression| (StepId::from("quote"), expression.to_owned()));
        assert_eq!(learned(answer), expected, "case: {answer}");
    }
}

fn recalled(plan: &str, known: &[(&str, &str)]) -> Binding {
    let results = results();
    let parameters = Parameters::parse(&object(plan), &results.ids()).expect("it parses");
    let steps: Vec<(StepId, &str)> =
        known.iter().map(|(step, expression)| (StepId::from(*step), *expression)).collect();
    let known: Vec<Known<'_>> =
        steps.iter().map(|(step, expression)| Known { parameter: "amount", step, expression }).collect();
    bind_as_learned(&parameters, &results, &[], Some(&schema(CONVERT)), Optional::Wired, &known)
}

#[test]
fn a_missing_value_is_found_as_before_and_says_so() {
    for (case, plan, known) in [
        ("left out", r#"{"to": "KRW"}"#, vec![("quote", "it.data.price")]),
        ("two that agree", "{}", vec![("quote", "it.data.price"), ("again", "it.price")]),
        ("beside one that does not fit any more", "{}", vec![("quote", "it.data.name"), ("again", "it.data.price")]),
        ("beside one that is no expression", "{}", vec![("quote", "it.."), ("quote", "it.data.price")]),
    ] {
        let bound = bound(recalled(plan, &known));
        assert_eq!(bound.parameters.get("amount").map(ToString::to_string).as_deref(), Some("468.285"), "case: {case}");
        assert!(
            matches!(bound.origin("amount"), Some(Provenance::Resolved { by: Finder::Learned, .. })),
            "case: {case}"
        );
    }
}

#[test]
fn what_is_in_doubt_is_not_taken_from_before() {
    for (case, plan, known) in [
        ("two that differ", "{}", vec![("quote", "it.data.price"), ("other", "it.data.price")]),
        ("the plan asks for another place", r#"{"amount": "{{quote.cost}}"}"#, vec![("quote", "it.data.price")]),
        ("another step than the plan means", r#"{"amount": "{{other.cost}}"}"#, vec![("quote", "it.data.price")]),
        ("no such place any more", "{}", vec![("quote", "it.data.cost")]),
        ("null", "{}", vec![("quote", "it.data.none")]),
        ("of another kind", "{}", vec![("quote", "it.data.name")]),
        ("nothing is known", "{}", vec![]),
    ] {
        let Binding::Unbound { unbound, .. } = recalled(plan, &known) else { panic!("it is missing: {case}") };
        assert!(reasons(&unbound).starts_with("`amount`"), "case: {case}");
    }
}

#[test]
fn what_the_plan_gives_is_never_looked_for() {
    let bound = bound(recalled(r#"{"amount": 1}"#, &[("quote", "it.data.price")]));
    assert_eq!(bound.parameters.to_string(), r#"{"amount":1}"#);
}

//! Learning and applying parameter mappings.

use reknit_expressions::{
    Binding, MappingCandidate, MappingStatus, Parameters, Provenance, ResolvedBy, bind_with_mappings, fill_missing,
    learnable_expression,
};
use reknit_protocol::StepId;

use crate::support::{Results, bound, object, reasons, schema};

const CONVERT: &str = r#"{"type": "object", "required": ["amount"], "additionalProperties": false, "properties": {
    "amount": {"type": "number"}, "to": {"type": "string"}}}"#;

fn results() -> Results {
    Results::new(
        r#"{"quote": {"data": {"price": 468.285, "items": [{"id": 7}], "name": "Tesla", "none": null}},
            "again": {"data": {"price": 468.285}}, "other": {"data": {"price": 5}}}"#,
    )
}

/// The step and the expression that are learned from a model's answer.
fn learned(answer: &str) -> Option<(StepId, String)> {
    let results = results();
    let answer = object(&format!(r#"{{"amount": {answer}}}"#));
    let filled =
        fill_missing(&object("{}"), &answer, &["amount"], &results, &results.ids(), None).expect("the answer applies");
    learnable_expression(filled.bound.provenance_of("amount").expect("`amount` has a provenance"), &results.ids())
}

#[test]
fn paths_are_learned_but_literals_and_indices_are_not() {
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

fn bind_with(plan: &str, mappings: &[(&str, &str)]) -> Binding {
    let inferred: Vec<_> = mappings.iter().map(|(step, text)| (*step, *text, MappingStatus::Inferred)).collect();
    bind_with_status(plan, &inferred)
}

fn bind_with_status(plan: &str, mappings: &[(&str, &str, MappingStatus)]) -> Binding {
    let results = results();
    let parameters = Parameters::parse(&object(plan), &results.ids()).expect("valid templates");
    let steps: Vec<(StepId, &str, MappingStatus)> =
        mappings.iter().map(|(step, expression, status)| (StepId::from(*step), *expression, *status)).collect();
    let candidates: Vec<MappingCandidate<'_>> = steps
        .iter()
        .map(|(step, expression, status)| MappingCandidate { parameter: "amount", step, expression, status: *status })
        .collect();
    bind_with_mappings(&parameters, &results, &[], Some(&schema(CONVERT)), &candidates)
}

#[test]
fn a_missing_parameter_is_filled_by_a_mapping() {
    for (case, plan, mappings) in [
        ("omitted", r#"{"to": "KRW"}"#, vec![("quote", "it.data.price")]),
        ("two mappings that agree", "{}", vec![("quote", "it.data.price"), ("again", "it.price")]),
        (
            "next to a mapping whose value does not fit",
            "{}",
            vec![("quote", "it.data.name"), ("again", "it.data.price")],
        ),
        ("next to an invalid expression", "{}", vec![("quote", "it.."), ("quote", "it.data.price")]),
    ] {
        let bound = bound(bind_with(plan, &mappings));
        assert_eq!(bound.parameters.get("amount").map(ToString::to_string).as_deref(), Some("468.285"), "case: {case}");
        assert!(
            matches!(bound.provenance_of("amount"), Some(Provenance::Resolved { by: ResolvedBy::Learned, .. })),
            "case: {case}"
        );
    }
}

#[test]
fn an_ambiguous_or_unfitting_mapping_is_not_applied() {
    for (case, plan, mappings) in [
        ("two mappings that differ", "{}", vec![("quote", "it.data.price"), ("other", "it.data.price")]),
        ("the plan references another field", r#"{"amount": "{{quote.cost}}"}"#, vec![("quote", "it.data.price")]),
        ("the plan references another step", r#"{"amount": "{{other.cost}}"}"#, vec![("quote", "it.data.price")]),
        ("the field no longer exists", "{}", vec![("quote", "it.data.cost")]),
        ("null", "{}", vec![("quote", "it.data.none")]),
        ("another type", "{}", vec![("quote", "it.data.name")]),
        ("no mappings", "{}", vec![]),
    ] {
        let Binding::Unbound { unbound, .. } = bind_with(plan, &mappings) else {
            panic!("`amount` should be unbound: {case}")
        };
        assert!(reasons(&unbound).starts_with("`amount`"), "case: {case}");
    }
}

#[test]
fn a_parameter_that_the_plan_sets_is_not_mapped() {
    let bound = bound(bind_with(r#"{"amount": 1}"#, &[("quote", "it.data.price")]));
    assert_eq!(bound.parameters.to_string(), r#"{"amount":1}"#);
}

#[test]
fn an_accepted_mapping_is_preferred_to_inferred_ones() {
    use MappingStatus::{Accepted, Inferred};
    for (case, mappings, value, by) in [
        (
            "another value",
            vec![("other", "it.price", Inferred), ("quote", "it.price", Accepted)],
            "468.285",
            "accepted",
        ),
        ("no value", vec![("other", "it.price", Inferred), ("quote", "it.cost", Accepted)], "5", "learned"),
    ] {
        let bound = bound(bind_with_status("{}", &mappings));
        assert_eq!(bound.parameters.get("amount").map(ToString::to_string).as_deref(), Some(value), "case: {case}");
        let expected = if by == "accepted" { ResolvedBy::Accepted } else { ResolvedBy::Learned };
        let origin = bound.provenance_of("amount");
        assert!(matches!(origin, Some(Provenance::Resolved { by, .. }) if *by == expected), "{case}: {origin:?}");
    }
    let differing = [("other", "it.price", Accepted), ("quote", "it.price", Accepted), ("quote", "it.price", Inferred)];
    assert!(matches!(bind_with_status("{}", &differing), Binding::Unbound { .. }), "accepted ones differ");
}

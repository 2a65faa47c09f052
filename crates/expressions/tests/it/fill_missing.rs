//! Filling missing parameters from a model's answer.

use reknit_expressions::{BoundParameters, FilledParameters, Provenance, ResolvedBy, fill_missing};
use reknit_protocol::Path;

use crate::support::{Results, object, schema};

const CONVERT: &str = r#"{"type": "object", "required": ["amount", "to"], "additionalProperties": false, "properties": {
    "amount": {"type": "number"}, "to": {"type": "string"}, "flag": {"type": "boolean"}}}"#;

fn results() -> Results {
    Results::new(
        r#"{"quote": {"data": {"price": 468.285, "name": "Tesla", "twice": 7, "on": true, "none": null, "text": "7.5"}},
            "country": {"currency": "KRW", "capital": "Seoul", "also": 7}}"#,
    )
    .failed("lost")
}

fn fill(given: &str, answer: &str, missing: &[&str]) -> Result<FilledParameters, String> {
    let results = results();
    let schema = schema(CONVERT);
    fill_missing(&object(given), &object(answer), missing, &results, &results.ids(), Some(&schema))
        .map_err(|error| error.to_string())
}

fn bound(given: &str, answer: &str, missing: &[&str]) -> BoundParameters {
    fill(given, answer, missing).unwrap_or_else(|error| panic!("{answer}: {error}")).bound
}

fn resolved(bound: &BoundParameters, name: &str) -> Provenance {
    match bound.provenance_of(name) {
        Some(Provenance::Resolved { by: ResolvedBy::Model, origin }) => origin.as_ref().clone(),
        other => panic!("`{name}` should be resolved: {other:?}"),
    }
}

#[test]
fn a_path_or_an_expression_is_evaluated() {
    for (answer, expected) in [
        (r#"{"amount": "{{quote.price}}"}"#, "468.285"),
        (r#"{"amount": "{{100 * quote.response.price}}"}"#, "46828.5"),
        (r#"{"amount": "quote.price"}"#, "468.285"),
        (r#"{"amount": "100 * quote.price"}"#, "46828.5"),
        (r#"{"Amount": "{{quote.text}}"}"#, "7.5"),
    ] {
        let bound = bound(r#"{"to": "KRW"}"#, answer, &["amount"]);
        assert_eq!(bound.parameters.get("amount").map(ToString::to_string).as_deref(), Some(expected), "{answer}");
        assert!(resolved(&bound, "amount").comes_from_result(), "{answer}");
    }
    let bound = bound(r#"{"amount": 1}"#, r#"{"to": "country.currency"}"#, &["to"]);
    assert_eq!(bound.parameters.to_string(), r#"{"amount":1,"to":"KRW"}"#);
    assert_eq!(
        resolved(&bound, "to"),
        Provenance::Reference { step: "country".into(), path: Path::root().key("currency") }
    );
    assert_eq!(bound.provenance.len(), 1);
}

#[test]
fn a_literal_of_the_model_is_inferred() {
    for (case, answer) in [
        ("in no result", r#"{"amount": 5, "to": "USD"}"#),
        ("equal to a value in a result", r#"{"amount": 468.2850, "to": "KRW"}"#),
        ("equal to two values in results", r#"{"amount": 7, "to": "USD"}"#),
        ("equal to a string in a result", r#"{"amount": 7.5, "to": "USD"}"#),
        ("an expression without references", r#"{"amount": "{{100 * 468.285}}", "to": "USD"}"#),
        ("a string that is not a path", r#"{"amount": 5, "to": "country.nowhere"}"#),
        ("a string that is a step id", r#"{"amount": 5, "to": "country"}"#),
    ] {
        let bound = bound("{}", answer, &["amount", "to"]);
        for name in ["amount", "to"] {
            assert_eq!(bound.provenance_of(name), Some(&Provenance::Inferred), "case: {case}, {name}");
        }
    }
    // An equal boolean in a result proves nothing.
    let bound = bound(r#"{"amount": 1, "to": "KRW"}"#, r#"{"flag": true}"#, &["flag"]);
    assert_eq!(bound.provenance_of("flag"), Some(&Provenance::Inferred));
}

#[test]
fn parameters_that_were_not_requested_are_unchanged() {
    let filled = fill(r#"{"to": "KRW"}"#, r#"{"amount": "{{quote.price}}", "to": "USD", "more": 1}"#, &["amount"]);
    let filled = filled.expect("the answer applies");
    assert_eq!(filled.bound.parameters.to_string(), r#"{"to":"KRW","amount":468.285}"#);
    assert_eq!(filled.ignored, ["to", "more"]);
}

#[test]
fn a_value_that_does_not_fit_or_does_not_exist_is_rejected() {
    let errors = [
        "{}",
        r#"{"amount": "{{quote.name}}"}"#,
        r#"{"amount": "a lot"}"#,
        r#"{"amount": null}"#,
        r#"{"amount": "{{quote.none}}"}"#,
        r#"{"amount": "{{quote.cost}}"}"#,
        r#"{"amount": "{{lost.price}}"}"#,
        r#"{"amount": "{{nowhere.price}}"}"#,
    ]
    .map(|answer| fill(r#"{"to": "KRW"}"#, answer, &["amount"]).expect_err("the value is rejected"));
    insta::assert_snapshot!(errors.join("\n"), @r#"
    the corrected parameters do not fit the schema: `$`: the property `amount` is missing
    the corrected parameters do not fit the schema: `$.amount`: expected a number, found the string "Tesla"
    the corrected parameters do not fit the schema: `$.amount`: expected a number, found the string "a lot"
    the corrected parameters do not fit the schema: `$.amount`: expected a number, found null
    cannot resolve the correction: `amount`: `quote.none` is null
    cannot resolve the correction: `amount`: `quote.cost` does not exist: available fields are `data`, `data.price`, `data.name`, `data.twice`, `data.on`, `data.none`, `data.text`
    cannot resolve the correction: `amount`: step `lost` failed and has no result
    the correction contains an invalid template
    "#);
}

#[test]
fn braces_in_results_are_not_templates() {
    let results = Results::new(r#"{"a": {"evil": "{{b.secret}}"}, "b": {"secret": "hidden"}}"#);
    let answer = object(r#"{"to": "{{a.evil}}"}"#);
    let filled =
        fill_missing(&object("{}"), &answer, &["to"], &results, &results.ids(), None).expect("the answer applies");
    assert_eq!(filled.bound.parameters.to_string(), r#"{"to":"{{b.secret}}"}"#);
}

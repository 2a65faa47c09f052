//! Where a model says that missing values are.

use reknit_bind::{Bound, Finder, Provenance, Supplied, supply};
use reknit_protocol::Path;

use crate::kit::{Results, object, schema};

const CONVERT: &str = r#"{"type": "object", "required": ["amount", "to"], "additionalProperties": false, "properties": {
    "amount": {"type": "number"}, "to": {"type": "string"}, "flag": {"type": "boolean"}}}"#;

fn results() -> Results {
    Results::new(
        r#"{"quote": {"data": {"price": 468.285, "name": "Tesla", "twice": 7, "on": true, "none": null, "text": "7.5"}},
            "country": {"currency": "KRW", "capital": "Seoul", "also": 7}}"#,
    )
    .failed("lost")
}

fn answered(given: &str, answer: &str, missing: &[&str]) -> Result<Supplied, String> {
    let results = results();
    let under = schema(CONVERT);
    supply(&object(given), &object(answer), missing, &results, &results.ids(), Some(&under))
        .map_err(|error| error.to_string())
}

fn bound(given: &str, answer: &str, missing: &[&str]) -> Bound {
    answered(given, answer, missing).unwrap_or_else(|error| panic!("{answer}: {error}")).bound
}

fn resolved(bound: &Bound, name: &str) -> Provenance {
    match bound.origin(name) {
        Some(Provenance::Resolved { by: Finder::Model, origin }) => origin.as_ref().clone(),
        other => panic!("`{name}` should be resolved: {other:?}"),
    }
}

#[test]
fn a_path_or_an_expression_over_the_results_is_evaluated_by_us() {
    for (answer, expected) in [
        (r#"{"amount": "{{quote.price}}"}"#, "468.285"),
        (r#"{"amount": "{{100 * quote.response.price}}"}"#, "46828.5"),
        (r#"{"amount": "quote.price"}"#, "468.285"),
        (r#"{"amount": "100 * quote.price"}"#, "46828.5"),
        (r#"{"Amount": "{{quote.text}}"}"#, "7.5"),
    ] {
        let bound = bound(r#"{"to": "KRW"}"#, answer, &["amount"]);
        assert_eq!(bound.parameters.get("amount").map(ToString::to_string).as_deref(), Some(expected), "{answer}");
        assert!(resolved(&bound, "amount").has_source(), "{answer}");
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
fn a_value_that_the_model_wrote_itself_is_marked() {
    for (case, answer) in [
        ("in no result", r#"{"amount": 5, "to": "USD"}"#),
        ("in one result, perhaps by chance", r#"{"amount": 468.2850, "to": "KRW"}"#),
        ("at two places", r#"{"amount": 7, "to": "USD"}"#),
        ("of another kind", r#"{"amount": 7.5, "to": "USD"}"#),
        ("worked out of nothing", r#"{"amount": "{{100 * 468.285}}", "to": "USD"}"#),
        ("a text that is no path", r#"{"amount": 5, "to": "country.nowhere"}"#),
        ("a text that is the name of a step", r#"{"amount": 5, "to": "country"}"#),
    ] {
        let bound = bound("{}", answer, &["amount", "to"]);
        for name in ["amount", "to"] {
            assert_eq!(bound.origin(name), Some(&Provenance::Inferred), "case: {case}, {name}");
        }
    }
    // That something is true says nothing about where it is from.
    let bound = bound(r#"{"amount": 1, "to": "KRW"}"#, r#"{"flag": true}"#, &["flag"]);
    assert_eq!(bound.origin("flag"), Some(&Provenance::Inferred));
}

#[test]
fn what_nobody_asked_for_stays_as_it_is() {
    let supplied =
        answered(r#"{"to": "KRW"}"#, r#"{"amount": "{{quote.price}}", "to": "USD", "more": 1}"#, &["amount"]);
    let supplied = supplied.expect("it can be used");
    assert_eq!(supplied.bound.parameters.to_string(), r#"{"to":"KRW","amount":468.285}"#);
    assert_eq!(supplied.ignored, ["to", "more"]);
}

#[test]
fn what_does_not_fit_or_is_not_there_is_refused() {
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
    .map(|answer| answered(r#"{"to": "KRW"}"#, answer, &["amount"]).expect_err("it is refused"));
    insta::assert_snapshot!(errors.join("\n"), @r#"
    the corrected parameters do not fit: `$`: the property `amount` is missing
    the corrected parameters do not fit: `$.amount`: expected a number, found the string "Tesla"
    the corrected parameters do not fit: `$.amount`: expected a number, found the string "a lot"
    the corrected parameters do not fit: `$.amount`: expected a number, found null
    the correction has no value for `amount`: `quote.none` is null
    the correction has no value for `amount`: `quote.cost`: no such field (has: data, data.price, data.name, data.twice, data.on, data.none, data.text)
    the correction has no value for `amount`: missing step: `lost` failed
    a template in the correction cannot be read
    "#);
}

#[test]
fn braces_in_results_stay_text() {
    let results = Results::new(r#"{"a": {"evil": "{{b.secret}}"}, "b": {"secret": "hidden"}}"#);
    let answer = object(r#"{"to": "{{a.evil}}"}"#);
    let supplied = supply(&object("{}"), &answer, &["to"], &results, &results.ids(), None).expect("it can be used");
    assert_eq!(supplied.bound.parameters.to_string(), r#"{"to":"{{b.secret}}"}"#);
}

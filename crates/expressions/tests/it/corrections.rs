//! Corrections by a model.

use reknit_expressions::{Backing, BoundParameters, CorrectionError, CorrectionOutcome, Provenance, apply_correction};
use reknit_salvage::Schema;

use crate::support::{Results, object, schema};

const CONVERT: &str = r#"{"type": "object", "required": ["amount", "from_currency"], "additionalProperties": false, "properties": {
    "amount": {"type": "number", "exclusiveMinimum": 0}, "from_currency": {"type": "string", "enum": ["USD", "KRW"]},
    "note": {"type": "string"}, "limits": {"type": "object", "properties": {"low": {"type": "number"}, "high": {"type": "number"}}}}}"#;

const CURRENT: &str = r#"{"amount": 0, "from_currency": "USD", "limits": {"low": 1, "high": 2}}"#;

fn results() -> Results {
    Results::new(r#"{"step-1": {"price": 468.285, "none": null}}"#)
}

fn apply(correction: &str, schema: Option<&Schema>) -> Result<CorrectionOutcome, CorrectionError> {
    let results = results();
    apply_correction(&object(CURRENT), &object(correction), &results, &results.ids(), schema, "context")
}

fn changed(correction: &str) -> BoundParameters {
    match apply(correction, Some(&schema(CONVERT))) {
        Ok(CorrectionOutcome::Changed(bound)) => bound,
        other => panic!("{correction} should change something: {other:?}"),
    }
}

#[test]
fn parameters_that_the_correction_omits_are_unchanged() {
    let bound = changed(r#"{"amount": 5}"#);
    assert_eq!(bound.parameters.to_string(), r#"{"amount":5,"from_currency":"USD","limits":{"low":1,"high":2}}"#);
    assert_eq!(
        bound.provenance,
        [("amount".to_owned(), Provenance::Corrected { rung: "context".to_owned(), backing: Backing::Inferred })]
    );
    let bound = changed(r#"{"amount": 5, "limits": {"high": 9}}"#);
    assert_eq!(bound.parameters.get("limits").map(ToString::to_string), Some(r#"{"low":1,"high":9}"#.to_owned()));
}

#[test]
fn an_expression_in_a_correction_is_evaluated() {
    for correction in [
        r#"{"amount": "{{100 * step-1.price}}"}"#,
        r#"{"amount": "100 * step-1.price"}"#,
        r#"{"amount": "100 * step-1.response.price"}"#,
        r#"{"amount": "100 * {{step-1.price}}"}"#,
        r#"{"amount": "100 * 468.285"}"#,
        r#"{"Amount": "step-1.price * 100"}"#,
        r#"{"amount": "100 × step-1.price"}"#,
        r#"{"amount": "100·468.285"}"#,
        r#"{"amount": "{{100 × step-1.price}}"}"#,
        r#"{"amount": "200 × step-1.price ÷ 2"}"#,
    ] {
        let bound = changed(correction);
        assert_eq!(bound.parameters.get("amount").map(ToString::to_string), Some("46828.5".to_owned()), "{correction}");
        assert!(matches!(bound.provenance_of("amount"), Some(Provenance::Expression { .. })), "{correction}");
    }
    let bound = changed(r#"{"amount": "step-1.response.price"}"#);
    assert_eq!(bound.parameters.get("amount").map(ToString::to_string), Some("468.285".to_owned()));
    let bound = changed(r#"{"amount": 1, "limits": {"low": "2 * step-1.price"}}"#);
    assert_eq!(bound.parameters.get("limits").map(ToString::to_string), Some(r#"{"low":936.57,"high":2}"#.to_owned()));
}

#[test]
fn a_string_that_the_schema_allows_is_not_evaluated() {
    let bound = changed(r#"{"amount": 1, "note": "100 * step-1.price"}"#);
    assert_eq!(bound.parameters.get("note").and_then(|note| note.as_str()), Some("100 * step-1.price"));
    assert!(matches!(bound.provenance_of("note"), Some(Provenance::Corrected { .. })));
    let bound = changed(r#"{"amount": "46828.5", "from_currency": "krw"}"#);
    assert_eq!(bound.parameters.get("amount").map(ToString::to_string), Some("46828.5".to_owned()));
    assert!(matches!(bound.provenance_of("amount"), Some(Provenance::Corrected { .. })));
    let kinds: Vec<&str> = bound.changes.iter().map(|change| change.kind.as_str()).collect();
    assert_eq!(kinds, ["number_in_string", "enum_spelling"]);
}

#[test]
fn a_correction_without_effect_is_unchanged() {
    for correction in
        ["{}", r#"{"amount": 0}"#, r#"{"amount": 0.0, "limits": {"low": 1}}"#, r#"{"fromCurrency": "USD"}"#]
    {
        assert_eq!(apply(correction, Some(&schema(CONVERT))), Ok(CorrectionOutcome::Unchanged), "case: {correction}");
    }
    assert_eq!(apply(r#"{"amount": 0}"#, None), Ok(CorrectionOutcome::Unchanged));
}

#[test]
fn a_null_removes_an_optional_field() {
    let bound = changed(r#"{"amount": 1, "limits": null}"#);
    assert_eq!(bound.parameters.to_string(), r#"{"amount":1,"from_currency":"USD"}"#);
    assert_eq!(bound.changes[0].kind, "null_for_optional");
}

#[test]
fn a_correction_that_cannot_be_applied_is_rejected_with_a_reason() {
    let errors = [
        r#"{"amount": 1, "currency": "USD"}"#,
        r#"{"amount": "{{step-2.price}}"}"#,
        r#"{"amount": "{{step-1.cost}}"}"#,
        r#"{"amount": "step-1.none"}"#,
        r#"{"amount": "2 * step-1.none"}"#,
        r#"{"amount": -5}"#,
        r#"{"amount": "a lot"}"#,
    ]
    .map(|correction| {
        let error = apply(correction, Some(&schema(CONVERT))).expect_err("the value is rejected");
        let source = std::error::Error::source(&error).map(|source| format!(" ({source})")).unwrap_or_default();
        format!("{error}{source}")
    });
    insta::assert_snapshot!(errors.join("\n"), @r#"
    unknown fields: `currency`
    the correction contains an invalid template (`$.amount`, character 3: there is no step `step-2`; did you mean `step-1`?)
    cannot resolve the correction: `amount`: `step-1.cost` does not exist: available fields are `price`, `none`
    cannot resolve the correction: `amount`: `step-1.none` is null
    cannot resolve the correction: `amount`: `step-1.none` is null
    the corrected parameters do not fit the schema: `$.amount`: expected more than 0, found -5
    the corrected parameters do not fit the schema: `$.amount`: expected a number, found the string "a lot"
    "#);
}

#[test]
fn an_open_schema_accepts_unknown_fields() {
    let open = schema(r#"{"properties": {"amount": {"type": "number"}}}"#);
    let Ok(CorrectionOutcome::Changed(bound)) = apply(r#"{"currency": "EUR"}"#, Some(&open)) else {
        panic!("the field is accepted")
    };
    assert_eq!(bound.parameters.get("currency").and_then(|value| value.as_str()), Some("EUR"));
}

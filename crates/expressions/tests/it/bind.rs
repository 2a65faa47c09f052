//! Binding parameters and fitting them to a schema.

use reknit_expressions::{Exactness, InputSource, NestedPart, Provenance};
use reknit_protocol::Path;

use crate::support::{Results, bind_json, bound, misfit, reasons, schema, unbound};

const CONVERT: &str = r#"{"type": "object", "required": ["amount", "to"], "additionalProperties": false, "properties": {
    "amount": {"type": "number"}, "to": {"type": "string"}, "note": {"type": "string"}, "limit": {"type": "integer"},
    "maybe": {"type": ["string", "null"]}, "nested": {"type": "object", "properties": {"n": {"type": "number"}}}}}"#;

const CONVERT_FROM: &str = r#"{"type": "object", "required": ["from", "to", "amount"], "additionalProperties": false, "properties": {
    "from": {"type": "string"}, "to": {"type": "string"}, "amount": {"type": "number"}}}"#;

fn quote() -> Results {
    Results::new(r#"{"quote": {"price": 468.285, "text": "468.285", "none": null, "word": "abc"}}"#)
}

#[test]
fn every_parameter_has_its_provenance() {
    let plan = r#"{"amount": "{{100 * quote.price}}", "to": "KRW", "note": "at {{quote.price}}", "maybe": "{{quote.none}}",
                   "nested": {"n": "{{quote.price}}", "fixed": 1}}"#;
    let bound = bound(bind_json(plan, &quote(), Some(&schema(CONVERT))));
    assert_eq!(
        bound.parameters.to_string(),
        r#"{"amount":46828.5,"to":"KRW","note":"at 468.285","maybe":null,"nested":{"n":468.285,"fixed":1}}"#
    );
    let Some(Provenance::Expression { text, inputs, exact }) = bound.provenance_of("amount") else {
        panic!("`amount` comes from an expression")
    };
    assert_eq!((text.as_str(), *exact), ("100 * quote.price", Exactness::Exact));
    assert!(matches!(inputs[0].source, InputSource::Literal) && inputs[0].value.to_string() == "100");
    assert!(matches!(&inputs[1].source, InputSource::Reference { step, .. } if step.as_str() == "quote"));
    assert_eq!(inputs[1].value.to_string(), "468.285");
    assert_eq!(bound.provenance_of("to"), Some(&Provenance::Literal));
    assert!(matches!(bound.provenance_of("note"), Some(Provenance::Text { inputs, .. }) if inputs.len() == 1));
    let price = || Provenance::Reference { step: "quote".into(), path: Path::root().key("price") };
    let part = NestedPart { path: Path::root().key("nested").key("n"), provenance: price() };
    assert_eq!(bound.provenance_of("nested"), Some(&Provenance::Nested { parts: vec![part] }));
    assert!(bound.changes.is_empty());
}

#[test]
fn changes_by_fitting_are_recorded_under_the_final_name() {
    let plan = r#"{"Amount": "{{quote.text}}", "to": "KRW", "limit": "5"}"#;
    let bound = bound(bind_json(plan, &quote(), Some(&schema(CONVERT))));
    assert_eq!(bound.parameters.to_string(), r#"{"amount":468.285,"to":"KRW","limit":5}"#);
    assert!(matches!(bound.provenance_of("amount"), Some(Provenance::Reference { .. })));
    assert_eq!(bound.provenance_of("Amount"), None);
    let changes: Vec<String> =
        bound.changes.iter().map(|c| format!("{} {}: {} -> {}", c.path, c.kind, c.before, c.after)).collect();
    insta::assert_snapshot!(changes.join("\n"), @r#"
    $.amount key_spelling: Amount -> amount
    $.amount number_in_string: "468.285" -> 468.285
    $.limit number_in_string: "5" -> 5
    "#);
}

#[test]
fn a_null_is_kept_where_the_schema_allows_it_and_unbound_elsewhere() {
    let plan = r#"{"amount": 1, "to": "{{quote.none}}", "note": "{{quote.none}}", "maybe": "{{quote.none}}", "nested": {"n": "{{quote.none}}"}}"#;
    let unbound = unbound(bind_json(plan, &quote(), Some(&schema(CONVERT))));
    insta::assert_snapshot!(reasons(&unbound), @"
    `to`: `quote.none` is null
    `note`: `quote.none` is null
    `nested`: `quote.none` is null
    ");
    // A literal null is the same as omitting an optional parameter.
    let plan = r#"{"amount": 1, "to": "KRW", "note": null}"#;
    assert_eq!(
        bound(bind_json(plan, &quote(), Some(&schema(CONVERT)))).parameters.to_string(),
        r#"{"amount":1,"to":"KRW"}"#
    );
}

#[test]
fn a_string_that_does_not_fit_is_evaluated_as_an_expression() {
    let plan =
        r#"{"amount": "100 * {{quote.price}}", "to": "{{quote.price}} * 2", "nested": {"n": "{{quote.price}} + 1"}}"#;
    let bound = bound(bind_json(plan, &quote(), Some(&schema(CONVERT))));
    assert_eq!(bound.parameters.to_string(), r#"{"amount":46828.5,"to":"468.285 * 2","nested":{"n":469.285}}"#);
    assert!(matches!(bound.provenance_of("amount"), Some(Provenance::Expression { .. })));
    assert!(matches!(bound.provenance_of("to"), Some(Provenance::Text { .. })));
    assert_eq!(bound.changes[0].kind, "calculation");
    assert_eq!(bound.changes[0].before, r#""100 * 468.285""#);
    let plan = r#"{"amount": "100 * {{quote.word}}", "to": "KRW"}"#;
    insta::assert_snapshot!(reasons(&unbound(bind_json(plan, &quote(), Some(&schema(CONVERT))))), @r#"`amount`: cannot evaluate `100 * quote.word`: `*` expects a number, found the string "abc""#);
}

#[test]
fn a_value_of_the_wrong_type_is_a_misfit() {
    let plan = r#"{"amount": "{{quote.word}}", "to": "KRW", "unknown": 1}"#;
    let problems = misfit(bind_json(plan, &quote(), Some(&schema(CONVERT))));
    let text: Vec<String> = problems.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(text.join("\n"), @r#"
    `$.amount`: expected a number, found the string "abc"
    `$`: unknown property `unknown`
    "#);
}

#[test]
fn without_a_schema_values_are_unchanged() {
    let bound = bound(bind_json(r#"{"amount": "{{quote.text}}", "x": "{{quote.none}}"}"#, &quote(), None));
    assert_eq!(bound.parameters.to_string(), r#"{"amount":"468.285","x":null}"#);
}

#[test]
fn coerced_strings_are_recorded_at_their_parameter() {
    let bound = bound(bind_json(r#"{"amount": "{{2 * quote.text}}", "to": "KRW"}"#, &quote(), Some(&schema(CONVERT))));
    assert_eq!(bound.parameters.get("amount").map(ToString::to_string), Some("936.57".to_owned()));
    assert_eq!(
        (bound.changes[0].path.to_string().as_str(), bound.changes[0].kind.as_str()),
        ("$.amount", "number_in_string")
    );
}

#[test]
fn arithmetic_outside_of_strings_is_evaluated() {
    let text = r#"{"amount": 100 * "{{quote.response.price}}", "to": "KRW", "limit": 2 * 3}"#;
    let reading = reknit_salvage::read_as(text, &schema(CONVERT)).expect("it parses");
    let bound = bound(bind_json(&reading.value.to_string(), &quote(), Some(&schema(CONVERT))));
    assert_eq!(bound.parameters.to_string(), r#"{"amount":46828.5,"to":"KRW","limit":6}"#);
    assert!(matches!(bound.provenance_of("limit"), Some(Provenance::Expression { .. })));
}

#[test]
fn a_multiplication_of_a_reference_outside_of_strings_is_evaluated() {
    let text = "```json\n{\n  \"from\": \"USD\",\n  \"to\": \"KRW\",\n  \"amount\": 100 * \"{{step-1.response.price}}\"\n}\n```";
    let reading = reknit_salvage::read(text, &reknit_salvage::ReadOptions::default()).expect("it parses");
    let results = Results::new(r#"{"step-1": {"symbol": "TSLA", "price": 468.285}}"#);
    let bound = bound(bind_json(&reading.value.to_string(), &results, Some(&schema(CONVERT_FROM))));
    assert_eq!(bound.parameters.to_string(), r#"{"from":"USD","to":"KRW","amount":46828.5}"#);
    assert!(matches!(bound.provenance_of("amount"), Some(Provenance::Expression { exact: Exactness::Exact, .. })));
}

#[test]
fn a_string_that_only_violates_an_enum_is_not_evaluated() {
    let schema = schema(r#"{"properties": {"range": {"type": "string", "enum": ["a", "b"]}}}"#);
    let results = Results::new(r#"{"x": {"low": 1, "high": 2}}"#);
    let problems = misfit(bind_json(r#"{"range": "{{x.low}} - {{x.high}}"}"#, &results, Some(&schema)));
    assert!(problems[0].to_string().contains(r#""1 - 2""#), "{}", problems[0]);
}

#[test]
fn a_comma_separated_text_is_not_wrapped_as_one_item_of_a_list() {
    let schema = schema(r#"{"properties": {"tags": {"type": "array", "items": {"type": "string"}}}}"#);
    let results = Results::new(r#"{"a": {"tags": "red, green", "tag": "red"}}"#);
    let misfit = bind_json(r#"{"tags": "{{a.tags}}"}"#, &results, Some(&schema));
    let reknit_expressions::Binding::Misfit { problems, .. } = misfit else { panic!("{misfit:?}") };
    insta::assert_snapshot!(problems[0], @r#"`$.tags`: expected an array, found the string "red, green": write ["red","green"], or ["red, green"] for one item"#);
    let one = bound(bind_json(r#"{"tags": "{{a.tag}}"}"#, &results, Some(&schema)));
    assert_eq!(one.parameters.to_string(), r#"{"tags":["red"]}"#);
}

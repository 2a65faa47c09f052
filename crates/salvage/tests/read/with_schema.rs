//! Reading with a schema, which selects between readings and interprets bare words and arithmetic.

use reknit_protocol::Value;
use reknit_salvage::{Completeness, FixKind, ReadTextError, Reading, Schema, read_as};

fn schema(text: &str) -> Schema {
    Schema::compile(&Value::parse(text).expect("JSON")).expect("a schema")
}

fn order() -> Schema {
    schema(
        r#"{"type": "object", "required": ["amount"], "additionalProperties": false, "properties": {
            "amount": {"type": "number"}, "currency": {"enum": ["EUR", "USD"]}, "note": {"type": "string"}, "urgent": {"type": "boolean"}}}"#,
    )
}

fn reading(text: &str, schema: &Schema) -> Reading {
    read_as(text, schema).unwrap_or_else(|error| panic!("{text:?} cannot be read: {error}"))
}

fn kinds(reading: &Reading) -> Vec<FixKind> {
    reading.fixes.iter().map(|fix| fix.kind).collect()
}

#[test]
fn text_that_fits_comes_back_unchanged() {
    let reading = reading(r#"{"note": "**keep**", "amount": 0.10}"#, &order());
    assert_eq!(reading.value.to_string(), r#"{"note":"**keep**","amount":0.10}"#);
    assert_eq!(reading.fixes, []);
}

#[test]
fn repairs_of_parsing_and_fitting_are_recorded_together() {
    let reading = reading("```json\n{Amount: '1,250.50', currency: eur, urgent: Yes,}\n```", &order());
    assert_eq!(reading.value.to_string(), r#"{"amount":1250.50,"currency":"EUR","urgent":true}"#);
    let kinds = kinds(&reading);
    for kind in [
        FixKind::Fence,
        FixKind::BareKey,
        FixKind::ExtraComma,
        FixKind::KeySpelling,
        FixKind::NumberInString,
        FixKind::EnumSpelling,
        FixKind::BooleanFromWord,
    ] {
        assert!(kinds.contains(&kind), "{kind:?} is missing in {kinds:?}");
    }
}

#[test]
fn the_value_that_fits_is_taken_from_several() {
    let text = "Given {\"city\": \"Paris\"} the order is: {\"amount\": 5} (see [1])";
    assert_eq!(reading(text, &order()).value.to_string(), r#"{"amount":5}"#);
    let text = "```json\n{\"type\": \"object\"}\n```\nAnswer:\n```json\n{\"amount\": 7}\n```";
    assert_eq!(reading(text, &order()).value.to_string(), r#"{"amount":7}"#);
}

#[test]
fn two_values_that_fit_are_ambiguous() {
    let error = read_as("either {\"amount\": 5} or {\"amount\": 6}", &order());
    assert!(matches!(error, Err(ReadTextError::Ambiguous { .. })), "{error:?}");
}

#[test]
fn a_bare_word_is_a_string_only_where_the_schema_accepts_one() {
    assert_eq!(
        reading("{amount: 1, note: thank you}", &order()).value.to_string(),
        r#"{"amount":1,"note":"thank you"}"#
    );
    let Err(ReadTextError::DoesNotFit(error)) = read_as("{amount: plenty}", &order()) else {
        panic!("a word is no number")
    };
    assert_eq!(error.problems.first().expect("a problem").path.to_string(), "$.amount");
}

#[test]
fn yes_is_a_boolean_or_a_string_depending_on_the_schema() {
    assert_eq!(reading("yes", &schema(r#"{"type": "boolean"}"#)).value.to_string(), "true");
    assert_eq!(reading("yes", &schema(r#"{"type": "string"}"#)).value.to_string(), "\"yes\"");
}

#[test]
fn unquoted_arithmetic_becomes_an_expression_where_the_schema_wants_a_number() {
    for (text, expected) in [
        (r#"{"amount": 100 * 468.285}"#, r#"{"amount":"{{100 * 468.285}}"}"#),
        (r#"{"amount": 100 * "{{step-1.response.price}}"}"#, r#"{"amount":"{{100 * step-1.response.price}}"}"#),
        (r#"{"amount": 10 - 2 + 1}"#, r#"{"amount":"{{10 - 2 + 1}}"}"#),
    ] {
        let reading = reading(text, &order());
        assert_eq!(reading.value.to_string(), expected);
        assert!(kinds(&reading).contains(&FixKind::Arithmetic), "{:?}", reading.fixes);
        let paths: Vec<String> = reading.expressions.iter().map(ToString::to_string).collect();
        assert_eq!(paths, ["$.amount"], "text: {text}");
    }
    let text = reading(r#"{"amount": 1, "note": 5 * 3}"#, &order());
    assert_eq!(text.value.to_string(), r#"{"amount":1,"note":"5 * 3"}"#);
    assert_eq!(text.expressions, []);
}

#[test]
fn quoted_arithmetic_dates_and_phone_numbers_do_not_become_expressions() {
    for text in
        [r#"{"amount": "100 * 3"}"#, r#"{"amount": 2024-10-18}"#, r#"{"amount": 555-1234}"#, r#"{"amount": 10/2}"#]
    {
        assert!(matches!(read_as(text, &order()), Err(ReadTextError::DoesNotFit(_))), "text: {text}");
    }
}

#[test]
fn a_truncated_text_that_fits_is_flagged() {
    let reading = reading("{\"amount\": 5, \"note\": \"half", &order());
    assert_eq!(reading.value.to_string(), r#"{"amount":5,"note":"half"}"#);
    assert_eq!(reading.completeness, Completeness::Truncated);
}

#[test]
fn prose_that_does_not_fit_reports_the_expected_type() {
    let Err(ReadTextError::DoesNotFit(error)) = read_as("I cannot do that.", &order()) else {
        panic!("prose fits nothing")
    };
    assert_eq!(error.problems.len(), 1);
    assert!(error.problems[0].message.contains("object"), "{}", error.problems[0].message);
    let several = read_as("I am sorry, I cannot.\nPlease ask again.", &order());
    assert!(matches!(several, Err(ReadTextError::Unreadable { .. })), "{several:?}");
}

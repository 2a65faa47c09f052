//! Mistakes that models make in the arguments of a call as a whole.

use reknit_salvage::{FixKind, ReadOptions, read};

use crate::support::{becomes, refused, stays};

const ORDER: &str = r#"{"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}"#;
const OPTIONAL: &str = r#"{"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}"#;

#[test]
fn one_layer_around_the_arguments_is_removed() {
    use FixKind::{DoubleEncoding, Envelope, NumberInString};
    let arguments = r#"{"city": "Bern", "days": 2}"#;
    becomes(
        ORDER,
        &[
            (r#"{"parameters": {"city": "Bern", "days": 2}}"#, arguments, &[Envelope]),
            (r#"{"arguments": {"city": "Bern", "days": "2"}}"#, arguments, &[Envelope, NumberInString]),
            (r#"{"arguments": "{\"city\": \"Bern\", \"days\": 2}"}"#, arguments, &[Envelope, DoubleEncoding]),
            (r#"{"input": {"city": "Bern", "days": 2}}"#, arguments, &[Envelope]),
            (r#"{"name": "forecast", "arguments": {"city": "Bern", "days": 2}}"#, arguments, &[Envelope]),
        ],
    );
    becomes(
        r#"{"properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name", "age"]}"#,
        &[(r#"{"name": "f", "arguments": {"name": "Ann", "age": 5}}"#, r#"{"name": "Ann", "age": 5}"#, &[Envelope])],
    );
    becomes(OPTIONAL, &[(r#"{"parameters": {"city": "Bern", "days": 2}}"#, arguments, &[Envelope])]);
}

#[test]
fn what_may_be_meant_as_it_is_keeps_its_layers() {
    stays(r#"{"properties": {"input": {"type": "object"}}}"#, &[r#"{"input": {"city": "Bern"}}"#]);
    stays(r#"{"properties": {"input": {"type": "object"}, "city": {}}}"#, &[r#"{"input": {"city": "Bern"}}"#]);
    stays(r#"{"type": "object"}"#, &[r#"{"arguments": {"city": "Bern"}}"#]);
    stays(OPTIONAL, &[r#"{"input": {"colour": "red"}}"#, r#"{"input": {"city": "Bern"}, "city": "Rome"}"#]);
    let named = r#"{"properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["age"]}"#;
    refused(named, &[r#"{"name": "Ann", "input": {"age": 5}}"#]);
    refused(ORDER, &[r#"{"colour": "red", "arguments": {"city": "Bern"}}"#]);
    let one_key = r#"{"properties": {"city": {"type": "string"}}, "maxProperties": 1}"#;
    refused(one_key, &[r#"{"name": "order", "arguments": {"arguments": {"city": "Bern"}}}"#]);
    refused(ORDER, &[r#"{"arguments": {"arguments": {"city": "Bern"}}}"#, r#"{"arguments": {"town": "Bern"}}"#]);
}

#[test]
fn a_text_for_no_value_is_dropped_where_no_text_is_possible() {
    for text in ["None", "null", "N/A", "n/a", ""] {
        let value = format!(r#"{{"city": "Bern", "days": "{text}"}}"#);
        becomes(ORDER, &[(&value, r#"{"city": "Bern"}"#, &[FixKind::NullForOptional])]);
        let nullable = r#"{"properties": {"days": {"type": ["integer", "null"]}}, "required": ["days"]}"#;
        let value = format!(r#"{{"days": "{text}"}}"#);
        becomes(nullable, &[(&value, r#"{"days": null}"#, &[FixKind::DoubleEncoding])]);
    }
    stays(ORDER, &[r#"{"city": "None"}"#, r#"{"city": ""}"#, r#"{"city": "N/A", "days": 1}"#]);
    refused(r#"{"properties": {"days": {"type": "integer"}}, "required": ["days"]}"#, &[r#"{"days": "N/A"}"#]);
}

#[test]
fn an_object_with_numbered_keys_becomes_an_array() {
    use FixKind::{NumberInString, NumberedKeys};
    let numbers = r#"{"type": "array", "items": {"type": "integer"}}"#;
    becomes(
        numbers,
        &[
            (r#"{"0": 5, "1": 6}"#, "[5, 6]", &[NumberedKeys]),
            (r#"{"0": "5"}"#, "[5]", &[NumberedKeys, NumberInString]),
        ],
    );
    refused(numbers, &[r#"{"1": 5, "2": 6}"#, r#"{"0": 5, "2": 6}"#, "{}"]);
    stays(r#"{"type": ["array", "object"]}"#, &[r#"{"0": 5}"#]);
}

#[test]
fn underscores_between_groups_of_digits_are_dropped() {
    let number = r#"{"type": "integer"}"#;
    becomes(number, &[(r#""1_000""#, "1000", &[FixKind::NumberInString])]);
    refused(number, &[r#""1_00""#, r#""2024_01_02""#]);
    let value = |text: &str| read(text, &ReadOptions::default()).expect("readable").value.to_string();
    assert_eq!(value(r#"{"n": 82_461_110, "m": -1_000.5}"#), r#"{"n":82461110,"m":-1000.5}"#);
    assert_eq!(value(r#"{"day": 2024_01_02}"#), r#"{"day":"2024_01_02"}"#);
}

#[test]
fn parentheses_are_a_tuple_or_nothing() {
    let value = |text: &str| read(text, &ReadOptions::default()).expect("readable").value.to_string();
    for (text, expected) in [
        ("(1, 2)", "[1,2]"),
        ("((1, 2), (3, 4))", "[[1,2],[3,4]]"),
        ("(5)", "5"),
        ("(5,)", "[5]"),
        (r#"("x")"#, r#""x""#),
        ("Here:\n```json\n(1, 2)\n```", "[1,2]"),
        (r#"{"a": (5), "b": (1, 2)}"#, r#"{"a":5,"b":[1,2]}"#),
    ] {
        assert_eq!(value(text), expected, "text: {text}");
    }
}

#[test]
fn a_word_for_nothing_is_kept_where_a_text_is_possible() {
    let note = r#"{"properties": {"note": {"type": "string", "minLength": 3}}}"#;
    refused(note, &[r#"{"note": ""}"#, r#"{"note": "na"}"#]);
}

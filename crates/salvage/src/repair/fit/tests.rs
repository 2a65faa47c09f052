//! Fitting of unquoted arithmetic, which only `read_as` uses.

use reknit_protocol::{Path, Value};

use super::fit_with;
use crate::{FixKind, Schema};

fn json(text: &str) -> Value {
    Value::parse(text).expect("JSON")
}

fn fit_arithmetic(
    under: &str,
    value: &str,
    arithmetic: &[Path],
) -> Result<(String, Vec<String>, Vec<FixKind>), String> {
    let schema = Schema::compile(&json(under)).expect("a schema");
    let (value, fixes, expressions) = fit_with(json(value), &schema, arithmetic).map_err(|error| error.to_string())?;
    let expressions = expressions.iter().map(ToString::to_string).collect();
    Ok((value.to_string(), expressions, fixes.into_vec().iter().map(|fix| fix.kind).collect()))
}

fn at(key: &str) -> Path {
    Path::root().key(key)
}

#[test]
fn arithmetic_becomes_an_expression_where_the_schema_wants_a_number() {
    for wanted in [
        r#"{"type": "number"}"#,
        r#"{"type": "integer"}"#,
        r#"{"type": ["number", "null"]}"#,
        r#"{"type": "number", "minimum": 1000000}"#,
        r#"{"enum": [1, 2, 3]}"#,
        r#"{"anyOf": [{"type": "number"}, {"type": "null"}]}"#,
        r#"{"oneOf": [{"type": "integer", "minimum": 5}, {"type": "boolean"}]}"#,
    ] {
        let under = format!(r#"{{"type": "object", "properties": {{"amount": {wanted}}}, "required": ["amount"]}}"#);
        let result = fit_arithmetic(&under, r#"{"amount": "100 * 468.285"}"#, &[at("amount")]);
        let expected =
            (r#"{"amount":"{{100 * 468.285}}"}"#.to_owned(), vec!["$.amount".to_owned()], vec![FixKind::Arithmetic]);
        assert_eq!(result, Ok(expected), "case: {wanted}");
    }
}

#[test]
fn an_expression_inside_a_union_is_accepted() {
    let under = r#"{"anyOf": [
        {"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["unit"]},
        {"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["currency"]}
    ]}"#;
    let result = fit_arithmetic(under, r#"{"amount": "2 * 3", "currency": "EUR"}"#, &[at("amount")]);
    let (value, expressions, _) = result.expect("fits the second");
    assert_eq!(value, r#"{"amount":"{{2 * 3}}","currency":"EUR"}"#);
    assert_eq!(expressions, ["$.amount"]);
}

#[test]
fn an_expression_has_operands_without_quotes_and_braces() {
    let under = r#"{"type": "object", "properties": {"amount": {"type": "number"}}}"#;
    let value = r#"{"amount": "100 * \"{{step-1.response.price}}\""}"#;
    let (value, ..) = fit_arithmetic(under, value, &[at("amount")]).expect("fits");
    assert_eq!(value, r#"{"amount":"{{100 * step-1.response.price}}"}"#);
}

#[test]
fn an_expression_is_listed_under_its_final_path() {
    let under = r#"{"type": "object", "properties": {"total_amount": {"type": "number"}, "rows": {"type": "array", "items": {"type": "number"}}}}"#;
    let value = r#"{"totalAmount": "2 * 3", "rows": ["1", "4 * 5"]}"#;
    let arithmetic = [at("totalAmount"), at("rows").index(1)];
    let result = fit_arithmetic(under, value, &arithmetic);
    let expected = (
        r#"{"total_amount":"{{2 * 3}}","rows":[1,"{{4 * 5}}"]}"#.to_owned(),
        vec!["$.total_amount".to_owned(), "$.rows[1]".to_owned()],
        vec![FixKind::KeySpelling, FixKind::Arithmetic, FixKind::NumberInString, FixKind::Arithmetic],
    );
    assert_eq!(result, Ok(expected));
}

#[test]
fn arithmetic_stays_text_where_the_schema_accepts_text() {
    for wanted in [r#"{"type": "string"}"#, r#"{"type": ["number", "string"]}"#, "{}"] {
        let under = format!(r#"{{"type": "object", "properties": {{"note": {wanted}}}}}"#);
        let (value, expressions, fixes) = fit_arithmetic(&under, r#"{"note": "2 * 3"}"#, &[at("note")]).expect("fits");
        assert_eq!((value.as_str(), expressions.len(), fixes.len()), (r#"{"note":"2 * 3"}"#, 0, 0), "case: {wanted}");
    }
}

#[test]
fn a_string_is_arithmetic_only_at_a_listed_path() {
    let under = r#"{"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}"#;
    let message = fit_arithmetic(under, r#"{"a": "2 * 3", "b": "2 * 3"}"#, &[at("a")]).expect_err("`b` is a string");
    assert_eq!(message, r#"`$.b`: expected a number, found the string "2 * 3""#);
    let decoded = fit_arithmetic(under, r#""{\"a\": \"2 * 3\"}""#, &[at("a")]).expect_err("`a` is inside a text");
    assert_eq!(decoded, r#"`$.a`: expected a number, found the string "2 * 3""#);
}

#[test]
fn an_expression_does_not_hide_other_problems() {
    let under = r#"{"type": "object", "properties": {"a": {"type": "number"}}, "required": ["b"]}"#;
    let message = fit_arithmetic(under, r#"{"a": "2 * 3"}"#, &[at("a")]).expect_err("`b` is missing");
    assert_eq!(message, "`$`: the property `b` is missing");
}

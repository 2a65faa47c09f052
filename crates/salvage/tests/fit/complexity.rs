//! Schemas that ask for too much work are refused, and all others are handled in bounded time.

use reknit_protocol::Value;
use reknit_salvage::{FitProblemKind, Schema, SchemaError, fit};

use crate::support::{json, schema};

/// A schema with `levels` definitions, each made by `level` from a reference to the next one.
fn chain(levels: usize, level: impl Fn(&str) -> String) -> Value {
    let definition = |number: usize| {
        let next = format!(r##"{{"$ref": "#/$defs/L{}"}}"##, number + 1);
        format!(r#""L{number}": {}"#, level(&next))
    };
    let definitions: Vec<String> = (0..levels).map(definition).collect();
    json(&format!(
        r##"{{"$ref": "#/$defs/L0", "$defs": {{{}, "L{levels}": {{"type": "integer"}}}}}}"##,
        definitions.join(", ")
    ))
}

/// Schemas of a few hundred bytes in which the work doubles with each level.
fn bombs(levels: usize) -> Vec<(&'static str, Value)> {
    let each = |keyword: &'static str| (keyword, chain(levels, |next| format!(r#"{{"{keyword}": [{next}, {next}]}}"#)));
    vec![
        each("oneOf"),
        each("anyOf"),
        each("allOf"),
        ("not", chain(levels, |next| format!(r#"{{"not": {next}, "allOf": [{next}]}}"#))),
        ("if", chain(levels, |next| format!(r#"{{"if": {next}, "then": {next}, "else": {next}}}"#))),
        (
            "patternProperties",
            chain(levels, |next| format!(r#"{{"patternProperties": {{"a": {next}, "b": {next}}}}}"#)),
        ),
        ("items", chain(levels, |next| format!(r#"{{"items": {next}, "contains": {next}}}"#))),
    ]
}

#[test]
fn a_schema_whose_work_doubles_with_each_level_is_refused() {
    for levels in [20, 60, 200] {
        for (keyword, bomb) in bombs(levels) {
            match Schema::compile(&bomb) {
                Err(error @ SchemaError::TooComplex { .. }) => {
                    assert!(error.to_string().starts_with("the schema is too complex"), "{error}");
                }
                other => panic!("{keyword} on {levels} levels: {other:?}"),
            }
        }
    }
}

#[test]
fn a_schema_below_the_limit_is_used_without_explosion() {
    for levels in [4, 7] {
        for (keyword, bomb) in bombs(levels) {
            let schema = Schema::compile(&bomb).unwrap_or_else(|error| panic!("{keyword} on {levels} levels: {error}"));
            for value in ["5", r#""5""#, r#"{"a": {"a": "x"}, "b": ["5"]}"#, r#"[[[["5"]]]]"#] {
                let value = json(value);
                let problems = schema.problems(&value);
                assert_eq!(problems.is_empty(), schema.fits(&value), "{keyword}");
                assert!(problems.len() <= 1000, "{keyword}: {} problems", problems.len());
                drop(fit(value, &schema));
            }
        }
    }
}

#[test]
fn errors_in_a_recursive_schema_with_many_equal_alternatives_do_not_explode() {
    let alternative = r##"{"type": "object", "properties": {"a": {"$ref": "#"}, "x": {"type": "integer"}}}"##;
    let schema = schema(&format!(r#"{{"anyOf": [{}]}}"#, vec![alternative; 40].join(", ")));
    let value = format!("{}{{\"x\": \"?\"}}{}", r#"{"a": "#.repeat(5), "}".repeat(5));
    assert!(!schema.problems(&json(&value)).is_empty());
}

#[test]
fn an_ordinary_schema_with_shared_definitions_is_not_too_complex() {
    let money = r##"{"$ref": "#/$defs/money"}"##;
    let properties: Vec<String> = (0..300).map(|number| format!(r#""p{number}": {money}"#)).collect();
    let schema = schema(&format!(
        r#"{{"properties": {{{}}}, "$defs": {{"money": {{"anyOf": [{{"type": "number"}}, {{"type": "string"}}, {{"type": "null"}}]}}}}}}"#,
        properties.join(", ")
    ));
    assert!(schema.fits(&json(r#"{"p1": 5, "p2": null}"#)));
}

#[test]
fn definitions_for_different_properties_are_not_too_complex() {
    let twice = chain(60, |next| format!(r#"{{"properties": {{"a": {next}, "b": {next}}}}}"#));
    let schema = Schema::compile(&twice).expect("one definition applies to each property");
    assert!(schema.fits(&json(r#"{"a": {"b": {"a": {}}}}"#)));
}

#[test]
fn patterns_that_expand_to_huge_programs_are_refused() {
    for pattern in ["(((a{100}){100}){100}){100}", r"(\\w{500}){500}"] {
        let patterns = vec![format!(r#"{{"pattern": "{pattern}"}}"#); 50].join(", ");
        let error = Schema::compile(&json(&format!(r#"{{"anyOf": [{patterns}]}}"#))).expect_err("too large");
        assert!(error.to_string().contains("pattern"), "{error}");
    }
}

#[test]
fn all_patterns_of_a_schema_share_one_limit() {
    let large = schema_of_patterns(1, "^x{20000}$");
    assert!(Schema::compile(&large).expect("one is allowed").fits(&Value::from("x".repeat(20_000))));
    let error = Schema::compile(&schema_of_patterns(200, "^x{20000}$")).expect_err("too large together");
    assert!(error.to_string().contains("pattern"), "{error}");

    // It tries some ten thousand ways before it matches. A pattern that takes too many steps does not match.
    let slow = r"^((a*)(a*)(a*)\\2c|a*)$";
    for (count, fits) in [(1, true), (100, false)] {
        let schema = Schema::compile(&schema_of_patterns(count, slow)).expect("a short pattern");
        assert_eq!(schema.fits(&Value::from("a".repeat(60))), fits, "{count}");
    }
}

fn schema_of_patterns(count: usize, pattern: &str) -> Value {
    let patterns = vec![format!(r#"{{"pattern": "{pattern}"}}"#); count].join(", ");
    json(&format!(r#"{{"allOf": [{patterns}]}}"#))
}

#[test]
fn alternatives_with_many_allowed_values_are_refused() {
    let allowed: Vec<String> = (0..5_000).map(|number| number.to_string()).collect();
    let alternatives = |count: usize| {
        let lists = vec![r##"{"$ref": "#/$defs/list"}"##; count].join(", ");
        json(&format!(r#"{{"anyOf": [{lists}], "$defs": {{"list": {{"enum": [{}]}}}}}}"#, allowed.join(", ")))
    };
    assert!(Schema::compile(&alternatives(2)).expect("two lists are not too many").fits(&json("7")));
    assert!(matches!(Schema::compile(&alternatives(100)), Err(SchemaError::TooComplex { .. })));
}

#[test]
fn a_value_that_fits_two_alternatives_of_one_of_is_said_to_fit_several() {
    for (under, value) in [
        (r#"{"oneOf": [{"type": "integer"}, {"type": "number"}]}"#.to_owned(), json("5")),
        (
            r##"{"oneOf": [{"type": "object", "properties": {"a": {"$ref": "#"}}}, {"type": "object"}, {"type": "null"}]}"##.to_owned(),
            json(&format!("{}null{}", r#"{"a": "#.repeat(9), "}".repeat(9))),
        ),
        (chain(2, |next| format!(r#"{{"oneOf": [{next}, {next}]}}"#)).to_string(), json("5")),
    ] {
        let problems = schema(&under).problems(&value);
        let kinds: Vec<_> = problems.iter().map(|problem| &problem.kind).collect();
        assert!(kinds.contains(&&FitProblemKind::SeveralAlternativesFit), "{under}: {kinds:?}");
        let error = fit(value, &schema(&under)).expect_err("fits two");
        assert!(error.to_string().contains("fits several of the alternatives"), "{error}");
    }
}

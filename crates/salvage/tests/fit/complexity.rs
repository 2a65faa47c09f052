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
    let large = schema_of_patterns(1, "^x{2000}$");
    assert!(Schema::compile(&large).expect("one is allowed").fits(&Value::from("x".repeat(2000))));
    let error = Schema::compile(&schema_of_patterns(2, "^x{2000}$")).expect_err("too large together");
    assert_eq!(error, SchemaError::PatternsTooLarge);
    let properties: Vec<String> =
        (0..20).map(|number| format!(r#""p{number}": {{"pattern": "^x{{2000}}$"}}"#)).collect();
    let apart = json(&format!(r#"{{"properties": {{{}}}}}"#, properties.join(", ")));
    assert!(Schema::compile(&apart).is_ok(), "only one applies to each property");

    // It tries some thousand ways before it matches. A pattern that takes too many steps does not match.
    let slow = r"^((a*)(a*)(a*)\\2c|a*)$";
    for (count, fits) in [(1, true), (9, false)] {
        let schema = Schema::compile(&schema_of_patterns(count, slow)).expect("a short pattern");
        assert_eq!(schema.fits(&Value::from("a".repeat(20))), fits, "{count}");
    }
}

#[test]
fn many_patterns_that_look_ahead_are_refused_for_one_place_and_allowed_for_many() {
    let patterns = |count: usize| (0..count).map(|number| format!("^(a|aa)+(?=b)c{number}$"));
    let here: Vec<String> = patterns(200).map(|pattern| format!(r#"{{"pattern": "{pattern}"}}"#)).collect();
    let names: Vec<String> = patterns(200).map(|pattern| format!(r#""{pattern}": {{"type": "integer"}}"#)).collect();
    for schema in [
        format!(r#"{{"items": {{"anyOf": [{}]}}}}"#, here.join(", ")),
        format!(r#"{{"patternProperties": {{{}}}}}"#, names.join(", ")),
    ] {
        assert!(matches!(Schema::compile(&json(&schema)), Err(SchemaError::TooComplex { .. })), "{schema}");
    }
    let properties: Vec<String> =
        here.iter().enumerate().map(|(number, pattern)| format!(r#""p{number}": {pattern}"#)).collect();
    assert!(Schema::compile(&json(&format!(r#"{{"properties": {{{}}}}}"#, properties.join(", ")))).is_ok());
}

#[test]
fn a_match_that_takes_too_many_steps_is_a_problem_of_its_text() {
    let endless = Value::from("a".repeat(60));
    for (under, value, path) in [
        (r#"{"type": "string", "pattern": "^(a|aa)+(?=b)b$"}"#, endless.clone(), "$"),
        (
            r#"{"items": {"type": "string", "pattern": "^(a|aa)+(?=b)b$"}}"#,
            Value::from(vec![Value::from("ab"), endless.clone()]),
            "$[1]",
        ),
        (r#"{"patternProperties": {"^(a|aa)+(?=b)b$": false}}"#, json(&format!("{{{endless}: 1}}")), "$"),
    ] {
        let schema = schema(under);
        assert!(!schema.fits(&value), "{under}");
        let problems = schema.problems(&value);
        assert!(!problems.is_empty(), "{under}");
        assert!(problems.iter().any(|problem| problem.path.to_string() == path), "{problems:?}");
        fit(value, &schema).expect_err("does not match");
    }
}

#[test]
fn schemas_whose_branches_are_validated_again_on_each_level_are_refused() {
    let inline = (0..20).fold(r#"{"properties": {"a": true}}"#.to_owned(), |inner, _| {
        format!(r#"{{"anyOf": [{inner}, {{"properties": {{"b": true}}}}], "unevaluatedProperties": false}}"#)
    });
    let referring = chain(20, |next| format!(r#"{{"anyOf": [{next}], "unevaluatedItems": false}}"#));
    for bomb in [json(&inline), referring] {
        assert!(matches!(Schema::compile(&bomb), Err(SchemaError::TooComplex { .. })), "{bomb}");
    }
}

#[test]
fn errors_under_dependent_schemas_that_refer_back_do_not_explode() {
    let dependent: Vec<String> = (0..3)
        .map(|number| format!(r##""k{number}": {{"properties": {{"a": {{"$ref": "#"}}}}, "required": ["b"]}}"##))
        .collect();
    let schema = schema(&format!(r#"{{"dependentSchemas": {{{}}}}}"#, dependent.join(", ")));
    let value = json(&format!("{}1{}", r#"{"k0": 1, "k1": 1, "k2": 1, "a": "#.repeat(9), "}".repeat(9)));
    assert_eq!(schema.problems(&value).len(), 1);
    assert!(fit(value, &schema).is_err());
}

#[test]
fn of_very_many_wrong_names_only_the_first_is_reported() {
    let patterns: Vec<String> = (0..200).map(|number| format!(r#"{{"pattern": "x{number}"}}"#)).collect();
    let schema = schema(&format!(r#"{{"propertyNames": {{"anyOf": [{}]}}}}"#, patterns.join(", ")));
    let names = |count: usize| {
        let entries: Vec<String> = (0..count).map(|number| format!(r#""n{number}": 1"#)).collect();
        json(&format!("{{{}}}", entries.join(", ")))
    };
    assert_eq!(schema.problems(&names(20)).len(), 20);
    assert_eq!(schema.problems(&names(1000)).len(), 1);
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

//! The problems that are reported for a value that does not fit.

use reknit_salvage::{Comparison, FitProblemKind, LengthUnit, SchemaType};

use crate::support::{json, schema, try_fit};

fn messages(under: &str, value: &str) -> Vec<String> {
    schema(under).problems(&json(value)).iter().map(ToString::to_string).collect()
}

#[test]
fn each_problem_has_a_message_with_its_path() {
    for (under, value, expected) in [
        (r#"{"type": "number"}"#, r#""abc""#, r#"`$`: expected a number, found the string "abc""#),
        (r#"{"type": ["integer", "null"]}"#, "[]", "`$`: expected null or an integer, found an array"),
        (
            r#"{"anyOf": [{"type": "integer"}, {"type": "null"}]}"#,
            "true",
            "`$`: expected null or an integer, found true",
        ),
        (r#"{"items": {"type": "string"}}"#, r#"["a", 0.10]"#, "`$[1]`: expected a string, found the number 0.10"),
        (r#"{"required": ["city"]}"#, "{}", "`$`: the property `city` is missing"),
        (r#"{"enum": ["a", "b", 3]}"#, r#""c""#, r#"`$`: expected "a", "b" or 3, found "c""#),
        (r#"{"const": 12345678901234567890.5}"#, "1", "`$`: expected 12345678901234567890.5, found 1"),
        (r#"{"minimum": 0.10}"#, "0", "`$`: expected at least 0.10, found 0"),
        (r#"{"exclusiveMaximum": 5}"#, "5", "`$`: expected less than 5, found 5"),
        (r#"{"multipleOf": 5}"#, "7", "`$`: expected a multiple of 5, found 7"),
        (r#"{"minLength": 3}"#, r#""ab""#, "`$`: expected at least 3 characters, found 2"),
        (r#"{"maxItems": 1}"#, "[1, 2]", "`$`: expected at most 1 items, found 2"),
        (r#"{"pattern": "^a"}"#, r#""b""#, r#"`$`: expected text that matches `^a`, found "b""#),
        (
            r#"{"properties": {"a": {}}, "additionalProperties": false}"#,
            r#"{"x": 1, "y": 2}"#,
            "`$`: unknown properties `x`, `y`",
        ),
        (r#"{"uniqueItems": true}"#, "[1, 1.0]", "`$`: expected unique items"),
        (r#"{"not": {"type": "string"}}"#, r#""a""#, r#"`$`: the string "a" matches `not`"#),
        (r#"{"contains": {"type": "string"}}"#, "[1]", "`$`: no item matches `contains`"),
        ("false", "1", "`$`: no value is allowed here"),
        (
            r#"{"oneOf": [{"minimum": 1}, {"minimum": 2}]}"#,
            "3",
            "`$`: the number 3 fits several of the alternatives; it must fit exactly one",
        ),
        (r#"{"anyOf": [{"minimum": 5}, {"multipleOf": 2}]}"#, "3", "`$`: the number 3 fits none of the alternatives"),
        (
            r#"{"propertyNames": {"maxLength": 2}}"#,
            r#"{"long": 1}"#,
            r#"`$`: the property name "long" is not allowed: expected at most 2 characters, found 4"#,
        ),
    ] {
        assert_eq!(messages(under, value), [expected], "case: {value} under {under}");
    }
}

#[test]
fn each_problem_has_its_details_for_programs() {
    let schema = schema(
        r##"{"type": "object", "required": ["a"], "properties": {
        "b": {"type": ["integer", "null"]}, "c": {"enum": ["x"]}, "d": {"minimum": 1}, "e": {"minLength": 2}, "f": {"$ref": "#/$defs/f"}
    }, "additionalProperties": false, "$defs": {"f": {"const": true}}}"##,
    );
    let problems = schema.problems(&json(r#"{"b": "x", "c": "y", "d": 0, "e": "", "f": false, "g": 1}"#));
    let mut facts: Vec<(String, String, FitProblemKind)> =
        problems.into_iter().map(|problem| (problem.path.to_string(), problem.schema_path, problem.kind)).collect();
    facts.sort_by(|left, right| left.1.cmp(&right.1));
    let fact = |path: &str, schema_path: &str, kind| (path.to_owned(), schema_path.to_owned(), kind);
    assert_eq!(
        facts,
        [
            fact("$.f", "/$defs/f/const", FitProblemKind::Const { expected: json("true") }),
            fact("$", "/additionalProperties", FitProblemKind::UnknownProperty { names: vec!["g".to_owned()] }),
            fact(
                "$.b",
                "/properties/b/type",
                FitProblemKind::Type { expected: vec![SchemaType::Null, SchemaType::Integer] }
            ),
            fact("$.c", "/properties/c/enum", FitProblemKind::Enum { allowed: vec![json(r#""x""#)] }),
            fact(
                "$.d",
                "/properties/d/minimum",
                FitProblemKind::Range { comparison: Comparison::AtLeast, limit: json("1") }
            ),
            fact(
                "$.e",
                "/properties/e/minLength",
                FitProblemKind::Length { unit: LengthUnit::Characters, comparison: Comparison::AtLeast, limit: 2 },
            ),
            fact("$", "/required", FitProblemKind::Required { property: "a".to_owned() }),
        ]
    );
}

#[test]
fn the_problems_of_a_union_are_those_of_the_intended_alternative() {
    let nullable =
        r#"{"properties": {"at": {"anyOf": [{"type": "object", "required": ["lat", "lon"]}, {"type": "null"}]}}}"#;
    assert_eq!(messages(nullable, r#"{"at": {"lat": 1}}"#), ["`$.at`: the property `lon` is missing"]);
    let tagged = r#"{"oneOf": [
        {"properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}, "required": ["kind", "radius"]},
        {"properties": {"kind": {"const": "square"}, "side": {"type": "number"}}, "required": ["kind", "side"]}
    ]}"#;
    assert_eq!(messages(tagged, r#"{"kind": "circle"}"#), ["`$`: the property `radius` is missing"]);
}

#[test]
fn an_error_lists_only_the_problems_that_could_not_be_repaired() {
    let under = r#"{"type": "object", "required": ["city"], "properties": {
        "city": {"type": "string"}, "days": {"type": "integer"}, "max_price": {"type": "number"}, "at": {"type": "object", "properties": {"lat": {"type": "number"}}}
    }}"#;
    let error = try_fit(under, r#"{"days": "3", "maxPrice": "cheap", "at": "{\"lat\": \"north\"}", "city": null}"#);
    let error = error.expect_err("three things are wrong");
    assert_eq!(
        error.to_string(),
        "`$.at.lat`: expected a number, found the string \"north\"; `$.city`: expected a string, found null"
    );
    let error =
        try_fit(r#"{"items": {"type": "integer"}}"#, r#"["a", "b", "c", "d", "e"]"#).expect_err("five problems");
    assert!(error.to_string().ends_with("; and 2 more"), "{error}");
}

#[test]
fn long_values_are_shortened_in_messages() {
    let long = "x".repeat(1000);
    let shown = messages(r#"{"type": "number"}"#, &format!("{long:?}"));
    assert_eq!(shown, [format!("`$`: expected a number, found the string \"{}…\"", "x".repeat(60))]);
    let many: Vec<String> = (0..100).map(|number| number.to_string()).collect();
    let message = &messages(&format!(r#"{{"enum": [{}]}}"#, many.join(", ")), "-1")[0];
    assert!(message.ends_with("10, 11 or one of 88 more, found -1"), "{message}");
}

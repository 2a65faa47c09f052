//! Unions, references, and the keywords beside them.

use reknit_salvage::FitProblemKind;
use reknit_salvage::FixKind::{
    BooleanFromWord, DoubleEncoding, EnumSpelling, KeySpelling, NumberInString, NumberToString, ScalarForArray,
};

use crate::support::{becomes, json, refused, stays, try_fit};

#[test]
fn a_value_that_fits_one_alternative_is_unchanged() {
    stays(r#"{"type": ["integer", "string"]}"#, &["5", r#""5""#, r#""1,000""#]);
    stays(r#"{"anyOf": [{"type": "integer"}, {"type": "string"}]}"#, &["5", r#""5""#]);
    stays(r#"{"oneOf": [{"type": "array"}, {"type": "string"}]}"#, &[r#""[1]""#, "[1]"]);
    stays(r#"{"type": ["string", "null"]}"#, &["null", r#""null""#]);
}

#[test]
fn the_cheapest_alternative_wins() {
    becomes(
        r#"{"type": ["integer", "null"]}"#,
        &[(r#""5""#, "5", &[NumberInString]), (r#""null""#, "null", &[DoubleEncoding])],
    );
    becomes(r#"{"type": ["string", "null"]}"#, &[("5", r#""5""#, &[NumberToString])]);
    becomes(
        r#"{"type": ["boolean", "integer"]}"#,
        &[(r#""1""#, "1", &[NumberInString]), (r#""yes""#, "true", &[BooleanFromWord])],
    );
    for keyword in ["anyOf", "oneOf"] {
        let number_or_list =
            format!(r#"{{"{keyword}": [{{"type": "array", "items": {{"type": "integer"}}}}, {{"type": "integer"}}]}}"#);
        becomes(&number_or_list, &[(r#""5""#, "5", &[NumberInString]), (r#""[5]""#, "[5]", &[DoubleEncoding])]);
        let list_or_null =
            format!(r#"{{"{keyword}": [{{"type": "array", "items": {{"type": "string"}}}}, {{"type": "null"}}]}}"#);
        becomes(
            &list_or_null,
            &[(r#""a""#, r#"["a"]"#, &[ScalarForArray]), ("5", r#"["5"]"#, &[ScalarForArray, NumberToString])],
        );
        stays(&list_or_null, &["null", r#"["a"]"#]);
    }
}

#[test]
fn equal_numbers_are_not_ambiguous() {
    becomes(
        r#"{"anyOf": [{"type": "integer"}, {"type": "number"}]}"#,
        &[(r#""5.0""#, "5", &[NumberInString]), (r#""5.5""#, "5.5", &[NumberInString])],
    );
}

#[test]
fn two_results_with_the_same_penalty_are_ambiguous() {
    let schema = r#"{"anyOf": [
        {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false},
        {"type": "object", "properties": {"A": {"type": "integer"}}, "required": ["A"], "additionalProperties": false}
    ]}"#;
    let error = try_fit(&format!(r#"{{"type": "object", "properties": {{"x": {schema}}}}}"#), r#"{"x": {"a_": 1}}"#);
    let error = error.expect_err("ambiguous");
    let first = &error.problems[0];
    assert_eq!(first.path.to_string(), "$.x");
    assert_eq!(first.kind, FitProblemKind::Ambiguous { first: json(r#"{"a": 1}"#), second: json(r#"{"A": 1}"#) });
    assert_eq!(error.problems.len(), 1);
}

#[test]
fn an_alternative_is_found_by_its_tag() {
    let schema = r#"{"oneOf": [
        {"type": "object", "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}, "required": ["kind", "radius"]},
        {"type": "object", "properties": {"kind": {"const": "square"}, "side_length": {"type": "number"}}, "required": ["kind", "side_length"]}
    ]}"#;
    becomes(
        schema,
        &[
            (r#"{"kind": "circle", "radius": "2.50"}"#, r#"{"kind": "circle", "radius": 2.50}"#, &[NumberInString]),
            (
                r#"{"kind": "Square", "sideLength": "2"}"#,
                r#"{"kind": "square", "side_length": 2}"#,
                &[EnumSpelling, KeySpelling, NumberInString],
            ),
            (
                r#""{\"kind\": \"square\", \"side_length\": 2}""#,
                r#"{"kind": "square", "side_length": 2}"#,
                &[DoubleEncoding],
            ),
        ],
    );
    stays(schema, &[r#"{"kind": "circle", "radius": 1, "sideLength": 2}"#]);
    refused(schema, &[r#"{"kind": "triangle", "radius": 1}"#, r#"{"radius": "1"}"#]);
}

#[test]
fn an_alternative_that_does_not_fit_never_wins_by_its_penalty() {
    let schema = r#"{"anyOf": [
        {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["b"]},
        {"type": "object", "properties": {"a": {"type": "integer"}, "c": {"type": "integer"}}, "required": ["c"]}
    ]}"#;
    becomes(schema, &[(r#"{"a": "1", "c": "2"}"#, r#"{"a": 1, "c": 2}"#, &[NumberInString, NumberInString])]);
}

#[test]
fn keywords_beside_a_union_apply() {
    let schema = r#"{"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}, "max_age": {"type": "integer"}},
        "anyOf": [{"required": ["id"]}, {"required": ["name"]}]}"#;
    becomes(
        schema,
        &[
            (r#"{"id": "5"}"#, r#"{"id": 5}"#, &[NumberInString]),
            (r#"{"ID": "5", "maxAge": 1}"#, r#"{"id": 5, "max_age": 1}"#, &[KeySpelling, NumberInString, KeySpelling]),
        ],
    );
    refused(schema, &[r#"{"max_age": "5"}"#]);
}

#[test]
fn all_subschemas_of_all_of_apply() {
    let schema = r#"{"allOf": [{"type": "object", "properties": {"a": {"type": "number"}}}, {"properties": {"a": {"minimum": 1}, "b": {"type": "boolean"}}}]}"#;
    becomes(schema, &[(r#"{"a": "1.5", "b": "no"}"#, r#"{"a": 1.5, "b": false}"#, &[NumberInString, BooleanFromWord])]);
    refused(schema, &[r#"{"a": "0.5"}"#]);
    becomes(
        r#"{"allOf": [{"type": "number"}, {"type": ["integer", "string"]}]}"#,
        &[(r#""5.0""#, "5", &[NumberInString])],
    );
}

#[test]
fn if_decides_between_then_and_else() {
    let schema = r#"{"type": "object", "properties": {"unit": {"enum": ["m", "text"]}},
        "if": {"properties": {"unit": {"const": "m"}}}, "then": {"properties": {"size": {"type": "number"}}},
        "else": {"properties": {"size": {"type": "string"}}}}"#;
    becomes(
        schema,
        &[
            (r#"{"unit": "m", "size": "5"}"#, r#"{"unit": "m", "size": 5}"#, &[NumberInString]),
            (r#"{"unit": "text", "size": 5}"#, r#"{"unit": "text", "size": "5"}"#, &[NumberToString]),
        ],
    );
    stays(schema, &[r#"{"unit": "text", "size": "5"}"#]);
}

#[test]
fn references_of_every_kind_are_followed() {
    for schema in [
        r##"{"$ref": "#/$defs/n", "$defs": {"n": TARGET}}"##,
        r##"{"$ref": "#/definitions/a~1b%25%20c", "definitions": {"a/b% c": TARGET}}"##,
        r##"{"$ref": "#n", "$defs": {"x": {"$anchor": "n", "allOf": [TARGET]}}}"##,
        r##"{"$id": "https://example.com/root.json", "$ref": "item.json",
            "$defs": {"x": {"$id": "item.json", "$ref": "#/$defs/y", "$defs": {"y": TARGET}}}}"##,
        r##"{"$schema": "http://json-schema.org/draft-07/schema#", "allOf": [{"$ref": "#n"}],
            "definitions": {"x": {"$id": "#n", "allOf": [TARGET]}}}"##,
        r#"{"$schema": "http://json-schema.org/draft-04/schema#", "$ref": "other#/definitions/y",
            "definitions": {"x": {"id": "other", "definitions": {"y": TARGET}}}}"#,
        r##"{"$schema": "https://json-schema.org/draft/2019-09/schema", "allOf": [TARGET],
            "properties": {"below": {"$recursiveRef": "#"}}}"##,
        r##"{"$ref": "#/components/schemas/default", "components": {"schemas": {"default": TARGET}}}"##,
        r##"{"$dynamicRef": "#n", "$defs": {"x": {"$dynamicAnchor": "n", "allOf": [TARGET]}}}"##,
    ] {
        let schema = schema.replace("TARGET", r#"{"type": "object", "properties": {"n": {"type": "integer"}}}"#);
        becomes(&schema, &[(r#"{"n": "5"}"#, r#"{"n": 5}"#, &[NumberInString])]);
        if schema.contains("below") {
            becomes(&schema, &[(r#"{"below": {"n": "5"}}"#, r#"{"below": {"n": 5}}"#, &[NumberInString])]);
        }
    }
}

#[test]
fn keywords_beside_a_reference_apply_from_draft_2019_09_on() {
    let rest = r##""$ref": "#/definitions/n", "type": "string", "definitions": {"n": {"type": "integer"}}"##;
    refused(&format!("{{{rest}}}"), &[r#""2""#, "2"]);
    let old = format!(r#"{{"$schema": "http://json-schema.org/draft-07/schema#", {rest}}}"#);
    becomes(&old, &[(r#""2""#, "2", &[NumberInString])]);
}

#[test]
fn a_recursive_schema_is_followed() {
    let tree = r##"{"type": "object", "properties": {"max_size": {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#"}}}}"##;
    becomes(
        tree,
        &[(
            r#"{"children": [{"maxSize": 1, "children": [{"max_size": "2"}]}]}"#,
            r#"{"children": [{"max_size": 1, "children": [{"max_size": 2}]}]}"#,
            &[KeySpelling, NumberInString],
        )],
    );
    refused(r##"{"type": "array", "items": {"$ref": "#"}}"##, &["5", r#""x""#]);
}

#[test]
fn misspelt_keys_are_renamed_in_a_union_that_fits() {
    let schema =
        r#"{"anyOf": [{"type": "object", "properties": {"max_size": {"type": "integer"}}}, {"type": "null"}]}"#;
    becomes(schema, &[(r#"{"maxSize": 1}"#, r#"{"max_size": 1}"#, &[KeySpelling])]);
    let two = r#"{"anyOf": [{"type": "object", "properties": {"max_size": {}}}, {"type": "object", "properties": {"maxsize": {}}}]}"#;
    stays(two, &[r#"{"MaxSize": 1}"#, r#"{"maxsize": 1}"#]);
}

//! Arrays and objects: in strings, around single values, and their content.

use reknit_salvage::FixKind::{
    BooleanFromWord, DoubleEncoding, EnumSpelling, ListOfOne, NullForOptional, NumberInString, NumberToString,
    ScalarForArray, SplitList, ValueLayer,
};

use crate::support::{becomes, json, refused, stays, try_fit};

const INTEGER: &str = r#"{"type": "integer"}"#;
const STRING: &str = r#"{"type": "string"}"#;

#[test]
fn an_array_or_object_is_decoded_from_a_string() {
    let strings = r#"{"type": "array", "items": {"type": "string"}}"#;
    becomes(
        strings,
        &[
            (r#""[\"a\", \"b\"]""#, r#"["a", "b"]"#, &[DoubleEncoding]),
            (r#"" [] ""#, "[]", &[DoubleEncoding]),
            (r#""\"[\\\"a\\\"]\"""#, r#"["a"]"#, &[DoubleEncoding, DoubleEncoding]),
        ],
    );
    let object = r#"{"type": "object", "properties": {"a": {"type": "integer"}}}"#;
    becomes(
        object,
        &[
            (r#""{\"a\": 1}""#, r#"{"a": 1}"#, &[DoubleEncoding]),
            (r#""{\"a\": \"1\"}""#, r#"{"a": 1}"#, &[DoubleEncoding, NumberInString]),
            (r#""\"{\\\"a\\\": 1}\"""#, r#"{"a": 1}"#, &[DoubleEncoding, DoubleEncoding]),
        ],
    );
    refused(object, &[r#""abc""#, r#""[1]""#, r#""5""#, r#""null""#, r#""{\"a\": \"x\"}""#, r#""{\"a\": ""#, "[]"]);
}

#[test]
fn python_syntax_is_decoded_from_a_string() {
    let schema = r#"{"type": "object", "properties": {
        "tags": {"type": "array", "items": {"type": "string"}},
        "options": {"type": "object"},
        "matrix": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}
    }}"#;
    for (value, expected) in [
        (r#"{"tags": "['a', 'b']"}"#, r#"{"tags": ["a", "b"]}"#),
        (r#"{"tags": "['it\\'s', \"x\"]"}"#, r#"{"tags": ["it's", "x"]}"#),
        (r#"{"tags": "('a', 'b')"}"#, r#"{"tags": ["a", "b"]}"#),
        (r#"{"tags": "('a',)"}"#, r#"{"tags": ["a"]}"#),
        (r#"{"tags": "'[\\'a\\']'"}"#, r#"{"tags": ["a"]}"#),
        (r#"{"tags": "```json\n[\"a\"]\n```"}"#, r#"{"tags": ["a"]}"#),
        (r#"{"tags": "[a, b]"}"#, r#"{"tags": ["a", "b"]}"#),
        (r#"{"options": "{'a': None, 'b': True}"}"#, r#"{"options": {"a": null, "b": true}}"#),
        (r#"{"matrix": "[[1, 2], [3, 4]]"}"#, r#"{"matrix": [[1, 2], [3, 4]]}"#),
    ] {
        let fitted = try_fit(schema, value).unwrap_or_else(|error| panic!("{value}: {error}"));
        assert_eq!(fitted.value.to_string(), json(expected).to_string(), "case: {value}");
        assert_eq!(fitted.fixes[0].kind, DoubleEncoding, "case: {value}");
    }
}

#[test]
fn a_string_with_an_array_in_a_sentence_is_not_decoded() {
    let schema = r#"{"type": "array", "items": {"type": "string"}}"#;
    for text in ["[Draft] my note", "see [1]", "{{step-1.items}}", "(555) 123-4567", "{city} of {name}", "(see below)"]
    {
        let (text, wrapped) = (format!("{text:?}"), format!("[{text:?}]"));
        becomes(schema, &[(&text, &wrapped, &[ScalarForArray])]);
    }
    refused(schema, &[r#""[\"a\", \"b""#, r#""['a', 'b', ...]""#, r#""(Paris, France)""#]);
}

#[test]
fn nested_strings_are_decoded_at_most_four_times() {
    let schema = r#"{"type": "array", "items": {"type": "integer"}}"#;
    let mut text = "[1]".to_owned();
    for layers in 1..=6 {
        text = reknit_protocol::Value::from(text).to_string();
        if layers <= 4 {
            becomes(schema, &[(&text, "[1]", &[DoubleEncoding; 4][..layers])]);
        } else {
            refused(schema, &[&text]);
        }
    }
}

#[test]
fn a_single_value_becomes_an_array_if_the_items_accept_it() {
    let strings = r#"{"type": "array", "items": {"type": "string"}}"#;
    let integers = r#"{"type": "array", "items": {"type": "integer"}}"#;
    let objects = r#"{"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer"}}}}"#;
    becomes(
        strings,
        &[(r#""a""#, r#"["a"]"#, &[ScalarForArray]), ("5", r#"["5"]"#, &[ScalarForArray, NumberToString])],
    );
    becomes(integers, &[("5", "[5]", &[ScalarForArray]), (r#""5""#, "[5]", &[ScalarForArray, NumberInString])]);
    becomes(objects, &[(r#"{"a": 1}"#, r#"[{"a": 1}]"#, &[ScalarForArray])]);
    becomes(objects, &[(r#""{\"a\": 1}""#, r#"[{"a": 1}]"#, &[ScalarForArray, DoubleEncoding])]);
    becomes(r#"{"type": "array"}"#, &[("true", "[true]", &[ScalarForArray])]);
    refused(integers, &[r#""a""#, "5.5", "true", "null", "{}"]);
    let pair = r#"{"type": "array", "items": {"type": "integer"}, "minItems": 2}"#;
    let error = try_fit(pair, "5").expect_err("one is not two");
    assert_eq!(error.to_string(), "`$`: expected an array, found the number 5");
}

#[test]
fn an_item_becomes_a_list_only_beside_another_list() {
    let schema = r#"{"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}"#;
    refused(schema, &["5", "[1, 2]"]);
    becomes(schema, &[("[[1], 2]", "[[1], [2]]", &[ScalarForArray])]);
}

#[test]
fn only_a_list_of_one_is_reduced_to_its_item() {
    becomes(INTEGER, &[("[5]", "5", &[ListOfOne]), (r#"["5"]"#, "5", &[ListOfOne, NumberInString])]);
    becomes(STRING, &[(r#"["a"]"#, r#""a""#, &[ListOfOne])]);
    becomes(r#"{"type": "object"}"#, &[("[{}]", "{}", &[ListOfOne])]);
    refused(INTEGER, &["[5, 6]", "[5, 5]", "[]", "[[5]]", r#"["x"]"#, "[null]"]);
    refused(r#"{"type": "object"}"#, &["[{}, {}]", "[[{}]]"]);
    stays(r#"{"type": ["integer", "array"]}"#, &["[5]"]);
}

#[test]
fn a_value_is_taken_out_of_a_layer_that_says_nothing_else() {
    becomes(
        INTEGER,
        &[
            (r#"{"value": 5}"#, "5", &[ValueLayer]),
            (r#"{"type": "integer", "value": "5"}"#, "5", &[ValueLayer, NumberInString]),
        ],
    );
    refused(INTEGER, &[r#"{"value": 5, "unit": "EUR"}"#, r#"{"type": "EUR", "value": 5}"#, r#"{"amount": 5}"#]);
    stays(r#"{"type": ["integer", "object"]}"#, &[r#"{"value": 5}"#]);
}

#[test]
fn a_text_is_split_into_items_only_if_it_is_no_item_itself() {
    let integers = r#"{"type": "array", "items": {"type": "integer"}}"#;
    let strings = r#"{"type": "array", "items": {"type": "string"}}"#;
    let words = r#"{"type": "array", "items": {"enum": ["red", "blue", "red, blue"]}}"#;
    becomes(
        integers,
        &[
            (r#""1, 2""#, "[1, 2]", &[SplitList, NumberInString, NumberInString]),
            (r#""1 2""#, "[1, 2]", &[SplitList, NumberInString, NumberInString]),
        ],
    );
    becomes(strings, &[(r#""- red\n- blue""#, r#"["red", "blue"]"#, &[SplitList])]);
    becomes(words, &[(r#""blue, red""#, r#"["blue", "red"]"#, &[SplitList])]);
    refused(integers, &[r#""1,234""#, r#""100 200""#, r#""1, x""#]);
    refused(words, &[r#""red, blue""#]);
    refused(strings, &[r#""red, blue""#, r#""red\nblue""#, r#""red; blue""#, r#""None""#, r#""""#]);
    let error = try_fit(strings, r#""red, blue""#).expect_err("one item or two");
    let expected =
        r#"`$`: expected an array, found the string "red, blue": write ["red","blue"], or ["red, blue"] for one item"#;
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_null_for_an_optional_property_is_dropped() {
    let schema = r#"{"type": "object", "required": ["city"], "properties": {
        "city": {"type": "string"}, "days": {"type": "integer"}, "unit": {"enum": ["C", "F"]}, "note": {"type": ["string", "null"]}
    }}"#;
    becomes(
        schema,
        &[
            (r#"{"city": "Rome", "days": null}"#, r#"{"city": "Rome"}"#, &[NullForOptional]),
            (
                r#"{"days": null, "city": "Rome", "unit": null, "note": null}"#,
                r#"{"city": "Rome", "note": null}"#,
                &[NullForOptional, NullForOptional],
            ),
        ],
    );
    stays(schema, &[r#"{"city": "Rome", "note": null}"#, r#"{"city": "Rome", "other": null}"#]);
    refused(schema, &[r#"{"city": null}"#, r#"{"days": 3}"#]);
    refused(r#"{"type": "array", "items": {"type": "integer"}}"#, &["[1, null]", "null"]);
}

#[test]
fn values_that_fit_are_kept_beside_one_that_does_not() {
    let schema = r#"{"type": "object", "properties": {
        "id": {"type": "string"}, "count": {"type": "integer"}, "either": {"type": ["string", "integer"]},
        "list": {"type": "array", "items": {"type": ["number", "string"]}}, "free": {}
    }}"#;
    let before = r#"{"id": "5", "count": "5", "either": "5", "list": ["1", 2, "x"], "free": "[1]", "extra": "6"}"#;
    let after = r#"{"id": "5", "count": 5, "either": "5", "list": ["1", 2, "x"], "free": "[1]", "extra": "6"}"#;
    becomes(schema, &[(before, after, &[NumberInString])]);
}

#[test]
fn a_fix_of_a_nested_value_has_its_path() {
    let schema = r#"{"type": "object", "properties": {"stops": {"type": "array", "items": {
        "type": "object", "properties": {"at": {"type": "array", "items": {"type": "number"}}}}}}}"#;
    let fitted = try_fit(schema, r#"{"stops": [{"at": [1, 2]}, {"at": "[\"3.50\", 4]"}]}"#).expect("fits");
    assert_eq!(fitted.value.to_string(), r#"{"stops":[{"at":[1,2]},{"at":[3.50,4]}]}"#);
    let fixes: Vec<_> = fitted
        .fixes
        .iter()
        .map(|fix| format!("{} {} {} {}", fix.path, fix.kind.name(), fix.before, fix.after))
        .collect();
    assert_eq!(
        fixes,
        [
            r#"$.stops[1].at double_encoding "[\"3.50\", 4]" ["3.50",4]"#,
            r#"$.stops[1].at[0] number_in_string "3.50" 3.50"#,
        ]
    );
}

#[test]
fn a_property_may_have_any_name() {
    let odd = ["Zip Code", "50%", "#1", "a/b", "~x", "größe", "a?b&c", "[0]", "", "\\u0000"];
    let keywords =
        ["$ref", "$id", "default", "const", "enum", "examples", "properties", "items", "type", "definitions"];
    for name in odd.into_iter().chain(keywords) {
        let name = format!("{name:?}");
        let schema = format!(r#"{{"type": "object", "properties": {{{name}: {{"enum": ["New York"]}}}}}}"#);
        let (before, after) = (format!(r#"{{{name}: "new york"}}"#), format!(r#"{{{name}: "New York"}}"#));
        becomes(&schema, &[(&before, &after, &[EnumSpelling])]);
    }
}

#[test]
fn prefix_items_pattern_properties_and_additional_keys_are_fitted() {
    becomes(
        r#"{"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": {"type": "boolean"}}"#,
        &[(r#"[1, "2", "yes"]"#, r#"["1", 2, true]"#, &[NumberToString, NumberInString, BooleanFromWord])],
    );
    becomes(
        r#"{"$schema": "http://json-schema.org/draft-07/schema#", "type": "array",
            "items": [{"type": "integer"}], "additionalItems": {"type": "boolean"}}"#,
        &[(r#"["2", "yes"]"#, "[2, true]", &[NumberInString, BooleanFromWord])],
    );
    becomes(
        r#"{"type": "object", "patternProperties": {"^n_": {"type": "integer"}}, "additionalProperties": {"type": "boolean"}}"#,
        &[(r#"{"n_a": "1", "b": "no"}"#, r#"{"n_a": 1, "b": false}"#, &[NumberInString, BooleanFromWord])],
    );
}

#[test]
fn values_are_never_invented_or_truncated() {
    let closed = r#"{"type": "object", "properties": {"a": {"type": "integer", "default": 1}}, "required": ["a"],
        "additionalProperties": false}"#;
    refused(closed, &["{}", r#"{"a": 1, "b": 2}"#]);
    refused(r#"{"type": "string", "maxLength": 3}"#, &[r#""long""#]);
    refused(r#"{"type": "array", "maxItems": 1}"#, &["[1, 2]"]);
    refused(r#"{"type": "integer", "maximum": 5}"#, &["7"]);
}

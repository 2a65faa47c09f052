//! Misspelt keys.

use reknit_salvage::FixKind::{KeySpelling, KeyTypo, NullForOptional, NumberInString};

use crate::support::{becomes, refused, stays, try_fit};

const SEARCH: &str = r#"{"type": "object", "properties": {
    "query": {"type": "string"}, "max_results": {"type": "integer"}, "sortOrder": {"type": "string"}, "_from": {"type": "string"}
}}"#;

#[test]
fn a_misspelt_key_of_an_absent_property_is_renamed() {
    for key in ["maxResults", "MaxResults", "max-results", "Max Results", "MAX_RESULTS", "maxresults", "max__results"] {
        becomes(SEARCH, &[(&format!("{{{key:?}: 5}}"), r#"{"max_results": 5}"#, &[KeySpelling])]);
    }
    for key in ["sort_order", "sort-order", "SortOrder", "Sort order"] {
        becomes(SEARCH, &[(&format!("{{{key:?}: \"up\"}}"), r#"{"sortOrder": "up"}"#, &[KeySpelling])]);
    }
    becomes(SEARCH, &[(r#"{"From": "Oslo"}"#, r#"{"_from": "Oslo"}"#, &[KeySpelling])]);
}

#[test]
fn a_renamed_key_keeps_its_place_and_its_value_is_fitted() {
    becomes(
        SEARCH,
        &[
            (
                r#"{"maxResults": "5", "query": "x", "SortOrder": "up"}"#,
                r#"{"max_results": 5, "query": "x", "sortOrder": "up"}"#,
                &[KeySpelling, NumberInString, KeySpelling],
            ),
            // The value fits: unknown keys are allowed, and the null may be intended.
            (r#"{"query": "x", "maxResults": null}"#, r#"{"query": "x", "maxResults": null}"#, &[]),
        ],
    );
    let closed = r#"{"properties": {"max_results": {"type": "integer"}}, "additionalProperties": false}"#;
    becomes(closed, &[(r#"{"maxResults": null}"#, "{}", &[NullForOptional])]);
    let fitted = try_fit(SEARCH, r#"{"maxResults": "5"}"#).expect("fits");
    let fixes: Vec<_> = fitted.fixes.iter().map(|fix| format!("{} {} {}", fix.path, fix.before, fix.after)).collect();
    assert_eq!(fixes, ["$.max_results maxResults max_results", r#"$.max_results "5" 5"#]);
}

#[test]
fn a_key_is_not_renamed_if_there_is_any_doubt() {
    for (case, value) in [
        ("the property is there", r#"{"max_results": 1, "maxResults": 2}"#),
        ("two keys want it", r#"{"maxResults": 1, "MaxResults": 2}"#),
        ("a dotted name", r#"{"max.results": 1}"#),
        ("a prefixed name", r#"{"search_max_results": 1}"#),
        ("another word", r#"{"min_results": 1}"#),
        ("two numbers of one word", r#"{"max_result": 1, "max_resultes": 2}"#),
        ("only separators", r#"{"__": 1}"#),
    ] {
        let fitted = try_fit(SEARCH, value).unwrap_or_else(|error| panic!("{case}: {error}"));
        assert!(fitted.fixes.is_empty(), "{case}: {:?}", fitted.fixes);
    }
    let twins = r#"{"type": "object", "properties": {"user_id": {}, "userId": {}}}"#;
    stays(twins, &[r#"{"USER_ID": 1}"#, r#"{"user_id": 1, "USER_ID": 2}"#]);
}

#[test]
fn a_key_is_recognised_with_marks_in_another_number_and_with_one_typo() {
    let renamed = r#"{"max_results": 5}"#;
    for key in ["max_result", "$max_results", "max_results:int", "Max Results (integer)", "arguments.maxResults"] {
        becomes(SEARCH, &[(&format!("{{{key:?}: 5}}"), renamed, &[KeySpelling])]);
    }
    for key in ["max_reslts", "maxResutls"] {
        becomes(SEARCH, &[(&format!("{{{key:?}: 5}}"), renamed, &[KeyTypo])]);
    }
    stays(SEARCH, &[r#"{"max_reslts": "many"}"#, r#"{"max_resu1ts": 5}"#, r#"{"max_results (kg)": 5}"#]);
}

#[test]
fn unknown_keys_are_kept_if_the_schema_describes_additional_keys() {
    let value = r#"{"maxResults": 5}"#;
    for rule in [
        r#""additionalProperties": true"#,
        r#""additionalProperties": {}"#,
        r#""additionalProperties": {"type": "integer"}"#,
        r#""unevaluatedProperties": true"#,
        r#""patternProperties": {"^max": {"type": "integer"}}"#,
        r#""propertyNames": {"maxLength": 20}"#,
    ] {
        stays(
            &format!(r#"{{"type": "object", "properties": {{"max_results": {{"type": "integer"}}}}, {rule}}}"#),
            &[value],
        );
    }
    for rule in [r#""additionalProperties": false"#, r#""patternProperties": {"^x-": {}}"#, r#""minProperties": 1"#] {
        let schema = format!(r#"{{"type": "object", "properties": {{"max_results": {{"type": "integer"}}}}, {rule}}}"#);
        becomes(&schema, &[(value, r#"{"max_results": 5}"#, &[KeySpelling])]);
    }
}

#[test]
fn a_value_that_fits_only_under_its_old_key_keeps_it() {
    stays(SEARCH, &[r#"{"maxResults": "many"}"#]);
    becomes(
        SEARCH,
        &[(
            r#"{"maxResults": "many", "SortOrder": "up"}"#,
            r#"{"maxResults": "many", "sortOrder": "up"}"#,
            &[KeySpelling],
        )],
    );
    let limited = r#"{"type": "object", "properties": {"a_b": {}}, "not": {"required": ["a_b"]}}"#;
    stays(limited, &[r#"{"aB": 1}"#]);
    let damaged =
        r#"{"type": "object", "properties": {"a_b": {}, "n": {"type": "integer"}}, "not": {"required": ["a_b"]}}"#;
    becomes(damaged, &[(r#"{"aB": 1, "n": "2"}"#, r#"{"aB": 1, "n": 2}"#, &[NumberInString])]);
}

#[test]
fn a_misspelt_key_takes_the_name_of_a_dropped_null() {
    // The value once kept its old key, and only a second fit renamed it.
    becomes(
        SEARCH,
        &[
            (
                r#"{"max_results": null, "maxResults": "5"}"#,
                r#"{"max_results": 5}"#,
                &[NullForOptional, KeySpelling, NumberInString],
            ),
            (
                r#"{"maxResults": 5, "query": "x", "max_results": null}"#,
                r#"{"max_results": 5, "query": "x"}"#,
                &[KeySpelling, NullForOptional],
            ),
            (r#"{"max_results": null, "maxResults": "many"}"#, r#"{"maxResults": "many"}"#, &[NullForOptional]),
        ],
    );
    let nullable = r#"{"properties": {"max_results": {"type": ["integer", "null"]}}}"#;
    stays(nullable, &[r#"{"max_results": null, "maxResults": 5}"#]);
}

#[test]
fn a_required_property_is_found_under_another_spelling() {
    let schema =
        r#"{"type": "object", "properties": {"max_results": {"type": "integer"}}, "required": ["max_results"]}"#;
    becomes(schema, &[(r#"{"maxResults": 5}"#, r#"{"max_results": 5}"#, &[KeySpelling])]);
    let error = try_fit(schema, r#"{"maxResults": "many"}"#).expect_err("not a number");
    assert_eq!(error.to_string(), r#"`$.max_results`: expected an integer, found the string "many""#);
}

#[test]
fn keys_are_renamed_at_any_depth_and_in_decoded_strings() {
    let schema = r##"{"type": "object", "properties": {"home_address": {"$ref": "#/$defs/address"},
        "all": {"type": "array", "items": {"$ref": "#/$defs/address"}}},
        "$defs": {"address": {"type": "object", "properties": {"zip_code": {"type": "string"}}}}}"##;
    becomes(
        schema,
        &[(
            r#"{"homeAddress": {"zipCode": "1"}, "all": [{"ZIP code": "2"}, {"zip_code": "3"}]}"#,
            r#"{"home_address": {"zip_code": "1"}, "all": [{"zip_code": "2"}, {"zip_code": "3"}]}"#,
            &[KeySpelling, KeySpelling, KeySpelling],
        )],
    );
    let fitted = try_fit(schema, r#"{"home_address": "{\"zipCode\": \"1\"}"}"#).expect("fits");
    assert_eq!(fitted.value.to_string(), r#"{"home_address":{"zip_code":"1"}}"#);
}

#[test]
fn properties_of_every_subschema_are_declared() {
    let schema = r##"{"allOf": [{"properties": {"first_name": {"type": "string"}}}, {"$ref": "#/$defs/b"}],
        "properties": {"own_key": {"type": "integer"}},
        "$defs": {"b": {"properties": {"last_name": {"type": "string"}}, "required": ["last_name"]}}}"##;
    becomes(
        schema,
        &[(
            r#"{"firstName": "A", "lastName": "B", "ownKey": "1"}"#,
            r#"{"first_name": "A", "last_name": "B", "own_key": 1}"#,
            &[KeySpelling, KeySpelling, KeySpelling, NumberInString],
        )],
    );
    stays(schema, &[r#"{"first_name": "A", "last_name": "B"}"#]);
    refused(schema, &[r#"{"firstName": "A"}"#]);
}

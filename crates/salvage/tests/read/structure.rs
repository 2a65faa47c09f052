//! Structure stays structure: a missing or misplaced quote or bracket never turns keys and brackets into the text of a string.

use reknit_salvage::{FixKind, ReadOptions, ReadTextError, read};

/// Checks that each text is read as the given JSON, with a fix of the given kind.
fn repairs(kind: FixKind, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let reading = read(text, &ReadOptions::default()).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(reading.value.to_string(), *expected, "text: {text}");
        assert!(reading.fixes.iter().any(|fix| fix.kind == kind), "text: {text}, fixes: {:?}", reading.fixes);
    }
}

#[test]
fn a_brace_for_the_bracket_of_an_array_ends_only_the_array() {
    repairs(
        FixKind::WrongBracket,
        &[
            (r#"{"a": ["x"}, "b": 1}"#, r#"{"a":["x"],"b":1}"#),
            (r#"{"tags": ["x", "y"}, "list": ["z", "w"]}"#, r#"{"tags":["x","y"],"list":["z","w"]}"#),
            (r#"[{"a": [1, 2}, "b": {"c": []}}]"#, r#"[{"a":[1,2],"b":{"c":[]}}]"#),
        ],
    );
    repairs(FixKind::MissingBracket, &[(r#"{"o": {"a": ["x"}, "b": 1}"#, r#"{"o":{"a":["x"]},"b":1}"#)]);
}

#[test]
fn an_object_that_is_closed_too_early_goes_on() {
    repairs(
        FixKind::ExtraBracket,
        &[
            (r#"{"a": 1}, "b": 2}"#, r#"{"a":1,"b":2}"#),
            (r#"{"a": "x"}, "b": "y", "c": "z"}"#, r#"{"a":"x","b":"y","c":"z"}"#),
            (r#"{"a": {"x": 1}}, "b": 2}"#, r#"{"a":{"x":1},"b":2}"#),
            (r#"[{"a": 1}, "b": 2}, {"a": 3}]"#, r#"[{"a":1,"b":2},{"a":3}]"#),
            (r#"{"a": "x"}, "b" "y"}"#, r#"{"a":"x","b":"y"}"#),
            (r#"{"a": "x"}, "b": }"#, r#"{"a":"x"}"#),
        ],
    );
}

#[test]
fn an_array_that_is_closed_too_early_goes_on() {
    repairs(
        FixKind::ExtraBracket,
        &[
            (r#"{"a": [1, 2], 3, 4], "b": 5}"#, r#"{"a":[1,2,3,4],"b":5}"#),
            (r#"{"a": ["x"], "y"], "b": 5}"#, r#"{"a":["x","y"],"b":5}"#),
            (r#"{"a": [{"b": 1}}, {"b": 2}], "c": 3}"#, r#"{"a":[{"b":1},{"b":2}],"c":3}"#),
        ],
    );
}

#[test]
fn a_bracket_that_closes_nothing_is_dropped() {
    repairs(
        FixKind::ExtraBracket,
        &[
            (r#"[{"a": 1}}, {"a": 2}]"#, r#"[{"a":1},{"a":2}]"#),
            (r#"{"a": 1], "b": 2}"#, r#"{"a":1,"b":2}"#),
            ("[1, 2}, 3]", "[1,2,3]"),
        ],
    );
}

#[test]
fn a_key_in_an_array_belongs_to_an_object_without_its_brace() {
    repairs(
        FixKind::MissingBracket,
        &[
            (r#"["k": "v"]"#, r#"[{"k":"v"}]"#),
            (r#"["k": "v", "n": 1]"#, r#"[{"k":"v","n":1}]"#),
            (r#"["k": "v"}, "k": "w"}]"#, r#"[{"k":"v"},{"k":"w"}]"#),
            (r#"{"list": ['k': {'a': 1}]}"#, r#"{"list":[{"k":{"a":1}}]}"#),
            (r#"{"a": ["x", "y", "b": 1}"#, r#"{"a":["x","y"],"b":1}"#),
            (r#"{"a": [{"x": 1}, "b": 1}"#, r#"{"a":[{"x":1}],"b":1}"#),
            (r#""a": 1, "b": 2}"#, r#"{"a":1,"b":2}"#),
            (r#"{"a": "b": {"c": 1}, "d": 2}, "e": 3}"#, r#"{"a":{"b":{"c":1},"d":2},"e":3}"#),
        ],
    );
}

#[test]
fn doubled_quotes_are_one_pair_of_quotes() {
    repairs(
        FixKind::Quotes,
        &[
            (r#"{""a"": ""b""}"#, r#"{"a":"b"}"#),
            (r#"{""a"": [{""b"": ''c d'', ""n"": 5, ""e"": """"}]}"#, r#"{"a":[{"b":"c d","n":5,"e":""}]}"#),
        ],
    );
}

#[test]
fn the_end_of_a_code_block_is_not_part_of_a_string() {
    for (text, expected) in [
        ("{\"a\": \"b\"```", r#"{"a":"b"}"#),
        ("{\"a\": \"b\"\n```", r#"{"a":"b"}"#),
        ("{\"a\": \"b}```", r#"{"a":"b"}"#),
        ("{\"a\": [\"b\",\n```\nThat is all.", r#"{"a":["b"]}"#),
        ("{\"a\": \"b\"}\n```", r#"{"a":"b"}"#),
    ] {
        let reading = read(text, &ReadOptions::default()).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(reading.value.to_string(), expected, "text: {text}");
        assert!(!reading.fixes.is_empty(), "text: {text}");
    }
}

#[test]
fn words_between_members_are_dropped_and_recorded() {
    repairs(
        FixKind::StrayText,
        &[
            (r#"{"a": true, NOTE "b": 1}"#, r#"{"a":true,"b":1}"#),
            (r#"{"a": "x", to do later "b": "y"}"#, r#"{"a":"x","b":"y"}"#),
            (r#"{"a": "it"s", "b: "c" NOTE }"#, r#"{"a":"it\"s","b":"c"}"#),
            (r#"[{"a": "x", NOTE "b": "say "hi", friend" }]"#, r#"[{"a":"x","b":"say \"hi\", friend"}]"#),
        ],
    );
    repairs(
        FixKind::BareText,
        &[(r#"{"a": ["x", "y" note],"b": ["z", "w"]}"#, r#"{"a":["x","y","note"],"b":["z","w"]}"#)],
    );
}

#[test]
fn a_quote_that_is_missing_after_a_key_or_word_is_found_at_the_next_key() {
    repairs(
        FixKind::MissingQuote,
        &[(r#"{"a:"b"}"#, r#"{"a":"b"}"#), (r#"{"a": "x", "b: true, "c": "y"}"#, r#"{"a":"x","b":true,"c":"y"}"#)],
    );
    repairs(FixKind::BareText, &[(r#"{"a":word "b":"y"}"#, r#"{"a":"word","b":"y"}"#)]);
}

#[test]
fn a_colon_that_is_missing_before_a_value_is_added() {
    repairs(
        FixKind::MissingColon,
        &[
            (r#"{"a": "x", "b" false, "c": 1}"#, r#"{"a":"x","b":false,"c":1}"#),
            (r#"{"a": "x", "b" ["y"], "c": 1}"#, r#"{"a":"x","b":["y"],"c":1}"#),
        ],
    );
}

#[test]
fn a_part_of_unreadable_json_is_not_taken_for_the_answer() {
    for text in [r#"{"a": @{"b": 1}}, "c": {"d": 2}}"#, r#"["a", @], {"b": 1}]"#] {
        let read = read(text, &ReadOptions::default());
        assert!(matches!(read, Err(ReadTextError::Unreadable { .. })), "text: {text}, {read:?}");
    }
}

#[test]
fn a_text_about_json_stays_a_text() {
    for (text, expected) in [
        (r#"{"a": "use {"k": 1} here", "b": 2}"#, r#"{"a":"use {\"k\": 1} here","b":2}"#),
        (
            r#"{"a": "she said "yes", "no" and "maybe" to him"}"#,
            r#"{"a":"she said \"yes\", \"no\" and \"maybe\" to him"}"#,
        ),
        (r#"["the 24" screen", "b"]"#, r#"["the 24\" screen","b"]"#),
    ] {
        let reading = read(text, &ReadOptions::default()).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(reading.value.to_string(), expected, "text: {text}");
    }
}

#[test]
fn structure_that_no_repair_explains_is_an_error_with_its_position() {
    for (text, column) in [
        (r#"{"a": "{ b": {} }" }"#, 7),
        (r#"{"a": 1, "b": "x", ["y"] }"#, 15),
        (r#"{"a": "x", "y", "z"], "b": [1]}"#, 7),
        (r#"["x": [1, 2], "y"]"#, 18),
    ] {
        match read(text, &ReadOptions::default()) {
            Err(ReadTextError::Unreadable { position, .. }) => assert_eq!(position.column, column, "text: {text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

//! Repairs of text that is almost JSON: one test per kind of defect.

use reknit_salvage::{Completeness, FixKind, ReadOptions, ReadTextError, Reading, read};

fn reading(text: &str) -> Reading {
    read(text, &ReadOptions::default()).unwrap_or_else(|error| panic!("{text:?} cannot be read: {error}"))
}

fn value(text: &str) -> String {
    reading(text).value.to_string()
}

fn error(text: &str) -> ReadTextError {
    match read(text, &ReadOptions::default()) {
        Err(error) => error,
        Ok(reading) => panic!("{text:?} was read as {}", reading.value),
    }
}

/// Checks that each text is read as the given JSON, with a fix of the given kind.
fn repairs(kind: FixKind, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let reading = reading(text);
        assert_eq!(reading.value.to_string(), *expected, "text: {text}");
        assert!(reading.fixes.iter().any(|fix| fix.kind == kind), "text: {text}, fixes: {:?}", reading.fixes);
    }
}

#[test]
fn valid_json_comes_back_unchanged() {
    for text in [
        r#"{"cron":"*/5 * * * *","glob":"src/**/*.rs","power":"2**8 and 3**2"}"#,
        r#"{"markdown":"**bold** and *italic* and `code`\n```json\n{\"a\":1}\n```"}"#,
        r#"{"digits":123456789012345678901234567890,"price":0.10,"big":1e400,"small":-0.0}"#,
        r#"{"z":1,"a":2,"m":{"y":1,"b":2}}"#,
        r#"["{{step-1.price}}","100 * 3","2024-01-02","+49 151 1234","{not json}","null","...","// no comment"]"#,
        r#""just a string""#,
        "0.10",
        "null",
        "[]",
    ] {
        let reading = reading(text);
        assert_eq!(reading.value.to_string(), text);
        assert_eq!(reading.fixes, [], "text: {text}");
        assert_eq!(reading.completeness, Completeness::Complete);
    }
}

#[test]
fn json_is_taken_from_a_fenced_block_with_any_tag() {
    repairs(
        FixKind::Fence,
        &[
            ("```json\n{\"a\": 1}\n```", r#"{"a":1}"#),
            ("Sure, here you go:\n\n```\n[1, 2]\n```\nAnything else?", "[1,2]"),
            ("```JSON5\n{a: 1}\n```", r#"{"a":1}"#),
            ("~ ```js {\"a\": 1} ``` ~", r#"{"a":1}"#),
            ("```json title=\"answer\"\n{\"a\": 1}\n```", r#"{"a":1}"#),
            ("```json\n7\n```", "7"),
            ("```json\n{\"doc\": \"use\n```\nas a fence\"}\n```", r#"{"doc":"use\n```\nas a fence"}"#),
        ],
    );
}

#[test]
fn json_in_prose_is_found() {
    repairs(
        FixKind::SurroundingText,
        &[
            ("The answer is {\"a\": 1}.", r#"{"a":1}"#),
            ("Use {city} as the placeholder: {\"city\": \"Paris\"}", r#"{"city":"Paris"}"#),
            ("As [1] shows, the result is: {\"a\": 1}", r#"{"a":1}"#),
            ("It said \"[0]\" but the list is [10, 20]", "[10,20]"),
            ("Result: []", "[]"),
            ("{\"a\": 1}\n\nI hope this helps!", r#"{"a":1}"#),
            ("<tool_call>{\"name\": \"x\"}</tool_call>", r#"{"name":"x"}"#),
        ],
    );
}

#[test]
fn json_after_the_reasoning_is_the_answer() {
    assert_eq!(value("<think>maybe {\"a\": 1}?</think>{\"a\": 2}"), r#"{"a":2}"#);
    assert_eq!(value("maybe {\"a\": 1}</think>\n```json\n{\"a\": 2}\n```"), r#"{"a":2}"#);
    repairs(FixKind::Reasoning, &[("<think>It is {\"a\": 1}</think> Done.", r#"{"a":1}"#)]);
}

#[test]
fn brackets_in_prose_are_not_json() {
    for text in ["callback {}", "foo [", "Dear [name], thank you", "set {x | x > 0}", "{\"a\":2}foo"] {
        assert!(matches!(error(text), ReadTextError::Unreadable { .. }), "text: {text}");
    }
}

#[test]
fn two_answers_are_ambiguous_and_both_are_shown() {
    for text in [
        "{\"a\": 1} {\"a\": 2}",
        "{\"a\": 1} or {\"a\": 2}",
        "Either {\"a\": 1} or {\"a\": 2}.",
        "{\"a\": 1}\n\nor rather\n\n{\"a\": 2}",
        "First: {\"a\": 1}\nor maybe: {\"a\": 2}",
        "```json\n{\"a\": 1}\n```\nor\n```json\n{\"a\": 2}\n```",
    ] {
        let ReadTextError::Ambiguous { first, second } = error(text) else { panic!("{text} is not ambiguous") };
        assert_eq!((first.value.to_string().as_str(), second.value.to_string().as_str()), ("{\"a\":1}", "{\"a\":2}"));
    }
    assert_eq!(value("First: {\"a\": 1}\nagain: {\"a\": 1}"), r#"{"a":1}"#);
    assert!(matches!(error("n"), ReadTextError::Ambiguous { .. }));
}

#[test]
fn several_values_in_a_row_become_an_array() {
    repairs(
        FixKind::Sequence,
        &[
            ("{\"a\": 1}\n{\"a\": 2}\n", r#"[{"a":1},{"a":2}]"#),
            ("1, 2, 3", "[1,2,3]"),
            ("{\"a\": 1},\n{\"a\": 2}", r#"[{"a":1},{"a":2}]"#),
        ],
    );
    let fixes = reading("{a: 1}\n{b: 2}").fixes;
    let paths: Vec<String> = fixes.iter().map(|fix| fix.path.to_string()).collect();
    assert_eq!(paths, ["$[0]", "$[1]", "$"]);
}

#[test]
fn commas_are_repaired() {
    repairs(
        FixKind::ExtraComma,
        &[("[1, 2,]", "[1,2]"), ("{\"a\": 1,}", r#"{"a":1}"#), ("[,1,,2]", "[1,2]"), ("{,\"a\": 1}", r#"{"a":1}"#)],
    );
    repairs(
        FixKind::MissingComma,
        &[
            ("[1 2 3]", "[1,2,3]"),
            ("[\"a\" \"b\"]", r#"["a","b"]"#),
            ("{\"a\": 1 \"b\": 2}", r#"{"a":1,"b":2}"#),
            ("{\"a\": 1\nb: 2}", r#"{"a":1,"b":2}"#),
            ("[{\"a\": 1}{\"b\": 2}]", r#"[{"a":1},{"b":2}]"#),
        ],
    );
}

#[test]
fn keys_and_colons_are_repaired() {
    repairs(FixKind::BareKey, &[("{a: 1, b_c: 2, $d: 3, e-f: 4, 5: 6}", r#"{"a":1,"b_c":2,"$d":3,"e-f":4,"5":6}"#)]);
    repairs(FixKind::MissingColon, &[("{\"a\" 1}", r#"{"a":1}"#), ("{\"a\" => 1}", r#"{"a":1}"#)]);
    repairs(FixKind::MissingValue, &[("{\"a\":, \"b\": 2}", r#"{"b":2}"#), ("{\"a\":}", "{}")]);
    repairs(FixKind::DuplicateKey, &[("{\"a\": 1, \"a\": 2}", r#"{"a":2}"#)]);
}

#[test]
fn other_quotes_become_double_quotes() {
    repairs(
        FixKind::Quotes,
        &[
            ("{'a': 'it''s'}", r#"{"a":"it''s"}"#),
            ("{'a': 'it's fine'}", r#"{"a":"it's fine"}"#),
            ("{“a”: “b”}", r#"{"a":"b"}"#),
            ("{`a`: `b`}", r#"{"a":"b"}"#),
            ("['say \"hi\"']", r#"["say \"hi\""]"#),
            ("{\"a\": \"\"\"two \"quoted\"\nlines\"\"\"}", r#"{"a":"two \"quoted\"\nlines"}"#),
        ],
    );
}

#[test]
fn quotes_inside_strings_are_kept_as_text() {
    repairs(
        FixKind::InnerQuote,
        &[
            (r#"{"a": "the "best" one"}"#, r#"{"a":"the \"best\" one"}"#),
            (r#"{"a": "He said "Hello", and left", "b": 1}"#, r#"{"a":"He said \"Hello\", and left","b":1}"#),
            (r#"["a 24" screen", "b"]"#, r#"["a 24\" screen","b"]"#),
        ],
    );
}

#[test]
fn missing_quotes_are_added() {
    repairs(
        FixKind::MissingQuote,
        &[
            (r#"{"a": "b, "c": 1}"#, r#"{"a":"b","c":1}"#),
            (r#"{"a: 1, "b": 2}"#, r#"{"a":1,"b":2}"#),
            (r#"{"a": "b}"#, r#"{"a":"b"}"#),
            (r#"["a, "b"]"#, r#"["a","b"]"#),
            (r#"{"a": b", "c": 1}"#, r#"{"a":"b","c":1}"#),
        ],
    );
}

#[test]
fn literals_of_other_languages_are_converted() {
    repairs(
        FixKind::Literal,
        &[("{'a': True, 'b': None}", r#"{"a":true,"b":null}"#), ("[undefined, FALSE]", "[null,false]")],
    );
    repairs(FixKind::NotANumber, &[("[NaN, -Infinity]", "[null,null]")]);
    repairs(FixKind::Tuple, &[("{'point': (1, 2)}", r#"{"point":[1,2]}"#)]);
    repairs(FixKind::Call, &[("{\"id\": ObjectId(\"5f\")}", r#"{"id":"5f"}"#), ("done({\"a\": 1});", r#"{"a":1}"#)]);
    repairs(FixKind::Semicolon, &[("{a: 1};", r#"{"a":1}"#), ("82\n;", "82")]);
    repairs(FixKind::NumberSpelling, &[("[.5, -.5, 2.]", "[0.5,-0.5,2.0]")]);
    repairs(FixKind::RegularExpression, &[("{pattern: /a\\/[b]/i}", r#"{"pattern":"/a\\/[b]/i"}"#)]);
    repairs(FixKind::Concatenation, &[("{\"a\": \"b\" +\n \"c\"}", r#"{"a":"bc"}"#)]);
}

#[test]
fn a_yes_or_no_word_is_a_boolean_only_if_it_is_the_whole_text() {
    repairs(FixKind::BooleanWord, &[("Yes", "true"), ("off", "false")]);
    assert_eq!(value("{country: no, switch: on}"), r#"{"country":"no","switch":"on"}"#);
}

#[test]
fn unquoted_text_becomes_a_string() {
    repairs(
        FixKind::BareText,
        &[
            ("{name: John Smith, city: Paris}", r#"{"name":"John Smith","city":"Paris"}"#),
            ("{url: https://example.com/a?b=1, n: 1}", r#"{"url":"https://example.com/a?b=1","n":1}"#),
            ("{at: 12:30, on: 2024-10-18T18:35:22Z}", r#"{"at":"12:30","on":"2024-10-18T18:35:22Z"}"#),
            ("[a, b c, 1.2.3]", r#"["a","b c","1.2.3"]"#),
            ("just words", r#""just words""#),
        ],
    );
    repairs(
        FixKind::Emphasis,
        &[
            ("{city: **Paris**}", r#"{"city":"Paris"}"#),
            (r#"{"city": **"Paris"**}"#, r#"{"city":"Paris"}"#),
            (r#"{"city": *"Paris"*, "n": 1}"#, r#"{"city":"Paris","n":1}"#),
            (r#"{"city": **'Paris'** }"#, r#"{"city":"Paris"}"#),
            (r#"{**"a"**: "Paris"}"#, r#"{"a":"Paris"}"#),
            (r#"{**"a"**: **"Paris"**, **"b"**: **"Rome"**}"#, r#"{"a":"Paris","b":"Rome"}"#),
            (r#"{"x": 1, *"b"*: 2}"#, r#"{"x":1,"b":2}"#),
            (r#"[**"a"**, "b", ***"c"***]"#, r#"["a","b","c"]"#),
        ],
    );
}

#[test]
fn stars_inside_a_string_stay() {
    for text in [r#"{"a":"**b**"}"#, r#"{"a":"x\"**y"}"#, r#"["**","*\"*"]"#] {
        assert_eq!(value(text), text);
    }
}

#[test]
fn dates_phone_numbers_ids_and_versions_are_never_arithmetic() {
    for text in [
        "2024-10-18",
        "10/12/2024",
        "555-1234",
        "+49-151-1234",
        "1-800-FLOWERS",
        "746de9ad-d4ff-4c66",
        "1.2.3-rc1",
        "5*",
    ] {
        let reading = reading(&format!("{{a: {text}}}"));
        assert_eq!(reading.value.to_string(), format!("{{\"a\":\"{text}\"}}"));
        assert!(reading.fixes.iter().all(|fix| fix.kind != FixKind::Arithmetic), "text: {text}");
    }
    assert_eq!(value("[007, 0123, -05]"), r#"["007","0123","-05"]"#);
}

#[test]
fn arithmetic_with_a_reference_becomes_an_expression() {
    repairs(
        FixKind::Arithmetic,
        &[
            (r#"{"amount": 100 * "{{step-1.response.price}}"}"#, r#"{"amount":"{{100 * step-1.response.price}}"}"#),
            (r#"{"amount": "{{step-1.price}}" * 100, "b": 1}"#, r#"{"amount":"{{step-1.price * 100}}","b":1}"#),
            (r#"{"amount": {{a.x}} - {{b.y}}}"#, r#"{"amount":"{{a.x - b.y}}"}"#),
            (r#"{"amount": 2 * "{{a.x + 1}}"}"#, r#"{"amount":"{{2 * (a.x + 1)}}"}"#),
        ],
    );
    assert_eq!(value(r#"{"city": {{step-1.city}}}"#), r#"{"city":"{{step-1.city}}"}"#);
    assert_eq!(value("{n: 100 * 3}"), r#"{"n":"100 * 3"}"#);
}

#[test]
fn comments_and_unusual_white_space_are_dropped() {
    repairs(
        FixKind::Comment,
        &[
            ("{\"a\": 1, // one\n\"b\": /* two */ 2}", r#"{"a":1,"b":2}"#),
            ("# answer\n{\"a\": 1, # one\n\"b\": 2}", r#"{"a":1,"b":2}"#),
            ("// see {here}\n[1]", "[1]"),
        ],
    );
    repairs(FixKind::WhiteSpace, &[("{\"a\":\u{a0}1}", r#"{"a":1}"#), ("\u{a0}{\"a\":1}", r#"{"a":1}"#)]);
    let behind_commas = "{\"a\":\u{3000}\"x y\",\u{a0} \"b\":\u{2003}\"z\"}";
    repairs(FixKind::WhiteSpace, &[(behind_commas, r#"{"a":"x y","b":"z"}"#)]);
    repairs(FixKind::ByteOrderMark, &[("\u{feff}[1,]", "[1]")]);
}

#[test]
fn escapes_are_repaired() {
    repairs(FixKind::Escape, &[(r#"["it\'s"]"#, r#"["it's"]"#), (r#"["C:\users"]"#, r#"["C:\\users"]"#)]);
    repairs(
        FixKind::Escape,
        &[
            (r#"["\xfcber"]"#, r#"["über"]"#),
            (r#"["go \U0001F680"]"#, r#"["go 🚀"]"#),
            (r#"["C:\xfc"]"#, r#"["C:\\xfc"]"#),
            (r#"["(\w+)\s(\w+)"]"#, r#"["(\\w+)\\s(\\w+)"]"#),
        ],
    );
    repairs(FixKind::RawControl, &[("[\"two\nlines\"]", r#"["two\nlines"]"#)]);
    repairs(FixKind::LoneSurrogate, &[(r#"["\ud83d"]"#, "[\"\u{fffd}\"]")]);
    repairs(FixKind::EscapedText, &[(r#"{\"a\": \"b\"}"#, r#"{"a":"b"}"#)]);
    assert!(matches!(error(r#"["\u26"]"#), ReadTextError::Unreadable { .. }));
}

#[test]
fn brackets_are_repaired() {
    repairs(FixKind::ExtraBracket, &[("{\"a\": 1}}", r#"{"a":1}"#), ("{{\"a\": 1}}", r#"{"a":1}"#)]);
    repairs(FixKind::MissingBracket, &[("[{\"a\": 1]", r#"[{"a":1}]"#), ("{\"a\": [1, 2}", r#"{"a":[1,2]}"#)]);
    repairs(FixKind::WrongBracket, &[("[1, 2}", "[1,2]"), ("[[1}, 2]", "[[1],2]")]);
}

#[test]
fn a_truncated_text_is_closed_and_flagged() {
    for (text, expected) in [
        ("{\"a\": 1, \"b\": [1, 2", r#"{"a":1,"b":[1,2]}"#),
        ("{\"a\": \"half a sen", r#"{"a":"half a sen"}"#),
        ("{\"a\": 1, \"b", r#"{"a":1}"#),
        ("{\"a\": 1, \"b\":", r#"{"a":1}"#),
        ("{\"a\": tru", r#"{"a":true}"#),
        ("{\"a\": 1, \"b\": -", r#"{"a":1}"#),
        ("```json\n{\"a\": [1", r#"{"a":[1]}"#),
    ] {
        let reading = reading(text);
        assert_eq!(reading.value.to_string(), expected, "text: {text}");
        assert_eq!(reading.completeness, Completeness::Truncated, "text: {text}");
    }
}

#[test]
fn omitted_items_are_flagged() {
    for (text, expected) in [("[1, 2, ...]", "[1,2]"), ("{\"a\": 1, ...}", r#"{"a":1}"#), ("[1, …, 9]", "[1,9]")] {
        let reading = reading(text);
        assert_eq!(reading.value.to_string(), expected);
        assert_eq!(reading.completeness, Completeness::Elided);
    }
}

#[test]
fn an_error_has_a_position_and_a_reason() {
    for (text, message) in [
        ("{\"a\": 1,\n \"b\": @x}", "cannot read the text as JSON at line 2, column 7: expected a value, found `@`"),
        ("{\"key\":: 1}", "cannot read the text as JSON at line 1, column 8: expected a value, found `:`"),
        ("{\"a\", \"b\"}", "cannot read the text as JSON at line 1, column 5: expected `:` after the key, found `,`"),
        (
            "{2fa: 1}",
            "cannot read the text as JSON at line 1, column 2: the key `2fa` starts with a digit and must be quoted",
        ),
        (
            "[\"a\u{1f}\"]",
            "cannot read the text as JSON at line 1, column 4: a string may not contain the control character U+001F",
        ),
        ("", "there is no JSON in the text: the text is empty"),
        ("// nothing here", "there is no JSON in the text: it contains only comments or prose"),
    ] {
        assert_eq!(error(text).to_string(), message, "text: {text}");
    }
}

#[test]
fn a_fix_has_a_path_and_the_text_before_and_after() {
    let fixes = reading("{items: [{'price': 1.}]}").fixes;
    let shown: Vec<String> =
        fixes.iter().map(|fix| format!("{} {} {} -> {}", fix.path, fix.kind.name(), fix.before, fix.after)).collect();
    assert_eq!(
        shown,
        ["$ bare_key items -> \"items\"", "$.items[0] quotes ' -> \"", "$.items[0].price number_spelling 1. -> 1.0",]
    );
}

#[test]
fn a_text_larger_than_the_limit_is_refused() {
    let options = ReadOptions { max_bytes: 4 };
    assert_eq!(read("[1, 2]", &options), Err(ReadTextError::TooLarge { size: 6, limit: 4 }));
}

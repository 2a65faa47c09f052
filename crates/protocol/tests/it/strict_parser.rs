//! The strict parser: what it accepts, what it refuses, and the positions and messages of its errors.

use reknit_protocol::{NextChar, NumberError, ParseProblem, Value};

#[test]
fn text_that_the_standard_allows_is_parsed() {
    for (text, printed) in [
        ("null", "null"),
        (" \t\r\n true \t\r\n ", "true"),
        ("false", "false"),
        ("0", "0"),
        ("-0", "-0"),
        ("-0.0e-0", "-0.0e-0"),
        ("123456789012345678901234567890.5E+10", "123456789012345678901234567890.5E+10"),
        (r#""""#, r#""""#),
        (r#""\"\\\/\b\f\n\r\t""#, r#""\"\\/\b\f\n\r\t""#),
        (r#""\u0041\u00e9\u20AC\ud83d\uDE00\u0000""#, "\"Aé€😀\\u0000\""),
        ("\"raw é€😀 \u{7f}\u{2028}\"", "\"raw é€😀 \u{7f}\u{2028}\""),
        ("[]", "[]"),
        ("[ ]", "[]"),
        ("[1 ,\n[ ] , {}]", "[1,[],{}]"),
        ("{ }", "{}"),
        (r#"{"a" : 1 , "" : {"a" : 2}}"#, r#"{"a":1,"":{"a":2}}"#),
        ("\"\u{feff}\"", "\"\u{feff}\""),
    ] {
        let value = Value::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(value.to_string(), printed, "text: {text:?}");
    }
}

#[test]
fn text_that_breaks_the_standard_is_refused_with_position_and_reason() {
    for (text, message) in [
        ("", "line 1, column 1: expected a value, found the end of the text"),
        ("  ", "line 1, column 3: expected a value, found the end of the text"),
        ("nul", "line 1, column 1: expected a value, found `n`"),
        ("True", "line 1, column 1: expected a value, found `T`"),
        ("'a'", "line 1, column 1: expected a value, found `'`"),
        ("[1", "line 1, column 3: expected `,` or `]`, found the end of the text"),
        ("[1}", "line 1, column 3: expected `,` or `]`, found `}`"),
        ("[1,]", "line 1, column 4: expected a value, found `]`"),
        ("[,1]", "line 1, column 2: expected a value, found `,`"),
        ("[1 2]", "line 1, column 4: expected `,` or `]`, found `2`"),
        (r#"{"a":1,}"#, "line 1, column 8: expected a key in double quotes, found `}`"),
        ("{a:1}", "line 1, column 2: expected a key in double quotes, found `a`"),
        (r#"{"a" 1}"#, "line 1, column 6: expected `:`, found `1`"),
        (r#"{"a":}"#, "line 1, column 6: expected a value, found `}`"),
        (r#"{"a":1]"#, "line 1, column 7: expected `,` or `}`, found `]`"),
        ("[1]\n  é", "line 2, column 3: expected the end of the text after the value, found `é`"),
        ("1 // one", "line 1, column 3: expected the end of the text after the value, found `/`"),
        ("[\n\"é\u{1}\"]", "line 2, column 3: control character U+0001 must be escaped in a string"),
        ("\"a\nb\"", "line 1, column 3: control character U+000A must be escaped in a string"),
        ("\"abc", "line 1, column 5: expected `\"` at the end of the string, found the end of the text"),
        (r#""\x""#, "line 1, column 3: expected an escape (one of `\"\\/bfnrtu`) after the backslash, found `x`"),
        (r#""\u12G4""#, "line 1, column 6: expected four hexadecimal digits after `\\u`, found `G`"),
        (r#""\u12"#, "line 1, column 6: expected four hexadecimal digits after `\\u`, found the end of the text"),
        ("01", "line 1, column 1: bad number: a number must not have leading zeros"),
        ("-", "line 1, column 2: bad number: a digit is missing"),
        ("[1.]", "line 1, column 4: bad number: a digit is missing"),
        ("1e+", "line 1, column 4: bad number: a digit is missing"),
        ("+1", "line 1, column 1: expected a value, found `+`"),
        (".5", "line 1, column 1: expected a value, found `.`"),
        ("NaN", "line 1, column 1: expected a value, found `N`"),
        ("\u{a0}1", "line 1, column 1: expected a value, found `\u{a0}`"),
        ("1\u{0}", "line 1, column 2: expected the end of the text after the value, found U+0000"),
    ] {
        let error = Value::parse(text).expect_err(text);
        assert_eq!(error.to_string(), message, "text: {text:?}");
    }
}

#[test]
fn each_documented_refusal_has_its_own_problem() {
    for (text, offset, problem) in [
        (r#"{"a":1,"b":{"a":1},"a":1}"#, 19, ParseProblem::DuplicateKey("a".to_owned())),
        (r#"{"a":1,"\u0061":2}"#, 7, ParseProblem::DuplicateKey("a".to_owned())),
        (r#"["x", "\ud83d"]"#, 7, ParseProblem::LoneSurrogate(0xd83d)),
        (r#""\ude00\ud83d""#, 1, ParseProblem::LoneSurrogate(0xde00)),
        (r#""\ud83dA""#, 1, ParseProblem::LoneSurrogate(0xd83d)),
        (r#""\ud83d\u0041""#, 1, ParseProblem::LoneSurrogate(0xd83d)),
        ("\u{feff}1", 0, ParseProblem::ByteOrderMark),
        ("1 1", 2, ParseProblem::TrailingText(NextChar::Character('1'))),
        ("[1e1000000000000000000]", 3, ParseProblem::Number(NumberError::LongExponent)),
    ] {
        let error = Value::parse(text).expect_err(text);
        assert_eq!((error.offset, error.problem), (offset, problem), "text: {text:?}");
    }
}

#[test]
fn a_position_is_counted_in_bytes_lines_and_characters() {
    let error = Value::parse("{\n  \"é😀\": ?\r\n}").expect_err("a question mark is not a value");
    assert_eq!((error.offset, error.line, error.column), (14, 2, 9));
}

#[test]
fn special_bytes_are_found_at_every_offset_of_a_string() {
    for length in 0..40 {
        let plain = "é".repeat(length / 2) + &"x".repeat(length % 9);
        for (written, meant) in [(r"\n", "\n"), (r#"\""#, "\""), (r"\\", "\\"), (r"\u0001", "\u{1}")] {
            let text = format!("\"{plain}{written}{plain}\"");
            let value = Value::parse(&text).expect("it is a string");
            assert_eq!(value.as_str(), Some(format!("{plain}{meant}{plain}").as_str()));
            assert_eq!(value.to_string(), text);
        }
        assert_eq!(Value::parse(&format!("\"{plain}\"")).expect("it is a string").as_str(), Some(plain.as_str()));
        for control in ['\0', '\n', '\u{1f}'] {
            let error = Value::parse(&format!("\"{plain}{control}\"")).expect_err("control characters are refused");
            assert_eq!(error.offset, plain.len() + 1);
        }
    }
}

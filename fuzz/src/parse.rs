//! The strict parser.

use std::hash::{BuildHasher, RandomState};

use reknit_protocol::{MAX_DEPTH, NumberError, ParseError, ParseProblem, Value};
use serde::de::{Deserialize, IgnoredAny};

use crate::{depth, text_of};

/// The parser accepts the same texts as `serde_json` and returns the same values, and printing loses nothing.
pub fn parse(data: &[u8]) {
    let text = text_of(data);
    // Checks only the grammar, without a depth limit and without decoding numbers and escapes.
    let grammar = serde_json::from_str::<IgnoredAny>(&text);
    match Value::parse(&text) {
        Ok(value) => {
            assert!(grammar.is_ok(), "serde_json refuses: {}", grammar.unwrap_err());
            assert!(depth(&value) <= MAX_DEPTH, "too deep");
            assert_eq!(skeleton(&value.to_string()), skeleton(&text), "digits, literals and order are kept");
            assert_same_as_serde(&value, &text);
            assert_prints_and_parses_back(&value);
        }
        Err(error) => {
            assert!(grammar.is_err() || is_stricter(&error), "serde_json accepts it: {error}");
            assert!(text.is_char_boundary(error.offset), "offset {} is not a character boundary", error.offset);
            assert!(error.line >= 1 && error.column >= 1);
        }
    }
}

/// Whether the grammar allows the text, but the parser refuses it because its value would lose or hide something.
fn is_stricter(error: &ParseError) -> bool {
    match &error.problem {
        ParseProblem::DuplicateKey(_) | ParseProblem::LoneSurrogate(_) | ParseProblem::TooDeep => true,
        ParseProblem::Number(problem) => *problem == NumberError::LongExponent,
        _ => false,
    }
}

/// The text without whitespace between values and without the contents of strings.
fn skeleton(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\n' | '\r' => continue,
            '"' => {
                while let Some(inner) = chars.next().filter(|inner| *inner != '"') {
                    if inner == '\\' {
                        chars.next();
                    }
                }
            }
            _ => {}
        }
        out.push(c);
    }
    out
}

fn assert_same_as_serde(value: &Value, text: &str) {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.disable_recursion_limit();
    match serde_json::Value::deserialize(&mut deserializer) {
        Ok(theirs) => assert!(same(value, &theirs), "ours: {value}\ntheirs: {theirs}"),
        Err(error) => assert!(error.to_string().starts_with("number out of range"), "serde_json refuses: {error}"),
    }
}

fn same(ours: &Value, theirs: &serde_json::Value) -> bool {
    use serde_json::Value as Theirs;
    match (ours, theirs) {
        (Value::Null, Theirs::Null) => true,
        (Value::Bool(ours), Theirs::Bool(theirs)) => ours == theirs,
        (Value::Number(ours), Theirs::Number(theirs)) => ours.to_string().parse().ok() == theirs.as_f64(),
        (Value::String(ours), Theirs::String(theirs)) => ours == theirs,
        (Value::Array(ours), Theirs::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| same(ours, theirs))
        }
        (Value::Object(ours), Theirs::Object(theirs)) => {
            ours.len() == theirs.len()
                && ours.iter().zip(theirs).all(|(ours, theirs)| ours.0 == theirs.0 && same(ours.1, theirs.1))
        }
        _ => false,
    }
}

fn assert_prints_and_parses_back(value: &Value) {
    let printed = value.to_string();
    let again = Value::parse(&printed).expect("a printed value can be parsed");
    assert_eq!(&again, value);
    assert_eq!(again.to_string(), printed, "printing again gives the same text");
    assert_eq!(&Value::parse(&value.to_pretty()).expect("a pretty-printed value can be parsed"), value);
    assert_eq!(again.canonical(), value.canonical(), "equal values have one canonical text");
    // A canonical exponent may exceed the limit of the parser; see `Number::canonical`.
    match Value::parse(&value.canonical()) {
        Ok(canonical) => {
            assert_eq!(&canonical, value, "the canonical text has the same value");
            assert_eq!(canonical.canonical(), value.canonical(), "the canonical text is its own canonical text");
            let state = RandomState::new();
            assert_eq!(state.hash_one(&canonical), state.hash_one(value), "equal values have one hash");
        }
        Err(error) => assert!(is_stricter(&error), "the canonical text cannot be parsed: {error}"),
    }
}

//! The strict parser.

use std::hash::{BuildHasher, RandomState};

use reknit_protocol::{MAX_DEPTH, NumberError, ParseError, ParseProblem, Value};
use serde::de::{Deserialize, IgnoredAny};

use crate::{depth, text_of};

/// Accepts what the grammar allows, as `serde_json` does, and gives the same value; printing loses nothing.
pub fn parse(data: &[u8]) {
    let text = text_of(data);
    // Skips a value without a limit on its depth, and without a look at what numbers and escapes stand for.
    let grammar = serde_json::from_str::<IgnoredAny>(&text);
    match Value::parse(&text) {
        Ok(value) => {
            assert!(grammar.is_ok(), "serde_json refuses: {}", grammar.unwrap_err());
            assert!(depth(&value) <= MAX_DEPTH, "too deep");
            assert_eq!(skeleton(&value.to_string()), skeleton(&text), "digits, literals and order stay");
            same_as_serde(&value, &text);
            prints_and_reads_back(&value);
        }
        Err(error) => {
            assert!(grammar.is_err() || is_ours(&error), "serde_json accepts what is refused with: {error}");
            assert!(text.is_char_boundary(error.offset), "offset {} is no place in the text", error.offset);
            assert!(error.line >= 1 && error.column >= 1);
        }
    }
}

/// Whether the grammar allows it and we refuse it, because it would lose or hide something.
fn is_ours(error: &ParseError) -> bool {
    match &error.problem {
        ParseProblem::DuplicateKey(_) | ParseProblem::LoneSurrogate(_) | ParseProblem::TooDeep => true,
        ParseProblem::Number(problem) => *problem == NumberError::LongExponent,
        _ => false,
    }
}

/// The text without white space between values and without what is in strings.
fn skeleton(text: &str) -> String {
    let mut out = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' | '\n' | '\r' => continue,
            '"' => {
                while let Some(inner) = letters.next().filter(|inner| *inner != '"') {
                    if inner == '\\' {
                        letters.next();
                    }
                }
            }
            _ => {}
        }
        out.push(letter);
    }
    out
}

fn same_as_serde(value: &Value, text: &str) {
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

fn prints_and_reads_back(value: &Value) {
    let printed = value.to_string();
    let again = Value::parse(&printed).expect("what is printed can be read");
    assert_eq!(&again, value);
    assert_eq!(again.to_string(), printed, "printing again gives the same text");
    assert_eq!(&Value::parse(&value.to_pretty()).expect("what is printed over several lines can be read"), value);
    assert_eq!(again.canonical(), value.canonical(), "equal values have one canonical text");
    // A canonical exponent may outgrow the limit; `Number::canonical` says so.
    match Value::parse(&value.canonical()) {
        Ok(canonical) => {
            assert_eq!(&canonical, value, "the canonical text means the same");
            assert_eq!(canonical.canonical(), value.canonical(), "it is its own canonical text");
            let state = RandomState::new();
            assert_eq!(state.hash_one(&canonical), state.hash_one(value), "equal values have one hash");
        }
        Err(error) => assert!(is_ours(&error), "the canonical text cannot be read: {error}"),
    }
}

//! The strict parser and `serde_json` accept the same texts, except for documented differences.

use crate::arbitrary;
use proptest::prelude::*;
use proptest::sample::Index;
use reknit_protocol::{Number, NumberError, ParseProblem, Value};

/// A change to a text: the position, the number of characters to remove, and the text to insert.
type Edit = (Index, usize, &'static str);

const PIECES: &[&str] = &[
    "",
    " ",
    "\n",
    "\t",
    "\u{a0}",
    "\0",
    "\u{1f}",
    "\u{7f}",
    "\u{feff}",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "/",
    "'",
    "-",
    "+",
    ".",
    "0",
    "00",
    "1",
    "9",
    "e",
    "E5",
    "e-",
    "1e400",
    "true",
    "fals",
    "null",
    "NaN",
    "a",
    "é",
    "😀",
    "\\u",
    "\\u00e9",
    "\\ud83d",
    "\\ude00",
    "\\n",
    "\\x",
    "\"a\":1,",
    "12345678901234567890",
];

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    proptest::collection::vec((any::<Index>(), 0..3_usize, proptest::sample::select(PIECES)), 1..4)
}

fn edited(text: &str, edits: &[Edit]) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for (position, removed, piece) in edits {
        let start = position.index(letters.len() + 1);
        let end = letters.len().min(start + removed);
        letters.splice(start..end, piece.chars());
    }
    letters.into_iter().collect()
}

/// Whether the difference between the two results is documented.
fn documented_difference(ours: &Result<Value, ParseProblem>, theirs: &Result<serde_json::Value, String>) -> bool {
    match (ours, theirs) {
        (Err(ParseProblem::DuplicateKey(_) | ParseProblem::Number(NumberError::LongExponent)), Ok(_)) => true,
        // `serde_json` cannot represent this number; our parser keeps its digits.
        (Ok(_), Err(message)) => message.contains("number out of range"),
        _ => false,
    }
}

/// Equal up to the last digits: without a special feature `serde_json` does not parse to the nearest float.
fn nearly_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => nearly_equal_numbers(left, right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| nearly_equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let pairs = left.iter().zip(right);
            left.len() == right.len()
                && pairs.into_iter().all(|((key, left), (other, right))| key == other && nearly_equal(left, right))
        }
        _ => left == right,
    }
}

fn nearly_equal_numbers(left: &Number, right: &Number) -> bool {
    let (near, far) = (left.to_f64(), right.to_f64());
    left == right || (near - far).abs() <= near.abs() * 1e-12
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn both_parsers_accept_and_refuse_the_same_texts(value in arbitrary::value(), edits in edits(), pretty: bool) {
        let text = if pretty { value.to_pretty() } else { value.to_string() };
        let text = edited(&text, &edits);
        let ours = Value::parse(&text).map_err(|error| error.problem);
        let theirs = serde_json::from_str::<serde_json::Value>(&text).map_err(|error| error.to_string());
        match (&ours, &theirs) {
            (Ok(ours), Ok(theirs)) => {
                let theirs = Value::from(theirs.clone());
                prop_assert!(nearly_equal(ours, &theirs), "{:?} is {} or {}", text, ours, theirs);
            }
            (Err(_), Err(_)) => {}
            _ => prop_assert!(documented_difference(&ours, &theirs), "{:?}: {:?} but {:?}", text, ours, theirs),
        }
    }

    #[test]
    fn the_position_of_an_error_is_a_character_boundary_of_the_text(value in arbitrary::value(), edits in edits()) {
        let text = edited(&value.to_string(), &edits);
        if let Err(error) = Value::parse(&text) {
            let before = text.get(..error.offset).expect("the offset is on a character");
            prop_assert_eq!(error.line, before.split('\n').count());
            let last = before.split('\n').next_back().unwrap_or_default();
            prop_assert_eq!(error.column, last.chars().count() + 1);
        }
    }
}

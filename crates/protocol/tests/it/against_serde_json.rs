//! The strict parser and `serde_json` agree on what is JSON, but for the documented refusals.

use crate::any;
use proptest::prelude::*;
use proptest::sample::Index;
use reknit_protocol::{Number, NumberError, ParseProblem, Value};

/// A change to a text: at a place, take some characters away, put others in.
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
    for (place, taken, piece) in edits {
        let start = place.index(letters.len() + 1);
        let end = letters.len().min(start + taken);
        letters.splice(start..end, piece.chars());
    }
    letters.into_iter().collect()
}

/// Whether the two may differ on this text, and why.
fn documented_difference(ours: &Result<Value, ParseProblem>, theirs: &Result<serde_json::Value, String>) -> bool {
    match (ours, theirs) {
        (Err(ParseProblem::DuplicateKey(_) | ParseProblem::Number(NumberError::LongExponent)), Ok(_)) => true,
        // It has no room for such a number; ours keeps the digits.
        (Ok(_), Err(message)) => message.contains("number out of range"),
        _ => false,
    }
}

/// The same but for the last digits: without a special feature `serde_json` does not read to the nearest float.
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
    fn both_accept_and_refuse_the_same_texts(value in any::value(), edits in edits(), pretty: bool) {
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
    fn a_defect_is_placed_inside_the_text_and_on_a_character(value in any::value(), edits in edits()) {
        let text = edited(&value.to_string(), &edits);
        if let Err(error) = Value::parse(&text) {
            let before = text.get(..error.offset).expect("the offset is on a character");
            prop_assert_eq!(error.line, before.split('\n').count());
            let last = before.split('\n').next_back().unwrap_or_default();
            prop_assert_eq!(error.column, last.chars().count() + 1);
        }
    }
}

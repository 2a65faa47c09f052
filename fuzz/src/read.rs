//! Reading without a schema.

use reknit_protocol::{MAX_DEPTH, Value};
use reknit_salvage::{Completeness, ReadOptions, ReadTextError, Reading, TextPosition};

use crate::{depth, text_of};

/// Valid text is not changed, every change has a fix, and the value prints as JSON that reads as the same value.
pub fn read(data: &[u8]) {
    let text = text_of(data);
    let strict = Value::parse(&text);
    match (reknit_salvage::read(&text, &ReadOptions::default()), strict) {
        (Ok(reading), Ok(value)) => {
            assert_eq!(reading.value.to_string(), value.to_string(), "valid text is not changed");
            assert_unchanged(&reading);
        }
        (Ok(reading), Err(error)) => {
            assert!(!reading.fixes.is_empty(), "invalid text ({error}) was read without a fix: {reading:?}");
            for path in &reading.expressions {
                let text = reading.value.at(path).and_then(Value::as_str);
                assert!(text.is_some_and(|text| text.starts_with("{{") && text.ends_with("}}")), "{path}: {text:?}");
            }
            assert_reads_as_itself(&reading.value);
        }
        (Err(error), Ok(_)) => panic!("valid text is refused: {error}"),
        (Err(error), Err(_)) => assert_error_is_valid(&error, &text),
    }
}

fn assert_reads_as_itself(value: &Value) {
    let printed = value.to_string();
    assert!(depth(value) <= MAX_DEPTH, "too deep");
    assert_eq!(&Value::parse(&printed).expect("a value prints as JSON"), value);
    let again = reknit_salvage::read(&printed, &ReadOptions::default()).expect("a printed value can be read");
    assert_eq!(&again.value, value);
    assert_unchanged(&again);
}

fn assert_unchanged(reading: &Reading) {
    assert!(reading.fixes.is_empty(), "a valid text was repaired: {:?}", reading.fixes);
    assert_eq!(reading.completeness, Completeness::Complete);
    assert!(reading.expressions.is_empty());
}

/// Asserts that the error has a message and that its place is inside the text.
pub(crate) fn assert_error_is_valid(error: &ReadTextError, text: &str) {
    assert!(!error.to_string().is_empty());
    if let ReadTextError::Unreadable { position: place, .. } | ReadTextError::TooDeep { position: place, .. } = error {
        assert!(text.is_char_boundary(place.offset), "offset {} is not a character boundary", place.offset);
        assert_eq!(*place, TextPosition::at_offset(text, place.offset));
    }
    if let ReadTextError::Ambiguous { first, second } = error {
        assert_ne!(first.value, second.value, "equal readings are not ambiguous");
    }
}

//! Reading without a schema.

use reknit_protocol::{MAX_DEPTH, Value};
use reknit_salvage::{Completeness, Place, ReadError, ReadOptions, Reading};

use crate::{depth, text_of};

/// Valid text is not touched, every change is listed, and what was read is JSON that reads as itself.
pub fn read(data: &[u8]) {
    let text = text_of(data);
    let strict = Value::parse(&text);
    match (reknit_salvage::read(&text, &ReadOptions::default()), strict) {
        (Ok(reading), Ok(value)) => {
            assert_eq!(reading.value.to_string(), value.to_string(), "valid text is not touched");
            assert_untouched(&reading);
        }
        (Ok(reading), Err(error)) => {
            assert!(!reading.fixes.is_empty(), "not valid ({error}), yet nothing was repaired: {reading:?}");
            for path in &reading.expressions {
                let text = reading.value.at(path).and_then(Value::as_str);
                assert!(text.is_some_and(|text| text.starts_with("{{") && text.ends_with("}}")), "{path}: {text:?}");
            }
            reads_as_itself(&reading.value);
        }
        (Err(error), Ok(_)) => panic!("valid text is refused: {error}"),
        (Err(error), Err(_)) => is_well_told(&error, &text),
    }
}

fn reads_as_itself(value: &Value) {
    let printed = value.to_string();
    assert!(depth(value) <= MAX_DEPTH, "too deep");
    assert_eq!(&Value::parse(&printed).expect("what was read prints as JSON"), value);
    let again = reknit_salvage::read(&printed, &ReadOptions::default()).expect("what was read can be read");
    assert_eq!(&again.value, value);
    assert_untouched(&again);
}

fn assert_untouched(reading: &Reading) {
    assert!(reading.fixes.is_empty(), "nothing had to be repaired: {:?}", reading.fixes);
    assert_eq!(reading.completeness, Completeness::Whole);
    assert!(reading.expressions.is_empty());
}

/// An error that can be shown, at a place that is in the text.
pub(crate) fn is_well_told(error: &ReadError, text: &str) {
    assert!(!error.to_string().is_empty());
    if let ReadError::Unreadable { place, .. } | ReadError::TooDeep { place, .. } = error {
        assert!(text.is_char_boundary(place.offset), "offset {} is no place in the text", place.offset);
        assert_eq!(*place, Place::of(text, place.offset));
    }
    if let ReadError::Ambiguous { first, second } = error {
        assert_ne!(first.value, second.value, "two readings that are the same are not ambiguous");
    }
}

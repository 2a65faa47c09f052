//! Reading without a schema.

use reknit_protocol::{MAX_DEPTH, Path, Value};
use reknit_salvage::{Completeness, ReadOptions, ReadTextError, Reader, Reading, TextPosition};

use crate::{depth, text_of};

/// Valid text is not changed, every change has a fix, and the value prints as JSON that reads as the same value. In chunks, the text
/// is read as the same value.
pub fn read(data: &[u8]) {
    assert_chunks_read_as_whole(data);
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

/// Chunks of one, two or more bytes yield the same reading, and what is complete stays as it is.
fn assert_chunks_read_as_whole(data: &[u8]) {
    let whole = reknit_salvage::read(&String::from_utf8_lossy(data), &ReadOptions::default());
    let length = 1 + data.first().map_or(0, |byte| usize::from(byte % 7));
    let mut reader = Reader::default();
    let mut known: Option<(Path, Value)> = None;
    for chunk in data.chunks(length) {
        reader.push(chunk);
        let Some(partial) = reader.partial() else { continue };
        if let Some((path, value)) = &known {
            assert!(partial.is_complete_at(path), "{path} is open again");
            assert_eq!(partial.value().at(path), Some(value), "{path} changes");
        }
        // The first value that is complete.
        let mut path = Path::root();
        while known.is_none() && path.segments().len() < partial.open().segments().len() + 1 {
            let first = match partial.value().at(&path) {
                Some(Value::Object(object)) => object.keys().next().map(|key| path.key(key)),
                Some(Value::Array(items)) => (!items.is_empty()).then(|| path.index(0)),
                _ => None,
            };
            let Some(first) = first else { break };
            path = first;
            if partial.is_complete_at(&path) {
                known = partial.value().at(&path).cloned().map(|value| (path.clone(), value));
            }
        }
    }
    assert_eq!(reader.finish().map(|finished| finished.reading), whole, "chunks of {length} bytes");
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

//! What a text says before it has ended.

use reknit_protocol::{Path, Segment, Value};

/// A part of a value, with a mark where it may still change.
///
/// Everything in the value is complete, except for the value at [`PartialReading::open`] and the arrays and objects around it:
/// these may still grow. What is complete stays as it is in all later partial readings.
#[derive(Debug, Clone, PartialEq)]
pub struct PartialReading<'r> {
    pub(super) value: &'r Value,
    /// The path of the innermost open array or object, and the place of its last value if that may still change.
    pub(super) container: &'r Path,
    pub(super) last: Option<&'r Segment>,
    pub(super) state: PartialState,
}

/// How far a partial reading is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PartialState {
    /// More of the value is expected.
    #[default]
    Open,
    /// The brackets of the value are closed. Only text behind it can still change what is read.
    Ended,
    /// The text is damaged, so that its rest is read when it has ended.
    Stopped,
}

impl<'r> PartialReading<'r> {
    /// The value so far. A string that has not ended is in it as far as it goes; a number is in it once it has ended.
    pub fn value(&self) -> &'r Value {
        self.value
    }

    /// The path of the innermost value that may still change.
    pub fn open(&self) -> Path {
        self.open_segments().cloned().collect()
    }

    fn open_segments(&self) -> impl Iterator<Item = &'r Segment> {
        self.container.segments().iter().chain(self.last)
    }

    /// How far the reading is.
    pub fn state(&self) -> PartialState {
        self.state
    }

    /// Whether there is a value at the path, and it is complete.
    pub fn is_complete_at(&self, path: &Path) -> bool {
        let is_around_open = self.open_segments().take(path.segments().len()).eq(path.segments());
        !is_around_open && self.value.at(path).is_some()
    }

    /// Whether all that is complete here is in the value, at the same places.
    pub(super) fn is_confirmed_by(&self, value: &Value) -> bool {
        let (mut part, mut whole) = (self.value, value);
        for segment in self.open_segments() {
            let is_confirmed = match (part, whole, segment) {
                (Value::Object(part), Value::Object(whole), Segment::Key(open)) => {
                    part.iter().all(|(key, value)| key == open || whole.get(key) == Some(value))
                }
                (Value::Array(part), Value::Array(whole), Segment::Index(open)) => {
                    part.iter().zip(0..*open).all(|(item, index)| whole.get(index) == Some(item))
                }
                _ => false,
            };
            if !is_confirmed {
                return false;
            }
            let step: Path = [segment.clone()].into_iter().collect();
            match (part.at(&step), whole.at(&step)) {
                (Some(inner), Some(other)) => (part, whole) = (inner, other),
                // What is open may be missing.
                _ => return true,
            }
        }
        match (part, whole) {
            (Value::Object(part), Value::Object(whole)) => {
                part.iter().all(|(key, value)| whole.get(key) == Some(value))
            }
            (Value::Array(part), Value::Array(whole)) => whole.starts_with(part),
            // An open string may become anything else.
            (part, _) => !matches!(part, Value::Object(_) | Value::Array(_)),
        }
    }
}

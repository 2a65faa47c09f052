//! Paths as JSON Pointers (RFC 6901).

use crate::{Path, Segment, Value};

/// Why a text is not a JSON Pointer into a given value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PointerError {
    #[error("a pointer must be empty or start with `/`")]
    MissingSlash,
    #[error("`~` must be followed by 0 or 1 in `{token}`")]
    BadEscape { token: String },
    #[error("there is no `{token}` at `{path}`")]
    NotFound {
        /// The deepest place that exists.
        path: Path,
        token: String,
    },
}

impl Path {
    /// The path as a JSON Pointer (RFC 6901): `/steps/0/odd key`, empty for the root.
    pub fn to_pointer(&self) -> String {
        let mut pointer = String::new();
        for segment in self.segments() {
            pointer.push('/');
            match segment {
                Segment::Key(key) => pointer.push_str(&key.replace('~', "~0").replace('/', "~1")),
                Segment::Index(index) => pointer.push_str(&index.to_string()),
            }
        }
        pointer
    }

    /// Parses a JSON Pointer into `value`, which tells the key `0` of an object from the index 0 of an array.
    ///
    /// Fails if the text is not a pointer, or if `value` has no such place.
    pub fn from_pointer(pointer: &str, value: &Value) -> Result<Self, PointerError> {
        let mut path = Self::root();
        if pointer.is_empty() {
            return Ok(path);
        }
        let tokens = pointer.strip_prefix('/').ok_or(PointerError::MissingSlash)?;
        let mut place = value;
        for token in tokens.split('/') {
            let token = unescape(token)?;
            match step(place, &token) {
                Some((segment, next)) => {
                    path.push(segment);
                    place = next;
                }
                None => return Err(PointerError::NotFound { path, token }),
            }
        }
        Ok(path)
    }
}

fn step<'a>(place: &'a Value, token: &str) -> Option<(Segment, &'a Value)> {
    match place {
        Value::Array(items) => {
            let index = parse_index(token)?;
            Some((Segment::Index(index), items.get(index)?))
        }
        Value::Object(object) => Some((Segment::Key(token.to_owned()), object.get(token)?)),
        _ => None,
    }
}

/// RFC 6901 allows only digits without a leading zero.
fn parse_index(token: &str) -> Option<usize> {
    let canonical = token == "0" || token.starts_with(|first: char| matches!(first, '1'..='9'));
    if canonical { token.parse().ok() } else { None }
}

fn unescape(token: &str) -> Result<String, PointerError> {
    let mut pieces = token.split('~');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (letter, rest) = match (piece.strip_prefix('0'), piece.strip_prefix('1')) {
            (Some(rest), _) => ('~', rest),
            (_, Some(rest)) => ('/', rest),
            (None, None) => return Err(PointerError::BadEscape { token: token.to_owned() }),
        };
        text.push(letter);
        text.push_str(rest);
    }
    Ok(text)
}

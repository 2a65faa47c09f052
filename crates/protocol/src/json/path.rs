//! Paths to places inside a JSON value.

use std::fmt;

use crate::json::quote::quoted;

/// One segment of a [`Path`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Segment {
    Key(String),
    /// An index of an array, from 0.
    Index(usize),
}

/// The path from the root of a JSON value to a place inside it.
///
/// ```
/// use reknit_protocol::Path;
///
/// let path = Path::root().key("steps").index(0).key("odd key");
/// assert_eq!(path.to_string(), r#"$.steps[0]["odd key"]"#);
/// assert_eq!(path.to_pointer(), "/steps/0/odd key");
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path {
    segments: Vec<Segment>,
}

impl Path {
    /// The empty path, which means the whole value: `$`.
    pub fn root() -> Self {
        Self::default()
    }

    pub fn push_key(&mut self, key: impl Into<String>) {
        self.segments.push(Segment::Key(key.into()));
    }

    pub fn push_index(&mut self, index: usize) {
        self.segments.push(Segment::Index(index));
    }

    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        let mut child = self.clone();
        child.push_key(key);
        child
    }

    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        let mut child = self.clone();
        child.push_index(index);
        child
    }

    pub(crate) fn push(&mut self, segment: Segment) {
        self.segments.push(segment);
    }

    /// Removes and returns the last segment; `None` at the root.
    pub fn pop(&mut self) -> Option<Segment> {
        self.segments.pop()
    }

    /// The segments, from the root down.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    pub fn is_root(&self) -> bool {
        self.segments.is_empty()
    }
}

impl FromIterator<Segment> for Path {
    fn from_iter<I: IntoIterator<Item = Segment>>(segments: I) -> Self {
        Self { segments: segments.into_iter().collect() }
    }
}

impl fmt::Display for Path {
    /// `$`, `$.a[0].b`, `$["odd key"]`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("$")?;
        self.segments.iter().try_for_each(|segment| match segment {
            Segment::Index(index) => write!(out, "[{index}]"),
            Segment::Key(key) if is_identifier(key) => write!(out, ".{key}"),
            Segment::Key(key) => write!(out, "[{}]", quoted(key)),
        })
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// Whether a key is an identifier, which needs no quotes after a point.
fn is_identifier(key: &str) -> bool {
    let valid_start = key.starts_with(|first: char| first.is_alphabetic() || first == '_');
    valid_start && key.chars().all(|c| c.is_alphanumeric() || c == '_')
}

//! Where something stands inside a value.

mod pointer;

use std::fmt;

pub use pointer::PointerError;

/// One step of a [`Path`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Segment {
    /// Into an object, by key.
    Key(String),
    /// Into an array, by position, from 0.
    Index(usize),
}

/// The way from the root of a value to something inside it.
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
    /// The path of the value itself: `$`.
    pub fn root() -> Self {
        Self::default()
    }

    /// Goes down into a key.
    pub fn push_key(&mut self, key: impl Into<String>) {
        self.segments.push(Segment::Key(key.into()));
    }

    /// Goes down into a position.
    pub fn push_index(&mut self, index: usize) {
        self.segments.push(Segment::Index(index));
    }

    /// The path of a key below this one.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        let mut child = self.clone();
        child.push_key(key);
        child
    }

    /// The path of a position below this one.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        let mut child = self.clone();
        child.push_index(index);
        child
    }

    /// Goes one step up and returns the step; `None` at the root.
    pub fn pop(&mut self) -> Option<Segment> {
        self.segments.pop()
    }

    /// The steps, from the root down.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Whether this is the path of the value itself.
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
            Segment::Key(key) if is_plain(key) => write!(out, ".{key}"),
            Segment::Key(key) => write!(out, "[{}]", crate::print::quoted(key)),
        })
    }
}

impl fmt::Debug for Path {
    /// The same as `Display`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// Whether a key can follow a point without being misread.
fn is_plain(key: &str) -> bool {
    let starts_well = key.starts_with(|first: char| first.is_alphabetic() || first == '_');
    starts_well && key.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}

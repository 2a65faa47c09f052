//! The text of an answer while it is written.

/// A piece of the text of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextPiece {
    /// More text.
    Text(String),
    /// Discard all pieces so far: the attempt failed, and the text starts over.
    Restarted,
}

impl TextPiece {
    /// The text; `None` for [`TextPiece::Restarted`].
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Restarted => None,
        }
    }
}

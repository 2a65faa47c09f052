//! Why the tolerant parser stopped.

use std::fmt;

use reknit_protocol::Value;

/// Why the parser stopped, with the offset in the text.
#[derive(Debug, Clone)]
pub(super) enum ParseFailure {
    Unreadable {
        at: usize,
        reason: FailureReason,
    },
    /// The value nests deeper than [`MAX_DEPTH`](reknit_protocol::MAX_DEPTH).
    TooDeep {
        at: usize,
    },
    /// A quote outside a string is escaped: one layer of escapes has to be removed from the whole text.
    Escaped {
        at: usize,
    },
    /// Two values are equally likely.
    Ambiguous(Box<[Value; 2]>),
}

/// The result of one step of the parser. The failure is boxed to keep the result of a successful step small.
pub(super) type ParseResult<T> = Result<T, Box<ParseFailure>>;

/// What the parser expected and found. It is formatted only for display, because most failures end just one of several
/// attempts.
#[derive(Debug, Clone)]
pub(super) enum FailureReason {
    Static(&'static str),
    Text(String),
    /// What was expected, and the character found instead; `None` at the end of the text.
    Expected(&'static str, Option<char>),
    /// As [`Expected`](Self::Expected), with the character shown escaped.
    ExpectedEscaped(&'static str, Option<char>),
}

/// The reason for [`ParseFailure::Escaped`].
pub(super) const ESCAPED_QUOTE: &str = "expected a value, found an escaped quote";

/// The reason if a string contains JSON structure in every reading.
pub(super) const SWALLOWED: &str =
    "the string that begins here contains keys or brackets; a quote or bracket is missing";

impl ParseFailure {
    pub(super) fn at(&self) -> usize {
        match self {
            Self::Unreadable { at, .. } | Self::TooDeep { at } | Self::Escaped { at } => *at,
            Self::Ambiguous(_) => 0,
        }
    }

    /// Moves the offset, for a text that begins `by` bytes into another one.
    pub(super) fn shifted(mut self, by: usize) -> Self {
        match &mut self {
            Self::Unreadable { at, .. } | Self::TooDeep { at } | Self::Escaped { at } => *at += by,
            Self::Ambiguous(_) => {}
        }
        self
    }
}

impl From<Box<ParseFailure>> for ParseFailure {
    fn from(boxed: Box<ParseFailure>) -> Self {
        *boxed
    }
}

impl fmt::Display for FailureReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Static(text) => out.write_str(text),
            Self::Text(text) => out.write_str(text),
            Self::Expected(what, None) => write!(out, "expected {what}, found the end of the text"),
            Self::Expected(what, Some(found)) if found.is_control() => {
                write!(out, "expected {what}, found the control character U+{:04X}", u32::from(*found))
            }
            Self::Expected(what, Some(found)) => write!(out, "expected {what}, found `{found}`"),
            Self::ExpectedEscaped(what, None) => write!(out, "expected {what}, found ``"),
            Self::ExpectedEscaped(what, Some(found)) => {
                write!(out, "expected {what}, found `{}`", found.escape_debug())
            }
        }
    }
}

impl From<&'static str> for FailureReason {
    fn from(text: &'static str) -> Self {
        Self::Static(text)
    }
}

impl From<String> for FailureReason {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

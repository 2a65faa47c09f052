//! Why reading stopped.

use std::fmt;

use reknit_protocol::Value;

/// Reading stopped: where, and why.
#[derive(Debug, Clone)]
pub(super) enum Failure {
    /// What was expected and found, at an offset.
    Unreadable { at: usize, problem: Problem },
    /// Deeper than [`MAX_DEPTH`](reknit_protocol::MAX_DEPTH).
    TooDeep { at: usize },
    /// Quotes are escaped outside strings: the whole text needs one layer of escapes removed.
    Escaped { at: usize },
    /// Two readings are equally likely.
    Ambiguous(Box<[Value; 2]>),
}

/// What one step of the parser gives. The failure is boxed, so that the result of a step that goes well is small.
pub(super) type Step<T> = Result<T, Box<Failure>>;

/// What was expected and found. It is put into words when somebody is told: most failures end only one of several
/// attempts.
#[derive(Debug, Clone)]
pub(super) enum Problem {
    Plain(&'static str),
    /// Something else than this was found.
    Expected(&'static str, Option<char>),
    /// The same, where what was found is shown with escapes, and nothing for the end of the text.
    Shown(&'static str, Option<char>),
    Words(String),
}

impl Failure {
    pub(super) fn at(&self) -> usize {
        match self {
            Self::Unreadable { at, .. } | Self::TooDeep { at } | Self::Escaped { at } => *at,
            Self::Ambiguous(_) => 0,
        }
    }

    /// The failure of a text that begins `by` bytes into another one.
    pub(super) fn shifted(self, by: usize) -> Self {
        match self {
            Self::Unreadable { at, problem } => Self::Unreadable { at: at + by, problem },
            Self::TooDeep { at } => Self::TooDeep { at: at + by },
            Self::Escaped { at } => Self::Escaped { at: at + by },
            Self::Ambiguous(_) => self,
        }
    }
}

impl From<Box<Failure>> for Failure {
    fn from(boxed: Box<Failure>) -> Self {
        *boxed
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(words) => out.write_str(words),
            Self::Words(words) => out.write_str(words),
            Self::Expected(what, None) => write!(out, "expected {what}, found the end of the text"),
            Self::Expected(what, Some(found)) if found.is_control() => {
                write!(out, "expected {what}, found the control character U+{:04X}", u32::from(*found))
            }
            Self::Expected(what, Some(found)) => write!(out, "expected {what}, found `{found}`"),
            Self::Shown(what, None) => write!(out, "expected {what}, found ``"),
            Self::Shown(what, Some(found)) => write!(out, "expected {what}, found `{}`", found.escape_debug()),
        }
    }
}

impl From<&'static str> for Problem {
    fn from(words: &'static str) -> Self {
        Self::Plain(words)
    }
}

impl From<String> for Problem {
    fn from(words: String) -> Self {
        Self::Words(words)
    }
}

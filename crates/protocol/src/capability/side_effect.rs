//! The class of side effect that a call has.

use std::fmt;

use crate::shape::{ActualShape, ShapeError, Wire, text, wire};
use crate::{Path, Value};

/// The class of side effect that a call has. It decides whether a call with an unknown outcome may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SideEffect {
    /// `read`: the call changes nothing.
    Read,
    /// `idempotent`: a second call changes nothing more.
    Idempotent,
    /// `keyed`: a second call under the same idempotency key changes nothing more.
    Keyed,
    /// `undeclared`: the tool does not declare the class. An absent field means this.
    #[default]
    Undeclared,
    /// `unsafe`: a second call repeats the change.
    Unsafe,
}

impl SideEffect {
    const ALL: [Self; 5] = [Self::Read, Self::Idempotent, Self::Keyed, Self::Undeclared, Self::Unsafe];

    /// The name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Idempotent => "idempotent",
            Self::Keyed => "keyed",
            Self::Undeclared => "undeclared",
            Self::Unsafe => "unsafe",
        }
    }
}

impl fmt::Display for SideEffect {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

impl Wire for SideEffect {
    /// Fails on an unknown word: reading it as `undeclared` could send an order twice.
    fn read(value: Value, path: &Path) -> Result<Self, ShapeError> {
        let word = text(value, path)?;
        Self::ALL.into_iter().find(|class| class.as_str() == word).ok_or_else(|| ShapeError {
            path: path.clone(),
            expected: "one of `read`, `idempotent`, `keyed`, `undeclared`, `unsafe`",
            found: ActualShape::UnknownWord(word),
        })
    }

    fn write(&self) -> Value {
        self.as_str().into()
    }
}

wire!(SideEffect);

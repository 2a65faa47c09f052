//! What a call does to the world.

use std::fmt;

use crate::shape::{Actual, ShapeError, Wire, text, wire};
use crate::{Path, Value};

/// What a call does to the world: whether it may be sent again when nobody knows if it arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Effect {
    /// `read`: changes nothing.
    Read,
    /// `idempotent`: a second call changes nothing more.
    Idempotent,
    /// `keyed`: a second call under the same idempotency key changes nothing more.
    Keyed,
    /// `undeclared`: the tool does not say. What an absent field means.
    #[default]
    Undeclared,
    /// `unsafe`: a second call does it twice.
    Unsafe,
}

impl Effect {
    const ALL: [Self; 5] = [Self::Read, Self::Idempotent, Self::Keyed, Self::Undeclared, Self::Unsafe];

    /// The word on the wire.
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

impl fmt::Display for Effect {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

impl Wire for Effect {
    /// A word nobody knows is refused: taking it for `undeclared` could send an order twice.
    fn read(value: Value, path: &Path) -> Result<Self, ShapeError> {
        let word = text(value, path)?;
        Self::ALL.into_iter().find(|effect| effect.as_str() == word).ok_or_else(|| ShapeError {
            path: path.clone(),
            expected: "one of `read`, `idempotent`, `keyed`, `undeclared`, `unsafe`",
            found: Actual::Word(word),
        })
    }

    fn write(&self) -> Value {
        self.as_str().into()
    }
}

wire!(Effect);

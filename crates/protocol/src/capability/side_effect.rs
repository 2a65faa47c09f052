//! The class of side effect that a call has, and where its errors name a parameter.

use crate::shape::{ActualShape, ExtraFields, ShapeError, Wire, wire, wire_object};
use crate::{Path, Value};

crate::word_enum! {
    /// The class of side effect that a call has. It decides whether a call with an unknown outcome may be sent again.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum SideEffect {
        /// The call changes nothing.
        Read = "read",
        /// A second call changes nothing more.
        Idempotent = "idempotent",
        /// A second call under the same idempotency key changes nothing more.
        Keyed = "keyed",
        /// The tool does not declare the class, but its protocol has idempotency keys. An absent field means this.
        #[default]
        Undeclared = "undeclared",
        /// Nothing declares the class, and nothing says that a second call under the same key is recognised.
        Unknown = "unknown",
        /// A second call repeats the change.
        Unsafe = "unsafe",
    }
}

impl SideEffect {
    /// The class of a call whose tool or configuration has this word. Only a tool with idempotency keys can be `undeclared`: of any
    /// other one nothing says that a second call is recognised, so it is `unknown`.
    #[must_use]
    pub fn of_tool(self, has_keys: bool) -> Self {
        if self == Self::Undeclared && !has_keys { Self::Unknown } else { self }
    }

    /// Whether nothing declares the class.
    pub fn is_undeclared(self) -> bool {
        matches!(self, Self::Undeclared | Self::Unknown)
    }

    /// Whether a call that may have taken effect is sent again only after a check or a person's approval.
    pub fn needs_approval_to_resend(self) -> bool {
        match self {
            Self::Read | Self::Idempotent | Self::Keyed | Self::Undeclared => false,
            Self::Unknown | Self::Unsafe => true,
        }
    }
}

impl Wire for SideEffect {
    /// Fails on a word that is no class: reading it as `undeclared` could send an order twice.
    fn read(value: Value, path: &Path) -> Result<Self, ShapeError> {
        let word = String::read(value, path)?;
        Self::from_word(&word).ok_or_else(|| ShapeError {
            path: path.clone(),
            expected: "one of `read`, `idempotent`, `keyed`, `undeclared`, `unknown`, `unsafe`",
            found: ActualShape::UnknownWord(word),
        })
    }

    fn write(&self) -> Value {
        self.as_str().into()
    }
}

wire!(SideEffect);

/// Which fields of the objects in an error name a parameter, and say what is wrong with it. For the error
/// `{"fehler": [{"feld": "amount", "meldung": "must be positive"}]}` they are `feld` and `meldung`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorFields {
    pub parameter: String,
    pub message: Option<String>,
    pub extra: ExtraFields,
}

impl ErrorFields {
    pub fn new(parameter: impl Into<String>, message: Option<String>) -> Self {
        Self { parameter: parameter.into(), message, extra: ExtraFields::default() }
    }
}

wire_object! {
    ErrorFields {
        parameter: "parameter" required("a string"),
        message: "message" optional,
    }
}

//! States that the machine's own code rules out.

/// A lookup that cannot fail has failed. The machine ends with this error as evidence instead of going on with a guess.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("internal error: {0}: this is a bug in Reknit, please report it")]
pub(crate) struct InternalError(String);

/// The result of a decision that fails only through an error in the machine itself.
pub(crate) type Decided<T = ()> = Result<T, InternalError>;

impl InternalError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

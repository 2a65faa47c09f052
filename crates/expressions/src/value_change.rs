//! Recorded changes to parameter values.

use reknit_protocol::Path;
use reknit_salvage::Fix;
use serde::{Deserialize, Serialize};

/// A recorded change to a value between the plan and the call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueChange {
    /// The location in the parameters.
    #[serde(with = "crate::path_serde")]
    pub path: Path,
    /// The kind of change: the name of a [`FixKind`](reknit_salvage::FixKind), or [`ValueChange::CALCULATION`].
    pub kind: String,
    /// The value before the change.
    pub before: String,
    /// The value after the change.
    pub after: String,
}

impl ValueChange {
    /// The kind for a string that was evaluated as an expression because the schema does not allow a string.
    pub const CALCULATION: &str = "calculation";
}

impl From<Fix> for ValueChange {
    fn from(fix: Fix) -> Self {
        let after = if fix.times > 1 { format!("{} times", fix.times) } else { fix.after };
        Self { path: fix.path, kind: fix.kind.name().to_owned(), before: fix.before, after }
    }
}

//! What was changed on the way from a plan to a call.

use reknit_protocol::Path;
use reknit_salvage::Fix;
use serde::{Deserialize, Serialize};

/// One recorded change to a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Where in the parameters.
    #[serde(with = "crate::path_text")]
    pub path: Path,
    /// What kind of change: the name of a [`FixKind`](reknit_salvage::FixKind), or [`Change::CALCULATION`].
    pub kind: String,
    /// What stood there.
    pub before: String,
    /// What stands there now.
    pub after: String,
}

impl Change {
    /// The kind of a text that was read as a calculation because a text does not fit there.
    pub const CALCULATION: &str = "calculation";
}

impl From<Fix> for Change {
    fn from(fix: Fix) -> Self {
        let after = if fix.times > 1 { format!("{} times", fix.times) } else { fix.after };
        Self { path: fix.path, kind: fix.kind.name().to_owned(), before: fix.before, after }
    }
}

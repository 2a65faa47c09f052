//! A journal of an older build that was brought to the current version.

use std::path::PathBuf;

/// What opening the file of an older build changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migration {
    /// The format version before.
    pub from: u32,
    /// The format version now.
    pub to: u32,
    /// A copy of the file as it was.
    pub backup: PathBuf,
}

//! `[rules]`: rules that earlier runs have learned.

use std::path::PathBuf;

/// Which learned rules are used.
#[derive(Debug, Clone)]
pub struct RuleSettings {
    /// The file; without one no rules are used.
    pub file: Option<PathBuf>,
    pub enabled: bool,
    /// After confirmations from how many runs a rule for calls that only read accepts itself; 0 is never.
    pub accept_reads_after: u32,
}

impl Default for RuleSettings {
    fn default() -> Self {
        Self { file: None, enabled: true, accept_reads_after: 0 }
    }
}

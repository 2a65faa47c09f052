//! `[rules]`: rules that earlier runs have learned.

use std::path::PathBuf;

use super::{Config, ConfigError};
use crate::rule_store::RuleStore;

/// Which learned rules are used.
#[derive(Debug, Clone)]
pub struct RuleSettings {
    /// The file; without one no rules are used.
    pub file: Option<PathBuf>,
    /// Whether the rules in the file are used.
    pub enabled: bool,
    /// After confirmations from how many runs a rule for calls that only read accepts itself; 0 is never.
    pub accept_reads_after: u32,
}

impl Default for RuleSettings {
    fn default() -> Self {
        Self { file: None, enabled: true, accept_reads_after: 0 }
    }
}

impl Config {
    /// The file with learned rules, if one is set. Fails if it cannot be used, or if rules should accept themselves and there is no
    /// file.
    pub fn rule_store(&self) -> Result<Option<RuleStore>, ConfigError> {
        let RuleSettings { file, enabled, accept_reads_after } = &self.rules;
        match file {
            Some(path) if *enabled => Ok(Some(RuleStore::open(path, *accept_reads_after)?)),
            None if *accept_reads_after > 0 && *enabled => Err(ConfigError::Invalid {
                origin: self.origin_of("rules.accept-reads-after"),
                problem: "there is no file for the rules; set `rules.file`, for example to \"reknit-rules.yaml\""
                    .to_owned(),
            }),
            Some(_) | None => Ok(None),
        }
    }
}

//! What a configuration file contains.

use super::entry::Entry;
use super::origin::ConfiguredValues;

/// The content of a file.
#[derive(Debug, Default)]
pub(super) struct FileContent {
    pub(super) values: ConfiguredValues,
    pub(super) tools: Vec<Entry>,
    pub(super) openapi: Vec<Entry>,
    pub(super) mcp: Vec<Entry>,
    pub(super) http: Vec<Entry>,
    pub(super) command: Vec<Entry>,
    pub(super) models: Vec<Entry>,
    pub(super) checks: Vec<Entry>,
    pub(super) keys: Vec<Entry>,
    pub(super) approve: Vec<Entry>,
    pub(super) confirm: Vec<Entry>,
}

impl FileContent {
    /// The entries of all lists of tools.
    pub(super) fn tools(&self) -> impl Iterator<Item = &Entry> {
        self.tools.iter().chain(&self.openapi).chain(&self.mcp).chain(&self.http).chain(&self.command)
    }
}

#[cfg(feature = "config-file")]
pub(super) use super::file::parse;

/// A build that reads no configuration files: only an empty text is one.
#[cfg(not(feature = "config-file"))]
pub(super) fn parse(text: &str, name: &str) -> Result<FileContent, super::ConfigError> {
    if text.trim().is_empty() {
        return Ok(FileContent::default());
    }
    let problem = "this program was built without the feature `config-file`".to_owned();
    Err(super::ConfigError::Invalid { origin: super::SettingOrigin::File { name: name.to_owned(), line: 1 }, problem })
}

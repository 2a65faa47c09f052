//! What a configuration file contains.

use std::collections::BTreeMap;

use super::entry::{Entry, TOOL_LISTS};
use super::origin::ConfiguredValues;

/// The content of a file.
#[derive(Debug, Default)]
pub(super) struct FileContent {
    pub(super) values: ConfiguredValues,
    /// By list.
    pub(super) entries: BTreeMap<&'static str, Vec<Entry>>,
}

impl FileContent {
    pub(super) fn list(&self, name: &str) -> &[Entry] {
        self.entries.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// The entries of all lists of tools.
    pub(super) fn tools(&self) -> impl Iterator<Item = &Entry> {
        TOOL_LISTS.iter().flat_map(|list| self.list(list))
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

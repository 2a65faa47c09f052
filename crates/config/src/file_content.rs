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

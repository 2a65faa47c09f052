//! Which configuration file is read: one that a person names, or the one in the current folder.

use std::path::{Path, PathBuf};

use reknit_protocol::Value;

use crate::environment::{CONFIG_VARIABLE, os_variable};

/// The default configuration file, in the current folder.
pub(crate) const DEFAULT_CONFIG: &str = "reknit.toml";

pub(crate) const MAX_CONFIG_BYTES: usize = 1 << 20;

/// The configuration file that a person names: with `--config`, whose value is `file`, or with the variable.
pub(crate) fn named_config(file: Option<&Path>) -> Option<PathBuf> {
    file.map(Path::to_owned).or_else(|| os_variable(CONFIG_VARIABLE).map(PathBuf::from))
}

/// The configuration file in the current folder, if no person names one.
pub(crate) fn found_config(file: Option<&Path>) -> Option<PathBuf> {
    let found = PathBuf::from(DEFAULT_CONFIG);
    (named_config(file).is_none() && found.exists()).then_some(found)
}

/// A text in quotes: the quotes and escapes of JSON are those of TOML.
pub(crate) fn toml_text(text: &str) -> String {
    Value::from(text).to_string()
}

//! Where the keys of models are.

use std::fs;

use reknit_models::Provider;

use super::Lookup;
use super::entry::Entry;
use super::error::ConfigError;

/// Where the key of a model is, or should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// It has none, and needs none for all we know.
    None,
    /// In this variable of the environment.
    Variable(String),
    /// In this file.
    File(String),
    /// It should be in this variable, which is not set.
    UnsetVariable(String),
    /// It should be in this file, which cannot be used.
    UnusableFile {
        /// Which file.
        path: String,
        /// Why not.
        problem: String,
    },
}

/// The key of a model: from the variable or the file that is named, else from the variables that everybody uses.
pub(super) fn key(
    model: &Entry,
    provider: Provider,
    environment: Lookup<'_>,
) -> Result<(Option<String>, KeySource), ConfigError> {
    let set = |variable: &str| environment(variable).filter(|key| !key.is_empty());
    match (model.text("key-env"), model.text("key-file")) {
        (Some(_), Some(_)) => {
            Err(model.problem("key-file", "the key is in a variable already; write only one of the two"))
        }
        (Some(variable), None) => Ok(match set(variable) {
            Some(key) => (Some(key), KeySource::Variable(variable.to_owned())),
            None => (None, KeySource::UnsetVariable(variable.to_owned())),
        }),
        (None, Some(path)) => Ok(match from_file(path) {
            Ok(key) => (Some(key), KeySource::File(path.to_owned())),
            Err(problem) => (None, KeySource::UnusableFile { path: path.to_owned(), problem }),
        }),
        (None, None) => {
            let variables = provider.key_variables();
            let found = variables.iter().find_map(|variable| Some((set(variable)?, (*variable).to_owned())));
            Ok(match (found, variables.first()) {
                (Some((key, variable)), _) => (Some(key), KeySource::Variable(variable)),
                // A server of one's own may need no key.
                (None, Some(_)) if model.has("url") => (None, KeySource::None),
                (None, Some(usual)) => (None, KeySource::UnsetVariable((*usual).to_owned())),
                (None, None) => (None, KeySource::None),
            })
        }
    }
}

/// The text of a file, without the line break that editors put behind it.
fn from_file(path: &str) -> Result<String, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    match text.trim() {
        "" => Err("it is empty".to_owned()),
        key => Ok(key.to_owned()),
    }
}

//! Where the API keys of models come from.

use std::fs;

use reknit_models::Provider;

use super::EnvironmentLookup;
use super::entry::Entry;
use super::error::ConfigError;

/// Where the API key of a model comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// There is no key, and as far as is known the model needs none.
    None,
    /// This environment variable.
    Variable(String),
    /// This file.
    File(String),
    /// This environment variable, which is not set.
    UnsetVariable(String),
    /// This file, which cannot be used.
    UnusableFile {
        /// The path of the file.
        path: String,
        /// Why it cannot be used.
        problem: String,
    },
}

/// The API key of a model: from `key-env` or `key-file`, else from the usual variables of its provider.
pub(super) fn find_key(
    model: &Entry,
    provider: Provider,
    environment: EnvironmentLookup<'_>,
) -> Result<(Option<String>, KeySource), ConfigError> {
    let read = |variable: &str| environment(variable).filter(|key| !key.is_empty());
    match (model.text("key-env"), model.text("key-file")) {
        (Some(_), Some(_)) => Err(model.invalid("key-file", "`key-env` is set as well; write only one of the two")),
        (Some(variable), None) => Ok(match read(variable) {
            Some(key) => (Some(key), KeySource::Variable(variable.to_owned())),
            None => (None, KeySource::UnsetVariable(variable.to_owned())),
        }),
        (None, Some(path)) => Ok(match read_file(path) {
            Ok(key) => (Some(key), KeySource::File(path.to_owned())),
            Err(problem) => (None, KeySource::UnusableFile { path: path.to_owned(), problem }),
        }),
        (None, None) => {
            let variables = provider.key_variables();
            let found = variables.iter().find_map(|variable| Some((read(variable)?, (*variable).to_owned())));
            Ok(match (found, variables.first()) {
                (Some((key, variable)), _) => (Some(key), KeySource::Variable(variable)),
                // A self-hosted server may need no key.
                (None, Some(_)) if model.has("url") => (None, KeySource::None),
                (None, Some(usual)) => (None, KeySource::UnsetVariable((*usual).to_owned())),
                (None, None) => (None, KeySource::None),
            })
        }
    }
}

/// The text of a file without surrounding white space.
fn read_file(path: &str) -> Result<String, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    match text.trim() {
        "" => Err("it is empty".to_owned()),
        key => Ok(key.to_owned()),
    }
}

//! Where the API keys of models and tools come from.

use std::fs;
use std::path::Path;

use reknit_models::Provider;

use super::EnvironmentLookup;
use super::entry::Entry;
use super::error::ConfigError;
use super::regular_file::check_regular_file;

/// Where the API key of a model or a tool comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// There is no key, and as far as is known none is needed.
    None,
    Variable(String),
    File(String),
    UnsetVariable(String),
    UnusableFile {
        path: String,
        problem: String,
    },
}

impl KeySource {
    /// The place in which a key should be but is not, and why; `None` if the key is there or none is needed.
    pub fn missing(&self) -> Option<String> {
        match self {
            Self::None | Self::Variable(_) | Self::File(_) => None,
            Self::UnsetVariable(variable) => Some(format!("variable `{variable}`, which is not set")),
            Self::UnusableFile { path, problem } => Some(format!("file `{path}`, which cannot be used: {problem}")),
        }
    }
}

/// The API key of a model: from `key-env` or `key-file`, else from the usual variables of its provider.
pub(super) fn find_key(
    model: &Entry,
    provider: Provider,
    environment: EnvironmentLookup<'_>,
) -> Result<(Option<String>, KeySource), ConfigError> {
    let (key, source) = find_secret(model, environment)?;
    if source != KeySource::None {
        return Ok((key, source));
    }
    let read = |variable: &str| environment(variable).filter(|key| !key.is_empty());
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

/// The secret of an entry: from `key-env` or `key-file`.
pub(super) fn find_secret(
    entry: &Entry,
    environment: EnvironmentLookup<'_>,
) -> Result<(Option<String>, KeySource), ConfigError> {
    match (entry.text("key-env"), entry.text("key-file")) {
        (Some(_), Some(_)) => Err(entry.invalid("key-file", "`key-env` is set as well; write only one of the two")),
        (Some(variable), None) => match environment(variable).filter(|key| !key.is_empty()) {
            Some(key) => Ok((Some(key), KeySource::Variable(variable.to_owned()))),
            None if is_key_instead_of_variable(variable) => Err(entry.hidden("key-env", KEY_INSTEAD_OF_VARIABLE)),
            None => Ok((None, KeySource::UnsetVariable(variable.to_owned()))),
        },
        (None, Some(path)) => match read_file(path) {
            Ok(key) => Ok((Some(key), KeySource::File(path.to_owned()))),
            Err(_) if looks_like_key(path) => Err(entry.hidden(
                "key-file",
                "it looks like a key and is not shown here; write the path of a file that holds it",
            )),
            Err(problem) => Ok((None, KeySource::UnusableFile { path: path.to_owned(), problem })),
        },
        (None, None) => Ok((None, KeySource::None)),
    }
}

/// What to do if a key is written where the name of a variable belongs.
pub const KEY_INSTEAD_OF_VARIABLE: &str =
    "it looks like a key and is not shown here; write the name of a variable that holds it, like `MODEL_KEY`";

/// Whether a text that should name a variable is more likely a key.
pub fn is_key_instead_of_variable(text: &str) -> bool {
    !text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_') || looks_like_key(text)
}

/// Whether a text has the form of a key: a usual prefix, or a long word with digits and small letters.
fn looks_like_key(text: &str) -> bool {
    const PREFIXES: [&str; 9] = ["sk-", "sk_", "gsk_", "xai-", "AIza", "hf_", "ghp_", "pk-", "key-"];
    let is_word = text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter));
    let has = |is: fn(&char) -> bool| text.chars().any(|letter| is(&letter));
    let is_long = text.len() >= 20 && has(char::is_ascii_digit) && has(char::is_ascii_lowercase);
    is_word && (is_long || PREFIXES.iter().any(|prefix| text.starts_with(prefix)))
}

/// The text of a file without surrounding white space.
fn read_file(path: &str) -> Result<String, String> {
    let text = check_regular_file(Path::new(path)).and_then(|()| fs::read_to_string(path));
    let text = text.map_err(|error| error.to_string())?;
    match text.trim() {
        "" => Err("it is empty".to_owned()),
        key => Ok(key.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_variables_and_files_are_told_from_keys() {
        for key in ["sk-abc", "sk_live_1", "AIzaSyD3", "0123456789abcdef01234567", "abc.def", "a b", "gsk_x"] {
            assert!(is_key_instead_of_variable(key), "{key}");
        }
        for name in ["MODEL_KEY", "my_key", "ANTHROPIC_API_KEY_FOR_TEAM_2024", "key"] {
            assert!(!is_key_instead_of_variable(name), "{name}");
        }
        for path in ["key.txt", "/run/secrets/model-key-2024-production", "keys/0123456789abcdef01234567.txt"] {
            assert!(!looks_like_key(path), "{path}");
        }
    }
}

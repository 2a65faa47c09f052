//! What can be wrong with a configuration.

/// What is wrong with a configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It is no TOML, or has a key that nobody knows.
    #[error("`{name}` cannot be read")]
    Unreadable {
        /// What the text is called.
        name: String,
        /// Where and why.
        source: Box<toml::de::Error>,
    },
    /// A value cannot be used.
    #[error("in `{name}`: {problem}")]
    Value {
        /// What the text is called.
        name: String,
        /// What is wrong and what to write instead.
        problem: Problem,
    },
    /// A variable of the environment cannot be used.
    #[error("the variable `{variable}` is {value:?}; {wanted}")]
    Variable {
        /// Which one.
        variable: String,
        /// What it is set to.
        value: String,
        /// What would do.
        wanted: &'static str,
    },
}

/// A value that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` is {value:?}; {wanted}")]
pub struct Problem {
    /// Which key, with its section.
    pub key: String,
    /// What is written there.
    pub value: String,
    /// What would do.
    pub wanted: String,
}

impl Problem {
    pub(super) fn new(key: &str, value: &str, wanted: impl Into<String>) -> Self {
        Self { key: key.to_owned(), value: value.to_owned(), wanted: wanted.into() }
    }

    pub(super) fn in_file(self, name: &str) -> ConfigError {
        ConfigError::Value { name: name.to_owned(), problem: self }
    }
}

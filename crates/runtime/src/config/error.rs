//! What can be wrong with a configuration.

use std::path::PathBuf;

use reknit_engine::TemplateError;
use reknit_salvage::Place;

/// What is wrong with a configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It is no TOML, or has a key or a kind of value that nobody knows.
    #[error("`{name}` cannot be read at line {line}, `{written}`: {problem}")]
    Unreadable {
        /// What the text is called.
        name: String,
        /// The line, from 1.
        line: usize,
        /// What is written in that line.
        written: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A model's key is not there.
    #[error("the key of model `{model}` should be in the variable `{variable}`, which is not set")]
    UnsetKey {
        /// Which model.
        model: String,
        /// The variable.
        variable: String,
    },
    /// A model's key is not in its file.
    #[error("the key of model `{model}` should be in the file `{path}`, which cannot be used: {problem}")]
    KeyFile {
        /// Which model.
        model: String,
        /// The file.
        path: String,
        /// Why not.
        problem: String,
    },
    /// A value cannot be used.
    #[error("in `{name}`: {problem}")]
    Value {
        /// What the text is called.
        name: String,
        /// What is wrong and what to write instead.
        problem: Problem,
    },
    /// A folder or a file of prompts cannot be read.
    #[error("cannot read the prompts in `{}`", .path.display())]
    PromptFile {
        /// Which one.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A prompt cannot be used.
    #[error("cannot use the prompt in `{}`", .path.display())]
    Prompt {
        /// Where it is.
        path: PathBuf,
        /// Why not.
        source: TemplateError,
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

impl ConfigError {
    /// The line at fault with what is wrong: the message of `error` alone does not name its key.
    pub(super) fn unreadable(name: &str, text: &str, error: &toml::de::Error) -> Self {
        let line = error.span().map_or(1, |span| Place::of(text, span.start).line);
        let written = text.lines().nth(line - 1).unwrap_or_default().trim().to_owned();
        let problem = error.message().trim().replace('\n', "; ");
        Self::Unreadable { name: name.to_owned(), line, written, problem }
    }
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

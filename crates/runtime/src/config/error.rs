//! What can be wrong with a configuration.

use std::path::PathBuf;

use reknit_engine::TemplateError;
use reknit_protocol::shown_urls;
use reknit_salvage::Place;

use super::Origin;

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
    /// There is a limit of money, and a model of which nobody knows what it costs.
    #[error(
        "`limits.money` is set, and nothing says what model `{model}` costs; write `price-input` and `price-output` for a \
         million tokens in its `[[models]]`, 0 if it is free"
    )]
    Unpriced {
        /// Which model.
        model: String,
    },
    /// A value cannot be used.
    #[error("{origin}: {problem}")]
    Value {
        /// Where it is written.
        origin: Origin,
        /// What is wrong and what to write instead.
        problem: Problem,
    },
    /// Nothing has this name.
    #[error("{origin}: there is no setting `{name}`; {hint}")]
    Unknown {
        /// Where it is written.
        origin: Origin,
        /// The name.
        name: String,
        /// What may have been meant.
        hint: String,
    },
    /// Something is set under two of its names.
    #[error("{origin}: `{name}` is set a second time; it is in line {first} already")]
    Twice {
        /// Where it is written.
        origin: Origin,
        /// What is set.
        name: String,
        /// The line where it is set first.
        first: usize,
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
    /// A prompt from code cannot be used.
    #[error("cannot use a prompt of the program")]
    BuiltPrompt(#[from] TemplateError),
    /// A variable of the environment cannot be used.
    #[error("the variable `{variable}` is {value:?}; {wanted}")]
    Variable {
        /// Which one.
        variable: String,
        /// What it is set to.
        value: String,
        /// What would do.
        wanted: String,
    },
}

impl ConfigError {
    /// The line at fault with what is wrong: the message of `error` alone does not name its key.
    pub(super) fn unreadable(name: &str, text: &str, error: &toml::de::Error) -> Self {
        let line = error.span().map_or(1, |span| Place::of(text, span.start).line);
        let written = text.lines().nth(line - 1).unwrap_or_default().trim();
        let problem = error.message().trim().replace('\n', "; ");
        Self::Unreadable { name: name.to_owned(), line, written: shown_urls(written), problem }
    }
}

/// A value that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is {written}; {wanted}")]
pub struct Problem {
    /// Which setting, with its section.
    pub name: String,
    /// What is written there, as it is written, but for what may be secret in an address.
    pub written: String,
    /// What would do.
    pub wanted: String,
}

impl Problem {
    /// A problem with what is written in a file.
    pub(super) fn new(name: &str, written: &str, wanted: impl Into<String>) -> Self {
        Self { name: name.to_owned(), written: shown_urls(written), wanted: wanted.into() }
    }

    pub(super) fn at(self, file: &str, line: usize) -> ConfigError {
        ConfigError::Value { origin: Origin::File { name: file.to_owned(), line }, problem: self }
    }
}

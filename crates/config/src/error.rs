//! Why a configuration cannot be used.

use std::path::PathBuf;

use reknit_engine::TemplateError;
use reknit_protocol::redact_urls;

use super::SettingOrigin;

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file is not valid TOML, there is no such setting, or the setting does not accept the value.
    #[error("{origin}: {problem}")]
    Invalid {
        /// Where it is written.
        origin: SettingOrigin,
        /// What is wrong, and what to write instead.
        problem: String,
    },
    /// The API key of a model is missing.
    #[error("the key of model `{model}` should be in the {place}")]
    MissingKey {
        /// The name of the model.
        model: String,
        /// The variable or the file, and why it cannot be used.
        place: String,
    },
    /// The key of a tool is missing.
    #[error("the key of tool `{tool}` should be in the {place}")]
    MissingToolKey {
        /// The name of the tool.
        tool: String,
        /// The variable or the file, and why it cannot be used.
        place: String,
    },
    /// The key of the approval webhook is missing.
    #[error("the key of the approval webhook should be in the {place}")]
    MissingWebhookKey {
        /// The variable, and why it cannot be used.
        place: String,
    },
    /// A tool cannot be used with its settings.
    #[error("tool `{tool}`: {problem}")]
    UnusableTool {
        /// The name of the tool.
        tool: String,
        /// Why it cannot be used.
        problem: String,
    },
    /// `limits.money` is set, and this model has no price.
    #[error(
        "`limits.money` is set, but the price of model `{0}` is unknown; write `price-input` and `price-output` per \
         million tokens in its `[[models]]`, 0 if it is free"
    )]
    MissingPrice(String),
    /// A folder or a file with prompt templates cannot be read.
    #[error("cannot read the prompts in `{}`", .path.display())]
    PromptFile {
        /// The path.
        path: PathBuf,
        /// Why it cannot be read.
        source: std::io::Error,
    },
    /// The file with learned rules cannot be used.
    #[error(transparent)]
    Rules(Box<dyn std::error::Error + Send + Sync>),
    /// A prompt template in a file cannot be used.
    #[error("cannot use the prompt in `{}`", .path.display())]
    Prompt {
        /// The path of the file.
        path: PathBuf,
        /// Why it cannot be used.
        source: TemplateError,
    },
    /// A prompt template of the program's [`PromptBuilder`](reknit_engine::PromptBuilder) cannot be used.
    #[error("cannot use a prompt of the program")]
    BuiltPrompt(#[from] TemplateError),
    /// The HTTP client cannot be created, most likely because there are no root certificates.
    #[cfg(feature = "http")]
    #[error("cannot start the HTTP client")]
    HttpClient(#[from] reknit_tools::ClientError),
}

impl ConfigError {
    /// A setting does not accept a value. Secrets in URLs are redacted.
    pub(super) fn invalid_value(origin: SettingOrigin, name: &str, written: &str, expected: &str) -> Self {
        Self::Invalid { origin, problem: format!("`{name}` is {}; {expected}", redact_urls(written)) }
    }

    /// There is no setting with this name.
    pub(super) fn unknown_setting(origin: SettingOrigin, name: &str, hint: &str) -> Self {
        Self::Invalid { origin, problem: format!("there is no setting `{name}`; {hint}") }
    }
}

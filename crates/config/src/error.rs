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
        origin: SettingOrigin,
        /// What is wrong, and what to write instead.
        problem: String,
    },
    #[error("the key of model `{model}` should be in the {place}")]
    MissingKey {
        model: String,
        /// The variable or the file, and why it cannot be used.
        place: String,
    },
    #[error("the key of tool `{tool}` should be in the {place}")]
    MissingToolKey {
        tool: String,
        /// The variable or the file, and why it cannot be used.
        place: String,
    },
    #[error("the key of the approval webhook should be in the {place}")]
    MissingWebhookKey {
        /// The variable, and why it cannot be used.
        place: String,
    },
    #[error("tool `{tool}`: {problem}")]
    UnusableTool { tool: String, problem: String },
    /// `limits.money` is set, and this model has no price.
    #[error(
        "`limits.money` is set, but the price of model `{0}` is unknown; write `price-input` and `price-output` per \
         million tokens in its `[[models]]`, 0 if it is free"
    )]
    MissingPrice(String),
    #[error("cannot read the prompts in `{}`", .path.display())]
    PromptFile { path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    Rules(Box<dyn std::error::Error + Send + Sync>),
    #[error("cannot use the prompt in `{}`", .path.display())]
    Prompt { path: PathBuf, source: TemplateError },
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

    pub(super) fn unknown_setting(origin: SettingOrigin, name: &str, hint: &str) -> Self {
        Self::Invalid { origin, problem: format!("there is no setting `{name}`; {hint}") }
    }
}

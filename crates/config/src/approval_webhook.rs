//! `[approvals]`: where questions to a person are sent.

use std::fmt;

use reknit_protocol::redact_url;
use secrecy::SecretString;

use super::api_keys::{KEY_INSTEAD_OF_VARIABLE, KeySource, is_key_instead_of_variable};
use super::error::ConfigError;
use super::origin::ConfiguredValues;
use super::{EnvironmentLookup, Setting};

/// The address of a webhook. What may be a secret in it is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookUrl(String);

impl WebhookUrl {
    /// Reads an address of http or https.
    pub fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let is_http = ["http", "https"].iter().any(|known| known.eq_ignore_ascii_case(scheme));
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let is_host = !host.is_empty() && !host.ends_with('@') && !host.starts_with(':');
        let has_space = text.contains(|c: char| c.is_whitespace() || c.is_control());
        (is_http && is_host && !has_space).then(|| Self(text.to_owned()))
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WebhookUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&redact_url(&self.0))
    }
}

impl fmt::Debug for WebhookUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{self}")
    }
}

/// Where questions to a person are sent, and where the key of their signature comes from.
#[derive(Debug, Clone, Default)]
pub struct WebhookSettings {
    pub url: Option<WebhookUrl>,
    pub secret_variable: Option<String>,
}

/// The key of the signature and where it comes from.
pub(super) fn find_secret(
    values: &ConfiguredValues,
    environment: EnvironmentLookup<'_>,
) -> Result<(Option<SecretString>, KeySource), ConfigError> {
    let Some(secret) = Setting::find("approvals.webhook-secret-env") else { return Ok((None, KeySource::None)) };
    let Some((variable, origin)) = values.get(secret) else { return Ok((None, KeySource::None)) };
    let variable = variable.as_str().unwrap_or_default();
    match environment(variable).filter(|key| !key.is_empty()) {
        Some(key) => Ok((Some(key.into()), KeySource::Variable(variable.to_owned()))),
        None if is_key_instead_of_variable(variable) => {
            Err(ConfigError::invalid_value(origin.clone(), secret.name, "hidden", KEY_INSTEAD_OF_VARIABLE))
        }
        None => Ok((None, KeySource::UnsetVariable(variable.to_owned()))),
    }
}

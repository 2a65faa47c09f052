//! `[approvals]`: where questions to a person are sent.

use secrecy::SecretString;

use super::api_keys::{KEY_INSTEAD_OF_VARIABLE, KeySource, is_key_instead_of_variable};
use super::error::ConfigError;
use super::origin::ConfiguredValues;
use super::webhook_url::WebhookUrl;
use super::{EnvironmentLookup, Setting};

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

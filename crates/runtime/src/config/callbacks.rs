//! `[callbacks]`: the URLs that tools call when a job has ended.

use std::fs;
use std::path::{Path, PathBuf};

#[cfg(feature = "http")]
use secrecy::ExposeSecret as _;
use secrecy::SecretString;

use super::error::ConfigError;
use super::regular_file::check_regular_file;
use super::{Config, EnvironmentLookup};
use crate::callbacks::Callbacks;

/// The variable with the secret that signs callback URLs, unless another one is named.
pub const CALLBACK_SECRET_VARIABLE: &str = "REKNIT_CALLBACK_SECRET";

/// A shorter secret could be guessed.
#[cfg(feature = "http")]
const MIN_SECRET_BYTES: usize = 16;

/// The URLs that tools call when a job has ended.
#[derive(Debug, Clone, Default)]
pub struct CallbackSettings {
    /// The public base URL; without it no call has a callback URL.
    pub url: Option<String>,
    /// The variable with the secret, if it is not the usual one.
    pub secret_env: Option<String>,
    /// The file with the secret, instead of a variable.
    pub secret_file: Option<PathBuf>,
}

impl CallbackSettings {
    /// The secret, or where it should be.
    pub(super) fn find_secret(&self, environment: EnvironmentLookup<'_>) -> Result<SecretString, String> {
        let variable = self.secret_env.as_deref().unwrap_or(CALLBACK_SECRET_VARIABLE);
        let text = match &self.secret_file {
            Some(path) => read_file(path).map_err(|problem| format!("file `{}`: {problem}", path.display()))?,
            None => environment(variable).ok_or_else(|| format!("variable `{variable}`, which is not set"))?,
        };
        Ok(text.trim().into())
    }
}

fn read_file(path: &Path) -> Result<String, std::io::Error> {
    check_regular_file(path).and_then(|()| fs::read_to_string(path))
}

#[cfg(not(feature = "http"))]
impl Config {
    /// What makes callback URLs: nothing. Fails if they are configured.
    pub fn callbacks(&self) -> Result<Option<Callbacks>, ConfigError> {
        match self.callbacks.url {
            Some(_) => Err(self.without_http("callbacks.url")),
            None => Ok(None),
        }
    }
}

#[cfg(feature = "http")]
impl Config {
    /// What makes and verifies callback URLs; `None` if they are not configured. Fails if the URL or the secret cannot be used.
    pub fn callbacks(&self) -> Result<Option<Callbacks>, ConfigError> {
        let Some(url) = &self.callbacks.url else { return Ok(None) };
        let invalid = |problem: String| ConfigError::Invalid { origin: self.origin_of("callbacks.url"), problem };
        let is_url = reknit_tools::Address::parse("callbacks", url).is_ok();
        if !is_url || url.contains(['?', '#']) {
            let problem = "`callbacks.url` is not a URL without a query; write it like `https://me.example/hooks`";
            return Err(invalid(problem.to_owned()));
        }
        let missing = || Err(format!("variable `{CALLBACK_SECRET_VARIABLE}`, which is not set"));
        let secret = self.callback_secret.clone().unwrap_or_else(missing);
        let secret = secret.map_err(|place| {
            invalid(format!("`callbacks.url` needs a secret that signs the URLs; it should be in the {place}"))
        })?;
        if secret.expose_secret().len() < MIN_SECRET_BYTES {
            return Err(invalid(format!("the secret of `[callbacks]` has fewer than {MIN_SECRET_BYTES} characters")));
        }
        let limits = &self.policy.limits;
        Ok(Some(Callbacks::new(url, &secret, limits.job_ms.saturating_add(limits.call_ms))))
    }
}

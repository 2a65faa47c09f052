//! `[callbacks]`: the URLs that tools call when a job has ended.

use std::fs;
use std::path::{Path, PathBuf};

use secrecy::SecretString;

use super::EnvironmentLookup;
use super::regular_file::check_regular_file;

/// The variable with the secret that signs callback URLs, unless another one is named.
pub const CALLBACK_SECRET_VARIABLE: &str = "REKNIT_CALLBACK_SECRET";

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

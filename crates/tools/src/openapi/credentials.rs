//! Which credentials an operation gets: those of the first way to authenticate for which all secrets are configured.

use reknit_openapi::{Operation, ParameterLocation, SecurityNeed, SecurityScheme};

use super::OpenApiOptions;
use crate::http::credential::Credential;

/// The credentials of an operation.
#[derive(Debug, Default)]
pub(super) struct ChosenCredentials {
    /// The names of the schemes that they are for.
    pub(super) schemes: Vec<String>,
    pub(super) credentials: Vec<Credential>,
    /// What is missing, if the operation needs credentials that are not configured.
    pub(super) note: Option<String>,
}

impl ChosenCredentials {
    pub(super) fn of(operation: &Operation, options: &OpenApiOptions) -> Self {
        if !options.http.credentials.is_empty() || operation.security.is_empty() {
            return Self::default();
        }
        let mut missing = None;
        for way in &operation.security {
            match way.iter().map(|need| credential(need, options)).collect::<Result<Vec<_>, _>>() {
                // A way without needs is for callers without credentials. Those who have some send them.
                Ok(credentials) if credentials.is_empty() => {}
                Ok(credentials) => {
                    let schemes = way.iter().map(|need| need.name.clone()).collect();
                    return Self { schemes, credentials, note: None };
                }
                Err(message) => {
                    missing.get_or_insert(message);
                }
            }
        }
        let is_optional = operation.security.iter().any(Vec::is_empty);
        Self { note: missing.filter(|_| !is_optional), ..Self::default() }
    }
}

/// The credential for one need. Fails with a message that says what to configure.
fn credential(need: &SecurityNeed, options: &OpenApiOptions) -> Result<Credential, String> {
    let SecurityNeed { name, scheme, .. } = need;
    if let SecurityScheme::Unsupported { description } = scheme {
        return Err(format!(
            "operations need the credential `{name}`: {description}, which is not supported; say how to send it with \
             `auth` and `key-env`"
        ));
    }
    let key = options.scheme_keys.get(name).or(options.key.as_ref()).cloned().ok_or_else(|| {
        format!("operations need the credential `{name}` ({}); write `key-env` or `schemes`", describe(scheme))
    })?;
    Ok(match scheme {
        SecurityScheme::Bearer => Credential::Bearer(key),
        SecurityScheme::Basic => {
            let user = options.user.clone();
            Credential::Basic { user: user.ok_or("basic authentication needs a `user`")?, password: key }
        }
        SecurityScheme::ApiKey { location, parameter } => match location {
            ParameterLocation::Query => Credential::Query { name: parameter.clone(), key },
            ParameterLocation::Cookie => Credential::Cookie { name: parameter.clone(), key },
            ParameterLocation::Header | ParameterLocation::Path => Credential::Header { name: parameter.clone(), key },
        },
        SecurityScheme::ClientCredentials { .. } | SecurityScheme::Unsupported { .. } => {
            return Err(format!("the credential `{name}` is not supported"));
        }
    })
}

fn describe(scheme: &SecurityScheme) -> String {
    match scheme {
        SecurityScheme::ApiKey { location, parameter } => format!("a key in {} `{parameter}`", location.as_str()),
        SecurityScheme::Bearer => "a bearer token".to_owned(),
        SecurityScheme::Basic => "a user and a password".to_owned(),
        SecurityScheme::ClientCredentials { token_url, .. } => format!("a token from {token_url}"),
        SecurityScheme::Unsupported { description } => description.clone(),
    }
}

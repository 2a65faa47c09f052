//! Which credentials an operation gets: those of the first way to authenticate for which all secrets are configured.

use reknit_openapi::{Operation, ParameterLocation, SecurityNeed, SecurityScheme};

use secrecy::SecretString;

use super::OpenApiOptions;
use super::server::is_allowed;
use crate::http::credential::Credential;
use crate::http::token::ClientCredentials;

/// Headers that decide where a request goes or how it is read. A document must not have a key sent as one of them.
const FRAMING_HEADERS: &str = "accept-encoding connection content-encoding content-length content-type expect forwarded host te \
    trailer transfer-encoding upgrade x-forwarded-host";

#[derive(Debug, Default)]
pub(super) struct ChosenCredentials {
    pub(super) schemes: Vec<String>,
    pub(super) credentials: Vec<Credential>,
    pub(super) client_credentials: Option<ClientCredentials>,
    /// What is missing, if the operation needs credentials that are not configured.
    pub(super) note: Option<String>,
}

impl ChosenCredentials {
    pub(super) fn of(operation: &Operation, options: &OpenApiOptions, address: &reqwest::Url) -> Self {
        let is_fixed = !options.http.credentials.is_empty() || options.http.client_credentials.is_some();
        if is_fixed || operation.security.is_empty() {
            return Self::default();
        }
        let mut missing = None;
        for way in &operation.security {
            match way.iter().map(|need| credential(need, options, address)).collect::<Result<Vec<_>, _>>() {
                // A way without needs is for callers without credentials. Those who have some send them.
                Ok(found) if found.is_empty() => {}
                Ok(found) => {
                    let schemes = way.iter().map(|need| need.name.clone()).collect();
                    let mut chosen = Self { schemes, ..Self::default() };
                    for one in found {
                        match one {
                            FoundCredential::Fixed(credential) => chosen.credentials.push(credential),
                            FoundCredential::Client(client) => chosen.client_credentials = Some(client),
                        }
                    }
                    return chosen;
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
fn credential(
    need: &SecurityNeed,
    options: &OpenApiOptions,
    address: &reqwest::Url,
) -> Result<FoundCredential, String> {
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
    let fixed = match scheme {
        SecurityScheme::Bearer => Credential::Bearer(key),
        SecurityScheme::Basic => {
            let user = options.user.clone();
            Credential::Basic { user: user.ok_or("basic authentication needs a `user`")?, password: key }
        }
        SecurityScheme::ApiKey { location, parameter } => match location {
            ParameterLocation::Query => Credential::Query { name: parameter.clone(), key },
            ParameterLocation::Cookie => Credential::Cookie { name: parameter.clone(), key },
            ParameterLocation::Header | ParameterLocation::Path if frames_request(parameter) => {
                return Err(format!(
                    "the document sends the credential `{name}` in the header `{parameter}`, which decides where a request goes or \
                     how it is read; say how to send it with `auth` and `key-env`"
                ));
            }
            ParameterLocation::Header | ParameterLocation::Path => Credential::Header { name: parameter.clone(), key },
        },
        SecurityScheme::ClientCredentials { token_url, .. } => {
            return client_credentials(need, token_url, key, options, address).map(FoundCredential::Client);
        }
        SecurityScheme::Unsupported { .. } => return Err(format!("the credential `{name}` is not supported")),
    };
    Ok(FoundCredential::Fixed(fixed))
}

fn frames_request(header: &str) -> bool {
    FRAMING_HEADERS.split(' ').any(|name| name.eq_ignore_ascii_case(header.trim()))
}

enum FoundCredential {
    Fixed(Credential),
    Client(ClientCredentials),
}

/// The document says where tokens are fetched, so that place is checked like a server.
fn client_credentials(
    need: &SecurityNeed,
    token_url: &str,
    client_secret: SecretString,
    options: &OpenApiOptions,
    address: &reqwest::Url,
) -> Result<ClientCredentials, String> {
    let client_id = options.user.clone().ok_or("client credentials need the id of the client as `user`")?;
    let token_url =
        address.join(token_url).map_err(|error| format!("the token URL `{token_url}` is invalid: {error}"))?;
    if token_url.origin() != address.origin() && !is_allowed(&token_url, &options.allowed_hosts) {
        let host = token_url.host_str().unwrap_or_default();
        return Err(format!(
            "the document says that tokens come from `{host}`, which the configuration does not allow; if it is right, write \
             `allow-hosts = [\"{host}\"]`"
        ));
    }
    Ok(ClientCredentials { token_url, client_id, client_secret, scopes: need.scopes.clone() })
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

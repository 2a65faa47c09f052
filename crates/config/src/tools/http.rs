//! Services over HTTP: the entries of `[[tools]]`, and the options that all lists of services share.

use reknit_protocol::Object;
use reknit_tools::{Address, ClientCredentials, ComponentType, ConnectionOptions, Credential, HttpOptions};
use secrecy::SecretString;

use super::{ConfiguredSource, ToolEntry};
use crate::api_keys::{KeySource, find_secret};
use crate::authentication::Authentication;
use crate::entry::Entry;
use crate::error::ConfigError;

pub(super) fn service(tool: &mut ToolEntry<'_>) -> Result<ConfiguredSource, ConfigError> {
    let ToolEntry { entry, name, .. } = *tool;
    let mut address = Address::parse(name.clone(), entry.text("url").unwrap_or_default())
        .map_err(|_| entry.invalid("url", "write an http or https address, like `http://127.0.0.1:8085`"))?;
    address.component = entry.text("type").and_then(ComponentType::from_word);
    let http = http_options_with_key(tool)?;
    Ok(ConfiguredSource::Service { address, http: Box::new(http) })
}

/// The options of an entry, with its credential.
pub(super) fn http_options_with_key(tool: &mut ToolEntry<'_>) -> Result<HttpOptions, ConfigError> {
    let ToolEntry { entry, environment, .. } = *tool;
    let mut http = http_options(entry)?;
    let (key, source) = find_secret(entry, environment)?;
    tool.keys.push(source);
    tool.keys.extend(certificate_key(entry));
    add_credential(entry, key.map(Into::into), &mut http)?;
    Ok(http)
}

/// The file with the client's certificate has a key, too.
pub(super) fn certificate_key(entry: &Entry) -> Option<KeySource> {
    entry.text("certificate-file").map(|path| KeySource::File(path.to_owned()))
}

pub(super) fn connection(entry: &Entry) -> ConnectionOptions {
    ConnectionOptions {
        ca_file: entry.text("ca-file").map(Into::into),
        certificate_file: entry.text("certificate-file").map(Into::into),
        proxy: entry.text("proxy").map(str::to_owned),
    }
}

pub(super) fn http_options(entry: &Entry) -> Result<HttpOptions, ConfigError> {
    let mut options = HttpOptions::default();
    for (name, value) in &entry.get::<Object>("headers").unwrap_or_default() {
        let value = value.as_str().unwrap_or_default();
        options
            .add_header(name, value)
            .map_err(|_| entry.hidden("headers", &format!("the header `{name}` is not valid")))?;
    }
    options.connection = connection(entry);
    options.time_limit = entry.get("time");
    options.max_body = entry.get("max-bytes").unwrap_or(options.max_body);
    Ok(options)
}

pub(super) fn add_credential(
    entry: &Entry,
    key: Option<SecretString>,
    http: &mut HttpOptions,
) -> Result<(), ConfigError> {
    let authentication = entry.get("auth").unwrap_or(Authentication::Bearer);
    for (name, users) in [
        ("user", &[Authentication::Basic, Authentication::ClientCredentials][..]),
        ("token-url", &[Authentication::ClientCredentials]),
        ("scopes", &[Authentication::ClientCredentials]),
        ("auth-name", &[Authentication::Header, Authentication::Query, Authentication::Cookie]),
    ] {
        if entry.has(name) && !users.contains(&authentication) {
            return Err(entry.invalid(name, "it has no effect with this `auth`; remove it, or write another `auth`"));
        }
    }
    let Some(key) = key else {
        let is_named = entry.has("key-env") || entry.has("key-file");
        if entry.has("auth") && !is_named {
            return Err(entry.invalid("auth", "write also where the key is: `key-env` or `key-file`"));
        }
        return Ok(());
    };
    let user = |what: &str| {
        let expected = format!("write the {what}");
        entry.text("user").map(str::to_owned).ok_or_else(|| entry.invalid("user", &expected))
    };
    let name = |what: &str| {
        let expected = format!("write the name of the {what} that holds the key");
        entry.text("auth-name").map(str::to_owned).ok_or_else(|| entry.invalid("auth-name", &expected))
    };
    http.credentials.push(match authentication {
        Authentication::Bearer => Credential::Bearer(key),
        Authentication::Basic => Credential::Basic { user: user("name of the user")?, password: key },
        Authentication::Header => Credential::Header { name: name("header")?, key },
        Authentication::Query => Credential::Query { name: name("query parameter")?, key },
        Authentication::Cookie => Credential::Cookie { name: name("cookie")?, key },
        Authentication::ClientCredentials => {
            let expected = "write the http or https address where tokens are fetched";
            let token_url = Address::parse("token", entry.text("token-url").unwrap_or_default());
            http.client_credentials = Some(ClientCredentials {
                token_url: token_url.map_err(|_| entry.invalid("token-url", expected))?.into_base(),
                client_id: user("id of the client")?,
                client_secret: key,
                scopes: entry.texts("scopes"),
            });
            return Ok(());
        }
    });
    Ok(())
}

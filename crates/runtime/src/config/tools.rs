//! The tools of `[[tools]]`, `[[openapi]]`, `[[mcp]]`, `[[http]]` and `[[command]]`: where their capabilities come from, and how they are called.

mod defined;
#[cfg(feature = "mcp")]
mod mcp;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

#[cfg(feature = "mcp")]
use reknit_mcp::{McpConnection, McpOptions, McpSource};
use reknit_mend::ErrorsInSuccess;
use reknit_openapi::{HttpMethod, OperationFilter};
use reknit_protocol::{AgentName, CapabilityName, Object};
use reknit_tools::{
    Address, Client, ClientCredentials, CommandTool, ComponentType, ConnectionOptions, Credential, DocumentLocation,
    HttpOptions, HttpService, KnownSecrets, OpenApiOptions, OpenApiService, PlainHttpCapability, PlainHttpService,
    Sandbox, SandboxMode, ServiceError, ToolService, ToolSource,
};
use secrecy::SecretString;

use super::EnvironmentLookup;
use super::api_keys::{KeySource, find_secret};
use super::entry::Entry;
use super::error::ConfigError;
use crate::{CallRate, InvalidRate, ToolLimits};

/// A tool of the configuration.
#[derive(Debug, Clone)]
pub struct ConfiguredTool {
    /// Its name in plans.
    pub name: AgentName,
    /// Where its capabilities come from.
    pub source: ConfiguredSource,
    /// The capability, if it is only one. Other tools with the same name may have others.
    pub capability: Option<CapabilityName>,
    /// Where its keys come from, and the variables that are passed to a command.
    pub keys: Vec<KeySource>,
    /// The list of the file that it belongs to, such as `tools`.
    pub(super) list: &'static str,
    /// Its entry as written, without secrets.
    pub(super) shown: Object,
}

/// Where the capabilities of a tool come from.
#[derive(Debug, Clone)]
pub enum ConfiguredSource {
    /// A service that speaks the tool protocol.
    Service {
        /// Its address.
        address: Address,
        /// How requests to it are made.
        http: Box<HttpOptions>,
    },
    /// A service that an API description describes.
    OpenApi(Box<OpenApiOptions>),
    /// One capability of a service over HTTP.
    PlainHttp(Box<PlainHttpCapability>),
    /// A command of this machine.
    Command(Box<CommandTool>),
    /// An MCP server.
    #[cfg(feature = "mcp")]
    Mcp(Box<McpOptions>),
    /// A source that a program made.
    Program(Arc<dyn ToolSource>),
}

/// How the key of a service is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Authentication {
    Bearer,
    Basic,
    Header,
    Query,
    Cookie,
    ClientCredentials,
}

/// How we are let in by an MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum McpAuthentication {
    Bearer,
    OAuth,
}

impl ConfiguredTool {
    /// A service that speaks the tool protocol and needs no credentials.
    pub fn service(address: Address) -> Self {
        let shown = Object::from([("name", address.name.as_str().into()), ("url", address.to_string().into())]);
        let name = address.name.clone();
        let source = ConfiguredSource::Service { address, http: Box::default() };
        Self { name, source, capability: None, keys: Vec::new(), list: "tools", shown }
    }

    /// A source that a program made.
    pub fn of_program(source: Arc<dyn ToolSource>) -> Self {
        let shown = Object::from([("name", source.name().as_str().into()), ("url", source.address().into())]);
        let name = source.name().clone();
        let source = ConfiguredSource::Program(source);
        Self { name, source, capability: None, keys: Vec::new(), list: "tools", shown }
    }

    /// A source that a program made, with this capability only.
    pub fn capability_of_program(source: Arc<dyn ToolSource>, capability: CapabilityName) -> Self {
        let mut tool = Self::of_program(source);
        tool.shown.insert("capability", capability.as_str());
        Self { capability: Some(capability), ..tool }
    }

    /// Whether this tool takes the place of another one.
    pub(super) fn replaces(&self, other: &Self) -> bool {
        let is_other_capability =
            self.capability.is_some() && other.capability.is_some() && self.capability != other.capability;
        self.name == other.name && !is_other_capability
    }

    /// What the program may do that is started for it; `None` if there is none.
    pub fn sandbox(&self) -> Option<Sandbox> {
        match &self.source {
            ConfiguredSource::Command(command) => Some(command.sandbox().clone()),
            #[cfg(feature = "mcp")]
            ConfiguredSource::Mcp(options) => match &options.connection {
                McpConnection::Stdio(program) => Some(program.sandbox.clone().unwrap_or_else(Sandbox::off)),
                McpConnection::Http(_) => None,
            },
            ConfiguredSource::Service { .. }
            | ConfiguredSource::OpenApi(_)
            | ConfiguredSource::PlainHttp(_)
            | ConfiguredSource::Program(_) => None,
        }
    }

    /// The credentials of its service, in every form in which the service may send them back. Only services over HTTP are told
    /// where to call back.
    pub fn secrets(&self) -> KnownSecrets {
        match &self.source {
            ConfiguredSource::Service { http, .. } => http.secrets(),
            ConfiguredSource::OpenApi(options) => options.secrets(),
            ConfiguredSource::PlainHttp(capability) => capability.secrets(),
            #[cfg(feature = "mcp")]
            ConfiguredSource::Mcp(_) => KnownSecrets::default(),
            ConfiguredSource::Command(_) | ConfiguredSource::Program(_) => KnownSecrets::default(),
        }
    }

    /// Where a key should be but is not, and why; `None` if nothing is missing.
    pub fn missing_key(&self) -> Option<String> {
        self.keys.iter().find_map(KeySource::missing)
    }

    /// Its entry as it is written in the configuration, without secrets.
    pub fn shown(&self) -> &Object {
        &self.shown
    }

    /// The source, which uses `client` for HTTP.
    pub(crate) fn open(&self, client: &Client) -> Result<Arc<dyn ToolSource>, ConfigError> {
        let unusable =
            |error: ServiceError| ConfigError::UnusableTool { tool: self.name.to_string(), problem: error.to_string() };
        Ok(match &self.source {
            ConfiguredSource::Service { address, http } => {
                let service = HttpService::new(address.clone(), client.clone(), http.as_ref().clone());
                Arc::new(ToolService::new(service.map_err(unusable)?))
            }
            ConfiguredSource::OpenApi(options) => {
                Arc::new(OpenApiService::new(options.as_ref().clone(), client.clone()))
            }
            ConfiguredSource::PlainHttp(capability) => {
                let service = PlainHttpService::new(capability.as_ref().clone(), client.clone());
                Arc::new(service.map_err(unusable)?)
            }
            ConfiguredSource::Command(tool) => Arc::new(tool.as_ref().clone()),
            #[cfg(feature = "mcp")]
            ConfiguredSource::Mcp(options) => Arc::new(McpSource::new(options.as_ref().clone())),
            ConfiguredSource::Program(source) => Arc::clone(source),
        })
    }
}

/// Reads the entries of all lists of tools.
pub(super) fn read_tools<'a>(
    entries: impl Iterator<Item = &'a Entry>,
    known: &mut Vec<ConfiguredTool>,
    environment: EnvironmentLookup<'_>,
) -> Result<(), ConfigError> {
    for entry in entries {
        let capability = defined::capability_name(entry);
        // Only tools that are one capability each can share a name.
        let is_whole = |tool: &ConfiguredTool| tool.capability.is_none() || capability.is_none();
        let name = entry.name(|name| known.iter().any(|tool| tool.name.as_str() == name && is_whole(tool)))?;
        let name = AgentName::from(name);
        if known.iter().any(|tool| tool.name == name && tool.capability == capability) {
            return Err(entry.invalid("capability", "another entry of this tool has it; write a different one"));
        }
        let mut keys = Vec::new();
        let source = match entry.list() {
            #[cfg(feature = "mcp")]
            "mcp" => ConfiguredSource::Mcp(Box::new(mcp::options(entry, &name, &mut keys, environment)?)),
            #[cfg(not(feature = "mcp"))]
            "mcp" => return Err(entry.invalid("name", "this program was built without the feature `mcp`")),
            "openapi" => ConfiguredSource::OpenApi(Box::new(openapi_options(entry, &name, &mut keys, environment)?)),
            "http" => defined::plain_http(entry, &name, &mut keys, environment)?,
            "command" => defined::command(entry, &name, &mut keys, environment)?,
            _ => service(entry, &name, &mut keys, environment)?,
        };
        known.push(ConfiguredTool { name, source, capability, keys, list: entry.list(), shown: entry.shown() });
    }
    Ok(())
}

/// What `errors-in-success` says, by tool. Fails if the entries of one tool say different things.
pub(super) fn read_errors_in_success<'a>(
    entries: impl Iterator<Item = &'a Entry>,
) -> Result<BTreeMap<String, ErrorsInSuccess>, ConfigError> {
    let mut known = BTreeMap::new();
    for entry in entries {
        let (Some(name), Some(said)) = (entry.text("name"), entry.get("errors-in-success")) else { continue };
        if known.insert(name.to_owned(), said).is_some_and(|earlier| earlier != said) {
            return Err(entry.invalid("errors-in-success", "another entry of this tool says otherwise; write the same"));
        }
    }
    Ok(known)
}

/// What `max-concurrent` and `rate` say, by tool. Fails if the entries of one tool say different things.
pub(super) fn read_limits<'a>(
    entries: impl Iterator<Item = &'a Entry>,
) -> Result<BTreeMap<String, ToolLimits>, ConfigError> {
    let mut known: BTreeMap<String, ToolLimits> = BTreeMap::new();
    for entry in entries {
        let concurrent: Option<usize> = entry.get("max-concurrent");
        let rate: Option<Result<CallRate, InvalidRate>> = entry.text("rate").map(str::parse);
        let rate = rate.transpose().map_err(|error| entry.invalid("rate", &error.to_string()))?;
        let (Some(name), true) = (entry.text("name"), concurrent.is_some() || rate.is_some()) else { continue };
        let limits = known.entry(name.to_owned()).or_default();
        let otherwise = |key| entry.invalid(key, "another entry of this tool says otherwise; write the same");
        if concurrent.is_some() && limits.concurrent.is_some_and(|earlier| Some(earlier) != concurrent) {
            return Err(otherwise("max-concurrent"));
        }
        if rate.is_some() && limits.rate.is_some_and(|earlier| Some(earlier) != rate) {
            return Err(otherwise("rate"));
        }
        *limits = ToolLimits { concurrent: limits.concurrent.or(concurrent), rate: limits.rate.or(rate) };
    }
    Ok(known)
}

/// What a program may do. `usual` is the mode without `sandbox`.
fn sandbox(entry: &Entry, usual: SandboxMode) -> Result<Sandbox, ConfigError> {
    let paths = |key| entry.texts(key).into_iter().map(PathBuf::from).collect();
    let sandbox = Sandbox {
        mode: entry.get("sandbox").unwrap_or(usual),
        read: paths("read"),
        write: paths("write"),
        network: entry.get("network").unwrap_or(true),
    };
    let unused = ["read", "write", "network"].into_iter().find(|key| entry.has(key));
    match unused {
        Some(key) if sandbox.mode == SandboxMode::Off => {
            Err(entry.invalid(key, "it has no effect without a sandbox; write `sandbox = \"auto\"` or `\"required\"`"))
        }
        _ => Ok(sandbox),
    }
}

fn service(
    entry: &Entry,
    name: &AgentName,
    keys: &mut Vec<KeySource>,
    environment: EnvironmentLookup<'_>,
) -> Result<ConfiguredSource, ConfigError> {
    let mut address = Address::parse(name.clone(), entry.text("url").unwrap_or_default())
        .map_err(|_| entry.invalid("url", "write an http or https address, like `http://127.0.0.1:8085`"))?;
    address.component = entry.text("type").and_then(ComponentType::from_word);
    let http = http_options_with_key(entry, keys, environment)?;
    Ok(ConfiguredSource::Service { address, http: Box::new(http) })
}

/// The options of an entry, with its credential.
fn http_options_with_key(
    entry: &Entry,
    keys: &mut Vec<KeySource>,
    environment: EnvironmentLookup<'_>,
) -> Result<HttpOptions, ConfigError> {
    let mut http = http_options(entry)?;
    let (key, source) = find_secret(entry, environment)?;
    keys.push(source);
    keys.extend(certificate_key(entry));
    add_credential(entry, key.map(Into::into), &mut http)?;
    Ok(http)
}

fn openapi_options(
    entry: &Entry,
    name: &AgentName,
    keys: &mut Vec<KeySource>,
    environment: EnvironmentLookup<'_>,
) -> Result<OpenApiOptions, ConfigError> {
    let document = DocumentLocation::parse(entry.text("document").unwrap_or_default())
        .map_err(|problem| entry.invalid("document", &format!("{problem}; write a file or an http address")))?;
    let mut options = OpenApiOptions::new(name.clone(), document);
    if let Some(url) = entry.text("url") {
        let address = Address::parse(name.clone(), url);
        let expected = "write an http or https address, like `https://api.example.com/v1`";
        options.url = Some(address.map_err(|_| entry.invalid("url", expected))?.into_base());
    }
    options.server_variables = entry.get("server-variables").unwrap_or_default();
    options.allowed_hosts = entry.texts("allow-hosts");
    options.filter = OperationFilter {
        tags: entry.texts("tags"),
        paths: entry.texts("paths"),
        methods: methods(entry)?,
        operation_ids: entry.texts("operations"),
    };
    options.trusted = entry.get("trusted").unwrap_or(false);
    options.http = http_options(entry)?;
    keys.extend(certificate_key(entry));
    options.user = entry.text("user").map(str::to_owned);
    let (key, source) = find_secret(entry, environment)?;
    keys.push(source);
    let key: Option<SecretString> = key.map(Into::into);
    if entry.has("auth") {
        // Whoever says how a key is sent means every request.
        add_credential(entry, key, &mut options.http)?;
    } else {
        options.key = key;
    }
    (options.scheme_keys, *keys) = scheme_keys(entry, std::mem::take(keys), environment);
    Ok(options)
}

fn methods(entry: &Entry) -> Result<Vec<HttpMethod>, ConfigError> {
    let words: Vec<&str> = HttpMethod::ALL.iter().map(|method| method.as_str()).collect();
    let method = |word: String| {
        let expected = || format!("write methods of HTTP: {}", words.join(", "));
        HttpMethod::from_word(&word.to_ascii_lowercase()).ok_or_else(|| entry.invalid("methods", &expected()))
    };
    entry.texts("methods").into_iter().map(method).collect()
}

/// The secrets of `schemes`, which names an environment variable for each security scheme.
fn scheme_keys(
    entry: &Entry,
    mut sources: Vec<KeySource>,
    environment: EnvironmentLookup<'_>,
) -> (HashMap<String, SecretString>, Vec<KeySource>) {
    let mut keys = HashMap::new();
    for (scheme, variable) in &entry.get::<Object>("schemes").unwrap_or_default() {
        let variable = variable.as_str().unwrap_or_default();
        match environment(variable).filter(|key| !key.is_empty()) {
            Some(key) => {
                keys.insert(scheme.to_owned(), key.into());
                sources.push(KeySource::Variable(variable.to_owned()));
            }
            None => sources.push(KeySource::UnsetVariable(variable.to_owned())),
        }
    }
    (keys, sources)
}

/// The file with the client's certificate has a key, too.
fn certificate_key(entry: &Entry) -> Option<KeySource> {
    entry.text("certificate-file").map(|path| KeySource::File(path.to_owned()))
}

/// The certificates and the proxy of a service.
fn connection(entry: &Entry) -> ConnectionOptions {
    ConnectionOptions {
        ca_file: entry.text("ca-file").map(Into::into),
        certificate_file: entry.text("certificate-file").map(Into::into),
        proxy: entry.text("proxy").map(str::to_owned),
    }
}

fn http_options(entry: &Entry) -> Result<HttpOptions, ConfigError> {
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

/// Adds the credential that `auth` describes.
fn add_credential(entry: &Entry, key: Option<SecretString>, http: &mut HttpOptions) -> Result<(), ConfigError> {
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

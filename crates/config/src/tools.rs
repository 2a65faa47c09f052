//! The tools of `[[tools]]`, `[[openapi]]`, `[[mcp]]`, `[[http]]` and `[[command]]`: where their capabilities come from, and how they are called.

#[cfg(feature = "commands")]
mod command;
#[cfg(any(feature = "commands", feature = "http"))]
mod defined;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(feature = "openapi")]
mod openapi;
#[cfg(feature = "http")]
mod plain_http;

use std::collections::BTreeMap;
#[cfg(feature = "commands")]
use std::path::PathBuf;
use std::sync::Arc;

#[cfg(feature = "mcp")]
use reknit_mcp::{McpConnection, McpOptions, McpSource};
use reknit_mend::ErrorsInSuccess;
use reknit_protocol::{CapabilityName, Object, ToolName};
#[cfg(feature = "http")]
use reknit_tools::{
    Address, Client, HttpOptions, HttpService, PlainHttpCapability, PlainHttpService, ServiceError, ToolService,
};
#[cfg(feature = "commands")]
use reknit_tools::{CommandTool, SandboxMode};
use reknit_tools::{KnownSecrets, Sandbox, ToolSource};
#[cfg(feature = "openapi")]
use reknit_tools::{OpenApiOptions, OpenApiService};

use super::EnvironmentLookup;
use super::api_keys::KeySource;
use super::entry::Entry;
use super::error::ConfigError;
use crate::{CallRate, InvalidRate, ToolLimits};

/// The capability of a command that does not name one.
const DEFAULT_CAPABILITY: &str = "run";

/// A tool of the configuration.
#[derive(Debug, Clone)]
pub struct ConfiguredTool {
    pub name: ToolName,
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
    #[cfg(feature = "http")]
    Service { address: Address, http: Box<HttpOptions> },
    #[cfg(feature = "openapi")]
    OpenApi(Box<OpenApiOptions>),
    #[cfg(feature = "http")]
    PlainHttp(Box<PlainHttpCapability>),
    #[cfg(feature = "commands")]
    Command(Box<CommandTool>),
    #[cfg(feature = "mcp")]
    Mcp(Box<McpOptions>),
    /// A source that a program made.
    Program(Arc<dyn ToolSource>),
}

impl ConfiguredTool {
    /// A service that speaks the tool protocol and needs no credentials.
    #[cfg(feature = "http")]
    pub fn service(address: Address) -> Self {
        let shown = Object::from([("name", address.name.as_str().into()), ("url", address.to_string().into())]);
        let name = address.name.clone();
        let source = ConfiguredSource::Service { address, http: Box::default() };
        Self { name, source, capability: None, keys: Vec::new(), list: "tools", shown }
    }

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

    pub(super) fn replaces(&self, other: &Self) -> bool {
        let is_other_capability =
            self.capability.is_some() && other.capability.is_some() && self.capability != other.capability;
        self.name == other.name && !is_other_capability
    }

    /// What the program may do that is started for it; `None` if there is none.
    pub fn sandbox(&self) -> Option<Sandbox> {
        match &self.source {
            #[cfg(feature = "commands")]
            ConfiguredSource::Command(command) => Some(command.sandbox().clone()),
            #[cfg(feature = "mcp")]
            ConfiguredSource::Mcp(options) => match &options.connection {
                McpConnection::Stdio(program) => Some(program.sandbox.clone().unwrap_or_else(Sandbox::off)),
                McpConnection::Http(_) => None,
            },
            #[cfg(feature = "openapi")]
            ConfiguredSource::OpenApi(_) => None,
            #[cfg(feature = "http")]
            ConfiguredSource::Service { .. } | ConfiguredSource::PlainHttp(_) => None,
            ConfiguredSource::Program(_) => None,
        }
    }

    /// The credentials of its service, in every form in which the service may send them back. Only services over HTTP are told
    /// where to call back.
    pub fn secrets(&self) -> KnownSecrets {
        match &self.source {
            #[cfg(feature = "http")]
            ConfiguredSource::Service { http, .. } => http.secrets(),
            #[cfg(feature = "openapi")]
            ConfiguredSource::OpenApi(options) => options.secrets(),
            #[cfg(feature = "http")]
            ConfiguredSource::PlainHttp(capability) => capability.secrets(),
            #[cfg(feature = "mcp")]
            ConfiguredSource::Mcp(_) => KnownSecrets::default(),
            #[cfg(feature = "commands")]
            ConfiguredSource::Command(_) => KnownSecrets::default(),
            ConfiguredSource::Program(_) => KnownSecrets::default(),
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
}

/// Opens the sources of configured tools. All of them share one HTTP client.
#[derive(Debug)]
pub(crate) struct SourceOpener {
    #[cfg(feature = "http")]
    pub(crate) client: Client,
}

impl SourceOpener {
    /// Fails if the HTTP client cannot be created.
    #[cfg(feature = "http")]
    pub(crate) fn new() -> Result<Self, ConfigError> {
        Ok(Self { client: Client::new()? })
    }

    /// Does not fail, because there is no HTTP client.
    #[cfg(not(feature = "http"))]
    pub(crate) fn new() -> Result<Self, ConfigError> {
        Ok(Self {})
    }

    pub(crate) fn open(&self, tool: &ConfiguredTool) -> Result<Arc<dyn ToolSource>, ConfigError> {
        #[cfg(feature = "http")]
        let unusable =
            |error: ServiceError| ConfigError::UnusableTool { tool: tool.name.to_string(), problem: error.to_string() };
        Ok(match &tool.source {
            #[cfg(feature = "http")]
            ConfiguredSource::Service { address, http } => {
                let service = HttpService::new(address.clone(), self.client.clone(), http.as_ref().clone());
                Arc::new(ToolService::new(service.map_err(unusable)?))
            }
            #[cfg(feature = "openapi")]
            ConfiguredSource::OpenApi(options) => {
                Arc::new(OpenApiService::new(options.as_ref().clone(), self.client.clone()))
            }
            #[cfg(feature = "http")]
            ConfiguredSource::PlainHttp(capability) => {
                let service = PlainHttpService::new(capability.as_ref().clone(), self.client.clone());
                Arc::new(service.map_err(unusable)?)
            }
            #[cfg(feature = "commands")]
            ConfiguredSource::Command(tool) => Arc::new(tool.as_ref().clone()),
            #[cfg(feature = "mcp")]
            ConfiguredSource::Mcp(options) => Arc::new(McpSource::new(options.as_ref().clone())),
            ConfiguredSource::Program(source) => Arc::clone(source),
        })
    }
}

/// The name of the capability, if the entry is one capability.
fn capability_name(entry: &Entry) -> Option<CapabilityName> {
    match entry.list() {
        "http" | "command" => Some(entry.text("capability").unwrap_or(DEFAULT_CAPABILITY).into()),
        _ => None,
    }
}

pub(super) fn read_tools<'a>(
    entries: impl Iterator<Item = &'a Entry>,
    known: &mut Vec<ConfiguredTool>,
    environment: EnvironmentLookup<'_>,
) -> Result<(), ConfigError> {
    for entry in entries {
        let capability = capability_name(entry);
        // Only tools that are one capability each can share a name.
        let is_whole = |tool: &ConfiguredTool| tool.capability.is_none() || capability.is_none();
        let name = entry.name(|name| known.iter().any(|tool| tool.name.as_str() == name && is_whole(tool)))?;
        let name = ToolName::from(name);
        if known.iter().any(|tool| tool.name == name && tool.capability == capability) {
            return Err(entry.invalid("capability", "another entry of this tool has it; write a different one"));
        }
        let mut tool = ToolEntry { entry, name: &name, environment, keys: Vec::new() };
        let source = read_source(&mut tool)?;
        let keys = tool.keys;
        known.push(ConfiguredTool { name, source, capability, keys, list: entry.list(), shown: entry.shown() });
    }
    Ok(())
}

/// An entry of a list of tools, while it is read.
#[cfg_attr(
    not(any(feature = "commands", feature = "http")),
    expect(dead_code, reason = "this build has no sources of files")
)]
struct ToolEntry<'a> {
    entry: &'a Entry,
    name: &'a ToolName,
    environment: EnvironmentLookup<'a>,
    /// Where its keys come from, as far as it was read.
    keys: Vec<KeySource>,
}

/// Where the capabilities of an entry come from. Fails if this build has no such sources.
#[cfg_attr(
    not(any(feature = "commands", feature = "http")),
    expect(clippy::match_single_binding, reason = "this build has no sources of files")
)]
fn read_source(tool: &mut ToolEntry<'_>) -> Result<ConfiguredSource, ConfigError> {
    match tool.entry.list() {
        #[cfg(feature = "mcp")]
        "mcp" => Ok(ConfiguredSource::Mcp(Box::new(mcp::options(tool)?))),
        #[cfg(feature = "openapi")]
        "openapi" => Ok(ConfiguredSource::OpenApi(Box::new(openapi::options(tool)?))),
        #[cfg(feature = "http")]
        "http" => plain_http::capability(tool),
        #[cfg(feature = "http")]
        "tools" => http::service(tool),
        #[cfg(feature = "commands")]
        "command" => command::tool(tool),
        list => {
            let feature = match list {
                "tools" => "http",
                "command" => "commands",
                other => other,
            };
            Err(tool.entry.invalid("name", &format!("this program was built without the feature `{feature}`")))
        }
    }
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
#[cfg(feature = "commands")]
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

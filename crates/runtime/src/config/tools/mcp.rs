//! The MCP servers of `[[mcp]]`.

use std::path::{Path, PathBuf};

use reknit_mcp::{McpConnection, McpEndpoint, McpOptions, McpProgram, ToolFilter};
use reknit_protocol::{AgentName, Object};
use reknit_tools::{Address, SandboxMode};

use super::{EnvironmentLookup, sandbox};
use crate::config::api_keys::{KeySource, find_secret};
use crate::config::entry::Entry;
use crate::config::error::ConfigError;

/// Reads an entry of `[[mcp]]`.
pub(super) fn options(
    entry: &Entry,
    name: &AgentName,
    keys: &mut Vec<KeySource>,
    environment: EnvironmentLookup<'_>,
) -> Result<McpOptions, ConfigError> {
    let connection = match (entry.has("command"), entry.text("url")) {
        (true, None) => McpConnection::Stdio(program(entry, keys, environment)?),
        (false, Some(url)) => McpConnection::Http(endpoint(entry, name, url, keys, environment)?),
        (true, Some(_)) => return Err(entry.invalid("url", "`command` is set as well; write only one of the two")),
        (false, None) => {
            return Err(
                entry.invalid("command", "write the program as a list, like `[\"mcp-server-time\"]`, or a `url`")
            );
        }
    };
    let mut options = McpOptions::new(name.clone(), connection);
    options.trusted = entry.get("trusted").unwrap_or(false);
    options.filter = ToolFilter { only: entry.texts("tools"), except: entry.texts("except") };
    options.call_limit = entry.get("time");
    options.max_message = entry.get("max-bytes").unwrap_or(options.max_message);
    Ok(options)
}

/// A program. What a person passes to it in its environment may be a secret, so no value is shown.
fn program(
    entry: &Entry,
    keys: &mut Vec<KeySource>,
    environment: EnvironmentLookup<'_>,
) -> Result<McpProgram, ConfigError> {
    for key in ["headers", "key-env", "key-file"] {
        if entry.has(key) {
            return Err(entry.invalid(key, "it is only for servers with a `url`; pass variables with `environment`"));
        }
    }
    let mut words = entry.texts("command").into_iter();
    let program = words.next().filter(|program| !program.is_empty());
    let program = program.ok_or_else(|| entry.invalid("command", "write the program and its arguments"))?;
    let mut secrets = Vec::new();
    for variable in entry.texts("environment") {
        match environment(&variable) {
            Some(value) => {
                keys.push(KeySource::Variable(variable.clone()));
                secrets.push((variable, value.into()));
            }
            None => keys.push(KeySource::UnsetVariable(variable)),
        }
    }
    let arguments: Vec<String> = words.collect();
    let mut sandbox = sandbox(entry, SandboxMode::Auto)?;
    if !entry.has("write") {
        sandbox.write = named_paths(&arguments);
    }
    Ok(McpProgram {
        program: program.into(),
        arguments,
        environment: Vec::new(),
        secrets,
        directory: entry.text("folder").map(Into::into),
        sandbox: Some(sandbox),
    })
}

/// The endings of programs, which a server is made of and does not write.
const PROGRAMS: [&str; 6] = ["js", "mjs", "cjs", "ts", "py", "jar"];

/// The folders that arguments name, and those of the files that they name: what a server is told to work on it may write.
fn named_paths(arguments: &[String]) -> Vec<PathBuf> {
    let paths =
        arguments.iter().map(|argument| argument.rsplit_once('=').map_or(argument.as_str(), |(_, value)| value));
    let is_program =
        |path: &Path| path.extension().and_then(|ending| ending.to_str()).is_some_and(|it| PROGRAMS.contains(&it));
    let paths = paths.map(Path::new).filter(|path| path.is_absolute() && !is_program(path));
    let folder = |path: &Path| if path.is_dir() { Some(path.to_owned()) } else { path.parent().map(Path::to_owned) };
    // `/` itself, or a file in it, is not what anybody means.
    paths.filter_map(folder).filter(|folder| folder.is_dir() && folder.parent().is_some()).collect()
}

fn endpoint(
    entry: &Entry,
    name: &AgentName,
    url: &str,
    keys: &mut Vec<KeySource>,
    environment: EnvironmentLookup<'_>,
) -> Result<McpEndpoint, ConfigError> {
    let expected = "write an http or https address, like `http://127.0.0.1:3001/mcp`";
    Address::parse(name.clone(), url).map_err(|_| entry.invalid("url", expected))?;
    for key in ["environment", "folder", "sandbox", "read", "write", "network"] {
        if entry.has(key) {
            return Err(entry.invalid(key, "it is only for servers with a `command`"));
        }
    }
    let (key, source) = find_secret(entry, environment)?;
    keys.push(source);
    let headers = entry.get::<Object>("headers").unwrap_or_default();
    let headers = headers.iter().map(|(name, value)| (name.to_owned(), value.as_str().unwrap_or_default().into()));
    Ok(McpEndpoint { url: url.to_owned(), headers: headers.collect(), bearer: key.map(Into::into), oauth: None })
}

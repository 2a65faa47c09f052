//! The MCP servers of `[[mcp]]`.

use std::path::{Path, PathBuf};

use reknit_mcp::{McpConnection, McpEndpoint, McpOAuth, McpOptions, McpProgram, TokenKey, ToolFilter, token_file_name};
use reknit_protocol::Object;
use reknit_tools::{Address, SandboxMode};

use super::http::{certificate_key, connection};
use super::{EnvironmentLookup, ToolEntry, sandbox};
use crate::api_keys::{KEY_INSTEAD_OF_VARIABLE, KeySource, find_secret, is_key_instead_of_variable};
use crate::authentication::McpAuthentication;
use crate::error::ConfigError;

/// The folder with the tokens of sign-ins, in the state folder of the user.
const TOKEN_FOLDER: &str = "reknit/mcp";
/// The file with the key that encrypts them, in the data folder of the user: a copy of one folder does not contain both.
const KEY_FILE: &str = "reknit/token-key";
/// The keys of an entry that are only for a server with a `url`.
const HTTP_KEYS: [&str; 7] = ["headers", "key-env", "key-file", "auth", "ca-file", "certificate-file", "proxy"];
/// The keys of an entry that are only for a sign-in.
const OAUTH_KEYS: [&str; 5] = ["client-id-env", "client-secret-env", "scopes", "redirect-port", "token-key-env"];

pub(super) fn options(tool: &mut ToolEntry<'_>) -> Result<McpOptions, ConfigError> {
    let ToolEntry { entry, name, .. } = *tool;
    let connection = match (entry.has("command"), entry.text("url")) {
        (true, None) => McpConnection::Stdio(program(tool)?),
        (false, Some(url)) => McpConnection::Http(endpoint(tool, url)?),
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
fn program(tool: &mut ToolEntry<'_>) -> Result<McpProgram, ConfigError> {
    let ToolEntry { entry, environment, .. } = *tool;
    for key in HTTP_KEYS.into_iter().chain(OAUTH_KEYS) {
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
                tool.keys.push(KeySource::Variable(variable.clone()));
                secrets.push((variable, value.into()));
            }
            None => tool.keys.push(KeySource::UnsetVariable(variable)),
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

fn endpoint(tool: &mut ToolEntry<'_>, url: &str) -> Result<McpEndpoint, ConfigError> {
    let ToolEntry { entry, name, environment, .. } = *tool;
    let expected = "write an http or https address, like `http://127.0.0.1:3001/mcp`";
    Address::parse(name.clone(), url).map_err(|_| entry.invalid("url", expected))?;
    for key in ["environment", "folder", "sandbox", "read", "write", "network"] {
        if entry.has(key) {
            return Err(entry.invalid(key, "it is only for servers with a `command`"));
        }
    }
    let oauth = match entry.get("auth").unwrap_or(McpAuthentication::Bearer) {
        McpAuthentication::OAuth => Some(oauth(tool, url)?),
        McpAuthentication::Bearer => {
            if let Some(key) = OAUTH_KEYS.into_iter().find(|key| entry.has(key)) {
                return Err(entry.invalid(key, "it has no effect without `auth = \"oauth\"`; remove it, or write that"));
            }
            None
        }
    };
    let (key, source) = find_secret(entry, environment)?;
    tool.keys.push(source);
    let headers = entry.get::<Object>("headers").unwrap_or_default();
    let headers = headers.iter().map(|(name, value)| (name.to_owned(), value.as_str().unwrap_or_default().into()));
    tool.keys.extend(certificate_key(entry));
    let (headers, bearer) = (headers.collect(), key.map(Into::into));
    Ok(McpEndpoint { url: url.to_owned(), headers, bearer, oauth, connection: connection(entry) })
}

/// How a person signs in, and where the tokens are stored.
fn oauth(tool: &mut ToolEntry<'_>, url: &str) -> Result<McpOAuth, ConfigError> {
    let ToolEntry { entry, name, environment, .. } = *tool;
    if let Some(key) = ["key-env", "key-file"].into_iter().find(|key| entry.has(key)) {
        return Err(entry.invalid(key, "`auth = \"oauth\"` has tokens of its own; remove one of the two"));
    }
    if entry.has("client-secret-env") && !entry.has("client-id-env") {
        return Err(entry.invalid("client-secret-env", "write also `client-id-env`: a secret belongs to a client"));
    }
    let folder = |variable: &str, usual: &str| {
        let expected = || format!("there is no folder for tokens: set HOME or {variable} to an absolute path");
        user_folder(environment, variable, usual).ok_or_else(|| entry.invalid("auth", &expected()))
    };
    let token_folder = folder("XDG_STATE_HOME", ".local/state")?.join(TOKEN_FOLDER);
    let key_file = folder("XDG_DATA_HOME", ".local/share")?.join(KEY_FILE);
    let mut variable = |key: &'static str| -> Result<Option<String>, ConfigError> {
        let Some(variable) = entry.text(key) else { return Ok(None) };
        let value = environment(variable).filter(|value| !value.is_empty());
        if value.is_none() && is_key_instead_of_variable(variable) {
            return Err(entry.hidden(key, KEY_INSTEAD_OF_VARIABLE));
        }
        let variable = variable.to_owned();
        tool.keys.push(if value.is_some() {
            KeySource::Variable(variable)
        } else {
            KeySource::UnsetVariable(variable)
        });
        Ok(value)
    };
    let client_id = variable("client-id-env")?;
    let client_secret = variable("client-secret-env")?.map(Into::into);
    let token_key = match (variable("token-key-env")?, entry.text("token-key-env")) {
        (Some(key), _) => TokenKey::Text(key.into()),
        (None, Some(variable)) => TokenKey::Missing(format!("the variable `{variable}` is not set")),
        (None, None) => TokenKey::File(key_file),
    };
    Ok(McpOAuth {
        client_id,
        client_secret,
        client_metadata_url: None,
        scopes: entry.texts("scopes"),
        redirect_port: entry.get::<u32>("redirect-port").and_then(|port| u16::try_from(port).ok()).unwrap_or(0),
        token_file: token_folder.join(token_file_name(name.as_str(), url)),
        token_key,
    })
}

/// A folder of the user: that of a variable, or the usual one at home.
fn user_folder(environment: EnvironmentLookup<'_>, variable: &str, usual: &str) -> Option<PathBuf> {
    // A relative path would name another folder in another folder.
    let folder = |name| environment(name).map(PathBuf::from).filter(|path| path.is_absolute());
    folder(variable).or_else(|| Some(folder("HOME")?.join(usual)))
}

//! What is said about an MCP server in the configuration.

use std::path::PathBuf;
use std::time::Duration;

use reknit_protocol::{Sha256, ToolName, hex, redact_url};
use reknit_tools::{ConnectionOptions, KnownSecrets, Sandbox};
use secrecy::SecretString;

/// The size limit of one message in bytes, unless a server has its own.
const MAX_MESSAGE: usize = 16 << 20;

/// An MCP server: how it is reached, and what is believed and used of it.
#[derive(Debug, Clone)]
pub struct McpOptions {
    pub name: ToolName,
    pub connection: McpConnection,
    /// Whether the annotations of its tools are believed. Without it the side effect of every tool is unknown.
    pub trusted: bool,
    pub filter: ToolFilter,
    pub era: ProtocolEra,
    /// The time limit to start it and to agree on the protocol.
    pub connect_limit: Duration,
    /// The time limit of a call, if it is shorter than the one of the run.
    pub call_limit: Option<Duration>,
    /// The size limit of one message in bytes.
    pub max_message: usize,
}

impl McpOptions {
    /// A server that is not trusted, with all its tools and the usual limits.
    pub fn new(name: impl Into<ToolName>, connection: McpConnection) -> Self {
        Self {
            name: name.into(),
            connection,
            trusted: false,
            filter: ToolFilter::default(),
            era: ProtocolEra::default(),
            connect_limit: Duration::from_mins(1),
            call_limit: None,
            max_message: MAX_MESSAGE,
        }
    }

    pub(crate) fn sign_in_command(&self) -> String {
        format!("`reknit tools sign-in {}`", self.name)
    }

    /// What a refused request means, if a person can sign in.
    pub(crate) fn sign_in_needed(&self) -> Option<String> {
        match &self.connection {
            McpConnection::Http(McpEndpoint { oauth: Some(_), .. }) => {
                Some(format!("needs sign-in: {}", self.sign_in_command()))
            }
            _ => None,
        }
    }

    /// Which server it is: what was known of another program or address does not hold for it.
    pub(crate) fn fingerprint(&self) -> String {
        let parts = match &self.connection {
            McpConnection::Stdio(program) => {
                let words = [program.program.display().to_string(), format!("{:?}", program.directory)];
                words.into_iter().chain(program.arguments.iter().cloned()).collect()
            }
            McpConnection::Http(endpoint) => vec![endpoint.url.clone()],
        };
        format!("{:.32}", hex(&Sha256::digest(parts.join("\0"))))
    }

    /// Where the server is, for messages. Secrets are redacted, and arguments are left out.
    pub(crate) fn address(&self) -> String {
        match &self.connection {
            McpConnection::Stdio(program) => format!("the program `{}`", program.program.display()),
            McpConnection::Http(endpoint) => redact_url(&endpoint.url),
        }
    }
}

#[derive(Debug, Clone)]
pub enum McpConnection {
    /// A program that is started here and speaks on its standard input and output.
    Stdio(McpProgram),
    Http(McpEndpoint),
}

impl McpConnection {
    /// What must not come back from the server.
    pub(crate) fn secrets(&self) -> KnownSecrets {
        match self {
            Self::Stdio(program) => program.secrets.iter().map(|(_, value)| value).collect(),
            Self::Http(endpoint) => endpoint.headers.iter().map(|(_, value)| value).chain(&endpoint.bearer).collect(),
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct McpProgram {
    /// The program: a path, or a name that is looked up in `PATH`.
    pub program: PathBuf,
    pub arguments: Vec<String>,
    /// Environment variables for it. Of our own it gets only `PATH`, `HOME`, the language, the time zone and the folder for
    /// temporary files.
    pub environment: Vec<(String, String)>,
    /// Environment variables whose values are shown nowhere, and are replaced in what the program returns.
    pub secrets: Vec<(String, SecretString)>,
    /// Its working directory, if not ours.
    pub directory: Option<PathBuf>,
    /// What it may do. `None`: it is not confined.
    pub sandbox: Option<Sandbox>,
}

/// The address of an MCP server with streamable HTTP, and what is sent to it.
#[derive(Debug, Clone, Default)]
pub struct McpEndpoint {
    pub url: String,
    pub headers: Vec<(String, SecretString)>,
    pub bearer: Option<SecretString>,
    /// How to sign in with OAuth, instead of a token.
    pub oauth: Option<McpOAuth>,
    /// How connections are made, also to the authorization server.
    pub connection: ConnectionOptions,
}

/// How to sign in at an MCP server with OAuth 2.1 and PKCE.
#[derive(Debug, Clone)]
pub struct McpOAuth {
    /// The id under which we are registered. Without it we register ourselves.
    pub client_id: Option<String>,
    pub client_secret: Option<SecretString>,
    /// The URL of a document that describes us, for servers that accept it in place of a registration.
    pub client_metadata_url: Option<String>,
    /// What we ask to be allowed; empty for what the server proposes.
    pub scopes: Vec<String>,
    /// The port of 127.0.0.1 to which a browser is sent back; 0 for any free one.
    pub redirect_port: u16,
    pub token_file: PathBuf,
    pub token_key: TokenKey,
}

/// Where the key is with which tokens are encrypted.
#[derive(Debug, Clone)]
pub enum TokenKey {
    Text(SecretString),
    /// This file, which only its owner can read. It is made, with a random key, when the first tokens are stored.
    File(PathBuf),
    Missing(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProtocolEra {
    /// The server is asked: without a handshake if it speaks 2026-07-28, else with one.
    #[default]
    Detect,
    /// With a handshake: 2025-11-25 and older.
    Handshake,
    /// Without a handshake: 2026-07-28.
    Stateless,
}

/// Which tools of a server are used. A pattern is a name, in which `*` stands for any text.
#[derive(Debug, Clone, Default)]
pub struct ToolFilter {
    /// Patterns of the tools that are used; empty for all.
    pub only: Vec<String>,
    /// Patterns of tools that are not used, also if they are in `only`.
    pub except: Vec<String>,
}

impl ToolFilter {
    pub fn allows(&self, name: &str) -> bool {
        let is_in = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, name));
        (self.only.is_empty() || is_in(&self.only)) && !is_in(&self.except)
    }
}

fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|start| name.strip_prefix(start)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(end) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_names() {
        for (pattern, name, expected) in [
            ("add", "add", true),
            ("add", "add_all", false),
            ("*", "anything", true),
            ("get_*", "get_time", true),
            ("get_*", "forget_time", false),
            ("*_time", "get_time", true),
            ("g*t*e", "get_time", true),
            ("g*x*e", "get_time", false),
            ("ab*ab", "ab", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "case: {pattern} {name}");
        }
    }

    #[test]
    fn an_exception_counts_more_than_an_inclusion() {
        let filter = ToolFilter { only: vec!["get_*".to_owned()], except: vec!["get_env".to_owned()] };
        assert!(filter.allows("get_time"));
        assert!(!filter.allows("get_env"));
        assert!(!filter.allows("set_time"));
        assert!(ToolFilter::default().allows("set_time"));
    }
}

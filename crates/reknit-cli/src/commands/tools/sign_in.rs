//! `reknit tools sign-in` and `sign-out`: a person signs in at an MCP server with OAuth.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueHint};
use reknit_mcp::{McpConnection, McpEndpoint, McpOAuth, McpOptions, McpSource, RedirectListener, TokenKey};
use reknit_protocol::redact_url;
use reknit_protocol::spelling::nearest;
use reknit_runtime::config::{ConfigError, ConfiguredSource, ConfiguredTool};
use reknit_tools::ToolSource as _;

use crate::output::{Failure, one_line, print_data, print_message};
use crate::setup::{check_tool_trust, read_config};

pub(super) const SIGN_IN_DETAILS: &str = "\
Prints the address of a page. When a person has signed in there, the browser is sent back to a port of 127.0.0.1, where Reknit
waits. The tokens are stored encrypted, and renewed when they expire. The command says where the file and its key are.

Example:
  reknit tools sign-in docs";

#[derive(Debug, Args)]
pub(crate) struct SignInArguments {
    /// The tool, as it is named in the configuration
    #[arg(value_name = "NAME")]
    name: String,
    /// The configuration file [default: reknit.toml in the current folder]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    config: Option<PathBuf>,
}

/// How long a person has to sign in.
const LIMIT: Duration = Duration::from_mins(10);

/// Signs in. The exit status is 1 if the server or the person refuses.
pub(super) async fn sign_in(arguments: &SignInArguments) -> Result<ExitCode, Failure> {
    let tool = find_tool(arguments)?;
    let (options, endpoint, oauth) = oauth_of(&tool)?;
    if let Some(place) = tool.missing_key() {
        return Err(ConfigError::MissingToolKey { tool: tool.name.to_string(), place }.into());
    }
    let source = McpSource::new(options.clone());
    // The refusal of the server says how to sign in. A server that lets everybody list its tools may still refuse calls.
    let listed = source.list().await;
    let listener = RedirectListener::bind(oauth.redirect_port).await.map_err(Failure::start("the listener"))?;
    let sign_in = match source.sign_in(listener.url()).await {
        Ok(sign_in) => sign_in,
        Err(problem) => {
            let reason = listed.err().map(|reason| format!("; {reason}")).unwrap_or_default();
            return Ok(refused(&tool, &format!("{problem}{reason}")));
        }
    };
    print_message("open this page in a browser, and sign in:\n");
    print_data(&format!("{}\n", one_line(sign_in.url(), usize::MAX)))?;
    let finished = tokio::time::timeout(LIMIT, sign_in.finish_at(&listener)).await;
    if let Err(problem) = finished.unwrap_or_else(|_| Err(format!("nobody signed in within {LIMIT:?}"))) {
        return Ok(refused(&tool, &problem));
    }
    let file = oauth.token_file.display();
    let key = match &oauth.token_key {
        TokenKey::File(path) => format!("the key in {}", path.display()),
        TokenKey::Text(_) | TokenKey::Missing(_) => "the key of `token-key-env`".to_owned(),
    };
    print_data(&format!("signed in to `{}` at {}\n", tool.name, redact_url(&endpoint.url)))?;
    print_message(&format!("its tokens are stored in {file}, encrypted with {key}\n"));
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn sign_out(arguments: &SignInArguments) -> Result<ExitCode, Failure> {
    let tool = find_tool(arguments)?;
    let (options, _, oauth) = oauth_of(&tool)?;
    match McpSource::new(options.clone()).sign_out().await {
        Ok(true) => {
            let removed = format!("signed out of `{}`: removed {}\n", tool.name, oauth.token_file.display());
            print_data(&removed)?;
            print_message("note: the server was not told; end the access there if the tokens may be known to others\n");
        }
        Ok(false) => print_data(&format!("nobody was signed in to `{}`\n", tool.name))?,
        Err(problem) => return Ok(refused(&tool, &problem)),
    }
    Ok(ExitCode::SUCCESS)
}

fn refused(tool: &ConfiguredTool, problem: &str) -> ExitCode {
    print_message(&format!("error: cannot sign in to `{}`: {}\n", tool.name, one_line(problem, usize::MAX)));
    ExitCode::from(1)
}

fn find_tool(arguments: &SignInArguments) -> Result<ConfiguredTool, Failure> {
    let config = read_config(arguments.config.as_deref())?;
    let Some(tool) = config.tools.iter().find(|tool| tool.name.as_str() == arguments.name) else {
        let names: Vec<&str> = config.tools.iter().map(|tool| tool.name.as_str()).collect();
        let hint = match nearest(&arguments.name, &names) {
            Some(name) => format!("did you mean `{name}`?"),
            None => "add it to reknit.toml: `[[mcp]]` with `url` and `auth = \"oauth\"`".to_owned(),
        };
        return Err(Failure::usage(format!("no tool `{}` is configured", arguments.name), hint));
    };
    check_tool_trust(tool, arguments.config.as_deref())?;
    Ok(tool.clone())
}

fn oauth_of(tool: &ConfiguredTool) -> Result<(&McpOptions, &McpEndpoint, &McpOAuth), Failure> {
    if let ConfiguredSource::Mcp(options) = &tool.source
        && let McpConnection::Http(endpoint) = &options.connection
        && let Some(oauth) = &endpoint.oauth
    {
        return Ok((options, endpoint, oauth));
    }
    let hint = "only an MCP server with `url` and `auth = \"oauth\"` has a sign-in";
    Err(Failure::usage(format!("the tool `{}` needs no sign-in", tool.name), hint))
}

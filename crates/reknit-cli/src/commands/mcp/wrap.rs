//! `reknit mcp wrap`: stands in front of one MCP server, without a configuration file.

mod server_name;

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueHint};
use reknit::Reknit;
use reknit_mcp::{McpConnection, McpEndpoint, McpOptions, McpProgram, McpSource};
use reknit_mcp_server::{McpServer, Offering};
use reknit_protocol::redact_url;
use reknit_runtime::config::{Config, ConfiguredTool, FindModel};
use reknit_tools::{Address, is_secret_name, is_secret_value};
use tracing::level_filters::LevelFilter;

use crate::environment::{variable, variables};
use crate::output::{Failure, count, print_message};
use crate::setup::{FileArguments, ModelArguments, Setup, named_config, read_config, with_model};
use server_name::server_name;

const USAGE: &str = "reknit mcp wrap [OPTIONS] -- <COMMAND>...
       reknit mcp wrap [OPTIONS] <URL>";

const DETAILS: &str = "\
In the configuration of an MCP client, put `reknit mcp wrap --` in front of the command of a server:
  {\"mcpServers\": {\"files\": {\"command\": \"reknit\", \"args\": [\"mcp\", \"wrap\", \"--\", \"npx\", \"-y\", \"server-files\"]}}}

The client sees the tools of the server under their own names. Every call becomes a run: it is fitted to its schema, mended, sent
again where that is safe, and kept in the journal (`reknit runs list`). The server is started as the client would start it: with
the whole environment, and not confined. What it says about its side effects is believed; `--untrusted` turns that off. A tool that
may change something gets an argument `repeat_reason`: the same call twice is made once unless it states why. A call that waits
for a person adds `continue_run`. Resources, prompts and requests of the server to the client are not passed on.

No configuration file is read unless `--config` or REKNIT_CONFIG names one; its tools are not used. No model is asked unless
`--model-url` or that file names one.

Examples:
  reknit mcp wrap -- npx -y @modelcontextprotocol/server-everything
  reknit mcp wrap -- uvx mcp-server-time --local-timezone Asia/Seoul
  reknit mcp wrap --key-env DOCS_TOKEN https://docs.example.com/mcp

Exit status: 0 the client closed the connection, 1 the connection failed, 2 not started.";

#[derive(Debug, Args)]
#[command(after_help = DETAILS, override_usage = USAGE)]
pub(super) struct WrapArguments {
    /// The address of an MCP server with streamable HTTP
    #[arg(value_name = "URL", value_hint = ValueHint::Url, required_unless_present = "command")]
    address: Option<String>,
    /// The command line of an MCP server, which is started here
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["address", "token_env"])]
    command: Vec<String>,
    /// The name of the server in the journal and in rules [default: made from the command or the address]
    #[arg(long = "name", value_name = "NAME", value_parser = server_name::parse)]
    server: Option<String>,
    /// The environment variable that holds the bearer token for the address
    #[arg(long = "key-env", value_name = "VARIABLE")]
    token_env: Option<String>,
    /// Do not believe what the server says about the side effects of its tools: each may change something
    #[arg(long)]
    untrusted: bool,
    #[command(flatten)]
    files: FileArguments,
    #[command(flatten)]
    model: ModelArguments,
}

pub(super) async fn run(arguments: &WrapArguments) -> Result<ExitCode, Failure> {
    let (name, connection) = connection(arguments)?;
    let mut options = McpOptions::new(name.as_str(), connection);
    options.trusted = !arguments.untrusted;
    let tool = ConfiguredTool::of_program(Arc::new(McpSource::new(options)));
    let config = config(arguments)?.with_other_tools(vec![tool])?;
    let setup = Setup::for_server_with(config, &arguments.files, LevelFilter::OFF).await?;
    let tools: usize = setup.reknit.catalogue.tools.iter().map(|tool| tool.visible_capabilities().count()).sum();
    if tools == 0 {
        let hint = match &arguments.address {
            Some(_) => "see the warning above; the address must be that of an MCP server with streamable HTTP",
            None => "see the warning above; run the command yourself to see what it prints",
        };
        return Err(Failure::usage(format!("`{name}` offers no tool, so there is nothing to wrap"), hint));
    }
    let offered = count(tools, "tool");
    print_message(&format!("wrapping `{name}` with {offered}, for an MCP client on standard input and output\n"));
    let server = McpServer::new(Reknit::from(setup.reknit.clone()), Offering::OwnNames);
    Box::pin(super::serve(setup, server)).await
}

/// The settings of the file that is named. One that only lies in the folder decides nothing: a client chooses that folder.
fn config(arguments: &WrapArguments) -> Result<Config, Failure> {
    let mut config = match named_config(arguments.files.config.as_deref()) {
        Some(path) => read_config(Some(&path))?,
        None => Config::from_environment(&variable)?,
    };
    if !config.is_configured("find-model") {
        config.find_model = FindModel::Off;
    }
    with_model(config, &arguments.model)
}

/// The name of the server and how it is reached.
fn connection(arguments: &WrapArguments) -> Result<(String, McpConnection), Failure> {
    let (derived, connection) = match (&arguments.address, arguments.command.split_first()) {
        (Some(url), _) => (server_name(std::slice::from_ref(url)), endpoint(url, arguments.token_env.as_deref())?),
        (None, Some((program, rest))) => (server_name(&arguments.command), McpConnection::Stdio(start(program, rest))),
        (None, None) => {
            return Err(Failure::usage("there is no command behind `--`", "write it there: `-- npx -y server`"));
        }
    };
    Ok((arguments.server.clone().unwrap_or(derived), connection))
}

fn endpoint(url: &str, key_env: Option<&str>) -> Result<McpConnection, Failure> {
    let is_address = url.starts_with("http://") || url.starts_with("https://");
    if !is_address || Address::parse("server", url).is_err() {
        let message = format!("`{}` is not an http or https address", redact_url(url));
        return Err(Failure::usage(
            message,
            format!("to wrap a command, write it behind `--`: `reknit mcp wrap -- {url}`"),
        ));
    }
    let key = |name: &str| {
        variable(name).ok_or_else(|| {
            Failure::usage(
                format!("the environment variable `{name}` is not set"),
                format!("set it: `export {name}=...`"),
            )
        })
    };
    let bearer = key_env.map(key).transpose()?.map(Into::into);
    Ok(McpConnection::Http(McpEndpoint { url: url.to_owned(), bearer, ..McpEndpoint::default() }))
}

/// The program as the client would start it. Values that look like secrets are shown nowhere.
fn start(program: &str, arguments: &[String]) -> McpProgram {
    let is_secret = |(name, value): &(String, String)| is_secret_name(name) || is_secret_value(value);
    let (secrets, environment): (Vec<_>, Vec<_>) = variables().partition(is_secret);
    McpProgram {
        program: program.into(),
        arguments: arguments.to_vec(),
        environment,
        secrets: secrets.into_iter().map(|(name, value)| (name, value.into())).collect(),
        directory: None,
        sandbox: None,
    }
}

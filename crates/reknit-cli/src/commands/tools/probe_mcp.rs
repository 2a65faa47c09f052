//! Finds out whether an address or a command line is an MCP server.

use reknit_mcp::{McpConnection, McpEndpoint, McpOptions, McpProgram, McpSource};
use reknit_tools::{Sandbox, SandboxMode, ToolSource as _};

use super::found_service::{FoundService, LIMIT, Wanted, host_name, within_limit};
use crate::output::Failure;
use crate::setup::toml_text;

pub(super) async fn probe_command(command: &[String]) -> Result<FoundService, Failure> {
    let (program, arguments) = command
        .split_first()
        .ok_or_else(|| Failure::usage("there is no command", "write it behind `--`: `-- uvx mcp-server-time`"))?;
    let program = McpProgram {
        program: program.into(),
        arguments: arguments.to_vec(),
        sandbox: Some(Sandbox::new(SandboxMode::Auto)),
        ..McpProgram::default()
    };
    let title = program.program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let source = McpSource::new(McpOptions::new("tool", McpConnection::Stdio(program)));
    let listing = source.list().await.map_err(|problem| {
        let message = format!("`{}` is not an MCP server that can be used: {problem}", command.join(" "));
        Failure::usage(message, "run it yourself to see what it prints; variables that it needs go into `environment`")
    })?;
    source.close().await;
    let words: Vec<String> = command.iter().map(|word| toml_text(word)).collect();
    let keys = vec![("command", format!("[{}]", words.join(", ")))];
    Ok(FoundService {
        list: "mcp",
        keys,
        title: title.replace("mcp-server-", ""),
        listing,
        has_keys: source.has_keys(),
    })
}

pub(super) async fn mcp_server(wanted: &Wanted<'_>) -> Result<FoundService, String> {
    let endpoint = McpEndpoint { url: wanted.target.to_owned(), bearer: wanted.key.clone(), ..McpEndpoint::default() };
    let mut options = McpOptions::new("tool", McpConnection::Http(endpoint));
    options.connect_limit = LIMIT;
    let source = McpSource::new(options);
    let listing = within_limit(source.list()).await?;
    source.close().await;
    let keys = vec![("url", toml_text(wanted.target))];
    Ok(FoundService { list: "mcp", keys, title: host_name(wanted.target), listing, has_keys: source.has_keys() })
}

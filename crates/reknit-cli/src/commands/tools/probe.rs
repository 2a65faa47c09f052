//! Finds out what is at an address: the tool protocol, or an API description.

use reknit_protocol::{ToolName, redact_url};
use reknit_tools::{
    Address, Client, DocumentLocation, HttpService, OpenApiOptions, OpenApiService, ToolService, ToolSource,
};

use super::found_service::{FoundService, Wanted, host_name, within_limit};
use super::probe_mcp::mcp_server;
use crate::output::Failure;
use crate::setup::toml_text;

/// Where services usually publish their description.
const USUAL_PLACES: [&str; 7] = [
    "openapi.json",
    "openapi.yaml",
    "swagger.json",
    "v3/api-docs",
    "swagger/v1/swagger.json",
    "api-docs",
    ".well-known/openapi.json",
];

/// Looks for a service that can be used. Fails with everything that was tried.
pub(super) async fn probe(wanted: &Wanted<'_>, client: &Client) -> Result<FoundService, Failure> {
    let is_address = wanted.target.starts_with("http://") || wanted.target.starts_with("https://");
    if !is_address {
        let found = document(wanted, wanted.target, client).await;
        return found.map_err(|problem| {
            let target = redact_url(wanted.target);
            Failure::usage(
                format!("`{target}` is not an API description: {problem}"),
                "name an OpenAPI or Swagger file, or an address that begins with `http://` or `https://`",
            )
        });
    }
    let mut tried = Vec::new();
    match document(wanted, wanted.target, client).await {
        Ok(found) => return Ok(found),
        Err(problem) if problem.starts_with("connection refused") => {
            let target = redact_url(wanted.target);
            return Err(Failure::usage(
                format!("nothing listens at `{target}`"),
                "start the service, or check its port",
            ));
        }
        Err(problem) => tried.push(format!("it is no API description: {problem}")),
    }
    match tool_protocol(wanted, client).await {
        Ok(found) => return Ok(found),
        Err(problem) => tried.push(format!("it does not speak the tool protocol: {problem}")),
    }
    for place in USUAL_PLACES {
        let address = format!("{}/{place}", wanted.target.trim_end_matches('/'));
        match document(wanted, &address, client).await {
            Ok(found) => return Ok(found),
            Err(problem) => tried.push(format!("{place}: {problem}")),
        }
    }
    match mcp_server(wanted).await {
        Ok(found) => return Ok(found),
        Err(problem) => tried.push(format!("it is no MCP server: {problem}")),
    }
    let lines: Vec<String> = tried.iter().map(|line| format!("- {line}")).collect();
    Err(Failure::usage(
        format!("nothing at `{}` can be connected:\n{}", redact_url(wanted.target), lines.join("\n")),
        "name its API description, a file or an address; a service without one is described in docs/tools.md",
    ))
}

async fn tool_protocol(wanted: &Wanted<'_>, client: &Client) -> Result<FoundService, String> {
    let address = Address::parse("tool", wanted.target).map_err(|error| error.to_string())?;
    let mut http = reknit_tools::HttpOptions::default();
    http.credentials.extend(wanted.key.clone().map(reknit_tools::Credential::Bearer));
    let service = HttpService::new(address, client.clone(), http).map_err(|error| error.to_string())?;
    let source = ToolService::new(service);
    let listing = within_limit(source.list()).await?;
    let keys = vec![("url", toml_text(wanted.target))];
    Ok(FoundService { list: "tools", keys, title: host_name(wanted.target), listing, has_keys: source.has_keys() })
}

async fn document(wanted: &Wanted<'_>, place: &str, client: &Client) -> Result<FoundService, String> {
    let location = DocumentLocation::parse(place)?;
    let mut options = OpenApiOptions::new(ToolName::from("tool"), location);
    options.key.clone_from(&wanted.key);
    let mut keys = vec![("document", toml_text(place))];
    if let Some(url) = wanted.url {
        options.url = Some(Address::parse("tool", url).map_err(|error| error.to_string())?.into_base());
        keys.push(("url", toml_text(url)));
    }
    let service = OpenApiService::new(options.clone(), client.clone());
    let mut listing = within_limit(service.list()).await?;
    // The document comes from the person who connects it, so the server that it names is what they mean. The entry says so.
    if listing.capabilities.is_empty()
        && wanted.url.is_none()
        && let Some(server) = service.named_server().await?
    {
        keys.push(("url", toml_text(server.as_str())));
        listing = OpenApiService::new(OpenApiOptions { url: Some(server), ..options }, client.clone()).list().await?;
    }
    Ok(FoundService {
        list: "openapi",
        keys,
        title: listing.description.clone(),
        listing,
        has_keys: service.has_keys(),
    })
}

//! Lists the tools of a server with streamable HTTP and calls each of them once: what `@modelcontextprotocol/conformance` tests.
//! `bench/mcp-conformance/run` starts it.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use reknit_mcp::{McpConnection, McpEndpoint, McpOAuth, McpOptions, McpSource, TokenKey};
use reknit_protocol::{CallTool, Object, SideEffect, Value};
use reknit_tools::{Listing, ToolSource as _};

/// How often a refusal is answered with a new sign-in.
const MAX_SIGN_INS: usize = 3;
/// Where a browser would be sent back to.
const REDIRECT: &str = "http://127.0.0.1:8123/callback";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).ok_or("usage: conformance_client URL")?;
    let folder = tempfile::tempdir()?;
    let source = McpSource::new(options(url, folder.path())?);
    let mut sign_ins = 0;
    let listing = loop {
        match source.list().await {
            Err(refusal) if refusal.contains("needs sign-in") && sign_ins < MAX_SIGN_INS => {
                sign_ins += 1;
                sign_in(&source).await?;
            }
            listed => break listed?,
        }
    };
    for (tool, parameters) in calls(&listing)? {
        let listed = listing.capabilities.iter().find(|listed| listed.entry.capability.name.as_str() == tool);
        let Some(listed) = listed else { continue };
        let call = call(&tool, parameters)?;
        for _ in 0..MAX_SIGN_INS {
            // What a call answers is not tested, only how it is made.
            match listed.route.call(&call, None).await {
                Ok(reply) if matches!(reply.status, 401 | 403) => sign_in(&source).await?,
                _ => break,
            }
        }
    }
    // A stream of notifications may follow.
    tokio::time::sleep(Duration::from_millis(200)).await;
    source.close().await;
    Ok(())
}

/// The options for a server. The scenario may name a client that is registered already.
fn options(url: String, folder: &Path) -> Result<McpOptions, Box<dyn Error>> {
    let context = context()?.unwrap_or_default();
    let text = |name: &str| context.get(name).and_then(Value::as_str).map(str::to_owned);
    let oauth = McpOAuth {
        client_id: text("client_id"),
        client_secret: text("client_secret").map(Into::into),
        client_metadata_url: Some("https://conformance-test.local/client-metadata.json".to_owned()),
        scopes: Vec::new(),
        redirect_port: 0,
        token_file: folder.join("tokens.json"),
        token_key: TokenKey::Text("a key of the test".into()),
    };
    let endpoint = McpEndpoint { url, oauth: Some(oauth), ..McpEndpoint::default() };
    Ok(McpOptions::new("conformance", McpConnection::Http(endpoint)))
}

/// Signs in as a browser would whose user agrees at once.
async fn sign_in(source: &McpSource) -> Result<(), Box<dyn Error>> {
    let sign_in = source.sign_in(REDIRECT).await?;
    let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
    let page = browser.get(sign_in.url()).send().await?;
    let location = page.headers().get("location").ok_or("the page does not send back")?.to_str()?;
    Ok(sign_in.finish(location).await?)
}

fn context() -> Result<Option<Value>, Box<dyn Error>> {
    Ok(std::env::var("MCP_CONFORMANCE_CONTEXT").ok().map(|text| Value::parse(&text)).transpose()?)
}

/// The calls that the scenario asks for, or else one of each tool.
fn calls(listing: &Listing) -> Result<Vec<(String, Object)>, Box<dyn Error>> {
    let context = context()?;
    if let Some(calls) = context.as_ref().and_then(|context| context.get("toolCalls")).and_then(Value::as_array) {
        let read = |call: &Value| {
            let name = call.get("name")?.as_str()?.to_owned();
            Some((name, call.get("arguments").and_then(Value::as_object).cloned().unwrap_or_default()))
        };
        return Ok(calls.iter().filter_map(read).collect());
    }
    // One scenario wants to see a schema as the client has read it.
    let focal =
        listing.capabilities.iter().find(|listed| listed.entry.capability.name.as_str() == "json_schema_2020_12_tool");
    let focal = focal.and_then(|listed| listed.entry.json_schema());
    let example = |listed: &reknit_tools::ListedCapability| {
        let schema = listed.entry.json_schema().unwrap_or_default();
        let properties = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        if let (Some(focal), "json_schema_echo") = (&focal, listed.entry.capability.name.as_str()) {
            return ("json_schema_echo".to_owned(), Object::from([("schema", focal.clone())]));
        }
        let value = |schema: &Value| match schema.get("type").and_then(Value::as_str) {
            Some("number" | "integer") => Value::from(3),
            Some("boolean") => Value::from(true),
            Some("array") => Value::Array(Vec::new()),
            Some("object") => Object::new().into(),
            _ => Value::from("example"),
        };
        let parameters = properties.iter().map(|(name, schema)| (name.to_owned(), value(schema))).collect();
        (listed.entry.capability.name.as_str().to_owned(), parameters)
    };
    Ok(listing.capabilities.iter().map(example).collect())
}

fn call(tool: &str, parameters: Object) -> Result<CallTool, Box<dyn Error>> {
    Ok(CallTool {
        id: "step-1/call/1".parse()?,
        step: "step-1".into(),
        tool: "conformance".into(),
        capability: tool.into(),
        parameters,
        side_effect: SideEffect::Undeclared,
        idempotency_key: Some("key-1".to_owned()),
        business_key: None,
        timeout_ms: 20_000,
        job: None,
        callback: None,
    })
}

//! An MCP server as a source of tools.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use reknit_protocol::{Object, ToolName, Value, truncate};
use reknit_tools::{BoxFuture, ListedCapability, Listing, ToolSource};
use rmcp::model::{ServerPeerInfo, ServerResult};
use rmcp::service::ServiceError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use tokio::sync::watch;

use crate::call::McpRoute;
use crate::connection::Connection;
use crate::http::{HttpFault, describe_fault, status_of};
use crate::listing::read_tool;
use crate::oauth::{SignIn, sign_out};
use crate::options::{McpConnection, McpEndpoint, McpOAuth, McpOptions};
use crate::server::Server;
use crate::wire::raw_result;

/// The most tools of a server that are used.
const MAX_TOOLS: usize = 10_000;
/// The most pages that are read.
const MAX_PAGES: usize = 1_000;
/// The most problems and notes that are reported one by one.
const MAX_PROBLEMS: usize = 1_000;
/// The largest listing that is saved, in bytes.
const MAX_SAVED: usize = 64 << 20;
/// The longest description of a server, in bytes.
const MAX_DESCRIPTION: usize = 4 << 10;

/// The tools of an MCP server. The server is started or connected to when it is first needed, and shared by all calls.
#[derive(Debug)]
pub struct McpSource {
    server: Arc<Server>,
}

impl McpSource {
    /// The source that these options describe. Nothing is started yet.
    pub fn new(options: McpOptions) -> Self {
        Self { server: Arc::new(Server::new(options)) }
    }

    /// How often the list of tools may have changed: the server said so, or was started again.
    pub fn generation(&self) -> u64 {
        *self.server.generation.borrow()
    }

    /// The same, to wait for the next change.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.server.generation.subscribe()
    }

    /// Starts a sign-in with OAuth, as the last refusal of the server asks for. The browser is to be sent back to `redirect_url`,
    /// on loopback. Fails with the reason.
    pub async fn sign_in(&self, redirect_url: &str) -> Result<SignIn, String> {
        let (endpoint, oauth) = self.oauth()?;
        let http = self.server.http.as_ref().map_err(Clone::clone)?.as_ref().ok_or("there is no HTTP client")?;
        // The next connection starts with the new tokens.
        drop(self.server.take_connection().await);
        SignIn::start(endpoint, oauth, http, redirect_url).await.map_err(|error| error.to_string())
    }

    /// Removes the stored tokens of OAuth, and ends the connection that uses them. Returns whether there were any. Fails with the
    /// reason.
    pub async fn sign_out(&self) -> Result<bool, String> {
        let (_, oauth) = self.oauth()?;
        drop(self.server.take_connection().await);
        sign_out(oauth).await
    }

    fn oauth(&self) -> Result<(&McpEndpoint, &McpOAuth), String> {
        let McpConnection::Http(endpoint) = &self.server.options.connection else {
            return Err("a program needs no sign-in".to_owned());
        };
        let oauth = endpoint.oauth.as_ref().ok_or("no OAuth is configured for this server")?;
        Ok((endpoint, oauth))
    }

    /// Ends the connection in good order. Without it the process of a server is killed when the source and its routes are
    /// dropped. The next call opens a new connection.
    pub async fn close(&self) {
        if let Some(connection) = self.server.take_connection().await.and_then(Arc::into_inner) {
            connection.close().await;
        }
    }

    async fn read_tools(&self) -> Result<Listing, String> {
        let connection = self.server.connection().await.map_err(|unavailable| unavailable.message())?;
        let description = connection.peer_info().map(|info| describe(&info)).unwrap_or_default();
        let description = self.server.secrets.redact(&description).into_owned();
        let mut listing = Listing { description, ..Listing::default() };
        let mut tools = Vec::new();
        self.read_pages(&connection, &mut listing, &mut tools).await?;
        listing.saved = self.save(&listing.description, tools);
        if listing.saved.is_none() {
            listing
                .notes
                .insert(0, "its list of tools is too large to be saved for the time when it is down".to_owned());
        }
        Ok(bounded(listing))
    }

    /// Adds the tools of all pages to `listing`, and as the server lists them to `tools`.
    async fn read_pages(
        &self,
        connection: &Connection,
        listing: &mut Listing,
        tools: &mut Vec<Value>,
    ) -> Result<(), String> {
        let (mut cursor, mut cursors) = (None, HashSet::new());
        let mut count = 0;
        for _ in 0..MAX_PAGES {
            let page = match connection.list_page(cursor.take()).await {
                Ok(page) => page,
                Err(error) => return Err(self.list_failure(&error, connection).await),
            };
            count += self.add_page(&page, listing, tools, MAX_TOOLS - count)?;
            let next = match page {
                ServerResult::ListToolsResult(page) => page.next_cursor,
                _ => None,
            };
            let Some(next) = next.filter(|next| !next.is_empty()) else { return Ok(()) };
            if count >= MAX_TOOLS {
                listing
                    .problems
                    .insert(0, format!("the server lists more than {MAX_TOOLS} tools; the rest is left out"));
                return Ok(());
            }
            if !cursors.insert(next.clone()) {
                listing.problems.insert(0, "the server lists the same page again; the rest is left out".to_owned());
                return Ok(());
            }
            cursor = Some(next);
        }
        listing.problems.insert(0, format!("the server lists more than {MAX_PAGES} pages; the rest is left out"));
        Ok(())
    }

    /// Adds the tools of a page. Returns how many it has.
    fn add_page(
        &self,
        page: &ServerResult,
        listing: &mut Listing,
        all: &mut Vec<Value>,
        room: usize,
    ) -> Result<usize, String> {
        let raw = raw_result(page).ok_or("it answered `tools/list` with something else")?;
        let raw = Value::parse(raw).map_err(|error| format!("its list of tools cannot be read: {error}"))?;
        let accepted: HashSet<&str> = match page {
            ServerResult::ListToolsResult(page) => page.tools.iter().map(|tool| tool.name.as_ref()).collect(),
            _ => HashSet::new(),
        };
        let tools = raw.get("tools").and_then(Value::as_array).ok_or("its list of tools is not a list")?;
        if tools.len() > room {
            listing.problems.push(format!("the server lists more than {MAX_TOOLS} tools; the rest is left out"));
        }
        for tool in tools.iter().take(room) {
            let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
            if accepted.contains(name) {
                // The escapes of JSON may have hidden a secret before.
                let tool = self.server.secrets.redact_value(tool.clone());
                self.add_tool(&tool, listing);
                all.push(tool);
                continue;
            }
            let invalid = |_| format!("tool `{name}` is not valid: an attribute or an `x-mcp-header` is wrong");
            let read = read_tool(tool, &self.server.options);
            listing.problems.extend(read.map_or_else(Some, |read| read.map(invalid)));
        }
        Ok(tools.len().min(room))
    }

    async fn list_failure(&self, error: &ServiceError, connection: &Connection) -> String {
        let fault = match error {
            ServiceError::TransportSend(error) => error.error.downcast_ref::<StreamableHttpError<HttpFault>>(),
            _ => None,
        };
        let is_unauthorized = fault.and_then(status_of).is_some_and(|(status, ..)| status == 401);
        if let Some(text) = connection.sign_in_needed().filter(|_| is_unauthorized) {
            self.server.needs_sign_in.store(true, Ordering::Relaxed);
            return text.to_owned();
        }
        let problem = match (error, fault) {
            (ServiceError::McpError(error), _) => error.message.to_string(),
            _ if !connection.is_open() => connection.describe_end().await,
            (_, Some(fault)) => describe_fault(fault),
            (ServiceError::TransportSend(error), None) => error.error.to_string(),
            (other, None) => other.to_string(),
        };
        format!("it cannot list its tools: {problem}")
    }

    fn add_tool(&self, tool: &Value, listing: &mut Listing) {
        match read_tool(tool, &self.server.options) {
            Ok(Some(read)) => {
                listing.notes.extend(read.notes);
                let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
                let route = Arc::new(McpRoute { server: Arc::clone(&self.server), tool: name.to_owned() });
                listing.capabilities.push(ListedCapability { entry: read.entry, route });
            }
            Ok(None) => {}
            Err(problem) => listing.problems.push(problem),
        }
    }

    /// A text from which the listing can be made again; `None` if it is too large.
    fn save(&self, description: &str, tools: Vec<Value>) -> Option<String> {
        let saved = Object::from([
            ("server", self.server.options.fingerprint().into()),
            ("description", description.into()),
            ("tools", Value::Array(tools)),
        ]);
        let saved = saved.to_string();
        (saved.len() <= MAX_SAVED).then_some(saved)
    }
}

impl ToolSource for McpSource {
    fn name(&self) -> &ToolName {
        &self.server.options.name
    }

    fn address(&self) -> String {
        self.server.options.address()
    }

    fn list(&self) -> BoxFuture<'_, Result<Listing, String>> {
        let limit = self.server.options.connect_limit.saturating_mul(2);
        Box::pin(async move {
            let listed = tokio::time::timeout(limit, self.read_tools()).await;
            listed.unwrap_or_else(|_| Err(format!("it did not list its tools within {limit:?}")))
        })
    }

    fn restore(&self, saved: &str) -> Result<Listing, String> {
        if self.server.needs_sign_in.load(Ordering::Relaxed) {
            return Err("nobody is signed in".to_owned());
        }
        let saved = Value::parse(saved).map_err(|error| error.to_string())?;
        let text = |key: &str| saved.get(key).and_then(Value::as_str).unwrap_or_default();
        if text("server") != self.server.options.fingerprint() {
            return Err("it is the listing of another program or address".to_owned());
        }
        let mut listing = Listing { description: text("description").to_owned(), ..Listing::default() };
        for tool in saved.get("tools").and_then(Value::as_array).ok_or("it has no tools")? {
            self.add_tool(tool, &mut listing);
        }
        Ok(bounded(listing))
    }
}

fn describe(info: &ServerPeerInfo) -> String {
    let server = info.server_info.as_ref();
    let texts = [
        info.instructions.as_deref(),
        server.and_then(|server| server.description.as_deref()),
        server.and_then(|server| server.title.as_deref()),
    ];
    let text = texts.into_iter().flatten().find(|text| !text.trim().is_empty()).unwrap_or_default();
    truncate(text.trim().to_owned(), MAX_DESCRIPTION)
}

fn bounded(mut listing: Listing) -> Listing {
    for messages in [&mut listing.problems, &mut listing.notes] {
        let more = messages.len().saturating_sub(MAX_PROBLEMS);
        if more > 0 {
            messages.truncate(MAX_PROBLEMS);
            messages.push(format!("and {more} more"));
        }
    }
    listing
}

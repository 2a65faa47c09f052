//! The one HTTP client for tools.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use reknit_protocol::CallTool;

/// How long a connection may take to be made.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// Speaks HTTP to tools.
#[derive(Debug, Clone)]
pub struct Client {
    pub(crate) http: reqwest::Client,
    /// Makes a connection for each call. On one that was kept, a tool that has just gone cannot be told from one that
    /// went while it worked, and a call that must not happen twice would be in doubt for nothing.
    pub(crate) unpooled: reqwest::Client,
}

/// The client could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("the HTTP client cannot be set up")]
pub struct ClientError(#[from] reqwest::Error);

impl Client {
    /// A client that follows no redirects: a call that goes somewhere else than the plan says must not go unseen.
    pub fn new() -> Result<Self, ClientError> {
        // Another part of the process may have chosen a provider before; any will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(Self { http: builder().build()?, unpooled: builder().pool_max_idle_per_host(0).build()? })
    }
}

fn builder() -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_LIMIT)
        .no_proxy()
        .user_agent(concat!("reknit/", env!("CARGO_PKG_VERSION")))
}

/// The tools that can be called.
#[derive(Debug, Clone)]
pub struct Tools {
    pub(crate) client: Client,
    pub(crate) routes: Arc<HashMap<(String, String), reqwest::Url>>,
}

impl Tools {
    /// No tools at all.
    pub fn none(client: Client) -> Self {
        Self { client, routes: Arc::default() }
    }

    pub(crate) fn new(client: Client, routes: HashMap<(String, String), reqwest::Url>) -> Self {
        Self { client, routes: Arc::new(routes) }
    }

    /// Where a call goes.
    pub(crate) fn route(&self, call: &CallTool) -> Option<&reqwest::Url> {
        self.routes.get(&(call.agent.as_str().to_owned(), call.capability.as_str().to_owned()))
    }
}
